"""What one likelihood and gradient of a Gaussian process with gaps costs, against scikit-learn's on complete data."""

import time

import numpy as np
from measure import correlated, mcar, peak_mib, report
from sklearn.gaussian_process import GaussianProcessRegressor as Classical
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import gapkernel as gk

ROWS, COLUMNS, GAPS = 2000, 20, 0.3


def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    X = correlated(ROWS, COLUMNS, rng)
    y = np.sin(X[:, 0]) + rng.normal(size=ROWS)
    holes = mcar(X, GAPS, rng)
    lines = []
    for kind, scale in (("one length scale", 8.0), ("one for each column", np.full(COLUMNS, 8.0))):
        kernel = ConstantKernel(1.0) * RBF(scale) + WhiteKernel(1.0)
        classical = Classical(kernel, optimizer=None).fit(X, y)
        theta = classical.kernel_.theta
        theirs, cpu_theirs, peak_theirs = _measured(lambda m=classical, t=theta: m.log_marginal_likelihood(t, True))
        for name, table in ((f"{GAPS:.0%} gaps", holes), ("complete", X)):
            ours_fitted = gk.GaussianProcessRegressor(length_scale=scale, optimizer=None).fit(table, y)
            ours, cpu, peak = _measured(lambda m=ours_fitted, t=theta: m.log_marginal_likelihood(t, True))
            lines.append((
                f"{kind}, {name}", f"{1e3 * ours:.0f} ms", f"{1e3 * theirs:.0f} ms", f"{ours / theirs:.2f}",
                f"{cpu / cpu_theirs:.2f}",
                f"{peak:.0f} MiB", f"{peak_theirs:.0f} MiB",
            ))  # fmt: skip
    report(
        "process_cost",
        "One likelihood and gradient of a Gaussian process",
        (
            "case",
            "gapkernel",
            "scikit-learn, complete data",
            "ratio",
            "CPU ratio",
            "peak memory",
            "of scikit-learn",
        ),
        lines,
        f"n={ROWS}, d={COLUMNS}; gaps completely at random, so practically every row has a pattern of its own. "
        "Ratio: gapkernel's time over scikit-learn's, both measured in this run; CPU ratio: that of processor time, "
        "which hardly depends on what else the computer does.",
    )


def _measured(task):
    """Best wall and processor time of three runs, after one that warms up, and peak memory."""
    peak, wall, processor = peak_mib(task), [], []
    for _ in range(3):
        begin, begin_processor = time.perf_counter(), time.process_time()
        task()
        wall.append(time.perf_counter() - begin)
        processor.append(time.process_time() - begin_processor)
    return min(wall), min(processor), peak


if __name__ == "__main__":
    run()
