"""Smieja, Struski, Tabor: accuracy against the share of removed cells, by three mechanisms (Figs. 3 to 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gapkernel.papers.genrbf.compared import CANDIDATES
from gapkernel.papers.study import (
    Claim,
    Report,
    ReportTable,
    Size,
    beside_the_paper,
    curves,
    percent,
    points_of,
    with_error,
)
from gapkernel.plots import CriticalDifferenceDisplay
from gapkernel.studies import PAPER_GRID, QUICK_GRID, NestedCV, friedman_nemenyi, tasks_of

DATASETS = {
    "australian": "Australian",
    "banknote": "Bank",
    "breast_wisconsin": "Breast cancer",
    "climate_crashes": "Crashes",
    "heart_statlog": "Heart",
    "ionosphere": "Ionosphere",
    "liver_disorders": "Liver disorders",
    "pima": "Pima",
}
DROPPED = (("breast_wisconsin", "bare_nuclei"),)
"""The one column with gaps of its own; without it there are the paper's 8 attributes."""
MECHANISMS = {"mcar": "MCAR", "mar": "MAR", "nmar": "NMAR"}
QUICK_METHODS = ("mean", "zero", "mice", "geom", "karma", "genrbf", "genrbf_white", "rbf", "ehk")
STANDARD_METHODS = (*QUICK_METHODS, "process")
FULL_METHODS = (*STANDARD_METHODS, "geom_rbf")

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


class GenRBFProtocol(NestedCV):
    """Nested cross-validation of the paper's methods."""

    candidates = CANDIDATES


