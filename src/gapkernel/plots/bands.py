"""How a prediction spreads as the cells of a row go missing one after another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from gapkernel.inspection.coverage import intervals
from gapkernel.plots.drawing import Display
from gapkernel.tables import floats_of, named_like_fit, one_row


@dataclass(kw_only=True, eq=False)
class PredictionBandDisplay(Display):
    """Prediction and interval of one row against the fraction of it that is missing.

    Build it with `from_estimator`.

    Parameters
    ----------
    fraction : ndarray of shape (n_steps,)
        Share of the row's cells that are missing.
    mean : ndarray of shape (n_steps,)
        The predictions.
    bands : dict of float to ndarray of shape (n_steps, 2)
        Intervals by their coverage.
    target : float, default=None
        The true value.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from gapkernel.plots import PredictionBandDisplay
    >>> display = PredictionBandDisplay.from_estimator(model, X_test[0], target=y_test[0])  # doctest: +SKIP
    """

    fraction: np.ndarray
    mean: np.ndarray
    bands: dict[float, np.ndarray]
    target: float | None = None

    @classmethod
    def from_estimator(
        cls, estimator, row, *, coverages=(0.5, 0.9), order=None, target=None, random_state=None, ax=None
    ) -> PredictionBandDisplay:
        """Hide the cells of a row one after another and plot what a fitted regressor says.

        Parameters
        ----------
        estimator : fitted regressor
            With ``predict_interval``, or ``predict(X, return_std=True)``.
        row : array-like of shape (n_features,), Series or frame of one row
            Numbers; cells already missing stay so.
        coverages : sequence of float, default=(0.5, 0.9)
            The probability that each band promises.
        order : sequence of int, default=None
            The columns in the order in which they go; None draws one.
        target : float, default=None
            The true value, drawn as a line.
        random_state : int, RandomState or None, default=None
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : PredictionBandDisplay
        """
        row = floats_of(one_row(row, estimator))[0]
        if order is None:
            order = check_random_state(random_state).permutation(len(row))
        order = [column for column in order if not np.isnan(row[_checked(column, len(row))])]
        rows = np.repeat(row[None], len(order) + 1, axis=0)
        for step, column in enumerate(order):
            rows[step + 1 :, column] = np.nan
        missing = np.isnan(rows).mean(axis=1)
        rows = named_like_fit(rows, estimator)
        bands = {coverage: intervals(estimator, rows, coverage) for coverage in coverages}
        display = cls(fraction=missing, mean=estimator.predict(rows), bands=bands, target=target)
        return display.plot(ax=ax)

    def _draw(self, ax) -> None:
        for coverage in sorted(self.bands, reverse=True):
            low, high = np.asarray(self.bands[coverage]).T
            ax.fill_between(self.fraction, low, high, color="C0", alpha=0.25, linewidth=0, label=f"{coverage:.0%}")
        ax.plot(self.fraction, self.mean, color="C0", marker="o", markersize=3, label="prediction")
        if self.target is not None:
            ax.axhline(self.target, color="black", linewidth=1, linestyle="--", label="target")
        ax.set(xlabel="fraction of the row missing", ylabel="target")
        ax.legend(frameon=False)


def _checked(column, n_columns: int) -> int:
    """An entry of ``order``, which must be the number of a column."""
    if not isinstance(column, int | np.integer) or not 0 <= column < n_columns:
        raise ValueError(f"order must hold column numbers from 0 to {n_columns - 1}, got {column!r}.")
    return int(column)
