"""Which columns are missing together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.missingness.summary import GapPatterns, patterns
from gapkernel.plots.drawing import MISSING, OBSERVED, Display, frame

LONGEST_NAME = 20
MOST_NAMES, MOST_SHARES, MOST_SIGNS = 40, 20, 8
"""Columns up to which each gets its name, its share of gaps, and a sign of per cent behind that."""


@dataclass(kw_only=True, eq=False)
class PatternDisplay(Display):
    """The gap patterns of a table: a line for each pattern, a tile for each column, dark where there is a gap.

    At the right is how many rows have the pattern; below each column, its share of gaps. Build it with `from_table`.

    Parameters
    ----------
    patterns : GapPatterns
        The patterns to draw.
    max_patterns : int, default=20
        The rarest are put together in a last line of text.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.plots import PatternDisplay
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]])
    >>> display = PatternDisplay.from_table(X)  # doctest: +SKIP
    """

    patterns: GapPatterns
    max_patterns: int = 20

    @classmethod
    def from_table(cls, X, *, max_patterns=20, ax=None) -> PatternDisplay:
        """Plot the gap patterns of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        max_patterns : int, default=20
            How many to show; the rarest are put together in a last line of text.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : PatternDisplay
        """
        return cls(patterns=patterns(X), max_patterns=max_patterns).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        shown = min(len(self.patterns), self.max_patterns)
        return min(14.0, 2.6 + 0.42 * self.patterns.gaps.shape[1]), 1.6 + 0.26 * shown

    def _draw(self, ax) -> None:
        found, shown = self.patterns, min(len(self.patterns), self.max_patterns)
        n_columns, total = found.gaps.shape[1], int(found.counts.sum())
        from matplotlib.colors import ListedColormap

        edge = {"edgecolors": "white", "linewidth": 2 if n_columns <= 30 else 0.3}
        tiles = found.gaps[:shown].astype(float)
        ax.pcolormesh(tiles, cmap=ListedColormap([OBSERVED, MISSING]), vmin=0, vmax=1, **edge)
        ax.invert_yaxis()
        ax.xaxis.tick_top()
        names = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name in found.names]
        slant = {"rotation": 60, "ha": "left"} if n_columns > 6 or max(map(len, names)) > 8 else {}
        named = n_columns <= MOST_NAMES
        ax.set_xticks(np.arange(n_columns if named else 0) + 0.5, names if named else [], fontsize="small", **slant)
        ax.set_yticks(
            np.arange(shown) + 0.5, [f"{gaps.sum()} missing" for gaps in found.gaps[:shown]], fontsize="small"
        )
        ax.tick_params(length=0)
        beside = {"textcoords": "offset points", "annotation_clip": False}
        for line, count in enumerate(found.counts[:shown]):
            words = f"{_rows(count)}, {_share(count, total)}"
            ax.annotate(words, (n_columns, line + 0.5), (6, 0), fontsize="small", va="center", **beside)
        shares = [_share(count, total) for count in found.counts @ found.gaps]
        small = {"va": "top", "fontsize": "x-small"}
        if MOST_SIGNS < n_columns <= MOST_SHARES:
            shares = [share.removesuffix("%") for share in shares]
            ax.annotate("% missing", (0, shown + 0.15), (-4, 0), ha="right", **small, **beside)
        for column, share in enumerate(shares if n_columns <= MOST_SHARES else ()):
            ax.text(column + 0.5, shown + 0.15, share, ha="center", **small)
        rest = found.counts[shown:]
        patterns = "pattern" if len(rest) == 1 else "patterns"
        left = f"{len(rest)} more {patterns}, {_rows(rest.sum())}" if len(rest) else _rows(total)
        ax.set_xlabel(left, labelpad=18, fontsize="medium")
        ax.set_xlim(0, n_columns)
        ax.grid(False)
        frame(ax)


def _rows(count) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _share(count, total: int) -> str:
    """A share in per cent; a small one is not none."""
    return "<1%" if 0 < count <= 0.005 * total else f"{count / total:.0%}"