@dataclass(frozen=True, kw_only=True)
class Comparison(Size[GenRBFProtocol]):
    """How much of the experiment to do."""

    methods: tuple[str, ...]
    folds_done: int
    readings: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Those of `READINGS`, and the shares they are run at."""
    gap: tuple[float, ...] = ()
    """Shares at which GapClassifier, which takes far longer, stands beside them."""


QUICK = Comparison(
    fractions=(0.2, 0.5, 0.8),
    methods=QUICK_METHODS,
    folds_done=2,
    protocol=GenRBFProtocol(grid=QUICK_GRID, n_folds=3, n_inner_folds=3, max_rows=180, drop=DROPPED),
)
SHARES = tuple(k / 10 for k in range(1, 10))
FULL = Comparison(
    fractions=SHARES,
    draws=10,
    methods=FULL_METHODS,
    folds_done=5,
    protocol=GenRBFProtocol(grid=PAPER_GRID, drop=DROPPED),
    readings=dict.fromkeys(READINGS, SHARES),
    gap=SHARES,
)
STANDARD = replace(
    FULL,
    fractions=SHARES[::2],
    draws=1,
    methods=STANDARD_METHODS,
    readings=dict.fromkeys(READINGS, SHARES[::2]) | {"karma_columns": (0.5,)},
    gap=(0.5,),
)
SIZES = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def reproduce(context) -> Report:
    """Run the study and make its report."""
    size = SIZES[context.size]
    rounds = {"draw": range(size.draws), "fold": range(size.folds_done), "dataset": DATASETS, "mechanism": MECHANISMS}
    parts = {
        "genrbf": tasks_of(**rounds, fraction=size.fractions, method=size.methods),
        "genrbf-readings": [
            task
            for name, fractions in size.readings.items()
            for task in tasks_of(**rounds, fraction=fractions, method=[name])
        ],
        "genrbf-gap": tasks_of(**rounds, fraction=size.gap, method=["gap"]),
    }
    frames = [context.run(name, size.protocol, tasks, optional=name != "genrbf") for name, tasks in parts.items()]
    return report(size, *frames)


def report(size: Comparison, frame, *others) -> Report:
    """Figures 3 to 7 and their tables from the results; what else there is (other readings, GapClassifier) beside."""
    out, frame = Report.of(frame, *others), labelled(frame)
    for number, (mechanism, name) in enumerate(MECHANISMS.items(), start=3):
        part = frame[frame["mechanism"] == mechanism]
        panels = {label: points_of(part[part["dataset"] == d], "label", "accuracy") for d, label in DATASETS.items()}
        out.add_figure(f"figure{number}_{mechanism}", curves(panels, "accuracy, %", bars=False), f"Accuracy, {name}.")
    scores = cells(frame)
    out.tables = [rank_table(scores), block_table(scores), accuracy_table(frame), beside_the_paper(claims(scores))]
    out.remarks = remarks(size)
    if beside := [labelled(other) for other in others if other is not None]:
        import pandas

        out.tables.append(beside_table(frame, pandas.concat(beside)))
        out.remarks.append(READ_OTHERWISE)
    out.add_figure("figure6_ranks", rank_figure(scores), "Mean rank over data sets and mechanisms; lower is better.")
    display = CriticalDifferenceDisplay(result=friedman_nemenyi(by_data_set(scores))).plot()
    out.add_figure(
        "figure7_critical_difference", display.figure_, "Mean ranks over the data sets, and which may be chance."
    )
    return out


def accuracy_table(frame) -> ReportTable:
    """Mean accuracy over the data sets."""
    frame = frame.assign(removed=frame["fraction"].map(percent), mechanism=frame["mechanism"].map(MECHANISMS))
    means = frame.pivot_table(index=["mechanism", "removed"], columns="label", values="accuracy", sort=False)
    return ReportTable.of("Mean accuracy over the data sets in per cent", (100 * means).map("{:.1f}".format))


def claims(scores) -> list[Claim]:
    """What the paper says of its six methods, and what came out here; data sets are the blocks of the test."""
    six = scores[PAPER_LABELS]
    overall, low, high = (ranks_of(part) for part in (six, few_gaps(six), many_gaps(six)))
    fair = ranks_of(by_data_set(six))
    critical = friedman_nemenyi(by_data_set(six)).critical_difference
    order = ", ".join(sorted(PAPER_LABELS, key=overall.__getitem__))
    rivals = [name for name in PAPER_LABELS if name not in ("genRBF", "karma")]
    first, second = (min(overall[name] for name in rivals) - overall[name] for name in ("genRBF", "karma"))
    ahead = min(fair[name] for name in rivals) - fair["genRBF"]
    means = {name: 100 * six.xs(key, level="mechanism").mean().mean() for key, name in MECHANISMS.items()}
    apart = f"{ahead:+.2f} ranks, critical {critical:.2f}"
    mice = f"rank {low['mice']:.2f} up to 30 %, {high['mice']:.2f} from 50 %"
    beside = f"rank {low['mice']:.2f}, genRBF {low['genRBF']:.2f}"
    by_mechanism = ", ".join(f"{name} {mean:.1f} %" for name, mean in means.items())
    best = min(first, overall["karma"] - overall["genRBF"])
    return [
        Claim("genRBF has the best mean rank", "1st of 6", order, best),
        Claim("it is significantly better than all but karma (data sets as blocks)", "4 of 5", apart, ahead - critical),
        Claim("mice is better up to 30 %", "yes", beside, low["genRBF"] - low["mice"]),
        Claim("mice falls behind with many gaps", "heavily", mice, high["mice"] - low["mice"]),
        Claim("karma is before all but genRBF", "2nd of 6", order, second),
        Claim(
            "NMAR is harder than MCAR and MAR", "yes", by_mechanism, min(means["MCAR"], means["MAR"]) - means["NMAR"]
        ),
    ]


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


def remarks(size: Comparison) -> list[str]:
    """What was done otherwise."""
    protocol = size.protocol
    return [
        f"Shares {', '.join(map(percent, size.fractions))}; {size.draws} removal of cells for each; "
        f"{size.folds_done} of {protocol.n_folds} outer and {protocol.n_inner_folds} inner folds; C from "
        f"{protocol.grid.C}, gamma from {protocol.grid.gamma}"
        + (f"; {protocol.max_rows} rows of each data set." if protocol.max_rows else ".")
        + " The paper: 10 % to 90 %, 10 removals, 5 and 5 folds, C = 2^-5, 2^-3, ..., 2^9, gamma = 2^-5, ..., 2^15.",
        "Columns are standardised in the training fold; the paper says normalised. Category codes count as numbers, as "
        "in the paper. Breast cancer is without bare_nuclei (8 attributes).",
        "zero: gaps become 0 before standardisation. mice: five chains, an SVM for each, decision values averaged; the "
        "paper does not say how its imputations were pooled. karma: an RBF of the embedding, word length 1 or 2; how "
        "the paper combined the two is not stated. EHK takes alpha in place of gamma.",
        "geom: linear kernel; the paper says RBF, which over jointly present columns is not positive semi-definite. "
        "The full run has it too, its negative eigenvalues set to zero.",
        "The Gaussian is fitted by EM to a relative tolerance of 1e-4 (the paper: the R package norm).",
    ]
