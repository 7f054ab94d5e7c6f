"""Random numbers that belong to a row, not to its place in a batch.

A counter-based generator: the uniform number for (row, seed, chain, sweep, column) is a hash of exactly these.
So a row gets the same draws alone, in any batch, and in any order; two rows with the same values and the same
gaps get the same draws.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from gapkernel.compute.linalg.covariance_blocks import spectrum

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MASK = (1 << 64) - 1


def row_keys(X: np.ndarray) -> np.ndarray:
    """A 64-bit key for each row, from its values and the places of its gaps."""
    values = np.where(np.isnan(X), np.nan, X + 0.0)  # one NaN for all NaNs, and no negative zero
    bits = np.ascontiguousarray(values).view(np.uint64)
    keys = np.full(len(X), 0x243F6A8885A308D3, np.uint64)
    for column in bits.T:
        keys = _mix((keys ^ column) + _WEYL)
    return keys


def uniforms(keys: np.ndarray, *stream: int) -> np.ndarray:
    """One number in (0, 1) for each key, from the stream named by the integers ``stream``."""
    return uniform_table(keys, 1, *stream)[:, 0]


def uniform_table(keys: np.ndarray, n_numbers: int, *stream: int) -> np.ndarray:
    """``n_numbers`` numbers in (0, 1) for each key, (n_keys, n_numbers), from one stream."""
    return in_unit_interval(bit_table(keys, n_numbers, *stream))


def bit_table(keys: np.ndarray, n_numbers: int, *stream: int) -> np.ndarray:
    """As `uniform_table`, but the 64 bits behind the numbers: the SplitMix64 sequence that starts at each key."""
    starts = _mix(keys ^ _name(stream))
    return _mix(starts[:, None] + np.arange(1, n_numbers + 1, dtype=np.uint64) * _WEYL)


def in_unit_interval(bits: np.ndarray) -> np.ndarray:
    """The highest 53 of 64 bits as a number in (0, 1)."""
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _name(stream: tuple[int, ...]) -> np.uint64:
    """One number for the integers that name a stream."""
    name = 0
    for part in stream:
        name = int(_mix(np.array([(name ^ part) & _MASK], np.uint64) + _WEYL)[0])
    return np.uint64(name)


def _mix(z: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class RowPoints:
    """Points in the unit cube for each row, from its values: random ones, or a Sobol net.

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
