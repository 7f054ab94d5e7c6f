"""Classification with missing inputs and missing labels inside the model (Smola, Vishwanathan, Hofmann)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.compute import check_finite, pivoted_cholesky, watched
from gapkernel.density import Density, base_measure
from gapkernel.estimators import Inspectable, TrainingSummary
from gapkernel.kernels import POSITIVE
from gapkernel.papers.missing_variables.allowed_labels import read_labels
from gapkernel.papers.missing_variables.complete_kernel import complete_kernel
from gapkernel.papers.missing_variables.completion_features import FeatureBlocks, FeatureMap, basis_size, rows_for_basis
from gapkernel.papers.missing_variables.log_partition import Partitions, masked_log_sum
from gapkernel.papers.missing_variables.losses import Labels
from gapkernel.papers.missing_variables.objective import IncompleteProblem
from gapkernel.papers.missing_variables.penalty_choice import chosen_penalty
from gapkernel.papers.missing_variables.transduction import LOSSES, SMOOTH, solve_incomplete
from gapkernel.tables import AnswersInParts, Table, TakesGaps, read_table, read_weight

AT_LEAST_ZERO = Interval(Real, 0, None, closed="left")
TOL, HINGE_TOL = 1e-5, 1e-3
"""Default tolerances; a bundle that is to be within 1e-5 of the corner of a hinge takes many times as long."""
WHOLE = Interval(Integral, 1, None, closed="left")


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
        Weight of the losses against 1/2 ||theta||^2. "cv" is that of 0.1, 1, 10, 100 and 1000 with the least loss in a
        cross-validation of the labelled rows; 1 if fewer than two classes have three distinct rows.
    sigma : float, default=None
        The same as the deviation of a normal prior: C = sigma^2. Give one of the two.
    kernel : str, Kernel, scikit-learn kernel or callable, default="rbf"
        A kernel on complete vectors: a name of `sklearn.metrics.pairwise`, a kernel of this library for Gaussian
        laws, a kernel of `sklearn.gaussian_process.kernels`, or a function of two arrays.
    gamma : float or "scale", default="scale"
        For kernels given by name. "scale" is 1 / (n_features * variance of all cells), by the means and variances of
        the observed values of each column.
    kernel_params : dict, default=None
        More parameters of a kernel given by name.
    completions : {"density", "uniform", "empirical", "exact"}, default="density"
        What the gaps may hold. "density": draws from their law given the observed values. "uniform": draws from the
        range of each column, the paper's, or any level of a category. "empirical": values copied together from similar
        rows. "exact": all combinations of the values that the columns have shown, with equal weights, if they are few.
    n_completions : int, default=50
        Completions of a row with gaps; "exact" has its own number. With Sobol points prefer powers of two.
    sampling : {"sobol", "random"}, default="sobol"
        Quasi-random or random completions. Either way those of a row depend on the row and ``random_state`` alone.
    density : "auto" or density, default="auto"
        Of completions="density". "auto" is `density.Gaussian`, or `density.JointGaussian` over numbers and codes with
        categories in the table.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. The kernel sees a 0/1 column for each level, and places for ordered categories.
        A missing category is completed to a level, by "density" to codes from their law; a level unknown at fit is one.
    indicator : bool, default=False
        Whether the kernel also sees a 0/1 column for each column, 1 in its gaps.
    n_basis : int, default=None
        Most basis functions, at most the number of rows. None: 500, or the number of rows.
    basis_tol : float, default=1e-6
        No more basis functions once no row has this share of the largest k(x, x) left to explain.
    basis : {"kmeans", "complete", "auto"}, default="kmeans"
        Where basis functions come from. "kmeans": centres of clusters of all rows, with the means of their completions
        in the gaps; the distinct rows themselves if there are no more. "complete": the paper's, complete rows picked by
        pivoted Cholesky. "auto": the same, but all rows, completed so, if too few are complete.
    fit_intercept : bool, default=True
        Whether the scores have a constant, which is penalised like the rest.
    solver : {"cccp", "lbfgs", "sgd"}, default="cccp"
        "cccp": the procedure of the paper, for "gp" the EM algorithm, for "svm" from the minimum of a smooth loss that
        is nearly the same; the objective never rises. "lbfgs": the objective itself (for "svm" through smooth losses).
        "sgd": stochastic gradients with variance reduction.
    transductive : bool, default=False
        Whether rows with several possible labels should also have a clear one; without it a row whose label is wholly
        missing changes nothing. It adds the collision entropy of the label ("gp") or the margin of the best ("svm").
    unlabelled_weight : float, default=1.0
        Of a transductive row, above 0, up to 1; a labelled row has 1.
    balance : float, default=1.0
        How strongly the mean scores of the transductive rows are held to the shares of the classes among the
        labelled rows.
    class_weight : dict or "balanced", default=None
        Weights of the losses of rows that have one possible label; "balanced" makes all classes count the same.
    single_precision : bool, default=False
        Whether to store features in float32: half the memory, and twice the speed on large tables. The objective is
        then good to about six digits.
    tol : float, default=None
        Stop when the objective falls by less than this share of itself. None: 1e-5, but 1e-3 for "svm" with "cccp",
        which also solves each step until it is known to be that near the minimum.
    max_iter : int, default=1000
        Maximum number of iterations; those that find the start of "svm" are counted apart.
    random_state : int, RandomState or None, default=None
        Seed of the completions, of the rows that the basis is picked from, and of "sgd".
    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    C_ : float
        The weight of the losses.
    theta_ : ndarray of shape (n_classes, n_used + fit_intercept)
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
        The fitted density, if completions="density".
    objective_ : ndarray
        The objective sum_i loss_i + ||theta||^2 / 2C at the start and after each iteration.
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
    features of all completions are kept if they fit half the memory budget, else computed in every pass. The basis is
    picked among at most 10 000 rows (or 4 n_basis); with n_basis below the number of rows the fit may depend on their
    order. A limit of the procedure is a stationary point, not always a minimum. p(k | x_o) is not the mean of p(k | x)
    over the completions: completions with high scores weigh more. Probabilities of "svm" come from the same formula,
    but the loss does not make them frequencies.

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
    sigma: float | None = None
    kernel: Any = "rbf"
    gamma: float | str = "scale"
    kernel_params: dict | None = None
    completions: str = "density"
    n_completions: int = 50
    sampling: str = "sobol"
    density: str | Density = "auto"
    categorical_features: Any = "from_dtype"
    indicator: bool = False
    n_basis: int | None = None
    basis_tol: float = 1e-6
    basis: str = "kmeans"
    fit_intercept: bool = True
    solver: str = "cccp"
    transductive: bool = False
    unlabelled_weight: float = 1.0
    balance: float = 1.0
    class_weight: dict | str | None = None
    single_precision: bool = False
    tol: float | None = None
    max_iter: int = 1000
    random_state: Any = None
    verbose: bool | int = False

    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions(set(LOSSES))],
        "C": [POSITIVE, StrOptions({"cv"})],
        "sigma": [POSITIVE, None],
        "kernel_params": [dict, None],
        "completions": [StrOptions({"density", "uniform", "empirical", "exact"})],
        "n_completions": [WHOLE],
        "sampling": [StrOptions({"sobol", "random"})],
        "density": [StrOptions({"auto"}), Density],
        "indicator": ["boolean"],
        "n_basis": [WHOLE, None],
        "basis_tol": [AT_LEAST_ZERO],
        "basis": [StrOptions({"kmeans", "complete", "auto"})],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"cccp", "lbfgs", "sgd"})],
        "transductive": ["boolean"],
        "unlabelled_weight": [Interval(Real, 0, 1, closed="right")],
        "balance": [AT_LEAST_ZERO],
        "single_precision": ["boolean"],
        "tol": [AT_LEAST_ZERO, None],
        "max_iter": [WHOLE],
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
        if self.sigma is not None and self.C != "cv":
            raise ValueError(f"Give C or sigma (C = sigma^2), not both: got C={self.C!r} and sigma={self.sigma!r}.")
        table = read_table(self, X, reset=True, categorical_features=self.categorical_features)
        labels = read_labels(y, table, type(self).__name__)
        weight = labels.weights(read_weight(sample_weight, table), self.class_weight)
        used = weight > 0
        if labels.candidates[used].all():
            raise ValueError("No row of positive weight has a label. Give some labelled row a weight above 0.")
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        size = basis_size(self.n_basis, int(used.sum()))
        completions = base_measure(self.completions, self.density, self.n_completions, self.sampling, seed)
        completions.fit(table[used], sample_weight=weight[used])
        completions.counts(table)  # a row with too many is refused here, by its place in X
        columns = table[used].with_indicator(table[used].one_hot(), self.indicator)
        kernel = complete_kernel(self.kernel, self.gamma, self.kernel_params, columns, weight[used])
        rows = rows_for_basis(table[used], completions, self.basis, size, self.indicator, random)
        basis = pivoted_cholesky(rows, kernel, kernel.diag(rows), min(size, len(rows)), self.basis_tol)
        features = FeatureMap(kernel, basis, self.fit_intercept, np.float32 if self.single_precision else np.float64)
        unclear = labels.candidates.sum(axis=1) > 1
        known = Labels(labels.candidates, weight, self.transductive * self.unlabelled_weight * unclear)
        C = self._penalty(table, known, completions, features)
        solution = self._solve(table, known, C, completions, features, np.random.default_rng(seed))
        if not solution.converged:
            warnings.warn(
                f"The {self.solver} solver stopped after {solution.n_iter} iterations (max_iter={self.max_iter}), "
                f"before the objective settled to tol={self._tolerance():g}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.completions_, self.kernel_, self.basis_ = completions, kernel, basis.rows
        self.n_basis_, self._features, self.C_, self.theta_ = len(basis.rows), features, C, solution.theta
        self.objective_, self.n_iter_, self.converged_ = solution.objective, solution.n_iter, solution.converged
        self.classes_, self.schema_ = labels.classes, table.schema
        self.training_summary_ = TrainingSummary.of(table)
        _, self.label_distributions_ = masked_log_sum(self._log_partitions(table), labels.candidates)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    @property
    def density_(self) -> Density:
        """The fitted density of completions="density"."""
        if self.completions != "density":
            raise AttributeError("Only completions='density' has a density_.")
        return self.completions_.density_

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        if self.completions != "density":
            raise ValueError(f"completions={self.completions!r} has no density_: pass density=.")
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

    def _penalty(self, table: Table, labels: Labels, completions, features) -> float:
        if self.sigma is not None:
            return float(self.sigma**2)
        if isinstance(self.C, Real):
            return float(self.C)
        return chosen_penalty(table, labels, completions, features, SMOOTH[self.loss], self.indicator)

    def _tolerance(self) -> float:
        if self.tol is not None:
            return self.tol
        return HINGE_TOL if self.loss == "svm" and self.solver == "cccp" else TOL

    def _solve(self, table: Table, labels: Labels, C: float, completions, features, random):
        rows = np.flatnonzero((labels.weight > 0) & (self.transductive | ~labels.candidates.all(axis=1)))
        if self.solver == "sgd":
            rows = random.permutation(rows)  # so that a block of rows is a sample of them
        blocks = FeatureBlocks(table[rows], completions, features, indicator=self.indicator, verbose=self.verbose)
        problem = IncompleteProblem(
            blocks=blocks,
            labels=[labels[rows[part]] for part in blocks.slices],
            loss=LOSSES[self.loss](),
            penalty=1.0 / C,
            shape=(labels.candidates.shape[1], features.size),
        )
        limits: dict[str, Any] = {"tol": self._tolerance(), "max_iter": self.max_iter, "balance": self.balance}
        with watched(self.solver, self.verbose) as watch:
            return solve_incomplete(problem, self.solver, watch=watch, random=random, **limits)

    def _log_partitions(self, X) -> np.ndarray:
        """g_k of each row, (n_rows, n_classes)."""
        table = self.table_of(X)
        out = np.empty((len(table), len(self.classes_)))
        blocks = FeatureBlocks(table, self.completions_, self._features, indicator=self.indicator, keep=False)
        for rows, block in zip(blocks.slices, blocks, strict=True):
            out[rows] = Partitions.of(block.scores(self.theta_), block.counts).log
        return check_finite(out, "The score of a class")
