"""The members that have not learned from a row, kept to answer it again with more of its cells hidden."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gapkernel.compute.runtime.threads import run_tasks
from gapkernel.estimators.gap.combination import weighted_mean
from gapkernel.estimators.gap.problem import FittedMember
from gapkernel.tables import Table


@dataclass(frozen=True, eq=False)
class LeftOutMembers:
    """The members that are used, each fitted anew to the rows that every split learns from.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The targets of the training rows.
    split : ndarray of shape (n,)
        The split that leaves each row out.
    members : list of list of FittedMember
        For each split.
    """

    y: np.ndarray
    split: np.ndarray
    members: list[list[FittedMember]]

    def answers(self, places: np.ndarray, table: Table, weights: np.ndarray) -> np.ndarray:
        """The combined answers to prepared rows by the members that have not learned from the row at each place."""
        parts, order = [], []
        for k in np.unique(self.split[places]):
            own = np.flatnonzero(self.split[places] == k)
            found = run_tasks(partial(FittedMember.answers, table=table[own]), self.members[k])
            parts.append(weighted_mean(found, weights))
            order.append(own)
        return np.concatenate(parts)[np.argsort(np.concatenate(order))]
