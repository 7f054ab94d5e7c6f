"""Ranks of the genRBF experiment in blocks of data set, mechanism and share, and what else is put beside them."""

from __future__ import annotations

import numpy as np

from gapkernel.papers.genrbf.compared import CANDIDATES
from gapkernel.papers.study import ReportTable, curves, percent, with_error
from gapkernel.studies import friedman_nemenyi

PAPER_LABELS = [CANDIDATES[name].short for name in ("mean", "zero", "mice", "geom", "karma", "genrbf")]
"""The six methods of the paper."""
FEW_GAPS, MANY_GAPS = 0.3, 0.5
READINGS = {"mice_one": "mice", "mice_mean": "mice", "karma_linear": "karma", "karma_columns": "karma"}
"""Other ways to read what the paper says of a method."""
READ_OTHERWISE = (
    "Read otherwise: mice, one table: one SVM on the first completed table; mice, without draws: one SVM on a table "
    "whose gaps hold expected values; karma, linear: no RBF; karma, RBF of columns: an RBF of each column in place of "
    "its product."
)
GAP = CANDIDATES["gap"].short


def labelled(frame):
    """The results with the names that people know."""
    return frame.assign(label=frame["method"].map({name: method.short for name, method in CANDIDATES.items()}))


def cells(frame):
    """Mean accuracy of each method in each block (data set, mechanism, fraction)."""
    return frame.pivot_table(index=["dataset", "mechanism", "fraction"], columns="label", values="accuracy", sort=False)


def few_gaps(scores):
    """Blocks with few of the cells removed."""
    return scores[scores.index.get_level_values("fraction") <= FEW_GAPS]


def many_gaps(scores):
    """Blocks with at least half of the cells removed."""
    return scores[scores.index.get_level_values("fraction") >= MANY_GAPS]


def by_data_set(scores):
    """Mean accuracy on each data set: blocks that are independent of each other."""
    return scores.groupby(level="dataset").mean()


def ranks_of(scores) -> dict[str, float]:
    """The mean rank of each method."""
    return dict(zip(scores.columns, friedman_nemenyi(scores).ranks.tolist(), strict=True))


def rank_table(scores) -> ReportTable:
    """Mean ranks at each share of removed cells, and where many are missing."""
    parts = {percent(fraction): part for fraction, part in scores.groupby(level="fraction")}
    parts["50 % and more"] = many_gaps(scores)
    parts["all"] = scores
    ranks = {name: friedman_nemenyi(part).ranks for name, part in parts.items()}
    order = np.argsort(ranks["50 % and more"], kind="stable")
    among = ranks_of(many_gaps(scores)[PAPER_LABELS])
    rows = [
        (name, *(f"{ranks[part][k]:.2f}" for part in parts), f"{among[name]:.2f}" if name in among else "")
        for k, name in zip(order, scores.columns[order], strict=True)
    ]
    note = (
        "Blocks are data set x mechanism (x share). The last column ranks the methods of the paper among themselves, "
        "at 50 % and more. The paper gives its ranks as a figure only (Figs. 6 and 7)."
    )
    return ReportTable("Mean ranks", ("method", *parts, "the paper's six"), rows, note)


def block_table(scores) -> ReportTable:
    """The Friedman test with the paper's blocks and with data sets as blocks."""
    parts = {"all blocks": scores, "50 % and more": many_gaps(scores), "data sets": by_data_set(scores)}
    rows = []
    for name, part in parts.items():
        test = friedman_nemenyi(part)
        pair = (test.tie_corrected_statistic, test.tie_corrected_pvalue)
        rows.append((name, str(test.n_blocks), *(f"{value:.3g}" for value in (*pair, test.critical_difference))))
    header = ("blocks", "number", "chi-square", "p", "critical difference")
    note = "With Friedman's correction for ties. Blocks that share a data set are not independent, so only the last "
    return ReportTable("Friedman tests", header, rows, f"{note}line is a fair test.")


def rank_figure(scores):
    """Mean rank against the share of removed cells (Fig. 6)."""
    panel: dict = {name: [] for name in scores.columns}
    for fraction, part in scores.groupby(level="fraction"):
        for name, rank in ranks_of(part).items():
            panel[name].append((100 * fraction, rank, 0.0))
    return curves({"all data sets and mechanisms": panel}, "mean rank", bars=False)


def on_shared_rounds(frame, other):
    """The cells of two results in the rounds (removals of cells and folds) that both have."""
    rounds = ["draw", "repeat", "fold"]
    shared = frame[rounds].merge(other[rounds]).drop_duplicates()
    return cells(frame.merge(shared)), cells(other.merge(shared))


def reading_table(frame, results) -> ReportTable:
    """Other readings of mice and karma, each in the place of ours among the paper's six methods."""
    six, readings = on_shared_rounds(frame[frame["label"].isin(PAPER_LABELS)], results)
    rows = []
    for name, method in READINGS.items():
        label, place = CANDIDATES[name].short, CANDIDATES[method].short
        reading = readings[label].dropna()
        ours = six.loc[reading.index]
        theirs = ours.assign(**{place: reading})
        row = [
            label,
            place,
            f"{shares_of(reading)} %",
            f"{100 * reading.mean():.1f}",
            f"{100 * ours[place].mean():.1f}",
        ]
        for part in (few_gaps, many_gaps):
            row += [f"{ranks_of(part(scores))[place]:.2f}" if len(part(scores)) else "" for scores in (theirs, ours)]
        rows.append((*row, difference(reading, ours[place])))
    ranks = ("rank up to 30 %", "ours", "rank from 50 %", "ours ")
    header = ("reading", "of", "removed", "accuracy, %", "ours, %", *ranks, "reading - ours")
    note = "Ranks are among the six; differences in points of accuracy, with the standard error over the data sets."
    return ReportTable("Other readings of the paper", header, rows, note)


def gap_table(frame, results) -> ReportTable:
    """GapClassifier beside all methods, where it was run; data sets are the blocks."""
    others, results = on_shared_rounds(frame, results)
    gap = results[GAP]
    scores = others.loc[gap.index].assign(**{GAP: gap})
    tests = friedman_nemenyi(by_data_set(scores))
    rows: list[tuple[str, ...]] = []
    for k in np.argsort(tests.ranks, kind="stable"):
        other = scores[tests.names[k]]
        ahead = f"{(by_data_set(gap) > by_data_set(other)).sum()} of {tests.n_blocks}"
        beside = ("", "") if other.name == GAP else (difference(gap, other), ahead)
        rows.append((other.name, f"{tests.ranks[k]:.2f}", f"{100 * other.mean():.1f}", *beside))
    header = ("method", "mean rank", "accuracy, %", f"{GAP} - method, points", f"{GAP} is ahead on")
    note = (
        f"{shares_of(gap)} % of the cells removed, the mean of all mechanisms. Blocks are the {tests.n_blocks} data "
        f"sets; ranks must be {tests.critical_difference:.2f} apart (Nemenyi). Differences with the standard error "
        "over them. Its members were chosen with splits of some of these data sets, which may favour it."
    )
    return ReportTable("GapClassifier beside them", header, rows, note)


def difference(first, second) -> str:
    """The mean difference in points, with its standard error over the data sets."""
    return with_error(100 * by_data_set(first - second), sign="+")


def shares_of(scores) -> str:
    """The shares of removed cells, in per cent."""
    return ", ".join(f"{100 * share:.0f}" for share in sorted(scores.index.unique("fraction")))
