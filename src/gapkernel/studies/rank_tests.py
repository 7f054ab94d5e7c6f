"""Ranks of methods over blocks: which differences are more than chance?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from gapkernel.compute.doors import as_floats
from gapkernel.tables import labels_of


@dataclass(frozen=True, eq=False)
class FriedmanNemenyi:
    """Ranks of methods over blocks, the Friedman test in three forms, and Nemenyi's critical difference.

    Attributes
    ----------
    ranks : ndarray of shape (n_methods,)
        Mean rank of each method, 1 is best; ties share their ranks.
    statistic, pvalue : float
        Friedman's chi-square as in textbooks, without correction for ties.
    tie_corrected_statistic, tie_corrected_pvalue : float
        With the correction (as `scipy.stats.friedmanchisquare`).
    iman_davenport_statistic, iman_davenport_pvalue : float
        The less conservative F form.
    critical_difference : float
        Mean ranks that are further apart differ significantly (Nemenyi).
    significance : float
        Probability of a wrong difference among methods that are all alike.
    n_blocks, n_methods : int
        Size of the table of scores.
    names : tuple of str
        The methods.

    Examples
    --------
    >>> from gapkernel.studies import friedman_nemenyi
    >>> scores = [[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.8, 0.9, 0.5], [0.7, 0.6, 0.5]]
    >>> result = friedman_nemenyi(scores, names=["a", "b", "c"])
    >>> result.groups()  # methods that do not differ, by their places
    [(0, 1), (1, 2)]
    """

    ranks: np.ndarray
    statistic: float
    pvalue: float
    tie_corrected_statistic: float
    tie_corrected_pvalue: float
    iman_davenport_statistic: float
    iman_davenport_pvalue: float
    critical_difference: float
    significance: float
    n_blocks: int
    n_methods: int
    names: tuple[str, ...]

    @property
    def differs(self) -> np.ndarray:
        """Whether the mean ranks of two methods are further apart than the critical difference, (k, k)."""
        return np.abs(np.subtract.outer(self.ranks, self.ranks)) > self.critical_difference

    def groups(self) -> list[tuple[int, ...]]:
        """Largest sets of methods, in the order of their ranks, that do not differ."""
        order = np.argsort(self.ranks, kind="stable")
        sorted_ranks = self.ranks[order]
        found, reached = [], 0
        for first in range(len(order)):
            last = int(np.searchsorted(sorted_ranks, sorted_ranks[first] + self.critical_difference, side="right"))
            if last > reached and last - first > 1:
                found.append(tuple(order[first:last].tolist()))
            reached = max(reached, last)
        return found


def friedman_nemenyi(scores, *, significance=0.05, names=None) -> FriedmanNemenyi:
    """Compare methods over blocks by their ranks (Demsar's recipe).

    Parameters
    ----------
    scores : array-like or DataFrame of shape (n_blocks, n_methods)
        Higher is better. Blocks should be independent, for example data sets.
    significance : float, default=0.05
        Probability of a wrong difference among methods that are all alike.
    names : sequence of str, default=None
        The methods; None takes the columns of a frame, or numbers.

    Returns
    -------
    result : FriedmanNemenyi

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.

    Examples
    --------
    >>> from gapkernel.studies import friedman_nemenyi
    >>> result = friedman_nemenyi([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.8, 0.9, 0.5], [0.7, 0.6, 0.5]])
    >>> result.ranks, round(result.statistic, 2), round(result.critical_difference, 2)
    (array([1.25, 1.75, 3.  ]), 6.5, 1.66)
    """
    table = as_floats(scores, "scores")
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(f"scores needs at least two blocks (rows) and two methods (columns), got {table.shape}.")
    bad = np.argwhere(np.isnan(table))
    if len(bad):
        raise ValueError(f"scores has no value in block {bad[0, 0]} for method {bad[0, 1]}: ranks need all of them.")
    if not 0 < significance < 1:
        raise ValueError(f"significance must lie between 0 and 1, got {significance!r}.")
    n, k = table.shape
    names = labels_of(scores) if names is None else tuple(map(str, names))
    if len(names) != k:
        raise ValueError(f"names has {len(names)} entries for {k} methods.")
    by_block = stats.rankdata(-table, axis=1)
    ranks = by_block.mean(axis=0)
    chi = 12.0 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4.0)
    chi = max(0.0, float(chi))
    untied = _tie_share(by_block)
    corrected = chi / untied if untied > 0 else 0.0
    room = n * (k - 1) - chi
    f = (n - 1) * chi / room if room > 1e-12 * n * k else np.inf
    return FriedmanNemenyi(
        ranks=ranks,
        statistic=chi,
        pvalue=float(stats.chi2.sf(chi, k - 1)),
        tie_corrected_statistic=corrected,
        tie_corrected_pvalue=float(stats.chi2.sf(corrected, k - 1)),
        iman_davenport_statistic=float(f),
        iman_davenport_pvalue=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        critical_difference=critical_difference(k, n, significance),
        significance=significance,
        n_blocks=n,
        n_methods=k,
        names=names,
    )


def critical_difference(n_methods: int, n_blocks: int, significance: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks, q_alpha sqrt(k (k + 1) / (6 N))."""
    return _nemenyi_quantile(n_methods, significance) * float(np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_blocks)))


@lru_cache(maxsize=64)  # scipy integrates for about a second
def _nemenyi_quantile(n_methods: int, significance: float) -> float:
    """q_alpha: the studentised range over sqrt(2)."""
    return float(stats.studentized_range.ppf(1.0 - significance, n_methods, np.inf) / np.sqrt(2.0))


def _tie_share(by_block: np.ndarray) -> float:
    """1 - sum (t^3 - t) / (N (k^3 - k)) over groups of t tied methods in a block."""
    n, k = by_block.shape
    ties = sum(float(np.sum(counts**3 - counts)) for counts in (np.unique(b, return_counts=True)[1] for b in by_block))
    return 1.0 - ties / (n * (k**3 - k))
