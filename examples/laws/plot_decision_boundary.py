"""
What a gap does to a decision boundary
======================================

A classifier with a boundary on the plane needs another answer when one coordinate is missing: a single threshold
along the observed one. Here two SVMs learn from a table in which a quarter of the cells are gaps. The lower
pictures show their decision along the first column: the thin lines for three observed values of the second column,
the thick line for a row in which it is missing.

The thick line is no slice of the plane. It weighs the slices by how likely each is *given the first column*, which
the density knows. With the expected kernel ("rbf") the decision of a row with a gap is the average of the
decisions over its law, so it is never larger than the largest of them. genRBF divides by the norm of the law,
which is below one for a row with a gap, so that the same row gets a larger decision: its boundary can move, and
its confidence does not fall with the first gap.
"""

# %%
# Two classes in two columns, and an SVM on each kernel.
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk

random = np.random.default_rng(1)
n = 150
X = np.vstack([random.normal([-1.2, 0.0], [0.5, 1.1], (n, 2)), random.normal([1.0, 0.6], [0.8, 0.6], (n, 2))])
y = np.repeat([0, 1], n)
gappy = X.copy()
gappy[random.random(X.shape) < 0.25] = np.nan
models = {name: gk.SVC(kernel=name, C=10.0, gamma=0.4).fit(gappy, y) for name in ("rbf", "genrbf")}

# %%
# The decision on the plane, and along the first column when the second one is missing. The thin lines are the
# decisions for rows in which it was observed.
first, second = np.linspace(-3.2, 3.2, 120), np.linspace(-3, 3, 100)
plane = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)

figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.5), sharex=True, layout="constrained")
for (name, model), (top, bottom) in zip(models.items(), axes.T, strict=True):
    decision = model.decision_function(plane).reshape(100, 120)
    top.contourf(first, second, decision, levels=np.linspace(-4, 4, 17), cmap="BrBG", extend="both")
    top.contour(first, second, decision, levels=[0], colors="black")
    top.scatter(*X.T, c=np.where(y == 1, "#0f766e", "#92400e"), s=8, edgecolors="white", linewidths=0.3)
    top.set(title=f'kernel="{name}"', ylabel="second column")
    for value in (-1.5, 0.0, 1.5):
        observed = np.column_stack([first, np.full_like(first, value)])
        bottom.plot(first, model.decision_function(observed), color="0.7", linewidth=1)
        bottom.annotate(f"{value:g}", (first[-1], model.decision_function(observed)[-1]), fontsize=8, color="0.4")
    missing = np.column_stack([first, np.full_like(first, np.nan)])
    bottom.plot(first, model.decision_function(missing), color="#b45309", linewidth=2.5, label="second column missing")
    bottom.axhline(0, color="black", linewidth=0.8)
    bottom.set(xlabel="first column", ylabel="decision")
    bottom.legend(frameon=False, loc="upper left")
plt.show()
