"""Saved models answer as before, to the last digit, and a file can name no type that a model is not made of."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from strategies import without_address

import gapkernel as gk
from gapkernel.persistence import UntrustedFileError, load, save

random = np.random.default_rng(0)
X = random.normal(size=(40, 4))
NUMBERS = X @ [1.0, 2.0, 0.0, 0.5]
CLASSES = np.where(NUMBERS > 0, "high", "low").astype(object)
X[random.random(X.shape) < 0.2] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(random.choice(["u", "v", None], 40)))
IMPUTER = gk.ChainedEquations(n_imputations=2, random_state=0)

SOURCES = X.copy()  # two gap patterns, each shared by many rows
SOURCES[:, :2] = np.random.default_rng(5).standard_normal((len(X), 2))
SOURCES[::2, 0], SOURCES[1::2, 1] = np.nan, np.nan
MODELS = [
    *((gk.SVC(kernel=name, indicator=True), FRAME, CLASSES) for name in ("genrbf", "rbf", "linear", "ehk")),
    (gk.SVC(kernel="karma"), X, CLASSES),
    (gk.SVC(kernel=gk.kernels.GenRBF(0.2) + 2.0 * gk.kernels.ExpectedLinear().on([0, 1])), X, CLASSES),
    (gk.SVR(), FRAME, NUMBERS),
    (gk.OneClassSVM(), FRAME, None),
    (gk.KernelRidge(), FRAME, NUMBERS),
    (gk.Gram(), FRAME, None),
    (gk.RobustSVC(), X, CLASSES),
    (gk.GeometricMarginSVC(), X, CLASSES),
    (gk.SVCCV(Cs=[1, 10], gammas=[0.1, 0.3], cv=2), FRAME, CLASSES),
    (gk.SVRCV(Cs=[1, 10], gammas=[0.1, 0.3], cv=2), FRAME, NUMBERS),
    (gk.KernelRidgeCV(alphas=[0.1, 1], gammas=[0.1, 0.3], cv=2), FRAME, NUMBERS),
    (IMPUTER, X, None),
    (gk.MultipleImputationClassifier(SVC(), IMPUTER), X, CLASSES),
    (gk.MultipleImputationClassifier(SVC(), IMPUTER, pooling="kernel"), X, CLASSES),
    (gk.MultipleImputationRegressor(SVR(), IMPUTER, pooling="average"), X, NUMBERS),
    (CalibratedClassifierCV(gk.SVC(), ensemble=False, cv=2), FRAME, CLASSES),
    (TransformedTargetRegressor(gk.SVR(kernel="ehk"), transformer=StandardScaler()), FRAME, NUMBERS),
    (make_pipeline(StandardScaler(), gk.SVC(kernel="rbf")), X, CLASSES),
    (gk.GaussianProcessRegressor(optimizer=None), X, NUMBERS),  # these targets have no noise to find
    (gk.GapClassifier(random_state=0), FRAME, CLASSES),
    (gk.GapRegressor(random_state=0), FRAME, NUMBERS),
    (gk.GapClassifier(members=["trees", "trees, small"], random_state=0), FRAME, CLASSES),
    (gk.GapRegressor(members=["trees, small", "fourier"], random_state=0), FRAME, NUMBERS),
    (gk.GapClassifier(members=["genrbf, offsets", "rbf, offsets"], random_state=0), SOURCES, CLASSES),
    (gk.density.Gaussian(), X, None),
    (gk.density.Marginals(), FRAME, None),
    (gk.density.JointGaussian(), FRAME, None),
]
LISTED = {type(model) for model, _, _ in MODELS}
OTHERS = [getattr(gk, name) for name in gk.__all__ if hasattr(getattr(gk, name), "fit")]
MODELS += [
    (estimator(), X, NUMBERS if is_regressor(estimator()) else CLASSES)
    for estimator in OTHERS
    if estimator not in LISTED  # whatever is new in the package is saved with its defaults
]


def answers(model, table):
    """Everything that a model says about rows."""
    told = {}
    for verb in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, verb):
            told[verb] = getattr(model, verb)(table)
    if hasattr(model, "condition"):
        told["condition"] = model.condition(table).draws(2, random_state=0)
    return told


@pytest.mark.parametrize(("model", "table", "target"), MODELS, ids=lambda value: type(value).__name__)
def test_a_loaded_model_answers_as_the_saved_one(model, table, target, tmp_path):
    model.fit(table, target)
    save(model, tmp_path / "model.skops")
    before, after = answers(model, table), answers(load(tmp_path / "model.skops"), table)
    assert before.keys() == after.keys()
    assert before
    for verb, said in before.items():
        np.testing.assert_array_equal(np.asarray(after[verb]), np.asarray(said), err_msg=verb)


def test_loaded_rows_are_as_immutable_as_saved_ones(tmp_path):
    save(gk.SVC().fit(X, CLASSES), tmp_path / "model.skops")
    with pytest.raises(ValueError, match="read-only"):
        load(tmp_path / "model.skops").rows_.means[0, 0] = 0.0


def shift(values):
    """A function that a file must not be able to name."""
    return values + 1


@pytest.mark.parametrize(
    "intruder",
    [FunctionTransformer(shift), {"a": shift}, [io.StringIO], gk.experiments.Task("a", "b")],
    ids=without_address,
)
def test_other_types_are_neither_written_nor_read(intruder, tmp_path):
    with pytest.raises(ValueError, match="could not be read back"):
        save(intruder, tmp_path / "model.skops")
    skops.io.dump(intruder, tmp_path / "model.skops")
    with pytest.raises(UntrustedFileError, match="is refused: it holds"):
        load(tmp_path / "model.skops")


@pytest.mark.parametrize(
    "name",
    [
        "gapkernel.experiments.store.Store",  # it would open a file
        "gapkernel.tables.batches.Files",  # it would read one
        "gapkernel.missingness.summary.GapSummary",  # harmless, but no model is made of it
        "gapkernel.estimators.svm.svm.read_labelled",  # a function
        "gapkernel.estimators.svm.svm.ClassifierMixin",  # a class of another package
        "gapkernel.estimators.nowhere.SVC",
        "gapkernel.estimatorsX.svm.SVC",
        "os.system",
    ],
)
def test_a_forged_type_name_is_refused(name, tmp_path):
    content = io.BytesIO(skops.io.dumps(gk.SVC().fit(X, CLASSES)))
    with zipfile.ZipFile(content) as genuine:
        parts = {item: genuine.read(item) for item in genuine.namelist()}
    schema = json.loads(parts["schema.json"])
    schema["__module__"], _, schema["__class__"] = name.rpartition(".")
    parts["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(tmp_path / "forged.skops", "w") as forged:
        for item, bytes_ in parts.items():
            forged.writestr(item, bytes_)
    with pytest.raises(UntrustedFileError, match=name):
        load(tmp_path / "forged.skops")


@pytest.mark.parametrize("content", [b"", b"not a zip file", None], ids=["empty", "text", "cut off"])
def test_a_damaged_file_is_one_clear_error(content, tmp_path):
    path = tmp_path / "model.skops"
    save(gk.SVC().fit(X, CLASSES), path)
    path.write_bytes(path.read_bytes()[:-200] if content is None else content)
    with pytest.raises(ValueError, match="not a file of a saved model, or it is damaged"):
        load(path)
