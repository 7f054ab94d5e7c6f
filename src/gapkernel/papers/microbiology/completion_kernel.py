"""Categorical rows compared over all their completions (Kobayashi, Belanche, Aluja: 2KE)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.kernels import POSITIVE, Kernel, OfTable
from gapkernel.rows import AtomRows, MarginalRows, Moments

BASES = ("overlap", "exp-distance", "exp-mismatch", "exp-overlap", "matches")


@dataclass(eq=False, repr=False)
class CompletionKernel(Kernel):
    """A kernel on complete categorical rows, averaged over the completions of both.

    Completions are never listed for the named kernels: a mean over columns, a product over them and a function of the
    number of equal columns all cost one step for each column.

    Parameters
    ----------
    base : {"overlap", "exp-distance", "exp-mismatch", "exp-overlap", "matches"} or callable, default="overlap"
        "overlap": the share of equal columns. "exp-distance": exp(-gamma ||x - y||^2) on the codes. "exp-mismatch": the
        same on one-hot codes, exp(-2 gamma * number of unequal columns). "exp-overlap": exp(gamma * share of equal
        columns). "matches": ``function`` of the number of equal columns. A callable k(x, y) of two arrays of complete
        rows' codes, (n, d) each, giving (n,), is averaged by listing the completions.
    gamma : float, default=1.0
        Inverse width of the three kernels that begin with "exp".
    function : callable, default=None
        For "matches": f(m) of an array of numbers of equal columns, positive semi-definite as a kernel.
    completions : {"uniform", "frequency"}, default="uniform"
        Whether all levels are alike in a gap, or as likely as under the density.
    max_completions : int, default=10_000
        With a callable, the most completions of one pair of rows.

    Notes
    -----
    A row against itself is the same completion on both sides, so "overlap", "exp-distance" and "exp-mismatch" give 1.
    With "overlap" and ``completions="frequency"`` this is `HeterogeneousKernel` on categories (1KE).

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Marginals
    >>> from gapkernel.papers.microbiology import CompletionKernel
    >>> X = np.array([[0, None, 1, None], [0, 1, None, None], [1, 0, 0, 1], [1, 1, 1, 0]], dtype=object)
    >>> rows = Marginals(categorical_features=[0, 1, 2, 3]).fit(X).condition(X)
    >>> float(CompletionKernel().gram(rows)[0, 1])
    0.625
    """

    base: Any = "overlap"
    _: KW_ONLY
    gamma: float = 1.0
    function: Callable | None = None
    completions: str = "uniform"
    max_completions: int = 10_000

    kinds = frozenset({"marginal"})
    _parameter_constraints: ClassVar[dict] = {
        "base": [StrOptions(set(BASES)), callable],
        "gamma": [POSITIVE],
        "function": [None, callable],
        "completions": [StrOptions({"uniform", "frequency"})],
        "max_completions": [Interval(Integral, 1, None, closed="left")],
    }

    def _resolve(self, moments: Moments | None, rows: MarginalRows) -> None:  # type: ignore[override]
        self._tables(rows)

    def _diag(self, rows: MarginalRows) -> np.ndarray:  # type: ignore[override]
        if callable(self.base):
            atoms = self._listed(rows)
            return np.add.reduceat(atoms.weight * self._base(atoms.values, atoms.values), atoms.starts[:-1])
        if self.base == "matches":
            return np.full(len(rows), self._values(rows.n_features)[-1])  # every column equals itself
        columns = (table.same(x) for table, x in zip(self._tables(rows), rows.values.T, strict=True))
        return self._joined(columns, rows.n_features)

    def _cross(self, left: MarginalRows, right: MarginalRows) -> np.ndarray:  # type: ignore[override]
        if callable(self.base):
            here, there = self._listed(left), self._listed(right)
            return np.array([[self._pair_of(here, i, there, j) for j in range(len(there))] for i in range(len(here))])
        columns = zip(self._tables(left), left.values.T, right.values.T, strict=True)
        matrices = (table.cross(x, y) for table, x, y in columns)
        join = self._by_matches if self.base == "matches" else self._joined
        return join(matrices, left.n_features)

    def _joined(self, columns, n_features: int) -> np.ndarray:
        """The mean over columns for the overlap, the product for the others; the columns are made one at a time."""
        return reduce(np.add, columns) / n_features if self.base == "overlap" else reduce(np.multiply, columns)

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
        if self.function is None:
            raise ValueError("base='matches' needs function, f(number of equal columns).")
        return np.asarray(self.function(np.arange(n_features + 1.0)), dtype=np.float64)

    def _tables(self, rows: MarginalRows) -> list[OfTable]:
        """The factor or summand of each column, averaged over missing levels."""
        tables = []
        if self.base == "matches":
            self._values(rows.n_features)
        for feature in self._with_chances(rows).features:
            if not feature.is_category:
                raise ValueError(
                    f"CompletionKernel is for categories, but column {feature.label} holds numbers. Declare it in "
                    f"categorical_features, or use HeterogeneousKernel."
                )
            codes = np.arange(max(1, len(feature.levels)), dtype=np.float64)  # type: ignore[arg-type]
            apart = np.subtract.outer(codes, codes)
            if self.base == "exp-distance":
                values = np.exp(-self.gamma * apart**2)
            elif self.base == "exp-mismatch":
                values = np.exp(-2.0 * self.gamma * (apart != 0))
            elif self.base == "exp-overlap":
                values = np.exp(self.gamma / rows.n_features * (apart == 0))
            else:
                values = np.eye(len(codes))
            tables.append(OfTable.of(values, feature.probabilities))
        return tables

    def _with_chances(self, rows: MarginalRows) -> MarginalRows:
        return rows.with_uniform_levels() if self.completions == "uniform" else rows

    def _listed(self, rows: MarginalRows) -> AtomRows:
        """All complete rows that each row can be, and how likely each is."""
        self._tables(rows)
        try:
            return self._with_chances(rows).atoms(self.max_completions, "exact")
        except ValueError as error:
            raise self._too_many(error) from error

    def _pair_of(self, left: AtomRows, i: int, right: AtomRows, j: int) -> float:
        """The average of any kernel over the completions of two rows."""
        count = int(left.counts[i]) * int(right.counts[j])
        if count > self.max_completions:
            raise self._too_many(f"A pair of rows has {count} completions.")
        first, second = np.divmod(np.arange(count), right.counts[j])
        first, second = first + left.starts[i], second + right.starts[j]
        values = self._base(left.values[first], right.values[second])
        return float((left.weight[first] * right.weight[second]) @ values)

    def _too_many(self, what) -> ValueError:
        return ValueError(
            f"{what} Raise max_completions={self.max_completions}, or use a kernel that needs no list: {BASES}."
        )

    def _base(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.asarray(self.base(left, right), dtype=np.float64)
