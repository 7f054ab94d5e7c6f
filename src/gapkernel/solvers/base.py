"""What every solver on a Gram matrix does: plain arrays in, a frozen solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold

from gapkernel.compute.runtime.progress import tracked

FOLDS = 5
"""Parts of the rows that are left out in turn, where there is no closed form for single rows."""

Folds = list[tuple[np.ndarray, np.ndarray]]
"""Pairs of places: the rows to learn from, and the rows that are left out."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of a kernel machine.

    Attributes
    ----------
    kept : ndarray of shape (n_kept,)
        Places of the rows that have a coefficient.
    weights : ndarray of shape (n_kept, n_outputs)
        Their coefficients.
    intercept : ndarray of shape (n_outputs,)
    n_iter : ndarray, int or None
        Iterations, if the solver iterates.
    """

    kept: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    n_iter: np.ndarray | int | None

    def values(self, cross: np.ndarray) -> np.ndarray:
        """Decision values of new rows, (n_new, n_outputs), from their kernel with all training rows."""
        return cross[:, self.kept] @ self.weights + self.intercept


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Solutions that have each left some rows out.

    Attributes
    ----------
    solution : ndarray of shape (n,)
        The place of the solution that has not learned from each row.
    weights : ndarray of shape (n_solutions, n, n_outputs)
        Their coefficients of all rows, 0 for those that were left out.
    intercept : ndarray of shape (n_solutions, n_outputs)
    """

    solution: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray

    def values(self, cross: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The value of each row at ``places`` by the solution without it, (n_places, n_outputs).

        ``cross`` holds the kernel of these rows with all rows, (n_places, n); they may have fewer cells than at fit.
        """
        values, solutions = np.empty((len(places), self.weights.shape[2])), self.solution[places]
        for k in np.unique(solutions):
            own = solutions == k
            values[own] = cross[own] @ self.weights[k] + self.intercept[k]
        return values


class Solver(ABC):
    """Finds the coefficients for a Gram matrix; its parameters are given, and checked, at construction.

    A solver keeps nothing from one problem to the next, so several threads may share it.
    """

    @abstractmethod
    def solve(self, gram: np.ndarray, y: np.ndarray | None, weight: np.ndarray | None = None) -> Solution:
        """The solution for targets ``y``; ``weight`` holds the positive weights of the rows, None for all ones."""

    @classmethod
    def solve_all(
        cls, solvers: Sequence[Solver], gram: np.ndarray, y: np.ndarray | None, weight: np.ndarray | None = None
    ) -> list[Solution]:
        """The solution of each of several solvers of this class for one Gram matrix."""
        return [solver.solve(gram, y, weight) for solver in solvers]

    def left_out(
        self, gram: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, folds: Folds | None = None
    ) -> np.ndarray:
        """The value of each row by a solution that has not learned from it, in the shape of ``y``.

        Without ``folds``, which must test every row once, rows are left out as suits the solver: in `FOLDS` random
        parts, or one by one where there is a closed form.
        """
        return self.without(gram, y, weight, folds).values(gram, np.arange(len(y))).reshape(y.shape)

    def without(
        self, gram: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, folds: Folds | None = None
    ) -> LeftOut:
        """The solutions that have not learned from the rows of each fold; folds as in `left_out`."""
        if folds is None:
            folds = list(KFold(min(FOLDS, len(y)), shuffle=True, random_state=0).split(y))
        folds = [fold for fold in folds if len(fold[1])]
        solution, weights, intercepts = np.zeros(len(y), np.int64), [], []
        for k, (train, test) in enumerate(tracked(folds, len(folds), "Calibrating")):
            part = None if weight is None else weight[train]
            solved = self.solve(gram[np.ix_(train, train)], y[train], part)
            weights.append(np.zeros((len(y), solved.weights.shape[1])))
            weights[k][train[solved.kept]] = solved.weights
            intercepts.append(solved.intercept)
            solution[test] = k
        return LeftOut(solution, np.array(weights), np.array(intercepts))
