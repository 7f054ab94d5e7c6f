"""Paired tests of methods in each cell of a study; ranks over blocks are in `gapkernel.inspection.ranks`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np
from scipy import stats

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
    >>> from gapkernel.experiments import paired_test
    >>> test = paired_test([0.81, 0.84, 0.79, 0.86], [0.78, 0.80, 0.77, 0.80])
    >>> round(test.difference, 3), round(test.corrected_t_pvalue, 3), test.wilcoxon_pvalue
    (0.037, 0.053, 0.125)
    """
    apart = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if apart.ndim != 1 or len(apart) < 2 or np.isnan(apart).any():
        raise ValueError(f"Both methods need scores on the same splits, at least two, got shape {apart.shape}.")
    n, mean, spread = len(apart), float(apart.mean()), float(apart.std(ddof=1))
    if not apart.any():
        p = 1.0
    elif spread <= 1e-12 * abs(mean):  # equal up to rounding: without a spread there is nothing to compare with
        p = np.nan
    else:
        t = mean / corrected_error(apart, test_share)
        p = float(2.0 * stats.t.sf(abs(t), n - 1))
    wilcoxon = 1.0 if not apart.any() else float(stats.wilcoxon(apart).pvalue)
    return PairedTest(mean, p, wilcoxon, n)


def corrected_error(values, test_share: float) -> float:
    """Standard error of a mean over the splits of a cross-validation, by Nadeau and Bengio.

    Training sets overlap, so splits are not independent: the ratio of test to training rows is added to the 1/n of
    independent values.
    """
    return float(np.std(values, ddof=1) * np.sqrt(1.0 / len(values) + test_share / (1.0 - test_share)))


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
