"""Gaussian process classification for rows with gaps: probabilities that know what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import erf, expit, logit
from scipy.stats import norm
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.base import Training
from gapkernel.estimators.calibration.intervals_and_sets import ConformalSets
from gapkernel.estimators.process.base import GaussianProcess
from gapkernel.estimators.process.evidence import ClassEvidence, Evidence
from gapkernel.estimators.process.prediction import FittedProcess
from gapkernel.rows import Rows
from gapkernel.tables import read_labelled, read_weight

NODES = np.linspace(-8.5, 8.5, 171)
SHARES = norm.pdf(NODES) / norm.pdf(NODES).sum()
"""The trapezoidal rule over a normal law, which for a smooth function gains digits exponentially with the nodes: the
logistic function is right to 1e-8 for latent deviations up to 10."""

WIDTHS = np.array([0.41, 0.4, 0.37, 0.44, 0.39])
_MET = np.array([0.0, 0.6, 2.0, 3.5, 4.5, np.inf])
HEIGHTS = np.linalg.lstsq(0.5 * (1.0 + erf(np.multiply.outer(_MET, WIDTHS))), expit(_MET), rcond=None)[0]
"""A mixture of error functions close to the logistic function, which it meets at six places (Williams, Barber 1998)."""


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianProcessClassifier(ConformalSets, ClassifierMixin, GaussianProcess):
    """Gaussian process classification on rows with gaps, at fit and at predict.

    The prior is a latent process f of covariance ``constant_value * exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2)``, and
    the logistic function of f is the probability of a class. A training row with gaps tells about the average of f over
    its law, with an extra noise that grows with what is missing; the posterior is Laplace's approximation. A new row
    with gaps gets the exact mean and variance of f over both that posterior and its law, and its probability is the
    integral of the logistic function over the normal law of these moments: the less is known of a row, the closer
    it stays to even odds. Several classes are fitted one against the rest, each with hyperparameters of its own. On
    complete data, with ``link="williams-barber"``, it equals scikit-learn's `GaussianProcessClassifier` with
    ``ConstantKernel() * RBF()``, whose parameter names are used here. A row of weight w counts as w equal
    rows, so with large weights every label seems certain; where only their ratios count, divide weights by their mean.
    Hyperparameters are found with weights of mean 1 at most.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Start of a single length scale 1 / sqrt(2 gamma), when ``length_scale`` is None.
    length_scale : None, float, array-like of shape (n_features,), "ard" or "shrunk", default=None
        Start of the length scale; an array gives every column its own, and "ard" does so from gamma's. "shrunk" starts
        from the best common length scale and gives every column its own under a log-normal prior that draws them to a
        common one: with few rows, "ard" follows the noise.
    constant_value : float, default=1.0
        Start of the prior variance of f.
    length_scale_bounds, constant_value_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where to look; "fixed" keeps the value given.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        How the approximate marginal likelihood is maximised; None keeps the values given. A callable is
        ``optimizer(objective, theta, bounds) -> theta, value`` as in scikit-learn, the objective to be minimised.
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly from the bounds.
    n_landmarks : int, "auto" or None, default="auto"
        How many points stand for the training rows in the latent deviation of a row with gaps, which is a sum over all
        pairs of them. "auto" takes none up to 100 training rows, and beyond that enough points for deviations that are
        right to one percent on some training rows; None is always the exact sum.
    link : {"exact", "williams-barber"}, default="exact"
        How the logistic function is integrated: by quadrature, or by the mixture of error functions that scikit-learn
        takes for it, which is off by up to 4e-4.
    prior : {"even", "share"}, default="even"
        The probability of a class for a row of which nothing is known: even odds, as in scikit-learn, or the share of
        the class among the training rows. With uneven classes the second is the better guess for rows with many gaps.
    class_weight : dict, "balanced" or None, default=None
        How many rows each row of a class counts for; "balanced" is by the inverse of the class's share.
    density : "auto" or Density, default="auto"
        Where the laws of the gaps come from; it must give Gaussian laws. "auto" is one `Gaussian`, fitted by EM;
        `JointGaussian` with categories in the table; `FactorAnalysis` for wide tables on which a full covariance would
        be slow.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are categories: those whose type says so (category, text, booleans), none, or names,
        numbers or a mask of columns. A level unknown at fit is a gap. A category shares one length scale among its
        codes.
    indicator : bool or Missingness, default=False
        Whether it counts which values are missing: a kernel on the gaps multiplies the covariance of the process. Its
        width is that of the `Missingness` given, and not searched for.
    conformal : {False, "count", "mask"}, default=False
        Whether to calibrate `predict_set` by leaving each row out in turn, at the hyperparameters and the density of
        all. "count" goes by left-out rows that miss about as many cells as a new row, "mask" by left-out rows
        with the same cells hidden. With False a set holds the most probable classes until their probabilities sum up.
    random_state : int, RandomState or None, default=None
        For restarts. None draws anew in each fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    constant_value_ : ndarray of shape (n_processes,)
        The prior variance of f: one process for two classes, else one for each class.
    length_scale_ : ndarray of shape (n_processes,) or (n_processes, n_features)
        The length scale of each process, or one for each column.
    log_marginal_likelihood_value_ : float
        The approximate log probability of the training classes, the mean over processes as in scikit-learn.
    processes_ : list of FittedProcess
        The posterior processes.
    calibration_ : Calibration or None
        The scores of left-out rows, for `predict_set`.
    rows_ : Rows
        The laws of the training rows; with ``indicator``, followed by a column of 0 and 1 for each column with gaps.
    density_ : Density
        The fitted density.
    kernel_ : AnisotropicRBF
        The correlation of the first process.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of the columns at fit, where they had any.

    See Also
    --------
    GaussianProcessRegressor : For numbers.
    SVC : Without probabilities, and faster for many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import GaussianProcessClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((80, 2))
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> model = GaussianProcessClassifier().fit(X, y)
    >>> sure, unsure = model.predict_proba([[1.5, 0.0], [np.nan, 0.0]])[:, 0]
    >>> bool(sure > 0.9), bool(0.3 < unsure < 0.7)
    (True, True)
    """

    link: str = "exact"
    prior: str = "even"
    class_weight: dict | str | None = None

    _parameter_constraints: ClassVar[dict] = {
        "link": [StrOptions({"exact", "williams-barber"})],
        "prior": [StrOptions({"even", "share"})],
    }

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "density_")
        if len(self.classes_) == 2:  # the mean decides, which is cheaper than the variance
            (process,) = self.processes_
            return self.classes_[(process.mean(self._laws(X)) > 0).astype(int)]
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class, with what is missing averaged out.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. Those of more than two classes, each against the rest, are divided by their
            sum.
        """
        rows = self._laws(X)
        return self._probabilities([(process.mean(rows), process.variance(rows)) for process in self.processes_])

    def latent_mean_and_variance(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the latent value of each row, over the posterior and what is missing.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,) or, with more than two classes, (n_samples, n_classes)
        """
        rows = self._laws(X)
        return self._by_process(FittedProcess.mean, rows), self._by_process(FittedProcess.variance, rows)

    def latent_mean(self, X) -> np.ndarray:
        """Mean of the latent value of each row alone, which is much cheaper for rows with gaps.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        mean : ndarray of shape (n_samples,) or, with more than two classes, (n_samples, n_classes)
        """
        return self._by_process(FittedProcess.mean, self._laws(X))

    def leave_one_out(self) -> np.ndarray:
        """The probabilities of each training row from all others, at the fitted hyperparameters and density.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "density_")
        return self._probabilities([process.left_out() for process in self.processes_])

    def _training(self, X, y, sample_weight) -> Training:
        table, y = read_labelled(self, X, y, categorical_features=self.categorical_features)
        return Training.of(table, y, read_weight(sample_weight, table), classes=True)

    def _evidences(self, rows: Rows, training: Training) -> Sequence[Evidence]:
        weight = training.weight if self.class_weight is None else training.class_weighted(self.class_weight)
        n_classes = len(np.unique(training.y))
        evidences = []
        for code in range(n_classes) if n_classes > 2 else [1]:
            targets = (training.y == code).astype(np.float64)
            offset = 0.0 if self.prior == "even" else float(logit(np.average(targets, weights=weight)))
            evidences.append(ClassEvidence(rows=rows, targets=targets, weight=weight, prior_mean=offset))
        return evidences

    def _scores(self, processes, rows=None, places=slice(None)) -> np.ndarray:
        targets = np.column_stack([process.evidence.targets for process in processes])[places]
        codes = targets.argmax(axis=1) if targets.shape[1] > 1 else targets[:, 0].astype(int)
        chances = self._probabilities([process.left_out(rows, places) for process in processes])
        return self._scores_of(chances, codes)

    def _keep(self, training: Training) -> None:
        self.classes_ = np.asarray(training.classes)
        self.constant_value_ = np.array([process.parameters.constant for process in self.processes_])
        scales = np.array([process.parameters.length_scale for process in self.processes_])
        self.length_scale_ = scales[:, 0] if scales.shape[1] == 1 else scales

    def _by_process(self, moment: Callable[[FittedProcess, Rows], np.ndarray], rows: Rows) -> np.ndarray:
        """A moment of each row, with a column for each of several processes."""
        values = np.column_stack([moment(process, rows) for process in self.processes_])
        return values[:, 0] if values.shape[1] == 1 else values

    def _uncalibrated(self, coverage: float) -> float:
        return coverage

    def _probabilities(self, moments: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Probabilities of all classes from the latent means and variances of each process."""
        mean, variance = (np.column_stack(columns) for columns in zip(*moments, strict=True))
        chances = (link_integral if self.link == "exact" else williams_barber)(mean, variance)
        if chances.shape[1] == 1:
            return np.hstack([1.0 - chances, chances])
        return chances / chances.sum(axis=1, keepdims=True)


def link_integral(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E expit(g) for g ~ N(mean, variance), by quadrature."""
    values = mean[..., None] + np.sqrt(variance)[..., None] * NODES
    return expit(values) @ SHARES


def williams_barber(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E expit(g) for g ~ N(mean, variance), with the mixture of error functions in place of expit."""
    averages = erf(WIDTHS * mean[..., None] / np.sqrt(1.0 + 2.0 * WIDTHS**2 * variance[..., None]))
    return 0.5 * (1.0 + averages) @ HEIGHTS
