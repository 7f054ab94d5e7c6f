"""What every kernel on laws can do, and what operators make of kernels: sums, products, multiples, some columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from gapkernel.compute.doors import check_finite
from gapkernel.compute.runtime.config import check_fits, get_config
from gapkernel.kernels.width import POSITIVE, unresolved
from gapkernel.rows import GAUSSIAN, Moments, Rows

SMALL_BLOCK = 16  # rows of the square blocks whose diagonals are computed where there is no formula


class Kernel(BaseEstimator, ABC):
    """A similarity between two laws.

    Two verbs, because a row is not independent of itself. `gram` pairs the rows of one batch: a row meets
    itself in the same draw, K_ii = E k(x_i, x_i). `cross` pairs two batches and always treats their rows as
    independent, even when both are the same object. Off the diagonal they agree.

    ``first + second`` is a sum, ``2 * kernel`` a multiple, ``kernel.on([0, 2])`` a kernel on some columns, and
    ``first.on([0]) * second.on([1, 2])`` a product.

    A subclass writes `_cross` and `_diag`; `_gram` and `_dot` where work or memory can be saved;
    `_resolve` if a parameter may be a word.
    """

    kinds: ClassVar[frozenset[str]] = GAUSSIAN
    """The kinds of rows that the kernel compares."""
    one_width: bool = False  # whether all columns are compared by the same width, so that their units count

    _parameter_constraints: ClassVar[dict] = {}

    @property
    def is_expectation(self) -> bool:
        """Whether `cross` is the expectation of a kernel on complete rows over both laws: if all kernels inside are."""
        inside = {part.is_expectation for part in self.get_params(deep=False).values() if isinstance(part, Kernel)}
        return inside == {True}

    @property
    def linear_factor(self) -> float | None:
        """The factor c of a kernel c x'y, None for a kernel that is not linear."""
        return None

    def compares(self, kind: str) -> bool:
        """Whether the kernel is defined for rows of this kind."""
        return kind in self.kinds

    def accept(self, rows: Rows) -> Rows:
        """The laws that the kernel looks at, or an error for rows and parameters that it cannot take."""
        self._validate_params()
        if not self.compares(rows.kind):
            raise ValueError(
                f"{self!r} compares {' or '.join(sorted(self.kinds))} laws, but these rows have {rows.kind} laws. "
                f"Use density='auto', which suits the kernel, or kernels.MonteCarlo, which takes laws of any kind."
            )
        return self._looked_at(rows)

    def resolve(self, moments: Moments | None, rows: Rows) -> Kernel:
        """This kernel with numbers in place of words such as ``gamma="scale"``."""
        kernel = clone(self)
        kernel._resolve(moments, kernel.accept(rows))
        return kernel

    def gram(self, rows: Rows) -> np.ndarray:
        """Kernel matrix of one batch, (n, n)."""
        rows = self.accept(rows)
        check_fits((len(rows), len(rows)), "The Gram matrix")
        return self._checked(self._meeting_itself(self._gram(rows), rows))

    def cross(self, left: Rows, right: Rows) -> np.ndarray:
        """Kernel matrix of two batches, (n_left, n_right), all rows independent."""
        left, right = self._pair(left, right)
        check_fits((len(left), len(right)), "The kernel matrix")
        return self._checked(self._cross(left, right))

    def diag(self, rows: Rows) -> np.ndarray:
        """E k(x_i, x_i) for each row, the diagonal of `gram`."""
        return check_finite(self._diag(self.accept(rows)), repr(self))

    def dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        """``cross(left, right) @ coefficients`` without holding the whole matrix."""
        return check_finite(self._dot(*self._pair(left, right), coefficients), repr(self))

    def self_cross(self, rows: Rows) -> np.ndarray:
        """E k(x_i, x_i') for an independent copy of each row, the diagonal of ``cross(rows, rows)``."""
        return self._self_cross(self.accept(rows))

    def over_widths(self, gammas: Sequence[Any] | np.ndarray, left: Rows, right: Rows | None = None) -> np.ndarray:
        """``gram(left)``, or ``cross(left, right)``, with each of several ``gamma``, (n_gammas, n_left, n_right)."""
        kernels = [clone(self).set_params(gamma=gamma) for gamma in gammas]
        return np.array([kernel.gram(left) if right is None else kernel.cross(left, right) for kernel in kernels])

    def _validate_params(self) -> None:
        super()._validate_params()
        for part in self.get_params(deep=False).values():  # the kernels that this one is made of
            if isinstance(part, BaseEstimator):
                part._validate_params()

    @abstractmethod
    def _diag(self, rows: Rows) -> np.ndarray:
        """`diag`, after the checks; so for all verbs below."""

    @abstractmethod
    def _cross(self, left: Rows, right: Rows) -> np.ndarray: ...

    def _gram(self, rows: Rows) -> np.ndarray:
        """As `gram`, with anything on the diagonal of uncertain rows."""
        return self._cross(rows, rows)

    def _meeting_itself(self, matrices: np.ndarray, rows: Rows) -> np.ndarray:
        """Kernel matrices of one batch, (..., n, n), where uncertain rows meet themselves in the same draw."""
        uncertain = np.flatnonzero(~rows.complete)
        matrices[..., uncertain, uncertain] = self._diag(rows)[uncertain]
        return matrices

    def _checked(self, matrix: np.ndarray) -> np.ndarray:
        """A kernel matrix, if all its numbers are finite; a kernel that has looked at them already overrides this."""
        return check_finite(matrix, repr(self))

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        block = max(1, get_config().memory_budget // (32 * max(1, len(right))))
        out = np.empty((len(left), coefficients.shape[1]))
        for i in range(0, len(left), block):
            out[i : i + block] = self._cross(left.take(slice(i, i + block)), right) @ coefficients
        return out

    def _self_cross(self, rows: Rows) -> np.ndarray:
        blocks = (rows.take(slice(i, i + SMALL_BLOCK)) for i in range(0, len(rows), SMALL_BLOCK))
        return np.concatenate([np.diag(self._cross(block, block)) for block in blocks] or [np.empty(0)])

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        """Put numbers in place of words, and refuse parameters that do not go with the rows."""

    def _number(self, name: str) -> float:
        """The number that a parameter holds, or an error if it is still a word."""
        value = getattr(self, name)
        if isinstance(value, str):
            raise unresolved(name, value)
        return float(value)

    def _looked_at(self, rows: Rows) -> Rows:
        """What the kernel sees of rows that it can compare."""
        return rows.unmasked

    def _columns(self, n_features: int) -> np.ndarray:
        """The columns that the kernel looks at, as a mask."""
        return np.ones(n_features, bool)

    def _pair(self, left: Rows, right: Rows) -> tuple[Rows, Rows]:
        if left.n_features != right.n_features:
            raise ValueError(f"The rows have {left.n_features} and {right.n_features} columns; these must agree.")
        return self.accept(left), self.accept(right)

    def on(self, columns: ArrayLike) -> Kernel:
        """This kernel on some columns only."""
        return OnColumns(self, columns)

    def __add__(self, other: object) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


class OfKernel(Kernel):
    """A kernel made of another one: its values for a part of each row, joined with what is certain of both rows."""

    kernel: Kernel
    _parameter_constraints: ClassVar[dict] = {"kernel": [Kernel]}

    @property
    def kinds(self) -> frozenset[str]:  # type: ignore[override]
        """Those of the kernel inside."""
        return self.kernel.kinds

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        self.kernel = self.kernel.resolve(moments, self._part(rows))

    def _part(self, rows: Rows) -> Rows:
        """What the kernel inside sees of the rows."""
        return rows

    def _columns(self, n_features: int) -> np.ndarray:
        return self.kernel._columns(n_features)

    def alike(self, left: Rows, right: Rows) -> np.ndarray | float:
        """How alike the rows are in what is certain, (n_left, n_right); 1 for a row and itself."""
        return 1.0

    def _joined(self, values: np.ndarray, alike: np.ndarray | float = 1.0) -> np.ndarray:
        """This kernel, from values of the one inside."""
        return values

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._diag(self._part(rows)))

    def _self_cross(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._self_cross(self._part(rows)))

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return self._joined(self.kernel._cross(self._part(left), self._part(right)), self.alike(left, right))

    def _gram(self, rows: Rows) -> np.ndarray:
        return self._joined(self.kernel._gram(self._part(rows)), self.alike(rows, rows))

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return self._joined(self.kernel._dot(self._part(left), self._part(right), coefficients))

    def over_widths(self, gammas: Sequence[Any] | np.ndarray, left: Rows, right: Rows | None = None) -> np.ndarray:
        values = self.kernel.over_widths(gammas, self._part(left), None if right is None else self._part(right))
        return self._joined(values, self.alike(left, left if right is None else right))


