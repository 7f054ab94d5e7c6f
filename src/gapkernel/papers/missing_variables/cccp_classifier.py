"""Classification with missing inputs and missing labels inside the model (Smola, Vishwanathan, Hofmann)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute import check_finite, row_keys, watched
from gapkernel.density import Density
from gapkernel.estimators import Inspectable, TrainingSummary
from gapkernel.kernels import POSITIVE
from gapkernel.papers.missing_variables.allowed_labels import read_labels
from gapkernel.papers.missing_variables.atomic_density import AtomicDensity
from gapkernel.papers.missing_variables.completion_features import (
    FeatureBlocks,
    FeatureMap,
    KernelBasis,
    complete_kernel,
)
from gapkernel.papers.missing_variables.losses import LOSSES, SMOOTH, IncompleteLoss, Labels, Partitions, masked_log_sum
from gapkernel.papers.missing_variables.minimisers import CCCP, LBFGS, IncompleteSolution, Minimiser, quiet
from gapkernel.papers.missing_variables.objective import Block, IncompleteProblem, Transduction
from gapkernel.tables import AnswersInParts, Table, TakesGaps, read_table, read_weight

CANDIDATES = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""What C="cv" chooses from."""

N_FOLDS = 3
MOST_ROWS, MOST_COMPLETIONS = 2000, 8
"""Rows that C is chosen by, and completions of each; of more, so many are drawn."""

UNCHOSEN = 1.0
"""C where there are too few labels to choose by."""

CHOOSING = LBFGS(1e-4, max_iter=300)
"""How the fits are solved by which C is chosen."""

ON_THE_WAY = 1e-4
"""Tolerance of the stages of transduction before the last."""


