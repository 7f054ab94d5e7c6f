"""Support vector machines for rows with gaps."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets

from gapkernel.estimators.base import Laws, Training
from gapkernel.estimators.conformal import ConformalIntervals, calibrated
from gapkernel.estimators.support import SupportVectorMachine
from gapkernel.solvers.libsvm import machine, solve
from gapkernel.tables import read_labelled


class SVC(ClassifierMixin, SupportVectorMachine):
    """Support vector classification of rows with gaps, at fit and at predict.

    A density is fitted to the training rows, each row becomes its law given what was observed of it, and an
    SVM is trained on the kernel between laws. On complete data it equals `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of a margin violation.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="genrbf"
        "genrbf" is `GenRBF`, "rbf" `ExpectedRBF`, "linear" `ExpectedLinear`, "ehk" `HeterogeneousKernel`,
        "karma" `Karma`.
    gamma : float, "scale" or "median", default="scale"
        Width of a kernel given by name; a kernel object has its own (``kernel__gamma``).
    density : "auto" or density, default="auto"
        Where the laws of the gaps come from. "auto" is what suits kernel and table: `Marginals` for "ehk"; for the
        others one `Gaussian`, fitted by EM, or a `JointGaussian` over numbers and codes with categories in the table,
        or `FactorAnalysis` for more than 64 columns with fewer than 10 rows for each. ``density_`` is what was chosen.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, truth values), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap.
    indicator : bool or Missingness, default=False
        Whether it counts which values are missing: a kernel on the gaps multiplies the other one.
    shrinking, tol, cache_size, class_weight, verbose, max_iter, decision_function_shape, break_ties
        As in `sklearn.svm.SVC`.

    Attributes
    ----------
    classes_ : ndarray
    density_ : density
        The fitted density.
    kernel_ : Kernel
        The kernel with numbers in place of words.
    rows_ : GaussianRows
        The laws of the support rows.
    support_ : ndarray
        Indices of the support rows.
    n_support_, dual_coef_, intercept_, class_weight_, fit_status_, n_iter_
        As in `sklearn.svm.SVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    SVR : Regression.
    Gram : The kernel as a transformer, for any other machine.

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

    def __init__(
        self,
        *,
        C=1.0,
        kernel="genrbf",
        gamma="scale",
        density="auto",
        categorical_features="from_dtype",
        indicator=False,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties

    def fit(self, X, y, sample_weight=None) -> SVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C, and counts in the density (and so in gamma="scale"). Weight zero leaves a row out.

        Returns
        -------
        self : SVC
        """
        training = self._training(X, y, sample_weight)
        return self._train(training, self._fit_laws(training.table, training.weight))

    def _training(self, X, y, sample_weight) -> Training:
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape must be 'ovr' or 'ovo', got {self.decision_function_shape!r}.")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")
        X, y = read_labelled(self, X, y, categorical_features=self.categorical_features)
        check_classification_targets(y)
        kept, weight = self._weighted_rows(X, sample_weight)
        classes = np.unique(y[kept])
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only, {classes.tolist()[0]!r}. A classifier needs at least two classes."
            )
        self._solver(classes)  # complains of a wrong parameter
        return Training(X[kept], y[kept], weight, kept)

    def _solver(self, classes=None):
        """The solver for these classes as numbers 0, 1, ..., or for any labels."""
        parameters = self._libsvm("C", "decision_function_shape", "break_ties")
        class_weight = self.class_weight if classes is None else self._coded_weights(classes)
        return machine("SVC", class_weight=class_weight, **parameters)

    def _train(self, training: Training, laws: Laws) -> SVC:
        classes, codes = np.unique(training.y, return_inverse=True)
        solution = solve(self._solver(classes), laws.kernel.gram(laws.rows), codes, training.weight)
        self.classes_, self.class_weight_ = classes, solution.class_weight
        return self._keep(laws, solution, training.kept)

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
        values = self._decision_values(X)
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
        values, n_classes = self._decision_values(X), len(self.classes_)
        if n_classes == 2:
            return self.classes_[(values.ravel() >= 0).astype(int)]
        if self.break_ties:
            return self.classes_[_ovr_decision_function(values < 0, -values, n_classes).argmax(axis=1)]
        votes = np.zeros((len(values), n_classes))
        for pair, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
            votes[:, i] += values[:, pair] > 0
            votes[:, j] += values[:, pair] <= 0
        return self.classes_[votes.argmax(axis=1)]

    def _coded_weights(self, classes):
        """``class_weight`` with class numbers in place of labels."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        codes = {label: code for code, label in enumerate(classes)}
        known = {codes[label]: weight for label, weight in self.class_weight.items() if label in codes}
        if len(known) < min(len(classes), len(self.class_weight)):  # scikit-learn's rule: all classes, or known ones
            raise ValueError(
                f"class_weight {self.class_weight} names classes that y does not hold: {classes.tolist()}."
            )
        return known


class SVR(ConformalIntervals, RegressorMixin, SupportVectorMachine):
    """Support vector regression on rows with gaps, at fit and at predict.

    On complete data it equals `sklearn.svm.SVR`. See `SVC` for the kernel, the density and the attributes.

    Parameters
    ----------
    C : float, default=1.0
    epsilon : float, default=0.1
        Errors below it cost nothing.
    kernel : {"genrbf", "rbf", "linear", "ehk", "karma"} or Kernel, default="genrbf"
    gamma : float, "scale" or "median", default="scale"
    density : "auto" or density, default="auto"
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    indicator : bool or Missingness, default=False
    shrinking, tol, cache_size, verbose, max_iter
        As in `sklearn.svm.SVR`.
    conformal : bool, default=False
        Whether to calibrate `predict_interval` among rows that miss about as many cells, by the errors on fifths of the
        rows that are left out in turn, at the density of all rows: five more fits on the same Gram matrix.

    Attributes
    ----------
    density_, kernel_, rows_, support_, n_support_, dual_coef_, intercept_, fit_status_, n_iter_
        As in `SVC`.
    calibration_ : GapCountCalibration or None
        The errors on left-out rows, for `predict_interval`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import SVR
    >>> X = np.array([[0.0, 0.1], [1.0, np.nan], [np.nan, 2.1], [3.0, 2.9]])
    >>> SVR(kernel="linear", C=100).fit(X, [0.0, 1.0, 2.0, 3.0]).predict([[2.0, np.nan]]).round(1)
    array([2.])
    """

    def __init__(
        self,
        *,
        C=1.0,
        epsilon=0.1,
        kernel="genrbf",
        gamma="scale",
        density="auto",
        categorical_features="from_dtype",
        indicator=False,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        conformal=False,
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.density = density
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.conformal = conformal

    def fit(self, X, y, sample_weight=None) -> SVR:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN, None and pd.NA mark a gap.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C, and counts in the density (and so in gamma="scale"). Weight zero leaves a row out.

        Returns
        -------
        self : SVR
        """
        training = self._training(X, y, sample_weight)
        return self._train(training, self._fit_laws(training.table, training.weight))

    def _training(self, X, y, sample_weight) -> Training:
        self._check_conformal()
        X, y = read_labelled(self, X, y, categorical_features=self.categorical_features, y_numeric=True)
        kept, weight = self._weighted_rows(X, sample_weight)
        self._solver()  # complains of a wrong parameter
        return Training(X[kept], y[kept], weight, kept)

    def _solver(self):
        return machine("SVR", **self._libsvm("C", "epsilon"))

    def _train(self, training: Training, laws: Laws) -> SVR:
        gram = laws.kernel.gram(laws.rows)
        solution = solve(self._solver(), gram, training.y, training.weight)
        self.calibration_ = calibrated(self, training, gram)
        return self._keep(laws, solution, training.kept)

    def predict(self, X) -> np.ndarray:
        """The value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._decision_values(X).ravel()
