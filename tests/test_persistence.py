"""Saved models answer as before, to the last digit, and a file can name no type that a model is not made of."""

import io
import json
import pickle
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
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC, Karma
from gapkernel.papers.missing_variables import AtomicDensity, CCCPClassifier, KernelBasis
from gapkernel.persistence import DamagedFileError, UntrustedFileError, archive, load, save
from gapkernel.persistence.archive import DEEPEST, sealed
from gapkernel.tables.input_errors import UnusableColumn

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
    (gk.SVC(kernel=Karma()), X, CLASSES),
    (gk.SVC(kernel=gk.kernels.GenRBF(0.2) + 2.0 * gk.kernels.ExpectedLinear().on([0, 1])), X, CLASSES),
    (gk.SVR(), FRAME, NUMBERS),
    (gk.OneClassSVM(), FRAME, None),
    (gk.KernelRidge(), FRAME, NUMBERS),
    (gk.Gram(), FRAME, None),
    (RobustSVC(), X, CLASSES),
    (GeometricMarginSVC(), X, CLASSES),
    (gk.SVCCV(Cs=[1, 10], gammas=[0.1, 0.3], cv=2), FRAME, CLASSES),
    (gk.SVRCV(Cs=[1, 10], gammas=[0.1, 0.3], cv=2), FRAME, NUMBERS),
    (gk.KernelRidgeCV(alphas=[0.1, 1], gammas=[0.1, 0.3], cv=2), FRAME, NUMBERS),
    (IMPUTER, X, None),
    (gk.MultipleImputationClassifier(SVC(), IMPUTER), X, CLASSES),
    (gk.MultipleImputationRegressor(SVR(), IMPUTER, pooling="average"), X, NUMBERS),
    (CalibratedClassifierCV(gk.SVC(), ensemble=False, cv=2), FRAME, CLASSES),
    (TransformedTargetRegressor(gk.SVR(kernel="ehk"), transformer=StandardScaler()), FRAME, NUMBERS),
    (make_pipeline(StandardScaler(), gk.SVC(kernel="rbf")), X, CLASSES),
    (gk.TableModel(gk.SVC()), FRAME, CLASSES),
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
    [FunctionTransformer(shift), {"a": shift}, [io.StringIO], gk.studies.Task("a", "b")],
    ids=without_address,
)
def test_other_types_are_neither_written_nor_read(intruder, tmp_path):
    with pytest.raises(ValueError, match="could not be read back"):
        save(intruder, tmp_path / "model.skops")
    (tmp_path / "model.skops").write_bytes(sealed(skops.io.dumps(intruder)))
    with pytest.raises(UntrustedFileError, match="is refused: it holds"):
        load(tmp_path / "model.skops")


def members(model):
    """The members of the archive of a model."""
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as genuine:
        return {item: genuine.read(item) for item in genuine.namelist()}


def put(path, parts):
    """Write an archive with a checksum that fits."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as forged:
        for item, content in parts.items():
            forged.writestr(item, content)
    path.write_bytes(sealed(buffer.getvalue()))


@pytest.mark.parametrize(
    "name",
    [
        "gapkernel.studies.store.Store",  # it would open a file
        "gapkernel.tables.batches.Files",  # it would read one
        "gapkernel.missingness.summary.GapSummary",  # harmless, but no model is made of it
        "gapkernel.estimators.svm.read_labelled",  # a function
        "gapkernel.estimators.svm.ClassifierMixin",  # a class of another package
        "gapkernel.estimators.nowhere.SVC",
        "gapkernel.estimatorsX.svm.SVC",
        "os.system",
    ],
)
def test_a_forged_type_name_is_refused(name, tmp_path):
    parts = members(gk.SVC().fit(X, CLASSES))
    schema = json.loads(parts["schema.json"])
    schema["__module__"], _, schema["__class__"] = name.rpartition(".")
    put(tmp_path / "forged.skops", parts | {"schema.json": json.dumps(schema)})
    with pytest.raises(UntrustedFileError, match=name):
        load(tmp_path / "forged.skops")


@pytest.fixture
def saved(tmp_path):
    """The file of a model."""
    save(gk.SVC().fit(X, CLASSES), tmp_path / "model.skops")
    return tmp_path / "model.skops"


@pytest.mark.parametrize("content", [b"", b"not a zip file", None], ids=["empty", "text", "cut off"])
def test_a_damaged_file_is_one_clear_error(content, saved):
    saved.write_bytes(saved.read_bytes()[:-200] if content is None else content)
    with pytest.raises(DamagedFileError, match="not a file of a saved model, or it is damaged"):
        load(saved)


def test_a_changed_array_is_told_by_the_checksum(saved):
    with zipfile.ZipFile(saved) as old:
        parts, seal = {name: old.read(name) for name in old.namelist()}, old.comment
    array = next(name for name in parts if name.endswith(".npy"))
    parts[array] = parts[array][:-1] + bytes([parts[array][-1] ^ 1])
    put(saved, parts)
    with zipfile.ZipFile(saved, "a") as new:
        new.comment = seal
    with pytest.raises(DamagedFileError, match="does not match its checksum"):
        load(saved)
    saved.write_bytes(skops.io.dumps(gk.SVC()))
    with pytest.raises(DamagedFileError, match="no checksum"):
        load(saved)


def array_of(shape, data=b""):
    """An array file that says it has a shape."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue() + data


