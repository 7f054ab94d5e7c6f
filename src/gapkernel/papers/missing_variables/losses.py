"""Losses of rows with missing inputs and missing labels, as differences of convex functions.

Everything here is a function of the scores F_iks = <theta_k, phi(x_is)> + log w_is of the completions s of row i
and their log-partition functions G_ik = log sum_s exp F_iks. A is the set of labels that row i may still have.

    gp    l_i = (1 - t) [log sum_k e^G_k - log sum_A e^G_k] + t [log sum_k e^G_k - 1/2 log sum_A e^(2 G_k)]
    svm   l_i = (1 - t) [1 + max_(k not in A) G_k - max_A G_k]+ + t [1 + max_(k != y) G_k - G_y]+

with y the best label of A in the last bracket (equations 6 to 9 of docs/theory/cccp.md). Rows with one label, and all
rows unless asked otherwise, have t = 0: these are the paper's losses, and a row whose label is wholly missing (A holds
every class) loses nothing. Rows with t > 0 are transductive, which is ours: the second bracket of "gp" is half the
collision entropy of p(y | x_i) when A holds every class, that of "svm" is the margin between the two best labels.

Both are convex functions minus convex functions. `tangent` replaces the second by a plane through the present
scores; what remains, `majorant`, is convex, never below the loss, and equal to it at the present scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapkernel import compute
from gapkernel.compute import check_counts, starts_of

TIE = 1e-12
"""Labels whose partition functions differ by less are equally good."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """log sum_s exp F_iks, and the share of each completion in it.

    Attributes
    ----------
    log : ndarray of shape (n_rows, n_classes)
        G_ik.
    shares : ndarray of shape (n_completions, n_classes)
        p(s | x_i, k), which sums to 1 over the completions of a row. They are the derivatives of ``log``.
    counts : ndarray of shape (n_rows,)
        Completions of each row.
    """

    log: np.ndarray
    shares: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, counts: np.ndarray) -> Partitions:
        """Partitions of the scores (with the log-weights of the completions in them)."""
        check_counts("The completions of the rows", counts, len(scores))
        log, shares = np.empty((len(counts), scores.shape[1])), np.empty(scores.shape)
        _partitions(np.ascontiguousarray(scores, np.float64), counts, log, shares)
        return cls(log, shares, counts)

    def spread(self, per_row: np.ndarray) -> np.ndarray:
        """Derivatives by row and class, passed on to the scores of the completions."""
        return self.shares * np.repeat(per_row, self.counts, axis=0)


@compute.compiled()
def _partitions(scores, counts, log, shares):
    begin = 0
    for i in range(len(counts)):
        end = begin + counts[i]
        for k in range(scores.shape[1]):
            top = -np.inf
            for s in range(begin, end):
                top = max(top, scores[s, k])
            total = 0.0
            for s in range(begin, end):
                shares[s, k] = np.exp(scores[s, k] - top)
                total += shares[s, k]
            for s in range(begin, end):
                shares[s, k] /= total
            log[i, k] = top + np.log(total)
        begin = end


def masked_log_sum(values: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log sum exp over the classes of each row's mask, and the share of each class in it; -inf for an empty mask."""
    kept = np.where(mask, values, -np.inf)
    top = kept.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    shares = np.exp(kept - top)
    total = shares.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return (top + np.log(total)).ravel(), shares / np.where(total > 0, total, 1.0)


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of the labels of some rows.

    Attributes
    ----------
    candidates : ndarray of shape (n_rows, n_classes), bool
    weight : ndarray of shape (n_rows,)
        How much the row counts.
    transductive : ndarray of shape (n_rows,)
        t, from 0 to 1.
    """

    candidates: np.ndarray
    weight: np.ndarray
    transductive: np.ndarray

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, rows) -> Labels:
        return Labels(self.candidates[rows], self.weight[rows], self.transductive[rows])


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function of the scores of each row, below the subtracted part of its loss.

    Attributes
    ----------
    offset : ndarray of shape (n_rows,)
    slope : ndarray of shape (n_completions, n_classes)
    own : ndarray of shape (n_rows, n_classes)
        The labels that the plane stands for.
    counts : ndarray of shape (n_rows,)
        Completions of each row.
    """

    offset: np.ndarray
    slope: np.ndarray
    own: np.ndarray
    counts: np.ndarray

    @classmethod
    def touching(cls, scores, partitions: Partitions, heights: np.ndarray, derivative: np.ndarray) -> Plane:
        """The plane through ``heights`` at the present scores, given derivatives by row and class."""
        slope = partitions.spread(derivative)
        offset = heights - _row_sums(slope * scores, partitions.counts)
        return cls(offset, slope, derivative, partitions.counts)

    def __call__(self, scores) -> np.ndarray:
        return self.offset + _row_sums(self.slope * scores, self.counts)


