"""What every figure shares: axes and colours. matplotlib is loaded only when needed."""

from __future__ import annotations

from typing import Any, Self

PALETTE = ("#0b6fb8", "#2e7d32", "#0a767c", "#5a54c4", "#ad5321", "#8a5f08", "#9a3f6d", "#3d5a80", "#666666", "#1c2733")
SOFT, GRID = "#5b6875", "#e3e8ed"
OBSERVED, MISSING = "#9fc3e0", "#b8402a"


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
