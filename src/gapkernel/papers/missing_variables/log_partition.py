"""Sums over the completions of each row, in logarithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel import compute


@dataclass(frozen=True, eq=False)
class Partitions:
    """log sum_s exp F_iks, and the share of each completion in it.

    Attributes
    ----------
    log : ndarray of shape (n_rows, n_classes)
        g(theta | x_i, k): (6).
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
        compute.check_counts("The completions of the rows", counts, len(scores))
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
