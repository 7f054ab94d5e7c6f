"""Tables too large for memory, part by part: how `fit` takes them, and how `predict` and similar methods answer them.

A prediction for a row does not depend on the other rows, so an estimator that inherits `AnswersInParts` implements
`predict` for a table in memory, and batches and dask collections are answered too.
"""

from __future__ import annotations

from functools import wraps
from inspect import signature

import numpy as np
from sklearn.utils._available_if import _AvailableIfDescriptor
from sklearn.utils.validation import check_consistent_length

from gapkernel.tables.table_in_parts import NO_ROW, Batches, HeldTable, Part, TableInParts

ROW_VERBS = (
    "predict", "predict_interval", "predict_set", "predict_proba", "predict_log_proba", "decision_function",
    "score_samples", "transform",
)  # fmt: skip
"""The methods that answer each row of a table."""


class AnswersInParts:
    """An estimator whose verbs also take `batches`, answered by one array, and dask collections, by a dask array."""

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        for name in (*ROW_VERBS, "conformal_rules"):
            verb = vars(cls).get(name)
            if isinstance(verb, _AvailableIfDescriptor):
                verb.fn = _in_parts(verb.fn)
            elif callable(verb):
                setattr(cls, name, _in_parts(verb))


def parts_of(X, y=None, weight=None) -> TableInParts | None:
    """The parts of `batches`, a memory map, a dask collection or a `TableInParts`; None for a table in memory.

    Nothing is checked yet: each part is checked when it is read.
    """
    if isinstance(X, TableInParts):
        if y is not None or weight is not None:
            raise ValueError("Batches bring their own targets and weights: leave y and sample_weight out.")
        return X
    if isinstance(X, np.memmap):
        check_consistent_length(X, y, weight)
        return HeldTable(Part(X, y, weight))
    return _dask_parts().DaskTable(X, y, weight) if _is_dask(X) else None


def _in_parts(verb):
    parameters = signature(verb)

    @wraps(verb)
    def answer(self, X, *args, **kwargs):
        if not (isinstance(X, Batches) or _is_dask(X)):
            return verb(self, X, *args, **kwargs)
        if parameters.bind(self, X, *args, **kwargs).arguments.get("return_cov"):
            raise ValueError("return_cov is about pairs of rows, so all of them must be in one table in memory.")
        if _is_dask(X):
            return _dask_parts().answer_blocks(self, verb.__name__, X, *args, **kwargs)
        answers = [verb(self, part.X, *args, **kwargs) for part in X.parts()]
        if not answers:
            raise ValueError(NO_ROW.format("the batches hold"))
        if isinstance(answers[0], tuple):
            return tuple(map(np.concatenate, zip(*answers, strict=True)))
        return np.concatenate(answers)

    return answer


def _is_dask(X) -> bool:
    """Whether ``X`` is a dask collection, found without importing dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _dask_parts():
    """The one place that loads dask."""
    from gapkernel.tables import dask_parts

    return dask_parts
