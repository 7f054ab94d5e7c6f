"""
Digits with erased pixels
=========================

Erase a patch of a digit, and the pixels around it still say a lot about what stood there, but not everything. A
factor analysis learns from the incomplete images which pixels go together, and gives each erased patch a law: a
mean that continues the strokes, and a spread that is widest where a stroke may or may not have passed.

genRBF compares these laws, patch and spread included, and errs less often here than an SVM on images whose patches
were filled with the mean of each pixel. With 64 columns and a patch of its own in nearly every image, a factor
model is also the fast choice: no covariance of the erased pixels is ever written out.
:doc:`/docs/reproduced/cccp/README` shows the USPS digits with erased pixels, as in a paper.
"""

# %%
# The digits of scikit-learn, 8 by 8 pixels. From each one a rectangle is erased.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gapkernel as gk

X, y = load_digits(return_X_y=True)
X = X / 16 + 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # some pixels are always white


def erase(X, random):
    """Each image without a rectangle of 3 to 4 by 3 to 4 pixels."""
    images = X.reshape(-1, 8, 8).copy()
    for image in images:
        height, width = random.integers(3, 5, 2)
        top, left = random.integers(0, 9 - height), random.integers(0, 9 - width)
        image[top : top + height, left : left + width] = np.nan
    return images.reshape(len(X), 64)


random = np.random.default_rng(1)
erased = erase(X, random)
train, test = slice(0, 600), slice(600, 1000)

# %%
# genRBF on the laws of the factor analysis, an SVM on column means, and the images without any erasure:
density = gk.density.FactorAnalysis(12).fit(erased[train])
methods = {
    "genRBF on the laws": gk.SVC(density=density, C=10.0, gamma=0.03),
    "column means, then SVC": make_pipeline(SimpleImputer(), SVC(C=10.0, gamma=0.03)),
    "nothing erased": SVC(C=10.0, gamma=0.03),
}
errors = {}
for name, method in methods.items():
    rows = X if name == "nothing erased" else erased
    errors[name] = 1 - method.fit(rows[train], y[train]).score(rows[test], y[test])
    print(f"{name}: {errors[name]:.1%}")

# %%
# What the density knows about six of the erased rectangles: the mean of the law, and its spread.
laws = density.condition(erased[test][:6])
spread = np.sqrt(laws.quadratic(np.eye(64)))

figure, axes = plt.subplots(4, 6, figsize=(8, 5.6), layout="constrained")
for k, column in enumerate(axes.T):
    for ax, pixels in zip(column, (X[test][k], erased[test][k], laws.means[k]), strict=False):
        ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    column[-1].imshow(spread[k].reshape(8, 8), cmap="Oranges", vmin=0, vmax=0.4)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[], facecolor="#cfe8e5")
for ax, text in zip(axes[:, 0], ("the digit", "what was seen", "mean of its law", "spread of its law"), strict=True):
    ax.set_ylabel(text)
plt.show()
