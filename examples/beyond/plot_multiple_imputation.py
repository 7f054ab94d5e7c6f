"""
Multiple imputation, pooled
===========================

Sometimes the question is not a prediction but a number with a standard error: by how much does weight rise with
pressure? Filling in means flattens the slope, and a single completion, however good, is analysed as if its values
had been measured. Multiple imputation completes the table many times, draws the gaps from their law each time,
analyses each table as usual, and pools: the spread between the answers is what the gaps cost.

The marks around the pooled slope are the twenty answers. Rubin's rule adds their variance to the mean of the
squared standard errors, and Barnard and Rubin's degrees of freedom keep the interval honest with few completions.
``ChainedEquations`` also completes new rows, one at a time and always in the same way, so that a predictor can
stand behind it: see :doc:`/docs/guide/imputation`.
"""

# %%
# Heavier people have a higher pressure. A third of the weights is missing, more often where pressure is low.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import gapkernel as gk

random = np.random.default_rng(3)
n = 250
weight = random.normal(75, 12, n)
height = 110 + 0.8 * weight + random.normal(0, 6, n)
pressure = 80 + 0.6 * weight + random.normal(0, 8, n)
X = pd.DataFrame({"weight": weight, "height": height, "pressure": pressure})
X.loc[random.random(n) < 0.65 / (1 + np.exp((pressure - 125) / 4)), "weight"] = np.nan
print(f"{X['weight'].isna().mean():.0%} of the weights are missing")


def slope(table):
    """The slope of weight on pressure, and its standard error."""
    fit, covariance = np.polyfit(table["pressure"], table["weight"], 1, cov=True)
    return fit[0], np.sqrt(covariance[0, 0])


# %%
# 20 completed tables, a slope from each, and the pooled one.
imputer = gk.ChainedEquations(n_imputations=20, random_state=0)
tables = imputer.fit_transform_all(X)
slopes, errors = np.array([slope(table) for table in tables]).T
pooled = gk.imputation.pool_scalar(slopes, errors**2, n_samples=n, n_parameters=2)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained", width_ratios=[1, 1.1])
missing = X["weight"].isna()
left.scatter(X["weight"], X["pressure"], s=12, color="0.75", label="observed")
left.scatter(tables[0]["weight"][missing], X["pressure"][missing], s=12, color="#b45309", label="one completion")
left.set(xlabel="weight", ylabel="pressure")
left.legend(frameon=False)
mean_filled = X.fillna({"weight": X["weight"].mean()})
answers = {
    "means filled in": (*slope(mean_filled), "#b91c1c"),
    "one completion, taken as data": (slopes[0], errors[0], "0.5"),
    "20 completions, pooled": (pooled.estimate, pooled.standard_error, "#0f766e"),
    "before the loss": (*slope(pd.DataFrame({"weight": weight, "pressure": pressure})), "black"),
}
right.plot(slopes, np.linspace(1.75, 2.25, 20), "|", color="#99c9c4", markersize=9)
for k, (estimate, error, color) in enumerate(answers.values()):
    right.errorbar(estimate, k, xerr=1.96 * error, fmt="o", capsize=4, color=color)
right.axvline(0.6 * 12**2 / (0.6**2 * 12**2 + 8**2), color="0.8", zorder=0)  # the slope that the rows were drawn with
right.set_yticks(range(4), answers)
right.set(xlabel="slope of weight on pressure, with intervals of 95 %", ylim=(3.5, -0.5))
plt.show()
