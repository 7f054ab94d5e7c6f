"""The expected RBF kernel for laws of few factors: no matrix of the size of the gaps.

Row i is m_i + P_i (F z_i + noise), with z_i of precision G_i and P_i the mask of its gaps M_i; psi is the variance of
the noise. For two rows, Lambda = 1 + 2 gamma psi (1_i + 1_j) is diagonal, and Woodbury's identity leaves a system in
the two rows' factors only:

    X = [ G_i + 2 gamma W_ii      2 gamma W_ij     ]     W_ij = sum of F_l F_l' / Lambda_l over l in M_i and M_j
        [    2 gamma W_ij     G_j + 2 gamma W_jj   ]     W_ii the same over l in M_i
    log |I + 2 gamma S| = sum of log Lambda_l + log |X| - log |G_i| - log |G_j|
    delta' (I + 2 gamma S)^-1 delta = sum of delta_l^2 / Lambda_l - 2 gamma r' X^-1 r
    r = (r_i, -r_j),   r_i = sum of F_l delta_l / Lambda_l over l in M_i

With w1 = 1 / (1 + 2 gamma psi) and w2 = 1 / (1 + 4 gamma psi), everything but the columns missing in both rows is
known row by row; those are added up from a table with one line for each column. F is taken times the root of 2 gamma:
r'X^-1 r then neither overflows nor vanishes, whatever the units of the columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gapkernel.compute.doors import check_array, check_numbers, check_places
from gapkernel.compute.linalg.covariance_blocks import weighted_products
from gapkernel.compute.linalg.vectors import WIDTH, aligned_zeros
from gapkernel.compute.pairs.factor_pairs import SLOTS, STRETCH, factor_tile, row_starts
from gapkernel.compute.pairs.side import pack_words
from gapkernel.compute.pairs.tile_engine import TILE, ExpectedRBFEngine


class FactorSide(NamedTuple):
    """One side of a kernel block, for one gamma."""

    means: np.ndarray  # (n / WIDTH, d, WIDTH) conditional means in groups of rows, as a line
    weights: np.ndarray  # (n / WIDTH, d, WIDTH) 1 / Lambda at a gap of the other row, as a line
    certain_weights: np.ndarray  # (n / WIDTH, d, WIDTH) 1 / Lambda where the other row is certain, as a line
    points: np.ndarray  # (n, d) the conditional means, row by row
    pattern: np.ndarray  # (n,) law of each row
    words: np.ndarray  # (p, w) the gap set of each law, packed
    n_gaps: np.ndarray  # (p,)
    columns: np.ndarray  # (p, d) the columns of each law, gaps first
    system: np.ndarray  # (p, k (k + 1) / 2) upper triangle of G + 2 gamma W, as if no gap were shared
    log_det: np.ndarray  # (p,) sum of log (1 + 2 gamma psi) over the gaps, less log |G|


class Shares(NamedTuple):
    """What each column adds, for one gamma."""

    n_factors: int  # k
    n_numbers: int  # k (k + 1) + 1 and more
    systems: np.ndarray  # (d, n_numbers) if missing in both rows: to the blocks ij and ii of X, to log det; as a line
    n_slots: int  # k + 1 and more
    loadings: np.ndarray  # (d, n_slots) F in units of the kernel, times the root of 2 gamma, as a line


class FactorEngine(ExpectedRBFEngine):
    """`ExpectedRBFEngine` for two batches of `FactorRows` with the same factors."""

    def __init__(self, left: Any, right: Any, gamma: float, scale_left: np.ndarray, scale_right: np.ndarray) -> None:
        self.shape = left.loadings.shape
        self.shares = _shares(left.loadings, left.noise, float(gamma))
        self.starts = row_starts(2 * self.shares.n_factors)
        super().__init__(left, right, gamma, scale_left, scale_right)

    def _laid_out(self, rows, centre):
        return _lay_out(rows, self.shape, self.gamma), np.arange(len(rows)), 0

    def _scattered_tile(self, i0, i1, j0, j1, half, squared, log_det):
        squared[:], log_det[:], tile = 0.0, 0.0, (i0, i1, j0, j1)
        factor_tile(self.left, self.right, self.shares, self.starts, *tile, half, self._scratch(), squared, log_det)

    def _new_scratch(self) -> np.ndarray:
        return aligned_zeros((2, TILE**2 * self.shares.n_slots))


def factor_log_det(rows, gamma) -> np.ndarray:
    """log |I + 2 gamma Sigma_i| for each row."""
    inflated = 1.0 + 2.0 * gamma * rows.noise
    systems = rows.precision + weighted_products(rows.gaps / inflated, np.sqrt(2.0 * gamma) * rows.loadings)
    log_det = np.linalg.slogdet(systems)[1] - np.linalg.slogdet(rows.precision)[1]
    return (rows.gaps @ np.log(inflated) + log_det)[rows.pattern]


def _lay_out(rows, shape, gamma) -> FactorSide:
    """One side for the compiled loops; ``shape`` is that of the loadings that both sides share."""
    n_columns, n_factors = shape
    check_array("The gaps of the patterns", rows.gaps, np.bool_, len(rows.gaps), n_columns)
    check_places("The patterns of the rows", rows.pattern, len(rows.gaps), len(rows.means))
    check_numbers("A mean", rows.means, len(rows.means), n_columns)
    check_numbers("A precision", rows.precision, len(rows.gaps), n_factors, n_factors)
    check_numbers("A loading", rows.loadings, n_columns, n_factors)
    check_numbers("A variance", rows.noise, n_columns)
    w1, w2 = _weights(rows.noise, gamma)
    upper = np.triu_indices(rows.loadings.shape[1])
    systems = rows.precision + weighted_products(rows.gaps * w1, np.sqrt(2.0 * gamma) * rows.loadings)
    return FactorSide(
        means=_groups(rows.means),
        weights=_groups(np.where(rows.gaps[rows.pattern], w2, w1)),
        certain_weights=_groups(np.where(rows.gaps[rows.pattern], w1, 1.0)),
        points=np.ascontiguousarray(rows.means),
        pattern=np.ascontiguousarray(rows.pattern),
        words=pack_words(rows.gaps),
        n_gaps=rows.gaps.sum(axis=1),
        columns=np.argsort(~rows.gaps, axis=1, kind="stable"),
        system=np.ascontiguousarray(systems[:, upper[0], upper[1]]),
        log_det=-(rows.gaps @ np.log(w1)) - np.linalg.slogdet(rows.precision)[1],
    )


def _weights(noise, gamma) -> tuple[np.ndarray, np.ndarray]:
    """1 / Lambda for a gap in one row, and in both."""
    return 1.0 / (1.0 + 2.0 * gamma * noise), 1.0 / (1.0 + 4.0 * gamma * noise)


def _shares(loadings, noise, gamma) -> Shares:
    w1, w2 = _weights(noise, gamma)
    upper = np.triu_indices(loadings.shape[1])
    loadings = np.sqrt(2.0 * gamma) * loadings
    outer = loadings[:, upper[0]] * loadings[:, upper[1]]
    parts = np.column_stack([w2[:, None] * outer, -(w1 - w2)[:, None] * outer, 2.0 * np.log(w1) - np.log(w2)])
    systems, factors = _fill_up(parts, STRETCH), _fill_up(np.column_stack([loadings, np.zeros(len(noise))]), SLOTS)
    sizes = loadings.shape[1], systems.shape[1], factors.shape[1]
    return Shares(sizes[0], sizes[1], systems.ravel(), sizes[2], factors.ravel())


def _groups(table) -> np.ndarray:
    """The rows of ``table`` in groups of lanes, the last one filled up, each group column by column; as a line."""
    n_rows, d = table.shape
    whole = n_rows - n_rows % WIDTH
    line = aligned_zeros(-(-n_rows // WIDTH) * WIDTH * d)
    groups = line.reshape(-1, d, WIDTH)
    groups[: whole // WIDTH] = table[:whole].reshape(-1, WIDTH, d).swapaxes(1, 2)
    if whole < n_rows:
        groups[-1, :, : n_rows - whole] = table[whole:].T
    return line


def _fill_up(table, multiple) -> np.ndarray:
    """``table`` in doubles, with columns of zeros up to a multiple: whole vectors only, no remainder to loop over."""
    filled = aligned_zeros((len(table), -(-table.shape[1] // multiple) * multiple))
    filled[:, : table.shape[1]] = table
    return filled
