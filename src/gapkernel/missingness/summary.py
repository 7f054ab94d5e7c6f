"""What a table's gaps look like: patterns, pairs of columns, and how well columns can inform each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.rows import Patterns
from gapkernel.tables.columns import Columns


@dataclass(frozen=True)
class Pairs:
    """How many rows observe or miss two columns; entry (j, k) is about column j, then column k.

    Attributes
    ----------
    rr, rm, mr, mm : ndarray of shape (n_features, n_features)
        r is observed (a response), m is missing: ``mr[j, k]`` rows miss column j and have column k.
    """

    rr: np.ndarray
    rm: np.ndarray
    mr: np.ndarray
    mm: np.ndarray


@dataclass(frozen=True)
class GapPatterns:
    """The distinct sets of columns that rows miss together, the most frequent first.

    Attributes
    ----------
    gaps : ndarray of bool of shape (n_patterns, n_features)
        True where the rows of a pattern have a gap.
    counts : ndarray of shape (n_patterns,)
        Rows with each pattern.
    names : tuple of str
        The columns.
    """

    gaps: np.ndarray
    counts: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class Flux:
    """How the gaps of each column meet the values of the others.

    Attributes
    ----------
    influx : ndarray of shape (n_features,)
        Pairs (gap of this column, value of another column in the same row) as a share of all values: high where the
        gaps of a column can be learned from the others. 0 for a complete column, 1 for an empty one.
    outflux : ndarray of shape (n_features,)
        Pairs (value of this column, gap of another column in the same row) as a share of all gaps: high where a
        column can help to fill the others. 1 for a complete column, 0 for an empty one.
    """

    influx: np.ndarray
    outflux: np.ndarray


@dataclass(frozen=True)
class GapSummary:
    """The gaps of a table at a glance.

    Attributes
    ----------
    n_rows, n_columns, n_gaps, n_complete_rows : int
    column_gaps : ndarray of shape (n_columns,)
        Gaps in each column.
    names : tuple of str
    patterns : GapPatterns
    flux : Flux
    """

    n_rows: int
    n_columns: int
    n_gaps: int
    n_complete_rows: int
    column_gaps: np.ndarray
    names: tuple[str, ...]
    patterns: GapPatterns
    flux: Flux

    @property
    def gap_fraction(self) -> float:
        """Gaps as a share of all cells."""
        return self.n_gaps / (self.n_rows * self.n_columns)


def pairs(X) -> Pairs:
    """Count the rows that observe or miss each pair of columns.

    The same as ``md.pairs`` of the R package mice.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        NaN, None and pd.NA mark a gap.

    Returns
    -------
    pairs : Pairs
        The four counts of a pair add up to the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import pairs
    >>> pairs([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]]).mr
    array([[0, 0],
           [1, 0]])
    """
    return _pairs(gaps_of(X)[0])


def patterns(X) -> GapPatterns:
    """The distinct gap patterns of a table, the most frequent first (``md.pattern`` of mice).

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)

    Returns
    -------
    patterns : GapPatterns

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import patterns
    >>> patterns([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]]).counts
    array([2, 1])
    """
    gaps, names = gaps_of(X)
    found = Patterns.of(gaps)
    order = np.lexsort((found.gaps.sum(axis=1), -found.counts))  # ties: fewer gaps first
    return GapPatterns(found.gaps[order], found.counts[order], names)


def flux(X) -> Flux:
    """Influx and outflux of each column (``flux`` of mice).

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)

    Returns
    -------
    flux : Flux

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import flux
    >>> flux([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]]).influx.round(3)
    array([0. , 0.5])
    """
    gaps, _ = gaps_of(X)
    counts = _pairs(gaps)
    values, holes = int((~gaps).sum()), int(gaps.sum())
    influx = counts.mr.sum(axis=1) / values if values else np.zeros(gaps.shape[1])
    outflux = counts.rm.sum(axis=1) / holes if holes else np.ones(gaps.shape[1])
    return Flux(influx, outflux)


def summary(X) -> GapSummary:
    """Patterns, counts and flux of a table's gaps in one object.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)

    Returns
    -------
    summary : GapSummary

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import summary
    >>> found = summary([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]])
    >>> found.n_gaps, found.n_complete_rows, round(found.gap_fraction, 3)
    (2, 1, 0.333)
    """
    gaps, names = gaps_of(X)
    n_rows, n_columns = gaps.shape
    complete = int((~gaps.any(axis=1)).sum())
    return GapSummary(n_rows, n_columns, int(gaps.sum()), complete, gaps.sum(axis=0), names, patterns(X), flux(X))


def gaps_of(X) -> tuple[np.ndarray, tuple[str, ...]]:
    """Where a table of numbers, text or categories has gaps, and the names of its columns."""
    columns = Columns(np.ma.filled(X.astype(float), np.nan) if np.ma.isMaskedArray(X) else X)
    if columns.frame is None and columns.array.dtype.kind in "biuf":
        gaps = np.isnan(columns.array)
    else:
        lists = [[value is None for value in columns.values(k)] for k in range(columns.n)]
        gaps = np.array(lists, dtype=bool).T if lists else np.empty((0, 0), bool)
    if not gaps.size:
        raise ValueError(f"X has no cells: its shape is {gaps.shape}.")
    return gaps, columns.names or tuple(map(str, range(columns.n)))


def _pairs(gaps: np.ndarray) -> Pairs:
    missing = gaps.astype(np.int64)
    observed = 1 - missing
    return Pairs(observed.T @ observed, observed.T @ missing, missing.T @ observed, missing.T @ missing)
