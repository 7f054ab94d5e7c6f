"""The Gram matrix: against plain batched NumPy, against scikit-learn's rbf_kernel, and how it grows."""

import numpy as np
from measure import RESULTS, correlated, few_patterns, mcar, peak_mib, report, seconds
from sklearn.metrics.pairwise import rbf_kernel

import gapkernel as gk

GAMMA = 0.02


def laws(X):
    """Rows conditioned on their own fitted density."""
    return gk.density.Gaussian(max_iter=50, tol=1e-4).fit(X).condition(X)


def numpy_gram(means, covariances):
    """The oracle: one Cholesky of size d for every pair, batched by row, half of the matrix."""
    n, d = means.shape
    gram = np.ones((n, n))
    for i in range(n):
        factors = np.linalg.cholesky(np.eye(d) + 2 * GAMMA * (covariances[i] + covariances[i + 1 :]))
        z = np.linalg.solve(factors, (means[i] - means[i + 1 :])[:, :, None])[:, :, 0]
        log_k = -GAMMA * (z * z).sum(axis=1) - np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        gram[i, i + 1 :] = gram[i + 1 :, i] = np.exp(log_k)
    return gram


def against_numpy(rng):
    """n=800, d=34, 30 % MCAR: practically every row has a pattern of its own."""
    rows = laws(mcar(correlated(800, 34, rng), 0.3, rng))
    covariances = np.array([rows.covariance_of(i) for i in range(len(rows))])
    kernel = gk.kernels.ExpectedRBF(GAMMA)
    difference = np.abs(kernel.gram(rows) - numpy_gram(rows.means, covariances)).max()
    plain = seconds(lambda: numpy_gram(rows.means, covariances), 1)
    lines = []
    for threads in (1, 2):
        with gk.config_context(n_threads=threads):
            ours = seconds(lambda: kernel.gram(rows), 5)
            peak = peak_mib(lambda: kernel.gram(rows))
        lines.append(
            _line(
                f"800 x 34, 30 % MCAR, {len(rows.gaps)} patterns, {threads} threads",
                ours,
                "NumPy Cholesky of size d",
                plain,
                peak,
            )
        )
    return lines, f"Largest difference to the oracle: {difference:.1e}."


def against_rbf_kernel(rng):
    """50 patterns, n=4000, d=20, against complete data of that size."""
    X = correlated(4000, 20, rng)
    rows, kernel = laws(few_patterns(X, 0.3, 50, rng)), gk.kernels.GenRBF(GAMMA)
    complete = laws(X)
    plain = seconds(lambda: rbf_kernel(X, gamma=GAMMA), 5)
    lines = []
    for name, batch in (("4000 x 20, 30 % gaps in 50 patterns", rows), ("4000 x 20, complete", complete)):
        ours = seconds(lambda batch=batch: kernel.gram(batch), 5)
        peak = peak_mib(lambda batch=batch: kernel.gram(batch))
        lines.append(_line(name, ours, "rbf_kernel, complete rows", plain, peak))
    return lines


def against_all_columns(rng):
    """A metric spreads gaps over all columns; a system of a law's rank against one of the number of columns."""
    X = mcar(correlated(800, 34, rng), 0.3, rng)
    density = gk.density.Gaussian(max_iter=50, tol=1e-4).fit(X)
    rows = density.condition(X)
    kernel = gk.kernels.GenRBF(GAMMA, "mahalanobis").resolve(density.moments(), rows)
    mapped = rows.map(kernel.metric_root(34))
    general = gk.rows.GaussianRows(mapped.means, mapped.pattern, mapped.gaps, mapped.covariance)
    plain = gk.kernels.GenRBF(GAMMA)
    ours, theirs = seconds(lambda: plain.gram(mapped), 5), seconds(lambda: plain.gram(general), 5)
    peak = peak_mib(lambda: plain.gram(mapped))
    return [_line("800 x 34, 30 % MCAR, Mahalanobis metric", ours, "systems of size d", theirs, peak)]


def growth(rng):
    """Nanoseconds for one pair, against n and against the gap rate, as a figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kernel = gk.kernels.GenRBF(GAMMA)
    sizes, rates = [250, 500, 1000, 2000, 4000], [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    figure, (by_size, by_rate) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for fraction in (0.1, 0.3, 0.5):
        batches = [laws(mcar(correlated(n, 20, rng), fraction, rng)) for n in sizes]
        by_size.loglog(
            sizes, [seconds(lambda b=b: kernel.gram(b), 2) for b in batches], "o-", label=f"{fraction:.0%} gaps"
        )
    by_size.set(xlabel="rows", ylabel="seconds for the Gram matrix", title="d = 20, every row its own pattern")
    by_size.set_xticks(sizes, labels=[str(n) for n in sizes])
    by_size.minorticks_off()
    by_size.legend()
    X = correlated(800, 34, rng)
    pairs = 800 * 801 / 2
    nanoseconds = [1e9 / pairs * seconds(lambda b=b: kernel.gram(b), 2) for b in (laws(mcar(X, r, rng)) for r in rates)]
    by_rate.semilogy(rates, nanoseconds, "o-")
    by_rate.set(xlabel="share of cells missing", ylabel="nanoseconds per pair", title="n = 800, d = 34")
    figure.savefig(RESULTS / "gram.png", dpi=110)
    return [(f"{rate:.0%}", f"{value:.0f}") for rate, value in zip(rates, nanoseconds, strict=True)]


def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    lines, note = against_numpy(rng)
    lines += against_rbf_kernel(rng)
    lines += against_all_columns(rng)
    growth_note = "; ".join(f"{rate}: {value}" for rate, value in growth(rng))
    header = ("case", "gapkernel", "alternative", "its time", "ratio", "peak memory")
    report(
        "gram",
        "Gram matrices",
        header,
        lines,
        f"Ratio: how many times faster than the alternative, both measured in this run. {note}\n\n"
        f"Nanoseconds per pair by share of missing cells (n=800, d=34): {growth_note}.\n\n![growth](gram.png)",
    )


def _line(case, ours, alternative, theirs, peak):
    return (
        case,
        f"{1e3 * ours:.0f} ms",
        alternative,
        f"{1e3 * theirs:.0f} ms",
        f"{theirs / ours:.3g} x",
        f"{peak:.0f} MiB",
    )
