"""
What if the gaps are no accident?
=================================

A density learns from the cells that were observed. If a cell tends to be missing *because* its value is high, the
law of a gap sits too low, and no look at the table can tell. What can be told is how much it matters: shift the
law of a missing cell, in standard deviations of its column, and see when the prediction changes. That shift is its
tipping point.

The curves show one tumour, with a dot where the answer flips. A shift of a tenth of a deviation is easily thought
of, and a prediction that flips there stands on the assumption that gaps are accidents; one that needs three
deviations does not. The histogram counts the smallest tipping point of each new row with gaps: those on the left
are the ones to measure again, or to hand to a person.
"""

# %%
# Breast tumours, 40 % of the cells missing.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import gapkernel as gk

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, [0, 1, 4, 5, 7]]
X = ((X - X.mean()) / X.std()).mask(np.random.default_rng(1).random(X.shape) < 0.4)
model = gk.SVC(kernel="rbf", C=1.0).fit(X[:300], y[:300])
print(f"accuracy {model.score(X[300:], y[300:]):.3f}")

# %%
# The tipping points of the next 100 tumours.
later = X[300:400]
points = gk.inspection.tipping_points(model, later)
smallest = points.tilt.min(axis=1)
gaps = later.isna().any(axis=1).to_numpy()
row = np.flatnonzero((np.isfinite(points.tilt).sum(axis=1) >= 2) & (later.isna().sum(axis=1) <= 3))[0]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
gk.plots.TiltDisplay.from_estimator(model, later, row=row, ax=left)
right.hist(np.minimum(smallest[gaps], 3.2), bins=np.linspace(0, 3.3, 23), color="#0f766e")
right.set_xticks([0, 1, 2, 3.2], ["0", "1", "2", "none\nup to 3"])
right.set(xlabel="smallest shift that flips the prediction, deviations", ylabel="rows with gaps")
plt.show()
