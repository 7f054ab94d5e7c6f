"""From the targets and weights that a user gives to those that members learn from, for all rows or part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.estimators.class_weights import class_weighted
from gapkernel.estimators.gap.columns import Preparation
from gapkernel.tables import Schema, read_table, read_target, read_weight
from gapkernel.tables.table_in_parts import Part


@dataclass(frozen=True, eq=False)
class Targets:
    """The places of classes, or numbers of mean 0 and deviation 1.

    Attributes
    ----------
    labels : ndarray or None
        The classes; None for numbers.
    units : tuple of two floats
        Mean and deviation of the numbers.
    class_weight : dict or None
        How many rows each row of a class counts for.
    """

    labels: np.ndarray | None = None
    units: tuple[float, float] = (0.0, 1.0)
    class_weight: dict | None = None

    def __call__(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets as members take them, and the weights with those of the classes."""
        if self.labels is None:
            return (y - self.units[0]) / self.units[1], weight
        places = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        unknown = (self.labels[places] != y) & (True if weight is None else weight > 0)
        if unknown.any():
            raise ValueError(
                f"Class {y[unknown].tolist()[0]!r} is rare: the sample of rows that members are chosen by has none of "
                f"it. Leave its rows out, or merge it with another class."
            )
        if self.class_weight is None:
            return places, weight
        return places, class_weighted(self.class_weight, self.labels[places], weight)


def targets_of_classes(labels: np.ndarray, y: np.ndarray, class_weight) -> Targets:
    """Those of classes; "balanced" weights are found by the shares in ``y``."""
    if class_weight is None:
        return Targets(labels)
    by_row = class_weighted(class_weight, y, None)
    first = np.unique(y, return_index=True)[1]
    return Targets(labels, class_weight=dict(zip(labels.tolist(), by_row[first].tolist(), strict=True)))


@dataclass(frozen=True, eq=False)
class PreparedParts:
    """From a part of a table as it comes to the part that members learn from.

    Attributes
    ----------
    reader : estimator
        Knows the columns.
    schema : Schema
        Of the table as it was read.
    preparation : Preparation
    targets : Targets
    unit : float
        The weight that counts as 1.
    """

    reader: object
    schema: Schema
    preparation: Preparation
    targets: Targets
    unit: float

    def __call__(self, part: Part) -> Part:
        """Prepare the rows of a part."""
        table = read_table(self.reader, part.X, reset=False, schema=self.schema)
        y = read_target(part.y, y_numeric=self.targets.labels is None, of=" of a batch")
        y, weight = self.targets(y, read_weight(part.weight, table))
        return Part(self.preparation(table), y, None if weight is None else weight / self.unit)
