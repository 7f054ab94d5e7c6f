"""The report of a comparison: one HTML page that needs nothing but itself."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from gapkernel.cli.comparison.colours import colour_of, coloured, style_of
from gapkernel.cli.comparison.verdict import Verdict
from gapkernel.cli.output import counted
from gapkernel.cli.problem import FOLDS, INNER_FOLDS, Request
from gapkernel.estimators.gap.combined import Members
from gapkernel.missingness.summary import GapSummary, summary
from gapkernel.plots import PatternDisplay
from gapkernel.plots.drawing import as_svg, page_axes
from gapkernel.plots.scores import Look, curve_figure, interval_figure, prediction_figure, reliability_figure
from gapkernel.studies import CANDIDATES, Choice
from gapkernel.studies.store import versions

TERMS = {
    "± 95%": "half the width of an interval that holds the true mean in 95 of 100 such comparisons",
    "tune": "processor time to choose the settings of one training fold, without compiling",
    "fit": "processor time to fit the chosen model, probabilities included",
    "held-out fold": "rows that a model neither learned from nor chose its settings by",
    "chance": "differences are tested fold by fold, with Nadeau and Bengio's correction for training folds that share "
    "rows, and Holm's correction for the number of pairs (pairs with no model are counted by themselves); what does "
    "not survive is not claimed",
    "row with gaps as a law": "certain where a value was observed, spread out over likely values where none was",
    "gap pattern": "rows that lack the same columns",
}


def page(verdict: Verdict, choice: Choice, request: Request, members: Members | None = None) -> str:
    """The page as text.

    Parameters
    ----------
    verdict : Verdict
    choice : Choice
        The winner with its settings.
    request : Request
        What was asked for; the lines to paste ask for the same.
    members : Members, default=None
        Those of the Gap estimator, on all rows.
    """
    problem, gaps = verdict.problem, summary(verdict.problem.X)
    winner, measure = verdict.label(verdict.winner), verdict.measure
    parts = {
        "title": f"{problem.target}: {winner} — gapkernel compare",
        "table_name": problem.name,
        "headline": verdict.headline,
        "score_note": f"{measure.name.capitalize()} on held-out folds: mean with its 95% interval, single folds as "
        f"pale dots. Full dots treat a row with gaps as a law; hollow ones are the usual recipes.",
        "gap_note": _gap_note(gaps),
        "use_note": f"The settings that {winner} chose on all rows, and the lines that fit and use it."
        if choice.settings
        else f"The lines that fit {winner} to all rows and use it.",
        "method": _method(verdict),
        "versions": "Made by gapkernel compare with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".",
        "code": request.python(problem, verdict.winner, choice),
        **_promise_words(verdict),
    }
    drawn = {
        "style": style_of(verdict.winner),
        "verdict": "".join(f"<p>{escape(text)}</p>" for text in verdict.sentences),
        "facts": _facts(verdict, gaps),
        "score_figure": _score_figure(verdict),
        "alone": "" if verdict.has_hidden else " wide",  # the curve stands beside it
        "curve": _curve(verdict),
        "gap_figure": _gap_figure(gaps),
        "promise_figure": _promise_figure(verdict),
        "promise_table": _promise_table(verdict),
        "scores": _scores(verdict),
        "pairs": _pairs(verdict),
        "settings": "".join(f"<dt>{escape(k)}</dt><dd>{escape(_value(v))}</dd>" for k, v in choice.settings.items()),
        "members": _members(verdict, members),
        "shell": _unbroken(request.shell(verdict.winner)),
        "notes": _notes(problem.notes),
        "terms": _terms(verdict),
    }
    template = Template(files("gapkernel.cli.comparison").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute({name: escape(words) for name, words in parts.items()} | drawn)


def _unbroken(shell: str) -> str:
    """Lines to paste whose options never break at a hyphen."""
    return re.sub(r"(?<!\S)-\S+", r"<span>\g<0></span>", escape(shell))


def _value(value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _facts(verdict: Verdict, gaps: GapSummary) -> str:
    facts = [
        (verdict.measure.show(verdict.means[verdict.winner]), f"{verdict.measure.name} of the best"),
        (str(gaps.n_rows), "rows"),
        (str(gaps.n_columns), "columns" if gaps.n_columns != 1 else "column"),
        (f"{gaps.gap_fraction:.1%}", "of the cells are missing"),
        (str(gaps.n_rows - gaps.n_complete_rows), "rows have gaps"),
        (str(len(gaps.patterns)), "gap patterns" if len(gaps.patterns) != 1 else "gap pattern"),
    ]
    if verdict.problem.is_classification:
        facts.append((str(len(np.unique(verdict.problem.y))), "classes"))
    return "".join(f"<li><b>{escape(value)}</b><span>{escape(what)}</span></li>" for value, what in facts)


def _look(verdict: Verdict, method: str, short: bool = False) -> Look:
    label = CANDIDATES[method].short if short else verdict.label(method)
    return Look(label, colour_of(method), not CANDIDATES[method].ours)


def _score_figure(verdict: Verdict) -> str:
    spots = [verdict.by_split[m].to_numpy() for m in verdict.ranked]
    looks = [_look(verdict, m) for m in verdict.ranked]
    means, margins = ([of[m] for m in verdict.ranked] for of in (verdict.means, verdict.margins))
    figure = interval_figure(looks, means, margins, spots, verdict.measure.show, verdict.measure.tick)
    return coloured(as_svg(figure, f"{verdict.measure.name} of each method with its interval"))


def _curve(verdict: Verdict) -> str:
    """The section on hidden cells; nothing if none were hidden."""
    if not verdict.has_hidden:
        return ""
    note = (
        f"Cells of all columns are hidden at random, in training and in new rows alike. Mean {verdict.measure.name} on "
        f"held-out folds with 95% intervals."
    )
    looks = [_look(verdict, m, short=True) for m in verdict.ranked]
    values, margins = (of[verdict.ranked].to_numpy().T for of in (verdict.curve, verdict.curve_margins))
    x = verdict.curve.index.to_numpy()
    figure = curve_figure(looks, x, values, margins, verdict.measure.tick, "cells hidden")
    head = ("cells hidden", *(f"{fraction:.0%}" for fraction in x))
    rows = [(_named(verdict, m), *verdict.curve_cells(m)) for m in verdict.ranked]
    drawn = coloured(as_svg(figure, f"{verdict.measure.name} of each method as more cells are hidden"))
    return (
        f'<section class="card"><h2>When more cells are hidden</h2><p class="why">{escape(note)}</p>{drawn}'
        f"<details><summary>In numbers</summary>{_table(head, rows)}</details></section>"
    )


def _gap_figure(gaps: GapSummary) -> str:
    shown = PatternDisplay(patterns=gaps.patterns, max_patterns=10)
    names = 0 if gaps.n_columns > 40 else 6.2 * min(20, max(map(len, gaps.names)))
    with page_axes(names + 60 + 26 * min(10, len(gaps.patterns)), left=80, right=132, bottom=48, top=names + 12) as ax:
        drawn = as_svg(
            shown.plot(ax=ax).figure_, "Gap patterns: a line of tiles for each, red where a value is missing"
        )
    return coloured(drawn)


def _promise_words(verdict: Verdict) -> dict[str, str]:
    label = verdict.label(verdict.winner)
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
    winner, colour = verdict.winner, colour_of(verdict.winner)
    if verdict.problem.is_classification:
        found = verdict.reliability(winner)
        figure = reliability_figure(
            colour, found.promised, found.happened, found.low, found.high, f"promised: {found.what}"
        )
        return coloured(as_svg(figure, "Promised and observed frequencies on held-out rows"))
    figure = prediction_figure(colour, *verdict.answers(winner), f"predicted {verdict.problem.target}")
    return coloured(as_svg(figure, "Predicted and true values"))


def _promise_table(verdict: Verdict) -> str:
    """The figure on probabilities in numbers."""
    if not verdict.problem.is_classification:
        return ""
    found = verdict.reliability(verdict.winner)
    rows = [
        (f"{promised:.0%}", f"{happened:.0%}", f"{low:.0%} to {high:.0%}", str(count))
        for promised, happened, low, high, count in zip(*found[:5], strict=True)
    ]
    return _table(("promised", "came true", "95% interval", "rows"), rows)


def _scores(verdict: Verdict) -> str:
    rows = [(_named(verdict, m), *verdict.cells(m)) for m in verdict.ranked]
    return _table(("method", *verdict.columns), rows, "won")


def _pairs(verdict: Verdict) -> str:
    """Every method of the line against every one of the column."""
    pairs, measure = verdict.pairs, verdict.measure
    rows = []
    for first in verdict.ranked:
        cells = [_named(verdict, first)]
        for second in verdict.ranked:
            shown = "" if first == second else measure.lead(*pairs.lead(first, second)).removesuffix(" points")
            cells.append(f"<b>{shown}</b>" if first != second and pairs.beats(first, second) else shown)
        rows.append(tuple(cells))
    return _table(("method", *(CANDIDATES[name].short for name in verdict.ranked)), rows)


def _named(verdict: Verdict, method: str) -> str:
    """A method with the mark it has in the figures."""
    kind = "" if CANDIDATES[method].ours else " hollow"
    return f'<i class="swatch{kind}" style="--mark: var(--{colour_of(method)[1:]})"></i>{escape(verdict.label(method))}'


def _table(head, rows, first: str = "") -> str:
    """A table that scrolls by itself where it is wider than the screen; cells are markup."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = []
    for k, row in enumerate(rows):
        kind = f' class="{first}"' if first and k == 0 else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>")
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _gap_note(gaps: GapSummary) -> str:
    if not gaps.n_gaps:
        return "Nowhere: every cell has a value."
    worst = int(gaps.column_gaps.argmax())
    return (
        f"{counted(gaps.n_gaps, 'cell')} in {counted(gaps.n_rows - gaps.n_complete_rows, 'row')}; most in "
        f"“{gaps.names[worst]}” ({gaps.column_gaps[worst] / gaps.n_rows:.1%}). A line of tiles is a pattern, red "
        f"where a value is missing."
    )


