"""
genRBF against imputation on two moons
======================================

Filling in a value and then training pretends that the value was seen. With few gaps this costs little; with many,
rows that are mostly guesses count as much as rows that were measured. genRBF compares what is known of two rows
and averages over the rest.

Below, each coordinate of two moons is read by three noisy sensors, so that a lost reading can be told from the
others. All methods train on 200 rows with losses and predict new rows with losses. Means ignore the other sensors
and pay at once. IterativeImputer uses them and keeps up while few readings are lost; as more go, what it fills in
is worth less, and it is treated as certain all the same.
"""

# %%
# Two moons, seen by three noisy sensors of each coordinate; a share of the readings is lost in training and in new
# rows.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gapkernel as gk

shares = [0.0, 0.2, 0.4, 0.6, 0.8]
methods = {
    "genRBF, rows as they are": gk.SVC(C=10.0),
    "IterativeImputer, then SVC": make_pipeline(IterativeImputer(tol=0.1, max_iter=50, random_state=0), SVC(C=10.0)),
    "mean, then SVC": make_pipeline(SimpleImputer(), SVC(C=10.0)),
}


def table(share, seed):
    """600 rows of six columns with gaps, and their classes."""
    random = np.random.default_rng(seed)
    moons, y = make_moons(600, noise=0.1, random_state=seed)
    X = np.repeat(moons, 3, axis=1) + random.normal(0, 0.15, (600, 6))
    X[random.random(X.shape) < share] = np.nan
    return X, y


# %%
# The error of each method on 400 new rows, in three draws of the whole experiment.
errors = {name: np.empty((3, len(shares))) for name in methods}
for seed in range(3):
    for k, share in enumerate(shares):
        X, y = table(share, seed)
        for name, method in methods.items():
            errors[name][seed, k] = 1 - method.fit(X[:200], y[:200]).score(X[200:], y[200:])

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
X, y = table(0.0, 0)
left.scatter(X[:, 0], X[:, 3], c=np.where(y == 1, "#0f766e", "#f59e0b"), s=12)
left.set(title="two of the six columns", xlabel="first coordinate", ylabel="second coordinate")
for name, error in errors.items():
    right.plot(100 * np.array(shares), 100 * error.mean(axis=0), marker="o", label=name)
right.set(xlabel="lost readings, %", ylabel="error on new rows, %", title="what the loss costs")
right.legend(frameon=False)
plt.show()
