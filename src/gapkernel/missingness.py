"""What a table's gaps look like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array


@dataclass(frozen=True)
class Pairs:
    """How many rows observe or miss two columns; entry (j, k) is about column j, then column k.

    Attributes
    ----------
    rr, rm, mr, mm : ndarray of shape (n_features, n_features)
        r is observed (a response), m is missing: ``mr[j, k]`` rows miss column j and have column k.
    """

    rr: np.ndarray
    rm: np.ndarray
    mr: np.ndarray
    mm: np.ndarray


def pairs(X) -> Pairs:
    """Count the rows that observe or miss each pair of columns.

    The same as ``md.pairs`` of the R package mice.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN marks a gap.

    Returns
    -------
    pairs : Pairs
        The four counts of a pair add up to the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.missingness import pairs
    >>> pairs([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]]).mr
    array([[0, 0],
           [1, 0]])
    """
    X = check_array(X, dtype=np.float64, ensure_all_finite=False)
    missing = np.isnan(X).astype(np.int64)
    observed = 1 - missing
    return Pairs(observed.T @ observed, observed.T @ missing, missing.T @ observed, missing.T @ missing)
