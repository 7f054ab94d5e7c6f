"""Gaussian processes: hyperparameters, evidence, means, deviations, probabilities, intervals and sets."""

from functools import partial

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from frozen.names import FactorAnalysis, GaussianProcessClassifier, GaussianProcessRegressor, Missingness
from frozen.rooms import Room
from frozen.tables import WEIGHT, problem

ROOM = Room("processes")
GIVEN = {"optimizer": None, "length_scale": 1.5, "constant_value": 2.0}


def climbed(objective, theta, bounds):
    """The optimum to the last digits: L-BFGS, then Newton's steps for what is not at a bound."""
    theta = minimize(objective, theta, jac=True, bounds=bounds, method="L-BFGS-B", tol=1e-12).x
    free = np.flatnonzero(((theta - bounds.T) ** 2).min(axis=0) > 1e-12)
    steps = 1e-4 * np.eye(len(theta))[free]
    for _ in range(4):
        hessian = np.array([(objective(theta + s)[1] - objective(theta - s)[1])[free] / 2e-4 for s in steps])
        hessian = hessian.reshape(len(free), len(free))
        theta[free] -= np.linalg.solve((hessian + hessian.T) / 2, objective(theta)[1][free])
    return theta, objective(theta)[0]


FOUND = {"optimizer": climbed, "length_scale_bounds": (0.2, 5.0), "constant_value_bounds": (0.05, 20.0)}
NOISY = {**FOUND, "noise_level_bounds": (0.002, 10.0)}


def fitted(model, table, target, weight):
    X, y, new = problem(table, target)
    return clone(model).fit(X, y, **({} if weight is None else {"sample_weight": weight[: len(X)]})), new


def numbers(model, table="numbers", weight=None, covariance=False) -> dict:
    """What a process says of numbers."""
    model, new = fitted(model, table, "number", weight)
    mean, std = model.predict(new, return_std=True)
    left_mean, left_std = model.leave_one_out()
    value, gradient = model.log_marginal_likelihood(0.1 + 0.0 * model.theta_, eval_gradient=True)
    found = {
        "mean": mean,
        "std": std,
        "evidence": [model.log_marginal_likelihood_value_, value],
        "gradient": gradient,
        "hyperparameters": np.hstack([model.constant_value_, model.length_scale_, model.noise_level_]),
        "left out": np.array([left_mean, left_std])[:, ::10],
    }
    if covariance:
        found["covariance"] = model.predict(new, return_cov=True)[1][np.triu_indices(len(new))]
        found["sample_y"] = model.sample_y(new[4:], n_samples=2, random_state=0)
    return found


def classes(model, table="numbers", target="two", weight=None) -> dict:
    """What a process says of classes."""
    model, new = fitted(model, table, target, weight)
    mean, variance = model.latent_mean_and_variance(new)
    found = {
        "predict": model.predict(new),
        "predict_proba": model.predict_proba(new)[:, 1:],
        "latent mean": mean,
        "latent variance": variance,
        "latent mean alone": model.latent_mean(new[:3]),
        "evidence": model.log_marginal_likelihood_value_,
        "hyperparameters": np.column_stack([model.constant_value_, model.length_scale_]),
        "left out": model.leave_one_out()[::10, 1:],
    }
    if target == "two":
        theta = np.full(1 + model.length_scale_.size, 0.1)
        value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
        found |= {"evidence, elsewhere": value, "gradient": gradient}
    return found


