"""A synthetic problem in the shape of the microbial source tracking data, which two of the papers use."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from gapkernel.missingness import ampute
from gapkernel.tables.user_tables import pandas_files

SOURCES = ("human", "cow", "poultry", "swine")
SOURCE_COUNTS = (50, 25, 33, 30)
MARKER_CHANCES = np.array([
    [0.92, 0.10, 0.08, 0.15],
    [0.85, 0.20, 0.15, 0.10],
    [0.75, 0.30, 0.35, 0.30],
    [0.10, 0.72, 0.12, 0.15],
    [0.20, 0.65, 0.25, 0.40],
    [0.08, 0.12, 0.75, 0.10],
    [0.30, 0.25, 0.68, 0.25],
    [0.12, 0.20, 0.10, 0.80],
    [0.35, 0.45, 0.30, 0.70],
])  # fmt: skip
"""How often each of nine markers is found in each of the four sources; invented, the first three being human."""


def make_source_tracking(random_state=None, gap_fraction=212 / 1242) -> tuple:
    """A simulated source-tracking problem of the shape of the microbiology paper's private data.

    138 samples, nine markers that are present or absent, four sources, 17 % of the cells missing at random. How often a
    marker is found in a source is invented; only the shape is the paper's.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the rows and of their gaps.
    gap_fraction : float, default=212/1242
        Share of the cells that are missing.

    Returns
    -------
    X : DataFrame of shape (138, 9)
        0.0 or 1.0, NaN in the gaps.
    y : ndarray of shape (138,)
        "human", "cow", "poultry" or "swine".

    Examples
    --------
    >>> from gapkernel.datasets import make_source_tracking
    >>> X, y = make_source_tracking(random_state=0)
    >>> X.shape, int(X.isna().to_numpy().sum())
    ((138, 9), 212)
    """
    files = pandas_files()
    random = check_random_state(random_state)
    source = np.repeat(np.arange(len(SOURCES)), SOURCE_COUNTS)
    found = random.uniform(size=(len(source), len(MARKER_CHANCES))) < MARKER_CHANCES.T[source]
    X = files.frame_of({f"marker{k + 1}": column for k, column in enumerate(found.T.astype(np.float64))})
    return ampute(X, gap_fraction, random_state=random), np.array(SOURCES, dtype=object)[source]
