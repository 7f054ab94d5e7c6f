"""What the densities fitted by expectation maximisation share: parameters, known densities, and how a fit went."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.standardise import Standard, standardise
from gapkernel.density.base import Density, no_observed_value, rows_with_values
from gapkernel.density.em.climb import Ascent, warn_unless_converged
from gapkernel.density.em.gaussian_em import Observations, ObservationsInParts
from gapkernel.rows import Moments
from gapkernel.tables import Schema, Table, numbers_of


@dataclass(eq=False, repr=False, kw_only=True)
class IteratedDensity(Density):
    """A density of numbers with parameters ``ridge``, ``tol`` and ``max_iter``, or with parameters that are known.

    A kind writes `_ascend` and `_in_units` for the one case, `_checked` for the other, and `_set` for both.
    """

    ridge: Any = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    mean_: np.ndarray = field(init=False)
    variances_: np.ndarray = field(init=False)
    covariance_: np.ndarray = field(init=False)

    _parameter_constraints: ClassVar[dict] = {
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_components": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    }
    known_names: ClassVar[tuple[str, ...]]
    """The parameters of a known density."""
    least_ridge: ClassVar[float]

    def _moments(self) -> Moments:
        return Moments(self.mean_, self.variances_, lambda: self.covariance_)

    def _read(self, X: Any, *, reset: bool = False) -> Table:
        table = super()._read(X, reset=reset)
        return Table(numbers_of(table, self), Schema.of_numbers(table.shape[1], table.schema.names), table.tilt)

    @classmethod
    def _known(cls, **parameters: Any) -> Self:
        """A known density, ready for use."""
        density = cls(**parameters)
        density._take_known()
        density.schema_ = Schema.of_numbers(len(density.mean_))
        density.n_features_in_ = len(density.mean_)
        return density

    def _fit(self, table: Table, sample_weight: ArrayLike | None) -> None:
        if self._fit_known(table.shape[1]):
            return
        table, weight = rows_with_values(table, sample_weight)
        self._estimate(Observations(table.values, weight))

    def _fit_known(self, n_columns: int) -> bool:
        """Whether the density is known; then its parameters are set, if they suit the table."""
        if all(getattr(self, name) is None for name in self.known_names):
            return False
        self._take_known()
        if len(self.mean_) != n_columns:
            raise ValueError(f"X has {n_columns} columns, but the known density has {len(self.mean_)}.")
        return True

    def _take_known(self) -> None:
        """Check the known parameters and set them; there is no iteration."""
        values, names = [getattr(self, name) for name in self.known_names], _listed(self.known_names)
        if any(value is None for value in values):
            raise ValueError(f"A known density needs all of {names}.")
        arrays = [np.array(value, dtype=np.float64) for value in values]
        if not all(np.isfinite(array).all() for array in arrays):
            raise ValueError(f"{names} of a known density must be finite.")
        self._set(*self._checked(*arrays))
        self._never_observed = np.zeros(len(self.mean_), bool)
        self.n_iter_, self.converged_ = 0, True
        for name in ("ridge_", "log_likelihood_", "objective_", "bic_"):
            self.__dict__.pop(name, None)  # of an earlier fit

    def _estimate(self, observations: Observations | ObservationsInParts) -> None:
        """Fit to rows that hold a value: the iteration runs on standardised columns, without those that do not vary."""
        standard = standardise(observations.total)
        if not standard.seen.any():
            raise no_observed_value()
        ascent, ridge = self._ascend(observations, standard)
        self._set(*self._in_units(ascent.point, standard))
        self.variances_ = self.variances_ - ridge * standard.variances
        warn_unless_converged(ascent, self.max_iter)
        self.ridge_, self._never_observed = ridge, standard.seen == 0
        self.log_likelihood_ = ascent.log_likelihood - standard.log_units
        self.objective_ = ascent.objective - standard.log_units
        self.n_iter_, self.converged_ = ascent.n_iter, ascent.converged

    @abstractmethod
    def _ascend(self, observations: Any, standard: Standard) -> tuple[Ascent, float]:
        """Where the iteration ends, and the ridge."""

    @abstractmethod
    def _in_units(self, point: Any, standard: Standard) -> tuple[np.ndarray, ...]:
        """The parameters ``known_names`` in the units of the table, from those of standardised columns."""

    @abstractmethod
    def _checked(self, *parameters: Any) -> tuple[np.ndarray, ...]:
        """Known parameters, finite arrays, if they go together."""

    @abstractmethod
    def _set(self, *parameters: Any) -> None:
        """Set the parameters ``known_names``, and what follows from them."""

    def _ridge_for(self, n_columns: int, n_rows: float) -> float:
        """The ridge; "auto" is strong where rows are few."""
        return float(np.clip(n_columns / n_rows**2, self.least_ridge, 1.0)) if self.ridge == "auto" else self.ridge

    def _choose(
        self,
        n_components: int | str,
        fit: Callable,
        counts: Iterable[int],
        most: int,
        n_parameters: Callable,
        standard: Standard,
    ) -> Ascent:
        """The fit with ``n_components`` components, at most ``most``; "auto" tries the ``counts`` in turn, until the
        Bayesian information criterion rises for the first time."""
        if not isinstance(n_components, str):
            self.bic_ = {}
            return fit(min(n_components, most))
        best, bic = None, {}
        for count in counts:
            ascent = fit(count)
            deviance = 2.0 * (standard.log_units - ascent.log_likelihood[-1])
            criterion = float(n_parameters(count) * np.log(max(standard.count, 2.0)) + deviance)
            falls = best is None or criterion < min(bic.values())
            bic[count] = criterion
            if not falls:
                break
            best = ascent
        self.bic_ = bic
        assert best is not None, "counts is never empty"
        return best

    def _without_never_observed(self, X: np.ndarray) -> np.ndarray:
        """A copy of ``X`` in one layout, with a constant in the columns that no training row had."""
        rows = np.array(X, order="C")  # sums over rows then do not depend on the caller's layout
        rows[:, self._never_observed] = self.mean_[self._never_observed]
        return rows


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1]
