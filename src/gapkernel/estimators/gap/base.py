"""What the classifier and the regressor that choose for themselves share: prepare, try members, combine, keep."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.tasks import run_tasks
from gapkernel.estimators.calibration import GapCountCalibration
from gapkernel.estimators.gap.columns import Preparation, code_columns, preparation
from gapkernel.estimators.gap.combination import ToProbabilities
from gapkernel.estimators.gap.members import (
    LEAST_GAIN,
    EstimatorMember,
    FourierMember,
    KernelMember,
    ProcessMember,
    process_evidence,
)
from gapkernel.estimators.gap.problem import FittedMember, Member, Problem, Tried
from gapkernel.estimators.gap.views import AsItIs, View, gaps_as_levels, without_offsets
from gapkernel.estimators.inspectable import Inspectable, TrainingSummary
from gapkernel.estimators.search import check_partition, check_splits
from gapkernel.tables import Table, read_table
from gapkernel.tables.part_by_part import AnswersInParts, parts_of
from gapkernel.tables.takes_gaps import TakesGaps

MEMBERS: dict[str, Member] = {
    member.name: member
    for member in (
        ProcessMember("process"),
        ProcessMember("process, shrunk", shrunk=True),
        KernelMember("genrbf", "genrbf"),
        KernelMember("ehk", "ehk"),
        KernelMember("rbf", "rbf"),
        KernelMember("genrbf, indicator", "genrbf", indicator=True),
        KernelMember("ehk, indicator", "ehk", indicator=True),
        KernelMember("rbf, indicator", "rbf", indicator=True),
        KernelMember("rbf, levels", "rbf", view="levels"),
        KernelMember("ehk, levels", "ehk", view="levels"),
        KernelMember("genrbf, offsets", "genrbf", view="offsets"),
        KernelMember("rbf, offsets", "rbf", view="offsets"),
    )
}
"""The members by name, in the order in which they are tried."""

LARGE = (FourierMember("fourier"), FourierMember("fourier, rbf", "rbf"))
"""The members for more than ``n_exact`` rows, beside the trees."""


class MemberRow(NamedTuple):
    """A line of ``members_``.

    Attributes
    ----------
    member : str
    settings : dict
    score : float
        Out of fold; the higher the better.
    weight : float
        Its share in the answers; 0 for members that are not used.
    seconds : float
        What trying it took.
    """

    member: str
    settings: dict[str, Any]
    score: float
    weight: float
    seconds: float


class Members(tuple[MemberRow, ...]):
    """The members that were tried, the best first; printed as a table."""

    def __repr__(self) -> str:
        lines = [f"{'member':<24}{'score':>10}{'weight':>8}{'seconds':>9}  settings"]
        for row in self:
            settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
            lines.append(f"{row.member:<24}{row.score:>10.4f}{row.weight:>8.2f}{row.seconds:>9.1f}  {settings}")
        return "\n".join(lines)


class Outcome(NamedTuple):
    """A member that was tried, its out-of-fold answers and what they are worth."""

    found: Tried
    answers: np.ndarray
    to_probabilities: ToProbabilities | None
    score: float
    seconds: float


@dataclass(eq=False, repr=False, kw_only=True)
class GapEstimator(AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """Tries members on shared folds, averages the best of them, and calibrates by their out-of-fold answers."""

    members: str | list = "auto"
    cv: Any = 5
    n_exact: int = 2000
    time_limit: float | None = None
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    calibration_: Any = field(init=False)

    _parameter_constraints: ClassVar[dict] = {
        "members": [StrOptions({"auto"}), list, tuple],
        "scoring": [str, callable],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "n_exact": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _fit(self, table: Table, y: np.ndarray, weight: np.ndarray | None, labels=None, units=(0.0, 1.0)) -> Self:
        """Fit to checked data: ``y`` holds the places of the classes, or standardised numbers."""
        began, seed = time.monotonic(), int(check_random_state(self.random_state).randint(2**31 - 1))
        members, splits = self._members_of(len(table)), self._splits(table, y, seed)
        by_evidence = any(isinstance(member, ProcessMember) for member in members)
        with threadpool_limits(1), _quietly():  # members run side by side; the number of threads changes no result
            preparation, problem = _problem(table, y, weight, splits, seed, labels, units, by_evidence)
            tried = self._tried(members, problem, began)
            weights = self._weights([outcome.answers for outcome in tried], problem)
            fitted = [_fitted(tried[k], problem) for k in np.flatnonzero(weights)]
        combined = np.tensordot(weights, [outcome.answers for outcome in tried], axes=1)
        score = self._score(combined, problem)
        calibration = self._calibrated(combined, table.missing, problem)
        self.preparation_, self.columns_, self.schema_ = preparation, preparation.columns, table.schema
        self.fitted_, self.weights_, self.cv_score_ = fitted, weights[weights > 0], score
        self.calibration_, self.training_summary_ = calibration, TrainingSummary.of(table)
        rows = [
            MemberRow(outcome.found.name, outcome.found.settings, outcome.score, float(share), outcome.seconds)
            for outcome, share in zip(tried, weights, strict=True)
        ]
        self.members_ = Members(sorted(rows, key=lambda row: -row.score))
        return self

    def _refuse_parts(self, X, instead: str) -> None:
        if parts_of(X) is not None and not isinstance(X, np.memmap):
            raise ValueError(
                f"{type(self).__name__} learns from a table in memory. For batches and dask collections use {instead}, "
                f"or fit a sample of the rows: predict answers batches and dask collections."
            )

    def _members_of(self, n_rows: int) -> list[Member]:
        """The members to try, in their order."""
        if isinstance(self.members, str):
            kernels = MEMBERS.values() if n_rows <= self.n_exact else LARGE
            return [*kernels, *(EstimatorMember(name, trees) for name, trees in self._trees.items())]
        if not self.members:
            raise ValueError("members is empty: name at least one, or use members='auto'.")
        return [self._member(given) for given in self.members]

    def _member(self, given) -> Member:
        known = MEMBERS | {member.name: member for member in LARGE}
        known |= {name: EstimatorMember(name, trees) for name, trees in self._trees.items()}
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

    def _splits(self, table: Table, y: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The folds that all members share."""
        if isinstance(self.cv, Integral):
            number = min(int(self.cv), len(y))
            if number < 2:
                raise ValueError(f"{type(self).__name__} leaves rows out, which needs 2 or more: n_samples={len(y)}.")
            kind = StratifiedKFold if is_classifier(self) else KFold
            cv = kind(number, shuffle=True, random_state=seed)
            with warnings.catch_warnings():  # a class with fewer rows than folds
                warnings.simplefilter("ignore", UserWarning)
                return list(cv.split(np.zeros(len(y)), y)) if _can_stratify(cv, y) else _plain(number, y, seed)
        splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(table.values, y))
        check_splits(splits, len(y))
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
            outcomes.append(Outcome(found, answers, to_probabilities, self._score(answers, problem), seconds))
        return outcomes

    def _score_of_raw(self, raw: np.ndarray, method: str, problem: Problem) -> float:
        return self._score(self._answers(raw, method, problem)[0], problem)

    def _average(self, X) -> np.ndarray:
        """The weighted mean of the members' answers."""
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        table = self.preparation_(table)
        with threadpool_limits(1):
            answers = run_tasks(lambda member: member.answers(table), self.fitted_)
        return np.tensordot(self.weights_, answers, axes=1)

    @property
    def gaussian_share(self) -> float:
        """The weight of the members that have Gaussian laws for gaps; the others have other laws, or trees."""
        check_is_fitted(self, "fitted_")
        return float(sum(w for w, m in zip(self.weights_, self.fitted_, strict=True) if m.has_gaussian_laws))

    def table_of(self, X) -> Table:
        check_is_fitted(self, "fitted_")
        return read_table(self, X, reset=False, schema=self.schema_)

    @property
    @abstractmethod
    def _trees(self) -> dict[str, Any]:
        """Trees to try beside the kernels, by name."""

    @abstractmethod
    def _answers(self, raw: np.ndarray, method: str, problem: Problem) -> tuple[np.ndarray, Any]:
        """Out-of-fold probabilities or values from a member's raw answers, and the map to probabilities."""

    @abstractmethod
    def _score(self, answers: np.ndarray, problem: Problem) -> float:
        """The score of out-of-fold answers; the higher the better."""

    @abstractmethod
    def _weights(self, answers: list[np.ndarray], problem: Problem) -> np.ndarray:
        """The weights of the members."""

    @abstractmethod
    def _calibrated(self, answers: np.ndarray, missing: np.ndarray, problem: Problem) -> GapCountCalibration:
        """What out-of-fold answers say about the errors to expect."""


