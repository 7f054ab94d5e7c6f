"""
Numbers and categories: penguins with gaps
==========================================

Tables seldom hold numbers only. The extended heterogeneous kernel (EHK) compares two rows column by column,
numbers by their distance over the range, categories by whether they are equal, and takes the mean. A gap is
averaged over the law of its column: an unknown island is as similar to "Biscoe" as that island is frequent. The
result stays positive semi-definite, which Gower's similarity over common columns is not.

The matrix shows three blocks, the species, although 40 % of the cells are hidden. The gaps need no decision by the
user: frames go in as they are, and a level that was not seen at fit is one more gap. genRBF also takes the table,
over one Gaussian of numbers and one-hot codes, in which the island informs a missing weight; EHK looks at each
column alone.
"""

# %%
# The Palmer penguins: four measures, the island and the sex. 40 % of the cells are hidden.
import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import gapkernel as gk

birds = load_penguins().drop(columns="year")
species = birds.pop("species").to_numpy()
hidden = birds.mask(np.random.default_rng(0).random(birds.shape) < 0.4)
print(hidden.head())

# %%
# The kernel itself: how alike are two birds, of each of which four in ten cells are unknown?
kernel = gk.kernels.HeterogeneousKernel()
density = gk.density.Marginals().fit(hidden)
order = np.argsort(species, kind="stable")
alike = kernel.gram(density.condition(hidden.iloc[order]))

# %%
# Three ways to the species.
methods = {
    "EHK": gk.SVC(kernel="ehk", C=10.0),
    "genRBF": gk.SVC(kernel="genrbf", C=10.0),
    "mean and mode, then SVC": gk.imputation.baseline("mean", SVC(C=10.0)),
}
errors = {name: 1 - cross_val_score(method, hidden, species, cv=5) for name, method in methods.items()}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=[1, 1.1])
image = left.imshow(alike, cmap="viridis")
figure.colorbar(image, ax=left, shrink=0.8, label="similarity")
ends = np.cumsum([np.sum(species == name) for name in np.unique(species)])
for end in ends[:-1]:
    left.axhline(end, color="white", linewidth=1)
    left.axvline(end, color="white", linewidth=1)
left.set_yticks(ends - np.diff([0, *ends]) / 2, np.unique(species), rotation=90, va="center")
left.set(title="EHK between all birds", xticks=[])
for k, error in enumerate(errors.values()):
    right.plot(100 * error, np.full(5, k) + np.linspace(-0.12, 0.12, 5), "o", color="0.7")
    right.plot(100 * error.mean(), k, "D", color="#0f766e", markersize=9)
right.set_yticks(range(3), errors)
right.set(xlabel="error in five folds, %", title="species, with 40 % gaps", xlim=(0, None), ylim=(2.5, -0.5))
plt.show()
