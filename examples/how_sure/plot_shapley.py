"""
Why this prediction? Shapley values by absence
==============================================

How much did each cell add to a prediction? Compare the answer with and without it, over all orders in which the
cells could have been told. For most models "without it" has to be made up, by putting in values of other rows, and
impossible rows come out. A model that takes gaps needs nothing of the kind: a cell that is not told is a gap. With
the expected kernels and the processes the answer is then the *expected* answer given the other cells, in closed
form.

The waterfall reads from the bottom: it starts at the answer to a row of which nothing is known and ends at the
prediction; each observed cell moves it, and gaps move nothing. The swarm shows the same for many patients, one dot
for each cell, by the value of the cell. Cells that go together share the credit: where one of two related
measurements is missing, the other one gets more.
"""

# %%
# Progression of diabetes, 20 % of the cells missing.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import gapkernel as gk

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = (X / X.std()).rename(columns={"bp": "pressure", "s5": "triglycerides", "s6": "glucose"})
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)[
    ["age", "bmi", "pressure", "s1", "s3", "triglycerides", "glucose"]
]
model = gk.KernelRidge(kernel="rbf", alpha=0.3, gamma=0.02).fit(X[:350], y[:350] - y[:350].mean())

# %%
# One patient, and sixty.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
gk.plots.WaterfallDisplay.from_estimator(model, X[350:], row=3, ax=left)
gk.plots.BeeswarmDisplay.from_estimator(model, X[350:410], ax=right)
plt.show()

# %%
# The values add up to the prediction.
values = gk.inspection.shapley(model, X[350:352])
print(np.nansum(values.values, axis=1) + values.base_value, model.predict(X[350:352]))
