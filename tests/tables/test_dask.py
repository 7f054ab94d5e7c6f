"""Dask collections: the same models as in memory, whatever the blocks, the workers, and what happens to them."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import random_laws

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.papers.genrbf import GeometricMarginSVC
from gapkernel.papers.microbiology import CategoricalNaiveBayes
from gapkernel.papers.missing_variables import AtomicDensity, CCCPClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

COLUMNS = list("abcd")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def problem(n=240, seed=0):
    _, X, rows = random_laws(seed, n, 4, 0.3)
    distance = np.sum((rows.means - rows.means.mean(axis=0)) ** 2, axis=1)
    return X, (distance > np.median(distance)).astype(int), distance


def assert_same_density(left, right):
    assert_allclose(left.mean_, right.mean_, rtol=1e-8, atol=1e-10)
    assert_allclose(left.covariance_, right.covariance_, rtol=1e-8, atol=1e-10)
    assert_allclose(left.log_likelihood_, right.log_likelihood_, rtol=1e-8)
    assert left.n_iter_ == right.n_iter_


def assert_same_model(left, right):
    assert_same_density(left.density_, right.density_)
    assert_allclose(left.kernel_.gamma, right.kernel_.gamma, rtol=1e-8)
    assert_allclose(left.features_.map_.frequencies, right.features_.map_.frequencies, rtol=1e-8)
    assert_allclose(left.coef_, right.coef_, rtol=1e-8, atol=1e-8 * np.abs(right.coef_).max())
    assert_allclose(left.intercept_, right.intercept_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("chunks", [(7, 4), (100, 3), (240, 1)])
def test_expectation_maximisation_over_blocks_is_that_of_the_whole(chunks):
    X, _, _ = problem()
    X[3], X[50:60, 1] = np.nan, np.nan
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    for sample_weight in (None, weight):
        blocks = gk.density.Gaussian().fit(da.from_array(X, chunks=chunks), sample_weight=sample_weight)
        assert_same_density(blocks, gk.density.Gaussian().fit(X, sample_weight=sample_weight))


def test_blocks_may_be_empty_constant_or_without_values():
    X, _, _ = problem(40)
    X[:10], X[:, 2], X[:, 3] = np.nan, 5.0, np.nan
    blocks = da.concatenate([da.from_array(part) for part in (X[:10], X[:0], X[10:])])
    assert_same_density(gk.density.Gaussian().fit(blocks), gk.density.Gaussian().fit(X))


@pytest.mark.parametrize("density_samples", [None, 60, 100_000])
@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_an_array_in_blocks_gives_the_model_of_the_whole(density_samples, gamma):
    X, y, target = problem()
    options = {"density_samples": density_samples, "gamma": gamma, "random_state": 3}
    blocks, labels = da.from_array(X, chunks=(70, 2)), da.from_array(y, chunks=50)
    whole = gk.FourierClassifier(20, **options).fit(X, y)
    model = gk.FourierClassifier(20, **options).fit(blocks, labels)
    assert_same_model(model, whole)
    assert_same_model(
        gk.FourierRegressor(20, **options).fit(blocks, target),
        gk.FourierRegressor(20, **options).fit(X, target),
    )
    assert np.array_equal(model.predict(blocks).compute(), whole.predict(X))


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_other_losses_and_weights_over_blocks(loss):
    X, y, _ = problem()
    weight = np.random.default_rng(0).random(len(X))
    blocks = da.from_array(X, chunks=(90, 4))
    model = gk.FourierClassifier(20, random_state=0, loss=loss).fit(blocks, y, weight)
    assert_same_model(model, gk.FourierClassifier(20, random_state=0, loss=loss).fit(X, y, weight))


def test_a_dataframe_with_categories_and_names():
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=COLUMNS).assign(kind=np.where(X[:, 0] > 0, "p", "q"), y=y)
    parts = dd.from_pandas(frame, npartitions=3)
    columns = [*COLUMNS, "kind"]
    whole = gk.FourierClassifier(20, random_state=0).fit(frame[columns], y)
    model = gk.FourierClassifier(20, random_state=0).fit(parts[columns], parts["y"])
    assert_allclose(model.coef_, whole.coef_, rtol=1e-8, atol=1e-8)
    assert model.feature_names_in_.tolist() == columns
    assert np.array_equal(model.predict(parts[columns]).compute(), whole.predict(frame[columns]))


def test_a_dataframe_of_numbers_with_the_density_of_all_rows():
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=COLUMNS)
    parts = dd.from_pandas(frame, npartitions=3)
    whole = gk.FourierClassifier(20, random_state=0, density_samples=None).fit(frame, y)
    model = gk.FourierClassifier(20, random_state=0, density_samples=None).fit(parts, y)
    assert_same_model(model, whole)
    assert_allclose(model.decision_function(parts).compute(), whole.decision_function(frame), rtol=1e-8, atol=1e-10)


def test_blocks_of_unknown_length():
    X, y, _ = problem()
    parts = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS).assign(y=y), npartitions=4)
    unknown, labels = parts[COLUMNS].to_dask_array(), parts["y"].to_dask_array()
    assert np.isnan(unknown.shape[0])
    model = gk.FourierClassifier(20, random_state=0).fit(unknown, labels)
    assert_same_model(model, gk.FourierClassifier(20, random_state=0).fit(X, y))
    assert len(model.decision_function(unknown).compute()) == len(X)


MACHINES = [
    (gk.SVC(), "predict"),
    (gk.SVC(), "decision_function"),
    (gk.SVR(), "predict"),
    (gk.OneClassSVM(), "score_samples"),
    (gk.KernelRidge(), "predict"),
    (gk.KernelRidgeCV(alphas=[1.0], gammas=[0.1], cv=2, conformal="count"), "predict_interval"),
    (gk.GaussianProcessRegressor(optimizer=None, conformal="count"), "predict_interval"),
    (RobustSVC(), "predict"),
    (GeometricMarginSVC(), "decision_function"),
    (gk.SVCCV(Cs=[1.0], gammas=[0.1], cv=2), "predict"),
    (gk.KernelRidgeCV(alphas=[1.0], gammas=[0.1], cv=2), "predict"),
    (CCCPClassifier(density=AtomicDensity(n_atoms=4), basis=10, random_state=0), "predict_proba"),
    (gk.Gram(), "transform"),
    (gk.Nystroem(10, random_state=0), "transform"),
    (gk.FourierFeatures(10, random_state=0), "transform"),
    (gk.FourierClassifier(10, random_state=0, loss="log_loss"), "predict_proba"),
]


@pytest.mark.parametrize(
    ("machine", "verb"), MACHINES, ids=lambda value: value if isinstance(value, str) else type(value).__name__
)
def test_every_machine_answers_by_blocks(machine, verb):
    X, y, _ = problem(60)
    machine.fit(X, y)
    expected = getattr(machine, verb)(X)
    answer = getattr(machine, verb)(da.from_array(X, chunks=(25, 3)))
    assert isinstance(answer, da.Array)
    assert answer.shape == expected.shape
    assert answer.dtype == expected.dtype
    assert_allclose(answer.compute(), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(getattr(machine, verb)(gk.batches(X, batch_size=25)), expected, rtol=1e-10, atol=1e-12)


def test_naive_bayes_answers_frames_by_blocks():
    frame = pd.DataFrame({"a": [0.0, 1.0, None, 1.0], "b": [2.0, 2.0, 0.0, None]})
    machine = CategoricalNaiveBayes().fit(frame, [0, 1, 1, 0])
    parts = dd.from_pandas(frame, npartitions=2)
    assert_allclose(machine.predict_proba(parts).compute(), machine.predict_proba(frame))


def test_landmarks_and_features_are_those_of_the_whole():
    X, _, _ = problem()
    blocks = da.from_array(X, chunks=(64, 4))
    machines = [
        kind(10, density_samples=samples, random_state=0)
        for kind in (gk.Nystroem, gk.FourierFeatures)
        for samples in (50, None)
    ]
    for machine in (
        *machines,
        gk.Nystroem(10, random_state=0, landmarks="pivoted", indicator=True, density_samples=None),
    ):
        whole = machine.fit(X).transform(X)
        assert_allclose(machine.fit(blocks).transform(blocks).compute(), whole, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("fit", "complaint"),
    [
        (lambda X, y: gk.FourierClassifier().fit(X, y[:-1]), "X has 240 rows, but y has 239 values"),
        (lambda X, y: gk.FourierClassifier().fit(X), "requires y to be passed"),
        (lambda X, y: gk.FourierClassifier().fit(X[:0], y[:0]), "holds no row"),
        (lambda X, y: gk.FourierClassifier(density_samples=None, density=gk.density.JointGaussian()).fit(X, y),
         "JointGaussian cannot be fitted to a table in parts"),
        (lambda X, y: gk.FourierClassifier().fit(X, y).predict(X[:, :2]), "expecting 4 features"),
        (lambda X, y: gk.FourierClassifier().fit(da.where(X > 1, np.inf, X), y), "infinity"),
    ],
)  # fmt: skip
def test_bad_collections_are_one_clear_complaint(fit, complaint):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=complaint):
        fit(da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100))


def test_two_workers_one_of_which_dies_give_the_model_of_one_process(tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y, _ = problem()

    def load(X, block_info=None):  # inside, so that workers need not import this module
        """A block of rows; the first time that block 2 is read, its worker dies."""
        number = block_info[None]["chunk-location"][0]
        if number == 2 and not (mark := tmp_path / "died").exists():
            mark.touch()
            os._exit(1)
        return X[60 * number : 60 * number + 60]

    options = {"dashboard_address": ":0", "silence_logs": 50, "worker_class": distributed.Nanny}
    impatient = {"distributed.scheduler.no-workers-timeout": "120s"}  # in place of a wait for ever if none comes up
    with (
        dask.config.set(impatient),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster),
        dask.config.set(scheduler="distributed"),
    ):
        blocks = da.map_blocks(load, X, chunks=((60,) * 4, (4,)), dtype=float)
        model = gk.FourierClassifier(20, random_state=0, density_samples=None).fit(blocks, y)
        answers = model.predict(da.from_array(X, chunks=(60, 4))).compute()
    assert (tmp_path / "died").exists()
    whole = gk.FourierClassifier(20, random_state=0, density_samples=None).fit(X, y)
    assert_same_model(model, whole)
    assert np.array_equal(answers, whole.predict(X))


def test_answers_of_several_arrays_are_as_many_dask_arrays():
    X, _, target = problem(60)
    machine = gk.GaussianProcessRegressor(optimizer=None).fit(X, target)
    blocks = da.from_array(X, chunks=(25, 3))
    answers = machine.predict(blocks, return_std=True)
    for answer, expected in zip(answers, machine.predict(X, return_std=True), strict=True):
        assert answer.shape == expected.shape
        assert_allclose(answer.compute(), expected, rtol=1e-8, atol=1e-12)
    with pytest.raises(ValueError, match="return_cov is about pairs of rows"):
        machine.predict(blocks, return_cov=True)
