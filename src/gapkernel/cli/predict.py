"""``gapkernel predict``: from a saved model and a table to a table of predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from gapkernel.cli.fit import HIGH, LOW, MISSING, PROBABILITY, check_target
from gapkernel.cli.output import counted, may_write, note, say
from gapkernel.estimators.calibration.base import NotCalibratedError
from gapkernel.estimators.table_model import TableModel
from gapkernel.inspection import gap_drift
from gapkernel.persistence import load
from gapkernel.tables import gaps_of
from gapkernel.tables.files import AS_IT_IS, Reading, frame_of, read_raw, write_csv
from gapkernel.tables.input_errors import InputError, unknown_column

COVERAGE = 0.9
SIGNIFICANCE = 0.05
"""p-value below which a change of the gaps is worth a note."""


def predict(
    model: Path,
    data: Path,
    out: Path,
    reading: Reading = AS_IT_IS,
    *,
    absent_as_gaps=False,
    coverage: float | None = None,
    id_column: str | None = None,
) -> None:
    """Predict the rows of ``data`` by the model in the file ``model``, and write them to ``out``."""
    may_write(out, data, model)
    saved = read_model(model)
    raw, X, notes = known_rows(saved, data, reading, absent_as_gaps)
    columns = answers(saved, X, coverage)
    if id_column is not None:
        columns = _named(raw, id_column, columns, data) | columns
    write_csv(frame_of(columns), out)
    console, gaps = Console(), gaps_of(X)
    for text in [*notes, *drift_notes(saved.estimator_, saved.as_fitted(X))]:
        note(console, text)
    say(
        console,
        f"'{saved.target}' predicted for {counted(len(gaps), 'row')}, {int(gaps.any(axis=1).sum())} of them with gaps "
        f"({gaps.mean():.1%} of the cells). ",
        (str(out), "bold"),
        " is written.",
    )


def drift_notes(model, X) -> list[str]:
    """What a person should know if the gaps differ from those at fit; nothing if the model does not remember them."""
    try:
        drift = gap_drift(model, X, random_state=0)
    except ValueError:
        return []
    if drift.pvalue >= SIGNIFICANCE:
        return []
    changed = [c for c in drift.columns if c.pvalue < SIGNIFICANCE][:5]
    named = "; ".join(f"'{c.name}' is missing in {c.now:.0%} of the rows, {c.at_fit:.0%} at fit" for c in changed)
    return [
        f"The gaps differ from those at fit (p = {drift.pvalue:.2g}): "
        f"{named or 'each column is missing about as often, but together with others'}. A model that goes by which "
        f"values are missing may be wrong here; predictions are as good as at fit only if the reasons for gaps are."
    ]


def read_model(path: Path) -> TableModel:
    """What ``gapkernel fit`` or `gapkernel.persistence.save` wrote."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    saved = load(path)
    if not hasattr(saved, "predict"):
        raise InputError(f"{path} holds no model that predicts, but {type(saved).__name__}.")
    return TableModel.around(saved)


def known_rows(model: TableModel, data: Path, reading: Reading, absent_as_gaps: bool) -> tuple[Any, Any, list]:
    """The rows of a file as they are, the same in the columns that the model knows, and notes."""
    decimal, marks = reading.decimal or model.decimal, (*model.gap_marks, *reading.gap_marks)
    model.set_params(absent_as_gaps=absent_as_gaps or model.absent_as_gaps, decimal=decimal, gap_marks=marks)
    raw = read_raw(data, replace(reading, decimal=decimal, gap_marks=marks))
    return raw, *model.known(raw, what=str(data))


def answers(model: TableModel, X, coverage: float | None = None) -> dict[str, Any]:
    """For each row the prediction, the probability of each class or an interval, and the share that was missing.

    ``coverage`` is that of intervals; None writes those of `COVERAGE` where the model has any.
    """
    if coverage is not None and not 0 < coverage < 1:
        raise InputError(f"--coverage is a probability between 0 and 1, got {coverage}.")
    has_classes = hasattr(model.estimator_, "classes_")
    check_target(model.target, model.classes_ if has_classes else ())
    columns = {model.target: model.predict(X)}
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        columns |= {PROBABILITY + str(label): chances[:, k] for k, label in enumerate(model.classes_)}
    intervals = intervals_of(model, X, coverage or COVERAGE)
    if intervals is not None:
        columns |= {model.target + LOW: intervals[:, 0], model.target + HIGH: intervals[:, 1]}
    elif coverage is not None:
        why = "classes have probabilities" if has_classes else "--method gap fits one that has"
        raise InputError(f"The model has no intervals for --coverage: {why}.")
    return columns | {MISSING: gaps_of(X).mean(axis=1).round(6)}


def intervals_of(model: TableModel, X, coverage: float) -> np.ndarray | None:
    """An interval for each row that the model can predict; None if its kind has none, or it was fitted without."""
    if not hasattr(model, "predict_interval"):
        return None
    try:
        return model.predict_interval(X, coverage=coverage)
    except NotCalibratedError:
        return None


def _named(raw, id_column: str, columns, path) -> dict[str, Any]:
    """The column by which rows are known elsewhere."""
    if id_column not in raw:
        raise unknown_column(id_column, raw.columns, path)
    if id_column in columns:
        raise InputError(f"--id '{id_column}' is also a column of the predictions. Rename it.")
    return {id_column: raw[id_column]}
