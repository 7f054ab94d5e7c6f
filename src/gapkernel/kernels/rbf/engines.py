"""Which engine compares two batches of laws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gapkernel.compute.pairs.factor_engine import FactorEngine, factor_log_det
from gapkernel.compute.pairs.mapped_engine import MappedEngine
from gapkernel.compute.pairs.mixture_engine import MixtureEngine, mixture_log_norm
from gapkernel.compute.pairs.side import row_log_det
from gapkernel.compute.pairs.tile_engine import ExpectedRBFEngine
from gapkernel.rows import GaussianRows, Rows

ENGINES = {
    ("gaussian", "gaussian"): "dense",
    ("gaussian", "factor"): "dense",
    ("gaussian", "mapped"): "dense",
    ("factor", "factor"): "factor",
    ("factor", "mapped"): "dense",
    ("mapped", "mapped"): "mapped",
    **{(kind, "mixture"): "components" for kind in ("gaussian", "factor", "mapped", "mixture")},
    **{(kind, "atoms"): "components" for kind in ("gaussian", "factor", "mapped", "mixture", "atoms")},
}
"""The engine for two kinds of rows, in either order."""


def expected_rbf(left: Rows, right: Rows | None, gamma, scale_left, scale_right):
    """The engine for the expected RBF of these laws; ``right=None`` pairs a batch with itself."""
    other = left if right is None else right
    name = ENGINES.get((left.kind, other.kind)) or ENGINES[other.kind, left.kind]
    if name == "components":
        there = None if right is None else components_of(right)
        return MixtureEngine(components_of(left), there, gamma, scale_left, scale_right)
    if name == "factor" and left.same_factors(other):  # type: ignore[attr-defined]
        return FactorEngine(left, right, gamma, scale_left, scale_right)
    engine = MappedEngine if name == "mapped" and MappedEngine.pays(left, other, gamma) else ExpectedRBFEngine
    return engine(left.dense, None if right is None else right.dense, gamma, scale_left, scale_right)


def log_norm(rows: Rows, gamma) -> np.ndarray:
    """log kappa_i = log E k(x_i, x_i') for an independent copy of a row; -1/2 log |I + 4 gamma Sigma_i| if Gaussian."""
    if rows.kind == "factor":
        return -0.5 * factor_log_det(rows, 2.0 * gamma)
    if rows.kind in ("gaussian", "mapped"):
        return -0.5 * row_log_det(rows, 2.0 * gamma)
    return mixture_log_norm([(weight, _gaussian(laws)) for weight, laws in rows.components()], gamma)


class Components(NamedTuple):
    """All components of a batch of mixtures as one batch of Gaussian laws, sorted by row."""

    batch: GaussianRows
    owner: np.ndarray  # the row of each component
    log_weight: np.ndarray  # of each component
    n_rows: int


def components_of(rows: Rows) -> Components:
    """All components of positive weight as one batch, sorted by row."""
    weights, batches = zip(*((weight, _gaussian(laws)) for weight, laws in rows.components()), strict=True)
    weights = np.column_stack(weights)
    owner, component = np.nonzero(weights)
    if len(batches) == 1:
        return Components(batches[0], owner, np.log(weights[:, 0]), len(rows))
    offset = np.cumsum([0, *(len(batch.gaps) for batch in batches)])
    means = np.array([batch.means for batch in batches])[component, owner]
    pattern = np.array([batch.pattern + offset[a] for a, batch in enumerate(batches)])[component, owner]
    gaps = np.concatenate([batch.gaps for batch in batches])
    covariance = np.concatenate([batch.covariance for batch in batches])
    batch = GaussianRows(means, pattern, gaps, covariance)
    return Components(batch, owner, np.log(weights[owner, component]), len(rows))


def _gaussian(rows: Rows) -> GaussianRows:
    return GaussianRows.certain(rows.means) if rows.kind == "atoms" else rows.dense
