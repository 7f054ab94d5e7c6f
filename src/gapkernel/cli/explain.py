"""``gapkernel explain``: what pushed a prediction, what is missing, and what would be worth measuring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gapkernel.cli.describe import bar
from gapkernel.cli.output import as_text, lines_table, note, say
from gapkernel.cli.predict import COVERAGE, intervals_of, known_rows, read_model
from gapkernel.estimators.table_model import TableModel
from gapkernel.inspection.shapley import ShapleyValues, shapley
from gapkernel.inspection.tipping_points import TippingPoints, tipping_points
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information
from gapkernel.tables import gaps_of, labels_of, take_rows
from gapkernel.tables.files import AS_IT_IS, Reading
from gapkernel.tables.input_errors import InputError

WIDTH = 20
"""Of the longest bar, in characters."""

MOST_CELLS, N_ORDERS = 8, 32
"""Observed cells up to which all coalitions are tried, and the orders that are drawn for more: fewer than in Python, so
that the table appears within seconds even where a member's probabilities are slow."""


def explain(model: Path, data: Path, row: int, reading: Reading = AS_IT_IS, *, costs=(), absent_as_gaps=False) -> None:
    """Explain the prediction for one row of ``data`` by the model in the file ``model``."""
    console = Console()
    saved = read_model(model)
    frame, X, notes = known_rows(saved, data, reading, absent_as_gaps)
    if not 0 <= row < len(frame):
        raise InputError(f"--row must be a number from 0 to {len(frame) - 1}, got {row}: {data} has {len(frame)} rows.")
    X = take_rows(X, [row])
    names = labels_of(X)
    prices = _prices(costs, names)
    for text in notes:
        note(console, text)
    pushed = _pushed(saved.estimator_, saved.as_fitted(X))
    say(console, *_headline(saved, X, pushed, row, data))
    if (~np.isnan(pushed.values)).any():
        console.print(_pushes(pushed))
    if not pushed.exact:
        say(console, ("Values are what the model itself makes of fewer cells.", "dim"))
    if np.nanmax(pushed.standard_error, initial=0.0) > 0:
        say(console, ("Orders of the cells were drawn at random; ± is the standard error.", "dim"))
    missing = [name for name, gap in zip(names, gaps_of(X)[0], strict=True) if gap]
    if not missing:
        say(console, "\nNothing is missing in the row.")
        return
    worth, points = _what_gaps_are_worth(saved.estimator_, saved.as_fitted(X), prices, console)
    if worth is None and points is None:
        say(console, f"\nMissing: {', '.join(missing)}.")
    else:
        console.print(_missing(missing, worth, points))


def _pushed(model, X) -> ShapleyValues:
    """The values of the cells: of the probability of the predicted class, or of the predicted number."""
    options = {"max_exact": MOST_CELLS, "n_permutations": N_ORDERS, "random_state": 0}
    if not hasattr(model, "classes_"):
        return shapley(model, X, **options)
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"explain needs the probabilities of classes, which {type(model).__name__} does not have. Fit a model by "
            f"gapkernel fit, or save a GapClassifier."
        )
    label = model.classes_[model.predict_proba(X)[0].argmax()]
    return shapley(model, X, response_method="predict_proba", target=label, **options)


def _headline(saved: TableModel, X, pushed: ShapleyValues, row: int, data: Path) -> list:
    answer, base = float(pushed.answers[0]), float(pushed.base_value)
    start = f"Row {row} of {data}: '{saved.target}' is predicted to be "
    if hasattr(saved.estimator_, "classes_"):
        said = f" with probability {answer:.2f}; it would be {base:.2f} for a row of which nothing is known."
        return [start, (str(pushed.outputs[0]), "bold"), said]
    said = f"; it would be {base:.4g} for a row of which nothing is known."
    intervals = intervals_of(saved, X, COVERAGE)
    if intervals is not None:
        low, high = intervals[0]
        said = f", with {100 * COVERAGE:.0f} % probability between {low:.4g} and {high:.4g}{said}"
    return [start, (f"{answer:.4g}", "bold"), said]


def _pushes(pushed: ShapleyValues) -> Table:
    """A line for each observed cell, the largest push first."""
    table = lines_table("\nWhat pushed it", "cell", "push", "")
    values, errors = pushed.values[0], pushed.standard_error[0]
    largest = max(np.nanmax(np.abs(values)), 1e-12)
    for k in np.argsort(-np.abs(values), kind="stable"):
        if not np.isnan(values[k]):
            doubt = f" ± {errors[k]:.2g}" if errors[k] else ""
            drawn = Text(bar(abs(values[k]) / largest, WIDTH), style="green" if values[k] > 0 else "red")
            table.add_row(as_text(pushed.label(0, k)), f"{values[k]:+.3g}{doubt}", drawn)
    return table


def _what_gaps_are_worth(
    model, X, prices: dict[str, float] | None, console: Console
) -> tuple[ValueOfInformation | None, TippingPoints | None]:
    """What measuring each gap is worth, and where the prediction tips; None with a note where the model cannot say."""
    try:
        worth = value_of_information(model, X, costs=prices)
    except ValueError as error:
        note(console, f"What is worth measuring cannot be said: {error}")
        worth = None
    try:
        points = tipping_points(model, X)
    except ValueError:
        points = None  # it has no Gaussian laws
    return worth, points


def _missing(names: list[str], worth: ValueOfInformation | None, points: TippingPoints | None) -> Table:
    """A line for each missing cell, the one most worth measuring first."""
    gains, columns, caption = dict.fromkeys(names, 0.0), [], None
    if worth is not None:
        gains |= dict(zip(worth.names, np.maximum(worth.worth, 0.0).tolist(), strict=True))
        columns = [f"fall of the {worth.measure} if measured{' for its cost' * worth.priced}", ""]
    if points is not None:
        columns.append("tips at")
        caption = (
            "Tips at: by how many deviations of its column the missing value would have to differ from what is "
            "expected of it before the prediction changes; - if 3 do not suffice."
        )
    table, largest = lines_table("\nWhat is missing", "cell", *columns, caption=caption), max(*gains.values(), 1e-12)
    for name in sorted(names, key=lambda name: -gains[name]):
        cells: list = [as_text(name)]
        if worth is not None:
            cells += [f"{gains[name]:.3g}", Text(bar(gains[name] / largest, WIDTH), style="blue")]
        if points is not None:
            place = points.names.index(name)
            tilt, sign = points.tilt[0, place], points.direction[0, place]
            cells.append(f"{sign * tilt:+.2f}" if np.isfinite(tilt) else "-")
        table.add_row(*cells)
    return table


def _prices(costs, columns: tuple[str, ...]) -> dict[str, float] | None:
    """The costs that a person gave as COLUMN=COST; columns that were not named cost 1."""
    prices = dict.fromkeys(columns, 1.0)
    for given in costs:
        name, _, price = given.rpartition("=")
        if name not in prices:
            raise InputError(f"--cost needs COLUMN=COST with a column that the model was fitted with, got '{given}'.")
        try:
            prices[name] = float(price)
        except ValueError:
            prices[name] = np.nan
        if not 0 < prices[name] < np.inf:
            raise InputError(f"--cost needs a positive number after '{name}=', got '{price}'.")
    return prices if costs else None
