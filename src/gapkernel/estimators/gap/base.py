"""What the classifier and the regressor that choose for themselves share: prepare, try members, combine, keep."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute.runtime.config import config_context, get_config, thread_count
from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.threads import one_blas_thread, one_openmp_thread, run_tasks
from gapkernel.estimators.calibration import Calibration, MaskCalibration
from gapkernel.estimators.class_weights import left_in, part_of, splits_among
from gapkernel.estimators.gap.columns import Preparation, code_columns, preparation
from gapkernel.estimators.gap.combination import ToProbabilities, log_loss, weighted_mean
from gapkernel.estimators.gap.inspection import InspectableMembers
from gapkernel.estimators.gap.left_out import LeftOutMembers
from gapkernel.estimators.gap.member_list import MemberRow, Members
from gapkernel.estimators.gap.members import EstimatorMember, FourierMember, KernelMember
from gapkernel.estimators.gap.problem import FittedMember, Member, Problem, Tried, drawn_rows
from gapkernel.estimators.gap.process_member import LEAST_GAIN, ProcessMember, process_evidence
from gapkernel.estimators.gap.targets import PreparedParts, Targets
from gapkernel.estimators.gap.views import AsItIs, View, gaps_as_levels, without_offsets
from gapkernel.estimators.sampled_density import sample_rows
from gapkernel.estimators.search import check_partition, weights_for
from gapkernel.solvers.base import Folds
from gapkernel.tables import Table, read_labelled, read_splits, read_weight
from gapkernel.tables.part_by_part import AnswersInParts, parts_of
from gapkernel.tables.table_in_parts import MappedTable
from gapkernel.tables.takes_gaps import TakesGaps, copy_columns

MEMBERS: dict[str, Member] = {
    member.name: member
    for member in (
        ProcessMember("process"),
        ProcessMember("process, shrunk", shrunk=True),
        ProcessMember("process, offsets", offsets=True),
        ProcessMember("process, shrunk, offsets", shrunk=True, offsets=True),
        KernelMember("genrbf", "genrbf"),
        KernelMember("ehk", "ehk"),
        KernelMember("rbf", "rbf"),
        KernelMember("linear", "linear"),
        KernelMember("genrbf, indicator", "genrbf", indicator=True),
        KernelMember("rbf, levels", "rbf", view="levels"),
        KernelMember("ehk, levels", "ehk", view="levels"),
        KernelMember("genrbf, offsets", "genrbf", view="offsets"),
        KernelMember("rbf, offsets", "rbf", view="offsets"),
        KernelMember("linear, offsets", "linear", view="offsets"),
    )
}
"""The members by name, in the order in which they are tried."""

LARGE = (FourierMember("fourier"), FourierMember("fourier, rbf", "rbf"))
"""The members for more than ``n_exact`` rows, beside the trees."""

MOST_ROWS = 20_000
"""Rows by which members are chosen, weighted and calibrated; those that are used then learn from all rows."""


class Outcome(NamedTuple):
    """A member that was tried, its out-of-fold answers and what they are worth."""

    found: Tried
    family: str
    answers: np.ndarray
    to_probabilities: ToProbabilities | None
    score: float
    seconds: float


@dataclass(eq=False, repr=False, kw_only=True)
class GapEstimator(AnswersInParts, InspectableMembers, TakesGaps, BaseEstimator):
    """Tries members on shared folds, averages the best of them, and calibrates by their out-of-fold answers."""

    members: str | list = "auto"
    cv: Any = 5
    n_exact: int = 2000
    time_limit: float | None = None
    conformal: bool | str = True
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
        threads = thread_count() if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)
        with config_context(n_threads=threads, progress=bool(self.verbose) or get_config().progress):
            return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight) -> Self:
        began, seed = time.monotonic(), int(check_random_state(self.random_state).randint(2**31 - 1))
        reader = clone(self)  # so that a fit that fails leaves no trace
        parts = None if isinstance(X, np.memmap) else parts_of(X, y, sample_weight)
        if parts is not None:
            rows = sample_rows(parts.n_rows, MOST_ROWS, np.random.RandomState(seed))
            X, y, sample_weight = parts.take(rows)
        table, y = read_labelled(reader, X, y, categorical_features=self.categorical_features, **self._reading)
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
            preparation, problem = self._problem(*chosen_by, splits, targets, seed, members)
            if parts is not None:
                prepared = PreparedParts(reader, table.schema, preparation, targets, unit)
                problem = replace(problem, everything=(MappedTable(parts, prepared), None, None))
            elif len(problem.y) < len(y):
                problem = replace(problem, everything=(preparation(table), y, weight))
            tried = self._tried(members, problem, began)
            answers, families = zip(*((outcome.answers, outcome.family) for outcome in tried), strict=True)
            weights = self._weights([*answers], [*families], problem)
            used = [tried[k] for k in np.flatnonzero(weights)]
            fitted = [_fitted(outcome, problem) for outcome in used]
            left_out = _left_out(used, problem) if self.conformal == "mask" else None
        combined = weighted_mean([*answers], weights)
        score = self._score(combined, problem)
        calibration: Calibration | None = None
        if self.conformal:
            scores = self._row_scores(combined, problem.y, by_mask=self.conformal == "mask")
            masks = preparation.masks(chosen_by[0])
            calibration = MaskCalibration(chosen_by[0], masks, scores).as_asked(self.conformal)
        self.preparation_, self.columns_, self.schema_ = preparation, preparation.columns, table.schema
        self.fitted_, self.weights_, self.cv_score_ = fitted, weights[weights > 0], score
        self._left_out = left_out
        self.calibration_, self.training_summary_ = calibration, preparation.summary(table)
        self.members_ = _listed(tried, weights)
        copy_columns(reader, self)
        return self._keep(targets)

    def _members_of(self, n_rows: int, in_parts: bool) -> list[Member]:
        """The members to try, in their order."""
        if isinstance(self.members, str):
            kernels = MEMBERS.values() if n_rows <= self.n_exact and not in_parts else LARGE
            return [*kernels] if in_parts else [*kernels, *self._trees.values()]
        if not self.members:
            raise ValueError("members is empty: name at least one, or use members='auto'.")
        members = [self._member(given) for given in self.members]
        for member in members:
            if in_parts and not member.takes_parts:
                names = ", ".join(repr(member.name) for member in LARGE)
                raise ValueError(
                    f"members: {member.name!r} learns from a table in memory. For batches and dask collections name "
                    f"{names}, or use members='auto'."
                )
        return members

    def _member(self, given) -> Member:
        known = MEMBERS | {member.name: member for member in LARGE} | self._trees
        if isinstance(given, str):
            if given not in known:
                names = ", ".join(map(repr, known))
                raise ValueError(f"members: there is no member {given!r}. The members are {names}.")
            return known[given]
        wanted = is_classifier if is_classifier(self) else is_regressor
        if not hasattr(given, "fit") or not wanted(given):
            kind = "classifier" if is_classifier(self) else "regressor"
            raise ValueError(f"members: {given!r} is neither the name of a member nor a {kind}.")
        return EstimatorMember(type(given).__name__, given)

    def _problem(
        self, table: Table, y, weight, splits: Folds | None, targets: Targets, seed: int, members: list[Member]
    ) -> tuple[Preparation, Problem]:
        """The table in the coding of whole numbers that explains ``y`` better by evidence: numbers, or categories."""
        splits, labels = splits or self._drawn_splits(y, seed), targets.labels
        n_classes = 0 if labels is None else len(labels)

        def made(codes):
            prepare = preparation(table, codes)
            prepared = prepare(table)
            found = {"plain": AsItIs(), "levels": gaps_as_levels(prepared), "offsets": without_offsets(prepared)}
            views: dict[str, View] = {name: view for name, view in found.items() if view is not None}
            return prepare, Problem(views, prepared, y, weight, n_classes, splits, seed, labels, targets.units)

        plain, codes = made(np.zeros(table.shape[1], bool)), code_columns(table)
        if not codes.any() or not any(isinstance(member, ProcessMember) for member in members):
            return plain
        coded = made(codes)
        return coded if process_evidence(coded[1]) > process_evidence(plain[1]) + LEAST_GAIN else plain

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

    def _tried(self, members: list[Member], problem: Problem, began: float) -> list[Outcome]:
        """The members that suit the problem, as many as there is time for."""
        outcomes: list[Outcome] = []
        suited = [member for member in members if member.suits(problem)]
        if not suited:
            raise ValueError("None of the members suits the table: use members='auto'.")
        for member in tracked(suited, len(suited), "Trying members"):
            if outcomes and self.time_limit is not None and time.monotonic() - began > self.time_limit:
                break
            start = time.monotonic()
            found = member.tried(problem, self._score_of_raw)
            answers, to_probabilities = self._answers(found.raw, found.method, problem)
            seconds = time.monotonic() - start
            score = self._score(answers, problem)
            outcomes.append(Outcome(found, member.family, answers, to_probabilities, score, seconds))
        return outcomes

    def _score_of_raw(self, raw: np.ndarray, method: str, problem: Problem) -> float:
        return self._score(self._answers(raw, method, problem)[0], problem)

    def _average(self, X) -> np.ndarray:
        """The weighted mean of the members' answers."""
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        table = self.preparation_(table)
        with one_blas_thread(), one_openmp_thread():
            answers = run_tasks(lambda member: member.answers(table), self.fitted_)
        return weighted_mean(answers, self.weights_)

    def _masks(self, table: Table) -> np.ndarray:
        return self.preparation_.masks(table)

    def _left_out_scores(self, places: np.ndarray, table: Table) -> np.ndarray:
        with one_blas_thread(), one_openmp_thread():
            answers = self._left_out.answers(places, self.preparation_(table), self.weights_)
        return self._row_scores(answers, self._left_out.y[places], by_mask=True)

    @property
    def _trees(self) -> dict[str, Member]:
        """Trees to try beside the kernels, by name."""
        from sklearn import ensemble  # slow to import

        kind = "Classifier" if is_classifier(self) else "Regressor"
        boosting = getattr(ensemble, f"HistGradientBoosting{kind}")
        trees = {
            "trees": boosting(random_state=0),
            "trees, small": boosting(max_iter=60, max_leaf_nodes=6, l2_regularization=1.0, random_state=0),
            "forest": getattr(ensemble, f"RandomForest{kind}")(300, min_samples_leaf=2, random_state=0),
        }
        return {
            name: EstimatorMember(name, estimator, "forest" if name == "forest" else "boosting")
            for name, estimator in trees.items()
        }

    @property
    def _reading(self) -> dict[str, Any]:
        """scikit-learn's options for checking the targets."""
        return {}

    @abstractmethod
    def _targets(self, y: np.ndarray, weight: np.ndarray | None) -> Targets:
        """How targets become those that members learn from."""

    @abstractmethod
    def _keep(self, targets: Targets) -> Self:
        """Keep what is known of the targets."""

    @abstractmethod
    def _answers(self, raw: np.ndarray, method: str, problem: Problem) -> tuple[np.ndarray, Any]:
        """Out-of-fold probabilities or values from a member's raw answers, and the map to probabilities."""

    def _score(self, answers: np.ndarray, problem: Problem) -> float:
        """The score of out-of-fold answers; the higher the better."""
        if problem.n_classes and self.scoring == "log_loss":
            return -log_loss(answers, problem.y, problem.weight)
        model = problem.answering(answers)
        scorer = check_scoring(model, self.scoring)
        weights = weights_for(scorer, problem.weight)
        return float(scorer(model, problem.table.values, problem.truth, **weights))

    @abstractmethod
    def _weights(self, answers: list[np.ndarray], families: list[str], problem: Problem) -> np.ndarray:
        """The weights of members with these out-of-fold answers, of these families."""

    @abstractmethod
    def _row_scores(self, answers: np.ndarray, y: np.ndarray, by_mask: bool) -> np.ndarray:
        """How far off answers to rows that were left out are, for intervals and sets."""


def _fitted(outcome: Outcome, problem: Problem, split: int | None = None) -> FittedMember:
    """A member fitted to all rows, or to those that a split learns from."""
    found = outcome.found
    return FittedMember(
        problem.views[found.view],
        found.fit(split=split),
        found.method,
        outcome.to_probabilities,
        problem.part(problem.seen(found.view), split)[0].schema,
        problem.n_classes,
    )


def _left_out(used: list[Outcome], problem: Problem) -> LeftOutMembers:
    """The members that are used, fitted to the rows that each split learns from."""
    split = np.empty(len(problem.y), np.int64)
    for k, (_, test) in enumerate(problem.splits):
        split[test] = k
    members = [[_fitted(outcome, problem, k) for outcome in used] for k in range(len(problem.splits))]
    return LeftOutMembers(problem.y, split, members)


def _listed(tried: list[Outcome], weights: np.ndarray) -> Members:
    rows = [
        MemberRow(outcome.found.name, outcome.found.settings, outcome.score, float(share), outcome.seconds)
        for outcome, share in zip(tried, weights, strict=True)
    ]
    return Members(sorted(rows, key=lambda row: -row.score))
