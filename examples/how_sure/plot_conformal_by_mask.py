"""
Intervals for every mask
========================

Conformal intervals take their width from the errors on rows that were left out. Which rows are alike?
``conformal="count"`` takes those that miss about as many cells. That is right when cells are of equal weight. Here
they are not: the target depends on the first column three times as much as on the second and not at all on the
third, so a row that misses only the first is as uncertain as they come, and shares its group with rows that miss
next to nothing.

``conformal="mask"`` goes by *which* cells are missing: it hides from left-out rows what the new row lacks and
looks at the errors that follow. The pictures show both for every mask. By number, rows that lack the
first column are covered in half of the cases, and those that lack another one get intervals that are far too wide;
the average over all rows looks fine. By mask, coverage is near 90 % throughout and the width follows what is
known.
"""

# %%
# Two columns matter, unequally; each is often missing. So rows with one gap are of two very different kinds.
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk


def rows(n, seed):
    """Three columns with gaps, and a target that depends mostly on the first one."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3))
    y = 3 * X[:, 0] + X[:, 1] + random.normal(0, 0.5, n)
    X[random.random(X.shape) < [0.15, 0.35, 0.35]] = np.nan
    return X, y


X, y = rows(400, 0)
X_new, y_new = rows(4000, 1)
models = {
    "by number of gaps": gk.KernelRidge(kernel="linear", alpha=0.1, conformal="count").fit(X, y),
    "by pattern of gaps": gk.KernelRidge(kernel="linear", alpha=0.1, conformal="mask").fit(X, y),
}

# %%
# Coverage of intervals of 90 %, for each pattern of new rows, and how wide they are.
missing = np.isnan(X_new)
patterns = {
    "".join("·" if gap else str(k + 1) for k, gap in enumerate(mask)): mask for mask in np.unique(missing, axis=0)
}
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8.5, 5.4), sharex=True, layout="constrained")
for shift, color, (name, model) in zip((-0.2, 0.2), ("#f59e0b", "#0f766e"), models.items(), strict=True):
    intervals = model.predict_interval(X_new, coverage=0.9)
    covered = (intervals[:, 0] <= y_new) & (y_new <= intervals[:, 1])
    places = np.arange(len(patterns)) + shift
    here = [(missing == mask).all(axis=1) for mask in patterns.values()]
    top.bar(places, [covered[rows].mean() for rows in here], 0.38, color=color, label=name)
    bottom.bar(places, [np.ptp(intervals[rows], axis=1).mean() for rows in here], 0.38, color=color)
top.axhline(0.9, color="black", linewidth=1, linestyle="--")
top.set(ylabel="coverage", ylim=(0.3, 1.05))
top.legend(ncols=2, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.18))
bottom.set_xticks(range(len(patterns)), patterns)
bottom.set(ylabel="mean width", xlabel="which columns were observed (a dot is a gap)")
plt.show()
