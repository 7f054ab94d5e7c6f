"""Which differences of methods are more than chance: paired tests on the same splits, and ranks over blocks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import lru_cache

import numpy as np
from scipy import stats

from gapkernel.compute.doors import as_floats
from gapkernel.inspection import holm
from gapkernel.tables import labels_of

CELL = ["dataset", "mechanism", "fraction"]


@dataclass(frozen=True)
class PairedTest:
    """Difference of two methods over the same splits.

    Attributes
    ----------
    difference : float
        Mean of first - second.
    corrected_t_pvalue : float
        t test with Nadeau and Bengio's variance, which counts that training sets of a cross-validation overlap. NaN
        where all differences are the same but not 0.
    wilcoxon_pvalue : float
        Signed-rank test.
    n : int
        Number of splits.

    Examples
    --------
    >>> from gapkernel.studies import paired_test
    >>> paired_test([0.81, 0.84, 0.79, 0.86], [0.78, 0.80, 0.77, 0.80]).n
    4
    """

    difference: float
    corrected_t_pvalue: float
    wilcoxon_pvalue: float
    n: int


def paired_test(first, second, *, test_share=0.2) -> PairedTest:
    """Compare two methods on the same splits of one data set.

    Parameters
    ----------
    first, second : array-like of shape (n_splits,)
        Scores, split by split.
    test_share : float, default=0.2
        Test rows as a share of all rows: 1 / (number of folds).

    Returns
    -------
    test : PairedTest

    Examples
    --------
    >>> from gapkernel.studies import paired_test
    >>> test = paired_test([0.81, 0.84, 0.79, 0.86], [0.78, 0.80, 0.77, 0.80])
    >>> round(test.difference, 3), round(test.corrected_t_pvalue, 3), test.wilcoxon_pvalue
    (0.037, 0.053, 0.125)
    """
    apart = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if apart.ndim != 1 or len(apart) < 2 or np.isnan(apart).any():
        raise ValueError(f"Both methods need scores on the same splits, at least two, got shape {apart.shape}.")
    wilcoxon = 1.0 if not apart.any() else float(stats.wilcoxon(apart).pvalue)
    return PairedTest(float(apart.mean()), _corrected_pvalue(apart, test_share), wilcoxon, len(apart))


@dataclass(frozen=True)
class AllPairs:
    """Every pair of methods on the same splits, by the t test of Nadeau and Bengio and Holm's correction for all pairs.

    Pairs with a reference, such as a baseline that learns nothing, are corrected by themselves: whether a method has
    learned anything is another question than which method is best.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the lines and columns.
    differences : ndarray of shape (n_methods, n_methods)
        Mean score of the method of the line less that of the column.
    errors : ndarray of shape (n_methods, n_methods)
        Standard error of each difference.
    pvalues : ndarray of shape (n_methods, n_methods)
        After Holm's correction. If all pairs up to 0.05 are called different, the chance of any error is at most 5 %
        among the pairs with the reference, and at most 5 % among the others. 1 where all splits differ by the same
        amount, which leaves no spread to compare with.
    n_splits : int
        Number of splits that were scored.
    reference : str or None
        The method that all others have to beat.

    Examples
    --------
    >>> from gapkernel.studies import all_pairs
    >>> pairs = all_pairs([[0.90, 0.71], [0.91, 0.70], [0.89, 0.70], [0.92, 0.73]], ["a", "b"])
    >>> lead, margin = pairs.lead("a", "b")
    >>> round(lead, 3), round(margin, 3)
    (0.195, 0.023)
    """

    names: tuple[str, ...]
    differences: np.ndarray
    errors: np.ndarray
    pvalues: np.ndarray
    n_splits: int
    reference: str | None = None

    def lead(self, first: str, second: str) -> tuple[float, float]:
        """How much better one method is than another, and half the width of its 95 % interval."""
        place = self.names.index(first), self.names.index(second)
        return float(self.differences[place]), float(self._quantile(0.05) * self.errors[place])

    def beats(self, first: str, second: str) -> bool:
        """Whether one method is better than another by more than chance explains."""
        place = self.names.index(first), self.names.index(second)
        return bool(self.differences[place] > 0 and self.pvalues[place] <= 0.05)

    def least_lead(self, name: str) -> float:
        """The lead over a method that would have survived the correction, whatever the other one but the reference."""
        others = [k for k, other in enumerate(self.names) if other not in (name, self.reference)]
        n_pairs = len(others) if name == self.reference else len(others) * (len(others) + 1) // 2
        return float(self._quantile(0.05 / n_pairs) * self.errors[self.names.index(name), others].max())

    def _quantile(self, level: float) -> float:
        return float(stats.t.ppf(1 - level / 2, self.n_splits - 1))


def all_pairs(scores, names, *, reference=None, test_share=0.2) -> AllPairs:
    """Compare every method with every other one on the same splits.

    Parameters
    ----------
    scores : array-like of shape (n_splits, n_methods)
        The higher the better.
    names : sequence of str
        The methods.
    reference : str, default=None
        The method whose pairs are corrected by themselves, if it is among them.
    test_share : float, default=0.2
        Test rows as a share of all rows: 1 / (number of folds).

    Returns
    -------
    pairs : AllPairs

    Examples
    --------
    >>> from gapkernel.studies import all_pairs
    >>> pairs = all_pairs([[0.90, 0.71], [0.91, 0.70], [0.89, 0.70], [0.92, 0.73]], ["a", "b"])
    >>> pairs.beats("a", "b"), pairs.beats("b", "a")
    (True, False)
    """
    scores, names = np.asarray(scores, dtype=np.float64), tuple(names)
    if scores.ndim != 2 or scores.shape[1] != len(names) or len(scores) < 2 or np.isnan(scores).any():
        raise ValueError(f"Every method needs scores on the same splits, at least two, got shape {scores.shape}.")
    k, (above, below) = len(names), np.triu_indices(len(names), 1)
    apart = scores[:, above] - scores[:, below]
    differences, errors, pvalues = np.zeros((k, k)), np.zeros((k, k)), np.ones((k, k))
    differences[above, below], differences[below, above] = apart.mean(axis=0), -apart.mean(axis=0)
    errors[above, below] = errors[below, above] = corrected_error(apart, test_share)
    raw = np.nan_to_num([_corrected_pvalue(column, test_share) for column in apart.T], nan=1.0)
    is_reference = np.array([name == reference for name in names])
    with_reference = is_reference[above] | is_reference[below]
    for family in (with_reference, ~with_reference):
        raw[family] = holm(raw[family])
    pvalues[above, below] = pvalues[below, above] = raw
    return AllPairs(names, differences, errors, pvalues, len(scores), reference)


def corrected_error(values, test_share: float) -> np.ndarray:
    """Standard error of means over the splits of a cross-validation (the first axis), by Nadeau and Bengio.

    Training sets overlap, so splits are not independent: the ratio of test to training rows is added to the 1/n of
    independent values.
    """
    return np.std(values, axis=0, ddof=1) * np.sqrt(1.0 / len(values) + test_share / (1.0 - test_share))


def corrected_margin(values, test_share: float) -> np.ndarray:
    """Half the width of the 95 % intervals that go with `corrected_error`."""
    return stats.t.ppf(0.975, len(values) - 1) * corrected_error(values, test_share)


def _corrected_pvalue(apart: np.ndarray, test_share: float) -> float:
    mean, spread = float(apart.mean()), float(apart.std(ddof=1))
    if not apart.any():
        return 1.0
    if spread <= 1e-12 * abs(mean):  # equal up to rounding: without a spread there is nothing to compare with
        return np.nan
    return float(2.0 * stats.t.sf(abs(mean) / corrected_error(apart, test_share), len(apart) - 1))


def cell_tests(frame, reference: str, *, score="accuracy", test_share=0.2):
    """Test a reference method against every other one in each cell (data set, mechanism, fraction) of a study.

    Parameters
    ----------
    frame : DataFrame
        Results of a study, one line for each task.
    reference : str
        Name of a method. Cells without it are left out.
    score : str, default="accuracy"
        The column to compare; higher is better.
    test_share : float, default=0.2
        Test rows as a share of all rows: 1 / (number of folds).

    Returns
    -------
    tests : DataFrame
        A line for each cell and other method: difference, corrected_t_pvalue, wilcoxon_pvalue, n.

    Examples
    --------
    >>> import pandas as pd
    >>> from gapkernel.studies import cell_tests
    >>> line = {"dataset": "pima", "mechanism": "mcar", "fraction": 0.3, "draw": 0, "repeat": 0}
    >>> scores = {"genrbf": [0.81, 0.84, 0.79], "mean": [0.78, 0.80, 0.77]}
    >>> lines = [line | {"method": m, "fold": k, "accuracy": s} for m in scores for k, s in enumerate(scores[m])]
    >>> cell_tests(pd.DataFrame(lines), "genrbf")[["method", "difference"]].round(3)
      method  difference
    0   mean        0.03
    """
    import pandas

    known = sorted(set(frame["method"]))
    if reference not in known:
        raise ValueError(f"There is no method {reference!r} in the results. Known are {', '.join(known)}.")
    lines = []
    for cell, part in frame.groupby(CELL):
        table = part.pivot_table(index=["draw", "repeat", "fold"], columns="method", values=score).dropna()
        if reference not in table:
            continue
        for method in table.columns.drop(reference):
            test = paired_test(table[reference], table[method], test_share=test_share)
            lines.append(dict(zip(CELL, cell, strict=True)) | {"method": method} | asdict(test))
    names = [*CELL, "method", *(field.name for field in fields(PairedTest))]
    return pandas.DataFrame(lines, columns=names)


def sign_flip_pvalue(differences: np.ndarray) -> float:
    """How likely a sum at least as far from 0 is if the sign of each whole number is drawn at random; exact."""
    law = np.ones(1)  # of the sum, from minus to plus the total
    for size in np.abs(differences[differences != 0]):
        law = 0.5 * (np.pad(law, (0, 2 * size)) + np.pad(law, (2 * size, 0)))
    sums = np.arange(len(law)) - len(law) // 2
    return float(min(law[np.abs(sums) >= abs(differences.sum())].sum(), 1.0))


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