class OnColumns(OfKernel):
    """A kernel that looks at some columns only.

    Parameters
    ----------
    kernel : Kernel
        The kernel that compares the laws of these columns.
    columns : sequence of int
        The numbers of the columns.
    """

    def __init__(self, kernel: Kernel, columns: ArrayLike) -> None:
        self.kernel = kernel
        self.columns = columns

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        super()._resolve(None if moments is None else moments.take(self._indices(rows.n_features)), rows)

    def _part(self, rows: Rows) -> Rows:
        return rows.columns(self._indices(rows.n_features))

    def _columns(self, n_features: int) -> np.ndarray:
        return np.isin(np.arange(n_features), self._indices(n_features))

    def _indices(self, n_features: int) -> np.ndarray:
        indices = np.asarray(self.columns)
        if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
            raise ValueError(f"columns must be a list of column numbers, got {self.columns!r}.")
        outside = indices[(indices < 0) | (indices >= n_features)]
        if outside.size or len(np.unique(indices)) < len(indices) or not indices.size:
            raise ValueError(f"columns must be distinct numbers from 0 to {n_features - 1}, got {indices.tolist()}.")
        return indices


class Scaled(OfKernel):
    """A kernel times a positive number.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is multiplied.
    factor : float, default=1.0
        The number.
    """

    one_width = property(lambda self: self.kernel.one_width)
    _parameter_constraints: ClassVar[dict] = {"kernel": [Kernel], "factor": [POSITIVE]}

    def __init__(self, kernel: Kernel, factor: float = 1.0) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def linear_factor(self) -> float | None:
        """That of the kernel inside, multiplied."""
        return None if self.kernel.linear_factor is None else self._joined(self.kernel.linear_factor)

    def _joined(self, values: Any, alike: np.ndarray | float = 1.0) -> Any:
        return self.factor * values


