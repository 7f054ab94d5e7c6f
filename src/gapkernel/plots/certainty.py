"""How sure are predictions? Intervals that widen as cells go missing, and how often they hold the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from gapkernel.inspection.coverage import Coverage, coverage as measured, intervals
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
