"""
Gaps that carry information
===========================

Often a gap is a decision. A doctor orders a test for those who look ill, so *that* it was not done speaks for
health. ``indicator=True`` lets an estimator see the gaps: it multiplies the kernel by one that compares which
cells are missing. On new patients of the same clinic the gain is large.

The same model fails in a clinic that tests everyone alike: what it learned about gaps is no longer true, and it
trusts it more than the values. A model that looks at values alone loses nothing there. So use the indicator where
the reasons for gaps stay as they are, and watch whether they do; where they may change, leave it out.
"""

# %%
# A test is ordered when something is suspected: whether it was done says more than its result.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

import gapkernel as gk


def patients(n, seed, informed):
    """Four columns and a diagnosis; a test is done more often for the ill if the gaps are informed."""
    random = np.random.default_rng(seed)
    ill = (random.random(n) < 0.4).astype(int)
    X = random.normal(0, 1, (n, 4)) + 0.7 * ill[:, None]
    done = np.where(ill == 1, 0.85, 0.35) if informed else 0.55
    X[random.random((n, 4)) > np.reshape(done, (-1, 1)) * np.ones((n, 4))] = np.nan
    return X, ill


X, y = patients(400, 0, informed=True)
models = {
    "values only": gk.SVC(kernel="rbf", C=1.0).fit(X, y),
    "values and gaps": gk.SVC(kernel="rbf", C=1.0, indicator=True).fit(X, y),
}

# %%
# New patients of the same clinic, and of a clinic that tests everyone alike.
clinics = {
    "same clinic": patients(1500, 1, informed=True),
    "a clinic that\ntests all alike": patients(1500, 2, informed=False),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
n_gaps = np.isnan(X).sum(axis=1)
left.bar(range(5), [y[n_gaps == k].mean() for k in range(5)], color="#99c9c4")
left.set(xlabel="tests not done", ylabel="share of the ill", title="in training")
for k, (name, model) in enumerate(models.items()):
    area = [roc_auc_score(ill, model.decision_function(rows)) for rows, ill in clinics.values()]
    bars = right.bar(np.arange(2) + 0.38 * (k - 0.5), area, 0.36, label=name, color=["#0f766e", "#f59e0b"][k])
    right.bar_label(bars, fmt="%.2f")
right.set_xticks(range(2), clinics)
right.set(ylabel="area under the curve", ylim=(0.5, 1), title="on new patients")
right.legend(frameon=False)
plt.show()
