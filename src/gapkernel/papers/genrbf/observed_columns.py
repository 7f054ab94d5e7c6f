"""Kernels over the columns that two rows share, for rows whose gaps are structural: nothing is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ObservedColumnsKernel:
    """A kernel over the columns that both rows have.

    Rows come as values with 0 in the gaps, and a mask of what is there. For scalar products leaving a column out
    and filling it with 0 is the same, so "linear" and "poly" are positive semi-definite. "rbf" is not: two
    distant rows can both be at distance 0 from a third that shares no column with them.

    Attributes
    ----------
    name : {"linear", "poly", "rbf"}
        x'y, (gamma x'y + coef0)^degree or exp(-gamma ||x - y||^2).
    gamma, coef0, degree : float
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 3

    def cross(self, left, left_seen, right, right_seen) -> np.ndarray:
        """Kernel matrix of two tables."""
        products = left @ right.T
        if self.name == "linear":
            return products
        if self.name == "poly":
            return (self.gamma * products + self.coef0) ** self.degree
        squared = left**2 @ right_seen.T + left_seen @ (right**2).T - 2.0 * products
        return np.exp(-self.gamma * np.maximum(squared, 0.0))

    def squared_norms(self, values, seen, weights, masks) -> np.ndarray:
        """||w||^2 of w = sum_j weights_j phi(row_j) from the columns of each mask alone."""
        if self.name == "linear":
            return masks @ (weights @ values) ** 2
        norms = np.empty(len(masks))
        for k, mask in enumerate(masks):  # one matrix for each pattern
            part, there = values * mask, seen * mask
            norms[k] = weights @ self.cross(part, there, part, there) @ weights
        return norms