class IncompleteLoss(ABC):
    """A loss as a difference of convex functions. All functions return weighted totals and derivatives by score."""

    smooth: bool = True
    """Whether the derivatives are continuous."""

    inner_steps: ClassVar[int] = 10
    """Most steps of L-BFGS inside one step of the procedure."""

    inner_tol: ClassVar[float] = 1e-13
    """These end when the bound falls by less than this share of itself."""

    @abstractmethod
    def value(self, scores: np.ndarray, counts: np.ndarray, labels: Labels) -> tuple[float, np.ndarray]:
        """The loss and its derivatives."""

    def tangent(self, scores: np.ndarray, counts: np.ndarray, labels: Labels) -> Plane:
        """A plane below the subtracted convex part, touching it at these scores."""
        partitions = Partitions.of(scores, counts)
        return Plane.touching(scores, partitions, *self._subtracted(partitions.log, labels))

    @staticmethod
    @abstractmethod
    def _subtracted(log_partition: np.ndarray, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """The subtracted convex part of each row, and its (sub)derivatives by class."""

    @abstractmethod
    def majorant(self, scores: np.ndarray, labels: Labels, plane: Plane) -> tuple[float, np.ndarray]:
        """The convex bound above the loss that the plane gives, and its (sub)derivatives."""


class Softmax(IncompleteLoss):
    """Minus the logarithm of the probability of the observed label, "gp"."""

    def value(self, scores, counts, labels):
        partitions = Partitions.of(scores, counts)
        total, shares = masked_log_sum(partitions.log, np.ones_like(labels.candidates))
        kept, slope = self._subtracted(partitions.log, labels)
        derivative = labels.weight[:, None] * (shares - slope)
        return float(labels.weight @ (total - kept)), partitions.spread(derivative)

    def majorant(self, scores, labels, plane):
        partitions = Partitions.of(scores, plane.counts)
        total, shares = masked_log_sum(partitions.log, np.ones_like(labels.candidates))
        loss = float(labels.weight @ (total - plane(scores)))
        return loss, np.repeat(labels.weight, plane.counts)[:, None] * (partitions.spread(shares) - plane.slope)

    @staticmethod
    def _subtracted(log_partition, labels):
        """(1 - t) log sum_A e^G + t/2 log sum_A e^(2G), and its derivatives by class."""
        t = labels.transductive
        height, slope = masked_log_sum(log_partition, labels.candidates)
        if t.any():
            sharp_height, sharp_slope = masked_log_sum(2.0 * log_partition, labels.candidates)
            height = (1.0 - t) * height + 0.5 * t * sharp_height
            slope = (1.0 - t)[:, None] * slope + t[:, None] * sharp_slope
        return height, slope


class Margin(IncompleteLoss):
    """The hinge of the log-likelihood ratio between the observed label and the best other one, "svm".

    Parameters
    ----------
    temperature : float, default=0.0
        Above 0, maxima are log-sum-exp of this temperature: a smooth loss, above the hinge by at most
        temperature * log(n_classes).
    """

    inner_steps: ClassVar[int] = 100  # near the hinge a bound is stiff, and a few steps would lead nowhere
    inner_tol: ClassVar[float] = 1e-6

    def __init__(self, temperature: float = 0.0):
        self.temperature, self.smooth = temperature, temperature > 0

    def value(self, scores, counts, labels):
        partitions = Partitions.of(scores, counts)
        best, own = self._subtracted(partitions.log, labels)
        loss, others, pressure = self._hinges(partitions.log, labels, best, own)
        derivative = labels.weight[:, None] * (others - pressure[:, None] * own)
        return float(labels.weight @ loss), partitions.spread(derivative)

    def majorant(self, scores, labels, plane):
        partitions = Partitions.of(scores, plane.counts)
        loss, others, pressure = self._hinges(partitions.log, labels, plane(scores), plane.own)
        own = np.repeat(labels.weight * pressure, plane.counts)[:, None] * plane.slope
        return float(labels.weight @ loss), partitions.spread(labels.weight[:, None] * others) - own

    @staticmethod
    def _subtracted(log_partition, labels):
        """max_A G and a subderivative: labels that tie share it, but a transductive row decides for the first."""
        kept = np.where(labels.candidates, log_partition, -np.inf)
        best = kept.max(axis=1)
        tied = kept >= (best - TIE * (1.0 + np.abs(best)))[:, None]
        first = np.zeros_like(tied)
        first[np.arange(len(kept)), kept.argmax(axis=1)] = True
        own = np.where((labels.transductive > 0)[:, None], first, tied).astype(np.float64)
        return best, own / own.sum(axis=1, keepdims=True)

    def _hinges(self, log_partition, labels, own_height, own):
        """Both brackets of "svm", weighted: the loss, its derivatives by the other classes, their sum."""
        loss, others = self._hinge(log_partition, ~labels.candidates, own_height)
        t = labels.transductive
        if t.any():
            decided, decided_others = self._hinge(log_partition, own == 0, own_height)
            loss = (1.0 - t) * loss + t * decided
            others = (1.0 - t)[:, None] * others + t[:, None] * decided_others
        return loss, others, others.sum(axis=1)

    def _hinge(self, log_partition, rivals, own_height):
        excess = np.where(rivals, 1.0 + log_partition - own_height[:, None], -np.inf)
        if self.temperature > 0:
            with_zero = np.column_stack([excess / self.temperature, np.zeros(len(excess))])
            log_sum, shares = masked_log_sum(with_zero, np.ones_like(with_zero, dtype=bool))
            return self.temperature * log_sum, shares[:, :-1]
        worst = excess.max(axis=1)
        others = np.zeros_like(excess)
        violated = np.flatnonzero(worst > 0)
        others[violated, excess[violated].argmax(axis=1)] = 1.0
        return np.maximum(worst, 0.0), others


def _row_sums(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums over the completions and classes of each row."""
    return np.add.reduceat(values.sum(axis=1), starts_of(counts)[:-1]) if len(counts) else np.empty(0)


LOSSES: dict[str, IncompleteLoss] = {"gp": Softmax(), "svm": Margin()}
SMOOTH: dict[str, IncompleteLoss] = {"gp": Softmax(), "svm": Margin(temperature=0.1)}
"""The same losses, or one near, where a few steps of L-BFGS must do."""
