"""Pairs of low-rank matrices as frames: what two of them make of the identity, in systems of their ranks.

With frames Y_q and Y_r, one direction in each row, and C = Y_q Y_r', a matrix with the blocks I, C, C' and I has the
determinant |I - C'C|, and its inverse between vectors (v, -u) is v'v + (u + C'v)'(I - C'C)^-1 (u + C'v).
"""

from typing import NamedTuple

import numpy as np

from gapkernel.compute.compiled import inner
from gapkernel.compute.linalg.elimination import add_solved

WIDEST = 1e4
"""Largest 1 + 4 gamma variance of a law for which frames are used: they lose digits in proportion to it."""


class Frames(NamedTuple):
    """The frames Y_q of all patterns, one below another."""

    start: np.ndarray  # where each begins; one entry more than there are patterns
    rows: np.ndarray  # (start[-1], p)
    log_det: np.ndarray  # of each pattern


@inner()
def add_frames(cross, system, v, u, size_q, size, value):
    """Add v'v + (u + C'v)'(I - C'C)^-1 (u + C'v) to ``value``; ``u`` is overwritten."""
    lanes = value.shape[0]
    for a in range(size_q):
        for lane in range(lanes):
            value[lane] += v[a, lane] * v[a, lane]
        for b in range(size):
            for lane in range(lanes):
                u[b, lane] += cross[a, b, lane] * v[a, lane]
    add_solved(system, u, size, value)


@inner()
def load_frames(across, pattern, start, j0, used, size, cross, system):
    """C and the upper triangle of I - C'C for rows j0, j0 + 1, ... in their lanes; no frame is I, as are lanes left."""
    lanes, size_q = cross.shape[2], across.shape[0]
    at, sizes = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    for lane in range(used):
        at[lane] = start[pattern[j0 + lane]]
        sizes[lane] = start[pattern[j0 + lane] + 1] - at[lane]
    for a in range(size_q):
        for b in range(size):
            for lane in range(lanes):
                cross[a, b, lane] = across[a, at[lane] + b] if b < sizes[lane] else 0.0
    for b in range(size):
        for other in range(b, size):
            for lane in range(lanes):
                system[b, other, lane] = 1.0 if b == other else 0.0
            rest = size_q % 4
            for a in range(rest):
                for lane in range(lanes):
                    system[b, other, lane] -= cross[a, b, lane] * cross[a, other, lane]
            for a in range(rest, size_q, 4):  # four at a time: the system is loaded and stored less often
                for lane in range(lanes):
                    system[b, other, lane] -= (
                        cross[a, b, lane] * cross[a, other, lane]
                        + cross[a + 1, b, lane] * cross[a + 1, other, lane]
                        + cross[a + 2, b, lane] * cross[a + 2, other, lane]
                        + cross[a + 3, b, lane] * cross[a + 3, other, lane]
                    )
