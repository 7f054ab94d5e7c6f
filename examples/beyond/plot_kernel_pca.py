"""
Kernel PCA of rows with gaps
============================

Many estimators of scikit-learn take a kernel matrix: kernel PCA, spectral clustering, one-class SVMs, kernel
ridge. ``Gram`` in front of them makes the matrix from rows with gaps, for training rows and for new ones.

Three cultivars of wine form three clouds in the plane of the first two kernel components. With half of the
measurements lost, the map from the laws keeps the clouds apart; with means filled in, rows are drawn to the centre
by what they lack, and the map shows in part how many cells are missing rather than which wine it is. The
silhouette below each map measures how well the cultivars stand apart.
"""

# %%
# Wines: thirteen measurements, half of which are lost.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapkernel as gk

X, y = load_wine(return_X_y=True)
lost = X.copy()
lost[np.random.default_rng(0).random(X.shape) < 0.5] = np.nan

# %%
# ``Gram`` gives the kernel matrix to any estimator that takes ``kernel="precomputed"``.
ways = {
    "nothing lost": (make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf", gamma=0.03)), X),
    "half lost, laws": (
        make_pipeline(StandardScaler(), gk.Gram(kernel="genrbf", gamma=0.03), KernelPCA(2, kernel="precomputed")),
        lost,
    ),
    "half lost, means filled in": (
        make_pipeline(StandardScaler(), SimpleImputer(), KernelPCA(2, kernel="rbf", gamma=0.03)),
        lost,
    ),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, (way, table)) in zip(axes, ways.items(), strict=True):
    plane = way.fit_transform(table)
    plane *= np.sign(plane[y == 0].mean(axis=0))  # signs of components are arbitrary
    ax.scatter(*plane.T, c=np.array(["#0f766e", "#f59e0b", "#7c3aed"])[y], s=16)
    ax.set(title=name, xlabel=f"silhouette of the cultivars {silhouette_score(plane, y):.2f}", xticks=[], yticks=[])
plt.show()
