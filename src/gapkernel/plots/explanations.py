"""What pushed predictions: a waterfall for one row, a swarm for many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.inspection.shapley import ShapleyValues, shapley
from gapkernel.plots.drawing import GRID, MISSING, PALETTE, SOFT, Display, frame
from gapkernel.tables import take_rows

UP, DOWN = MISSING, PALETTE[0]


@dataclass(kw_only=True, eq=False)
class WaterfallDisplay(Display):
    """How the cells of a row move the answer, one after another, from the base value; the largest on top.

    Gaps are named below. Build it with `from_estimator`.

    Parameters
    ----------
    shapley : ShapleyValues
        The values to draw.
    row : int, default=0
        Which of its rows.
    max_display : int, default=12
        Cells that are drawn one by one; the others are drawn together.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import WaterfallDisplay
    >>> display = WaterfallDisplay.from_estimator(model, X, row=3)  # doctest: +SKIP
    """

    shapley: ShapleyValues
    row: int = 0
    max_display: int = 12

    @classmethod
    def from_estimator(cls, estimator, X, *, row=0, max_display=12, ax=None, **options) -> WaterfallDisplay:
        """Plot what pushed the prediction for a row.

        Parameters
        ----------
        estimator, X
            As in `gapkernel.inspection.shapley`.
        row : int, default=0
            Which row of ``X``.
        max_display : int, default=12
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **options
            Further options of `gapkernel.inspection.shapley`.

        Returns
        -------
        display : WaterfallDisplay
        """
        found = shapley(estimator, take_rows(X, [row]), **options)
        return cls(shapley=found, max_display=max_display).plot(ax=ax)

    def _steps(self) -> tuple[list[str], np.ndarray]:
        """Labels and values, the largest first; what is too small to show is one step."""
        result = self.shapley
        values = result.values[self.row]
        order = [k for k in np.argsort(-np.abs(values), kind="stable") if not np.isnan(values[k])]
        shown = order if len(order) <= self.max_display else order[: self.max_display - 1]
        labels, steps = [result.label(self.row, k) for k in shown], values[shown]
        if len(shown) < len(order):
            labels.append(f"{len(order) - len(shown)} other cells")
            steps = np.append(steps, values[order[len(shown) :]].sum())
        return labels, steps

    def _n_lines(self) -> int:
        return len(self._steps()[0])

    def _draw(self, ax) -> None:
        result, (labels, steps) = self.shapley, self._steps()
        base = float(np.broadcast_to(result.base_value, len(result.values))[self.row])
        answer = base + steps.sum()
        ends = answer - np.concatenate([[0.0], np.cumsum(steps)])  # from the answer on top down to the base value
        places = np.arange(len(steps))
        colours = np.where(steps > 0, UP, DOWN)
        ax.barh(places, steps, left=ends[1:], color=colours, height=0.62)
        ax.vlines(ends[:-1], places - 1, places + 0.31, color=SOFT, linewidth=0.6, linestyle=":")
        ax.vlines(base, -0.5, len(steps) - 0.5, color=SOFT, linewidth=0.8, linestyle="--")
        reach = max(np.ptp(ends), 1e-12)
        for place, step, here in zip(places, steps, ends[:-1], strict=True):
            away, align = (0.012, "left") if step > 0 else (-0.012, "right")
            ax.text(here + away * reach, place, f"{step:+.3g}", va="center", ha=align, fontsize=9)
        ax.set_yticks(places, labels)
        ax.set_ylim(len(steps) - 0.4, -0.9)
        ax.set_xlim(ends.min() - 0.15 * reach, ends.max() + 0.15 * reach)
        gaps = [result.names[k] for k in np.flatnonzero(np.isnan(result.values[self.row]))]
        missing = f"\nmissing: {', '.join(gaps[:6])}{' ...' if len(gaps) > 6 else ''}" if gaps else ""
        ax.set_xlabel(f"{result.title(self.row)}: from {base:.3g} without any cell to {answer:.3g}{missing}")
        frame(ax, "bottom")


@dataclass(kw_only=True, eq=False)
class BeeswarmDisplay(Display):
    """The values of all rows, a line of points for each column; columns that move answers most are on top.

    A point is dark where the column's number (or the place of its level) is high; rows without the cell have no point.
    The share of gaps is at the right. Build it with `from_estimator`.

    Parameters
    ----------
    shapley : ShapleyValues
        The values to draw.
    max_display : int, default=12
        Columns that are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import BeeswarmDisplay
    >>> display = BeeswarmDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    shapley: ShapleyValues
    max_display: int = 12

    @classmethod
    def from_estimator(cls, estimator, X, *, max_display=12, ax=None, **options) -> BeeswarmDisplay:
        """Plot what pushed the predictions for many rows.

        Parameters
        ----------
        estimator, X
            As in `gapkernel.inspection.shapley`.
        max_display : int, default=12
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **options
            Further options of `gapkernel.inspection.shapley`.

        Returns
        -------
        display : BeeswarmDisplay
        """
        return cls(shapley=shapley(estimator, X, **options), max_display=max_display).plot(ax=ax)

    def _columns(self) -> np.ndarray:
        """The columns that are drawn, by the sum of what they move."""
        moved = np.nansum(np.abs(self.shapley.values), axis=0)
        return np.argsort(-moved, kind="stable")[: self.max_display]

    def _n_lines(self) -> int:
        return len(self._columns())

    def _draw(self, ax) -> None:
        result, columns = self.shapley, self._columns()
        cells = result.table.values
        reach = max(np.nanmax(np.abs(result.values), initial=0.0), 1e-12)
        for place, k in enumerate(columns):
            seen = np.flatnonzero(~np.isnan(result.values[:, k]))
            values, level = result.values[seen, k], cells[seen, k]
            rank = np.searchsorted(np.unique(level), level) / max(len(np.unique(level)) - 1, 1)
            heights = place + _spread(values, 2 * reach / 90)
            ax.scatter(values, heights, c=rank, cmap="viridis_r", vmin=0, vmax=1, s=12, linewidths=0, zorder=2)
            share = np.isnan(result.values[:, k]).mean()
            ax.text(
                1.01, place, f"{share:.0%}", transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=SOFT
            )
        ax.text(1.01, -0.75, "missing", transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=SOFT)
        ax.axvline(0.0, color=SOFT, linewidth=0.8)
        ax.hlines(range(len(columns)), *ax.get_xlim(), color=GRID, linewidth=0.8, zorder=0)
        ax.set_yticks(range(len(columns)), [result.names[k] for k in columns])
        ax.set_ylim(len(columns) - 0.4, -1.0)
        ax.set_xlabel(f"what the cell adds to {result.title()} (dark: a high value of the column)")
        frame(ax, "bottom")


def _spread(values: np.ndarray, width: float) -> np.ndarray:
    """Heights between -0.4 and 0.4 that keep points of about equal value apart: the crowded fan out."""
    heights = np.zeros(len(values))
    bins = np.round(values / width).astype(int)
    most = max(np.unique(bins, return_counts=True)[1].max(initial=1), 5)
    for b in np.unique(bins):
        mine = np.flatnonzero(bins == b)
        steps = np.arange(len(mine))
        heights[mine] = 0.8 / most * ((steps + 1) // 2) * np.where(steps % 2, 1, -1)
    return heights
