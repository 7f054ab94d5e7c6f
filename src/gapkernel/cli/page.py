"""The report of a comparison: one HTML page that needs nothing but itself."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from gapkernel.cli.comparison import Comparison
from gapkernel.cli.machines import EPSILON, INNER_FOLDS, MACHINES, Choice, categories_of
from gapkernel.cli.study import FOLDS
from gapkernel.experiments.store import versions
from gapkernel.missingness import GapSummary, summary
from gapkernel.plots import PatternDisplay
from gapkernel.plots.drawing import PALETTE, as_svg, page_axes
from gapkernel.plots.scores import Look, curve_figure, interval_figure, prediction_figure, reliability_figure

COLOURS = dict(zip(MACHINES, PALETTE, strict=False))


def page(comparison: Comparison, choice: Choice, data=None) -> str:
    """The page as text.

    Parameters
    ----------
    comparison : Comparison
    choice : Choice
        The winner with its settings.
    data : path, default=None
        The file that was compared; None for the embedded table.
    """
    problem, gaps = comparison.problem, summary(comparison.problem.X)
    winner = MACHINES[comparison.winner].label
    parts = {
        "title": f"{problem.target}: {winner} — gapkernel compare",
        "table_name": problem.name,
        "headline": comparison.headline,
        "verdict": comparison.verdict,
        "to_beat": comparison.to_beat,
        "robustness": comparison.robustness,
        "score_note": f"{comparison.measure.capitalize()} on held-out folds: mean with its 95% interval, single folds "
        f"as pale dots. Full dots treat a row with gaps as a law; hollow ones are the usual recipes.",
        "curve_note": f"Cells of all columns are hidden at random, in training and in new rows alike. Mean "
        f"{comparison.measure} on held-out folds.",
        "gap_note": _gap_note(gaps),
        "winner": winner,
        "method": _method(comparison),
        "versions": "Made by gapkernel compare with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".",
        "accent": COLOURS[comparison.winner],
        **_promise_words(comparison),
    }
    drawn = {
        "facts": _facts(comparison, gaps),
        "score_figure": _score_figure(comparison),
        "curve_figure": _curve_figure(comparison),
        "gap_figure": _gap_figure(gaps),
        "promise_figure": _promise_figure(comparison),
        "table_head": _head(
            ("machine", comparison.measure, "± 95%", "spread", _second(comparison), "tune", "fit"), (3,)
        ),
        "table_rows": _score_rows(comparison),
        "curve_head": _head(("cells hidden", *(f"{f:.0%}" for f in comparison.curve.index))),
        "curve_rows": _curve_rows(comparison),
        "settings": "".join(f"<dt>{escape(k)}</dt><dd>{escape(_value(v))}</dd>" for k, v in choice.settings.items()),
        "code": escape(code(comparison, choice)),
        "shell": _shell(comparison, data),
        "notes": _notes(problem.notes),
    }
    template = Template(files("gapkernel.cli").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute({name: escape(words) for name, words in parts.items()} | drawn)


def code(comparison: Comparison, choice: Choice) -> str:
    """The lines that fit the winner and use it."""
    machine, problem = MACHINES[comparison.winner], comparison.problem
    kind = "Classifier" if comparison.is_classification else "Regressor"
    values = {name: _value(value) for name, value in choice.settings.items()}
    density = "gk.density.JointGaussian(" + ("" if categories_of(problem) else "gaussian=gk.density.Gaussian()") + ")"
    words = {"S": "SV" + kind[0], "kind": kind, "density": density, "categorical": repr(categories_of(problem))}
    words["epsilon"] = "" if comparison.is_classification else f", epsilon={EPSILON}"
    make = machine.code.format(**words, **values)
    imports = ["import gapkernel as gk"] if machine.code.startswith("gk.") else []
    if not machine.ours:
        package, name = _where(comparison.winner, words)
        imports.append(f"from {package} import {name}")
    if not comparison.is_classification and comparison.winner not in ("boosting", "xgboost"):
        imports.append("from sklearn.compose import TransformedTargetRegressor")
        imports.append("from sklearn.preprocessing import StandardScaler")
        make = f"TransformedTargetRegressor({make}, transformer=StandardScaler())"
    return "\n".join([*imports, f"model = {make}.fit(X, y)", "model.predict(X_new)  # rows with gaps as they are"])


def _value(value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _where(name: str, words) -> tuple[str, str]:
    if name == "boosting":
        return "sklearn.ensemble", f"HistGradientBoosting{words['kind']}"
    return ("xgboost", f"XGB{words['kind']}") if name == "xgboost" else ("sklearn.svm", words["S"])


def _facts(comparison: Comparison, gaps: GapSummary) -> str:
    facts = [
        (comparison.show(comparison.scores["mean"].iloc[0]), f"{comparison.measure} of the winner"),
        (f"{gaps.n_rows}", "rows"),
        (f"{gaps.n_columns}", "columns"),
        (f"{gaps.gap_fraction:.1%}", "of the cells are missing"),
        (str(gaps.n_rows - gaps.n_complete_rows), "rows have gaps"),
        (str(len(gaps.patterns)), "gap patterns"),
    ]
    if comparison.is_classification:
        facts.append((str(len(np.unique(comparison.problem.y))), "classes"))
    return "".join(f"<li><b>{escape(value)}</b><span>{escape(what)}</span></li>" for value, what in facts)


def _look(machine: str, short: bool = False) -> Look:
    known = MACHINES[machine]
    return Look(known.short if short else known.label, COLOURS[machine], not known.ours)


def _score_figure(comparison: Comparison) -> str:
    scores = comparison.scores
    spots = [comparison.by_split[m].to_numpy() for m in scores.index]
    looks = [_look(m) for m in scores.index]
    figure = interval_figure(looks, scores["mean"], scores["margin"], spots, comparison.show, _plain(comparison))
    return as_svg(figure, f"{comparison.measure} of each machine with its interval")


def _curve_figure(comparison: Comparison) -> str:
    curve, looks = comparison.curve, [_look(m, short=True) for m in comparison.scores.index]
    values = curve[comparison.scores.index].to_numpy().T
    figure = curve_figure(looks, curve.index.to_numpy(), values, _plain(comparison), "cells hidden")
    return as_svg(figure, f"{comparison.measure} of each machine as more cells are hidden")


def _gap_figure(gaps: GapSummary) -> str:
    shown = PatternDisplay(patterns=gaps.patterns, max_patterns=10)
    names = 0 if gaps.n_columns > 40 else 6.2 * min(20, max(map(len, gaps.names)))
    with page_axes(names + 60 + 26 * min(10, len(gaps.patterns)), left=80, right=132, bottom=48, top=names + 12) as ax:
        return as_svg(
            shown.plot(ax=ax).figure_, "Gap patterns: a line of tiles for each, dark where a value is missing"
        )


def _plain(comparison: Comparison):
    return (lambda v: f"{v:.0%}") if comparison.is_classification else (lambda v: f"{v:.2f}")


def _promise_words(comparison: Comparison) -> dict[str, str]:
    label = MACHINES[comparison.winner].label
    if comparison.is_classification:
        return {
            "promise_title": "Are its probabilities honest?",
            "promise_note": f"Held-out rows in groups by the probability that {label} gave them (across), and how "
            f"often it came true (up, 95% intervals). Honest probabilities lie on the dashed line.",
        }
    return {
        "promise_title": "Predicted and true",
        "promise_note": f"Each dot is a held-out row: the value {label} predicted (across) and the true one (up).",
    }


def _promise_figure(comparison: Comparison) -> str:
    winner, colour = comparison.winner, COLOURS[comparison.winner]
    if comparison.is_classification:
        found = comparison.reliability(winner)
        figure = reliability_figure(
            colour, found.promised, found.happened, found.low, found.high, f"promised: {found.what}"
        )
        return as_svg(figure, "Promised and observed frequencies on held-out rows")
    figure = prediction_figure(colour, *comparison.answers(winner), f"predicted {comparison.problem.target}")
    return as_svg(figure, "Predicted and true values")


def _second(comparison: Comparison) -> str:
    return "log loss" if comparison.is_classification else "RMSE"


def _head(names, optional=()) -> str:
    cells = (
        f'<th scope="col"{" class=optional" if k in optional else ""}>{escape(name)}</th>'
        for k, name in enumerate(names)
    )
    return "".join(cells)


def _swatch(machine: str) -> str:
    fill = COLOURS[machine] if MACHINES[machine].ours else "#fff"
    return f'<i class="swatch" style="background:{fill};border-color:{COLOURS[machine]}"></i>'


def _score_rows(comparison: Comparison) -> str:
    rows = []
    for machine, line in comparison.scores.iterrows():
        cells = (
            comparison.show(line["mean"]),
            comparison.show(line["margin"]),
            comparison.show(line["spread"]),
            f"{line['second']:{'.3f' if comparison.is_classification else '.4g'}}",
            f"{line['tune_seconds']:.2f} s",
            f"{line['fit_seconds']:.2f} s",
        )
        won = ' class="won"' if machine == comparison.winner else ""
        name = f"<td>{_swatch(machine)}{escape(MACHINES[machine].label)}</td>"
        shown = "".join(f"<td{' class=optional' if k == 2 else ''}>{cell}</td>" for k, cell in enumerate(cells))
        rows.append(f"<tr{won}>{name}{shown}</tr>")
    return "".join(rows)


def _curve_rows(comparison: Comparison) -> str:
    rows = []
    for machine in comparison.scores.index:
        cells = "".join(f"<td>{comparison.show(value)}</td>" for value in comparison.curve[machine])
        rows.append(f"<tr><td>{_swatch(machine)}{escape(MACHINES[machine].label)}</td>{cells}</tr>")
    return "".join(rows)


def _gap_note(gaps: GapSummary) -> str:
    if not gaps.n_gaps:
        return "Nowhere: every cell has a value. The curve of hidden cells shows what would happen if some had none."
    worst = int(gaps.column_gaps.argmax())
    return (
        f"{gaps.n_gaps} cells in {gaps.n_rows - gaps.n_complete_rows} rows; most in “{gaps.names[worst]}” "
        f"({gaps.column_gaps[worst] / gaps.n_rows:.1%}). A line of tiles is a pattern, dark where a value is missing."
    )


def _method(comparison: Comparison) -> str:
    platt = (
        "Probabilities come from Platt's sigmoid, except where a machine has its own. " * comparison.is_classification
    )
    times = len(comparison.by_split) // FOLDS
    return (
        f"{'One cross-validation' if times == 1 else f'{times} cross-validations'} of {FOLDS} folds on the table as it "
        f"is, and others with more and more cells hidden. Every machine sees the same folds and the same gaps. "
        f"Scaling, density, imputation and the choice of settings (by {INNER_FOLDS} inner folds) use the training rows "
        f"only. {platt}Intervals count that training sets overlap (Nadeau and Bengio's correction). The tuning time is "
        f"for the whole grid, the fitting time for one machine, both on one core."
    )


def _shell(comparison: Comparison, data) -> str:
    if data is None or not MACHINES[comparison.winner].ours:
        return ""
    fit = f'gapkernel fit {data} --target "{comparison.problem.target}" --machine {comparison.winner} --out model.skops'
    predict = "gapkernel predict model.skops NEW.csv --out predictions.csv"
    return f"<pre><code>{escape(fit)}\n{escape(predict)}</code></pre>"


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    return '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
