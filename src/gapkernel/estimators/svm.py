"""Support vector machines for rows with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.base import KernelMachine, Laws, Training
from gapkernel.estimators.calibration.intervals_and_sets import MachineIntervals
from gapkernel.solvers import libsvm

LIBSVM_PARAMETERS = ("shrinking", "tol", "cache_size", "verbose", "max_iter")


@dataclass(eq=False, repr=False, kw_only=True)
class LibsvmParameters:
    """The parameters that go to libsvm, which checks them."""

    shrinking: bool = True
    tol: float = 1e-3
    cache_size: float = 200
    max_iter: int = libsvm.MOST_ITERATIONS


@dataclass(eq=False, repr=False, kw_only=True)
class SupportVectorMachine(LibsvmParameters, KernelMachine):
    """A kernel machine on libsvm."""

    verbose: bool = False

    @property
    def coef_(self) -> np.ndarray:
        """The weight of each column, (n_outputs, n_features), for kernel="linear"."""
        check_is_fitted(self)
        factor = self.kernel_.linear_factor
        if factor is None:
            raise AttributeError(f"coef_ exists for kernel='linear' only, not for {self.kernel_!r}.")
        weights = factor * self._weights.T @ self.rows_.means  # f(x) = sum_i a_i c m_i'x + b
        weights.flags.writeable = False  # a change of them would change no prediction
        return weights

    @property
    def support_vectors_(self) -> np.ndarray:
        """The support rows, (n_support, n_features), with the expected values in the gaps."""
        check_is_fitted(self)
        return self.rows_.means

    def _libsvm(self, *names) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*LIBSVM_PARAMETERS, *names)}

    def _keep(self, training: Training, laws: Laws, solution: libsvm.SupportVectors) -> Self:  # type: ignore[override]
        self.support_, self.n_support_ = training.kept[solution.kept], solution.n_support
        self.dual_coef_, self.intercept_ = solution.dual_coef, solution.intercept
        self.fit_status_, self.n_iter_ = solution.status, solution.n_iter
        return super()._keep(training, laws, solution)


@dataclass(eq=False, repr=False, kw_only=True)
class SVC(ClassifierMixin, SupportVectorMachine):
    """Support vector classification of rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and an
    SVM is trained on the kernel between laws. On complete data it equals `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of a margin violation.
    kernel : {"genrbf", "rbf", "linear", "ehk", "precomputed"}, Kernel or callable, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
        A function k(X, Y) of two arrays is for complete rows; `MonteCarlo` averages it over gaps.
        With "precomputed" ``X`` is a kernel matrix without gaps: square in `fit`, (n_new, n_training) afterwards.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or a `JointGaussian` over numbers and codes with categories in the table,
        or `FactorAnalysis` for wide tables on which a full covariance would be slow. ``density_`` is what was chosen.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    shrinking : bool, default=True
        Whether libsvm leaves settled rows aside while it iterates.
    tol : float, default=1e-3
        Tolerance at which libsvm stops.
    cache_size : float, default=200
        Memory of libsvm's cache, in MB.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the rows of a class; "balanced" is by the inverse of the class's share.
    verbose : bool, default=False
        Whether libsvm prints its progress.
    max_iter : int, default=10_000_000
        Iterations of libsvm, which stops there with a warning; -1 is no limit, as in scikit-learn.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes: one decision value for each class ("ovr"), or for each pair of classes ("ovo").
    break_ties : bool, default=False
        Whether `predict` settles a tie of votes among classes by the decision values, for "ovr" only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Multipliers of C.
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : Rows
        The laws of the support rows.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support rows, with the expected values in the gaps.
    support_ : ndarray of shape (n_support,)
        Places of the support rows among the training rows.
    n_support_ : ndarray
        Support rows of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support rows, as in scikit-learn.
    intercept_ : ndarray of shape (n_class_pairs,)
        The constant of each decision function.
    coef_ : ndarray of shape (n_class_pairs, n_features)
        The weight of each column, for ``kernel="linear"`` only.
    fit_status_ : int
        0 if libsvm converged, 1 if it stopped at ``max_iter``.
    n_iter_ : ndarray of shape (n_class_pairs,)
        Iterations of libsvm.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    SVR : Regression.
    SVCCV : With C and gamma chosen by cross-validation.
    Gram : The kernel as a transformer, for any other kernel machine.

    Notes
    -----
    With kernel "rbf" or "linear" a training row meets itself in the same draw, but `decision_function` always
    treats rows as new. So decision values of incomplete training rows are not those the solver saw.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVC
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [np.nan, 1.9], [2.1, 2.0]])
    >>> y = [0, 0, 1, 1]
    >>> SVC(gamma=0.5).fit(X, y).predict([[np.nan, 0.2], [1.8, np.nan]])
    array([0, 1])
    """

    C: float = 1.0
    class_weight: dict | str | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False

    _target = "classes"
    _parameter_constraints: ClassVar[dict] = {
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    @property
    def predict_proba(self):
        """None: an error says which estimators have probabilities."""
        raise AttributeError(
            "SVC has no predict_proba: libsvm's probabilities contradict its classes. Use gapkernel.GapClassifier, "
            "gapkernel.GaussianProcessClassifier or sklearn.calibration.CalibratedClassifierCV(SVC(), ensemble=False)."
        )

    def decision_function(self, X) -> np.ndarray:
        """Signed distance from the boundary.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_class_pairs)
            Two classes give one value, positive for ``classes_[1]``.
        """
        values = self._values(X)
        if len(self.classes_) == 2:
            return values.ravel()
        if self.decision_function_shape == "ovo":
            return values
        return _ovr_decision_function(values < 0, -values, len(self.classes_))

    def predict(self, X) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values, n_classes = self._values(X), len(self.classes_)
        if n_classes == 2:
            return self.classes_[(values.ravel() >= 0).astype(int)]
        if self.break_ties:
            return self.classes_[_ovr_decision_function(values < 0, -values, n_classes).argmax(axis=1)]
        votes = np.zeros((len(values), n_classes))
        for pair, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
            votes[:, i] += values[:, pair] > 0
            votes[:, j] += values[:, pair] <= 0
        return self.classes_[votes.argmax(axis=1)]

    @property
    def averages_gaps(self) -> bool:
        """Whether the decision values of a row are their exact averages over its law: votes among classes are not."""
        return super().averages_gaps and (len(self.classes_) == 2 or self.decision_function_shape == "ovo")

    def _solver(self, training: Training) -> libsvm.Classification:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")
        return libsvm.Classification(class_weight=self._weights_of(training.classes), **self._libsvm("C"))

    def _weights_of(self, classes):
        """``class_weight`` with the places of the classes instead of their labels."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        codes = {label: code for code, label in enumerate(classes)}
        known = {codes[label]: weight for label, weight in self.class_weight.items() if label in codes}
        if len(known) < min(len(classes), len(self.class_weight)):  # scikit-learn's rule: all classes, or known ones
            raise ValueError(
                f"class_weight {self.class_weight} names classes that y does not hold: {classes.tolist()}."
            )
        return known

    def _keep(self, training: Training, laws: Laws, solution: libsvm.SupportVectors) -> Self:  # type: ignore[override]
        self.class_weight_ = solution.class_weight
        return super()._keep(training, laws, solution)


@dataclass(eq=False, repr=False, kw_only=True)
class SVR(MachineIntervals, RegressorMixin, SupportVectorMachine):
    """Support vector regression on rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and an
    SVM is trained on the kernel between laws. On complete data it equals `sklearn.svm.SVR`.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of an error beyond ``epsilon``.
    epsilon : float, default=0.1
        Errors below it cost nothing.
    kernel : {"genrbf", "rbf", "linear", "ehk", "precomputed"}, Kernel or callable, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`.
        A function k(X, Y) of two arrays is for complete rows; `MonteCarlo` averages it over gaps.
        With "precomputed" ``X`` is a kernel matrix without gaps: square in `fit`, (n_new, n_training) afterwards.
    gamma : float, "scale", "median" or "auto", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or a `JointGaussian` over numbers and codes with categories in the table,
        or `FactorAnalysis` for wide tables on which a full covariance would be slow. ``density_`` is what was chosen.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether the model also uses which values are missing: a kernel on the gaps multiplies the other one.
    shrinking : bool, default=True
        Whether libsvm leaves settled rows aside while it iterates.
    tol : float, default=1e-3
        Tolerance at which libsvm stops.
    cache_size : float, default=200
        Memory of libsvm's cache, in MB.
    verbose : bool, default=False
        Whether libsvm prints its progress.
    max_iter : int, default=10_000_000
        Iterations of libsvm, which stops there with a warning; -1 is no limit, as in scikit-learn.
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_interval` by the errors on fifths of the rows that are left out in turn, at the
        density of all rows: five more fits on the same Gram matrix. "count" goes by left-out rows that miss
        about as many cells as a new row, "mask" by left-out rows with the same cells hidden (see `predict_interval`).
        Rows count alike there, whatever their weights.

    Attributes
    ----------
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : Rows
        The laws of the support rows.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support rows, with the expected values in the gaps.
    support_ : ndarray of shape (n_support,)
        Places of the support rows among the training rows.
    n_support_ : ndarray
        Number of support rows.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support rows, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
        The constant of the predictions.
    coef_ : ndarray of shape (1, n_features)
        The weight of each column, for ``kernel="linear"`` only.
    fit_status_ : int
        0 if libsvm converged, 1 if it stopped at ``max_iter``.
    n_iter_ : int
        Iterations of libsvm.
    calibration_ : Calibration or None
        The errors on left-out rows, for `predict_interval`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had them.

    See Also
    --------
    SVRCV : With C and gamma chosen by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVR
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> SVR(kernel="linear", C=100).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(1)
    array([2.])
    """

    C: float = 1.0
    epsilon: float = 0.1
    conformal: bool | str = False

    _target = "number"

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._values(X).ravel()

    def _solver(self, training: Training) -> libsvm.Regression:
        return libsvm.Regression(**self._libsvm("C", "epsilon"))
