"""Values to try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Values to try; a method takes those it has a use for.

    Attributes
    ----------
    C, gamma : tuple of float
        Penalties and widths.
    alpha : tuple of float or None
        Exponents of EHK_alpha; None is EHK.
    degree : tuple of int
        Longest words of KARMA.
    epsilon : tuple of float
        For regression: errors below it cost nothing.

    Examples
    --------
    >>> from gapkernel.studies import METHODS, Grid
    >>> METHODS["genrbf"].settings(Grid(C=(1.0, 10.0), gamma=(0.1,)))
    [{'gamma': 0.1, 'C': 1.0}, {'gamma': 0.1, 'C': 10.0}]
    """

    C: tuple[float, ...]
    gamma: tuple[float, ...]
    alpha: tuple[float | None, ...] = (0.1, 0.5, 0.8, 0.95, 0.99)
    degree: tuple[int, ...] = (1, 2)
    epsilon: tuple[float, ...] = (0.05,)


def powers_of_two(*exponents: int) -> tuple[float, ...]:
    """2^k for each k."""
    return tuple(2.0**k for k in exponents)


PAPER_GRID = Grid(C=powers_of_two(*range(-5, 10, 2)), gamma=powers_of_two(*range(-5, 16, 2)))
"""The grid of the genRBF paper."""
QUICK_GRID = Grid(C=powers_of_two(-1, 3, 7), gamma=powers_of_two(-5, -3, -1, 1), alpha=(0.5, 0.95))
"""Every second value of it in the part that is ever chosen on standardised columns."""


def table_grid(n_columns: int) -> Grid:
    """A grid for a table of standardised columns, whose squared distances grow with their number.

    Parameters
    ----------
    n_columns : int
        Of the table.

    Returns
    -------
    grid : Grid

    Examples
    --------
    >>> from gapkernel.studies import table_grid
    >>> table_grid(10).gamma
    (0.01, 0.03, 0.1)
    """
    gamma = tuple(float(f"{width / n_columns:.3g}") for width in (0.1, 0.3, 1.0))
    return Grid(C=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0), gamma=gamma, alpha=(None, 0.5, 0.9))
