"""
Which density? The law of a gap on a ring
=========================================

A kernel between laws is as good as the laws. On a ring, a first coordinate of zero leaves two places for the
second one, top and bottom. One normal law cannot say that: it puts the row in the middle, where no row ever was. A
mixture can, and so can the values of similar rows.

More shape costs more: a pair of rows takes as many kernel values as their laws have pairs of components or draws,
and a mixture needs more rows to be learned from. One normal is the default because on most tables, with more
columns than two, it predicts as well. Ask when in doubt: ``BestDensity`` compares the log density of rows that
were left out, gaps and all.
"""

# %%
# Rows on a ring, a third of the second column missing.
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk

random = np.random.default_rng(0)
angle = random.uniform(0, 2 * np.pi, 400)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + random.normal(0, 0.1, (400, 2))
X = ring.copy()
X[random.random(400) < 0.33, 1] = np.nan

densities = {
    "one normal": gk.density.Gaussian(),
    "mixture of normals": gk.density.GaussianMixture(max_components=8, random_state=0),
    "values of similar rows": gk.density.Neighbours(random_state=0),
}

# %%
# Draws of the second column given the first, for rows all along the ring.
first = np.repeat(np.linspace(-1.1, 1.1, 23), 12)
rows = np.column_stack([first, np.full_like(first, np.nan)])
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.7), sharey=True, layout="constrained")
for ax, (name, density) in zip(axes, densities.items(), strict=True):
    drawn = density.fit(X).sample(rows, n_draws=4, random_state=0)
    ax.scatter(*ring.T, s=6, color="0.8")
    ax.scatter(drawn[..., 0].ravel(), drawn[..., 1].ravel(), s=4, color="#b45309", alpha=0.5)
    ax.set(title=name, xlabel="first column", aspect="equal")
axes[0].set_ylabel("second column: draws of its law")
plt.show()

# %%
# BestDensity chooses by the log density of rows left out of the fit.
best = gk.density.BestDensity(random_state=0).fit(X)
print(best.best_density_, best.scores_)
