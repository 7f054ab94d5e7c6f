"""What every figure shares: axes, colours, and a figure as SVG for a page. matplotlib is loaded only when needed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from io import StringIO
from itertools import pairwise
from typing import Any, Self

import numpy as np

PALETTE = ("#0b6fb8", "#2e7d32", "#0a767c", "#5a54c4", "#ad5321", "#8a5f08", "#9a3f6d", "#3d5a80", "#666666", "#1c2733")
SOFT, GRID = "#5b6875", "#e3e8ed"
OBSERVED, MISSING = "#9fc3e0", "#b8402a"
PAGE_WIDTH = 440
"""Of a figure on a page, in points: narrow enough for a phone."""
_TICKS = {"color": SOFT, "labelsize": 12, "major.size": 0}
PAGE_STYLE: dict[Any, Any] = {
    "font.size": 14,
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


def pyplot(display: str):
    """matplotlib.pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{display} needs matplotlib: pip install gapkernel[plots].") from error
    return plt


class Display:
    """A plot in scikit-learn's form, on one pair of axes; a subclass draws.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def plot(self, *, ax=None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        self : object
        """
        if ax is None:
            ax = pyplot(type(self).__name__).subplots(figsize=self._size(), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    def _n_lines(self) -> int:
        """Lines of a plot that has one for each cell, column or the like; 0 for any other."""
        return 0

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 6.4, 1.5 + 0.38 * max(2, self._n_lines()) if self._n_lines() else 4.0

    def _draw(self, ax) -> None:
        raise NotImplementedError


def frame(ax, *sides: str) -> None:
    """Leave these sides of the frame around a plot."""
    for side, line in ax.spines.items():
        line.set_visible(side in sides)


@contextmanager
def page_axes(height: float, *, left=46, right=20, bottom=48, top=14):
    """Axes of a new figure for a page; its size and margins are in points.

    Only the horizontal grid lines and the labels of the ticks are drawn. Text is never read as a formula.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=(PAGE_WIDTH / 72, height / 72), dpi=72)
        inner = (PAGE_WIDTH - left - right) / PAGE_WIDTH, (height - bottom - top) / height
        yield figure.add_axes((left / PAGE_WIDTH, bottom / height, *inner))


def as_svg(figure, alt: str) -> str:
    """A figure as an SVG element for a page: text stays text, and nothing outside is referred to.

    Parameters
    ----------
    figure : matplotlib Figure
    alt : str
        What the figure shows, for screen readers.
    """
    from html import escape

    import matplotlib as mpl

    for artist in figure.findobj():
        artist.set_clip_on(False)  # clipping is a reference by URL
    drawn = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": alt}):
        figure.savefig(drawn, format="svg", transparent=True, dpi=72, metadata={"Date": None})
    [(box, inside)] = re.findall(r'<svg[^>]*viewBox="([^"]*)"[^>]*>(.*)</svg>', drawn.getvalue(), re.DOTALL)
    extras = r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->| id=\"[\w.]+_\d+\""
    inside = re.sub(extras, "", inside, flags=re.DOTALL)
    inside = " ".join(re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", inside).split())
    name = escape(alt, quote=True)
    return f'<svg viewBox="{box}" stroke-linejoin="round" role="img" aria-label="{name}">{inside}</svg>'


def spaced(places, apart: float, most: float) -> list[float]:
    """Places moved as little as needed to be ``apart``, none beyond ``most``."""
    order = np.argsort(places, kind="stable")
    out = np.array(places, dtype=float)
    for before, after in pairwise(order):
        out[after] = max(out[after], out[before] + apart)
    over = out[order[-1]] - most
    if over > 0:
        out[order[-1]] -= over
        for after, before in pairwise(order[::-1]):
            out[before] = min(out[before], out[after] - apart)
    return [round(float(place), 1) for place in out]
