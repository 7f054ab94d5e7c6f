"""
What should be measured next?
=============================

A prediction for a row with gaps is unsure for two reasons: the classes overlap, and cells are missing. Only the
second can be mended, by measuring. ``value_of_information`` says by how much the entropy of the class
probabilities is expected to fall if one missing cell were known: it averages, over all values that the cell may
turn out to have given the observed ones, what the model would then say.

The right-hand picture looks behind one bar. The cell most worth measuring has a wide law, so that something is
still to be learned, *and* a steep curve, so that learning it changes the answer. A cell with a wide law and a flat
curve is worth nothing, and so is one that the observed cells already determine. For a regressor the same function
gives the expected fall of the predictive variance.
"""

# %%
# Breast tumours: some measurements of each were not taken.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import gapkernel as gk

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
X = (X - X.mean()) / X.std()
X = X.mask(np.random.default_rng(1).random(X.shape) < 0.4)
model = gk.GaussianProcessClassifier().fit(X[:250], y[:250])

# %%
# The least certain of the next rows, and what each missing measurement is worth.
later = X[250:]
chance = model.predict_proba(later)[:, 1]
unsure = np.argsort(np.abs(chance - 0.5))
row = next(k for k in unsure if later.iloc[k].isna().sum() >= 5)
worth = gk.inspection.value_of_information(model, later.iloc[[row]])
print(f"benign with probability {chance[row]:.2f}; measure {worth.best} next")

# %%
# Does it keep its promise? The best cell is measured, for every value that it may turn out to have.
cell = later.columns.get_loc(worth.best)
values = np.linspace(-2, 2.5, 80)
filled = pd.concat([later.iloc[[row]]] * len(values)).assign(**{worth.best: values})
law = model.density_.sample(later.iloc[[row]].to_numpy(), n_draws=4000, random_state=0)[:, 0, cell]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
gk.plots.ValueOfInformationDisplay.from_estimator(model, later.iloc[[row]], ax=left)
right.hist(law, bins=50, density=True, color="#f3d9a4", label="what it may turn out to be")
right.plot(values, model.predict_proba(filled)[:, 1], color="#0f766e", linewidth=2.5, label="probability then")
right.axhline(chance[row], color="0.4", linestyle="--", label="probability now")
right.set(xlabel=f"{worth.best}, once measured", ylim=(0, 1.25), xlim=(-2, 2.5))
right.legend(frameon=False, loc="upper right")
plt.show()
