"""A model of every kind that a file may hold, and what it is asked."""

import pickle
import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge

import gapkernel as gk
from gapkernel.density import (
    BestDensity,
    FactorAnalysis,
    Gaussian,
    GaussianMixture,
    JointGaussian,
    Marginals,
    Neighbours,
)
from gapkernel.imputation import GapFiller, OneHotWithGaps
from gapkernel.kernels import AnisotropicRBF, ExpectedLinear, GenRBF, Missingness, MonteCarlo
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC, Karma
from gapkernel.papers.microbiology import CategoricalNaiveBayes, CompletionKernel
from gapkernel.papers.missing_variables import AtomicDensity, CCCPClassifier, KernelBasis
from gapkernel.persistence import save

N_ROWS = 24
random = np.random.default_rng(0)
X = random.normal(size=(N_ROWS, 3))
NUMBERS = X @ [1.0, 2.0, 0.5] + 0.1 * random.normal(size=N_ROWS)
CLASSES = np.where(NUMBERS > 0, "high", "low")
THREE = np.searchsorted([-1.0, 1.0], NUMBERS)
X[random.random(X.shape) < 0.2] = np.nan
SOURCES = X.copy()  # two gap patterns, each shared by many rows
SOURCES[:, :2] = random.normal(size=(N_ROWS, 2))
SOURCES[::2, 0], SOURCES[1::2, 1] = np.nan, np.nan
FRAME = pd.DataFrame(X, columns=list("abc")).assign(
    kind=pd.Categorical(random.choice(["u", "v", "w", None], N_ROWS)),
    size=pd.Categorical(random.choice(["s", "m", "l", None], N_ROWS), ["s", "m", "l"], ordered=True),
    flag=random.choice([True, False], N_ROWS),
)
CODES = np.where(np.isnan(X), np.nan, np.round(X))

SMALL = {
    gk.GapClassifier: {"members": ["genrbf", "trees, small"], "random_state": 0},
    gk.GapRegressor: {"members": ["rbf", "fourier", "trees, small"], "random_state": 0},
    gk.MultipleImputationClassifier: {"estimator": LogisticRegression(), "n_imputations": 2, "random_state": 0},
    gk.MultipleImputationRegressor: {"estimator": Ridge(), "n_imputations": 2, "random_state": 0},
    gk.ChainedEquations: {"n_imputations": 2, "n_sweeps": 2, "random_state": 0},
    gk.TableModel: {"estimator": gk.SVC()},
    gk.SVCCV: {"gammas": 2, "Cs": [1.0]},
    gk.SVRCV: {"gammas": 2, "Cs": [1.0]},
    gk.KernelRidgeCV: {"gammas": 2},
    gk.FourierClassifier: {"n_components": 8, "random_state": 0},
    gk.FourierRegressor: {"n_components": 8, "random_state": 0},
    gk.FourierFeatures: {"n_components": 8, "random_state": 0},
    gk.Nystroem: {"random_state": 0},
    CCCPClassifier: {"random_state": 0},
    gk.GaussianProcessClassifier: {"optimizer": None},
    gk.GaussianProcessRegressor: {"optimizer": None},
}
LISTED = {
    "density": AtomicDensity("levels", method="exact"),
    "basis": KernelBasis(single_precision=True),
    "random_state": 0,
}
CHAINS = gk.ChainedEquations(n_imputations=2, n_sweeps=2, random_state=0)
KINDS = [kind for kind in (getattr(gk, name) for name in gk.__all__) if hasattr(kind, "fit")]
MODELS = [
    *((kind(**SMALL.get(kind, {})), X) for kind in KINDS),
    *((gk.SVC(kernel=kernel, indicator=True), FRAME) for kernel in ("genrbf", "rbf", "ehk")),
    (gk.KernelRidge(kernel=Karma()), X),
    (gk.SVR(kernel="rbf", density=GaussianMixture(2, random_state=0)), X),
    (gk.KernelRidge(density=FactorAnalysis(1)), X),
    (gk.KernelRidge(kernel=GenRBF(0.2, metric=np.eye(3) + 0.1)), X),
    (gk.KernelRidge(kernel=MonteCarlo("rbf", n_draws=4), density=Neighbours(random_state=0)), X),
    (gk.KernelRidge(conformal="mask"), X),
    (gk.SVR(conformal="count", density=Gaussian(ridge=0.1)), X),
    (gk.FourierRegressor(9, conformal="count", indicator=True, random_state=0), X),
    (gk.SVC(kernel=GenRBF(0.2).on([0]) + 2.0 * ExpectedLinear()), X),
    (gk.SVC(kernel="precomputed"), np.cov(np.nan_to_num(X))),
    (gk.SVC(kernel=CompletionKernel()), FRAME[["kind", "size"]]),
    (gk.SVC(kernel=AnisotropicRBF([1.0, 2.0, 1.0]), density=BestDensity([Gaussian(), FactorAnalysis(1)])), X),
    (RobustSVC(kernel="linear"), X),
    (RobustSVC(mean="imputed", indicator=Missingness(rule="sum")), X),
    (GeometricMarginSVC(kernel="rbf", class_weight="balanced"), FRAME),
    (CCCPClassifier(**LISTED), FRAME[["kind", "size", "flag"]]),
    (gk.GaussianProcessRegressor(optimizer=None, length_scale="ard", indicator=True, conformal="mask"), FRAME),
    (gk.GaussianProcessClassifier(optimizer=None, prior="share", n_landmarks=4, conformal="mask"), X),
    (gk.GapClassifier(members=["genrbf, offsets"], conformal="mask", cv=2, random_state=0), SOURCES),
    (gk.GapRegressor(members=["rbf, levels"], conformal="mask", cv=2, random_state=0), FRAME),
    (gk.MultipleImputationRegressor(KernelRidge(), CHAINS, pooling="average", indicator=True), X),
    (gk.ChainedEquations(n_imputations=2, n_sweeps=2, numeric="pmm", random_state=0), FRAME.assign(one=1.0)),
    (CategoricalNaiveBayes(), CODES),
    (GapFiller(name="rbf2"), FRAME),
    (OneHotWithGaps(), FRAME),
    (JointGaussian(), FRAME),
    (Marginals(), FRAME),
    (Marginals(numeric="gaussian"), X),
]  # fmt: skip
THREE_CLASSES = [gk.SVC(), gk.GaussianProcessClassifier(optimizer=None), gk.FourierClassifier(8, random_state=0)]
MODELS += [(model.set_params(gamma=0.3), X) for model in THREE_CLASSES]


def write_originals(folder):
    """Write the files of all models, with rows to ask them about, into a folder."""
    found = []
    for model, table in fitted():
        save(model, folder / "model.skops")
        found.append((type(model).__name__, (folder / "model.skops").read_bytes(), table))
    (folder / "originals.pickle").write_bytes(pickle.dumps(found))
    return folder


@cache
def fitted():
    """All models, each with a table to ask it about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(_fitted(model, table), table[:5]) for model, table in MODELS]


def _fitted(model, table):
    classes = THREE if any(model is one for one in THREE_CLASSES) else CLASSES
    return model.fit(table, NUMBERS if is_regressor(model) else classes)