REGRESSORS = {
    "given": (GaussianProcessRegressor(**GIVEN, noise_level=0.3), {"covariance": True}),
    "given, complete": (GaussianProcessRegressor(**GIVEN), {"table": "complete"}),
    "given, columns": (
        GaussianProcessRegressor(optimizer=None, length_scale=[1.0, 2.0, 0.7, 3.0], noise_level=0.2, normalize_y=True),
        {"covariance": True},
    ),
    "given, frame": (GaussianProcessRegressor(**GIVEN), {"table": "frame"}),
    "given, indicator": (GaussianProcessRegressor(**GIVEN, indicator=Missingness(0.3)), {}),
    "given, gamma": (GaussianProcessRegressor(optimizer=None, gamma=0.2, alpha=0.1), {}),
    "given, factors": (GaussianProcessRegressor(**GIVEN, density=FactorAnalysis(1)), {}),
    "given, landmarks": (GaussianProcessRegressor(**GIVEN, n_landmarks=12), {}),
    "given, all pairs": (GaussianProcessRegressor(**GIVEN, n_landmarks=None), {}),
    "given, weights": (GaussianProcessRegressor(**GIVEN, alpha=np.linspace(0.1, 1.0, 40)), {"weight": WEIGHT}),
    "default": (GaussianProcessRegressor(), {}),
    "found": (GaussianProcessRegressor(**NOISY), {}),
    "found, ard": (GaussianProcessRegressor(**NOISY, length_scale="ard"), {}),
    "found, shrunk": (GaussianProcessRegressor(**NOISY, length_scale="shrunk"), {}),
    "found, normalised": (GaussianProcessRegressor(**NOISY, normalize_y=True, indicator=True), {}),
    "found, frame": (GaussianProcessRegressor(**NOISY), {"table": "frame"}),
    "found, fixed noise": (
        GaussianProcessRegressor(**FOUND, noise_level=0.2, noise_level_bounds="fixed", n_restarts_optimizer=1,
                                 random_state=0),
        {"weight": WEIGHT},
    ),
}  # fmt: skip
CLASSIFIERS = {
    "given": (GaussianProcessClassifier(**GIVEN), {}),
    "given, complete": (GaussianProcessClassifier(**GIVEN), {"table": "complete"}),
    "given, other link": (GaussianProcessClassifier(**GIVEN, link="williams-barber", prior="share"), {}),
    "given, three classes": (GaussianProcessClassifier(**GIVEN, prior="share", indicator=True), {"target": "three"}),
    "given, frame": (GaussianProcessClassifier(**GIVEN), {"table": "frame"}),
    "given, weights": (
        GaussianProcessClassifier(**GIVEN, class_weight="balanced"),
        {"target": "three", "weight": WEIGHT},
    ),
    "given, landmarks": (GaussianProcessClassifier(**GIVEN, n_landmarks=12), {"weight": WEIGHT}),
    "default": (GaussianProcessClassifier(), {}),
    "found": (GaussianProcessClassifier(**FOUND), {}),
    "found, ard": (GaussianProcessClassifier(**FOUND, length_scale="ard"), {}),
    "found, shrunk": (GaussianProcessClassifier(**FOUND, length_scale="shrunk"), {}),
    "found, three classes": (GaussianProcessClassifier(**FOUND, prior="share"), {"target": "three"}),
}
for name, (model, options) in REGRESSORS.items():
    ROOM.add(f"numbers, {name}", partial(numbers, model, **options))
for name, (model, options) in CLASSIFIERS.items():
    ROOM.add(f"classes, {name}", partial(classes, model, **options))


def calibrated(model, target) -> dict:
    """Intervals or sets for two coverages."""
    model, new = fitted(model, "numbers", target, None)
    verb = model.predict_interval if target == "number" else model.predict_set
    return {f"coverage {coverage}": verb(new, coverage=coverage) for coverage in (0.5, 0.9)}


for conformal in (False, "count", "mask"):
    regressor = GaussianProcessRegressor(**GIVEN, conformal=conformal, random_state=0)
    ROOM.add(f"intervals, {conformal}", partial(calibrated, regressor, "number"))
for conformal in ("count", "mask"):
    for target in ("two", "three"):
        classifier = GaussianProcessClassifier(**GIVEN, conformal=conformal)
        ROOM.add(f"sets, {conformal}, {target}", partial(calibrated, classifier, target))