def deep(parts):
    node = json.loads(parts["schema.json"])
    for _ in range(DEEPEST):
        node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [node]}
    return {"schema.json": json.dumps(node | {"protocol": 2})}


def named_often(parts):
    array = next(name for name in parts if name.endswith(".npy"))
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy", "file": array}
    bomb = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [node] * 1000}
    return {"schema.json": json.dumps(bomb | {"protocol": 2}), array: np.lib.format.magic(1, 0) + bytes(50_000)}


def archive_inside(parts):
    inner = io.BytesIO()
    np.savez_compressed(inner, data=np.zeros(10_000_000 // 8))
    node = {"__class__": "csr_array", "__module__": "scipy.sparse", "__loader__": "SparseMatrixNode", "type": "scipy"}
    return {"schema.json": json.dumps(node | {"protocol": 2, "file": "a.npz"}), "a.npz": inner.getvalue()}


def with_every_array(content):
    return lambda parts: dict.fromkeys((name for name in parts if name.endswith(".npy")), content)


BOMBS = {
    "zeros": (lambda parts: {"more.bin": bytes(10_000_000)}, "unpacked it would take"),
    "one member named often": (named_often, "unpacked it would take"),
    "an archive inside": (archive_inside, "unpacked it would take"),
    "many members": (lambda parts: {f"{k}.bin": b"" for k in range(99)}, "too many members"),
    "deep": (deep, "nested more than"),
    "a large array without data": (with_every_array(array_of((10**12,))), "not as large as it says"),
    "an array of overflowing size": (with_every_array(array_of((2**62, 4))), "not as large as it says"),
    "a long description": (lambda parts: {"schema.json": " " * (33 << 20)}, "its description"),
}


@pytest.mark.parametrize(("bomb", "message"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_before_it_is_unpacked(bomb, message, saved, monkeypatch):
    parts = members(gk.SVC().fit(X, CLASSES))
    put(saved, parts | bomb(parts))
    monkeypatch.setattr(skops.io, "loads", None)  # nothing is built
    monkeypatch.setattr(skops.io, "get_untrusted_types", None)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 50)
    with pytest.raises(DamagedFileError, match=message):
        load(saved, max_bytes=5_000_000 if "description" not in message else 1 << 30)


def test_a_limit_is_a_choice_and_only_a_file_is_read(saved):
    with pytest.raises(DamagedFileError, match="max_bytes=100"):
        load(saved, max_bytes=100)
    assert load(saved, max_bytes=100_000).classes_.tolist() == ["high", "low"]
    with pytest.raises(DamagedFileError, match="is not a file"):
        load("/dev/zero")


def test_a_model_that_takes_no_row_of_gaps_is_loaded(tmp_path):
    """Zero is an unknown level of a text, and so a gap: a row of known levels is tried too."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.choice(list("abcdefgh"), (60, 10))).rename(columns=str)
    model = CCCPClassifier(C=1.0, density=AtomicDensity("levels", method="exact"), random_state=0)
    model.fit(X, random.choice([0, 1], 60))
    with pytest.raises(ValueError, match="exact completions"):
        model.predict(pd.DataFrame([[None] * 10], columns=X.columns))
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(X), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        gk.GaussianProcessRegressor(n_landmarks=np.int64(5), optimizer=None),
        CCCPClassifier(C=1.0, basis=KernelBasis(intercept=np.True_), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_settings_of_numpy_are_pickled(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[::5, 0] = np.nan
    fitted = model.fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 1] > 0)
    new = pd.DataFrame(X[:4], columns=["a", "b"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(new), fitted.predict(new))


def test_an_error_about_a_column_can_be_pickled():
    for advice in ((), ("Say: ", "so.")):
        error = UnusableColumn("c", "dates", *advice)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
