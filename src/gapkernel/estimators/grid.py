"""Choosing penalty and kernel width by cross-validation, with everything shared that candidates have in common.

A fold fits its density once and turns its rows into laws once. A width gives one Gram matrix, on which the machine is
trained for every penalty. A search that fits each candidate by itself repeats all of this for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import joblib
import numpy as np
from scipy.stats import rankdata
from sklearn import config_context as sklearn_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from gapkernel.compute.runtime.config import config_context, get_config, thread_count
from gapkernel.compute.runtime.tasks import run_tasks
from gapkernel.estimators.base import KernelMachine, Laws, Training, resolve_kernel
from gapkernel.estimators.conformal import checked_partition
from gapkernel.kernels.base import Rows
from gapkernel.tables.part_by_part import AnswersInParts

PENALTIES = tuple(2.0 ** np.arange(-5, 10, 2))
"""The penalties C of the genRBF paper."""

RIDGES = tuple(10.0 ** np.arange(-4, 4))
"""The same span for a ridge, which penalises the other way round."""


@dataclass(frozen=True)
class Fold:
    """One split, as far as its candidates share it."""

    machine: KernelMachine
    training: Training
    density: Any
    rows: Rows
    new_rows: Rows
    y_test: Any
    scored_with: dict
    """The weights of the test rows, for a scorer that takes them."""


class GridMachine(AnswersInParts, BaseEstimator):
    """Base of the machines that choose their settings; a subclass names the machine and its penalty."""

    _machine: type[KernelMachine]
    _penalty = ("C", "Cs")

    def fit(self, X, y, sample_weight=None, groups=None):
        """Choose the settings, and fit the machine with them to all rows.

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
        settings = self.get_params(deep=False)
        known = self._machine().get_params(deep=False)
        machine = clone(self._machine(**{name: value for name, value in settings.items() if name in known}))
        penalties = self._penalties(machine)
        X, y = indexable(X, y)
        training = machine._training(X, y, sample_weight)
        weight = machine._weights_of(X, sample_weight)  # of all rows, also those of weight zero
        scorer = check_scoring(self._machine(), self.scoring)  # not self: a model that holds itself cannot be saved
        weighted = weight is not None and _takes_weights(scorer)
        splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, groups))
        if getattr(self, "conformal", False):
            training = training._replace(splits=checked_partition(splits, len(y)))
        n_threads = thread_count() if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)

        def fitted(k):
            with config_context(n_threads=1):
                if k < 0:
                    return machine._fit_density(training.table, training.weight)
                return _fold(machine, X, y, weight, splits[k], k, weighted)

        with threadpool_limits(1, "blas"):  # many small problems side by side: threads inside each would only wait
            with config_context(n_threads=n_threads):
                (density, rows), *folds = run_tasks(fitted, range(-1, len(splits)), "Fitting the densities")
            width, widths = self._widths(machine, density, rows)
            chooser = _Chooser(width, widths, self._penalty[0], penalties, scorer, n_threads)
            with config_context(n_threads=1):  # one split at a time, with all threads inside
                scores = run_tasks(chooser.scores, folds, "Choosing the settings")
        grid = {self._penalty[0]: penalties} | ({width: widths} if width else {})
        # as in ParameterGrid: the penalty is the outer loop, the width the inner one
        by_candidate = np.reshape(scores, (len(splits), len(widths), len(penalties))).transpose(0, 2, 1)
        results = _results(list(ParameterGrid(grid)), by_candidate.reshape(len(splits), -1))
        best = int(results["rank_test_score"].argmin())
        machine.set_params(**results["params"][best])
        if self.refit:  # before anything is set: a fit that fails leaves nothing behind
            laws = Laws(density, machine._fit_kernel(density, rows), rows)
            self.best_estimator_ = machine._train(training, laws)
        else:
            self.__dict__.pop("best_estimator_", None)  # of an earlier fit
        self.cv_results_, self.scorer_, self.n_splits_ = results, scorer, len(splits)
        self.best_index_, self.best_score_ = best, results["mean_test_score"][best]
        self.best_params_ = results["params"][best]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        return self

    def predict(self, X) -> np.ndarray:
        """Predict with the best machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @property
    def n_iter_(self):
        """Iterations of the best machine's solver."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.n_iter_

    def _penalties(self, machine: KernelMachine) -> list:
        name, plural = self._penalty
        penalties = np.atleast_1d(getattr(self, plural)).tolist()
        if not penalties:
            raise ValueError(f"{plural} is empty: give at least one {name}.")
        for penalty in penalties:
            clone(machine).set_params(**{name: penalty})._solver()  # complains of a wrong one
        return penalties

    def _widths(self, machine: KernelMachine, density, rows: Rows) -> tuple[str, list]:
        """The parameter that holds the kernel's width and its candidates; no name and one None without a width."""
        kernel = resolve_kernel(machine.kernel, machine.gamma)
        if "gamma" not in kernel.get_params(deep=False):
            return "", [None]
        name = "gamma" if isinstance(machine.kernel, str) else "kernel__gamma"
        truth = any(isinstance(given, bool | np.bool_) for given in np.ravel(np.asarray(self.gammas, dtype=object)))
        if isinstance(self.gammas, int | np.integer) and self.gammas >= 1 and not truth:
            scale = kernel.set_params(gamma="scale").resolve(density, getattr(rows, "rows", rows)).gamma
            if isinstance(scale, str):
                return "", [None]  # the kernel has no use for it
            return name, (scale * 2.0 ** (np.arange(self.gammas) - self.gammas // 2)).tolist()
        one = isinstance(self.gammas, float | np.floating)
        widths = [self.gammas] if one else list(self.gammas) if np.ndim(self.gammas) else []
        if not widths or truth:
            raise ValueError(f"gammas must be a number of widths from 1 up, a width or a list, got {self.gammas!r}.")
        for gamma in widths:
            clone(machine).set_params(**{name: gamma})._fit_kernel(density, rows)  # complains of a wrong one
        return name, [gamma.item() if isinstance(gamma, np.generic) else gamma for gamma in widths]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _fold(machine: KernelMachine, X, y, weight, split, number: int, weighted_score: bool) -> Fold:
    """Read the training rows of a split as the machine would, and fit their density."""
    machine, (train, test) = clone(machine), split
    try:
        part = None if weight is None else weight[train]
        training = machine._training(_safe_indexing(X, train), _safe_indexing(y, train), part)
        density, rows = machine._fit_density(training.table, training.weight)
    except ValueError as error:
        raise ValueError(f"Split {number} of cv cannot be trained on: {error}") from error
    new_rows = machine._condition(density, _safe_indexing(X, test))
    scored_with = {"sample_weight": weight[test]} if weighted_score else {}
    return Fold(machine, training, density, rows, new_rows, _safe_indexing(y, test), scored_with)


@dataclass(frozen=True)
class _Chooser:
    """Scores the grid on one split after another."""

    width: str
    widths: list
    penalty: str
    penalties: list
    scorer: Any
    n_threads: int

    def scores(self, fold: Fold) -> np.ndarray:
        """The scores of one split, (n_widths, n_penalties)."""
        n_rows, n_new = len(fold.rows), len(fold.new_rows)
        at_once = max(1, get_config().memory_budget // (8 * n_rows * (n_rows + n_new)))
        scores = []
        with config_context(n_threads=self.n_threads):
            for begin in range(0, len(self.widths), at_once):
                grams, crosses = self._matrices(fold, self.widths[begin : begin + at_once])
                scores += run_tasks(lambda pair: self._solved(fold, *pair), list(zip(grams, crosses, strict=True)))
        return np.array(scores)

    def _matrices(self, fold: Fold, widths: list) -> tuple[np.ndarray, np.ndarray]:
        """The kernel among the training rows, and between test and training rows, for each width."""
        if not self.width:
            kernel = fold.machine._fit_kernel(fold.density, fold.rows)
            return kernel.gram(fold.rows)[None], kernel.cross(fold.new_rows, fold.rows)[None]
        machine = clone(fold.machine)
        kernels = [machine.set_params(**{self.width: g})._fit_kernel(fold.density, fold.rows) for g in widths]
        gammas = [getattr(kernel, "kernel", kernel).gamma for kernel in kernels]
        return kernels[0].over_widths(gammas, fold.rows), kernels[0].over_widths(gammas, fold.new_rows, fold.rows)

    def _solved(self, fold: Fold, gram: np.ndarray, cross: np.ndarray) -> list[float]:
        """The score of each penalty on one Gram matrix."""
        solver, scores = fold.machine._solver(), []
        for penalty in self.penalties:
            with sklearn_context(assume_finite=True, skip_parameter_validation=True):  # checked once, above
                solver.set_params(**{self.penalty: penalty}).fit(gram, fold.training.y, fold.training.weight)
                scores.append(float(self.scorer(solver, cross, fold.y_test, **fold.scored_with)))
        return scores


def _takes_weights(scorer) -> bool:
    """Whether scores can be weighted, by the rule of `GridSearchCV`."""
    if hasattr(scorer, "_accept_sample_weight"):
        return scorer._accept_sample_weight()
    return "sample_weight" in signature(scorer).parameters


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
