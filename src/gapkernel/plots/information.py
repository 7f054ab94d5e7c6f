"""Which missing cell would be most worth measuring?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.inspection import ValueOfInformation, value_of_information
from gapkernel.plots.drawing import Display


@dataclass(kw_only=True, eq=False)
class ValueOfInformationDisplay(Display):
    """Expected fall of a row's uncertainty for each of its missing cells, largest on top.

    With costs it is the fall for each unit of cost. Build it with `from_estimator`.

    Parameters
    ----------
    information : ValueOfInformation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import ValueOfInformationDisplay
    >>> display = ValueOfInformationDisplay.from_estimator(model, row)  # doctest: +SKIP
    """

    information: ValueOfInformation

    @classmethod
    def from_estimator(cls, estimator, row, *, ax=None, **options) -> ValueOfInformationDisplay:
        """Plot the value of measuring each missing cell of a row.

        Parameters
        ----------
        estimator, row
            As in `gapkernel.inspection.value_of_information`.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **options
            Further options of `gapkernel.inspection.value_of_information`.

        Returns
        -------
        display : ValueOfInformationDisplay
        """
        return cls(information=value_of_information(estimator, row, **options)).plot(ax=ax)

    def _n_lines(self) -> int:
        return len(self.information.names)

    def _draw(self, ax) -> None:
        result = self.information
        order = np.argsort(result.worth, kind="stable")
        of_now = f" (now {result.uncertainty:.3g})" if np.isfinite(result.uncertainty) else ""
        ax.barh([result.names[k] for k in order], result.worth[order])
        for_cost = ",\nfor each unit of cost" if result.priced else ""
        ax.set(xlabel=f"expected fall of the {result.measure}{of_now} if measured{for_cost}")
