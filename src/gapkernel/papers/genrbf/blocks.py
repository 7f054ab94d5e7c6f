"""Results of the genRBF experiment as blocks (data set, mechanism, share), in which methods are ranked."""

from __future__ import annotations

from gapkernel.papers.genrbf.compared import CANDIDATES
from gapkernel.studies import friedman_nemenyi

PAPER_LABELS = [CANDIDATES[name].short for name in ("mean", "zero", "mice", "geom", "karma", "genrbf")]
"""The six methods of the paper."""
FEW_GAPS, MANY_GAPS = 0.3, 0.5


def labelled(frame):
    """The results with the names that people know."""
    return frame.assign(label=frame["method"].map({name: one.short for name, one in CANDIDATES.items()}))


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
