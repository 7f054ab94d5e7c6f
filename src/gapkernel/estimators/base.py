"""What all kernel machines share: from a table to laws, and from names to objects."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gapkernel.compute.runtime.config import check_fits
from gapkernel.density import Density, make_density
from gapkernel.kernels import ExpectedLinear, ExpectedRBF, GenRBF, HeterogeneousKernel, Karma, Kernel, Missingness
from gapkernel.kernels.base import Rows
from gapkernel.kernels.missingness import Masked
from gapkernel.rows import MaskedRows
from gapkernel.tables import Schema, Table, read_table
from gapkernel.tables.part_by_part import AnswersInParts

KERNELS: dict[str, type[Kernel]] = {
    "linear": ExpectedLinear,
    "rbf": ExpectedRBF,
    "genrbf": GenRBF,
    "ehk": HeterogeneousKernel,
    "karma": Karma,
}


class Training(NamedTuple):
    """What a machine learns from, after every check."""

    table: Table
    y: Any
    weight: np.ndarray | None
    kept: np.ndarray
    """The places of these rows in what the user gave; a machine may leave rows of weight zero out."""
    splits: list | None = None
    """Pairs of training and test places in what the user gave, of a search over settings."""


class Laws(NamedTuple):
    """What a fit begins with."""

    density: Density
    kernel: Kernel
    rows: Rows


class KernelMachine(AnswersInParts, BaseEstimator):
    """Base of the estimators: from a table with gaps to laws.

    Parameters ``kernel``, ``gamma``, ``density``; machines for mixed tables also have ``categorical_features`` and
    ``indicator``.
    """

    indicator: bool | Missingness = False

    def _fit_laws(self, X: Table | np.ndarray, sample_weight=None, *, needs_gram: bool = True) -> Laws:
        """Fit density and kernel to a checked table, and turn its rows into laws; nothing is kept yet."""
        density, rows = self._fit_density(X, sample_weight, needs_gram=needs_gram)
        return Laws(density, self._fit_kernel(density, rows), rows)

    def _fit_density(self, X: Table | np.ndarray, sample_weight=None, *, needs_gram: bool = True):
        """The density of a checked table, and the laws of its rows under it."""
        table = X if isinstance(X, Table) else Table(X, Schema.of_numbers(X.shape[1]))
        if needs_gram:
            check_fits((len(table), len(table)), "The Gram matrix")  # before the density takes its time
        kernel = resolve_kernel(self.kernel, self.gamma)
        indicator = resolve_indicator(self.indicator)
        density = make_density(self.density, kernel, table.schema, len(table)).fit(table, sample_weight=sample_weight)
        rows = density.condition(table)
        if not kernel.compares(rows.kind):
            raise ValueError(
                f"{kernel!r} compares {kernel.laws} laws, but {density!r} gives {rows.kind} ones. Use density='auto'."
            )
        return density, rows if indicator is None else MaskedRows(rows, table.missing)

    def _fit_kernel(self, density, rows: Rows) -> Kernel:
        """The kernel with numbers in place of words."""
        kernel, indicator = resolve_kernel(self.kernel, self.gamma), resolve_indicator(self.indicator)
        return (kernel if indicator is None else Masked(kernel, indicator)).resolve(density, rows)

    def _weights_of(self, table: Table | np.ndarray, sample_weight) -> np.ndarray | None:
        """``sample_weight`` as an array; None stays None, which solvers take as all ones."""
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)

    def _laws(self, X) -> Rows:
        """The laws of new rows."""
        check_is_fitted(self, "density_")
        return self._condition(self.density_, X)

    def _condition(self, density, X) -> Rows:
        """The laws of new rows under a density."""
        table = read_table(self, X, reset=False, schema=density.schema_)
        rows = density.condition(table)
        return rows if resolve_indicator(self.indicator) is None else MaskedRows(rows, table.missing)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def resolve_kernel(kernel, gamma) -> Kernel:
    """A kernel object from a name or an object."""
    if isinstance(kernel, Kernel):
        if gamma != "scale":
            raise ValueError(
                f"gamma={gamma!r} applies to kernels given by name. "
                f"Set it on the kernel object instead: kernel__gamma={gamma!r}."
            )
        return clone(kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)} or a kernel object, got {kernel!r}.")
    named = KERNELS[kernel]()
    return named.set_params(gamma=gamma) if "gamma" in named.get_params() else named  # not every kernel has a width


def resolve_indicator(indicator) -> Missingness | None:
    """The kernel on gaps from False, True or an object."""
    if isinstance(indicator, Missingness):
        return clone(indicator)
    if isinstance(indicator, bool | np.bool_):
        return Missingness() if indicator else None
    raise ValueError(f"indicator must be False, True or a gapkernel.kernels.Missingness, got {indicator!r}.")
