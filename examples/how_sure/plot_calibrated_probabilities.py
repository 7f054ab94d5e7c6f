"""
Probabilities by number of gaps
===============================

A probability is honest if, among all rows that got 80 %, four in five belong to the class. On rows with gaps that
must hold for each number of gaps: a model can be right on average by being too sure of the emptiest rows and not
sure enough of the fullest.

The process integrates over the gaps of a new row, so its probabilities move to one half as cells go missing: the
histograms below show rows with six gaps and more near the middle, those with at most two near the ends. Filling in
means also moves rows to the middle, and its curves are no worse here. But its model is linear, and it must take
one weight for a measured cell and for a filled one alike; its log loss, printed above the figure, is higher for
every number of gaps.
"""

# %%
# A problem with eight columns; each row misses between none and seven of them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import gapkernel as gk

X, y = make_classification(2200, n_features=8, n_informative=5, class_sep=1.2, random_state=1)
random = np.random.default_rng(0)
share = random.random((len(X), 1)) * 0.9
X[random.random(X.shape) < share] = np.nan
train, test = slice(0, 400), slice(400, None)

methods = {
    "GaussianProcessClassifier": gk.GaussianProcessClassifier(),
    "mean, then logistic regression": make_pipeline(SimpleImputer(), LogisticRegression()),
}
gaps = np.isnan(X[test]).sum(axis=1)

# %%
# Top: is a probability of 80 % right in 80 of 100 cases, for rows with few and with many gaps? Bottom: how often
# each probability is given.
figure, axes = plt.subplots(2, 2, figsize=(9.5, 5.6), sharex=True, height_ratios=[3, 1], layout="constrained")
for (name, method), (top, bottom) in zip(methods.items(), axes.T, strict=True):
    chance = method.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    top.plot([0, 1], [0, 1], color="0.8")
    for few, many, color in ((0, 2, "#0f766e"), (3, 5, "#f59e0b"), (6, 8, "#b91c1c")):
        rows = (gaps >= few) & (gaps <= many)
        edges = np.unique(np.quantile(chance[rows], np.linspace(0, 1, 7)))
        bins = np.digitize(chance[rows], edges[1:-1])
        given = [chance[rows][bins == k].mean() for k in np.unique(bins)]
        true = [y[test][rows][bins == k].mean() for k in np.unique(bins)]
        top.plot(given, true, marker="o", color=color, label=f"{few} to {many} gaps")
        bottom.hist(chance[rows], bins=20, range=(0, 1), histtype="step", color=color)
        entropy = -np.mean(np.log(np.where(y[test] == 1, chance, 1 - chance))[rows])
        print(f"{name}, {few} to {many} gaps: log loss {entropy:.3f}")
    top.set(title=name, ylabel="share of class 1")
    top.legend(frameon=False)
    bottom.set(xlabel="probability of class 1", ylabel="rows")
plt.show()
