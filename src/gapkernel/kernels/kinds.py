"""The kinds of rows that kernels compare."""

from __future__ import annotations

GAUSSIAN = frozenset({"gaussian", "factor", "mapped"})
MIXTURES = GAUSSIAN | {"mixture", "atoms"}
ALL_KINDS = MIXTURES | {"marginal"}
"""Kinds of rows: those with one Gaussian law each, with those that are sums of such laws or points, and all."""
