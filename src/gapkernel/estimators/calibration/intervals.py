"""Intervals around a regressor's predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gapkernel.estimators.calibration.base import Conformal, Limits
from gapkernel.tables import Table


class ConformalIntervals(Conformal):
    """Gives intervals to a regressor with parameter ``conformal``."""

    _promises = "intervals"
    predict: Callable[..., np.ndarray]

    def predict_interval(self, X, coverage=0.9, return_rule=False) -> Any:
        """An interval for the target of each row.

        The prediction plus and minus a quantile of the errors on left-out rows (a Gaussian process takes the quantile
        in units of its deviation). An estimator with a parameter ``conformal`` must be fitted with it, which says which
        rows these are: with True or "count" those that miss about as many cells, with "mask" rows with the same cells
        hidden as the new row misses.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9
            The probability that an interval holds the target.
        return_rule : bool, default=False
            Whether to return the rule that served each row too.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends, of each target by itself. Infinite if there are too few rows for the coverage.
        rules : ndarray of str, shape (n_samples,)
            If ``return_rule``. "count": left-out rows that miss about as many cells. With ``conformal="mask"`` also
            "same": left-out rows that miss the same cells; "exact": those that miss no others, hidden down to the same
            cells; "nested": those that miss few others, and the new row hidden where they are. "model": the law of the
            estimator itself.

        Notes
        -----
        With "count": if rows that miss about as many cells are exchangeable, and leaving some out changes the estimator
        little, the interval covers about as often as it promises among such rows. With "mask" it does so among the rows
        that miss the same cells, if gaps come about without regard to the values of the row and its target; for rows
        served by the rule "same" in any case. There is no guarantee in finite samples: the estimator that predicts has
        learned from all rows, and left-out rows have still taken part in the density and in chosen settings.

        Examples
        --------
        >>> import numpy as np
        >>> from gapkernel import KernelRidge
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((200, 2))
        >>> y = X.sum(axis=1)
        >>> X[:100, 0] = np.nan
        >>> model = KernelRidge(alpha=0.1, conformal=True).fit(X, y)
        >>> known, unknown = np.diff(model.predict_interval([[0.5, 0.0], [np.nan, 0.0]]))
        >>> bool(unknown > 10 * known)
        True
        """
        return self._promised(X, coverage, return_rule)

    def _promise(self, table: Table, limits: Limits) -> np.ndarray:
        centre, unit = self._centre_and_unit(table)
        half = unit * limits.highest
        intervals = np.stack([centre - half, centre + half], axis=1)
        if len(limits.nested):
            intervals[limits.nested] = self._nested_intervals(table, limits)
        return intervals

    def _nested_intervals(self, table: Table, limits: Limits) -> np.ndarray:
        """The ends beyond which too many left-out rows score lower under the masks that they share with a row."""
        n_rows, k, _ = limits.masks.shape
        centre, unit = (np.asarray(part) for part in self._centre_and_unit(limits.hidden(table)))
        half = (unit if unit.ndim == 0 else unit.reshape(n_rows, k)) * limits.scores
        centre = centre.reshape(half.shape)
        low, high = np.sort(centre - half, axis=1), np.sort(centre + half, axis=1)
        return np.stack([low[:, k - limits.rank], high[:, limits.rank - 1]], axis=1)

    def _centre_and_unit(self, table: Table) -> tuple[np.ndarray, Any]:
        """The middle of each interval, and the unit of its half-width."""
        return self.predict(table), 1.0
