"""Mean ranks of methods on a line, and which of them do not differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.plots.drawing import Display
from gapkernel.studies import FriedmanNemenyi, friedman_nemenyi


@dataclass(kw_only=True, eq=False)
class CriticalDifferenceDisplay(Display):
    """Demsar's diagram: mean ranks on an axis, bars over methods whose difference may be chance.

    Build it with `from_scores` or from a result of `gapkernel.studies.friedman_nemenyi`.

    Parameters
    ----------
    result : FriedmanNemenyi
        The ranks to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.8, 0.9, 0.5]]
    >>> display = CriticalDifferenceDisplay.from_scores(scores, names=["a", "b", "c"])  # doctest: +SKIP
    """

    result: FriedmanNemenyi

    @classmethod
    def from_scores(cls, scores, *, significance=0.05, names=None, ax=None) -> CriticalDifferenceDisplay:
        """Rank methods over blocks and plot them.

        Parameters
        ----------
        scores : array-like or DataFrame of shape (n_blocks, n_methods)
            Higher is better.
        significance : float, default=0.05
            Probability of a wrong difference among methods that are all alike.
        names : sequence of str, default=None
            The methods; None takes the columns of a frame, or numbers.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        return cls(result=friedman_nemenyi(scores, significance=significance, names=names)).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 8.0, 1.5 + 0.3 * ((self.result.n_methods + 1) // 2) + 0.15 * len(self.result.groups())

    def _draw(self, ax) -> None:
        result = self.result
        k, order = result.n_methods, np.argsort(result.ranks, kind="stable")
        groups = result.groups()
        half = (k + 1) // 2
        room = 0.35 * len(groups) + 0.3
        ax.plot([1, k], [0, 0], color="black", linewidth=1.2)
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
            ax.text(rank, 0.2, str(rank), ha="center", va="bottom", fontsize=9)
        for place, group in enumerate(groups):
            ends = result.ranks[list(group)]
            y = -0.3 - 0.35 * place
            ax.plot([ends.min() - 0.04, ends.max() + 0.04], [y, y], color="black", linewidth=4, solid_capstyle="round")
        pad = 0.06 * (k - 1)
        for place, method in enumerate(order):
            left = place < half
            depth = place if left else k - 1 - place
            y, rank = -room - 0.55 * (depth + 1), result.ranks[method]
            edge = 1 - pad if left else k + pad
            ax.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=1)
            text = f"{result.names[method]}  {rank:.2f}"
            ax.text(edge + (-0.05 if left else 0.05), y, text, ha="right" if left else "left", va="center", fontsize=9)
        ax.plot([1, 1 + result.critical_difference], [1.0, 1.0], color="black", linewidth=1.5, marker="|")
        ax.text(
            1 + result.critical_difference / 2, 1.12, f"CD = {result.critical_difference:.2f}", ha="center", fontsize=9
        )
        ax.set(xlim=(1 - 3.2 * pad - 0.3, k + 3.2 * pad + 0.3), ylim=(-room - 0.55 * half - 0.4, 1.6))
        ax.axis("off")
