"""
A model file in production
==========================

A model in use meets rows that training did not show: a sensor is down, a form has a new answer, a field is empty.
Here none of that is an error. A gap is a gap, a level that was unknown at fit is a gap, and a row of which nothing
is known gets about the shares of the classes. What is wrong is refused: a missing column, text in place of
numbers, infinity, each with a message that names it.

The file holds arrays and names of types, never code, so that opening it runs nothing; ``load`` refuses every type
that a model of this package is not made of. Probabilities come back to the last digit. Beside each bar stands the
set of classes that are possible at a coverage of 90 %: it grows with what is missing, and says "I cannot tell" in
a form that a program can act on.
"""

# %%
# Train on penguins, 30 % of whose cells are missing, and keep the model in a file.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins

import gapkernel as gk
from gapkernel.persistence import load, save

birds = load_penguins().drop(columns=["year", "sex"])
species = birds.pop("species").to_numpy()
birds = birds.mask(np.random.default_rng(0).random(birds.shape) < 0.3)
model = gk.GapClassifier(members=["process", "ehk"], random_state=0).fit(birds, species)
file = Path(tempfile.mkdtemp()) / "penguins.skops"
save(model, file)
print(f"{file.name}: {file.stat().st_size / 1024:.0f} KiB")

# %%
# In production: rows as they come, with what training never had: an island that does not exist, nothing at all.
served = load(file)
requests = pd.DataFrame(
    [
        ("Torgersen", 39.0, 18.7, 181.0, 3750.0),
        ("Biscoe", 50.0, None, 220.0, None),
        (None, 49.0, 18.5, None, None),
        ("Atlantis", None, None, 200.0, None),
        (None, None, None, None, None),
    ],
    columns=birds.columns,
)
names = ["all known", "two gaps", "no island, two gaps", "unknown island, one value", "nothing known"]
chances = served.predict_proba(requests)
possible = served.predict_set(requests, coverage=0.9)
assert np.array_equal(chances, model.predict_proba(requests))  # to the last digit

figure, ax = plt.subplots(figsize=(8.5, 3.6), layout="constrained")
start = np.zeros(len(requests))
for k, (name, color) in enumerate(zip(served.classes_, ("#0f766e", "#7c3aed", "#f59e0b"), strict=True)):
    ax.barh(names, chances[:, k], left=start, color=color, label=name)
    start += chances[:, k]
for place, row in enumerate(possible):
    ax.annotate(" or ".join(served.classes_[row]), (1.01, place), va="center", fontsize=9)
ax.invert_yaxis()
ax.set(xlabel="probability", xlim=(0, 1.45), xticks=[0, 0.5, 1], title="possible at a coverage of 90 %, on the right")
ax.legend(ncols=3, frameon=False, loc="upper center", bbox_to_anchor=(0.35, -0.18))
plt.show()
