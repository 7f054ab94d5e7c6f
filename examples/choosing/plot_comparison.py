"""
Reading a comparison: which lead is noise?
==========================================

``gapkernel compare table.csv --target y`` cross-validates methods on your table and writes a page about it. This
example repeats the heart of that page by hand: same folds and same gaps for every method, then the question
whether the best one is better or only luckier.

Two looks settle it. Left, lines that cross say that the order changes from fold to fold. Right, the mean lead with
its interval. Training sets of a cross-validation share most of their rows, so folds are not independent and the
usual standard error is far too small; Nadeau and Bengio's correction adds the ratio of test to training rows. An
interval that holds zero is a lead that another draw of the folds may turn round: then take the simpler method, or
the one you know best.
"""

# %%
# Four methods on the same folds of the same table, 30 % of it hidden.
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import gapkernel as gk
from gapkernel.studies import paired_test

X, y = load_breast_cancer(return_X_y=True)
X = gk.ampute(X, 0.3, random_state=0)[:300, :12]
y = y[:300]
cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
methods = {
    "genRBF": make_pipeline(StandardScaler(), gk.SVC(C=10.0)),
    "EHK": gk.SVC(kernel="ehk", C=10.0),
    "mean, then SVC": gk.imputation.baseline("mean", SVC(C=10.0)),
    "random forest": RandomForestClassifier(50, random_state=0),
}
scores = {name: cross_val_score(method, X, y, cv=cv) for name, method in methods.items()}
best = max(scores, key=lambda name: scores[name].mean())

# %%
# Left, the scores by fold: grey lines join the same fold. Right, the lead of the best method over each other one,
# with an interval that counts that training sets overlap (Nadeau and Bengio).
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(np.array(list(scores.values())), color="0.8", linewidth=1)
left.plot([score.mean() for score in scores.values()], "D", color="#0f766e")
left.set_xticks(range(len(scores)), scores, rotation=15)
left.set(ylabel="accuracy, fold by fold")
others = [name for name in scores if name != best]
for k, name in enumerate(others):
    test = paired_test(scores[best], scores[name])
    apart = scores[best] - scores[name]
    error = apart.std(ddof=1) * np.sqrt(1 / len(apart) + 0.25)  # a fold tests a quarter as many rows as it trains on
    reach = stats.t.ppf(0.975, len(apart) - 1) * error
    noise = abs(test.difference) < reach
    right.errorbar(100 * test.difference, k, xerr=100 * reach, fmt="o", capsize=4, color="0.5" if noise else "#b45309")
    print(f"{best} leads {name} by {test.difference:.3f}: {'noise' if noise else 'a clear lead'}")
right.axvline(0, color="black", linewidth=1)
right.set_yticks(range(len(others)), others)
right.set(xlabel=f"lead of {best}, points of accuracy", ylim=(len(others) - 0.5, -0.5))
plt.show()
