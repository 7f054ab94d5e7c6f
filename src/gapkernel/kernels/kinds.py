"""The kinds of rows that kernels compare, and the error for what a kernel has no formula for."""

from __future__ import annotations

GAUSSIAN = frozenset({"gaussian", "factor", "mapped"})
MIXTURES = GAUSSIAN | {"mixture", "atoms"}
ALL_KINDS = MIXTURES | {"marginal"}
"""Kinds of rows: those with one Gaussian law each, with those that are sums of such laws or points, and all."""


class NoClosedForm(NotImplementedError, ValueError):
    """A kernel has no formula for what an estimator needs; the message says what to use instead."""


def no_closed_form(what: str, kernel) -> NoClosedForm:
    """The error for ``what`` of a kernel."""
    return NoClosedForm(
        f"The {what} of {kernel!r} has no closed form here. Use a single kernel 'rbf', 'genrbf' or 'linear'."
    )
