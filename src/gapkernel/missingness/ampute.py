"""Removing cells from a complete table, by the three mechanisms of the genRBF paper (section 4.1)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.linalg import eigh, pinvh
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from gapkernel.compute.standardise import standard_of
from gapkernel.tables import floats_of, gaps_of, labels_of, take_columns, with_gaps


@validate_params(
    {
        "prop": [Interval(Real, 0, 1, closed="both")],
        "mechanism": [StrOptions({"mcar", "mar", "nmar"})],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def ampute(X, prop, mechanism="mcar", random_state=None) -> Any:
    """Remove a share of the cells of a table.

    Parameters
    ----------
    X : array or frame of shape (n_samples, n_features)
        "mcar" takes any table; the other two need numbers without gaps.
    prop : float
        Share of the cells to remove, between 0 and 1; for "nmar" of the columns that stay visible.
    mechanism : {"mcar", "mar", "nmar"}, default="mcar"
        "mcar": every cell with the same probability. "mar": a row is drawn for each column, its anchor, and cell (x, i)
        is removed with probability exp(-t ||x - anchor_i||), in Mahalanobis' distance; anchor rows stay complete.
        "nmar": half of the columns, drawn at random, are hidden; the distance is measured in the hidden ones, cells of
        the visible ones are removed, and **only the visible columns are returned**. t is chosen so that the expected
        share of removed cells is ``prop``.
    random_state : int, RandomState or None, default=None
        Seed of the cells that are removed.

    Returns
    -------
    X : array or frame
        A copy with NaN (None in frames that have no NaN, and in arrays of anything but numbers) in the removed cells;
        integers become floats, and so do masked arrays.

    Notes
    -----
    Each cell is removed with its own probability, but the draws are balanced: in a random order of the cells their
    number is the expected one, to within one cell (systematic sampling).

    "mar" is the paper's name. Its rule looks at the whole row, including the removed value, so the gaps are not
    missing at random in the strict sense.

    References
    ----------
    M. Smieja, L. Struski, J. Tabor. Generalized RBF kernel for incomplete data.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import ampute
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> float(np.isnan(ampute(X, 0.3, random_state=0)).mean())
    0.3
    >>> ampute(X, 0.3, "nmar", random_state=0).shape
    (50, 2)
    """
    random = check_random_state(random_state)
    if mechanism == "mcar":
        return with_gaps(X, balanced_draws(np.where(gaps_of(X), 0.0, float(prop)), random))
    table = _complete_numbers(X, mechanism)
    if mechanism == "mar":
        return with_gaps(X, balanced_draws(_mar(table, float(prop), random), random))
    visible, chances = _nmar(table, float(prop), random)
    holes = np.zeros(table.shape, bool)
    holes[:, visible] = balanced_draws(chances, random)
    return take_columns(with_gaps(X, holes), visible)


def _mar(X: np.ndarray, prop: float, random) -> np.ndarray:
    """Probability of each cell: exp(-t ||x - x_i||_Sigma), anchors 0."""
    n, d = X.shape
    if d > n:
        raise ValueError(f"mechanism='mar' draws one anchor row for each column, but X has {n} rows and {d} columns.")
    anchors = random.choice(n, d, replace=False)
    distances = mahalanobis(X, anchors)
    distances[anchors] = np.inf
    return _calibrated(distances, prop)


def _nmar(X: np.ndarray, prop: float, random) -> tuple[np.ndarray, np.ndarray]:
    """The visible columns, and the probability of each of their cells, by distances in the hidden ones."""
    n, d = X.shape
    if d < 2:
        raise ValueError("mechanism='nmar' hides half of the columns, so X needs at least two.")
    order = random.permutation(d)
    visible, hidden = np.sort(order[: (d + 1) // 2]), np.sort(order[(d + 1) // 2 :])
    anchors = random.choice(n, len(visible), replace=len(visible) > n)
    return visible, _calibrated(mahalanobis(X[:, hidden], anchors), prop)


def mahalanobis(X: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """||x - anchor||_Sigma for all rows and anchors, Sigma the sample covariance."""
    standard = standard_of(X)
    Z = (X - standard.location) / standard.scale
    precision = pinvh(np.atleast_2d(np.cov(Z, rowvar=False))) if len(Z) > 1 else np.eye(Z.shape[1])
    values, vectors = eigh(precision)
    Z = Z @ (vectors * np.sqrt(np.maximum(values, 0.0)))  # Sigma^-1 = R R', so the distance is that of R'x
    return cdist(Z, Z[anchors])


def _calibrated(distances: np.ndarray, prop: float) -> np.ndarray:
    """exp(-t distance) with t such that the mean is ``prop``; the mean falls with t."""
    most, least = float(np.mean(np.isfinite(distances))), float(np.mean(distances == 0))
    if prop > most:
        raise ValueError(
            f"prop={prop} is more than this mechanism can remove from this table, {most:.4g}, because anchor rows "
            f"stay complete. Lower prop."
        )
    if prop <= least:
        return np.where(distances == 0, prop / least if least else 0.0, 0.0)

    def excess(log_t: float) -> float:
        return float(np.mean(np.exp(-np.exp(log_t) * distances))) - prop

    low, high = -20.0, 20.0  # of log t, distances being in standard deviations
    if excess(low) <= 0:
        return np.where(np.isfinite(distances), prop / most, 0.0)
    return np.exp(-np.exp(brentq(excess, low, high, xtol=1e-12)) * distances)


def balanced_draws(chances: np.ndarray, random) -> np.ndarray:
    """Cells drawn with the given probabilities, their number fixed up to rounding: systematic sampling."""
    order = random.permutation(chances.size)
    ends = np.cumsum(chances.ravel()[order])
    if len(ends):
        ends *= np.round(ends[-1], 9) / max(ends[-1], 1e-300)  # rounding does not add or lose a cell
    start = random.uniform()
    holes = np.zeros(chances.size, bool)  # a cell is drawn if start + a whole number falls in its interval
    holes[order] = np.diff(np.floor(ends - start), prepend=np.floor(-start)) > 0
    return holes.reshape(chances.shape)


def _complete_numbers(X, mechanism: str) -> np.ndarray:
    """The table as numbers without gaps; error messages name the column."""
    gaps = gaps_of(X)
    if gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise ValueError(
            f"mechanism={mechanism!r} measures distances between complete rows, but column {labels_of(X)[column]!r} "
            f"has a gap in row {row}. Use mechanism='mcar', or leave the column or the row out."
        )
    try:
        return floats_of(X)
    except ValueError as error:
        raise ValueError(f"mechanism={mechanism!r} measures distances between rows of numbers. {error}") from None
