"""How the columns of a table enter the regressions: kinds, levels, and standardised design columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gapkernel.compute.standardise import standard_of
from gapkernel.tables import Table

DISCRETE = ("binary", "categorical", "ordinal")


@dataclass(frozen=True)
class Coding:
    """What was learned about each column of a table.

    In codes, a numeric column is standardised, a discrete one holds the number of its level, and a gap is NaN.
    In the design a column takes no place (constant, or never observed), one (numeric, binary, ordinal), or one
    for each level but the first (categorical); all are standardised, so that one ridge fits all.

    Attributes
    ----------
    kinds : list of {"numeric", "binary", "categorical", "ordinal", "constant", "empty"}
    levels : list of ndarray
        Sorted values of a discrete column, nothing for others.
    location, scale : ndarray of shape (n_columns,)
        Of numeric columns; the value of a constant one is its location.
    blocks : list of slice
        The places of each column in the design; place 0 is the intercept.
    centre, spread : ndarray of shape (n_places,)
        Mean and deviation of each place over the observed cells.
    """

    kinds: list[str]
    levels: list[np.ndarray]
    location: np.ndarray
    scale: np.ndarray
    blocks: list[slice]
    centre: np.ndarray
    spread: np.ndarray

    @classmethod
    def learn(cls, X: np.ndarray, declared: list[str]) -> Coding:
        """The coding of a table; ``declared`` are the kinds of its columns, if they vary."""
        standard = standard_of(X)
        location, scale = standard.location, standard.scale
        levels = [np.unique(column[~np.isnan(column)]) for column in X.T]
        kinds = [
            "empty" if len(known) == 0 else "constant" if not live else kind
            for kind, known, live in zip(declared, levels, standard.live, strict=True)
        ]
        levels = [known if kind in DISCRETE else known[:0] for kind, known in zip(kinds, levels, strict=True)]
        widths = [_width(kind, known) for kind, known in zip(kinds, levels, strict=True)]
        starts = np.concatenate([[1], 1 + np.cumsum(widths)]).astype(int)
        blocks = [slice(a, b) for a, b in pairwise(starts.tolist())]
        raw = cls(kinds, levels, location, scale, blocks, np.zeros(starts[-1]), np.ones(starts[-1]))
        return raw._standardised(raw.encode(X))

    def encode(self, X: np.ndarray) -> np.ndarray:
        """Codes of a table. A value that is not a level of a discrete column is a gap.

        The table may lack the last columns, as new rows lack the target.
        """
        codes = np.empty_like(X)
        for j, kind in enumerate(self.kinds[: X.shape[1]]):
            if kind in DISCRETE:
                place = np.searchsorted(self.levels[j], X[:, j]).clip(max=len(self.levels[j]) - 1)
                codes[:, j] = np.where(self.levels[j][place] == X[:, j], place, np.nan)
            else:
                codes[:, j] = (X[:, j] - self.location[j]) / self.scale[j]
        return codes

    def decode(self, codes: np.ndarray, j: int) -> np.ndarray:
        """Values of column ``j`` from its codes."""
        if self.kinds[j] in DISCRETE:
            return self.levels[j][codes.astype(int)]
        return self.location[j] + self.scale[j] * codes

    def write(self, design: np.ndarray, rows, codes: np.ndarray, j: int) -> None:
        """Put the codes of column ``j`` at some rows into its places of the design."""
        block = self.blocks[j]
        if block.start == block.stop:
            return
        if self.kinds[j] == "categorical":
            values = (codes == np.arange(1, len(self.levels[j]))[:, None]).astype(float)
        else:
            values = codes[None]
        design[block, rows] = (values - self.centre[block, None]) / self.spread[block, None]

    def design(self, codes: np.ndarray) -> np.ndarray:
        """The design of codes without gaps, (n_places, n_rows)."""
        design = np.ones((len(self.centre), len(codes)))
        for j in range(codes.shape[1]):
            self.write(design, slice(None), codes[:, j], j)
        return design

    def places(self, columns) -> np.ndarray:
        """The places in the design of the intercept and some columns."""
        return np.concatenate([[0], *(np.arange(self.blocks[k].start, self.blocks[k].stop) for k in columns)]).astype(
            int
        )

    def _standardised(self, codes: np.ndarray) -> Coding:
        """This coding with the mean and deviation of each design column over the observed cells."""
        for j in range(codes.shape[1]):
            block = self.blocks[j]
            observed = codes[~np.isnan(codes[:, j]), j]
            design = np.ones((len(self.centre), len(observed)))
            self.write(design, slice(None), observed, j)
            if block.start < block.stop:
                self.centre[block], self.spread[block] = design[block].mean(axis=1), design[block].std(axis=1)
        return self


def _width(kind: str, levels) -> int:
    if kind == "categorical":
        return len(levels) - 1
    return 0 if kind in ("constant", "empty") else 1


def declared_kinds(table: Table, binary, ordinal) -> list[str]:
    """The kind of each column: what its type says, and what the parameters of `ChainedEquations` declare."""
    schema = table.schema
    kinds = np.where(schema.ordered, "ordinal", np.where(schema.categorical, "categorical", "numeric")).astype(object)
    auto = isinstance(binary, str)
    kinds[[] if auto else schema.places(binary, "binary")] = "binary"
    for j in schema.places(ordinal, "ordinal"):
        if kinds[j] not in ("numeric", "ordinal"):
            raise ValueError(
                f"Column {schema.label(j)} is {kinds[j]} and cannot be ordinal too. Leave it out of ordinal; levels "
                f"have an order if their type does, such as pandas.CategoricalDtype(levels, ordered=True)."
            )
        kinds[j] = "ordinal"
    for j, column in enumerate(table.values.T):
        values = np.unique(column[~np.isnan(column)])
        if kinds[j] == "binary" and len(values) > 2:
            raise ValueError(
                f"Column {schema.label(j)} is declared binary but holds {len(values)} different values. "
                f"Declare it in categorical_features, or leave it out of binary."
            )
        is_0_1 = auto and kinds[j] == "numeric" and values.tolist() == [0, 1]
        if is_0_1 or (kinds[j] == "categorical" and len(values) == 2):
            kinds[j] = "binary"  # for categories the same model, with the faster fit
    return kinds.tolist()
