"""What density="auto" means."""

from __future__ import annotations

from numbers import Integral
from typing import Protocol

from sklearn.base import clone
from sklearn.utils._param_validation import Interval, validate_params

from gapkernel.density.base import Density
from gapkernel.density.factor_analysis import FactorAnalysis
from gapkernel.density.gaussian import Gaussian
from gapkernel.density.joint_gaussian import JointGaussian
from gapkernel.density.marginals import Marginals
from gapkernel.density.neighbours import Neighbours
from gapkernel.tables import Schema

EXPENSIVE = 1e9
"""Operations of one pass of EM beyond which a full covariance is slow: every row may have a gap pattern of its own,
which costs the number of columns cubed."""

ROWS_PER_COLUMN = 10
"""Rows for each column from which a full covariance is worth its cost."""


WHOLE = Interval(Integral, 0, None, closed="left")


class ComparesLaws(Protocol):
    """What a density must know of a kernel: which kinds of rows it compares."""

    def compares(self, kind: str) -> bool:
        """Whether the kernel compares rows of this kind."""


@validate_params({"n_rows": [WHOLE], "n_columns": [WHOLE]}, prefer_skip_nested_validation=True)
def density_for(n_rows: int, n_columns: int) -> Gaussian | FactorAnalysis:
    """The density that ``density="auto"`` means for a table of numbers.

    One `Gaussian`, unless a pass of its EM over ``n_rows`` gap patterns would take more than 1e9 operations and there
    are fewer than 10 rows for each column. Then a full covariance is slow and mostly noise, and it is `FactorAnalysis`.

    Parameters
    ----------
    n_rows, n_columns : int
        The size of the table.

    Returns
    -------
    density : Gaussian or FactorAnalysis
        Not fitted yet.

    Examples
    --------
    >>> from gapkernel.density import density_for
    >>> density_for(500, 20), density_for(200, 300)
    (Gaussian(), FactorAnalysis())
    """
    wide = n_rows * n_columns**3 > EXPENSIVE and n_rows < ROWS_PER_COLUMN * n_columns
    return FactorAnalysis() if wide else Gaussian()


def default_density(kernel: ComparesLaws, schema: Schema, n_rows: int) -> Density:
    """The density that ``density="auto"`` means for a kernel and a table of ``n_rows`` rows.

    `Marginals` for a kernel that compares column by column, `JointGaussian` for a table with categories, and
    `density_for` for numbers.

    Parameters
    ----------
    kernel : Kernel
        What will compare the laws.
    schema : Schema
        What the columns of the table hold.
    n_rows : int
        Rows of the table.

    Returns
    -------
    density : Density
        Not fitted yet.

    Examples
    --------
    >>> from gapkernel.density import Gaussian, default_density
    >>> from gapkernel.kernels import GenRBF, HeterogeneousKernel
    >>> schema = Gaussian().fit([[0.0, 1.0], [1.0, None], [2.0, 0.5]]).schema_
    >>> default_density(GenRBF(), schema, 3), default_density(HeterogeneousKernel(), schema, 3)
    (Gaussian(), Marginals())
    """
    if not kernel.compares("gaussian"):
        return Marginals() if kernel.compares("marginal") else Neighbours()
    return JointGaussian() if schema.categorical.any() else density_for(n_rows, len(schema.levels))


def make_density(density, kernel: ComparesLaws, schema: Schema, n_rows: int) -> Density:
    """A density that is not fitted yet, from "auto" or from a density.

    Parameters
    ----------
    density : "auto" or Density
        What the caller asked for.
    kernel, schema, n_rows
        As in `default_density`.

    Returns
    -------
    density : Density
        That of `default_density`, or a clone.

    Examples
    --------
    >>> from gapkernel.density import FactorAnalysis, Gaussian, make_density
    >>> from gapkernel.kernels import GenRBF
    >>> schema = Gaussian().fit([[0.0, 1.0], [1.0, None], [2.0, 0.5]]).schema_
    >>> make_density("auto", GenRBF(), schema, 3), make_density(FactorAnalysis(2), GenRBF(), schema, 3)
    (Gaussian(), FactorAnalysis(n_components=2))
    """
    if isinstance(density, str) and density == "auto":
        return default_density(kernel, schema, n_rows)
    if not isinstance(density, Density):
        raise ValueError(f"density must be 'auto' or a density such as gapkernel.density.Gaussian(), got {density!r}.")
    return clone(density)
