"""A million rows with gaps on a disk: time, memory and accuracy of Fourier features against the exact kernel."""

import os
import tempfile
import time
from pathlib import Path

import matplotlib
import numpy as np
from curved import batch, write
from measure import RESULTS, peak_mib, report

import gapkernel as gk

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
N_COMPONENTS = 1024
GAMMAS = (0.02, 0.05)
VALIDATION, TEST = batch(10_001, 5_000), batch(10_002, 20_000)


def measured(task):
    """Result, wall seconds, processor seconds and peak memory of one run."""
    results, begin, used = [], time.perf_counter(), time.process_time()
    memory = peak_mib(lambda: results.append(task()))
    return results[0], time.perf_counter() - begin, time.process_time() - used, memory


def best(models, X, y):
    """The parameters that do best on the validation rows."""
    return max(models, key=lambda model: model.fit(X, y).score(*VALIDATION)).get_params()


def line(name, n_rows, model, wall, processor, memory):
    """One line of the table."""
    accuracy = model.score(*TEST)
    return (name, f"{n_rows:,}", f"{wall:.1f} s", f"{processor:.1f} s", f"{memory:.0f} MiB", f"{100 * accuracy:.2f} %")


def plot(walls, processors, exponent):
    """Time against rows."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(SIZES, walls, "o-", label="wall")
    axes.loglog(SIZES, processors, "s-", label=f"processor: n^{exponent:.2f} from 100,000 rows up")
    axes.loglog(SIZES, processors[-1] * np.array(SIZES) / SIZES[-1], "k:", label="proportional to n")
    axes.set(xlabel="rows", ylabel="seconds", title="FourierClassifier, 20 columns, 30 % gaps, 1,024 features")
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "million.png", dpi=120)


def run():
    """Measure and write the table and the plot."""
    few = batch(0, 3_000)
    fourier = [
        gk.FourierClassifier(N_COMPONENTS, gamma=g, alpha=a, random_state=0) for g in GAMMAS for a in (0.1, 1.0, 10.0)
    ]
    chosen = best(fourier, *batch(0, 30_000))
    exact = gk.SVC(**best([gk.SVC(gamma=g, C=C) for g in GAMMAS for C in (1.0, 10.0)], *few))
    lines, walls, processors = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), SIZES[-1])
        for n in SIZES:
            X, y = (np.load(path, mmap_mode="r")[:n] for path in paths)
            model, *costs = measured(lambda X=X, y=y: gk.FourierClassifier(**chosen).fit(X, y))
            lines.append(line(f"FourierClassifier, {N_COMPONENTS:,} features", n, model, *costs))
            walls.append(costs[0])
            processors.append(costs[1])
        X, y = (np.array(np.load(path, mmap_mode="r")[:10_000]) for path in paths)
        model, *costs = measured(lambda: exact.fit(X, y))
        lines.append(line("SVC, exact kernel", 10_000, model, *costs))
    whole = np.polyfit(np.log(SIZES), np.log(processors), 1)[0]
    upper = np.polyfit(np.log(SIZES[2:]), np.log(processors[2:]), 1)[0]
    plot(walls, processors, upper)
    report(
        "million",
        "A million rows x 20 columns with 30 % gaps, curved boundary",
        ("estimator", "rows", "wall", "processor", "peak memory", "accuracy on 20,000 new rows"),
        lines,
        f"""Rows are read from a memory-mapped file; times are those of `fit`, density included. Parameters were chosen
on 5,000 validation rows: Fourier gamma={chosen["gamma"]}, alpha={chosen["alpha"]} (30,000 training rows); SVC
gamma={exact.gamma}, C={exact.C} (3,000 training rows). Processor time grows as n^{whole:.2f} over all sizes, as
n^{upper:.2f} from 100,000 rows up, where the density sees the same number of rows. Load average
{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores at the end: where it is above 2 the computer was shared, and wall
times are upper bounds.""",
    )
