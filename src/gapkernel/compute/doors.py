"""Checks at the doors of compiled loops, which look at no bounds themselves.

A function that hands arrays to a compiled loop checks them first, once a call. So no loop reads or writes beyond its
arrays, whoever calls it and whatever a file held. Numbers that overflowed, or cannot be floats, are refused where they
arise.
"""

from __future__ import annotations

import numpy as np


def as_floats(values, what: str) -> np.ndarray:
    """``values`` in double precision; ``what`` names them in the error about a whole number beyond it."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{what} holds a whole number that is too large for a float.") from None


def check_finite(values: np.ndarray, what: str) -> np.ndarray:
    """``values``, if all of them are finite."""
    with np.errstate(all="ignore"):
        flat = values.ravel(order="K")  # a view of a matrix in either order
        total = np.einsum("i->", flat)  # half the time of ``sum``, no memory; it may overflow where no value does
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError(f"{what} overflows for these rows: rescale the columns, or choose other settings.")
    return values


def check_array(what: str, array: np.ndarray, dtype: type, *shape: int) -> None:
    """Refuse all but an array of this type and shape."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        got = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        wanted = f"{np.dtype(dtype)} {tuple(map(int, shape))}"
        raise ValueError(f"{what} must be an array of {wanted}, got {got}.")


def check_numbers(what: str, array: np.ndarray, *shape: int) -> None:
    """Refuse all but an array of finite doubles of this shape."""
    check_array(what, array, np.float64, *shape)
    check_finite(array, what)


def check_places(what: str, places: np.ndarray, n_places: int, *shape: int) -> None:
    """Refuse all but an array of whole numbers from 0 to ``n_places - 1``."""
    check_array(what, places, np.intp, *shape)
    if places.size and not (places.min() >= 0 and places.max() < n_places):
        raise ValueError(f"{what} must lie between 0 and {n_places - 1}.")


def check_counts(what: str, counts: np.ndarray, total: int) -> None:
    """Refuse all but whole numbers from 0 up that add up to ``total``."""
    check_places(what, counts, total + 1, *np.shape(counts)[:1])  # none is so large that the sum wraps around
    if counts.sum() != total:
        raise ValueError(f"{what} must add up to {total}, got {counts.sum()}.")
