"""
Nothing to choose: which members won?
=====================================

No kernel wins on every table. ``GapClassifier`` tunes many kernel machines, and trees, on the same folds; turns their
out-of-fold answers into probabilities; leaves out those that are clearly worse; and mixes the rest, by weights between
those that treat all families of members alike and those of the highest likelihood. Nothing has to be scaled, encoded or
chosen.

The picture shows why a mixture is worth its time: its out-of-fold loss is below that of every member, because the
members err on different rows. Weights are not ranks. A weak member that errs elsewhere, like the trees here, gets
more weight than a stronger one that repeats what the best one says. The score is a little optimistic, since the
weights were chosen by it: see :doc:`/docs/guide/gap`.
"""

# %%
# The wines of scikit-learn with 40 % gaps. A few members are named here, to keep the example short; the default
# tries all.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import gapkernel as gk

X, y = load_wine(return_X_y=True, as_frame=True)
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.4)
members = ["process", "genrbf", "genrbf, indicator", "rbf", "ehk", "trees"]
model = gk.GapClassifier(members=members, random_state=0).fit(X[::2], y[::2])
print(model.members_)

# %%
# The score of each member out of fold, beside that of the mixture, and the weights.
names = [row.member for row in model.members_]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
left.barh(names, [-row.score for row in model.members_], color="#99c9c4")
left.axvline(-model.cv_score_, color="#b45309", label="the mixture")
left.set(xlabel="log loss out of fold (less is better)")
left.legend(frameon=False, loc="lower right")
right.barh(names, [row.weight for row in model.members_], color="#0f766e")
right.set(xlabel="weight in the mixture")
left.invert_yaxis()
plt.show()

# %%
# On rows it has not seen:
print(f"accuracy {model.score(X[1::2], y[1::2]):.3f}")
print(model.predict_set(X[1::2][:5], coverage=0.9))
