"""The gaps of a table: patterns, pairs of columns, and which values of other columns stand beside a column's gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.rows import Patterns
from gapkernel.tables import gaps_of, labels_of


@dataclass(frozen=True)
class Pairs:
    """In how many rows two columns are observed or missing; entry (j, k) is for column j, then column k.

    Attributes
    ----------
    rr, rm, mr, mm : ndarray of shape (n_features, n_features)
        r is observed (a response), m is missing: in ``mr[j, k]`` rows column j is missing and column k is observed.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import pairs
    >>> found = pairs([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]])
    >>> int(found.mm[0, 1]), int(found.rm[0, 1])  # both missing; the first observed and the second missing
    (1, 1)
    """

    rr: np.ndarray
    rm: np.ndarray
    mr: np.ndarray
    mm: np.ndarray


@dataclass(frozen=True)
class GapPatterns:
    """The distinct sets of columns that are missing together, the most frequent first.

    Attributes
    ----------
    gaps : ndarray of bool of shape (n_patterns, n_features)
        True where the rows of a pattern have a gap.
    counts : ndarray of shape (n_patterns,)
        Rows with each pattern.
    names : tuple of str
        The columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import patterns
    >>> found = patterns([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]])
    >>> found.gaps
    array([[False,  True],
           [False, False]])
    >>> found.counts
    array([2, 1])
    """

    gaps: np.ndarray
    counts: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class Flux:
    """How often the gaps of each column stand beside values of the others, and the reverse.

    Attributes
    ----------
    influx : ndarray of shape (n_features,)
        Pairs (gap of this column, value of another column in the same row) as a share of all values in the table: the
        more gaps a column has beside observed cells, the higher. 0 for a complete column, 1 for an empty one.
    outflux : ndarray of shape (n_features,)
        Pairs (value of this column, gap of another column in the same row) as a share of all gaps in the table: the
        more gaps of other columns a column has a value beside, the higher. 1 for a complete column, 0 for an empty one.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import flux
    >>> found = flux([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]])
    >>> found.influx, found.outflux
    (array([0. , 0.5]), array([1., 0.]))
    """

    influx: np.ndarray
    outflux: np.ndarray


@dataclass(frozen=True)
class GapSummary:
    """A summary of the gaps of a table.

    Attributes
    ----------
    n_rows, n_columns, n_gaps, n_complete_rows : int
        Counts over the whole table.
    column_gaps : ndarray of shape (n_columns,)
        Gaps in each column.
    names : tuple of str
        The columns.
    patterns : GapPatterns
        Which columns are missing together.
    flux : Flux
        Influx and outflux of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import summary
    >>> found = summary([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]])
    >>> found.column_gaps, len(found.patterns)
    (array([0, 2]), 2)
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
    """Count the rows in which two columns are observed or missing, for each pair of columns.

    The same as ``md.pairs`` of the R package mice.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Numbers, text, categories or dates; NaN, None, pd.NA and NaT are gaps.

    Returns
    -------
    pairs : Pairs
        Arrays ``rr``, ``rm``, ``mr`` and ``mm`` of shape (n_features, n_features), where r is observed (a response) and
        m is missing: in ``mr[j, k]`` rows column j is missing and column k is observed. The four counts of a pair add
        up to the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import pairs
    >>> pairs([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]]).mr
    array([[0, 0],
           [1, 0]])
    """
    missing = _gaps(X).astype(np.int64)
    observed = 1 - missing
    return Pairs(observed.T @ observed, observed.T @ missing, missing.T @ observed, missing.T @ missing)


def patterns(X) -> GapPatterns:
    """The distinct gap patterns of a table, the most frequent first (``md.pattern`` of mice).

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Numbers, text, categories or dates; NaN, None, pd.NA and NaT are gaps.

    Returns
    -------
    patterns : GapPatterns
        ``gaps``, a mask of shape (n_patterns, n_features) that is True where the rows of a pattern have a gap;
        ``counts``, the rows with each pattern; and ``names``, the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import patterns
    >>> patterns([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]]).counts
    array([2, 1])
    """
    found = Patterns.of(_gaps(X))
    order = np.lexsort((found.gaps.sum(axis=1), -found.counts))  # ties: fewer gaps first
    return GapPatterns(found.gaps[order], found.counts[order], labels_of(X))


def flux(X) -> Flux:
    """Influx and outflux of each column (``flux`` of mice).

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Numbers, text, categories or dates; NaN, None, pd.NA and NaT are gaps.

    Returns
    -------
    flux : Flux
        Arrays of shape (n_features,): ``influx``, the pairs (gap of this column, value of another column in the same
        row) as a share of all values in the table, which grows with the gaps; and ``outflux``, the pairs (value of this
        column, gap of another column in the same row) as a share of all gaps in the table.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import flux
    >>> flux([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]]).influx.round(3)
    array([0. , 0.5])
    """
    counts = pairs(X)
    values, gaps = counts.rr.trace(), counts.mm.trace()
    n_columns = len(counts.rr)
    influx = counts.mr.sum(axis=1) / values if values else np.zeros(n_columns)
    outflux = counts.rm.sum(axis=1) / gaps if gaps else np.ones(n_columns)
    return Flux(influx, outflux)


def summary(X) -> GapSummary:
    """Patterns, counts and flux of a table's gaps in one object.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Numbers, text, categories or dates; NaN, None, pd.NA and NaT are gaps.

    Returns
    -------
    summary : GapSummary
        The counts ``n_rows``, ``n_columns``, ``n_gaps``, ``n_complete_rows`` and, for each column, ``column_gaps``;
        ``gap_fraction``, the share of all cells that are gaps; ``names``, the columns; and what `patterns` and `flux`
        return, as ``patterns`` and ``flux``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import summary
    >>> found = summary([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0]])
    >>> found.n_gaps, found.n_complete_rows, round(found.gap_fraction, 3)
    (2, 1, 0.333)
    """
    gaps = _gaps(X)
    n_rows, n_columns = gaps.shape
    return GapSummary(
        n_rows,
        n_columns,
        n_gaps=int(gaps.sum()),
        n_complete_rows=int((~gaps.any(axis=1)).sum()),
        column_gaps=gaps.sum(axis=0),
        names=labels_of(X),
        patterns=patterns(X),
        flux=flux(X),
    )


def _gaps(X) -> np.ndarray:
    gaps = gaps_of(X)
    if not gaps.size:
        raise ValueError(f"X has no cells: its shape is {gaps.shape}.")
    return gaps
