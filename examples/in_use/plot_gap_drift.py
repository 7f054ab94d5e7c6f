"""
Have the gaps changed?
======================

A model that runs for months meets sensors that fail and forms that change. Long before anyone knows the true
answers, the gaps themselves tell: the model remembers how often each column was missing when it was fitted, and
``gap_drift`` asks whether new rows are missing the same cells. One test for the masks as a whole, and one line for
each column.

Below a sensor wears out from week 6 on. A week later the masks differ beyond doubt, and the column is named. The
error of the predictions rises too, but it is known only when the true answers are. A small p-value is no reason to
stop: predictions take the gaps as they are. It is the reason to look, above all where the model also uses which
cells are missing.
"""

# %%
# Four sensors and a quantity that depends on three of them; from week 6 on the second sensor loses more and more
# readings.
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk


def week(number, n=150):
    """The rows of one week."""
    random = np.random.default_rng(number)
    X = random.standard_normal((n, 4))
    y = X[:, 0] + 2 * X[:, 1] - X[:, 2] + random.normal(0, 0.3, n)
    lost = np.array([0.1, min(0.1 + 0.12 * max(0, number - 5), 0.8), 0.1, 0.1])
    X[random.random(X.shape) < lost] = np.nan
    return X, y


model = gk.KernelRidge(kernel="rbf", alpha=0.1).fit(*week(0, n=400))

# %%
# Twelve weeks.
weeks = np.arange(1, 13)
drifts = [gk.inspection.gap_drift(model, week(k)[0], random_state=0) for k in weeks]
errors = [np.sqrt(np.mean((model.predict(week(k)[0]) - week(k)[1]) ** 2)) for k in weeks]
for k, drift in zip(weeks, drifts, strict=True):
    print(f"week {k:2d}: p = {drift.pvalue:.3f}", *drift.changed())

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
top.semilogy(weeks, [drift.pvalue for drift in drifts], marker="o", color="#b45309")
top.axhline(0.05, color="0.6", linestyle="--", linewidth=1)
top.set(ylabel="p-value of the masks")
bottom.plot(weeks, errors, marker="o", color="#0f766e")
bottom.set(xlabel="week", ylabel="error of predictions", ylim=(0, None), xticks=weeks)
plt.show()
