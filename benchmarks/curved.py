"""Two classes with a curved boundary in 20 columns, in batches of any number, with 30 % of the cells missing."""

import numpy as np

N_COLUMNS, N_FACTORS, GAP_RATE, BATCH = 20, 5, 0.3, 50_000


def batch(number, n_rows=BATCH):
    """The rows and labels of one batch: the same for the same number."""
    loadings = np.random.default_rng(1).normal(size=(N_COLUMNS, N_FACTORS))
    rng = np.random.default_rng((2, number))
    factors = rng.normal(size=(n_rows, N_FACTORS))
    X = (factors @ loadings.T + rng.normal(size=(n_rows, N_COLUMNS))) / np.sqrt(N_FACTORS + 1)
    y = (factors[:, 0] * factors[:, 1] + 0.5 * (factors[:, 2] ** 2 - 1.0) > 0).astype(np.int64)
    X[rng.random(X.shape) < GAP_RATE] = np.nan
    return X, y


def write(folder, n_rows):
    """Tables ``X.npy`` and ``y.npy`` on disk, written batch by batch."""
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n_rows, N_COLUMNS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int64, (n_rows,))
    for number, start in enumerate(range(0, n_rows, BATCH)):
        rows = min(BATCH, n_rows - start)
        X[start : start + rows], y[start : start + rows] = batch(number, rows)
    X.flush(), y.flush()
    return folder / "X.npy", folder / "y.npy"
