"""Random numbers that belong to a row, not to its place in a batch.

A counter-based generator: the uniform number for (row, seed, chain, sweep, column) is a hash of exactly these.
So a row gets the same draws alone, in any batch, and in any order; two rows with the same values and the same
gaps get the same draws.
"""

from __future__ import annotations

import numpy as np

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
