"""What methods are ranked by, and how people write it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, root_mean_squared_error

from gapkernel.cli.problem import Problem


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Attributes
    ----------
    name, column : str
        What people call it, and where results keep it.
    meaning : str
        One line for those who do not know it.
    sign : int
        1 if more is better, -1 if less is.
    digits : int
        After the point.
    is_share : bool
        Whether it is shown in percent.
    """

    name: str
    column: str
    meaning: str
    sign: int = 1
    digits: int = 3
    is_share: bool = False

    @property
    def best(self) -> float:
        """The best value there can be."""
        return 1.0 if self.sign > 0 else 0.0

    def show(self, value: float) -> str:
        """A value as people write it."""
        rounded = round(100 * value if self.is_share else value, self.digits) + 0.0  # -0.0 is 0.0
        return f"{rounded:.{self.digits}f}{'%' * self.is_share}"

    def tick(self, value: float) -> str:
        """A value at a mark of an axis."""
        return f"{value:.0%}" if self.is_share else f"{value:.3g}"

    def lead(self, mean: float, margin: float | None = None) -> str:
        """A difference as people write it, with half the width of its interval."""
        around = "" if margin is None else f" ± {self.show(margin).removesuffix('%')}"
        return f"{self.show(mean).removesuffix('%')}{around}{' points' * self.is_share}"


ACCURACY = Measure("accuracy", "accuracy", "the share of rows whose class is right", digits=1, is_share=True)
BALANCED = Measure(
    "balanced accuracy",
    "balanced_accuracy",
    "the share of right answers in each class, averaged over the classes",
    digits=1,
    is_share=True,
)
LOG_LOSS = Measure(
    "log loss",
    "log_loss",
    "how wrong the probabilities are, sure mistakes costing most: the mean of minus log(probability of the true "
    "class), the lower the better",
    sign=-1,
)
R2 = Measure("R²", "r2", "the share of the target's variance that is explained: 1 is perfect, 0 is the mean")
RMSE = Measure(
    "RMSE", "rmse", "the typical size of an error in units of the target, the lower the better", sign=-1, digits=4
)


def measures_of(problem: Problem) -> tuple[Measure, ...]:
    """The measures of a problem; the first one ranks the methods, and is not accuracy where classes are uneven."""
    if not problem.is_classification:
        return R2, RMSE
    return (LOG_LOSS, BALANCED, ACCURACY) if problem.is_uneven else (ACCURACY, LOG_LOSS)


def measured(y: np.ndarray, estimator, X) -> tuple[dict[str, float], np.ndarray]:
    """Every measure of a fitted estimator on held-out rows, and its answers: probabilities, or values."""
    guess = estimator.predict(X)
    if not hasattr(estimator, "classes_"):
        return {R2.column: r2_score(y, guess), RMSE.column: root_mean_squared_error(y, guess)}, guess
    chances = estimator.predict_proba(X)
    return {
        ACCURACY.column: accuracy_score(y, guess),
        BALANCED.column: balanced_accuracy_score(y, guess),
        LOG_LOSS.column: log_loss(y, chances, labels=estimator.classes_),
    }, chances
