"""What `GapClassifier` and `GapRegressor` share: prepare the table, try members, combine and keep the good ones."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute.runtime.config import config_context, get_config
from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.threads import one_blas_thread, one_openmp_thread
from gapkernel.estimators.base import left_in, part_of, splits_among
from gapkernel.estimators.calibration.base import Calibration
from gapkernel.estimators.calibration.masks import MaskCalibration
from gapkernel.estimators.gap.combined import (
    FittedMember,
    LeftOutMembers,
    MemberRow,
    Members,
    combined,
    log_loss,
    weighted_mean,
)
from gapkernel.estimators.gap.members import FEATURES, KERNELS, TREES, Member, ProcessMember, Tried, of_estimator
from gapkernel.estimators.gap.preparation import AsItIs, Preparation, code_columns, preparation, views_of
from gapkernel.estimators.gap.shared_data import LEAST_GAIN, Judged, SharedData, Targets, drawn_rows, prepared_part
from gapkernel.estimators.inspectable import Inspectable
from gapkernel.estimators.sampled_density import sample_rows
from gapkernel.estimators.search import check_partition
from gapkernel.solvers.base import Folds
from gapkernel.tables import Table, read_labelled, read_splits, read_weight
from gapkernel.tables.part_by_part import AnswersInParts, parts_of
from gapkernel.tables.table_in_parts import MappedTable
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns

MOST_ROWS = 20_000
"""Rows by which members are chosen, weighted and calibrated; those that are used then learn from all rows."""


@dataclass(eq=False, repr=False, kw_only=True)
class GapEstimator(AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """Tries members on shared folds, averages the best of them, and calibrates by their out-of-fold answers."""

    members: str | list = "auto"
    cv: Any = 5
    n_exact: int = 2000
    time_limit: float | None = None
    conformal: bool | str = "count"
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    verbose: bool | int = False
    random_state: Any = None
    calibration_: Any = field(init=False)
    _left_out: Any = field(init=False)

    _parameter_constraints: ClassVar[dict] = {
        "members": [StrOptions({"auto"}), list, tuple],
        "scoring": [str, callable],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "n_exact": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Try the members, combine them, and fit those that are used to all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), dask collection or `batches`
            NaN, None and pd.NA mark a gap. Of a dask collection and of batches a sample is held in memory, by which
            the members are chosen.
        y : array-like of shape (n_samples,)
            None for `batches`, which contain y.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for. A weight of zero leaves a row out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        threads = joblib.effective_n_jobs(self.n_jobs)
        with config_context(n_threads=threads, progress=bool(self.verbose) or get_config().progress):
            return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight) -> Self:
        began, seed = time.monotonic(), int(check_random_state(self.random_state).randint(2**31 - 1))
        reader = clone(self)  # so that a fit that fails leaves no trace
        parts = None if isinstance(X, np.memmap) else parts_of(X, y, sample_weight)
        if parts is not None:
            rows = sample_rows(parts.n_rows, MOST_ROWS, np.random.RandomState(seed))
            X, y, sample_weight = parts.take(rows)
        options = {"categorical_features": self.categorical_features, "y_numeric": is_regressor(self)}
        table, y = read_labelled(reader, X, y, **options)
        given = None if isinstance(self.cv, Integral) else self._given_splits(table, y)
        table, y, weight, kept = left_in(table, y, read_weight(sample_weight, table))
        targets = self._targets(y, weight)
        table, y, weight, still = left_in(table, *targets(y, weight))
        splits = None if given is None else splits_among(given, kept[still])
        unit = 1.0 if weight is None else weight.mean()  # only ratios of weights count
        weight = None if weight is None else weight / unit
        members = self._members_of(len(table) if parts is None else parts.n_rows, parts is not None)
        some: Any = slice(None)
        in_time = all(member.takes_many_rows for member in members)
        if len(table) > MOST_ROWS and in_time and isinstance(self.cv, Integral):
            some = drawn_rows(y, MOST_ROWS, seed, 2 if is_classifier(self) else 0)
        chosen_by = table[some], y[some], part_of(weight, some)
        # members run side by side, so one thread each; what they warn of shows in their scores
        with one_blas_thread(), one_openmp_thread(), warnings.catch_warnings(action="ignore"):
            preparation, data = self._prepared(*chosen_by, splits, targets, seed, members)
            if parts is not None:
                known = {"reader": reader, "schema": table.schema, "targets": targets, "unit": unit}
                prepared = partial(prepared_part, preparation=preparation, **known)
                data = replace(data, everything=(MappedTable(parts, prepared), None, None))
            elif len(data.y) < len(y):
                data = replace(data, everything=(preparation(table), y, weight))
            tried = self._tried(members, data, began)
            answers = [one.judged.answers for one in tried]
            weights = self._weights(answers, [one.member.family for one in tried], data)
            used = [tried[k] for k in np.flatnonzero(weights)]
            fitted = [_fitted(one, data) for one in used]
            left_out = _left_out(used, data) if self.conformal == "mask" else None
        out_of_fold = weighted_mean(answers, weights)
        score = self._score(out_of_fold, data)
        calibration: Calibration | None = None
        if self.conformal:
            scores = self._row_scores(out_of_fold, data.y, by_mask=self.conformal == "mask")
            masks = preparation.masks(chosen_by[0])
            calibration = MaskCalibration(chosen_by[0], masks, scores).as_asked(self.conformal)
        self.preparation_, self.columns_, self.schema_ = preparation, preparation.columns, table.schema
        self.fitted_, self.weights_, self.cv_score_ = fitted, weights[weights > 0], score
        self._left_out = left_out
        self.calibration_, self.training_summary_ = calibration, preparation.summary(table)
        self.members_ = _listed(tried, weights)
        copy_columns(reader, self)
        if targets.labels is None:
            self._units = targets.units
        else:
            self.classes_ = np.asarray(targets.labels)
        return self

    def _members_of(self, n_rows: int, in_parts: bool) -> list[Member]:
        """The members to try, in their order."""
        if isinstance(self.members, str):
            exact = KERNELS if n_rows <= self.n_exact and not in_parts else FEATURES
            return [*(exact if in_parts else exact | TREES).values()]
        if not self.members:
            raise ValueError("members is empty: name at least one, or use members='auto'.")
        members = [self._member(given) for given in self.members]
        for member in members:
            if in_parts and not member.takes_parts:
                names = ", ".join(repr(member.name) for member in FEATURES.values())
                raise ValueError(
                    f"members: {member.name!r} learns from a table in memory. For batches and dask collections name "
                    f"{names}, or use members='auto'."
                )
        return members

    def _member(self, given) -> Member:
        known = KERNELS | FEATURES | TREES
        if isinstance(given, str):
            if given not in known:
                names = ", ".join(map(repr, known))
                raise ValueError(f"members: there is no member {given!r}. The members are {names}.")
            return known[given]
        wanted = is_classifier if is_classifier(self) else is_regressor
        if not hasattr(given, "fit") or not wanted(given):
            kind = "classifier" if is_classifier(self) else "regressor"
            raise ValueError(f"members: {given!r} is neither the name of a member nor a {kind}.")
        return of_estimator(type(given).__name__, given)

    def _prepared(
        self, table: Table, y, weight, splits: Folds | None, targets: Targets, seed: int, members: list[Member]
    ) -> tuple[Preparation, SharedData]:
        """The table in the coding of whole numbers that explains ``y`` better by evidence: numbers, or categories."""
        splits = splits or self._drawn_splits(y, seed)

        def made(codes) -> tuple[Preparation, SharedData]:
            prepare = preparation(table, codes)
            prepared = prepare(table)
            return prepare, SharedData(views_of(prepared), prepared, y, weight, splits, seed, targets)

        plain, codes = made(np.zeros(table.shape[1], bool)), code_columns(table)
        if not codes.any() or not any(isinstance(member, ProcessMember) for member in members):
            return plain
        coded = made(codes)
        return coded if coded[1].process.evidence > plain[1].process.evidence + LEAST_GAIN else plain

    def _drawn_splits(self, y: np.ndarray, seed: int) -> Folds:
        """As many shuffled folds as ``cv`` says, for all members."""
        number = min(int(self.cv), len(y))
        if number < 2:
            raise ValueError(f"{type(self).__name__} leaves rows out, which needs 2 or more: n_samples={len(y)}.")
        kind: type = KFold
        if is_classifier(self) and np.bincount(y).max() > 1:  # no more folds than the largest class has rows
            kind, number = StratifiedKFold, min(number, int(np.bincount(y).max()))
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a class with few rows
            return list(kind(number, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))

    def _given_splits(self, table: Table, y: np.ndarray) -> Folds:
        """The splits of a ``cv`` that is no number, among the rows as they were given."""
        splits = read_splits(check_cv(self.cv, y, classifier=is_classifier(self)).split(table.values, y), len(y))
        check_partition(splits, len(y), type(self).__name__)
        return splits

    def _tried(self, members: list[Member], data: SharedData, began: float) -> list[Tried]:
        """The members that suit the data, as many as there is time for."""
        tried: list[Tried] = []
        suited = [member for member in members if member.suits(data)]
        if not suited:
            raise ValueError("None of the members suits the table: use members='auto'.")
        for member in tracked(suited, len(suited), "Trying members"):
            start = time.monotonic()
            if tried and self.time_limit is not None and start - began > self.time_limit:
                break
            best = member.tried(data, self._judged)
            tried.append(replace(best, seconds=time.monotonic() - start))
        return tried

    def _judged(self, raw: np.ndarray, method: str, data: SharedData) -> Judged:
        answers, to_probabilities = self._answers(raw, method, data)
        return Judged(self._score(answers, data), answers, to_probabilities)

    def _average(self, X) -> np.ndarray:
        """The weighted mean of the members' answers."""
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        table = self.preparation_(table)
        with one_blas_thread(), one_openmp_thread():
            return combined(self.fitted_, self.weights_, table)

    def _masks(self, table: Table) -> np.ndarray:
        return self.preparation_.masks(table)

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        with one_blas_thread(), one_openmp_thread():
            answers = self._left_out.answers(places, self.preparation_(table), self.weights_)
        return self._row_scores(answers, self._left_out.y[places], by_mask=True)

    @property
    def gaussian_share(self) -> float:
        """The weight of the members that have Gaussian laws for gaps; the others have other laws, or trees."""
        check_is_fitted(self, "fitted_")
        return float(sum(w for w, m in zip(self.weights_, self.fitted_, strict=True) if m.has_gaussian_laws))

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row.

        The law is that of the member with the largest weight among those that see the table as it is, and Gaussian
        laws first.
        """
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        table = self.preparation_(table)
        place = np.flatnonzero(self.preparation_.used == column)
        if not len(place):
            return np.zeros(1), np.ones(1)  # nothing is learned from the column, whatever it holds
        pairs = zip(self.fitted_, self.weights_, strict=True)
        able = [(m.has_gaussian_laws, w, m.estimator) for m, w in pairs if m.has_laws and isinstance(m.view, AsItIs)]
        if not able:
            raise ValueError(
                "No member has laws for the gaps of the table as it is: pass density=, for example "
                "gapkernel.density.JointGaussian().fit(X_train)."
            )
        *_, estimator = max(able, key=lambda entry: entry[:2])
        values, weights = estimator.cell_nodes(table, int(place[0]), n_nodes)
        return self.preparation_.in_units(int(place[0]), values), weights

    @abstractmethod
    def _targets(self, y: np.ndarray, weight: np.ndarray | None) -> Targets:
        """How targets become those that members learn from."""

    @abstractmethod
    def _answers(self, raw: np.ndarray, method: str, data: SharedData) -> tuple[np.ndarray, Any]:
        """Out-of-fold probabilities or values from a member's raw answers, and the map to probabilities."""

    def _score(self, answers: np.ndarray, data: SharedData) -> float:
        """The score of out-of-fold answers; the higher the better."""
        if data.n_classes and self.scoring == "log_loss":
            return -log_loss(answers, data.y, data.weight)
        return data.scored(self.scoring, answers)

    @abstractmethod
    def _weights(self, answers: list[np.ndarray], families: list[str], data: SharedData) -> np.ndarray:
        """The weights of members with these out-of-fold answers, of these families."""

    @abstractmethod
    def _row_scores(self, answers: np.ndarray, y: np.ndarray, by_mask: bool) -> np.ndarray:
        """How far off answers to rows that were left out are, for intervals and sets."""


def _fitted(tried: Tried, data: SharedData, split: int | None = None) -> FittedMember:
    """A member fitted to all rows, or to those that a split learns from."""
    estimator = data.fit(tried.estimator, tried.setting, tried.view, split)
    view, schema = data.views[tried.view], data.seen[tried.view].learned_from(split)[0].schema
    return FittedMember(view, estimator, tried.method, tried.judged.to_probabilities, schema, data.n_classes)


def _left_out(used: list[Tried], data: SharedData) -> LeftOutMembers:
    """The members that are used, fitted to the rows that each split learns from."""
    split = np.empty(len(data.y), np.int64)
    for k, (_, test) in enumerate(data.splits):
        split[test] = k
    members = [[_fitted(one, data, k) for one in used] for k in range(len(data.splits))]
    return LeftOutMembers(data.y, split, members)


def _listed(tried: list[Tried], weights: np.ndarray) -> Members:
    rows = [
        MemberRow(one.member.name, one.shown, one.judged.score, float(share), one.seconds)
        for one, share in zip(tried, weights, strict=True)
    ]
    return Members(sorted(rows, key=lambda row: -row.score))
