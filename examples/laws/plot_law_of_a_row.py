"""
The law of a row
================

A row with a gap is not one point, and filling in the mean makes it one. The rows below have two columns that rise
together. In three of them the second column was not observed. What is known about it is a normal law on a vertical
line: the line is where the observed column holds, the law says how likely each value is. Where the observed value
is high the law sits high, because the columns rise together.

A density is fitted to all rows, the incomplete ones included (EM needs no complete table), and ``condition`` turns
rows into laws: their means, and covariances that are zero where a value was observed. Every kernel of this package
compares such laws. The width of the law is what an imputed value forgets: here it is the same for the three rows,
since it depends on *which* cells are missing and not on their values.
"""

# %%
# Two columns, 200 rows, a third of the second column gone.
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk

random = np.random.default_rng(0)
X = random.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=200)
X[random.random(200) < 0.35, 1] = np.nan
density = gk.density.Gaussian().fit(X)

# %%
# Three rows of which only the first column is known, and their laws.
rows = np.array([[-1.5, np.nan], [0.2, np.nan], [1.6, np.nan]])
laws = density.condition(rows)
complete = X[~np.isnan(X[:, 1])]

figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
ax.scatter(*complete.T, s=14, color="0.75", label="complete rows")
for first, mean, variance in zip(rows[:, 0], laws.means[:, 1], laws.total_variance, strict=True):
    deviation = np.sqrt(variance)
    second = np.linspace(mean - 3 * deviation, mean + 3 * deviation, 200)
    height = np.exp(-0.5 * ((second - mean) / deviation) ** 2)
    ax.axvline(first, color="0.85", linewidth=1, zorder=0)
    ax.fill_betweenx(second, first, first + 0.7 * height, color="#f59e0b", alpha=0.6)
    ax.plot(first, mean, "o", color="#0f766e", markersize=7)
ax.plot([], [], "o", color="#0f766e", label="mean of the law: what imputation keeps")
ax.fill_between([], [], [], color="#f59e0b", alpha=0.6, label="the law itself")
ax.set(xlabel="first column, observed", ylabel="second column, missing in three rows")
ax.legend(loc="upper left", frameon=False)
plt.show()
