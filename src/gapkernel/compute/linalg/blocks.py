"""Covariance blocks of many laws, kept one after another in a flat array."""

from numba import njit


@njit(cache=True, nogil=True)
def scale_blocks(covariance, gap_start, gaps, factors):
    """Multiply entry (r, s) of every block by the factors of its two columns, in place."""
    at = 0
    for p in range(gap_start.shape[0] - 1):
        for r in range(gap_start[p], gap_start[p + 1]):
            for s in range(gap_start[p], gap_start[p + 1]):
                covariance[at] *= factors[gaps[r]] * factors[gaps[s]]
                at += 1