class Sum(Kernel):
    """The sum of two kernels. Expectations add, so a sum is always exact.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.
    """

    _parameter_constraints: ClassVar[dict] = {"left": [Kernel], "right": [Kernel]}

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def kinds(self) -> frozenset[str]:  # type: ignore[override]
        """Those that both kernels compare."""
        common = self.left.kinds & self.right.kinds
        if not common:
            raise ValueError(
                f"{self.left!r} compares {' or '.join(sorted(self.left.kinds))} laws and {self.right!r} "
                f"{' or '.join(sorted(self.right.kinds))} laws: they cannot be combined."
            )
        return common

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        self.left, self.right = self.left.resolve(moments, rows), self.right.resolve(moments, rows)

    def _diag(self, rows: Rows) -> np.ndarray:
        return self._joined(lambda kernel: kernel._diag(rows), rows)

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return self._joined(lambda kernel: kernel._cross(left, right), left, right)

    def _gram(self, rows: Rows) -> np.ndarray:
        return self._joined(lambda kernel: kernel._gram(rows), rows)

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return self._joined(lambda kernel: kernel._dot(left, right, coefficients), left, right)

    def _joined(self, values: Callable[[Kernel], np.ndarray], *batches: Rows) -> np.ndarray:
        """The ``values`` of both kernels for some batches of rows, joined."""
        return values(self.left) + values(self.right)

    def _columns(self, n_features: int) -> np.ndarray:
        return self.left._columns(n_features) | self.right._columns(n_features)


class Product(Sum):
    """The product of two kernels on separate columns whose gaps are independent.

    The expectation of a product is the product of the expectations only for independent factors. So both
    factors must name their columns (`Kernel.on`), share none, and no row may have gaps in one part that are
    correlated with its gaps in the other; anything else is refused.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.
    """

    @property
    def kinds(self) -> frozenset[str]:  # type: ignore[override]
        """Those that both kernels compare, and in which gaps without correlation are independent."""
        return super().kinds - {"mixture", "atoms"}

    def _joined(self, values: Callable[[Kernel], np.ndarray], *batches: Rows) -> np.ndarray:
        for rows in batches:
            check_independent(rows, self.left._columns(rows.n_features), self.right._columns(rows.n_features))
        return values(self.left) * values(self.right)

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return Kernel._dot(self, left, right, coefficients)


def check_independent(rows: Rows, first: np.ndarray, second: np.ndarray) -> None:
    """Refuse rows whose gaps in the columns of two factors, given as masks, may depend on each other."""
    if rows.complete.all():
        return  # points: any product is exact
    shared = np.flatnonzero(first & second)
    if shared.size:
        raise ValueError(
            f"Both factors of the product look at column {shared[0]}, so their expectations do not multiply. "
            f"Give each its own columns with kernel.on([...]), or add the kernels."
        )
    if rows.kind == "marginal":
        return  # the gaps of a row are independent of each other
    for members, columns, covariance in rows.by_pattern():
        if np.any(covariance[np.ix_(first[columns], second[columns])]):
            raise ValueError(
                f"Row {members[0]} has correlated gaps in the columns of both factors, so their expectations "
                f"do not multiply. Add the kernels, or use one kernel over all the columns."
            )
