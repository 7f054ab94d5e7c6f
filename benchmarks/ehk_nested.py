"""EHK_alpha on the paper's data, C and alpha (and epsilon) chosen inside the training folds only."""

import warnings

import numpy as np
from datasets import load
from measure import report
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

import gapkernel as gk

ALPHAS = (0.1, 0.5, 0.8, 0.95, 0.99)
SMOOTH_ALPHAS = (0.1, 0.3, 0.5, 0.7, 0.9)
PAPER = {"servo": 0.321, "horse_colic_24": 15.47, "horse_colic_23": 27.54, "credit_crx": 12.54}
CLASSIFIERS = [{"C": C} for C in 10.0 ** np.arange(-1, 2.1, 0.5)]
REGRESSORS = [
    {"C": C, "epsilon": epsilon, "max_iter": 200_000}
    for C in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
    for epsilon in (0.001, 0.05)
]


def activated(mean, alpha):
    """EHK_alpha from EHK, scaled to 1 on the diagonal so that C means the same for every alpha."""
    return mean if alpha is None else ((1 - alpha) / (1 - alpha * mean)) ** (1 / alpha)


def losses(X, y, train, test, alphas, settings, machine, loss):
    """The loss of every (alpha, setting), the density fitted to the training rows."""
    gram = gk.Gram(kernel="ehk")
    inner, outer = gram.fit_transform(X.iloc[train]), gram.transform(X.iloc[test])

    def one(alpha, setting):
        model = machine(kernel="precomputed", **setting).fit(activated(inner, alpha), y[train])
        return loss(y[test], model.predict(activated(outer, alpha)))

    return np.array([[one(alpha, setting) for setting in settings] for alpha in alphas])


def nested(name, seed=0):
    """Error in per cent over ten outer folds; for servo the root mean square error over that of the mean, by fold."""
    X, y = load(name)
    regression = name == "servo"
    folds, machine = (KFold, SVR) if regression else (StratifiedKFold, SVC)
    alphas, settings = (SMOOTH_ALPHAS, REGRESSORS) if regression else (ALPHAS, CLASSIFIERS)

    def loss(truth, guess):
        if not regression:
            return np.sum(truth != guess)
        return np.sqrt(np.mean((truth - guess) ** 2) / np.mean((truth - y.mean()) ** 2))

    total = 0.0
    for train, test in folds(10, shuffle=True, random_state=seed).split(X, y):
        inside = folds(5, shuffle=True, random_state=seed).split(X.iloc[train], y[train])
        table = sum(losses(X, y, train[a], train[b], alphas, settings, machine, loss) for a, b in inside)
        alpha, setting = np.unravel_index(table.argmin(), table.shape)
        total += losses(X, y, train, test, alphas, [settings[setting]], machine, loss)[alpha, 0]
    return total / 10 if regression else 100 * total / len(y)


def run():
    """Measure and write the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = []
    for name, paper in PAPER.items():
        value = np.mean([nested(name, seed) for seed in range(3)]) if name == "servo" else nested(name)
        digits = 3 if name == "servo" else 2
        lines.append((name, f"{value:.{digits}f}", f"{paper:.{digits}f}"))
        print(*lines[-1], flush=True)
    report(
        "ehk_nested",
        "EHK_alpha, nested cross-validation",
        ("data", "nested error", "paper, best of the grid"),
        lines,
        "Error in %. For servo the root mean square error over that of the mean, averaged over folds and three "
        "repeats. Ten outer folds; C and alpha, for servo also epsilon, chosen by five inner folds. The paper reports "
        "the best cell of its grid, which is optimistic. For servo, errors pooled over the folds under one root, with "
        "narrower grids, gave 0.392 to 0.416; the paper speaks of the mean over folds.",
    )


if __name__ == "__main__":
    run()