@dataclass(eq=False, repr=False, kw_only=True)
class CCCPClassifier(ClassifierMixin, AnswersInParts, Inspectable, TakesGaps, BaseEstimator):
    """Classification of rows with missing inputs and missing labels, integrated out inside the model.

    Each class has a score f_k(x) in the space of a kernel. A row with gaps has one for every way to complete it, and
    its probability of class k is that of the exponential family with the unobserved part x_u of x summed out,

        p(k | x_o) = exp(g_k - log sum_k' exp g_k'),    g_k = log sum_s w_s exp f_k(x_s),

    over completions x_s with weights w_s. Fitting is then no longer convex, but a difference of convex functions,
    which the concave-convex procedure (CCCP) minimises. On complete data it is kernel multinomial logistic
    regression, the maximum a posteriori of a Gaussian process, or the multiclass SVM of Crammer and Singer.

    Parameters
    ----------
    loss : {"gp", "svm"}, default="gp"
        "gp" is minus the log-probability of the label; "svm" the hinge of 1 - (g_y - max_(k != y) g_k).
    C : float or "cv", default="cv"
        Weight of the losses against 1/2 ||theta||^2: the variance of a normal prior. "cv" is that of 0.1, 1, 10, 100
        and 1000 with the least loss in a cross-validation of the labelled rows; 1 if fewer than two classes have three
        distinct rows.
    kernel : str, Kernel, scikit-learn kernel or callable, default="rbf"
        A kernel on complete vectors: a name of `sklearn.metrics.pairwise`, a kernel of this library for Gaussian
        laws, a kernel of `sklearn.gaussian_process.kernels`, or a function of two arrays.
    gamma : float or "scale", default="scale"
        For kernels given by name. "scale" is 1 / (n_features * variance of all cells), by the means and variances of
        the observed values of each column.
    density : "auto" or density, default="auto"
        How the gaps of a row are completed: an `AtomicDensity`. "auto", or any other density, is
        ``AtomicDensity(density)``: 50 quasi-random draws from the law of the gaps given the observed values.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. The kernel sees a 0/1 column for each level, and places for ordered categories.
        A missing category is completed to a level, by a Gaussian to codes from their law; a level unknown at fit is
        missing.
    indicator : bool, default=False
        Whether the kernel also sees a 0/1 column for each column, 1 in its gaps.
    basis : int, None or KernelBasis, default=None
        The basis functions of the scores. A number is ``KernelBasis(number)``: so many centres of clusters of the
        rows. None is ``KernelBasis()``: 500, or the number of rows.
    solver : CCCP, LBFGS or SGD, default=None
        How the objective is minimised, when to stop, and the most iterations. None is ``CCCP()``.
    transduction : Transduction, default=None
        Whether rows with several possible labels should also have a clear one, and how much they count. None: a row
        whose label is wholly missing changes nothing.
    class_weight : dict or "balanced", default=None
        Weights of the losses of rows that have one possible label; "balanced" makes all classes count the same.
    random_state : int, RandomState or None, default=None
        Seed of the completions, of the rows that the basis is picked from, and of `SGD`.
    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    C_ : float
        The weight of the losses.
    theta_ : ndarray of shape (n_classes, n_features)
        The scores are f_k(x) = <theta_k, phi(x)>.
    basis_ : ndarray of shape (n_used, n_codes)
        The complete rows of the basis functions: numbers, 0/1 codes of categories, and the indicator.
    n_basis_ : int
        Number of basis functions.
    kernel_ : CompleteKernel
        The kernel with numbers in place of words.
    completions_ : AtomicDensity
        The fitted law of the completions.
    density_ : density
        The density that completions come from.
    objective_ : ndarray
        The objective sum_i loss_i + ||theta||^2 / 2C at the start and after each iteration; with "svm" after each
        smooth loss.
    n_iter_ : int
        Iterations of the last stage.
    converged_ : bool
        Whether the objective settled within ``max_iter`` iterations.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        For each training row the probabilities of its possible labels.
    transduction_ : ndarray of shape (n_samples,)
        For each training row the most probable of its possible labels.
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they have names.

    See Also
    --------
    SVC : Kernels between laws, in closed form.

    Notes
    -----
    C="cv" takes three folds of at most 2000 distinct rows, eight completions of each, and the basis of all rows. The
    features of all completions are kept if they fit half the memory budget, else computed in every pass. A limit of
    the procedure is a stationary point, not always a minimum. p(k | x_o) is not the mean of p(k | x) over the
    completions: completions with high scores weigh more. Probabilities of "svm" come from the same formula, but the
    loss does not make them frequencies.

    References
    ----------
    Smola, Vishwanathan, Hofmann (2005), Kernel methods for missing variables, AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.papers.missing_variables import CCCPClassifier
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0], [0.1, 0.0]])
    >>> y = [0, 0, 1, 1, -1]  # the last label is unobserved
    >>> model = CCCPClassifier(gamma=0.5, C=10.0, random_state=0).fit(X, y)
    >>> model.predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    >>> model.transduction_
    array([0, 0, 1, 1, 0])
    """

    loss: str = "gp"
    C: float | str = "cv"
    kernel: Any = "rbf"
    gamma: float | str = "scale"
    density: str | Density = "auto"
    categorical_features: Any = "from_dtype"
    indicator: bool = False
    basis: int | KernelBasis | None = None
    solver: Minimiser | None = None
    transduction: Transduction | None = None
    class_weight: dict | str | None = None
    random_state: Any = None
    verbose: bool | int = False

    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions(set(LOSSES))],
        "C": [POSITIVE, StrOptions({"cv"})],
        "density": [StrOptions({"auto"}), Density],
        "indicator": ["boolean"],
        "basis": [Interval(Integral, 1, None, closed="left"), None, KernelBasis],
        "solver": [Minimiser, None],
        "transduction": [Transduction, None],
    }

    def fit(self, X, y, sample_weight=None) -> CCCPClassifier:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,) or bool of shape (n_samples, n_classes)
            Classes, -1 for an unobserved one (-1 cannot be a class); or for each row the classes that are still
            possible. The columns of a boolean frame name the classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows' losses; a row of weight 0 is not learned from.

        Returns
        -------
        self : CCCPClassifier
        """
        self._validate_params()
        basis = self.basis if isinstance(self.basis, KernelBasis) else KernelBasis(self.basis)
        solver = CCCP() if self.solver is None else self.solver
        parts: list[Any] = [basis, solver, *([self.transduction] if self.transduction else [])]
        for part in parts:
            part._validate_params()
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        labels = read_labels(y, table, type(self).__name__)
        weight = labels.weights(read_weight(sample_weight, table), self.class_weight)
        used = weight > 0
        if labels.candidates[used].all():
            raise ValueError("No row of positive weight has a label. Give some labelled row a weight above 0.")
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        completions = self._completions(seed).fit(table[used], sample_weight=weight[used])
        completions.counts(table)  # a row with too many is refused here, by its place in X
        columns = table[used].with_indicator(table[used].one_hot(), self.indicator)
        kernel = complete_kernel(self.kernel, self.gamma, columns, weight[used])
        features = basis.features(table[used], completions, kernel, indicator=self.indicator, random=random)
        wish = 0.0 if self.transduction is None else self.transduction.weight
        known = Labels(labels.candidates, weight, wish * (labels.candidates.sum(axis=1) > 1))
        C = self._penalty(table, known, completions, features)
        solution = self._solve(solver, table, known, C, completions, features, np.random.default_rng(seed))
        if not solution.converged:
            warnings.warn(
                f"{solver} stopped after {solution.n_iter} iterations, before the objective settled to "
                f"tol={solver.tol:g}. Raise its max_iter={solver.max_iter} or its tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.completions_, self.kernel_, self.basis_ = completions, kernel, features.basis.rows
        self.n_basis_, self._features, self.C_, self.theta_ = len(self.basis_), features, C, solution.theta
        self.objective_, self.n_iter_, self.converged_ = solution.objective, solution.n_iter, solution.converged
        self.classes_, self.schema_ = labels.classes, table.schema
        self.training_summary_ = TrainingSummary.of(table)
        _, self.label_distributions_ = masked_log_sum(self._log_partitions(table), labels.candidates)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    @property
    def density_(self) -> Density:
        """The density that completions come from."""
        return self.completions_.density_

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        return self.density_.cell_nodes(table, column, n_nodes)

    def decision_function(self, X) -> np.ndarray:
        """The log-partition functions g_k of each row, which are the scores f_k of a complete one.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes give one value, g_1 - g_0.
        """
        scores = self._log_partitions(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class, with the gaps summed out.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self._log_partitions(X)
        return masked_log_sum(scores, np.ones(scores.shape, dtype=bool))[1]

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None, pd.NA and levels unknown at fit are gaps.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        scores = self._log_partitions(X)
        return self.classes_[scores.argmax(axis=1)]

    def _completions(self, seed: int) -> AtomicDensity:
        """The law of the completions, not fitted yet."""
        completions = clone(self.density) if isinstance(self.density, AtomicDensity) else AtomicDensity(self.density)
        return completions.set_params(random_state=seed) if completions.random_state is None else completions

    def _penalty(self, table: Table, labels: Labels, completions: AtomicDensity, features: FeatureMap) -> float:
        if isinstance(self.C, Real):
            return float(self.C)
        rows, labels = _distinct(table, labels)
        blocks = FeatureBlocks(table[rows], completions, features, indicator=self.indicator, most=MOST_COMPLETIONS)
        return _chosen_penalty(blocks, labels, SMOOTH[self.loss], features.size)

    def _solve(
        self, solver: Minimiser, table: Table, labels: Labels, C: float, completions, features: FeatureMap, random
    ) -> IncompleteSolution:
        rows = np.flatnonzero((labels.weight > 0) & ((labels.transductive > 0) | ~labels.candidates.all(axis=1)))
        if solver.shuffles:
            rows = random.permutation(rows)  # so that a block of rows is a sample of them
        blocks = FeatureBlocks(table[rows], completions, features, indicator=self.indicator, verbose=self.verbose)
        known = [labels[rows[part]] for part in blocks.slices]
        theta = np.zeros((labels.candidates.shape[1], features.size))
        problem = IncompleteProblem(blocks, known, LOSSES[self.loss], 1.0 / C, theta.shape)
        wished = self.transduction is not None and labels.transductive[rows].any()
        stages = self.transduction.stages(problem) if wished else [problem]  # type: ignore[union-attr]
        rough = clone(solver).set_params(tol=max(solver.tol, ON_THE_WAY))
        with watched(type(solver).__name__, self.verbose) as watch:
            for stage in stages[:-1]:
                theta = rough.minimise(stage, theta, watch=watch, random=random).theta
            return solver.minimise(stages[-1], theta, watch=watch, random=random)

    def _log_partitions(self, X) -> np.ndarray:
        """g_k of each row, (n_rows, n_classes)."""
        table = self.table_of(X)
        out = np.empty((len(table), len(self.classes_)))
        blocks = FeatureBlocks(table, self.completions_, self._features, indicator=self.indicator, keep=False)
        for rows, block in zip(blocks.slices, blocks, strict=True):
            out[rows] = Partitions.of(block.scores(self.theta_), block.counts).log
        return check_finite(out, "The score of a class")


def _chosen_penalty(blocks: FeatureBlocks, labels: Labels, loss: IncompleteLoss, n_features: int) -> float:
    """The C of `CANDIDATES` with the least loss on held-out rows, the smallest of equals.

    Completions and basis are those of all rows, which know nothing of the labels. So the features of a row are
    computed once for all folds and penalties, and each C starts where the one before it ended.
    """
    classes = labels.candidates.argmax(axis=1)
    if (np.bincount(classes) >= N_FOLDS).sum() < 2:
        return UNCHOSEN
    fold = np.empty(len(labels), int)
    fold[np.argsort(classes, kind="stable")] = np.arange(len(labels)) % N_FOLDS  # classes in their proportions
    block, shape = Block.joined(list(blocks)), (labels.candidates.shape[1], n_features)
    losses = np.zeros(len(CANDIDATES))
    for here in range(N_FOLDS):
        train, test = np.flatnonzero(fold != here), np.flatnonzero(fold == here)
        seen, unseen, theta = block[train], block[test], np.zeros(shape)
        for place, C in enumerate(CANDIDATES):
            problem = IncompleteProblem([seen], [labels[train]], loss, 1.0 / C, shape)
            theta = CHOOSING.minimise(problem, theta, watch=quiet, random=None).theta
            losses[place] += loss.value(unseen.scores(theta), unseen.counts, labels[test])[0]
    return CANDIDATES[int(losses.argmin())]


def _distinct(table: Table, labels: Labels) -> tuple[np.ndarray, Labels]:
    """Rows with some label, no two of them alike, in an order that their values give; and their common labels.

    Rows that are alike count as one of their common weight, and folds depend on which rows there are. So the choice of
    C depends neither on the order of the rows nor on whether a row is repeated or weighted.
    """
    known = np.flatnonzero((labels.weight > 0) & ~labels.candidates.all(axis=1))
    keys = row_keys(np.column_stack([table[known].one_hot(), labels.candidates[known]]))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows, weight = known[first], np.bincount(which, labels.weight[known])
    chosen = slice(MOST_ROWS)
    return rows[chosen], Labels(labels.candidates[rows], weight, np.zeros(len(rows)))[chosen]
