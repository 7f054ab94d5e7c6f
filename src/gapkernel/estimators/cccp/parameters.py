"""What the parameters of `CCCPClassifier` may be."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from gapkernel.density.completions import KINDS

CHOICES = {
    "loss": ("gp", "svm"),
    "solver": ("cccp", "lbfgs", "sgd"),
    "completions": ("density", *KINDS),
    "sampling": ("sobol", "random"),
    "basis": ("auto", "complete", "kmeans"),
}


def check_parameters(model) -> None:
    """One ValueError for the first parameter that cannot be."""
    for name, choices in CHOICES.items():
        value = getattr(model, name)
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    for name in ("C", "sigma"):
        value = getattr(model, name)
        if not (value is None and name == "sigma") and not (_is_number(value) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a positive number, got {value!r}.")
    if model.sigma is not None and model.C != 1.0:
        raise ValueError(f"Give C or sigma (C = sigma^2), not both: got C={model.C!r} and sigma={model.sigma!r}.")
    for name in ("n_completions", "n_basis", "max_iter"):
        value = getattr(model, name)
        if not (value is None and name == "n_basis") and not (_is_number(value, Integral) and value > 0):
            raise ValueError(f"{name} must be a positive whole number, got {value!r}.")
    for name in ("basis_tol", "tol", "balance"):
        value = getattr(model, name)
        if not (_is_number(value) and 0 <= value < np.inf):
            raise ValueError(f"{name} must be a number from 0 up, got {value!r}.")
    if not (_is_number(model.unlabelled_weight) and 0 < model.unlabelled_weight <= 1):
        raise ValueError(f"unlabelled_weight must be above 0 and at most 1, got {model.unlabelled_weight!r}.")
    if model.completions == "density":
        ok = hasattr(model.density, "fit") and hasattr(model.density, "condition")
        if isinstance(model.density, type) or not (ok or (isinstance(model.density, str) and model.density == "auto")):
            raise ValueError(
                f"density must be 'auto' or a density such as gapkernel.density.Gaussian(), got {model.density!r}."
            )


def _is_number(value, kind: type = Real) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)
