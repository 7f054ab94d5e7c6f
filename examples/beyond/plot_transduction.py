"""
When labels are missing too
===========================

Six of 120 rows have a label, and a tenth of the cells are gaps. ``CCCPClassifier`` takes both: -1 is an unobserved
label, and the gaps of a row are summed out inside the model. Unlabelled rows teach the plain model nothing about
the boundary. With ``transduction=Transduction()`` it also looks for labels that are clear everywhere, so that the
boundary moves out of the crowd and into the empty land between the moons.

That rests on an assumption, that classes are clusters, and on a problem with many minima. The list below shows ten
draws of the six labels: it gains in most of them, often a lot, but not in all. Where classes overlap it can settle
on a clear but wrong answer. Look at such a list on your own table, with labels that you have and hide, before you
rely on it.
"""

# %%
# Two moons, six labels, and the two fits.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from gapkernel.papers.missing_variables import LBFGS, AtomicDensity, CCCPClassifier, Transduction

X, y = make_moons(120, noise=0.07, random_state=0)


def draw(seed):
    """The table with gaps, and three labels of each class."""
    random = np.random.default_rng(seed)
    gappy = np.where(random.random(X.shape) < 0.1, np.nan, X)
    known = np.concatenate([random.choice(np.flatnonzero(y == k), 3, replace=False) for k in (0, 1)])
    gappy[known] = X[known]
    labels = np.full(120, -1)
    labels[known] = y[known]
    return gappy, labels, known


def fit(gappy, labels):
    """A model that learns from labelled rows only, and a transductive one."""
    completions = AtomicDensity(n_atoms=16)
    settings = {"gamma": 10.0, "C": 30.0, "density": completions, "solver": LBFGS(), "random_state": 0}
    plain = CCCPClassifier(**settings).fit(gappy, labels)
    return {
        "labelled rows only": plain,
        "transductive": CCCPClassifier(transduction=Transduction(), **settings).fit(gappy, labels),
    }


def right(model, labels):
    """The share of unlabelled rows whose label was found."""
    return (model.transduction_ == y)[labels == -1].mean()


for seed in range(10):
    gappy, labels, _ = draw(seed)
    print(
        f"draw {seed}:", ", ".join(f"{name} {right(model, labels):.0%}" for name, model in fit(gappy, labels).items())
    )

# %%
# The first draw. Stars are the labelled rows; rows with a gap are drawn hollow, where they really are.
gappy, labels, known = draw(0)
first, second = np.linspace(-1.4, 2.4, 90), np.linspace(-0.9, 1.4, 70)
plane = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
holes = np.isnan(gappy).any(axis=1)
colors = np.where(y == 1, "#0f766e", "#b45309")
figure, axes = plt.subplots(1, 2, figsize=(10.5, 4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, fit(gappy, labels).items(), strict=True):
    chance = model.predict_proba(plane)[:, 1].reshape(70, 90)
    ax.contourf(first, second, chance, levels=11, cmap="BrBG", alpha=0.6)
    ax.contour(first, second, chance, levels=[0.5], colors="black")
    ax.scatter(*X[~holes].T, s=14, c=colors[~holes])
    ax.scatter(*X[holes].T, s=18, facecolors="none", edgecolors=colors[holes])
    ax.scatter(*X[known].T, s=170, marker="*", c=colors[known], edgecolors="black")
    ax.set(title=f"{name}: {right(model, labels):.0%} of the unlabelled rows right")
plt.show()
