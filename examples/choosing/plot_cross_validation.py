"""
The whole grid at once
======================

An SVM with an RBF kernel has a penalty C and a width gamma, and both matter. ``GridSearchCV`` fits everything anew
for each pair of them: density, laws, kernel matrix, coefficients. Most of that does not depend on the pair.
``SVCCV`` fits one density for each fold, reduces each pair of rows to a tridiagonal form once, reads every width
off it, and lets libsvm run for each C on the same matrix.

Scores are those that ``GridSearchCV`` gives on the same folds. The map below has a typical shape: a broad ridge of
cells that cannot be told apart, on which a small C with a large gamma is as good as a large C with a small one,
and a cliff where the kernel is so narrow that no row resembles another. If the star sits on the rim of the map,
the grid was too small. :doc:`/docs/guide/settings` has the formulas and the times.
"""

# %%
# 8 penalties and 11 widths on five folds: 440 fits, and the scores of scikit-learn's GridSearchCV.
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import gapkernel as gk

X, y = load_breast_cancer(return_X_y=True)
X = gk.ampute((X - X.mean(axis=0)) / X.std(axis=0), 0.5, random_state=0)[:250]
y = y[:250]

start = time.perf_counter()
model = gk.SVCCV(Cs=np.logspace(-1, 4, 8), gammas=np.logspace(-4.5, -0.5, 11), cv=5).fit(X, y)
print(f"{time.perf_counter() - start:.1f} s, best: {model.best_params_}, {model.best_score_:.3f}")

# %%
# The map of scores. The best cell is marked; a ridge of equally good cells runs through it.
results = model.cv_results_
Cs, gammas = np.unique(results["param_C"]), np.unique(results["param_gamma"])
scores = np.empty((len(Cs), len(gammas)))
for C, gamma, score in zip(results["param_C"], results["param_gamma"], results["mean_test_score"], strict=True):
    scores[np.searchsorted(Cs, C), np.searchsorted(gammas, gamma)] = score

figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
image = ax.pcolormesh(gammas, Cs, scores, cmap="viridis", vmin=np.quantile(scores, 0.2))
figure.colorbar(image, label="accuracy in five folds", extend="min")
ax.plot(
    model.best_params_["gamma"], model.best_params_["C"], "*", color="white", markersize=16, markeredgecolor="black"
)
ax.set(xscale="log", yscale="log", xlabel="gamma", ylabel="C")
plt.show()
