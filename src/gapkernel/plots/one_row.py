"""The gaps of one row: what measuring each is worth, and how far the prediction rests on what is assumed of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapkernel.inspection.tipping_points import FARTHEST, TippingPoints, tilt_curves, tipping_points
from gapkernel.inspection.value_of_information import ValueOfInformation, value_of_information
from gapkernel.plots.drawing import PALETTE, SOFT, Display, frame


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


@dataclass(kw_only=True, eq=False)
class TiltDisplay(Display):
    """The answer to a row against the shift of each of its missing cells, with the tipping points as dots.

    A classifier's answer is the probability of the predicted class where it has one, else its decision value; a
    regressor's is its prediction. Build it with `from_estimator`.

    Parameters
    ----------
    curves : ndarray of shape (n_gaps, n_shifts)
        The prediction at each shift of the law of each gap.
    shifts : ndarray of shape (n_shifts,)
        In deviations of the columns.
    columns : ndarray of shape (n_gaps,)
        The missing cells.
    points : TippingPoints
        Of this row alone.
    ylabel : str
        What the curves show.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import TiltDisplay
    >>> display = TiltDisplay.from_estimator(model, X, row=3)  # doctest: +SKIP
    """

    curves: np.ndarray
    shifts: np.ndarray
    columns: np.ndarray
    points: TippingPoints
    ylabel: str

    @classmethod
    def from_estimator(cls, estimator, X, *, row=0, n_shifts=61, ax=None, **options) -> TiltDisplay:
        """Plot the answer to a row against shifts of its missing cells.

        Parameters
        ----------
        estimator, X
            As in `gapkernel.inspection.tipping_points`.
        row : int, default=0
            Which row of ``X``.
        n_shifts : int, default=61
            Shifts from -3 to 3 deviations.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **options
            Further options of `gapkernel.inspection.tipping_points`.

        Returns
        -------
        display : TiltDisplay
        """
        shifts = np.linspace(-FARTHEST, FARTHEST, n_shifts)
        columns, curves, ylabel = tilt_curves(estimator, X, row, shifts)
        points = tipping_points(estimator, estimator.table_of(X)[[row]], **options)
        return cls(curves=curves, shifts=shifts, columns=columns, points=points, ylabel=ylabel).plot(ax=ax)

    def _draw(self, ax) -> None:
        for place, (column, curve) in enumerate(zip(self.columns, self.curves, strict=True)):
            colour, name = PALETTE[place % len(PALETTE)], self.points.names[column]
            tilt = self.points.tilt[0, column]
            label = f"{name}: tips at {tilt:.2g}" if np.isfinite(tilt) else f"{name}: does not tip"
            ax.plot(self.shifts, curve, color=colour, label=label)
            if np.isfinite(tilt):
                at = tilt * self.points.direction[0, column]
                ax.plot(at, np.interp(at, self.shifts, curve), "o", color=colour)
        ax.axvline(0.0, color=SOFT, linewidth=0.8, linestyle=":")
        ax.set(xlabel="shift of the missing cell's law, in deviations of its column", ylabel=self.ylabel)
        if len(self.columns):
            ax.legend(frameon=False, fontsize=9)
        frame(ax, "left", "bottom")
