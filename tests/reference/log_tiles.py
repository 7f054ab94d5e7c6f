"""The logarithms of a kernel matrix before an engine exponentiates them: rows far apart keep all their digits."""

import numpy as np


def log_matrix(engine):
    """The logarithm of ``engine.matrix()``."""
    out = np.empty((len(engine.order_left), len(engine.order_right)))
    for i0, i1 in engine.edges_left:
        for j0, j1 in engine.edges_right:
            if engine.symmetric and j0 < i0:
                continue
            tile, rows, columns = engine._log_tile(i0, i1, j0, j1), engine.order_left[i0:i1], engine.order_right[j0:j1]
            if engine.symmetric and i0 == j0:
                tile = np.triu(tile) + np.triu(tile, 1).T  # the other half holds anything
            out[np.ix_(rows, columns)] = tile
            if engine.symmetric:
                out[np.ix_(columns, rows)] = tile.T
    return out
