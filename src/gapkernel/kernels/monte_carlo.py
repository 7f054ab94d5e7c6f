"""Any kernel on complete vectors, averaged over draws where no closed form is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.kernels.base import Kernel
from gapkernel.kernels.on_vectors import CompleteKernel
from gapkernel.rows import ALL_KINDS, AtomRows, Moments, Rows

TILE_BYTES = 2**25
"""Size of the kernel values that are held at a time."""

LAST_SEED = 2**32 - 1


@dataclass(eq=False, repr=False)
class MonteCarlo(Kernel):
    """The mean of a kernel over draws from the laws of both rows, which may be of any kind.

    Every row with gaps is replaced by ``n_draws`` completions, and the completions of one row are compared with all
    completions of the other. This is the exact kernel between the laws of the completions, so the matrices are positive
    semi-definite whenever the base kernel is; as an estimate of the expected kernel its error falls as 1 / n_draws or
    a little slower, since the draws are quasi-random.

    Parameters
    ----------
    base : str or callable, default="rbf"
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, or k(X, Y) of two arrays of complete rows,
        (n, d) and (m, d), giving (n, m); the kernels of `sklearn.gaussian_process` are such callables.
    base_params : dict, default=None
        Parameters of a base kernel given by name, such as ``{"gamma": 0.1}``.
    n_draws : int, default=64
        Completions of a row with gaps; a power of two suits the quasi-random points best. Two rows cost the square of
        it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws. They depend on it and on the row alone, never on the other rows of a batch. Anything but a
        number becomes one in `resolve`, which estimators call in ``fit``.

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
    >>> laplacian = MonteCarlo("laplacian", base_params={"gamma": 0.5}, n_draws=1024, random_state=0)
    >>> laplacian.gram(rows).round(3)
    array([[1.   , 0.371],
           [0.371, 1.   ]])
    """

    base: Any = "rbf"
    base_params: dict | None = None
    n_draws: int = 64
    random_state: Any = None

    kinds = ALL_KINDS
    _parameter_constraints: ClassVar[dict] = {
        "base": [StrOptions(set(PAIRWISE_KERNEL_FUNCTIONS)), callable],
        "base_params": [None, dict],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "random_state": [Interval(Integral, 0, LAST_SEED, closed="both"), "random_state"],
    }

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        if not isinstance(self.random_state, Integral):
            self.random_state = int(check_random_state(self.random_state).randint(LAST_SEED))

    def _looked_at(self, rows: Rows) -> Rows:
        if self.base_params and not isinstance(self.base, str):
            raise ValueError("base_params are for a base kernel given by name; a callable has its own.")
        return super()._looked_at(rows)

    def _diag(self, rows: Rows) -> np.ndarray:
        kernel, mean = self._on_vectors(), np.empty(len(rows))
        for tile, atoms in self._atoms(rows):
            mean[tile] = np.add.reduceat(atoms.weight * kernel.diag(atoms.values), atoms.starts[:-1])
        return mean

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        kernel, mean = self._on_vectors(), np.empty((len(left), len(right)))
        others = list(self._atoms(right))
        for i, here in self._atoms(left):
            for j, there in others:
                mean[i, j] = _mean_over_atoms(kernel(here.values, there.values), here, there)
        return mean

    def _atoms(self, rows: Rows) -> Iterator[tuple[slice, AtomRows]]:
        """The completions of all rows, some rows at a time."""
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r} is not a seed: give random_state a number, or call resolve first."
            )
        if isinstance(self.base, str):
            _ = rows.means  # refuses categories, whose codes are not numbers
        tile = max(1, int(np.sqrt(TILE_BYTES / 8)) // self.n_draws)
        for begin in range(0, len(rows), tile):
            some = slice(begin, begin + tile)
            yield some, rows.take(some).atoms(self.n_draws, "sobol", int(self.random_state))  # type: ignore[misc]

    def _on_vectors(self) -> CompleteKernel:
        """The base kernel."""
        return CompleteKernel(self.base, self.base_params or {}, "base")


def _mean_over_atoms(values: np.ndarray, left: AtomRows, right: AtomRows) -> np.ndarray:
    sums = np.add.reduceat(left.weight[:, None] * values, left.starts[:-1], axis=0)
    return np.add.reduceat(sums * right.weight, right.starts[:-1], axis=1)
