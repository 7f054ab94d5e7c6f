"""The extended heterogeneous kernel against scikit-learn's Laplacian kernel on complete numbers."""

import numpy as np
import pandas as pd
from measure import mcar, peak_mib, report, seconds
from sklearn.metrics.pairwise import laplacian_kernel

from gapkernel.density import Marginals, sheather_jones
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.rows.column_law import UniformWindows


def mixed(n, rng):
    """Fifteen columns of numbers and fifteen of five levels, a tenth of the cells missing."""
    numbers, codes = mcar(rng.normal(size=(n, 15)), 0.1, rng), rng.integers(0, 5, (n, 15)).astype(str).astype(object)
    codes[rng.random(codes.shape) < 0.1] = None
    return pd.concat([pd.DataFrame(numbers).add_prefix("n"), pd.DataFrame(codes).add_prefix("c")], axis=1)


def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    frame, complete = mixed(5000, rng), rng.normal(size=(5000, 30))
    density = Marginals().fit(frame)
    rows = density.condition(frame)
    laplacian = seconds(lambda: laplacian_kernel(complete))
    lines = []
    for name, kernel in (("EHK", HeterogeneousKernel()), ("EHK_alpha", HeterogeneousKernel(0.5))):
        ours = seconds(lambda kernel=kernel: kernel.gram(rows))
        peak = peak_mib(lambda kernel=kernel: kernel.gram(rows))
        lines.append(_line(f"{name} Gram, 5000 x 30 mixed, 10 % gaps", ours, peak, laplacian))
    lines.append(_line("Marginals.fit, 5000 x 30", seconds(lambda: Marginals().fit(frame)), 0, laplacian))
    law = UniformWindows.around(rng.normal(size=100_000), 0.1)
    z = rng.normal(size=1_000_000)
    lines.append(_line("g of 10^6 numbers, 10^5 windows", seconds(lambda: law.mean_distance(z)), 0, laplacian))
    lines.append(_line("G of 10^5 windows", seconds(law.mean_spread), 0, laplacian))
    x = rng.normal(size=100_000)
    lines.append(_line("sheather_jones, 10^5 numbers", seconds(lambda: sheather_jones(x)), 0, laplacian))
    report(
        "heterogeneous",
        "The extended heterogeneous kernel",
        ("case", "time", "peak memory", "times laplacian_kernel"),
        lines,
        f"scikit-learn's laplacian_kernel on 5000 x 30 complete numbers took {1e3 * laplacian:.0f} ms in this run.",
    )


def _line(case, ours, peak, laplacian):
    return case, f"{1e3 * ours:.0f} ms", f"{peak:.0f} MiB" if peak else "", f"{ours / laplacian:.2f}"


if __name__ == "__main__":
    run()
