"""Saving and loading of models.

The files are those of skops: a zip archive of arrays and of the names of types, never code. `load` builds objects of
scikit-learn and of the rooms of this package that models are made of, and of nothing else.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from numbers import Integral
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
from sklearn.exceptions import NotFittedError

from gapkernel.compute.runtime.writing import written_whole
from gapkernel.persistence.archive import MOST_BYTES, DamagedFileError, check_seal, check_size, read_whole, sealed
from gapkernel.persistence.foreign import check_foreign
from gapkernel.tables import Schema, Table
from gapkernel.tables.part_by_part import ROW_VERBS
from gapkernel.tables.takes_gaps import TakesGaps

MODEL_ROOMS = ("compute", "density", "estimators", "imputation", "kernels", "papers", "rows", "solvers", "tables.table")
"""The modules whose classes a model may hold; classes of others may touch files, the network or the screen."""

HARMLESS_TYPES = {
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.impute._iterative._ImputerTriplet",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.tree._tree.Tree",
}
"""Types of other packages that a model may hold too: skops does not trust them unasked, but they hold only numbers."""


VERBS = (*ROW_VERBS, "condition")
LEAVE_GAPS = ("transform", "condition")
"""Verbs whose answer may hold NaN."""

PROMISES = ("predict_interval", "predict_set")
"""Verbs that a model may refuse for every row, because it was fitted without them."""

MOST_COLUMNS = 1_000_000


class UntrustedFileError(ValueError):
    """A file names types that no model of this package is made of."""


def save(model: Any, path) -> None:
    """Write a fitted model, or a dict or list with models in it, to a file.

    Parameters
    ----------
    model : estimator, dict or list
        What to save.
    path : str or Path
        The file; by custom its name ends in ``.skops``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import gapkernel as gk
    >>> from gapkernel.persistence import load, save
    >>> model = gk.SVC(gamma=0.5).fit([[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder) / "model.skops")
    ...     load(pathlib.Path(folder) / "model.skops").predict([[None, 1.8]])
    array([1])
    """
    skops = _skops()
    content = skops.dumps(model, compression=ZIP_DEFLATED)
    unknown = _untrusted(skops.get_untrusted_types(data=content))
    if unknown:
        raise ValueError(f"The model holds {unknown[0]}, which could not be read back: {_RULE}")
    with written_whole(path) as beside:
        beside.write_bytes(sealed(content))


def load(path, *, max_bytes: int = MOST_BYTES) -> Any:
    """Read what `save` wrote, refusing every type that a model is not made of.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=4 GiB
        What the file may take once it is unpacked; a larger one is refused before that.

    Returns
    -------
    model : estimator, dict or list
        It predicts what the saved model predicted, to the last digit.

    Raises
    ------
    UntrustedFileError
        The file holds a type that is neither of this package nor known to be harmless. Nothing was built.
    DamagedFileError
        The file is not one that `save` wrote, or not as it wrote it. The checksum tells honest damage only: whoever
        forges a file can forge its checksum too, so what is built from it is checked as well.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import gapkernel as gk
    >>> from gapkernel.persistence import load, save
    >>> density = gk.density.Gaussian().fit([[0.0, 0.1], [0.2, None], [None, 1.9], [2.1, 2.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save({"version": 3, "density": density}, pathlib.Path(folder) / "model.skops")
    ...     load(pathlib.Path(folder) / "model.skops")["version"]
    3
    """
    skops = _skops()
    content = read_whole(path, max_bytes)
    try:
        check_size(content, path, max_bytes)
        named = skops.get_untrusted_types(data=content)
        if unknown := _untrusted(named):
            raise UntrustedFileError(f"{path} is refused: it holds {unknown[0]}. {_RULE}")
        check_seal(content, path)
        model = skops.loads(content, trusted=named)
        check_foreign(model)
        _try_out(model)
        return model
    except (DamagedFileError, UntrustedFileError):
        raise
    except Exception as error:  # a damaged or forged file makes the readers of zip, JSON and arrays fail in many ways
        raise DamagedFileError(f"{path} is not a file of a saved model, or it is damaged: {error}") from error


def _try_out(model) -> None:
    """Ask a model about two rows: parts that do not go together show here, and not in somebody's program."""
    if isinstance(model, dict | list | tuple):
        for part in model.values() if isinstance(model, dict) else model:
            _try_out(part)
    model = getattr(model, "estimator_", model)  # of a model for tables
    n_columns = getattr(model, "n_features_in_", None)
    if not isinstance(n_columns, Integral) or not 0 < int(n_columns) <= MOST_COLUMNS:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for verb in VERBS:
            if hasattr(model, verb):
                _try_verb(model, verb, int(n_columns))


def _try_verb(model, verb: str, n_columns: int) -> None:
    """Ask about a row of gaps, a row of zeros and, of ours, a row of known levels: it must take one of them."""
    rows: list[Any] = [np.full((1, n_columns), np.nan), np.zeros((1, n_columns))]
    ours = isinstance(model, TakesGaps)
    if ours and isinstance(getattr(model, "schema_", None), Schema):
        rows.append(Table(np.zeros((1, n_columns)), model.schema_))  # zero is an unknown level of a category
    refused = []
    for row in rows:
        try:
            answer = getattr(model, verb)(row)
        except NotFittedError:  # such as a search that was not to be fitted again
            return
        except ValueError as error:
            refused.append(error)
            continue
        if ours and verb not in LEAVE_GAPS and np.asarray(answer).dtype.kind == "f" and np.isnan(answer).any():
            raise ValueError(f"{verb} answers with NaN.")
    if len(refused) == len(rows) and ours and verb not in PROMISES:
        raise refused[0]


_RULE = "Only types of scikit-learn and of gapkernel's own models are allowed in a file."


def _untrusted(names: list[str]) -> list[str]:
    return [name for name in names if name not in HARMLESS_TYPES and not _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Whether a full name is that of a class that a module in `MODEL_ROOMS` defines itself."""
    module_name, _, class_name = name.rpartition(".")
    package, _, inside = module_name.partition(".")
    if package != "gapkernel" or not any(f"{inside}.".startswith(f"{room}.") for room in MODEL_ROOMS):
        return False
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError):
        return False
    return inspect.isclass(found) and found.__module__ == module_name


def _skops():
    try:
        import skops.io
    except ImportError as error:
        raise ImportError('Saved models need skops: pip install "gapkernel[cli]".') from error
    return skops.io
