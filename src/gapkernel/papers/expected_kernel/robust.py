"""The robust support vector machine: margins that leave room for what is missing."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.compute import check_finite, check_fits
from gapkernel.estimators import KernelEstimator, OneAgainstRest, Training
from gapkernel.kernels import POSITIVE, Kernel
from gapkernel.papers.expected_kernel.cone_solver import (
    ConeSolution,
    ConeSolver,
    cones_on_columns,
    cones_on_rows,
    primal_features,
)
from gapkernel.rows import GaussianRows, MaskedRows, Rows
from gapkernel.tables import read_labelled, read_weight, set_or_forget


@dataclass(eq=False, repr=False, kw_only=True)
class RobustSVC(OneAgainstRest, KernelEstimator):
    """Support vector classification whose margins leave room for what is missing.

    The score of a training row with gaps is random. Its margin constraint is asked to hold with room for
    ``tau`` standard deviations of the score, a second-order cone:

        min 1/2 c'Kc + C sum_i xi_i   s.t.   y_i (k_i'c + b) >= 1 - xi_i + tau_i ||c||_i,   xi_i >= 0

    where k_i is column i of the expected kernel matrix and ||c||_i^2 = c' Sigma_i c, with Sigma_i the covariance
    of that column. On complete data, and with ``tau=0`` on any data, it equals `SVC` with the same kernel.

    Experiments find it as accurate as `SVC` on the expected kernel and much slower to train; it is here for those
    who want its guarantee, and for comparison.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of a margin violation.
    kernel : {"rbf", "genrbf", "linear", "ehk"} or Kernel, default="rbf"
        "rbf" is `ExpectedRBF`, "genrbf" `GenRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
        Covariances "variance" and "full" need a kernel with known variances ("rbf", "genrbf", "linear").
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow; `Marginals` for "ehk".
    tau : float or array-like of shape (n_samples,), default=None
        Standard deviations of room, from 0 up. None is 1, unless ``kappa`` is given.
    kappa : float or array-like of shape (n_samples,), default=None
        Instead of ``tau``: the probability with which each margin constraint should hold, between 0 and 1.
    translation : {"chebyshev", "gaussian"}, default="chebyshev"
        From ``kappa`` to ``tau``. "chebyshev" is sqrt(kappa / (1 - kappa)) and holds for any law with the given
        mean and covariance. "gaussian" is the normal quantile, for kappa from 1/2 up: much smaller, and right
        when the score is normal, as it is with the linear kernel.
    covariance : {"variance", "identity", "full"}, default="variance"
        "variance" takes the variances of the kernel values only. "full" takes their covariances too: the only
        choice for which ``kappa`` is a guarantee, and the slowest. "identity" is a sphere for each row with gaps,
        whatever is missing in it: the choice of the method's authors. With the linear kernel they are those of the
        row's own cells.
    mean : {"expected", "imputed"}, default="expected"
        "expected" averages the kernel over the gaps; "imputed" evaluates it at the conditional means.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class.
    tol : float, default=1e-10
        Tolerance of the gap between primal and dual objective.
    max_iter : int, default=200
        Maximum number of iterations of the cone solver.
    verbose : bool, default=False
        Whether the cone solver prints its progress.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    density_ : Density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    form_ : str
        "primal" for the linear kernel, otherwise "kernel".
    rows_ : Rows
        The laws of the training rows (with ``mean="imputed"`` they are points).
    dual_coef_ : ndarray of shape (n_outputs, n_training_rows)
        c, in kernel form. Two classes have one output; more have one for each class against the rest.
    coef_ : ndarray of shape (n_outputs, n_features)
        The weight of each column, in primal form; a category has a column for each of its codes.
    intercept_ : ndarray of shape (n_outputs,)
        b.
    tau_ : ndarray of shape (n_training_rows,)
        The room used for each row.
    slack_ : ndarray of shape (n_outputs, n_training_rows)
        What each margin constraint lacks.
    margin_norm_ : ndarray of shape (n_outputs,)
        sqrt(c'Kc), the inverse of the margin.
    objective_ : ndarray of shape (n_outputs,)
        The value of the program.
    residuals_ : list of dict
        How far the optimality conditions are from holding, for each output.
    status_ : list of str
        How the solver ended: "Solved", "AlmostSolved" (within 1e-6), or why it stopped before.
    n_iter_ : ndarray of shape (n_outputs,)
        Iterations of the cone solver.
    solve_time_ : float
        Seconds in the cone solver.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    SVC : The same with tau = 0, much faster.

    Notes
    -----
    The program above has one coefficient for each row. For the linear kernel it is solved in primal form, with one
    weight for each column, so it grows with columns and gap patterns and not with rows. For other kernels some 3000
    rows train in minutes with covariance "identity", 1000 with "variance" and 300 with "full".

    Rows of zero weight are left out. A row with nothing observed has the law of the whole density, and with it a
    wide cone. New rows are scored by the expected kernel alone: the cones change the training only. The guarantee
    of ``kappa`` is about the constraint of a training row, y f(x) >= 1 - xi, under the fitted density. In primal
    form it is about y (w'x + b) for ``mean="imputed"``; "expected" gives each uncertain row a private coordinate,
    as the diagonal of the linear kernel does, which acts like more slack.

    References
    ----------
    Shivaswamy, Bhattacharyya, Smola (2006), Second order cone programming approaches for handling missing and
    uncertain data, JMLR 7. Anderson, Gupta (2011), Expected kernel for missing features in support vector machines.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.papers.expected_kernel import RobustSVC
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0]])
    >>> y = [0, 0, 1, 1]
    >>> model = RobustSVC(gamma=0.5, tau=0.2).fit(X, y)
    >>> model.predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    >>> model.status_
    ['Solved']
    """

    C: float = 1.0
    kernel: str | Kernel = "rbf"
    tau: Any = None
    kappa: Any = None
    translation: str = "chebyshev"
    covariance: str = "variance"
    mean: str = "expected"
    class_weight: dict | str | None = None
    tol: float = 1e-10
    max_iter: int = 200
    verbose: bool = False

    _parameter_constraints: ClassVar[dict] = {
        "C": [POSITIVE],
        "translation": [StrOptions({"chebyshev", "gaussian"})],
        "covariance": [StrOptions({"variance", "identity", "full"})],
        "mean": [StrOptions({"expected", "imputed"})],
        "tol": [Interval(Real, 0, np.inf, closed="neither")],
        "max_iter": [Interval(Integral, 1, 2**31 - 1, closed="both")],  # the solver counts in 32 bits
    }

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit density, kernel and coefficients.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the coefficients and in the density. A weight of zero leaves a row out.

        Returns
        -------
        self : RobustSVC
        """
        self._validate_params()
        table, y = read_labelled(self, X, y, categorical_features=self.categorical_features)
        tau = self._room(len(table))
        training = Training.of(table, y, read_weight(sample_weight, table), classes=True)
        tau, n = tau[training.kept], len(training.kept)
        form = "kernel" if self._kernel().linear_factor is None else "primal"
        solver = ConeSolver(
            form == "kernel", C=self.C, tol=self.tol, max_iter=self.max_iter, verbose=bool(self.verbose)
        )
        if form == "kernel":
            check_fits((n, n), "The Gram matrix")
        density, kernel, rows = self._fit_laws(training.table, training.weight)
        points = self._points(rows)
        if form == "kernel":
            matrix = kernel.gram(points)
            cones = cones_on_rows(kernel, rows, self.covariance, tau)
        else:
            root = _root(kernel)
            matrix = root * primal_features(rows, expected=self.mean == "expected")
            cones = cones_on_columns(rows, self.covariance, root * tau, matrix.shape[1])
        costs = training.class_weighted(self.class_weight)
        solution = replace(solver, cones=cones).solve(matrix, training.y, costs)
        self.density_, self.kernel_, self.rows_, self.form_, self.tau_ = density, kernel, points, form, tau
        self.classes_, self.training_summary_ = np.asarray(training.classes), training.summary
        return self._keep(solution)

    def _keep(self, solution: ConeSolution) -> Self:
        """What the solver found, and a warning if it stopped early."""
        self._weights, self.intercept_ = solution.weights, solution.intercept
        if self.form_ == "primal":
            set_or_forget(self, coef_=self._primal(), dual_coef_=None)
        else:
            set_or_forget(self, coef_=None, dual_coef_=solution.weights.T)
        self.slack_, self.margin_norm_, self.objective_ = solution.slack, solution.norm, solution.objective
        self.residuals_, self.status_ = solution.residuals, solution.status
        self.n_iter_, self.solve_time_ = solution.n_iter, solution.seconds
        for status, n_iter, residuals in zip(solution.status, solution.n_iter, solution.residuals, strict=True):
            if status not in ("Solved", "AlmostSolved"):
                warnings.warn(
                    f"The cone solver stopped early: {status} after {n_iter} iterations, with residuals {residuals}. "
                    f"Raise max_iter or tol, scale the columns, or lower C or tau.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
                break
        return self

    @property
    def averages_gaps(self) -> bool:
        """Whether the decision values of a row are their exact averages over its law: those of imputed rows are not."""
        check_is_fitted(self, "form_")
        return self.kernel_.is_expectation and not self.indicator and self.mean == "expected"

    def _points(self, rows: Rows) -> Rows:
        """The rows that the kernel compares: their laws, or the imputed values as if they had been observed."""
        if self.mean == "expected":
            return rows
        certain = GaussianRows.certain(rows.means)
        return MaskedRows(certain, rows.mask()) if self.indicator else certain

    def _values(self, X) -> np.ndarray:
        check_is_fitted(self, "form_")
        rows = self._points(self._laws(X))
        if self.form_ == "kernel":
            values = self.kernel_.dot(rows, self.rows_, self._weights) + self.intercept_
        else:
            values = rows.means @ self._primal().T + self.intercept_
        return check_finite(values, "The margin")

    def _primal(self) -> np.ndarray:
        """The weight of each column, (n_outputs, n_features); private coordinates belong to training rows."""
        return _root(self.kernel_) * self._weights[: self.rows_.n_features].T

    def _room(self, n: int) -> np.ndarray:
        """tau for each row, from ``tau`` or ``kappa``."""
        if self.tau is not None and self.kappa is not None:
            raise ValueError("tau and kappa are two ways to say the same: give one of them.")
        name = "tau" if self.kappa is None else "kappa"
        value = np.asarray(1.0 if self.tau is None and self.kappa is None else getattr(self, name), dtype=np.float64)
        if value.shape not in ((), (n,)):
            raise ValueError(f"{name} must be one number, or one for each of the {n} rows, got shape {value.shape}.")
        if self.kappa is None:
            if not (np.isfinite(value) & (value >= 0)).all():
                raise ValueError(f"tau must be finite and 0 or more, got {self.tau!r}.")
            return np.broadcast_to(value, n)
        if not ((value > 0) & (value < 1)).all():
            raise ValueError(f"kappa is a probability and must lie between 0 and 1, got {self.kappa!r}.")
        if self.translation == "chebyshev":
            return np.broadcast_to(np.sqrt(value / (1.0 - value)), n)
        if (value < 0.5).any():
            raise ValueError(
                f"kappa must be 0.5 or more with translation='gaussian' (below, the room would be negative and the "
                f"program not convex), got {self.kappa!r}. Use translation='chebyshev'."
            )
        return np.broadcast_to(ndtri(value), n)


def _root(kernel: Kernel) -> float:
    """What multiplies the rows in a linear kernel: c x'y is the scalar product of sqrt(c) x and sqrt(c) y."""
    assert kernel.linear_factor is not None, "the primal form is for linear kernels"
    return float(np.sqrt(kernel.linear_factor))
