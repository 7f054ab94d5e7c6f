"""The regularised loss of rows with gaps, summed over blocks of rows.

    J(theta) = sum_i l_i(theta) + lambda/2 ||theta||^2 + balance/2 sum_k (<m, theta_k> - c_k)^2

The last term is zero unless transduction asks for it (equation 10 of docs/theory/cccp.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from gapkernel.compute import places_of, starts_of
from gapkernel.papers.missing_variables.losses import IncompleteLoss, Labels, Plane

STAGES = (0.01, 0.03, 0.1, 0.3)
"""Shares of the transductive weights on the way from the solution of the labelled rows to all of it."""


@dataclass(frozen=True, eq=False)
class Block:
    """Completions of some rows, one after another.

    Attributes
    ----------
    features : ndarray of shape (n_completions, n_basis)
        phi(x_is), in single or double precision.
    log_weight : ndarray of shape (n_completions,)
        log w_is; the weights of a row sum to 1.
    counts : ndarray of shape (n_rows,)
        Completions of each row.
    """

    features: np.ndarray
    log_weight: np.ndarray
    counts: np.ndarray

    @classmethod
    def joined(cls, blocks: Iterable[Block]) -> Block:
        """The rows of one block after those of another."""
        parts = zip(*((block.features, block.log_weight, block.counts) for block in blocks), strict=True)
        return cls(*map(np.concatenate, parts))

    def __getitem__(self, rows: np.ndarray) -> Block:
        """Some of the rows, given by their places in rising order."""
        cells = places_of(starts_of(self.counts), rows)
        return Block(self.features[cells], self.log_weight[cells], self.counts[rows])

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """F_iks = <theta_k, phi_is> + log w_is, (n_completions, n_classes)."""
        theta = theta.astype(self.features.dtype)
        # BLAS is faster one way round in double precision, and the other in single
        double = theta.dtype == np.float64
        products = (theta @ self.features.T).T if double else self.features @ theta.T
        return np.add(products, self.log_weight[:, None], order="C")

    def pull_back(self, derivatives: np.ndarray) -> np.ndarray:
        """Derivatives by theta from derivatives by the scores."""
        return (derivatives.T.astype(self.features.dtype) @ self.features).astype(np.float64)


@dataclass(frozen=True)
class Balance:
    """Mean scores that the classes should have over the transductive rows, or they would all go to one class.

    Attributes
    ----------
    strength : float
    mean_feature : ndarray of shape (n_basis,)
    target : ndarray of shape (n_classes,)
    """

    strength: float
    mean_feature: np.ndarray
    target: np.ndarray

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        away = theta @ self.mean_feature - self.target
        return 0.5 * self.strength * float(away @ away), self.strength * np.outer(away, self.mean_feature)


@dataclass(frozen=True, eq=False)
class IncompleteProblem:
    """What the solvers minimise.

    Attributes
    ----------
    blocks : sequence of Block
        Looked up one at a time, in order; they may be computed anew each time.
    labels : sequence of Labels
        Those of each block.
    loss : IncompleteLoss
    penalty : float
        lambda.
    shape : tuple
        (n_classes, n_basis).
    balance : Balance or None
    """

    blocks: Sequence[Block]
    labels: Sequence[Labels]
    loss: IncompleteLoss
    penalty: float
    shape: tuple[int, int]
    balance: Balance | None = None

    @property
    def n_rows(self) -> int:
        """Rows in all blocks."""
        return sum(map(len, self.labels))

    def __iter__(self) -> Iterator[tuple[Block, Labels]]:
        for b, labels in enumerate(self.labels):
            yield self.blocks[b], labels

    def objective(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """J and its gradient."""
        losses = ((block, self.loss.value(block.scores(theta), block.counts, labels)) for block, labels in self)
        return self._total(theta, losses)

    def tangent(self, theta: np.ndarray) -> list[Plane]:
        """For each block, the plane of `IncompleteLoss.tangent` at ``theta``."""
        return [self.loss.tangent(block.scores(theta), block.counts, labels) for block, labels in self]

    def majorant(self, theta: np.ndarray, planes: list[Plane]) -> tuple[float, np.ndarray]:
        """The convex bound above J that the planes give, and its (sub)gradient."""
        blocks = zip(self, planes, strict=True)
        losses = ((block, self.loss.majorant(block.scores(theta), labels, plane)) for (block, labels), plane in blocks)
        return self._total(theta, losses)

    def quadratic(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """What does not come from the rows: the penalty and the balance."""
        value, gradient = 0.5 * self.penalty * float(np.vdot(theta, theta)), self.penalty * theta
        if self.balance is None:
            return value, gradient
        extra, slope = self.balance(theta)
        return value + extra, gradient + slope

    def _total(self, theta, losses: Iterable[tuple[Block, tuple[float, np.ndarray]]]) -> tuple[float, np.ndarray]:
        """The losses of the blocks, with their derivatives by the scores, and what does not come from the rows."""
        value, gradient = self.quadratic(theta)
        for block, (part, derivatives) in losses:
            value += part
            gradient = gradient + block.pull_back(derivatives)
        return value, gradient


@dataclass(eq=False, repr=False)
class Transduction(BaseEstimator):
    """The wish that rows with several possible labels have a clear one, as the parameter of `CCCPClassifier`.

    A row whose label is wholly missing adds nothing to the paper's objective. Transduction, which is ours, adds the
    collision entropy of its label ("gp") or the margin between its two best labels ("svm"). That has many minima, so
    the weight of these rows grows from little to all of it, from the solution of the labelled rows on; and as all of
    them could agree on one class, their mean scores are held near the logarithms of the classes' shares among the
    labelled rows.

    Parameters
    ----------
    weight : float, default=1.0
        Of a row with several possible labels, above 0, up to 1; a labelled row has 1.
    balance : float, default=1.0
        How strongly the mean scores of these rows are held to the shares of the classes.

    Examples
    --------
    >>> from gapkernel.papers.missing_variables import CCCPClassifier, Transduction
    >>> X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0], [0.1, 0.0]], [0, 0, 1, 1, -1]
    >>> CCCPClassifier(C=10.0, transduction=Transduction(), random_state=0).fit(X, y).transduction_
    array([0, 0, 1, 1, 0])
    """

    weight: float = 1.0
    _: KW_ONLY
    balance: float = 1.0

    _parameter_constraints: ClassVar[dict] = {
        "weight": [Interval(Real, 0, 1, closed="right")],
        "balance": [Interval(Real, 0, None, closed="left")],
    }

    def stages(self, problem: IncompleteProblem) -> list[IncompleteProblem]:
        """Problems to be solved one after the other, each from the solution of the last: ``problem`` and a balance."""
        balanced = replace(problem, balance=_balance(problem, self.balance))
        return [_weighing(problem, 0.0), *(_weighing(balanced, share) for share in STAGES), balanced]


def _weighing(problem: IncompleteProblem, share: float) -> IncompleteProblem:
    """The problem with a share of the transductive weights."""
    labels = [replace(part, transductive=share * part.transductive) for part in problem.labels]
    return replace(problem, labels=labels)


def _balance(problem: IncompleteProblem, strength: float) -> Balance:
    """Mean scores over the transductive rows: centred logarithms of the classes' shares, one row added to each."""
    total, weight = np.zeros(problem.shape[1]), 0.0
    known = np.ones(problem.shape[0])
    for block, labels in problem:
        mine = labels.weight * (labels.transductive > 0)
        total += np.exp(block.log_weight) * np.repeat(mine, block.counts) @ block.features
        weight += mine.sum()
        certain = labels.candidates.sum(axis=1) == 1
        known += labels.weight[certain] @ labels.candidates[certain]
    target = np.log(known)
    return Balance(strength * weight, total / weight, target - target.mean())
