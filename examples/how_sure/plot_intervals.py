"""
Intervals that widen with what is missing
=========================================

A Gaussian process has a predictive variance. When a new row has gaps, part of it comes from them, and the law of
total variance adds it in closed form: no draws, no imputations. The bands on the left grow as cells of one patient
are taken away. They do not grow with every cell: the first to go are cells that the others determine, or that the
target hardly depends on. At the end, with nothing known, the band is that of any patient.

Wide is not yet right. With ``conformal="count"`` the width is scaled by the errors on rows that were left out and
miss about as many cells, and the right-hand picture checks it on new rows: intervals of 90 % should cover in 90 of
100 cases for every number of gaps, not only on average. The bars are confidence intervals of the coverage; for
numbers of gaps that few rows have they say little.
"""

# %%
# Progression of diabetes from ten measurements, 30 % of which were lost.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import gapkernel as gk

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = X / X.std()
complete = X.iloc[400]
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
process = gk.GaussianProcessRegressor(normalize_y=True, conformal="count").fit(X[:300], y[:300])

# %%
# Left: one patient, whose measurements are taken away one after the other. Right: how often intervals of 90 % cover,
# for rows with few and with many gaps.
order = [X.columns.get_loc(name) for name in ("age", "s1", "sex", "s4", "s3", "s2", "s6", "bp", "s5", "bmi")]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
gk.plots.PredictionBandDisplay.from_estimator(process, complete, order=order, target=y.iloc[400], ax=left)
gk.plots.CoverageDisplay.from_estimator(process, X[300:], y[300:], ax=right)
right.set_ylim(0.5, 1.02)
plt.show()
