"""The penalty of `CCCPClassifier` by cross-validation: the C whose fits lose least on rows that they have not seen.

Completions and basis are those of all rows, which know nothing of the labels. So the features of a row are computed
once for all folds and penalties, and each C starts where the one before it ended.
"""

from __future__ import annotations

import numpy as np

from gapkernel.compute import row_keys
from gapkernel.density import AtomicDensity
from gapkernel.papers.missing_variables.completion_features import FeatureBlocks, FeatureMap
from gapkernel.papers.missing_variables.losses import IncompleteLoss, Labels
from gapkernel.papers.missing_variables.objective import Block, IncompleteProblem
from gapkernel.papers.missing_variables.procedure import solve_lbfgs
from gapkernel.tables import Table

CANDIDATES = (0.1, 1.0, 10.0, 100.0, 1000.0)
N_FOLDS = 3
MOST_ROWS, MOST_COMPLETIONS = 2000, 8
"""Rows that C is chosen by, and completions of each; of more, so many are drawn."""
UNCHOSEN = 1.0
"""C where there are too few labels to choose by."""
TOLERANCE, STEPS = 1e-4, 300


def chosen_penalty(
    table: Table,
    labels: Labels,
    completions: AtomicDensity,
    features: FeatureMap,
    loss: IncompleteLoss,
    indicator: bool,
) -> float:
    """The C of `CANDIDATES` with the least loss on held-out rows, the smallest of equals.

    Rows that are alike count as one of their common weight, and folds depend on which rows there are, not on their
    order. So the choice depends neither on the order of the rows nor on whether a row is repeated or weighted.
    """
    rows, labels = _distinct(table, labels)
    classes = labels.candidates.argmax(axis=1)
    if (np.bincount(classes) >= N_FOLDS).sum() < 2:
        return UNCHOSEN
    fold = np.empty(len(rows), int)
    fold[np.argsort(classes, kind="stable")] = np.arange(len(rows)) % N_FOLDS  # classes in their proportions
    blocks = FeatureBlocks(table[rows], completions, features, indicator=indicator, most=MOST_COMPLETIONS)
    block, shape = Block.joined(list(blocks)), (labels.candidates.shape[1], features.size)
    losses = np.zeros(len(CANDIDATES))
    for here in range(N_FOLDS):
        train, test = np.flatnonzero(fold != here), np.flatnonzero(fold == here)
        seen, unseen, theta = block[train], block[test], np.zeros(shape)
        for place, C in enumerate(CANDIDATES):
            problem = IncompleteProblem([seen], [labels[train]], loss, 1.0 / C, shape)
            theta = solve_lbfgs(problem, theta, tol=TOLERANCE, max_iter=STEPS, watch=lambda *_: None).theta
            losses[place] += loss.value(unseen.scores(theta), unseen.counts, labels[test])[0]
    return CANDIDATES[int(losses.argmin())]


def _distinct(table: Table, labels: Labels) -> tuple[np.ndarray, Labels]:
    """Rows with some label, no two of them alike, in an order that their values give; and their common labels."""
    known = np.flatnonzero((labels.weight > 0) & ~labels.candidates.all(axis=1))
    keys = row_keys(np.column_stack([table[known].one_hot(), labels.candidates[known]]))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows, weight = known[first], np.bincount(which, labels.weight[known])
    chosen = slice(MOST_ROWS)
    return rows[chosen], Labels(labels.candidates[rows], weight, np.zeros(len(rows)))[chosen]
