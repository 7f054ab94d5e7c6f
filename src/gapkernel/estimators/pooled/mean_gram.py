"""The mean of the Gram matrices of several completions of a table, and the estimator that can use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn import kernel_ridge, svm
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels
from sklearn.utils._param_validation import validate_parameter_constraints

from gapkernel.compute.runtime.config import check_fits
from gapkernel.compute.runtime.restored import Restored
from gapkernel.estimators.kernel_ridge import KernelRidge
from gapkernel.estimators.svm import SVC, SVR
from gapkernel.kernels.on_vectors import CompleteKernel, complete_kernel
from gapkernel.kernels.width import RBF_WIDTH, gamma_of_word, scale_gamma
from gapkernel.rows import GaussianRows, Moments

# our kernel machines are scikit-learn's on complete rows, with these names for the kernels
_TWINS: dict[type, type] = {SVC: svm.SVC, SVR: svm.SVR, KernelRidge: kernel_ridge.KernelRidge}
_NAMES = {"genrbf": "rbf", "rbf": "rbf", "linear": "linear"}


@dataclass(frozen=True)
class MeanGram(Restored):
    """A mean of kernels, one for each completion.

    A mean of positive semi-definite matrices is one too, and a new row joins it completion by completion, so
    training and new rows together have a positive semi-definite matrix as well.

    Attributes
    ----------
    estimator : estimator
        Unfitted, for a precomputed kernel.
    kernel : CompleteKernel
    completed : ndarray of shape (n_imputations, n_samples, n_features)
        The completions of the training rows.
    """

    estimator: BaseEstimator
    kernel: CompleteKernel
    completed: np.ndarray

    _held: ClassVar[dict] = {"estimator": BaseEstimator, "kernel": CompleteKernel, "completed": "float m n d"}

    @classmethod
    def of(cls, estimator, completed: np.ndarray) -> MeanGram:
        """The mean of the kernel that ``estimator`` names; a word for gamma looks at all completions together."""
        given = estimator.get_params(deep=False)
        kernel = _kernel_of(estimator, given)
        rows, options = np.concatenate(completed), None
        gamma: float | str = "scale"
        if isinstance(kernel, str):
            options = {k: given[k] for k in ("degree", "coef0") if k in given and k in KERNEL_PARAMS.get(kernel, ())}
            gamma = "auto" if given.get("gamma") is None else given["gamma"]  # None is scikit-learn's word for it
            validate_parameter_constraints({"gamma": RBF_WIDTH}, {"gamma": gamma}, type(estimator).__name__)
            if isinstance(gamma, str):
                gamma = gamma_of_word(gamma, GaussianRows.certain(rows), lambda: scale_gamma(Moments.of(rows)))
        resolved = complete_kernel(kernel, gamma, options, rows, np.ones(len(rows)))
        twin = _TWINS.get(type(estimator))
        if twin is None:
            return cls(clone(estimator).set_params(kernel="precomputed"), resolved, completed)
        accepted = twin().get_params()
        shared = {k: v for k, v in given.items() if k in accepted and k not in ("kernel", "gamma")}
        return cls(twin(kernel="precomputed", **shared), resolved, completed)

    def gram(self) -> np.ndarray:
        """Mean Gram matrix of the training rows."""
        n = self.completed.shape[1]
        check_fits((n, n), "The mean Gram matrix")
        total = np.zeros((n, n))
        for rows in self.completed:
            total += self._between(rows, rows)
        return total / len(self.completed)

    def crosses(self, completed: np.ndarray) -> list[np.ndarray]:
        """The kernel between new rows and training rows in each completion."""
        known = np.broadcast_to(self.completed, (len(completed), *self.completed.shape[1:]))
        return [self._between(new, old) for new, old in zip(completed, known, strict=True)]

    def _between(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        name = self.kernel.source
        if not isinstance(name, str):
            return self.kernel(left, right)
        # to the last bit what the estimator itself would compute, so that one completion is the plain estimator
        return pairwise_kernels(left, right, metric=name, **self.kernel.parameters)


def _kernel_of(estimator, given: dict):
    """The kernel of an estimator by scikit-learn's name, or as a function."""
    kernel = given.get("kernel")
    if type(estimator) in _TWINS:
        if not isinstance(kernel, str) or kernel not in _NAMES:
            raise ValueError(
                f"pooling='kernel' takes the kernels {sorted(_NAMES)} by name, got {kernel!r}. "
                f"Name one of them, or choose pooling='average'."
            )
        return _NAMES[kernel]
    if kernel is None or (isinstance(kernel, str) and kernel == "precomputed"):
        raise ValueError(
            f"pooling='kernel' needs an estimator with a parameter kernel that says which one, such as SVC(), "
            f"got {estimator!r}."
        )
    return kernel
