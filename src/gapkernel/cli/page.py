"""The report of a comparison: one HTML page that needs nothing but itself."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from gapkernel.cli.problem import FOLDS, INNER_FOLDS, Request
from gapkernel.cli.verdict import BASELINE, Verdict
from gapkernel.estimators.gap.combined import Members
from gapkernel.missingness.summary import GapSummary, summary
from gapkernel.plots import PALETTE
from gapkernel.plots.page_figures import (
    Look,
    as_image,
    curve_figure,
    interval_figure,
    pattern_figure,
    prediction_figure,
    reliability_figure,
)
from gapkernel.studies import CANDIDATES, Choice, versions
from gapkernel.studies.candidates import COMPARED

ALIKE = {"gap-quick": "gap", "fourier": "genrbf", "fourier-quick": "genrbf", "mean_landmarks": "mean_indicator"}
"""Methods that are never on one page, and share a colour."""

TERMS = {
    "± 95%": "half the width of an interval that holds the true mean in 95 of 100 such comparisons",
    "tune": "processor time to choose the settings of one training fold, without compiling",
    "fit": "processor time to fit the chosen model, probabilities included",
    "held-out fold": "rows that a model neither learned from nor chose its settings by",
    "chance": "differences are tested fold by fold, with Nadeau and Bengio's correction for training folds that share "
    "rows, and Holm's for the number of pairs; those with no model are counted by themselves",
    "row with gaps as a law": "certain where a value was observed, spread out over likely values where none was",
    "gap pattern": "rows that lack the same columns",
}


PROMISES = {
    True: (
        "Are its probabilities honest?",
        "Held-out rows in groups by the probability that {label} gave them (across), and how often it came true (up, "
        "95% intervals). Honest probabilities lie on the dashed line.",
    ),
    False: (
        "Predicted and true",
        "Each dot is a held-out row: the value {label} predicted (across) and the true one (up).",
    ),
}
"""What is said of the answers to held-out rows, of classes and of numbers."""


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
    promise_title, promise_note = PROMISES[problem.is_classification]
    words = {
        "title": f"{problem.target}: {winner} — gapkernel compare",
        "table_name": problem.name,
        "headline": verdict.headline,
        "score_note": f"Mean {measure.name} on held-out folds with its 95% interval, single folds as pale dots. Full "
        f"dots treat a row with gaps as a law; hollow ones are the usual recipes.",
        "gap_note": _gap_note(gaps),
        "promise_title": promise_title,
        "promise_note": promise_note.format(label=winner),
        "sight": verdict.sight,
        "method": _method(verdict),
        "versions": "Made by gapkernel compare with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".",
        "code": request.python(problem, verdict.winner, choice),
    }
    tiles = "Gap patterns: a line of tiles for each, red where a value is missing"
    scores = [(_named(verdict, name), *verdict.cells(name)) for name in verdict.ranked]
    markup = {
        "accent": colour_of(verdict.winner),
        "verdict": "".join(f"<p>{escape(text)}</p>" for text in verdict.sentences),
        "facts": _facts(verdict, gaps),
        "score_figure": _score_figure(verdict),
        "alone": "" if verdict.has_hidden else " wide",  # the curve stands beside it
        "curve": _curve(verdict),
        "gap_figure": as_image(pattern_figure(gaps.patterns), tiles),
        "promise": _promise(verdict),
        "scores": _table(("method", *verdict.columns), scores),
        "pairs": _pairs(verdict),
        "settings": _meanings({name: _value(value) for name, value in choice.settings.items()}),
        "members": _members(verdict, members),
        "shell": _unbroken(request.shell(verdict.winner)),
        "notes": "".join(f"<li>{escape(note)}</li>" for note in problem.notes),
        "terms": _terms(verdict),
    }
    template = Template(files("gapkernel.cli").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute({name: escape(text) for name, text in words.items()} | markup)


def colour_of(method: str) -> str:
    """The colour of a method."""
    return PALETTE[(*COMPARED, "linear").index(ALIKE.get(method, method))]


def _unbroken(shell: str) -> str:
    """Lines to paste whose options never break at a hyphen."""
    return re.sub(r"(?<!\S)-\S+", r"<span>\g<0></span>", escape(shell))


def _value(value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _facts(verdict: Verdict, gaps: GapSummary) -> str:
    facts = [
        (str(gaps.n_rows), "rows"),
        (str(gaps.n_columns), "columns" if gaps.n_columns != 1 else "column"),
        (f"{gaps.gap_fraction:.1%}", "of the cells are missing"),
        (str(gaps.n_rows - gaps.n_complete_rows), "rows have gaps"),
        (str(len(gaps.patterns)), "gap patterns" if len(gaps.patterns) != 1 else "gap pattern"),
    ]
    if verdict.problem.is_classification:
        facts.append((str(len(np.unique(verdict.problem.y))), "classes"))
    return "".join(f"<li><b>{escape(value)}</b><span>{escape(what)}</span></li>" for value, what in facts)


def _looks(verdict: Verdict, short: bool = False) -> list[Look]:
    candidates = {name: CANDIDATES[name] for name in verdict.ranked}
    return [
        Look(one.short if short else verdict.label(name), colour_of(name), not one.ours)
        for name, one in candidates.items()
    ]


def _score_figure(verdict: Verdict) -> str:
    spots, measure = verdict.by_split.to_numpy().T, verdict.measure
    means, margins = ([of[m] for m in verdict.ranked] for of in (verdict.means, verdict.margins))
    figure = interval_figure(_looks(verdict), means, margins, spots, measure.show, measure.tick)
    return as_image(figure, f"{measure.name} of each method with its interval")


def _curve(verdict: Verdict) -> str:
    """The section on hidden cells; nothing if none were hidden."""
    if not verdict.has_hidden:
        return ""
    note = (
        f"Cells of all columns are hidden at random, in training and in new rows alike. Mean {verdict.measure.name} on "
        f"held-out folds with 95% intervals."
    )
    values, margins = (of[verdict.ranked].to_numpy().T for of in (verdict.curve, verdict.curve_margins))
    x = verdict.curve.index.to_numpy()
    figure = curve_figure(_looks(verdict, short=True), x, values, margins, verdict.measure.tick, "cells hidden")
    head = ("cells hidden", *(f"{fraction:.0%}" for fraction in x))
    rows = [(_named(verdict, m), *verdict.curve_cells(m)) for m in verdict.ranked]
    drawn = as_image(figure, f"{verdict.measure.name} of each method as more cells are hidden")
    return (
        f'<section class="card"><h2>When more cells are hidden</h2><p class="why">{escape(note)}</p>{drawn}'
        f"<details><summary>In numbers</summary>{_table(head, rows)}</details></section>"
    )


def _promise(verdict: Verdict) -> str:
    """Answers to held-out rows beside the truth: a figure, and for probabilities a table."""
    colour = colour_of(verdict.winner)
    if not verdict.problem.is_classification:
        figure = prediction_figure(colour, *verdict.answers(verdict.winner), f"predicted {verdict.problem.target}")
        return as_image(figure, "Predicted and true values")
    promised, happened, low, high, counts, what = verdict.reliability(verdict.winner)
    figure = reliability_figure(colour, promised, happened, low, high, f"promised: {what}")
    rows = [
        (f"{said:.0%}", f"{true:.0%}", f"{least:.0%} to {most:.0%}", str(count))
        for said, true, least, most, count in zip(promised, happened, low, high, counts, strict=True)
    ]
    drawn = as_image(figure, "Promised and observed frequencies on held-out rows")
    return drawn + _table(("promised", "came true", "95% interval", "rows"), rows)


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
    return f'<i class="swatch{kind}" style="--mark: {colour_of(method)}"></i>{escape(verdict.label(method))}'


def _table(head, rows) -> str:
    """A table that scrolls by itself where it is wider than the screen; cells are markup."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _meanings(words: dict[str, str]) -> str:
    """Names and what they mean or are."""
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in words.items())


def _gap_note(gaps: GapSummary) -> str:
    if not gaps.n_gaps:
        return "Nowhere: every cell has a value."
    worst = int(gaps.column_gaps.argmax())
    share = gaps.column_gaps[worst] / gaps.n_rows
    return f"Most in “{gaps.names[worst]}” ({share:.1%}). A line of tiles is a pattern, red where a value is missing."


def _method(verdict: Verdict) -> str:
    times = len(verdict.by_split) // FOLDS
    hidden = ", and one at each share of hidden cells" * verdict.has_hidden
    platt = "Probabilities come from Platt's sigmoid, learned on held-out rows, unless a method has its own. "
    return (
        f"{'One cross-validation' if times == 1 else f'{times} cross-validations'} of {FOLDS} folds on the table as it "
        f"is{hidden}. Every method sees the same folds and gaps. Scaling, density, imputation and the choice of "
        f"settings (by {INNER_FOLDS} inner folds) use the training rows only. "
        f"{platt * verdict.problem.is_classification}Times are processor seconds after a warm-up."
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
    if BASELINE in verdict.ranked:
        what = "predicts the same for every row; what a model has to beat"
        meanings = {verdict.label(BASELINE): what} | meanings
    return _meanings(meanings)
