"""Answers that depend on one row at a time, and so can be given part by part.

This is the one place where batches and dask collections meet the verbs of the machines: a class that inherits `Rowwise`
writes `predict` for a table in memory, and answers the others too.
"""

from __future__ import annotations

from functools import wraps

import numpy as np
from sklearn.utils._available_if import _AvailableIfDescriptor

from gapkernel.batches import Batches

ROW_VERBS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "transform")


class Rowwise:
    """A machine whose verbs also answer `batches`, by one array, and dask collections, by a dask array."""

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        for name in ROW_VERBS:
            verb = vars(cls).get(name)
            if isinstance(verb, _AvailableIfDescriptor):
                verb.fn = _in_parts(verb.fn)
            elif verb is not None:
                setattr(cls, name, _in_parts(verb))


def is_dask(X) -> bool:
    """Whether ``X`` is a dask collection, found without importing dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _in_parts(verb):
    @wraps(verb)
    def answer(self, X, *args, **kwargs):
        if isinstance(X, Batches):
            return np.concatenate([verb(self, batch[0], *args, **kwargs) for batch in X])
        if is_dask(X):
            from gapkernel.distributed import answer_blocks

            return answer_blocks(self, verb.__name__, X, *args, **kwargs)
        return verb(self, X, *args, **kwargs)

    return answer
