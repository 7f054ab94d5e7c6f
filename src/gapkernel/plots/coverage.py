"""Do intervals cover as often as they say, whatever is missing?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.inspection import Coverage
from gapkernel.inspection import coverage as measured
from gapkernel.plots.drawing import Display


@dataclass(kw_only=True, eq=False)
class CoverageDisplay(Display):
    """Coverage of intervals against the number of missing cells, with 95 % confidence intervals.

    Points near the line are calibrated. Build it with `from_estimator`.

    Parameters
    ----------
    coverage : Coverage
    name : str, default=None
        A label for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from gapkernel.plots import CoverageDisplay
    >>> display = CoverageDisplay.from_estimator(model, X_test, y_test)  # doctest: +SKIP
    """

    coverage: Coverage
    name: str | None = None

    @classmethod
    def from_estimator(cls, estimator, X, y, *, coverage=0.9, name=None, ax=None) -> CoverageDisplay:
        """Plot the coverage of a fitted regressor on new rows.

        Parameters
        ----------
        estimator, X, y, coverage
            As in `gapkernel.inspection.coverage`.
        name : str, default=None
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : CoverageDisplay
        """
        return cls(coverage=measured(estimator, X, y, coverage), name=name).plot(ax=ax)

    def _draw(self, ax) -> None:
        result = self.coverage
        ax.axhline(result.coverage, color="black", linewidth=1, linestyle="--")
        reach = np.abs(result.confidence().T - result.covered)
        ax.errorbar(result.missing, result.covered, yerr=reach, marker="o", capsize=3, label=self.name)
        ax.set(xlabel="missing cells", ylabel=f"coverage of {result.coverage:.0%} intervals")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if self.name is not None:
            ax.legend(frameon=False)
