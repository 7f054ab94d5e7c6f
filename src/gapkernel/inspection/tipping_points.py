"""How wrong may the laws of the gaps be before a prediction changes? Tilted laws, and where predictions tip over.

Whether values are missing for reasons that depend on them cannot be seen in a table. So the law N(m, S) of a row's gaps
is tilted to N(m + S delta, S), delta on one missing cell alone: its mean moves by c deviations of its column, and the
other gaps move with it as the law says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, validate_params
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.calibration.base import checked_coverage
from gapkernel.inspection.answers import ROWS_AT_ONCE, Answers, in_words, with_summary
from gapkernel.inspection.coverage import intervals
from gapkernel.tables import Table, Tilt

FARTHEST, STEP = 3.0, 0.25
"""The largest shift that is tried, and the steps at which it is: both in deviations of the column."""

HALVINGS = 12
"""How often a step in which a prediction changes is halved: tipping points are right to 1e-4 deviations."""


@dataclass(frozen=True, eq=False)
class TippingPoints:
    """How far the law of each missing cell can move before the prediction for its row changes; see `tipping_points`."""

    tilt: np.ndarray
    direction: np.ndarray
    predictions: np.ndarray
    gaussian_share: float
    names: tuple[str, ...]

    @property
    def rows(self) -> np.ndarray:
        """The tipping point of each row: the smallest of its cells, (n_samples,)."""
        return np.where(np.isnan(self.tilt), np.inf, self.tilt).min(axis=1)


@validate_params(
    {"tolerance": [Interval(Real, 0, None, closed="neither"), None], "coverage": [Real]},
    prefer_skip_nested_validation=True,
)
def tipping_points(model, X, *, coverage=0.9, tolerance=None) -> TippingPoints:
    """The smallest shift of each missing cell's law at which a prediction changes.

    Shifts are tried in steps of a quarter of a deviation, and the first step that changes the prediction is halved
    until the shift is known to 1e-4. A change that is undone within one step is not seen.

    Parameters
    ----------
    model : fitted estimator
        A classifier or regressor of this package with Gaussian laws: density "auto" (but not kernel "ehk"), `Gaussian`,
        `FactorAnalysis` or `JointGaussian`; or `GapClassifier` and `GapRegressor`, of which the members with such laws
        move.
    X : array-like or frame of shape (n_samples, n_features)
        The rows whose gaps are shifted.
    coverage : float, default=0.9
        The probability of the intervals that the predictions of a regressor may leave.
    tolerance : float, default=None
        For a regressor, by how much its prediction may change instead, whatever the interval.

    Returns
    -------
    result : TippingPoints
        Its attributes:

        tilt : ndarray of shape (n_samples, n_features)
            The smallest shift of the cell's mean, in standard deviations of its column, at which the predicted class
            changes, or the predicted number leaves its interval. Infinite where the cell was observed or no shift up
            to 3 changes anything; NaN for a missing category, which no number of deviations describes.
        direction : ndarray of shape (n_samples, n_features)
            1 where the shift is up, -1 where it is down, 0 where there is none.
        rows : ndarray of shape (n_samples,)
            The tipping point of each row: the smallest of its cells.
        predictions : ndarray of shape (n_samples,)
            The predictions without any shift.
        gaussian_share : float
            The weight of what moved. Below 1 some members of an ensemble have no Gaussian laws (trees have no laws at
            all) and answered as before, so the ensemble may be less steady than it seems.
        names : tuple of str
            The columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVC
    >>> from gapkernel.inspection import tipping_points
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 2))
    >>> model = SVC(kernel="linear").fit(X, X.sum(axis=1) > 0)
    >>> result = tipping_points(model, [[0.5, np.nan], [2.0, np.nan], [1.0, 1.0]])
    >>> result.tilt.round(1)
    array([[inf, 0.6],
           [inf, 2.2],
           [inf, inf]])
    """
    check_is_fitted(model)
    table = tiltable(model, X)
    spread, missing, predictions = model.training_summary_.deviations, table.missing, model.predict(table)
    rows, columns = np.nonzero(missing & ~np.isnan(spread))
    changes = _change_rule(model, table, predictions, checked_coverage(coverage), tolerance)
    tilt = np.where(missing & np.isnan(spread), np.nan, np.inf)
    direction = np.zeros(table.shape, np.int64)
    for side in (1, -1):

        def changed_at(shifts, cells, side=side):
            now = np.empty(len(cells), predictions.dtype)
            for column in np.unique(columns[cells]).tolist():
                mine = np.flatnonzero(columns[cells] == column)
                for part in (mine[batch] for batch in gen_batches(len(mine), ROWS_AT_ONCE)):
                    tilted = _under(model, table[rows[cells[part]]], column, side * shifts[part])
                    now[part] = model.predict(tilted)
            return changes(rows[cells], now)

        shifts = _first_change(len(rows), changed_at)
        nearer = shifts < tilt[rows, columns]
        tilt[rows[nearer], columns[nearer]] = shifts[nearer]
        direction[rows[nearer], columns[nearer]] = side
    names = table.schema.names or tuple(map(str, range(table.shape[1])))
    return TippingPoints(tilt, direction, predictions, model.gaussian_share, names)


def tiltable(model, X) -> Table:
    """The rows as a table, after a check that the model has laws that can be tilted."""
    model = with_summary(model, "has no laws of gaps that could be tilted")
    if model.gaussian_share == 0.0:
        raise ValueError(
            f"{type(model).__name__} has no Gaussian laws of gaps, and no others can be tilted: fit it with a kernel "
            f"such as 'rbf' and density='auto' or gapkernel.density.Gaussian()."
        )
    return model.table_of(X)


def tilt_curves(model, X, row: int, shifts: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """The missing numbers of a row, the answers to it under shifts of each, (n_gaps, n_shifts), and their name.

    A classifier answers by the probability of the class that it predicts without any shift, or else by the decision
    value for it.
    """
    table = tiltable(model, X)[[row]]
    columns = np.flatnonzero(table.missing[0] & ~np.isnan(model.training_summary_.deviations))
    answers = Answers.of(model, table, "predict_proba" if hasattr(model, "predict_proba") else "auto")
    label = model.predict(table)[0] if answers.of_classes else None
    [place], [sign], _ = answers.explained(label)
    many = table[np.zeros(len(shifts), int)]
    curves = [sign * answers.to(_under(model, many, column, shifts))[:, place] for column in columns.tolist()]
    return columns, np.array(curves).reshape(len(columns), len(shifts)), in_words(answers.method, label)


def _under(model, table: Table, column: int, deviations: np.ndarray) -> Table:
    """Rows under a shift of one column each, in deviations of it."""
    return replace(table, tilt=Tilt(column, deviations * model.training_summary_.deviations[column]))


def _change_rule(model, table: Table, before: np.ndarray, coverage: float, tolerance):
    """``changed(rows, predictions)``: whether predictions for rows (their places) are no longer what they were."""
    if is_classifier(model):
        return lambda rows, now: now != before[rows]
    if np.ndim(before) > 1:
        raise ValueError("tipping_points is for one target: the model predicts several.")
    if tolerance is not None:
        low, high = before - tolerance, before + tolerance
    else:
        low, high = intervals(model, table, coverage).T
    return lambda rows, now: (now < low[rows]) | (now > high[rows])


def _first_change(n_cells: int, changed_at) -> np.ndarray:
    """The smallest shift in one direction that changes each prediction; infinite if none up to `FARTHEST` does."""
    out, left = np.full(n_cells, np.inf), np.arange(n_cells)
    for upper in np.arange(STEP, FARTHEST + STEP / 2, STEP):
        if not len(left):
            break
        changed = changed_at(np.full(len(left), upper), left)
        out[left[changed]] = upper
        left = left[~changed]
    found = np.flatnonzero(np.isfinite(out))
    low, high = out[found] - STEP, out[found]
    for _ in range(HALVINGS if len(found) else 0):
        middle = 0.5 * (low + high)
        changed = changed_at(middle, found)
        low, high = np.where(changed, low, middle), np.where(changed, middle, high)
    out[found] = high
    return out
