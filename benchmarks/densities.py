"""Densities: the Gram matrix of few factors against the full Gaussian's."""

import time

import numpy as np
from datasets import FOLDER
from measure import peak_mib, report
from threadpoolctl import threadpool_limits

import gapkernel as gk
from gapkernel.density import FactorAnalysis, Gaussian
from gapkernel.kernels import ExpectedRBF


def usps(n, rate, rng):
    """Digits with pixels removed completely at random, in units of the deviation of all pixels."""
    X = np.load(FOLDER / "usps.npz")["X_train"][:n].astype(float)
    X /= X.std()
    X[rng.random(X.shape) < rate] = np.nan
    return X


def alternating(tasks, repeats=4):
    """Best wall and processor time of each task, the tasks taking turns after a first run each."""
    for task in tasks:
        task()
    best = np.full((len(tasks), 2), np.inf)
    for _ in range(repeats):
        for k, task in enumerate(tasks):
            wall, processor = time.perf_counter(), time.process_time()
            task()
            best[k] = np.minimum(best[k], [time.perf_counter() - wall, time.process_time() - processor])
    return best


def few_factors(rng):
    """1,000 USPS digits, rank 10, 25 % gaps: laws and Gram matrix under both densities."""
    X = usps(1000, 0.25, rng)
    factors = FactorAnalysis(10).fit(X)
    full = Gaussian.from_moments(factors.mean_, factors.covariance_)  # the same density, without its structure
    kernel = ExpectedRBF(1 / 256)
    rows, dense = factors.condition(X), full.condition(X)
    apart = np.abs(kernel.gram(rows) - kernel.gram(dense)).max()
    lines = []
    tasks = {
        "Gram matrix": (lambda: kernel.gram(rows), lambda: kernel.gram(dense)),
        "laws and Gram matrix": (
            lambda: kernel.gram(factors.condition(X)),
            lambda: kernel.gram(full.condition(X)),
        ),
    }
    for n_threads in (1, 2):
        with gk.config_context(n_threads=n_threads):
            for name, (ours, theirs) in tasks.items():
                (wall, processor), (their_wall, their_processor) = alternating((ours, theirs))
                case = f"{name}, 1000 x 256, 25 % gaps, 10 factors, {n_threads} thread{'s'[: n_threads - 1]}"
                ratios = f"{their_wall / wall:.3g} x", f"{their_processor / processor:.3g} x"
                peaks = f"{peak_mib(ours):.0f} / {peak_mib(theirs):.0f} MiB"
                lines.append((case, f"{wall:.2f} s", f"{their_wall:.2f} s", *ratios, peaks))
    return lines, f"Largest difference between the two Gram matrices: {apart:.0e}."


@threadpool_limits.wrap(limits=1, user_api="blas")  # or else its threads wait for each other in small matrices
def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    lines, note = few_factors(rng)
    report(
        "densities",
        "Densities",
        ("case", "FactorAnalysis", "Gaussian", "ratio", "ratio of processor times", "peak memory, ours / theirs"),
        lines,
        "Wall times, the best of four runs taking turns. Ratio: how many times faster than the full Gaussian of the "
        f"same covariance, both measured in this run. {note}",
    )
