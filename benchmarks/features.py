"""How fast the error of random features falls, and what features cost against the exact kernel."""

import time

import matplotlib
import numpy as np
from curved import batch
from measure import RESULTS, report

import gapkernel as gk

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZES = (32, 128, 512, 2048)
KINDS = {
    "Fourier, independent": lambda n, seed: gk.FourierFeatures(n, orthogonal=False, random_state=seed),
    "Fourier, orthogonal": lambda n, seed: gk.FourierFeatures(n, random_state=seed),
    "Nystroem, uniform": lambda n, seed: gk.Nystroem(n, random_state=seed),
    "Nystroem, pivoted": lambda n, seed: gk.Nystroem(n, landmarks="pivoted", random_state=seed),
}


def plot(errors, formula):
    """Error against the number of features."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, values in errors.items():
        axes.loglog(SIZES[: len(values)], values, "o-", label=name)
    axes.loglog(SIZES, formula, "k:", label="closed form, independent")
    axes.set(xlabel="features", ylabel="root mean square error of the kernel", title="genRBF, 20 columns, 30 % gaps")
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "features.png", dpi=120)


def run():
    """Measure and write the table and the plot."""
    (X, _), (new, _) = batch(0, 3_000), batch(1, 500)
    density = gk.density.Gaussian().fit(X)
    known = gk.density.Gaussian(mean=density.mean_, covariance=density.covariance_)
    begin = time.perf_counter()
    exact = gk.Gram(density=known, gamma=0.05).fit(X[:500]).transform(new)
    pair = (time.perf_counter() - begin) / exact.size
    errors, lines = {name: [] for name in KINDS}, []
    formula = []
    for n in SIZES:
        waves = gk.FourierFeatures(n, density=known, gamma=0.05, random_state=0).fit(X).map_
        formula.append(np.sqrt(np.mean(waves.standard_error(density.condition(new), density.condition(X[:500])) ** 2)))
    for name, kind in KINDS.items():
        for n, predicted in zip(SIZES, formula, strict=True):
            if "Nystroem" in name and n > 512:
                continue  # a landmark costs a kernel value for each row
            squares, times = [], []
            for seed in range(3):
                features = kind(n, seed).set_params(density=known, gamma=0.05).fit(X)
                begin = time.perf_counter()
                left, right = features.transform(new), features.transform(X[:500])
                times.append((time.perf_counter() - begin) / (len(left) + len(right)))
                squares.append(np.mean((left @ right.T - exact) ** 2))
            errors[name].append(np.sqrt(np.mean(squares)))
            closed = f"{predicted:.4f}" if "independent" in name else ""
            lines.append((name, n, f"{errors[name][-1]:.4f}", closed, f"{1e6 * min(times):.1f} us"))
    plot(errors, formula)
    exponents = ", ".join(
        f"{name} {np.polyfit(np.log(SIZES), np.log(errors[name]), 1)[0]:.2f}" for name in KINDS if "Fourier" in name
    )
    report(
        "features",
        "Features of rows with 20 columns and 30 % gaps, gamma = 0.05",
        ("features", "number", "error of the kernel", "closed form", "time for a row"),
        lines,
        f"""Root mean square over 500 x 500 pairs and three seeds, against the exact kernel, of which one value costs
{1e6 * pair:.2f} us. Exponents of the error in the number of features: {exponents}.""",
    )
