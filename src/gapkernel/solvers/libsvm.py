"""Support vector machines on a given Gram matrix, by scikit-learn's libsvm."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn import config_context, get_config, svm

from gapkernel.compute.runtime.threads import interruptible
from gapkernel.solvers.base import Solution, Solver

MOST_ITERATIONS = 10_000_000
"""The limit of libsvm itself, which scikit-learn lifts."""

LARGEST_INT = 2**31 - 1
"""The largest integer that libsvm takes."""


@dataclass(frozen=True, eq=False)
class SupportVectors(Solution):
    """The support rows and their coefficients; several classes give one output for each pair.

    Attributes
    ----------
    dual_coef : ndarray
        The coefficients in libsvm's order, as scikit-learn shows them.
    n_support : ndarray
        Support rows of each class.
    status : int
        0 when solved.
    class_weight : ndarray or None
        Multipliers of C for each class, in classification.
    """

    dual_coef: np.ndarray
    n_support: np.ndarray
    status: int
    class_weight: np.ndarray | None


class LibSVM(Solver):
    """One of libsvm's problems; a subclass names scikit-learn's estimator for it, whose parameters it takes."""

    _problem: ClassVar[type]

    def __init__(self, **parameters: Any) -> None:
        self._svm: Any = self._problem(kernel="precomputed", **{"max_iter": MOST_ITERATIONS, **parameters})
        self._svm._validate_params()
        for name, value in parameters.items():
            if isinstance(value, int) and abs(value) > LARGEST_INT:
                raise ValueError(f"{name} must be at most {LARGEST_INT}.")
        if parameters.get("C") == np.inf:
            raise ValueError("C must be finite: classes that overlap have no solution without a bound. Use C=1e6.")

    def solve(self, gram: np.ndarray, y: Any, weight: np.ndarray | None = None) -> SupportVectors:
        config = {**get_config(), "skip_parameter_validation": True}

        def fitted() -> Any:
            with config_context(**config):  # it holds for one thread
                return copy(self._svm).fit(gram, y, weight)

        solved = interruptible(fitted)
        if not (np.isfinite(solved.dual_coef_).all() and np.isfinite(solved.intercept_).all()):
            raise ValueError("The coefficients overflow: C times the largest weight, or the targets, are too large.")
        return SupportVectors(
            kept=solved.support_,
            weights=_pairwise_weights(solved.dual_coef_, solved.n_support_),
            intercept=solved.intercept_,
            n_iter=solved.n_iter_,
            dual_coef=solved.dual_coef_,
            n_support=solved.n_support_,
            status=solved.fit_status_,
            class_weight=getattr(solved, "class_weight_", None),
        )

    @classmethod
    def solve_all(
        cls, solvers: Sequence[Any], gram: np.ndarray, y: Any, weight: np.ndarray | None = None
    ) -> list[Solution]:
        """By rising penalty: where no coefficient has reached its bound, a larger bound changes nothing."""
        solutions: list[Solution | None] = [None] * len(solvers)
        free: dict[tuple, Solution] = {}
        for place in sorted(range(len(solvers)), key=lambda place: solvers[place]._penalty):
            solver = solvers[place]
            solution = free.get(solver._besides_penalty)
            if solution is None:
                solution = solver.solve(gram, y, weight)
                if solver._is_free(solution, weight):
                    free[solver._besides_penalty] = solution
            solutions[place] = solution
        return solutions  # type: ignore[return-value]

    def _is_free(self, solution: SupportVectors, weight: np.ndarray | None) -> bool:
        """Whether no coefficient is at its bound: C times the weights of its row and of its class."""
        least = 1.0 if weight is None else weight.min()
        if solution.class_weight is not None:
            least *= solution.class_weight.min()
        return solution.status == 0 and np.abs(solution.weights).max(initial=0.0) < self._penalty * least

    @property
    def _penalty(self) -> float:
        """The bound of the coefficients of rows of weight 1."""
        return getattr(self._svm, "C", np.inf)

    @cached_property
    def _besides_penalty(self) -> tuple:
        """All other parameters."""
        return tuple((name, str(value)) for name, value in self._svm.get_params().items() if name != "C")


class Classification(LibSVM):
    """Support vector classification of classes 0, 1, ...; parameters of `sklearn.svm.SVC`."""

    _problem = svm.SVC


class Regression(LibSVM):
    """Support vector regression; parameters of `sklearn.svm.SVR`."""

    _problem = svm.SVR


class Novelty(LibSVM):
    """The support of a distribution, without targets; parameters of `sklearn.svm.OneClassSVM`."""

    _problem = svm.OneClassSVM


def _pairwise_weights(dual_coef: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """One column for each pair of classes i < j: libsvm keeps a row's coefficient against each other class."""
    if len(dual_coef) == 1:
        return dual_coef.T
    ends = np.cumsum(n_support)
    of_class = [slice(end - count, end) for end, count in zip(ends, n_support, strict=True)]
    columns = []
    for i in range(len(n_support)):
        for j in range(i + 1, len(n_support)):
            column = np.zeros(dual_coef.shape[1])
            column[of_class[i]] = dual_coef[j - 1, of_class[i]]
            column[of_class[j]] = dual_coef[i, of_class[j]]
            columns.append(column)
    return np.column_stack(columns)
