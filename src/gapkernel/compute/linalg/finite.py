"""Numbers that overflowed, or cannot be floats, are refused where they arise."""

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
