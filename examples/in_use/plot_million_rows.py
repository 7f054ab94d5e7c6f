"""
A million rows
==============

An exact kernel machine compares all pairs of rows, which ends at some ten thousand of them. Random Fourier
features replace the kernel by waves: a complete row has a cosine and a sine for each frequency, and for a row with
gaps the mean of these over its law is known in closed form. What is missing damps a wave, the more the faster it
oscillates along the gap. A linear model on these features needs only sums over rows, so the table is read in
batches and is never held.

Time grows as the number of rows. Accuracy soon stops growing: with 96 frequencies it is the features that limit
it, not the rows, so the way on is more features, which cost time in proportion too. :doc:`/docs/guide/scale` has
the measurements with 1,024 of them.
"""

# %%
# A table that never exists as a whole: a function yields it in batches, 30 % of the cells missing.
import time

import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk


def rows(n, seed):
    """n rows of six columns, two classes with a curved boundary, a few at a time."""
    for first in range(0, n, 50_000):
        random = np.random.default_rng([seed, first])
        X = random.standard_normal((min(50_000, n - first), 6))
        X[:, 3:] += 0.8 * X[:, :3]
        y = (X[:, 0] * X[:, 1] + X[:, 2] ** 2 > 0.8).astype(int)
        X[random.random(X.shape) < 0.3] = np.nan
        yield X, y


X_new, y_new = next(rows(20_000, 1))

# %%
# Time and accuracy from a thousand rows to a million. The first fit loads the compiled loops, and is not timed.
gk.FourierClassifier(96, random_state=0).fit(gk.batches(lambda: rows(1_000, 0)))
sizes = [1_000, 10_000, 100_000, 1_000_000]
seconds, accuracies = [], []
for size in sizes:
    start = time.perf_counter()
    table = gk.batches(lambda size=size: rows(size, 0))
    model = gk.FourierClassifier(96, density_samples=5_000, random_state=0).fit(table)
    seconds.append(time.perf_counter() - start)
    accuracies.append(model.score(X_new, y_new))
    print(f"{size:9,} rows: {seconds[-1]:5.1f} s, accuracy {accuracies[-1]:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(sizes, seconds, marker="o", color="#0f766e")
left.loglog(sizes[-2:], [seconds[-1] / 10, seconds[-1]], color="0.7", linestyle="--", label="ten times the rows")
left.set(xlabel="rows", ylabel="seconds to fit")
left.legend(frameon=False)
right.semilogx(sizes, accuracies, marker="o", color="#b45309")
right.set(xlabel="rows", ylabel="accuracy on new rows")
plt.show()
