"""Features of completed rows: the kernel, the basis, and blocks of rows that are kept if they fit the memory budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.gaussian_process.kernels import Kernel as ProcessKernel
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute import Basis, get_config, one_openmp_thread, pivoted_cholesky, starts_of, tracked
from gapkernel.kernels import POSITIVE, CompleteKernel, Kernel, scale_gamma
from gapkernel.papers.missing_variables.atomic_density import AtomicDensity, row_blocks
from gapkernel.papers.missing_variables.objective import Block
from gapkernel.rows import AtomRows, GaussianRows, Moments
from gapkernel.tables import Table

BLOCK_BYTES = 64 << 20
"""Size of the features of one block, or of its completed rows if these are wider."""

MOST_BASIS = 500
"""Basis functions when the caller names no number."""

MOST_PICKED_FROM = 10_000
"""Rows among which the basis is picked, unless four times its size is more; beyond, they are drawn."""

CLUSTER_ITERATIONS = 10
"""Steps of k-means: centres need not be settled to be good basis functions."""


@dataclass(eq=False, repr=False)
class KernelBasis(BaseEstimator):
    """The basis functions of `CCCPClassifier`: kernel values with a few complete rows, made orthonormal.

    Parameters
    ----------
    size : int, default=None
        Most basis functions, at most the number of rows. None: 500, or the number of rows.
    method : {"kmeans", "complete", "auto"}, default="kmeans"
        Which rows they are. "kmeans": centres of clusters of all rows, with the means of their completions in the
        gaps; the distinct rows themselves if there are no more. "complete": the paper's, complete rows picked by
        pivoted Cholesky. "auto": the same, but all rows, completed so, if too few are complete.
    tol : float, default=1e-6
        No more basis functions once no row has this share of the largest k(x, x) left to explain.
    intercept : bool, default=True
        Whether there is a constant function too, whose coefficients are penalised like the rest.
    single_precision : bool, default=False
        Whether to store features in float32: half the memory, and twice the speed on large tables. The objective is
        then good to about six digits.

    Notes
    -----
    Rows are picked among at most 10 000 (or 4 times ``size``). With ``size`` below the number of rows the fit may
    depend on their order.

    Examples
    --------
    >>> from gapkernel.papers.missing_variables import CCCPClassifier, KernelBasis
    >>> X, y = [[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1]
    >>> CCCPClassifier(C=10.0, basis=KernelBasis(2, method="complete"), random_state=0).fit(X, y).basis_
    array([[0. , 0.1],
           [2.1, 2. ]])
    """

    size: int | None = None
    _: KW_ONLY
    method: str = "kmeans"
    tol: float = 1e-6
    intercept: bool = True
    single_precision: bool = False

    _parameter_constraints: ClassVar[dict] = {
        "size": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"kmeans", "complete", "auto"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "intercept": ["boolean"],
        "single_precision": ["boolean"],
    }

    def features(
        self, table: Table, completions: AtomicDensity, kernel: CompleteKernel, *, indicator: bool, random
    ) -> FeatureMap:
        """The features that the basis picked from the rows of a table gives."""
        size = min(MOST_BASIS, len(table)) if self.size is None else self.size
        if size > len(table):
            raise ValueError(
                f"A basis of {size} functions cannot be picked from {len(table)} rows. Use at most size={len(table)}, "
                f"or None."
            )
        rows = self._pool(table, completions, size, indicator, random)
        if self.method == "kmeans":
            rows = _centres(rows, size, random)
        basis = pivoted_cholesky(rows, kernel, kernel.diag(rows), min(size, len(rows)), self.tol)
        return FeatureMap(kernel, basis, self.intercept, np.float32 if self.single_precision else np.float64)

    def _pool(self, table: Table, completions: AtomicDensity, size: int, indicator: bool, random) -> np.ndarray:
        """The complete rows that basis functions are picked from: complete ones, or means of completions."""
        complete = np.asarray(~table.missing.any(axis=1))
        if self.method == "complete" and not complete.any():
            raise ValueError(
                "method='complete' needs complete rows to pick basis functions from, but every row of X has a gap. "
                "Use method='auto', which fills gaps by the means of their completions."
            )
        enough = self.method == "complete" or (self.method == "auto" and complete.sum() >= size)
        pool = np.flatnonzero(complete) if enough else np.arange(len(table))
        most = max(MOST_PICKED_FROM, 4 * size)
        if len(pool) > most:
            pool = np.sort(random.choice(pool, most, replace=False))
        picked = table[pool]
        codes = picked.one_hot() if complete[pool].all() else completions.means(picked)
        return picked.with_indicator(codes, indicator)


def _centres(rows: np.ndarray, size: int, random) -> np.ndarray:
    """At most ``size`` centres of clusters of the rows: where the rows are, not where they are odd."""
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= size:
        return distinct
    start = {"n_init": 1, "init": "random", "max_iter": CLUSTER_ITERATIONS}
    with one_openmp_thread():
        return KMeans(size, **start, random_state=random).fit(rows).cluster_centers_


class FeatureMap:
    """phi of complete rows: whitened kernel values with the basis, and a constant 1 for the intercept.

    Parameters
    ----------
    kernel : CompleteKernel
    basis : Basis
    intercept : bool
    dtype : dtype
    """

    def __init__(self, kernel: CompleteKernel, basis: Basis, intercept: bool, dtype):
        self.kernel, self.intercept, self.dtype = kernel, intercept, np.dtype(dtype)
        self.basis, self.whitening = basis, basis.whitening.astype(dtype)
        # an RBF sees differences only, and float32 keeps few digits of values far from 0
        self.origin = basis.rows.mean(axis=0) if kernel.source == "rbf" else np.zeros(basis.rows.shape[1])

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.basis.rows) + self.intercept

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """(n_rows, size)."""
        features = np.ones((len(rows), self.size), self.dtype)
        values = self.kernel((rows - self.origin).astype(self.dtype, copy=False), self.basis.rows - self.origin)
        features[:, : len(self.basis.rows)] = values.astype(self.dtype, copy=False) @ self.whitening
        return features


class FeatureBlocks(Sequence[Block]):
    """Blocks of rows with the features of their completions.

    Parameters
    ----------
    table : Table
        With gaps.
    completions : AtomicDensity
    features : FeatureMap
    indicator : bool
        Whether completions have a further 0/1 column for the gaps of each column.
    keep : bool
        Whether to keep the blocks, if they fit half the memory budget.
    most : int or None
        Most completions of a row: of more, so many are drawn.
    verbose : bool
    """

    def __init__(
        self,
        table: Table,
        completions: AtomicDensity,
        features: FeatureMap,
        *,
        indicator=False,
        keep=True,
        most: int | None = None,
        verbose=False,
    ):
        self.table, self.completions, self.features, self.indicator = table, completions, features, indicator
        self.most = most
        counts, itemsize = completions.counts(table), features.dtype.itemsize
        width = len(completions.columns_) + indicator * table.shape[1]
        widest = max(features.size * itemsize, width * 8)  # bytes of a completion
        self.slices = row_blocks(counts, min(BLOCK_BYTES, get_config().memory_budget) // widest)
        self._kept: list[Block] | None = None
        if keep and 2 * int(counts.sum()) * features.size * itemsize <= get_config().memory_budget:
            blocks = tracked(range(len(self)), len(self), "features", verbose)
            self._kept = [self._compute(b) for b in blocks]

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, b):
        if not 0 <= b < len(self):
            raise IndexError(b)
        return self._kept[b] if self._kept is not None else self._compute(b)

    def _compute(self, b) -> Block:
        table = self.table[self.slices[b]]
        atoms = cast(AtomRows, self.completions.condition(table))
        some = slice(None) if self.most is None else _some(atoms.counts, self.most)
        values = table[atoms.owner[some]].with_indicator(atoms.values[some], self.indicator)
        counts = atoms.counts if self.most is None else np.minimum(atoms.counts, self.most)
        return Block(self.features(values), atoms.log_weight[some], counts)


def _some(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of at most ``most`` completions of each row, drawn from all of them."""
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((np.random.default_rng(0).random(len(owner)), owner))  # the rows stay together
    return np.sort(order[np.arange(len(owner)) - starts_of(counts)[owner] < most])


def complete_kernel(kernel, gamma, X: np.ndarray, weight: np.ndarray) -> CompleteKernel:
    """A kernel on complete vectors from a name or an object, with numbers in place of words such as "scale".

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn kernel or callable
    gamma : float or "scale"
        For names.
    X : ndarray of shape (n_rows, n_columns)
        With gaps; "scale" looks at it.
    weight : ndarray of shape (n_rows,)
    """
    if isinstance(kernel, str):
        if kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            raise ValueError(
                f"kernel must be a name of scikit-learn ({', '.join(sorted(PAIRWISE_KERNEL_FUNCTIONS))}), "
                f"a kernel object or a function of two arrays, got {kernel!r}."
            )
        width = {"gamma": _gamma(gamma, Moments.of(X, weight))}
        return CompleteKernel(kernel, width if "gamma" in KERNEL_PARAMS[kernel] else {})
    if not isinstance(gamma, str) or gamma != "scale":
        raise ValueError("gamma applies to kernels given by name. Set it on the kernel object instead.")
    if isinstance(kernel, Kernel):
        if not kernel.compares("gaussian"):
            raise ValueError(f"{kernel!r} does not compare Gaussian laws, so not complete vectors either. Use 'rbf'.")
        moments = Moments.of(X, weight)
        rows = GaussianRows.certain(np.where(np.isnan(X), moments.mean, X))
        return CompleteKernel(kernel.resolve(moments, rows))
    if isinstance(kernel, ProcessKernel):
        return CompleteKernel(clone(kernel))
    if callable(kernel):
        return CompleteKernel(kernel)
    raise ValueError(f"kernel must be a name, a kernel object or a function of two arrays, got {kernel!r}.")


def _gamma(gamma, moments: Moments) -> float:
    if isinstance(gamma, str) and gamma == "scale":
        return scale_gamma(moments)
    if not POSITIVE.is_satisfied_by(gamma):
        raise ValueError(f"gamma must be a positive number or 'scale', got {gamma!r}.")
    return float(gamma)
