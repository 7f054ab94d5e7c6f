"""
Where are the gaps?
===================

Before any model, look at the gaps. The patterns say which columns are missing *together*: here the two costly tests
share most of their gaps, so one can seldom be told from the other. A single most frequent pattern with two gaps
also says that complete rows, the only ones many methods would keep, are rare and not typical.

Influx and outflux put a number on each column. High influx: the gaps of a column stand beside observed cells, so
there is something to infer them from. High outflux: its values stand beside gaps of others, so it is what others
are inferred from. Age and cholesterol, always there, carry the table; scan and biopsy are hard to learn from and
of no help for the rest. The same numbers come from ``gapkernel describe table.csv``.
"""

# %%
# A table of 400 patients. A cheap test is done for nearly all, two costly ones are ordered together and only for some,
# and the weight was forgotten now and then.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import gapkernel as gk

random = np.random.default_rng(0)
n = 400
age = random.normal(55, 14, n)
pressure = 90 + 0.7 * age + random.normal(0, 10, n)
patients = pd.DataFrame(
    {
        "age": age,
        "weight": random.normal(75, 13, n),
        "pressure": pressure,
        "cholesterol": 3 + 0.02 * pressure + random.normal(0, 0.7, n),
        "scan": random.normal(0, 1, n),
        "biopsy": random.normal(0, 1, n),
    }
)
patients.loc[random.random(n) < 0.25, "weight"] = np.nan
patients.loc[random.random(n) < 0.1, "pressure"] = np.nan
costly = (pressure > 135) & (random.random(n) < 0.8)
patients.loc[~costly, ["scan", "biopsy"]] = np.nan
patients.loc[random.random(n) < 0.15, "biopsy"] = np.nan

gaps = gk.missingness.summary(patients)
print(f"{gaps.gap_fraction:.0%} gaps, {gaps.n_complete_rows} complete rows of {gaps.n_rows}")

# %%
# Patterns on the left, and what each column can tell on the right.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
gk.plots.PatternDisplay.from_table(patients, ax=left)
right.plot([0, 1], [1, 0], color="0.8", linewidth=1)
right.scatter(gaps.flux.influx, gaps.flux.outflux, s=60, color="#0f766e")
for k, (name, x, y) in enumerate(zip(gaps.names, gaps.flux.influx, gaps.flux.outflux, strict=True)):
    right.annotate(name, (x, y), xytext=(7, 7 if k in (0, 4) else -11), textcoords="offset points")
right.set(xlabel="influx: its gaps stand beside values", ylabel="outflux: its values stand beside gaps")
right.set(xlim=(-0.03, 1), ylim=(-0.03, 1.08))
plt.show()
