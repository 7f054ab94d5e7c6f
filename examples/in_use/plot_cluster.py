"""
On a cluster
============

A table that one computer cannot hold goes in as a dask array or dataframe. The fit is one pass of sums over
blocks, added in a tree that does not depend on the workers; what travels back is one matrix of the size of the
features squared. Predictions are lazy and made block by block.

So the model is that of one process, to rounding: the left-hand picture has every coefficient of both fits on the
diagonal. The right-hand one asks what a model should always be asked: how large is its error for rows with no,
one, two gaps? With five columns and all of them missing, it can say no more than the mean. A worker that is lost
costs the time of its blocks and nothing else: see :doc:`/docs/guide/scale`.
"""

# %%
# A dask array in eight blocks, 30 % of the cells missing. Here dask runs in this process; with
# ``dask.distributed.Client("scheduler:8786")`` before the fit the same lines run on a cluster.
import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import gapkernel as gk

random = np.random.default_rng(0)
X = random.standard_normal((40_000, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + random.normal(0, 0.2, 40_000)
X[random.random(X.shape) < 0.3] = np.nan
blocks, targets = da.from_array(X, chunks=(5_000, 5)), da.from_array(y, chunks=5_000)

settings = {"n_components": 128, "gamma": 0.3, "random_state": 0}
here = gk.FourierRegressor(**settings).fit(X, y)
with dask.config.set(scheduler="threads"):
    there = gk.FourierRegressor(**settings).fit(blocks, targets)
    answers = there.predict(blocks)  # a lazy dask array: nothing has been computed yet
    print(answers)
    answers = answers.compute()

# %%
# The model is the same, whatever the number of blocks and workers.
apart = np.abs(there.coef_ - here.coef_).max() / np.abs(here.coef_).max()
print(f"coefficients differ by {apart:.1e} of the largest one")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.plot(here.coef_.ravel(), there.coef_.ravel(), ".", color="#0f766e")
left.set(xlabel="coefficients of one process", ylabel="coefficients of blocks")
gaps = np.isnan(X).sum(axis=1)
error = [np.sqrt(np.mean((answers - y)[gaps == k] ** 2)) for k in range(6)]
right.bar(range(6), error, color="#f59e0b")
right.axhline(y.std(), color="0.4", linestyle="--", label="knowing nothing")
right.set(xlabel="gaps in the row", ylabel="root mean squared error")
right.legend(frameon=False, loc="lower right")
plt.show()