def _problem(table, y, weight, splits, seed, labels, units, by_evidence) -> tuple[Preparation, Problem]:
    """The table in the coding that explains ``y`` better: whole numbers as numbers, or, by evidence, as categories."""

    n_classes = 0 if labels is None else len(labels)

    def made(codes):
        prepare = preparation(table, codes)
        prepared = prepare(table)
        found = {"plain": AsItIs(), "levels": gaps_as_levels(prepared), "offsets": without_offsets(prepared)}
        views: dict[str, View] = {name: view for name, view in found.items() if view is not None}
        return prepare, Problem(views, prepared, y, weight, n_classes, splits, seed, labels, units)

    plain, codes = made(np.zeros(table.shape[1], bool)), code_columns(table)
    if not (codes.any() and by_evidence):
        return plain
    coded = made(codes)
    return coded if process_evidence(coded[1]) > process_evidence(plain[1]) + LEAST_GAIN else plain


def left_in(table: Table, y: np.ndarray, weight: np.ndarray | None) -> tuple[Table, np.ndarray, np.ndarray | None]:
    """The rows of positive weight."""
    if weight is None:
        return table, y, None
    kept = np.flatnonzero(weight)
    if not len(kept):
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return table[kept], y[kept], weight[kept] / weight[kept].mean()  # only their ratios count


def _fitted(outcome: Outcome, problem: Problem) -> FittedMember:
    found = outcome.found
    return FittedMember(problem.views[found.view], found.fit(), found.method, outcome.to_probabilities)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the warnings of members on the way: what they are worth shows in their scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _can_stratify(cv, y: np.ndarray) -> bool:
    return not isinstance(cv, StratifiedKFold) or np.bincount(y).max() >= cv.n_splits


def _plain(number: int, y: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(KFold(number, shuffle=True, random_state=seed).split(y))
