"""The robust support vector machine: margins that leave room for what is missing."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import ndtri
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from gapkernel.estimators.base import KernelMachine, resolve_kernel
from gapkernel.estimators.cones import kernel_program, points, primal_program
from gapkernel.kernels import ExpectedLinear
from gapkernel.solvers.cones import ConicMachine, solve_robust
from gapkernel.tables import read_labelled

MAX_ROWS = {"identity": 3000, "variance": 1000, "full": 300}
"""Rows that the kernel form still trains in minutes on one core."""

CHOICES = {
    "covariance": ("variance", "identity", "full"),
    "mean": ("expected", "imputed"),
    "form": ("auto", "kernel", "primal"),
    "translation": ("chebyshev", "gaussian"),
}


class RobustSVC(ClassifierMixin, KernelMachine):
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
    kernel : {"rbf", "genrbf", "linear", "karma"} or Kernel, default="rbf"
        "variance" and "full" need a kernel with known variances ("rbf", "genrbf", "linear").
    gamma : float, "scale" or "median", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is one Gaussian, fitted by EM.
    tau : float or array-like of shape (n_samples,), default=None
        Standard deviations of room, from 0 up. None is 1, unless ``kappa`` is given.
    kappa : float or array-like of shape (n_samples,), default=None
        Instead of ``tau``: the probability with which each margin constraint shall hold, between 0 and 1.
    translation : {"chebyshev", "gaussian"}, default="chebyshev"
        From ``kappa`` to ``tau``. "chebyshev" is sqrt(kappa / (1 - kappa)) and holds for any law with the given
        mean and covariance. "gaussian" is the normal quantile, for kappa from 1/2 up: much smaller, and right
        when the score is normal, as that of a linear machine is.
    covariance : {"variance", "identity", "full"}, default="variance"
        "variance" takes the variances of the kernel values only. "full" takes their covariances too: the only
        choice for which ``kappa`` is a guarantee, and the slowest. "identity" is a sphere for each row with gaps,
        whatever is missing in it: the choice of the machine's authors.
    mean : {"expected", "imputed"}, default="expected"
        "expected" averages the kernel over the gaps; "imputed" evaluates it at the conditional means.
    form : {"auto", "kernel", "primal"}, default="auto"
        "kernel" is the program above. "primal", for the linear kernel only, measures the covariance of the row
        itself on its gaps (its diagonal, the identity, or in full), so it grows with columns and gap patterns
        instead of rows. "auto" is "primal" for the linear kernel.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class.
    tol : float, default=1e-10
        Tolerance of the gap between primal and dual objective.
    max_iter : int, default=200
        Most iterations of the cone solver.
    max_rows : int or "auto", default="auto"
        More rows than this are refused before any work. "auto" is 3000, 1000 and 300 for "identity", "variance"
        and "full" in kernel form, and no limit in primal form.
    verbose : bool, default=False
        Let the cone solver talk.

    Attributes
    ----------
    classes_ : ndarray
    density_, kernel_ : density, Kernel
    form_ : str
        "kernel" or "primal".
    rows_ : GaussianRows
        The laws of the training rows (imputed ones are points).
    dual_coef_ : ndarray of shape (n_outputs, n_training_rows)
        c, in kernel form. Two classes have one output; more have one for each class against the rest.
    coef_ : ndarray of shape (n_outputs, n_features)
        The weight of each column, in primal form.
    intercept_ : ndarray of shape (n_outputs,)
    tau_ : ndarray of shape (n_training_rows,)
        The room used for each row.
    slack_ : ndarray of shape (n_outputs, n_training_rows)
        What each margin constraint lacks.
    margin_norm_ : ndarray of shape (n_outputs,)
        sqrt(c'Kc), the inverse of the margin.
    objective_ : ndarray of shape (n_outputs,)
    residuals_ : list of dict
        How far the optimality conditions are from holding, for each output.
    status_ : list of str
        What the solver said: "Solved", "AlmostSolved" (within 1e-6), or why it stopped before.
    n_iter_ : ndarray of shape (n_outputs,)
    solve_time_ : float
        Seconds in the cone solver.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    SVC : The same with tau = 0, much faster.

    Notes
    -----
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
    >>> from gapkernel import RobustSVC
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0]])
    >>> y = [0, 0, 1, 1]
    >>> machine = RobustSVC(gamma=0.5, tau=0.2).fit(X, y)
    >>> machine.predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    >>> machine.status_
    ['Solved']
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        density="auto",
        tau=None,
        kappa=None,
        translation="chebyshev",
        covariance="variance",
        mean="expected",
        form="auto",
        class_weight=None,
        tol=1e-10,
        max_iter=200,
        max_rows="auto",
        verbose=False,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.tau = tau
        self.kappa = kappa
        self.translation = translation
        self.covariance = covariance
        self.mean = mean
        self.form = form
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None) -> RobustSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN marks a gap.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C, and counts in the density.

        Returns
        -------
        self : RobustSVC
        """
        self._check_parameters()
        X, y = read_labelled(self, X, y, categorical_features=None)
        table, X = X, X.values
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        used = weight > 0
        tau = self._room(len(X))[used]
        X, y, weight = X[used], y[used], weight[used]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only, {classes.tolist()}. A classifier needs at least two classes.")
        form = self._form(len(X))
        costs = self.C * weight * compute_sample_weight(self.class_weight, y)

        laws = self._fit_laws(table[used], None if sample_weight is None else weight, needs_gram=form == "kernel")
        if form == "primal":
            program = primal_program(laws.rows, self.covariance, self.mean, tau)
        else:
            program = kernel_program(laws, self.covariance, self.mean, tau)
        positive = [1] if len(classes) == 2 else range(len(classes))  # one against the rest
        solver = {"on_rows": program.on_rows, "tol": self.tol, "max_iter": self.max_iter, "verbose": self.verbose}
        signs = [np.where(codes == k, 1.0, -1.0) for k in positive]
        machines = [solve_robust(program.features, sign, costs, program.cones, **solver) for sign in signs]
        self.classes_, self.form_, self.tau_ = classes, form, tau
        self.density_, self.kernel_ = laws.density, laws.kernel
        self.rows_ = points(laws.rows, self.mean)
        self._keep(machines)
        return self

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes give one value, positive for ``classes_[1]``.
        """
        rows = self._laws(X)
        if self.form_ == "primal":
            values = rows.means @ self.coef_.T
        else:
            values = self.kernel_.dot(points(rows, self.mean), self.rows_, self.dual_coef_.T)
        values = values + self.intercept_
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values >= 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def _keep(self, machines: list[ConicMachine]) -> None:
        """Fitted attributes, and a warning when a solver stopped early."""
        coefficients = np.array([machine.coef for machine in machines])
        if self.form_ == "primal":
            self.coef_ = coefficients[:, : self.n_features_in_]  # private coordinates belong to training rows
        else:
            self.dual_coef_ = coefficients
        self.intercept_ = np.array([machine.intercept for machine in machines])
        self.slack_ = np.array([machine.slack for machine in machines])
        self.margin_norm_ = np.array([machine.norm for machine in machines])
        self.objective_ = np.array([machine.objective for machine in machines])
        self.residuals_ = [machine.residuals for machine in machines]
        self.status_ = [machine.status for machine in machines]
        self.n_iter_ = np.array([machine.n_iter for machine in machines])
        self.solve_time_ = sum(machine.seconds for machine in machines)
        stopped = [machine for machine in machines if machine.status not in ("Solved", "AlmostSolved")]
        if stopped:
            warnings.warn(
                f"The cone solver stopped early: {stopped[0].status} after {stopped[0].n_iter} iterations, with "
                f"residuals {stopped[0].residuals}. Raise max_iter or tol, scale the columns, or lower C or tau.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_parameters(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}.")
        for name in ("C", "tol"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number, got {getattr(self, name)!r}.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter!r}.")
        if self.max_rows != "auto" and not (isinstance(self.max_rows, int | np.integer) and self.max_rows > 0):
            raise ValueError(f"max_rows must be 'auto' or a positive integer, got {self.max_rows!r}.")

    def _room(self, n: int) -> np.ndarray:
        """tau for each row, from ``tau`` or ``kappa``."""
        if self.tau is not None and self.kappa is not None:
            raise ValueError("tau and kappa are two ways to say the same: give one of them.")
        name = "tau" if self.kappa is None else "kappa"
        given = np.asarray(1.0 if self.tau is None and self.kappa is None else getattr(self, name), dtype=np.float64)
        if given.shape not in ((), (n,)):
            raise ValueError(f"{name} must be one number, or one for each of the {n} rows, got shape {given.shape}.")
        if self.kappa is None:
            if not (np.isfinite(given) & (given >= 0)).all():
                raise ValueError(f"tau must be finite and 0 or more, got {self.tau!r}.")
            return np.broadcast_to(given, n)
        if not ((given > 0) & (given < 1)).all():
            raise ValueError(f"kappa is a probability and must lie between 0 and 1, got {self.kappa!r}.")
        if self.translation == "chebyshev":
            return np.broadcast_to(np.sqrt(given / (1.0 - given)), n)
        if (given < 0.5).any():
            raise ValueError(
                f"kappa must be 0.5 or more with translation='gaussian' (below, the room would be negative and the "
                f"program not convex), got {self.kappa!r}. Use translation='chebyshev'."
            )
        return np.broadcast_to(ndtri(given), n)

    def _form(self, n: int) -> str:
        """The form of the program, after a check that it is of a size that finishes."""
        linear = type(resolve_kernel(self.kernel, self.gamma)) is ExpectedLinear
        if self.form == "primal" and not linear:
            raise ValueError(f"form='primal' is for the linear kernel, got kernel={self.kernel!r}. Use form='kernel'.")
        form = ("primal" if linear else "kernel") if self.form == "auto" else self.form
        limit = self.max_rows
        if limit == "auto":
            limit = np.inf if form == "primal" else MAX_ROWS[self.covariance]
        if n > limit:
            raise ValueError(
                f"RobustSVC with covariance={self.covariance!r} in {form} form would not finish on {n} rows in "
                f"reasonable time; its limit is max_rows={limit}. Use SVC with the same kernel (as accurate in "
                f"experiments and far faster), kernel='linear' (its program does not grow with the square of the "
                f"rows), covariance='identity', fewer rows, or a larger max_rows."
            )
        return form