def _method(verdict: Verdict) -> str:
    platt = (
        "Probabilities come from Platt's sigmoid, learned on held-out rows, except where a method has its own. "
        * verdict.problem.is_classification
    )
    times = len(verdict.by_split) // FOLDS
    hidden = ", and others with more and more cells hidden" * verdict.has_hidden
    return (
        f"{'One cross-validation' if times == 1 else f'{times} cross-validations'} of {FOLDS} folds on the table as it "
        f"is{hidden}. Every method sees the same folds and the same gaps. Scaling, density, imputation and the choice "
        f"of settings (by {INNER_FOLDS} inner folds) use the training rows only. {platt}Times are processor seconds "
        f"after a warm-up."
    )


def _members(verdict: Verdict, members: Members | None) -> str:
    """A section on what the Gap estimator has tried; nothing if it did not win."""
    if members is None:
        return ""
    rows = [
        (escape(row.member), f"{row.weight:.0%}" if row.weight else "-", f"{row.score:.4f}", f"{row.seconds:.1f} s")
        for row in members
    ]
    return (
        f'<section class="card wide"><h2>What the {escape(verdict.label(verdict.winner))} is made of</h2>'
        '<p class="why">The members that it tried on all rows, the best first: its share in the answers, its score on '
        "rows it had not learned from (the higher the better), and the time that trying it took.</p>"
        f"{_table(('member', 'weight', 'score', 'time'), rows)}</section>"
    )


def _terms(verdict: Verdict) -> str:
    meanings = {one.name: one.meaning for one in verdict.measures} | TERMS
    if "baseline" in verdict.ranked:
        what = "predicts the same for every row; what a model has to beat"
        meanings = {verdict.label("baseline"): what} | meanings
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in meanings.items())


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    return '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
