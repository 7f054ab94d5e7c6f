"""``gapkernel predict``: from a saved model and a table to a table of predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from gapkernel.cli.fit import FORMAT, MISSING, PROBABILITY, check_target
from gapkernel.cli.output import may_write, note, say
from gapkernel.inspection import gap_drift
from gapkernel.persistence import load
from gapkernel.tables.files import AS_IT_IS, Reading, deciphered, numbers, plain, read_raw, write_csv
from gapkernel.tables.input_errors import InputError

SIGNIFICANCE = 0.05
"""p-value below which a change of the gaps is worth a note."""


def predict(
    model: Path, data: Path, out: Path, reading: Reading = AS_IT_IS, *, absent_as_gaps=False, console=None
) -> None:
    """Predict the rows of ``data`` by the model in the file ``model``, and write them to ``out``."""
    console = console or Console()
    may_write(out, data, model)
    saved = read_model(model)
    X, notes = prepared(read_raw(data, reading), saved, data, reading.decimal, absent_as_gaps=absent_as_gaps)
    write_csv(predictions(saved, X), out)
    for text in [*notes, *drift_notes(saved["model"], X)]:
        note(console, text)
    gaps = X.isna().to_numpy()
    say(
        console,
        f"'{saved['target']}' predicted for {len(X)} rows, {int(gaps.any(axis=1).sum())} of them with gaps "
        f"({gaps.mean():.1%} of the cells). ",
        (str(out), "bold"),
        " is written.",
    )


def drift_notes(model, X: pd.DataFrame) -> list[str]:
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


def read_model(path: Path) -> dict:
    """What ``gapkernel fit`` saved."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    saved = load(path)
    if not _is_whole(saved):
        raise InputError(f"{path} was not written by gapkernel fit, or by another version of it.")
    return saved


def _is_whole(saved) -> bool:
    """Whether a saved object has all that `gapkernel.cli.fit.bundle` puts into it."""
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        return False
    kinds = {"target": str, "task": str, "columns": list, "levels": dict}
    verbs = ["predict", "predict_proba", "classes_"] if saved.get("task") == "classification" else ["predict"]
    model = saved.get("model")
    return (
        all(isinstance(saved.get(name), kind) for name, kind in kinds.items())
        and all(isinstance(levels, list) for levels in saved["levels"].values())
        and all(hasattr(model, verb) for verb in verbs)
    )


def predictions(saved: dict, X: pd.DataFrame) -> pd.DataFrame:
    """For each row of ``X`` the prediction, the probability of each class, and the share that was missing."""
    model, is_classification = saved["model"], saved["task"] == "classification"
    check_target(saved["target"], model.classes_ if is_classification else ())
    columns = {saved["target"]: model.predict(X)}
    if is_classification:
        chances = model.predict_proba(X)
        columns[saved["target"]] = model.classes_[chances.argmax(axis=1)]  # the class that the probabilities favour
        columns |= {PROBABILITY + str(label): chances[:, k] for k, label in enumerate(model.classes_)}
    return pd.DataFrame({**columns, MISSING: X.isna().to_numpy().mean(axis=1).round(6)})


def prepared(
    frame: pd.DataFrame, saved: dict, path, decimal: str | None = None, *, absent_as_gaps: bool
) -> tuple[pd.DataFrame, list[str]]:
    """New rows as the model knows its columns; what it does not know is a gap, or an error."""
    absent = [name for name in saved["columns"] if name not in frame]
    if absent and not absent_as_gaps:
        names = ", ".join(f"'{name}'" for name in absent)
        raise InputError(
            f"{path} does not have {names}, which the model was fitted with. Add the column (its cells may be empty), "
            f"or let it be a gap in every row: --absent-as-gaps."
        )
    notes = [f"No column '{name}': a gap in every row." for name in absent]
    X = {}
    for name in saved["columns"]:
        values = frame[name] if name in frame else pd.Series(np.nan, frame.index, name=name)
        X[name], note = _as_known(values, saved["levels"].get(name), path, decimal)
        notes += note
    return pd.DataFrame(X), notes


def _as_known(values: pd.Series, levels: list[str] | None, path, decimal) -> tuple[pd.Series, list[str]]:
    """One column with the type it had at fit."""
    seen = values.notna()
    if levels is None:
        known, written = numbers(values, decimal)
        wrong = values[seen & known.isna()]
        if len(wrong):
            raise InputError(
                f"Column '{values.name}' of {path} holds '{wrong.iloc[0]}' in row {wrong.index[0] + 1}, but it held "
                f'numbers when the model was fitted. If that marks a gap, say so: --na "{wrong.iloc[0]}".'
            )
        return known, deciphered(values, known, written)
    text = values.map(plain, na_action="ignore").astype(object)
    unknown = sorted(set(text[seen]) - set(levels))
    note = [f"'{values.name}' has values unknown at fit, which are gaps: {', '.join(unknown[:5])}."] if unknown else []
    return text.where(text.isin(levels), None).astype(pd.CategoricalDtype(levels)), note
