"""The mean of the Gram matrices of several completions of a table, and the machine that can use it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import kernel_ridge, svm
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from gapkernel.compute.runtime.config import check_fits
from gapkernel.estimators.ridge import KernelRidge
from gapkernel.estimators.svm import SVC, SVR

# our machines are scikit-learn's on complete rows, with these names for the kernels
_TWINS = {SVC: svm.SVC, SVR: svm.SVR, KernelRidge: kernel_ridge.KernelRidge}
_NAMES = {"genrbf": "rbf", "rbf": "rbf", "linear": "linear"}


@dataclass(frozen=True)
class MeanGram:
    """A mean of kernels, one for each completion.

    A mean of positive semi-definite matrices is one too, and a new row joins it completion by completion, so
    training and new rows together have a positive semi-definite matrix as well.

    Attributes
    ----------
    machine : estimator
        An unfitted machine for a precomputed kernel.
    kernel : str or callable
    parameters : dict
        What the kernel needs (gamma, degree, coef0).
    completed : ndarray of shape (n_imputations, n_samples, n_features)
        The completions of the training rows.
    """

    machine: object
    kernel: object
    parameters: dict
    completed: np.ndarray

    @classmethod
    def of(cls, estimator, completed: np.ndarray) -> MeanGram:
        """The mean of the kernel that ``estimator`` names."""
        kernel, given = _kernel_of(estimator)
        parameters = {name: given[name] for name in ("gamma", "degree", "coef0") if name in given}
        if isinstance(parameters.get("gamma"), str):
            parameters["gamma"] = _width(parameters["gamma"], completed)
        twin = _TWINS.get(type(estimator))
        if twin is None:
            machine = clone(estimator).set_params(kernel="precomputed")
        else:
            accepted = twin().get_params()
            shared = {k: v for k, v in given.items() if k in accepted and k not in ("kernel", "gamma")}
            machine = twin(kernel="precomputed", **shared)
        return cls(machine, kernel, parameters, completed)

    def gram(self) -> np.ndarray:
        """Mean Gram matrix of the training rows."""
        n = self.completed.shape[1]
        check_fits((n, n), "The mean Gram matrix")
        total = np.zeros((n, n))
        for rows in self.completed:
            total += self._kernel(rows, rows)
        return total / len(self.completed)

    def crosses(self, completed: np.ndarray) -> list[np.ndarray]:
        """The kernel between new rows and training rows in each completion."""
        known = np.broadcast_to(self.completed, (len(completed), *self.completed.shape[1:]))
        return [self._kernel(new, old) for new, old in zip(completed, known, strict=True)]

    def _kernel(self, left, right) -> np.ndarray:
        if callable(self.kernel):  # as in SVC: a function of two tables
            return self.kernel(left, right)
        return pairwise_kernels(left, right, metric=self.kernel, filter_params=True, **self.parameters)


def _kernel_of(estimator):
    """The kernel of a machine as scikit-learn knows it, and the machine's parameters."""
    given = estimator.get_params(deep=False)
    kernel = given.get("kernel")
    if type(estimator) in _TWINS:
        if not isinstance(kernel, str) or kernel not in _NAMES:
            raise ValueError(
                f"pooling='kernel' takes the kernels {sorted(_NAMES)} by name, got {kernel!r}. "
                f"Name one of them, or choose pooling='average'."
            )
        return _NAMES[kernel], given
    if kernel is None or (isinstance(kernel, str) and kernel == "precomputed"):
        raise ValueError(
            f"pooling='kernel' needs an estimator with a parameter kernel that says which one, such as SVC(), "
            f"got {estimator!r}."
        )
    return kernel, given


def _width(word: str, completed: np.ndarray) -> float:
    """scikit-learn's words for gamma, over all completions together."""
    n_features = completed.shape[2]
    if word == "auto":
        return 1.0 / n_features
    if word != "scale":
        raise ValueError(f"pooling='kernel' takes gamma as a number, 'scale' or 'auto', got {word!r}.")
    variance = completed.var()
    return 1.0 / (n_features * variance) if variance > 0 else 1.0
