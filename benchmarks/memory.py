"""Predictions for many rows: time and peak memory, and what a Gram matrix that cannot fit says."""

import time

import numpy as np
from measure import correlated, mcar, peak_mib, report

import gapkernel as gk

MIB = 2**20


def run():
    """Measure and write the table."""
    rng = np.random.default_rng(0)
    train, new = mcar(correlated(2000, 20, rng), 0.3, rng), mcar(correlated(20000, 20, rng), 0.3, rng)
    y = (np.nansum(train, axis=1) > 0).astype(int)
    model = gk.SVC(C=10).fit(train, y)
    model.predict(new[:100])
    whole = 8 * len(new) * len(model.support_) / MIB
    lines = []
    for budget in (64, 256):
        with gk.config_context(memory_budget=budget * MIB):
            begin = time.perf_counter()
            peak = peak_mib(lambda: model.predict(new))
            lines.append(
                (f"{budget} MiB", f"{peak:.0f} MiB", f"{whole:.0f} MiB", f"{time.perf_counter() - begin:.1f} s")
            )
    rows = model.density_.condition(new)
    with gk.config_context(memory_budget=1024 * MIB):
        try:
            model.kernel_.gram(rows)
        except MemoryError as error:
            refusal = str(error)
    report(
        "memory",
        f"Predicting 20,000 rows of 20 columns, 30 % gaps, {len(model.support_)} support rows",
        ("memory budget", "peak memory of the call", "the kernel matrix would take", "time"),
        lines,
        f"Predictions are summed tile by tile, so the matrix is never held. The Gram matrix of the 20,000 rows under a "
        f"budget of 1 GiB is refused before any work:\n\n> {refusal}",
    )
