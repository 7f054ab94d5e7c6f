"""Which columns are missing together."""

from __future__ import annotations

import numpy as np

from gapkernel.missingness import GapPatterns, patterns
from gapkernel.plots.axes import new_axes

OBSERVED, MISSING = "#dfe7ef", "#c8553d"


class PatternDisplay:
    """The gap patterns of a table: a line for each pattern, a tile for each column, dark where there is a gap.

    Counts stand at the right; below each column its share of gaps. Build it with `from_table`.

    Parameters
    ----------
    patterns : GapPatterns
    max_patterns : int, default=20
        The rarest are put together in a last line of text.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.plots import PatternDisplay
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]])
    >>> display = PatternDisplay.from_table(X)  # doctest: +SKIP
    """

    def __init__(self, *, patterns: GapPatterns, max_patterns: int = 20):
        self.patterns = patterns
        self.max_patterns = max_patterns

    @classmethod
    def from_table(cls, X, *, max_patterns=20, ax=None) -> PatternDisplay:
        """Plot the gap patterns of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        max_patterns : int, default=20
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : PatternDisplay
        """
        return cls(patterns=patterns(X), max_patterns=max_patterns).plot(ax=ax)

    def plot(self, *, ax=None) -> PatternDisplay:
        """Draw the tiles.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        self : PatternDisplay
        """
        found, shown = self.patterns, min(len(self.patterns), self.max_patterns)
        n_columns, total = found.gaps.shape[1], int(found.counts.sum())
        size = (min(14.0, 2.2 + 0.42 * n_columns), 1.6 + 0.26 * shown)
        ax = new_axes(ax, "PatternDisplay", size)
        from matplotlib.colors import ListedColormap

        tiles = found.gaps[:shown].astype(float)
        ax.pcolormesh(tiles, cmap=ListedColormap([OBSERVED, MISSING]), vmin=0, vmax=1, edgecolors="white", linewidth=1)
        ax.invert_yaxis()
        ax.xaxis.tick_top()
        slant = {"rotation": 60, "ha": "left"} if n_columns > 6 or max(map(len, found.names)) > 8 else {}
        ax.set_xticks(np.arange(n_columns) + 0.5, found.names, fontsize=8, **slant)
        ax.set_yticks(np.arange(shown) + 0.5, [f"{int(gaps.sum())} missing" for gaps in found.gaps[:shown]], fontsize=8)
        ax.tick_params(length=0)
        for line, count in enumerate(found.counts[:shown]):
            ax.text(n_columns + 0.15, line + 0.5, f"{count} rows", va="center", fontsize=8, clip_on=False)
        share = found.counts @ found.gaps / total
        for column in range(n_columns):
            ax.text(column + 0.5, shown + 0.15, f"{100 * share[column]:.0f}%", ha="center", va="top", fontsize=7)
        rest = len(found) - shown
        left = f"{rest} more patterns, {int(found.counts[shown:].sum())} rows" if rest else f"{total} rows"
        ax.set_xlabel(left, labelpad=18, fontsize=9)
        ax.set_xlim(0, n_columns)
        for side in ax.spines.values():
            side.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
