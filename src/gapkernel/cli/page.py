"""The report of a comparison: one HTML page that needs nothing but itself."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from gapkernel.cli.problem import FOLDS, INNER_FOLDS
from gapkernel.cli.verdict import Verdict
from gapkernel.estimators.gap.member_list import Members
from gapkernel.experiments import METHODS, Choice
from gapkernel.experiments.methods import COMPARED, FITTED
from gapkernel.experiments.store import versions
from gapkernel.missingness import GapSummary, summary
from gapkernel.plots import PatternDisplay
from gapkernel.plots.drawing import PALETTE, as_svg, page_axes
from gapkernel.plots.scores import Look, curve_figure, interval_figure, prediction_figure, reliability_figure

COLOURS = dict(zip((*COMPARED, "linear"), PALETTE, strict=False))


def page(verdict: Verdict, choice: Choice, data=None, members: Members | None = None) -> str:
    """The page as text.

    Parameters
    ----------
    verdict : Verdict
    choice : Choice
        The winner with its settings.
    data : path, default=None
        The file that was compared; None for the embedded table.
    members : Members, default=None
        Those of the estimator that chooses, on all rows.
    """
    problem, gaps = verdict.problem, summary(verdict.problem.X)
    winner = METHODS[verdict.winner].label
    parts = {
        "title": f"{problem.target}: {winner} — gapkernel compare",
        "table_name": problem.name,
        "headline": verdict.headline,
        "verdict": verdict.summary,
        "to_beat": verdict.to_beat,
        "robustness": verdict.robustness,
        "worth": verdict.worth,
        "score_note": f"{verdict.measure.capitalize()} on held-out folds: mean with its 95% interval, single folds "
        f"as pale dots. Full dots treat a row with gaps as a law; hollow ones are the usual recipes.",
        "curve_note": f"Cells of all columns are hidden at random, in training and in new rows alike. Mean "
        f"{verdict.measure} on held-out folds.",
        "gap_note": _gap_note(gaps),
        "winner": winner,
        "method": _method(verdict),
        "versions": "Made by gapkernel compare with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".",
        "accent": COLOURS[verdict.winner],
        **_promise_words(verdict),
    }
    drawn = {
        "facts": _facts(verdict, gaps),
        "score_figure": _score_figure(verdict),
        "curve_figure": _curve_figure(verdict),
        "gap_figure": _gap_figure(gaps),
        "promise_figure": _promise_figure(verdict),
        "table_head": _head(("method", *verdict.columns), (3,)),
        "table_rows": _score_rows(verdict),
        "curve_head": _head(("cells hidden", *(f"{f:.0%}" for f in verdict.curve.index))),
        "curve_rows": _curve_rows(verdict),
        "settings": "".join(f"<dt>{escape(k)}</dt><dd>{escape(_value(v))}</dd>" for k, v in choice.settings.items()),
        "code": escape(code(verdict, choice)),
        "shell": _shell(verdict, data),
        "members": _members(members),
        "notes": _notes(problem.notes),
    }
    template = Template(files("gapkernel.cli").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute({name: escape(words) for name, words in parts.items()} | drawn)


def code(verdict: Verdict, choice: Choice) -> str:
    """The lines that fit the winner and use it."""
    problem = verdict.problem
    made = METHODS[verdict.winner].code(choice.settings, problem.task, problem.has_categories)
    return f"{made}\nmodel.fit(X, y)\nmodel.predict(X_new)  # rows with gaps as they are"


def _value(value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _facts(verdict: Verdict, gaps: GapSummary) -> str:
    facts = [
        (verdict.show(verdict.scores["mean"].iloc[0]), f"{verdict.measure} of the winner"),
        (f"{gaps.n_rows}", "rows"),
        (f"{gaps.n_columns}", "columns"),
        (f"{gaps.gap_fraction:.1%}", "of the cells are missing"),
        (str(gaps.n_rows - gaps.n_complete_rows), "rows have gaps"),
        (str(len(gaps.patterns)), "gap patterns"),
    ]
    if verdict.problem.is_classification:
        facts.append((str(len(np.unique(verdict.problem.y))), "classes"))
    return "".join(f"<li><b>{escape(value)}</b><span>{escape(what)}</span></li>" for value, what in facts)


def _look(method: str, short: bool = False) -> Look:
    known = METHODS[method]
    return Look(known.short if short else known.label, COLOURS[method], not known.ours)


def _score_figure(verdict: Verdict) -> str:
    scores = verdict.scores
    spots = [verdict.by_split[m].to_numpy() for m in scores.index]
    looks = [_look(m) for m in scores.index]
    figure = interval_figure(looks, scores["mean"], scores["margin"], spots, verdict.show, _plain(verdict))
    return as_svg(figure, f"{verdict.measure} of each method with its interval")


def _curve_figure(verdict: Verdict) -> str:
    curve, looks = verdict.curve, [_look(m, short=True) for m in verdict.scores.index]
    values = curve[verdict.scores.index].to_numpy().T
    figure = curve_figure(looks, curve.index.to_numpy(), values, _plain(verdict), "cells hidden")
    return as_svg(figure, f"{verdict.measure} of each method as more cells are hidden")


def _gap_figure(gaps: GapSummary) -> str:
    shown = PatternDisplay(patterns=gaps.patterns, max_patterns=10)
    names = 0 if gaps.n_columns > 40 else 6.2 * min(20, max(map(len, gaps.names)))
    with page_axes(names + 60 + 26 * min(10, len(gaps.patterns)), left=80, right=132, bottom=48, top=names + 12) as ax:
        return as_svg(
            shown.plot(ax=ax).figure_, "Gap patterns: a line of tiles for each, dark where a value is missing"
        )


def _plain(verdict: Verdict):
    return (lambda v: f"{v:.0%}") if verdict.problem.is_classification else (lambda v: f"{v:.2f}")


def _promise_words(verdict: Verdict) -> dict[str, str]:
    label = METHODS[verdict.winner].label
    if verdict.problem.is_classification:
        return {
            "promise_title": "Are its probabilities honest?",
            "promise_note": f"Held-out rows in groups by the probability that {label} gave them (across), and how "
            f"often it came true (up, 95% intervals). Honest probabilities lie on the dashed line.",
        }
    return {
        "promise_title": "Predicted and true",
        "promise_note": f"Each dot is a held-out row: the value {label} predicted (across) and the true one (up).",
    }


def _promise_figure(verdict: Verdict) -> str:
    winner, colour = verdict.winner, COLOURS[verdict.winner]
    if verdict.problem.is_classification:
        found = verdict.reliability(winner)
        figure = reliability_figure(
            colour, found.promised, found.happened, found.low, found.high, f"promised: {found.what}"
        )
        return as_svg(figure, "Promised and observed frequencies on held-out rows")
    figure = prediction_figure(colour, *verdict.answers(winner), f"predicted {verdict.problem.target}")
    return as_svg(figure, "Predicted and true values")


def _head(names, optional=()) -> str:
    cells = (
        f'<th scope="col"{" class=optional" if k in optional else ""}>{escape(name)}</th>'
        for k, name in enumerate(names)
    )
    return "".join(cells)


def _swatch(method: str) -> str:
    fill = COLOURS[method] if METHODS[method].ours else "#fff"
    return f'<i class="swatch" style="background:{fill};border-color:{COLOURS[method]}"></i>'


def _score_rows(verdict: Verdict) -> str:
    rows = []
    for method in verdict.scores.index:
        won = ' class="won"' if method == verdict.winner else ""
        name = f"<td>{_swatch(method)}{escape(METHODS[method].label)}</td>"
        cells = enumerate(verdict.cells(method))
        shown = "".join(f"<td{' class=optional' if k == 2 else ''}>{cell}</td>" for k, cell in cells)
        rows.append(f"<tr{won}>{name}{shown}</tr>")
    return "".join(rows)


def _curve_rows(verdict: Verdict) -> str:
    rows = []
    for method in verdict.scores.index:
        cells = "".join(f"<td>{verdict.show(value)}</td>" for value in verdict.curve[method])
        rows.append(f"<tr><td>{_swatch(method)}{escape(METHODS[method].label)}</td>{cells}</tr>")
    return "".join(rows)


def _gap_note(gaps: GapSummary) -> str:
    if not gaps.n_gaps:
        return "Nowhere: every cell has a value. The curve of hidden cells shows what would happen if some had none."
    worst = int(gaps.column_gaps.argmax())
    return (
        f"{gaps.n_gaps} cells in {gaps.n_rows - gaps.n_complete_rows} rows; most in “{gaps.names[worst]}” "
        f"({gaps.column_gaps[worst] / gaps.n_rows:.1%}). A line of tiles is a pattern, dark where a value is missing."
    )


def _method(verdict: Verdict) -> str:
    platt = (
        "Probabilities come from Platt's sigmoid, except where a method has its own. "
        * verdict.problem.is_classification
    )
    times = len(verdict.by_split) // FOLDS
    return (
        f"{'One cross-validation' if times == 1 else f'{times} cross-validations'} of {FOLDS} folds on the table as it "
        f"is, and others with more and more cells hidden. Every method sees the same folds and the same gaps. "
        f"Scaling, density, imputation and the choice of settings (by {INNER_FOLDS} inner folds) use the training rows "
        f"only. {platt}Intervals count that training sets overlap (Nadeau and Bengio's correction). The tuning time is "
        f"for the whole grid, the fitting time for one model, both on one core."
    )


def _shell(verdict: Verdict, data) -> str:
    if data is None or verdict.winner not in FITTED:
        return ""
    fit = f'gapkernel fit {data} --target "{verdict.problem.target}" --method {verdict.winner} --out model.skops'
    predict = "gapkernel predict model.skops NEW.csv --out predictions.csv"
    return f"<pre><code>{escape(fit)}\n{escape(predict)}</code></pre>"


def _members(members: Members | None) -> str:
    """A section on what the estimator that chooses has tried; nothing if it was not compared."""
    if members is None:
        return ""
    rows = "".join(
        f"<tr><td>{escape(row.member)}</td><td>{f'{row.weight:.0%}' if row.weight else '-'}</td>"
        f"<td>{row.score:.4f}</td><td>{row.seconds:.1f} s</td></tr>"
        for row in members
    )
    return (
        f'<section class="card wide"><h2>What the {escape(METHODS["gap"].label)} is made of</h2>'
        '<p class="why">The members that it tried on all rows, the best first: its share in the answers, its score on '
        "rows it had not learned from (the higher the better), and the time that trying it took.</p>"
        f'<div class="scroll"><table><thead><tr>{_head(("member", "weight", "score", "time"))}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    return '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
