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
BESIDE = READINGS | {"gap": "genrbf"}
"""What else is run, and the method of the paper in whose place it is ranked."""
READ_OTHERWISE = (
    "Read otherwise: mice, one table: one SVM on the first completed table; mice, without draws: one SVM on a table "
    "whose gaps hold expected values; karma, linear: no RBF; karma, RBF of columns: an RBF of each column in place of "
    "its product."
)


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


def beside_table(frame, others) -> ReportTable:
    """Other methods and readings, each in the place of one of the paper's six in the rounds that both have."""
    rounds, rows = ["draw", "repeat", "fold"], []
    for method, part in others.groupby("method", sort=False):
        label, place = CANDIDATES[method].short, CANDIDATES[BESIDE[method]].short
        shared = frame[rounds].merge(part[rounds]).drop_duplicates()
        scores = cells(part.merge(shared))[label]
        six = cells(frame.merge(shared)).loc[scores.index, PAPER_LABELS]
        ranks = [
            f"{ranks_of(blocks(which))[place]:.2f}" if len(blocks(which)) else ""
            for blocks in (few_gaps, many_gaps)
            for which in (six.assign(**{place: scores}), six)
        ]
        removed = ", ".join(percent(share) for share in sorted(scores.index.unique("fraction")))
        ahead = with_error(100 * by_data_set(scores - six[place]), sign="+")
        rows.append((label, place, removed, f"{100 * scores.mean():.1f}", *ranks, ahead))
    header = (
        "method",
        "in place of",
        "removed",
        "accuracy, %",
        "rank up to 30 %",
        "that of the other",
        "rank from 50 %",
    )
    note = "Ranks among the paper's six; differences in points of accuracy, with the standard error over the data sets."
    return ReportTable("Beside the six", (*header, "that of the other ", "points ahead"), rows, note)
