"""Categorical rows compared over all their completions (Kobayashi, Belanche, Aluja: 2KE)."""

from __future__ import annotations

from itertools import product

import numpy as np

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.columns.averaged import OfTable
from gapkernel.rows import Feature, MarginalRows

BASES = ("overlap", "rbf", "one-hot rbf", "exp-overlap", "matches")


class CompletionKernel(Kernel):
    """A kernel on complete categorical rows, averaged over the completions of both.

    Completions are never listed for the named kernels: a mean over columns, a product over them and a function of the
    number of equal columns all cost one step for each column.

    Parameters
    ----------
    base : {"overlap", "rbf", "one-hot rbf", "exp-overlap", "matches"} or callable, default="overlap"
        "overlap": the share of equal columns. "rbf": exp(-gamma ||x - y||^2) on the codes. "one-hot rbf": the same on
        one-hot codes, exp(-2 gamma * number of unequal columns). "exp-overlap": exp(gamma * share of equal columns).
        "matches": ``function`` of the number of equal columns. A callable k(x, y) of two arrays of complete rows'
        codes, (n, d) each, giving (n,), is averaged by listing the completions.
    gamma : float, default=1.0
    function : callable, default=None
        For "matches": f(m) of an array of numbers of equal columns, positive semi-definite as a kernel.
    completions : {"uniform", "frequency"}, default="uniform"
        Whether all levels are alike in a gap, or as frequent as the density says.
    max_completions : int, default=10_000
        With a callable, the most completions of one pair of rows.

    Notes
    -----
    A row against itself is the same completion on both sides, so "overlap" and the RBF kernels give 1. With "overlap"
    and ``completions="frequency"`` this is `HeterogeneousKernel` on categories (1KE).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Marginals
    >>> from gapkernel.kernels import CompletionKernel
    >>> X = np.array([[0, None, 1, None], [0, 1, None, None], [1, 0, 0, 1], [1, 1, 1, 0]], dtype=object)
    >>> rows = Marginals(categorical_features=[0, 1, 2, 3]).fit(X).condition(X)
    >>> float(CompletionKernel().gram(rows)[0, 1])
    0.625
    """

    laws = "marginal"

    def __init__(self, base="overlap", *, gamma=1.0, function=None, completions="uniform", max_completions=10_000):
        self.base = base
        self.gamma = gamma
        self.function = function
        self.completions = completions
        self.max_completions = max_completions

    def resolve(self, density, rows: MarginalRows) -> CompletionKernel:
        self._check_parameters()
        self._tables(rows)
        return super().resolve(density, rows)

    def diag(self, rows: MarginalRows) -> np.ndarray:
        self._check_parameters()
        if callable(self.base):
            return np.array([self._listed_diag(codes, rows.features) for codes in rows.values])
        if self.base == "matches":
            return np.full(len(rows), self._values(rows.n_features)[-1])  # every column equals itself
        return self._joined(table.same(x) for table, x in zip(self._tables(rows), rows.values.T, strict=True))

    def _cross(self, left: MarginalRows, right: MarginalRows) -> np.ndarray:
        self._check_parameters()
        if callable(self.base):
            return np.array([[self._listed(x, y, left.features) for y in right.values] for x in left.values]).reshape(
                len(left), len(right)
            )
        columns = zip(self._tables(left), left.values.T, right.values.T, strict=True)
        matrices = (table.cross(x, y) for table, x, y in columns)
        return self._by_matches(matrices, left.n_features) if self.base == "matches" else self._joined(matrices)

    def _joined(self, columns) -> np.ndarray:
        """The mean over columns for the overlap, the product for the others."""
        columns = list(columns) if self.base == "overlap" else iter(columns)
        if self.base == "overlap":
            return np.mean(columns, axis=0)
        out = np.array(next(columns))
        for column in columns:
            out *= column
        return out

    def _by_matches(self, chances, n_features: int) -> np.ndarray:
        """E f(number of equal columns), each equal with its own chance: the Poisson-binomial recursion."""
        share = np.empty(0)  # share[m]: how likely m of the columns so far are equal
        for done, chance in enumerate(chances):
            if not done:
                share = np.zeros((n_features + 1, *chance.shape))
                share[0] = 1.0
            for m in range(done + 1, 0, -1):
                share[m] += chance * (share[m - 1] - share[m])
            share[0] *= 1.0 - chance
        return np.tensordot(self._values(n_features), share, axes=1)

    def _values(self, n_features: int) -> np.ndarray:
        return np.asarray(self.function(np.arange(n_features + 1.0)), dtype=np.float64)

    def _tables(self, rows: MarginalRows) -> list[OfTable]:
        """The factor or summand of each column, averaged over missing levels."""
        tables = []
        for feature in rows.features:
            if not feature.is_category:
                raise ValueError(
                    f"CompletionKernel is for categories, but column {feature.label} holds numbers. Declare it in "
                    f"categorical_features, or use HeterogeneousKernel."
                )
            codes = np.arange(max(1, len(feature.levels)), dtype=np.float64)  # type: ignore[arg-type]
            apart = np.subtract.outer(codes, codes)
            if self.base == "rbf":
                values = np.exp(-self.gamma * apart**2)
            elif self.base == "one-hot rbf":
                values = np.exp(-2.0 * self.gamma * (apart != 0))
            elif self.base == "exp-overlap":
                values = np.exp(self.gamma / rows.n_features * (apart == 0))
            else:
                values = np.eye(len(codes))
            tables.append(OfTable.of(values, self._chances(feature)))
        return tables

    def _chances(self, feature: Feature) -> np.ndarray:
        """How likely each level is in a gap; a category never seen counts as one level."""
        n_levels = len(feature.levels)  # type: ignore[arg-type]
        if self.completions == "uniform" or not n_levels:
            return np.full(max(1, n_levels), 1.0 / max(1, n_levels))
        return feature.probabilities

    def _listed(self, x: np.ndarray, y: np.ndarray, features) -> float:
        """The average of any kernel over the completions of two rows."""
        self._check_count(np.concatenate([x, y]), (*features, *features))
        here, chance_here = self._completions_of(x, features)
        there, chance_there = self._completions_of(y, features)
        i, j = np.divmod(np.arange(len(here) * len(there)), len(there))
        return float((chance_here[i] * chance_there[j]) @ np.asarray(self.base(here[i], there[j]), np.float64))

    def _listed_diag(self, x: np.ndarray, features) -> float:
        self._check_count(x, features)
        completions, chance = self._completions_of(x, features)
        return float(chance @ np.asarray(self.base(completions, completions), np.float64))

    def _completions_of(self, x: np.ndarray, features) -> tuple[np.ndarray, np.ndarray]:
        """All complete rows that ``x`` can be, and how likely each is."""
        levels = [
            list(enumerate(self._chances(feature))) if np.isnan(value) else [(value, 1.0)]
            for value, feature in zip(x, features, strict=True)
        ]
        pairs = np.array(list(product(*levels)))
        return pairs[:, :, 0], pairs[:, :, 1].prod(axis=1)

    def _check_count(self, values: np.ndarray, features) -> None:
        sizes = [float(len(f.levels)) for value, f in zip(values, features, strict=True) if np.isnan(value)]
        count = np.prod(sizes)
        if count > self.max_completions:
            raise ValueError(
                f"A pair of rows has {count:.0f} completions, more than max_completions={self.max_completions}. Raise "
                f"it, or use one of the kernels that need no list: {BASES}."
            )

    def _check_parameters(self) -> None:
        if not callable(self.base) and self.base not in BASES:
            raise ValueError(f"base must be one of {BASES} or a function of complete rows, got {self.base!r}.")
        if self.base == "matches" and not callable(self.function):
            raise ValueError(f"base='matches' needs function, f(number of equal columns), got {self.function!r}.")
        if self.completions not in ("uniform", "frequency"):
            raise ValueError(f"completions must be 'uniform' or 'frequency', got {self.completions!r}.")
        if not (isinstance(self.gamma, float | int | np.number) and 0 < self.gamma < np.inf):
            raise ValueError(f"gamma must be a positive number, got {self.gamma!r}.")
