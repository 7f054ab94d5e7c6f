"""Removing cells from a complete table, by the three mechanisms of the genRBF paper (section 4.1)."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.linalg import eigh, pinvh
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from gapkernel.missingness.summary import gaps_of
from gapkernel.tables.columns import Columns

MECHANISMS = ("mcar", "mar", "nmar")


def ampute(X, prop, mechanism="mcar", random_state=None):
    """Remove a share of the cells of a table.

    Parameters
    ----------
    X : array or frame of shape (n_samples, n_features)
        "mcar" takes any table; the other two need numbers without gaps.
    prop : float
        Share of the cells to remove, between 0 and 1; for "nmar" of the columns that stay visible.
    mechanism : {"mcar", "mar", "nmar"}, default="mcar"
        "mcar": every cell alike. "mar": a row is drawn for each column, its anchor, and cell (x, i) goes with
        probability exp(-t ||x - anchor_i||), the distance being Mahalanobis'; anchor rows stay whole. "nmar": half of
        the columns, drawn at random, are hidden; the distance is measured in the hidden ones, cells of the visible
        ones go, and **only the visible columns are returned**. t is found such that ``prop`` of the cells are expected
        to go.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : array or frame
        A copy with NaN (None in frames that have no NaN, and in arrays of anything but numbers) in the removed cells;
        integers become floats, and so do masked arrays.

    Notes
    -----
    Each cell goes with its own probability, but the draws are balanced: in a random order of the cells their number is
    the expected one, to within one cell (systematic sampling).

    "mar" is the paper's name. Its rule looks at the whole row, the value that goes included, so the gaps are not
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
    if mechanism not in MECHANISMS:
        raise ValueError(f"mechanism must be one of {MECHANISMS}, got {mechanism!r}.")
    if not isinstance(prop, Real) or not 0 <= float(prop) <= 1:
        raise ValueError(f"prop must be a number between 0 and 1, got {prop!r}.")
    prop = float(prop)
    random = check_random_state(random_state)
    X = _with_room_for_gaps(X)
    if mechanism == "mcar":
        gaps, _ = gaps_of(X)
        return _without(X, _balanced(np.where(gaps, 0.0, prop), random))
    table = _numbers(X, mechanism)
    if mechanism == "mar":
        return _without(X, _balanced(_mar(table, prop, random), random))
    visible, chances = _nmar(table, prop, random)
    holes = np.zeros(table.shape, bool)
    holes[:, visible] = _balanced(chances, random)
    return _columns(_without(X, holes), visible)


def _mar(X: np.ndarray, prop: float, random) -> np.ndarray:
    """Probability of each cell: exp(-t ||x - x_i||_Sigma), anchors 0."""
    n, d = X.shape
    if d > n:
        raise ValueError(f"mechanism='mar' draws one anchor row for each column, but X has {n} rows and {d} columns.")
    anchors = random.choice(n, d, replace=False)
    distances = _mahalanobis(X, anchors)
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
    return visible, _calibrated(_mahalanobis(X[:, hidden], anchors), prop)


def _mahalanobis(X: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """||x - anchor||_Sigma for all rows and anchors, Sigma the sample covariance."""
    scale = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)  # units and constant columns do not matter
    precision = pinvh(np.atleast_2d(np.cov(Z, rowvar=False))) if len(Z) > 1 else np.eye(Z.shape[1])
    values, vectors = eigh(precision)
    Z = Z @ (vectors * np.sqrt(np.maximum(values, 0.0)))  # Sigma^-1 = R R', so the distance is that of R'x
    return cdist(Z, Z[anchors])


def _calibrated(distances: np.ndarray, prop: float) -> np.ndarray:
    """exp(-t distance) with t such that the mean is ``prop``; the mean falls with t."""
    most, least = float(np.mean(np.isfinite(distances))), float(np.mean(distances == 0))
    if prop > most:
        raise ValueError(
            f"prop={prop} is more than this mechanism can remove from this table, {most:.4g}: anchor rows stay whole."
        )
    if prop <= least:
        return np.where(distances == 0, prop / least if least else 0.0, 0.0)

    def excess(log_t: float) -> float:
        return float(np.mean(np.exp(-np.exp(log_t) * distances))) - prop

    low, high = -20.0, 20.0  # of log t, distances being in standard deviations
    if excess(low) <= 0:
        return np.where(np.isfinite(distances), prop / most, 0.0)
    return np.exp(-np.exp(brentq(excess, low, high, xtol=1e-12)) * distances)


def _balanced(chances: np.ndarray, random) -> np.ndarray:
    """Cells drawn with the given probabilities, their number fixed up to rounding: systematic sampling."""
    order = random.permutation(chances.size)
    ends = np.cumsum(chances.ravel()[order])
    if len(ends):
        ends *= np.round(ends[-1], 9) / max(ends[-1], 1e-300)  # a whole number of cells stays one
    start = random.uniform()
    drawn = np.diff(np.floor(ends - start), prepend=np.floor(-start)) > 0  # start + a whole number lies in its stretch
    holes = np.zeros(chances.size, bool)
    holes[order] = drawn
    return holes.reshape(chances.shape)


def _with_room_for_gaps(X):
    """Frames and arrays of numbers as they are; masked arrays and lists of numbers as floats; all else as objects."""
    if np.ma.isMaskedArray(X):
        numeric = X.dtype.kind in "biuf"
        values = X.data.astype(np.float64 if numeric else object)
        values[np.ma.getmaskarray(X)] = np.nan if numeric else None
        return values
    if isinstance(X, list | tuple):
        X = Columns(X).array
        return X.astype(np.float64) if all(cell is None or isinstance(cell, Real) for cell in X.flat) else X
    return X.astype(object) if isinstance(X, np.ndarray) and X.dtype.kind not in "biufO" else X


def _numbers(X, mechanism: str) -> np.ndarray:
    """The table as numbers without gaps; complaints name the column."""
    gaps, names = gaps_of(X)
    if gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise ValueError(
            f"mechanism={mechanism!r} measures distances between complete rows, but column {names[column]!r} has a gap "
            f"in row {row}. Use mechanism='mcar', or leave the column or the row out."
        )
    columns = Columns(X)
    numbers = np.empty(gaps.shape)
    for k, name in enumerate(names):
        try:
            numbers[:, k] = np.array(columns.values(k), dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"mechanism={mechanism!r} measures distances, but column {name!r} does not hold numbers. Encode it, "
                f"use mechanism='mcar', or leave the column out."
            ) from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"Column {names[np.argwhere(~np.isfinite(numbers))[0, 1]]!r} of X contains infinity.")
    return numbers


def _without(X, holes: np.ndarray):
    """A copy of the table with gaps in the holes, in its own form."""
    columns = Columns(X)
    if columns.frame is None:
        values = np.array(columns.array, dtype=None if columns.array.dtype.kind in "fO" else np.float64)
        values[holes] = np.nan if values.dtype.kind == "f" else None
        return values
    native = columns.frame.to_native()
    if hasattr(native, "mask"):
        return native.mask(holes)
    import narwhals as nw

    backend = columns.frame.implementation
    keep = [nw.new_series(f"keep{k}", ~holes[:, k], backend=backend) for k in range(columns.n)]
    return columns.frame.with_columns(
        nw.when(keep[k]).then(nw.col(name)).alias(name) for k, name in enumerate(columns.frame.columns)
    ).to_native()


def _columns(X, places: np.ndarray):
    frame = Columns(X).frame
    return X[:, places] if frame is None else frame[:, places.tolist()].to_native()
