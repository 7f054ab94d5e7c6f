"""Quadrature over the law of one missing cell."""

from __future__ import annotations

import numpy as np

from gapkernel.rows import FactorRows, GaussianRows


def normal_nodes(rows: GaussianRows | FactorRows, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights of Gauss-Hermite quadrature over a cell of the first of ``rows``."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    deviation = np.sqrt(max(rows.covariance_of(0)[column, column], 0.0))
    return rows.means[0, column] + deviation * nodes, weights / weights.sum()
