"""Any kernel on complete vectors, averaged over draws where no closed form is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from gapkernel.compute.draws.row_points import RowPoints, normal_draws
from gapkernel.compute.draws.streams import row_keys
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.on_vectors import matrix_of
from gapkernel.rows import GaussianRows

TILE_BYTES = 2**25
"""Size of the kernel values that are held at a time."""

SEED_RANGE = 2**32


class MonteCarlo(Kernel):
    """The mean of a kernel over draws from the laws of both rows.

    Every row with gaps is replaced by ``n_draws`` completions, and the completions of one row are compared with all
    completions of the other. This is the exact kernel between the laws of the completions, so the matrices are positive
    semi-definite whenever the base kernel is; as an estimate of the expected kernel its error falls as 1 / n_draws or
    a little slower, since the draws are quasi-random.

    Parameters
    ----------
    base : str or callable, default="rbf"
        A name that `sklearn.metrics.pairwise.pairwise_kernels` knows, or k(X, Y) of two arrays of complete rows,
        (n, d) and (m, d), giving (n, m); the kernels of `sklearn.gaussian_process` are such callables.
    base_params : dict, default=None
        Parameters of a base kernel given by name, such as ``{"gamma": 0.1}``.
    n_draws : int, default=64
        Completions of a row with gaps; a power of two suits the quasi-random points best. Two rows cost the square of
        it.
    random_state : int, default=0
        Seed of the draws. They depend on it and on the row alone, never on the other rows of a batch.

    Notes
    -----
    Two equal rows get equal completions, so their value in `cross` is too large by a share of 1 / n_draws of what
    separates it from the diagonal of `gram`.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import MonteCarlo
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[0.0, np.nan], [1.0, 1.0]])
    >>> laplacian = MonteCarlo("laplacian", base_params={"gamma": 0.5}, n_draws=1024)
    >>> laplacian.gram(rows).round(3)
    array([[1.   , 0.371],
           [0.371, 1.   ]])
    """

    def __init__(self, base="rbf", base_params=None, n_draws=64, random_state=0):
        self.base = base
        self.base_params = base_params
        self.n_draws = n_draws
        self.random_state = random_state

    def resolve(self, density, rows: GaussianRows) -> MonteCarlo:
        self._check_parameters()
        return super().resolve(density, rows)

    def diag(self, rows: GaussianRows) -> np.ndarray:
        return self._same_draw(rows)[0]

    def _cross(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        return self._moments(left, right, squared=False)[0]

    def _variance(self, left: GaussianRows, right: GaussianRows) -> np.ndarray:
        mean, square = self._moments(left, right, squared=True)
        return np.maximum(square - mean**2, 0.0)

    def _gram_variance(self, rows: GaussianRows) -> np.ndarray:
        variance = self._variance(rows, rows)
        mean, square = self._same_draw(rows)
        np.fill_diagonal(variance, np.maximum(square - mean**2, 0.0))
        return variance

    def _moments(self, left: GaussianRows, right: GaussianRows, squared: bool) -> tuple[np.ndarray, np.ndarray]:
        """Mean and, if asked for, mean square of the base kernel over all pairs of completions."""
        self._check_parameters()
        mean = np.empty((len(left), len(right)))
        square = np.empty_like(mean) if squared else mean
        tile = max(1, int(np.sqrt(TILE_BYTES / 8)) // self.n_draws)
        others = list(self._completions(right, tile))
        for here in self._completions(left, tile):
            for there in others:
                values = self._base(here.values, there.values)
                place = slice(*here.rows), slice(*there.rows)
                mean[place] = _mean_over_completions(values, here.starts, there.starts)
                if squared:
                    square[place] = _mean_over_completions(values**2, here.starts, there.starts)
        return mean, square

    def _same_draw(self, rows: GaussianRows) -> tuple[np.ndarray, np.ndarray]:
        """Mean and mean square of k(x, x) over the completions of each row."""
        self._check_parameters()
        mean, square = np.empty(len(rows)), np.empty(len(rows))
        for i, completed in enumerate(self._completions(rows, 1)):
            values = self._base(completed.values, completed.values).diagonal()
            mean[i], square[i] = values.mean(), np.mean(values**2)
        return mean, square

    def _completions(self, rows: GaussianRows, tile: int) -> Iterator[_Completions]:
        """The completions of all rows, some rows at a time."""
        points = RowPoints("sobol", self.n_draws, rows.n_features, self.random_state)
        for begin in range(0, len(rows), tile):
            some = rows.take(slice(begin, begin + tile))
            starts = np.concatenate([[0], np.cumsum(np.where(some.complete, 1, self.n_draws))])
            values = np.repeat(some.means, np.diff(starts), axis=0)
            keys = row_keys(some.means)
            for members, columns, covariance in some.by_pattern():
                if len(columns):
                    places = np.add.outer(starts[members], np.arange(self.n_draws))[:, :, None]
                    values[places, columns] += normal_draws(points(keys[members], len(columns)), covariance)
            yield _Completions((begin, begin + len(some)), values, starts)

    def _base(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        if isinstance(self.base, str):
            return pairwise_kernels(left, right, metric=self.base, **(self.base_params or {}))
        return matrix_of(self.base, left, right, "base")

    def _check_parameters(self) -> None:
        known = self.base in PAIRWISE_KERNEL_FUNCTIONS if isinstance(self.base, str) else callable(self.base)
        if not known:
            raise ValueError(f"base must be callable or one of {sorted(PAIRWISE_KERNEL_FUNCTIONS)}, got {self.base!r}.")
        if self.base_params and not isinstance(self.base, str):
            raise ValueError("base_params are for a base kernel given by name; a callable has its own.")
        if not isinstance(self.n_draws, int | np.integer) or self.n_draws < 1:
            raise ValueError(f"n_draws must be a whole number from 1 up, got {self.n_draws!r}.")
        if not isinstance(self.random_state, int | np.integer) or not 0 <= self.random_state < SEED_RANGE:
            raise ValueError(
                f"random_state must be a whole number from 0 to {SEED_RANGE - 1}, so that a row has the same draws "
                f"at each call, got {self.random_state!r}."
            )


class _Completions(NamedTuple):
    """Completions of the rows from ``rows[0]`` to ``rows[1]``, those of one row after those of another."""

    rows: tuple[int, int]
    values: np.ndarray
    starts: np.ndarray


def _mean_over_completions(values: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    sums = np.add.reduceat(np.add.reduceat(values, left[:-1], axis=0), right[:-1], axis=1)
    return sums / np.outer(np.diff(left), np.diff(right))
