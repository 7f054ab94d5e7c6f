"""Figures for a page: sized for a phone, and written into the page itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from gapkernel.missingness.summary import GapPatterns
from gapkernel.plots.drawing import GRID, PALETTE, SOFT
from gapkernel.plots.tiles import LONGEST_NAME, MOST_NAMES, PatternDisplay

WIDTH = 440
"""Of a figure, in points: narrow enough for a phone."""

LINE = 15.5
"""From one line of text to the next, in points."""

MOST_PATTERNS = 10
_TICKS = {"color": SOFT, "labelsize": 12, "major.size": 0}
STYLE: dict[Any, Any] = {
    "font.size": 14,
    "text.color": PALETTE[-1],
    "text.parse_math": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 12.5,
    "grid.color": GRID,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    "xtick.major.pad": 8,
}


@contextmanager
def page_axes(height: float, *, left=46, right=20, bottom=48, top=14):
    """Axes of a new figure for a page; its size and margins are in points.

    Only grid lines and the labels of the ticks are drawn. Text is never read as a formula.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
        inner = (WIDTH - left - right) / WIDTH, (height - bottom - top) / height
        yield figure.add_axes((left / WIDTH, bottom / height, *inner))


def as_image(figure, alt: str) -> str:
    """A figure as an image element that holds all of it; ``alt`` says what it shows where it is not seen."""
    import matplotlib as mpl

    drawn = BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": alt}):  # the browser knows more scripts
        figure.savefig(drawn, format="svg", transparent=True, dpi=72, metadata={"Date": None})
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}">'


@dataclass(frozen=True)
class Look:
    """How a method is shown: its name, its colour, and hollow marks if it only serves as a reference."""

    label: str
    colour: str
    hollow: bool = False

    @property
    def marks(self) -> dict:
        """Round marks with a rim."""
        face = "white" if self.hollow else self.colour
        return {"marker": "o", "markerfacecolor": face, "markeredgecolor": self.colour, "markeredgewidth": 2}


def interval_figure(looks: Sequence[Look], means, margins, spots, show: Callable, tick: Callable):
    """For each method its mean score with an interval, and single scores as pale dots below.

    Parameters
    ----------
    looks : sequence of Look
    means, margins : sequence of float
    spots : sequence of ndarray
        Single scores of each method.
    show, tick : callable
        A score as text, in full and at a tick.

    Returns
    -------
    figure : matplotlib Figure
    """
    with page_axes(52 * len(looks) + 26, left=16, bottom=24, top=2) as ax:
        for k, (look, mean, margin, single) in enumerate(zip(looks, means, margins, spots, strict=True)):
            above = {"xycoords": ("figure points", "data"), "textcoords": "offset points", "va": "baseline"}
            ax.annotate(look.label, (10, k), (0, 11), color=look.colour, weight="bold", **above)
            words = f"{show(mean)} ± {show(margin)}"
            ax.annotate(words, (WIDTH - 10, k), (0, 11), color=SOFT, size=12.5, ha="right", **above)
            ax.plot(single, np.full(len(single), k + 0.19), "o", color=look.colour, alpha=0.3, markersize=6, mew=0)
            ax.plot([mean - margin, mean + margin], [k, k], color=look.colour, linewidth=2.4)
            ax.plot(mean, k, color=look.colour, markersize=9, **look.marks)
        ax.set(ylim=(len(looks) - 0.55, -0.55), yticks=[])
        ax.grid(axis="x")
        ax.locator_params("x", nbins=5, steps=[1, 2, 5, 10])
        ax.xaxis.set_major_formatter(lambda value, _: tick(value))
        return ax.figure


def curve_figure(looks: Sequence[Look], x, values, margins, tick: Callable, label: str):
    """A line for each method over shares of hidden cells, named at its right end, with its intervals.

    ``values`` and ``margins``, half the widths of the intervals, are (n_methods, n_x).
    """
    with page_axes(330, right=124) as ax:
        apart = 0.03 * np.ptp(x) * np.linspace(-1, 1, len(looks))
        for look, line, margin, aside in zip(looks, values, margins, apart, strict=True):
            style = "--" if look.hollow else "-"
            ax.vlines(x + aside, line - margin, line + margin, color=look.colour, linewidth=1.2, alpha=0.55)
            ax.plot(x + aside, line, color=look.colour, linewidth=2.2, linestyle=style, markersize=6.8, **look.marks)
        ax.locator_params("y", nbins=6, steps=[1, 2, 5, 10])
        ax.margins(y=0.06)
        ax.autoscale_view()
        ends = ax.transData.transform([(x[-1] + aside, line[-1]) for aside, line in zip(apart, values, strict=True)])
        room = max(np.ptp(ends[:, 1]), LINE * (len(looks) - 1))  # names stand in the order of the ends of the lines
        lowest, places = min(ends[:, 1].min(), ax.bbox.y1 - room), np.linspace(0, room, len(looks))
        for place, k in zip(lowest + places, np.argsort(ends[:, 1], kind="stable"), strict=True):
            line = {"arrowstyle": "-", "color": looks[k].colour, "linewidth": 0.8, "shrinkB": 5, "relpos": (0, 0.5)}
            at = {"xycoords": "figure pixels", "textcoords": "figure pixels", "va": "center", "arrowprops": line}
            bold = {"color": looks[k].colour, "size": 11.5, "weight": "bold"}
            ax.annotate(looks[k].label, ends[k], (WIDTH - 107, place), **bold, **at)
        ax.set_xticks(x, [f"{share:.0%}" for share in x])
        ax.set_xlabel(label)
        ax.yaxis.set_major_formatter(lambda value, _: tick(value))
        return ax.figure


@contextmanager
def _truth_over_promise(ends: Sequence[float], label: str, left=46):
    """Square axes with the dashed line on which truth and promise agree."""
    with page_axes(316, left=left, right=24) as ax:
        ax.plot(ends, ends, color=SOFT, linestyle=(0, (3, 4)), linewidth=1)
        ax.set(xlim=ends, ylim=ends, xlabel=label)
        yield ax


def reliability_figure(colour: str, promised, observed, low, high, label: str):
    """Observed against promised frequencies with intervals, and the diagonal of perfect probabilities."""
    with _truth_over_promise((0, 1), label) as ax:
        ax.vlines(promised, low, high, color=colour, linewidth=1.6)
        ax.plot(promised, observed, "o", color=colour, markersize=9)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0%", "25%", "50%", "75%", "100%"])
        return ax.figure


def prediction_figure(colour: str, predicted, truth, label: str):
    """True against predicted values, and the diagonal of perfect predictions."""
    ends = min(predicted.min(), truth.min()), max(predicted.max(), truth.max())
    with _truth_over_promise(ends, label, left=62) as ax:
        ax.plot(predicted, truth, "o", color=colour, alpha=0.35, markersize=6, mew=0)
        ax.locator_params(nbins=5, steps=[1, 2, 5, 10])
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:.4g}")
        return ax.figure


def pattern_figure(patterns: GapPatterns):
    """The most frequent gap patterns: a line of tiles for each, dark where a value is missing."""
    shown, names = min(MOST_PATTERNS, len(patterns)), 0.0
    if len(patterns.names) <= MOST_NAMES:
        names = 6.2 * min(LONGEST_NAME, max(map(len, patterns.names)))  # the names stand on the slant above the tiles
    with page_axes(names + 60 + 26 * shown, left=80, right=132, top=names + 12) as ax:
        return PatternDisplay(patterns=patterns, max_patterns=MOST_PATTERNS).plot(ax=ax).figure_
