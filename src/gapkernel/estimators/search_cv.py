"""What the estimators share that choose their penalty and their kernel width by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import config_context, get_config
from gapkernel.density import Density
from gapkernel.estimators.base import KernelMachine, warn_of_units
from gapkernel.estimators.calibration import ConformalIntervals
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.estimators.search import Search, check_partition, width_name, width_of
from gapkernel.kernels import Kernel, Missingness, make_kernel
from gapkernel.tables import Table
from gapkernel.tables.part_by_part import AnswersInParts
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns, set_or_forget

PENALTIES = tuple(2.0 ** np.arange(-5, 10, 2))
"""The penalties C of the genRBF paper."""

RIDGES = tuple(10.0 ** np.arange(-4, 4))
"""The same span for a ridge, which penalises the other way round."""


def of_best(name: str, doc: str) -> Any:
    """A property of a search that is the best estimator's."""
    return property(lambda search: getattr(search._best, name), doc=doc)


@dataclass(eq=False, repr=False, kw_only=True)
class SearchCV(AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """An estimator that tries every penalty with every width, and answers by the best; a subclass names its kind."""

    gammas: Any = 11
    kernel: str | Kernel = "genrbf"
    density: str | Density = "auto"
    cv: Any = None
    scoring: Any = None
    refit: bool = True
    n_jobs: int | None = None
    verbose: bool | int = False
    categorical_features: Any = "from_dtype"
    indicator: bool | Missingness = False
    best_estimator_: Any = field(init=False)

    _kind: ClassVar[type[KernelMachine]]
    _penalty: ClassVar[tuple[str, str]] = ("C", "Cs")
    _parameter_constraints: ClassVar[dict] = {"refit": ["boolean"]}

    def fit(self, X, y, sample_weight=None, groups=None) -> Self:
        """Choose the settings, and fit the estimator with them to all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in every fit, and in every score if ``scoring`` takes weights.
        groups : array-like of shape (n_samples,), default=None
            Groups for the splitter.

        Returns
        -------
        self : object
        """
        self._validate_params()
        with config_context(progress=bool(self.verbose) or get_config().progress):
            return self._search(X, y, sample_weight, groups)

    def _search(self, X, y, sample_weight, groups) -> Self:
        settings, known = self.get_params(deep=False), self._kind().get_params(deep=False).keys() - {"verbose"}
        estimator = self._kind(**{name: value for name, value in settings.items() if name in known})
        name, plural = self._penalty
        penalties = np.atleast_1d(settings[plural]).tolist()
        if not penalties:
            raise ValueError(f"{plural} is empty: give at least one {name}.")
        scorer = check_scoring(self._kind(), self.scoring)  # not self: a model that holds itself cannot be saved
        search = Search(estimator, X, y, self.cv, sample_weight=sample_weight, groups=groups, n_jobs=self.n_jobs)
        calibrate = bool(settings.get("conformal"))
        if calibrate:
            check_partition(search.splits, search.n_rows, f"conformal={settings['conformal']!r}")
        candidates = list(ParameterGrid({name: penalties, **self._widths(search)}))
        results = _results(candidates, search.scores(candidates, scorer))
        for shared in search.folds[0].shared.values():  # one density: the grid has penalties and widths only
            warn_of_units(search.estimator._kernel(), shared.density, search.n_rows)
        best = int(results["rank_test_score"].argmin())
        fitted = search.fit(candidates[best], calibrate=calibrate) if self.refit else None
        set_or_forget(self, best_estimator_=fitted)  # now: a fit that fails leaves nothing behind
        self.cv_results_, self.scorer_, self.n_splits_ = results, scorer, len(search.splits)
        self.best_index_, self.best_score_ = best, results["mean_test_score"][best]
        self.best_params_ = candidates[best]
        copy_columns(search.estimator, self)
        return self

    def predict(self, X) -> np.ndarray:
        """Predict by the best estimator.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._best.predict(X)

    schema_ = of_best("schema_", "What the columns held in `fit`: numbers, or categories and their levels.")
    training_summary_ = of_best("training_summary_", "What is remembered of the training table.")
    averages_gaps = of_best("averages_gaps", "Whether the decision value of a row is its average over the row's law.")
    gaussian_share = of_best("gaussian_share", "1 for Gaussian laws of the gaps, 0 for others.")
    n_iter_ = of_best("n_iter_", "Iterations of the best estimator's solver.")

    def table_of(self, X) -> Table:
        return self._best.table_of(X)

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        return self._best.cell_nodes(X, column, n_nodes)

    @property
    def _best(self):
        """The best estimator, or scikit-learn's error if there is none yet."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _widths(self, search: Search) -> dict[str, list]:
        """The parameter that holds the kernel's width, with its candidates; nothing without a width."""
        estimator, gammas = search.estimator, self.gammas
        named = isinstance(estimator.kernel, str)
        name = width_name(make_kernel(estimator.kernel, estimator.gamma))
        if name is None:
            return self._without_widths()
        name = name if named else f"kernel__{name}"
        truth = any(isinstance(value, bool | np.bool_) for value in np.ravel(np.asarray(gammas, dtype=object)))
        if isinstance(gammas, int | np.integer) and gammas >= 1 and not truth:
            scale = width_of(search.laws({name: "scale"}).kernel)
            if scale is None:
                return self._without_widths()  # the kernel has no use for it
            return {name: (scale * 2.0 ** (np.arange(gammas) - gammas // 2)).tolist()}
        one = isinstance(gammas, float | np.floating)
        widths = [gammas] if one else list(gammas) if np.ndim(gammas) else []
        if not widths or truth:
            raise ValueError(f"gammas must be a number of widths from 1 up, a width or a list, got {gammas!r}.")
        for gamma in widths:
            search.laws({name: gamma})  # refuses a wrong one
        return {name: [gamma.item() if isinstance(gamma, np.generic) else gamma for gamma in widths]}

    def _without_widths(self) -> dict[str, list]:
        """Nothing to choose from: an error if ``gammas`` was given."""
        if not isinstance(self.gammas, int | np.integer) or self.gammas != type(self).gammas:
            raise ValueError(
                f"gammas={self.gammas!r} has no effect, because kernel={self.kernel!r} has no single width to choose. "
                f"Leave gammas out, or search the parameters of the kernel with sklearn.model_selection.GridSearchCV."
            )
        return {}


class ChosenIntervals(ConformalIntervals):
    """The intervals of the estimator that a search chose; the errors are those on the test rows of its splits."""

    _best: Any

    calibration_ = of_best("calibration_", "The errors on the test rows, at the settings that were chosen, or None.")

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        return self._best._left_out_scores(places, table)


def _results(candidates: list[dict], scores: np.ndarray) -> dict:
    """`cv_results_` in the form of `GridSearchCV`, from scores of shape (n_splits, n_candidates)."""
    results: dict[str, Any] = {}
    for name in candidates[0]:
        values = [candidate[name] for candidate in candidates]
        words = any(isinstance(value, str) for value in values)
        results[f"param_{name}"] = np.ma.masked_array(np.array(values, dtype=object if words else None), mask=False)
    results["params"] = candidates
    results |= {f"split{k}_test_score": split for k, split in enumerate(scores)}
    by_candidate = np.ascontiguousarray(scores.T)  # summed in scikit-learn's order, so that ties are ties there too
    mean = by_candidate.mean(axis=1)
    results |= {"mean_test_score": mean, "std_test_score": by_candidate.std(axis=1)}
    worst = np.nanmin(mean) if not np.isnan(mean).all() else 0.0
    ranks = rankdata(-np.where(np.isnan(mean), worst - 1.0, mean), method="min")  # a score of NaN ranks last
    results["rank_test_score"] = ranks.astype(np.int32)
    return results
