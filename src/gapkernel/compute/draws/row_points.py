"""Points in the unit cube that belong to a row, not to its place in a batch."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from gapkernel.compute.draws.streams import bit_table, in_unit_interval, uniform_table
from gapkernel.compute.linalg.blocks import spectrum


class RowPoints:
    """Points in the unit cube for each row, found from its values: random ones, or a Sobol net.

    Each row has the net under a digital shift of its own, which keeps it a net and makes errors of rows independent.

    Parameters
    ----------
    method : {"sobol", "random"}
    n_points : int
    n_dimensions : int
        The largest number of coordinates that a row may need.
    seed : int
    """

    def __init__(self, method: str, n_points: int, n_dimensions: int, seed: int):
        self.n_points, self.seed, self.net = n_points, seed, None
        if method == "sobol":
            sobol = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng(seed))
            net = sobol.random_base2(int(np.ceil(np.log2(n_points))))[:n_points]
            self.net = (net * 2.0**32).astype(np.uint64) << np.uint64(32)

    def __call__(self, keys: np.ndarray, n_dimensions: int) -> np.ndarray:
        """(n_rows, n_points, n_dimensions)."""
        if self.net is None:
            flat = uniform_table(keys, self.n_points * n_dimensions, self.seed)
            return flat.reshape(len(keys), self.n_points, n_dimensions)
        shift = bit_table(keys, n_dimensions, self.seed)
        return in_unit_interval(self.net[None, :, :n_dimensions] ^ shift[:, None, :])


def normal_draws(points: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Points of the unit cube, in the last axis, as draws from a normal law of mean 0.

    The first coordinates go to the directions of largest variance, where a Sobol net is at its best; directions without
    variance are left alone.
    """
    variances, directions = spectrum(covariance)
    root = (directions * np.sqrt(variances))[:, ::-1]
    return ndtri(points) @ root.T
