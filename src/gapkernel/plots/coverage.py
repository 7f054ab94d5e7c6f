"""Do intervals cover as often as they say, whatever is missing?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.inspection import Coverage, coverage as measured
from gapkernel.plots.drawing import Display


@dataclass(kw_only=True, eq=False)
class CoverageDisplay(Display):
    """Coverage of intervals or sets against the number of missing cells, with 95 % confidence intervals.

    Points near the line are calibrated. With ``by="mask"`` there is a point for each mask with enough rows, those of
    masks with as many gaps side by side. Build it with `from_estimator`.

    Parameters
    ----------
    coverage : Coverage
        What to draw.
    name : str, default=None
        A label for the legend.
    least_rows : int, default=30
        Rows that a mask has at least to be drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import CoverageDisplay
    >>> display = CoverageDisplay.from_estimator(model, X_test, y_test)  # doctest: +SKIP
    """

    coverage: Coverage
    name: str | None = None
    least_rows: int = 30

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, coverage=0.9, by="count", name=None, least_rows=30, ax=None
    ) -> CoverageDisplay:
        """Plot the coverage of a fitted regressor or classifier on new rows.

        Parameters
        ----------
        estimator, X, y, coverage, by
            As in `gapkernel.inspection.coverage`.
        name : str, default=None
        least_rows : int, default=30
            Rows that a mask has at least to be drawn.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : CoverageDisplay
        """
        result = measured(estimator, X, y, coverage, by=by)
        return cls(coverage=result, name=name, least_rows=least_rows).plot(ax=ax)

    def _draw(self, ax) -> None:
        result = self.coverage
        ax.axhline(result.coverage, color="black", linewidth=1, linestyle="--")
        reach = np.abs(result.confidence().T - result.covered)
        if result.masks is None:
            ax.errorbar(result.missing, result.covered, yerr=reach, marker="o", capsize=3, label=self.name)
        else:
            drawn = np.flatnonzero(result.n_rows >= self.least_rows)
            places = _side_by_side(result.missing[drawn])
            look = {"linestyle": "none", "marker": "o", "markersize": 4, "linewidth": 1, "label": self.name}
            ax.errorbar(places, result.covered[drawn], yerr=reach[:, drawn], **look)
        ax.set(xlabel="missing cells", ylabel=f"coverage of {result.coverage:.0%} promised")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if self.name is not None:
            ax.legend(frameon=False)


def _side_by_side(counts: np.ndarray) -> np.ndarray:
    """Places around sorted whole numbers, for each number from 0.35 below to 0.35 above it."""
    first = np.searchsorted(counts, counts)
    total = np.searchsorted(counts, counts, side="right") - first
    return counts + 0.7 * ((np.arange(len(counts)) - first + 0.5) / total - 0.5)
