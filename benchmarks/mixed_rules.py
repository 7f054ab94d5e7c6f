"""How genRBF should treat numbers and categories together: one joint Gaussian, or blocks multiplied."""

import warnings
from functools import reduce
from operator import mul

import numpy as np
from datasets import load
from measure import report
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from gapkernel.density import Gaussian, JointGaussian, Marginals
from gapkernel.kernels import GenRBF, HeterogeneousKernel, Missingness

DATA = ("horse_colic_24", "horse_colic_23", "credit_crx")
CS = 10.0 ** np.arange(-1, 2.1, 0.5)
WIDTHS = (0.25, 0.5, 1.0)


def joint(density, indicator=False):
    """Gram and cross matrices for every width under one joint Gaussian; widths multiply gamma="scale"."""

    def matrices(train, test):
        fitted = density.fit(train)
        rows, new = fitted.condition(train), fitted.condition(test)
        scale = GenRBF().resolve(fitted.moments(), rows).gamma
        for width in WIDTHS:
            kernel = GenRBF(width * scale)
            pair = kernel.gram(rows), kernel.cross(new, rows)
            yield (
                tuple(k * m for k, m in zip(pair, _masks(train, test, width * scale), strict=True))
                if indicator
                else pair
            )

    return matrices


def blocks(train, test):
    """genRBF on the numbers times the extended RBF kernel on one-hot categories, gaps independent between them."""
    text = [c for c in train if train[c].dtype.kind not in "fi"]
    parts = []
    if len(text) < train.shape[1]:
        numbers, new = train.drop(columns=text).to_numpy(float), test.drop(columns=text).to_numpy(float)
        centre, spread = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        density = Gaussian().fit((numbers - centre) / spread)
        rows, others = (density.condition((x - centre) / spread) for x in (numbers, new))
        parts.append(lambda g: (GenRBF(g).gram(rows), GenRBF(g).cross(others, rows)))
    marginals = Marginals().fit(train[text])
    cats, new_cats = marginals.condition(train[text]), marginals.condition(test[text])

    def categories(g):
        one = HeterogeneousKernel(categorical=lambda x, z: np.exp(-2 * g * (x != z)))
        kernel = reduce(mul, (one.on([k]) for k in range(len(text))))
        return kernel.gram(cats), kernel.cross(new_cats, cats)

    parts.append(categories)
    joint_density = JointGaussian(gaussian=Gaussian(ridge=0.1, tol=1e-2)).fit(train)
    scale = 1.0 / joint_density.variances_.sum()
    for width in WIDTHS:
        pairs = [part(width * scale) for part in parts]
        yield np.prod([p[0] for p in pairs], axis=0), np.prod([p[1] for p in pairs], axis=0)


def _masks(train, test, gamma):
    kernel = Missingness(gamma=gamma)
    here, there = train.isna().to_numpy(float), test.isna().to_numpy(float)
    apart = lambda a, b: np.abs(a[:, None] - b[None]).sum(axis=2)  # noqa: E731
    return np.exp(-kernel.gamma * apart(here, here)), np.exp(-kernel.gamma * apart(there, here))


RULES = {
    "joint": joint(JointGaussian()),
    "joint, indicator": joint(JointGaussian(), indicator=True),
    "blocks multiplied": blocks,
}


def errors(matrices, X, y, train, test):
    """Wrong predictions for every width and C."""
    return np.array([
        [np.sum(SVC(kernel="precomputed", C=C).fit(gram, y[train]).predict(cross) != y[test]) for C in CS]
        for gram, cross in matrices(X.iloc[train], X.iloc[test])
    ])  # fmt: skip


def nested(matrices, X, y, seed=0):
    """Error in per cent over five outer folds, width and C chosen by three inner ones."""
    wrong = 0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        inside = StratifiedKFold(3, shuffle=True, random_state=seed).split(X.iloc[train], y[train])
        best = sum(errors(matrices, X, y, train[a], train[b]) for a, b in inside).argmin()
        wrong += errors(matrices, X, y, train, test).ravel()[best]
    return 100 * wrong / len(y)


def boosting(X, y, seed=0):
    """HistGradientBoosting with its defaults, for orientation."""
    X = X.apply(lambda column: column if column.dtype.kind in "fi" else column.astype("category"))
    wrong = 0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
        wrong += np.sum(model.fit(X.iloc[train], y[train]).predict(X.iloc[test]) != y[test])
    return 100 * wrong / len(y)


def run():
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    lines = []
    for name in DATA:
        X, y = load(name)
        line = [nested(rule, X, y) for rule in RULES.values()]
        line.append(boosting(X, y))
        lines.append((name, *(f"{value:.2f}" for value in line)))
        print(lines[-1], flush=True)
    report(
        "mixed_rules",
        "Numbers and categories in genRBF",
        ("data", *RULES, "HistGradientBoosting"),
        lines,
        "Error in %, five outer folds; width and C chosen by three inner folds.",
    )


if __name__ == "__main__":
    run()
