"""
Novelty detection with gaps
===========================

Four sensors follow the load of a pump. A row is odd when its sensors contradict one another, although each value
by itself is ordinary. The one-class SVM learns from rows with gaps where normal rows lie, and scores new rows with
gaps as they are.

The more cells a new row lacks, the less its sensors can contradict one another: with a single value left nothing
is odd any more, and the curve must fall to one half. A method that fills in the gaps from the others does worse
than knowing nothing, since a row completed to agree with itself looks perfectly normal. With genRBF a row with gaps
is compared on equal terms; with ``kernel="rbf"`` a row with many gaps resembles none, and the score also falls
with the number of gaps. Choose by whether an empty row should raise the alarm.
"""

# %%
# Sensors of a pump that agree with one another. Odd rows break the relation, each value for itself being ordinary.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

import gapkernel as gk

random = np.random.default_rng(0)
load = random.normal(0, 1, 700)
normal = np.column_stack([load, 0.9 * load, -0.8 * load, 0.7 * load]) + random.normal(0, 0.25, (700, 4))
odd = random.normal(0, 1, (200, 4))


def lose(X, share, seed):
    """The table without a share of its cells."""
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


detector = gk.OneClassSVM(nu=0.05, gamma=0.3).fit(lose(normal[:400], 0.2, 0))

# %%
# How well odd rows are told apart, as more of each new row is missing; and the scores at 30 %.
shares = np.linspace(0, 0.6, 5)
truth = np.repeat([1, 0], [300, 200])
areas, scores = [], None
for share in shares:
    rows = lose(np.vstack([normal[400:], odd]), share, 1)
    score = detector.score_samples(rows)
    areas.append(roc_auc_score(truth, score))
    scores = score if np.isclose(share, 0.3) else scores

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 40)
left.hist(scores[truth == 1], bins, color="#0f766e", alpha=0.7, label="as in training")
left.hist(scores[truth == 0], bins, color="#f59e0b", alpha=0.7, label="odd")
left.axvline(detector.offset_[0], color="black", linewidth=1)
left.set(xlabel="score, with 30 % of the cells missing", ylabel="rows")
left.legend(frameon=False)
right.plot(100 * shares, areas, marker="o", color="#0f766e")
right.axhline(0.5, color="0.7", linestyle="--")
right.set(xlabel="missing in new rows, %", ylabel="area under the curve", ylim=(0.45, 1.0))
plt.show()
