"""Linear machines on Fourier features: those of scikit-learn on the same features, however the rows come."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from strategies import gappy_tables, random_laws

import gapkernel as gk
from gapkernel.tables import table_in_parts

FourierClassifier = partial(gk.FourierClassifier, random_state=0)
FourierRegressor = partial(gk.FourierRegressor, random_state=0)
LOSSES = ("squared_error", "log_loss", "squared_hinge")


def problem(n=200, d=4, n_classes=2, seed=0):
    """Rows with gaps in classes by their distance from the centre."""
    _, X, rows = random_laws(seed, n, d, 0.3)
    distance = np.sum((rows.means - rows.means.mean(axis=0)) ** 2, axis=1)
    return X, np.digitize(distance, np.quantile(distance, np.arange(1, n_classes) / n_classes)), distance


def assert_same_model(left, right, rtol=1e-8):
    assert_allclose(left.density_.moments().covariance, right.density_.moments().covariance, rtol=rtol)
    assert_allclose(left.kernel_.gamma, right.kernel_.gamma, rtol=rtol)
    assert_allclose(left.coef_, right.coef_, rtol=rtol, atol=rtol * np.abs(right.coef_).max())
    assert_allclose(left.intercept_, right.intercept_, rtol=rtol, atol=rtol * np.abs(right.intercept_).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_the_regressor_is_ridge_on_the_features(weighted):
    X, _, target = problem()
    y = np.column_stack([target, np.sqrt(target)])
    weight = np.random.default_rng(0).random(len(X)) if weighted else None
    for values in (target, y):
        model = FourierRegressor(40, alpha=0.3).fit(X, values, weight)
        Z = model.features_.transform(X)
        ridge = Ridge(alpha=0.3).fit(Z, values, weight)
        assert_allclose(model.coef_, ridge.coef_, rtol=1e-7, atol=1e-9)
        assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-8)
        assert_allclose(model.predict(X), ridge.predict(Z), rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_squared_error_is_the_ridge_classifier_on_the_features(n_classes):
    X, y, _ = problem(n_classes=n_classes)
    labels = np.array(["low", "middle", "top"])[y]
    model = FourierClassifier(40, alpha=0.3).fit(X, labels)
    Z = model.features_.transform(X)
    ridge = RidgeClassifier(alpha=0.3).fit(Z, labels)
    assert_allclose(model.coef_, np.atleast_2d(ridge.coef_), rtol=1e-7, atol=1e-9)
    assert_allclose(model.decision_function(X), ridge.decision_function(Z), rtol=1e-7, atol=1e-9)
    assert np.array_equal(model.predict(X), ridge.predict(Z))


def test_log_loss_is_logistic_regression_on_the_features():
    X, y, _ = problem()
    model = FourierClassifier(40, alpha=0.1, loss="log_loss").fit(X, y)
    Z = model.features_.transform(X)
    logistic = LogisticRegression(C=10.0, tol=1e-12, max_iter=10_000).fit(Z, y)
    assert_allclose(model.decision_function(X), logistic.decision_function(Z), rtol=1e-5, atol=1e-5)
    assert_allclose(model.predict_proba(X), logistic.predict_proba(Z), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_are_where_the_objective_is_flat(loss, n_classes):
    X, y, _ = problem(n_classes=n_classes, seed=1)
    weight = np.random.default_rng(0).random(len(X))
    model = FourierClassifier(30, alpha=0.2, loss=loss).fit(X, y, weight)
    Z = model.features_.transform(X)
    classes = model.classes_ if n_classes > 2 else model.classes_[1:]
    signs = np.where(y[:, None] == classes, 1.0, -1.0)
    margin = signs * (Z @ model.coef_.T + model.intercept_)
    first = {
        "squared_error": margin - 1.0,
        "log_loss": -1.0 / (1.0 + np.exp(margin)),
        "squared_hinge": -np.maximum(1.0 - margin, 0.0),
    }[loss]
    pull = weight[:, None] * signs * first
    assert_allclose(Z.T @ pull + 0.2 * model.coef_.T, 0.0, atol=1e-5)
    assert_allclose(pull.sum(axis=0), 0.0, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_curved_boundary_is_learned_from_rows_with_gaps(loss):
    _, X, _ = random_laws(3, 2000, 3, 0.0)
    y = (np.sum((X - X.mean(axis=0)) ** 2, axis=1) > np.median(np.sum((X - X.mean(axis=0)) ** 2, axis=1))).astype(int)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = FourierClassifier(200, alpha=0.1, gamma=0.3, loss=loss).fit(X[:1000], y[:1000])
    exact = gk.SVC(C=10.0, gamma=0.3).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > max(0.8, exact.score(X[1000:], y[1000:]) - 0.03)


def test_more_features_approach_the_exact_kernel():
    X, _, target = problem(150)
    y = target - target.mean()
    gram = gk.Gram(gamma=0.2).fit_transform(X)
    centred = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()  # the intercept takes the mean
    exact = centred @ np.linalg.solve(centred + np.eye(len(y)), y)
    errors = []
    for n in (40, 250, 1600):
        model = FourierRegressor(n, gamma=0.2, alpha=1.0).fit(X, y)
        errors.append(np.sqrt(np.mean((model.predict(X) - exact) ** 2)) / y.std())
    assert errors[2] < 0.15
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("batch_size", [13, 1000])
def test_batches_give_the_model_of_the_whole(loss, batch_size):
    X, y, _ = problem()
    model = FourierClassifier(20, loss=loss)
    streamed = FourierClassifier(20, loss=loss).fit(gk.batches(X, y, batch_size=batch_size))
    assert_same_model(streamed, model.fit(X, y))
    assert_allclose(streamed.decision_function(gk.batches(X, batch_size=batch_size)), model.decision_function(X))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_neither_parts_nor_threads_change_the_model(n_threads, monkeypatch):
    X, y, _ = problem()
    whole = FourierClassifier(20).fit(X, y)
    monkeypatch.setattr(table_in_parts, "PART_ROWS", 9)
    with gk.config_context(n_threads=n_threads):
        assert_same_model(FourierClassifier(20).fit(X, y), whole)


def test_samples_of_the_density_are_the_same_rows_however_they_come(tmp_path):
    X, y, _ = problem(300)
    model = FourierClassifier(20, density_samples=80, gamma="median")
    whole = FourierClassifier(20, density_samples=80, gamma="median").fit(X, y)
    assert_same_model(model.fit(gk.batches(X, y, batch_size=41)), whole)
    np.save(tmp_path / "X.npy", X)
    assert_same_model(model.fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y), whole)


def test_files_and_memory_maps_give_the_model_of_the_whole(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, target = problem()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "p", "q"), label=y, size=target)
    (tmp_path / "csv").mkdir()
    frame[:120].to_csv(tmp_path / "csv" / "1.csv", index=False)
    frame[120:].to_csv(tmp_path / "csv" / "2.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=70)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", target)

    whole = FourierClassifier(20).fit(frame.drop(columns=["label", "size"]), y)
    held = frame.drop(columns="size")
    held.to_parquet(tmp_path / "held.parquet", row_group_size=70)
    from_parquet = FourierClassifier(20).fit(gk.batches(tmp_path / "held.parquet", "label", batch_size=50))
    assert_same_model(from_parquet, whole)
    assert from_parquet.feature_names_in_.tolist() == [*"abcd", "kind"]

    numbers = FourierRegressor(20).fit(X, target)
    from_map = FourierRegressor(20).fit(gk.batches(tmp_path / "X.npy", tmp_path / "y.npy", batch_size=64))
    assert_same_model(from_map, numbers)
    assert_same_model(FourierRegressor(20).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), target), numbers)

    columns = frame.drop(columns=["label", "kind"])
    (tmp_path / "numbers").mkdir()
    columns[:120].to_csv(tmp_path / "numbers" / "1.csv", index=False)
    columns[120:].to_csv(tmp_path / "numbers" / "2.csv", index=False)
    from_csv = FourierRegressor(20).fit(gk.batches(tmp_path / "numbers", "size", batch_size=64))
    assert_same_model(from_csv, numbers)
    assert_allclose(from_csv.predict(columns.drop(columns="size")), numbers.predict(X), rtol=1e-8)


def test_a_function_may_give_batches_with_weights():
    X, y, _ = problem()
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    cuts = [slice(0, 50), slice(50, 51), slice(51, 200)]
    streamed = FourierClassifier(20).fit(gk.batches(lambda: ((X[s], y[s], weight[s]) for s in cuts)))
    assert_same_model(streamed, FourierClassifier(20).fit(X, y, weight))


def test_rows_added_later_count_as_if_they_had_been_there():
    density, X, _ = random_laws(4, 90, 3, 0.3)
    known = gk.density.Gaussian(mean=density.mean_, covariance=density.covariance_)
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int)
    whole = FourierClassifier(16, density=known).fit(X, y)
    classes = FourierClassifier(16, density=known).partial_fit(X[:1], y[:1], classes=[0, 1])
    for rows in (slice(1, 40), slice(40, 90)):
        classes.partial_fit(X[rows], y[rows])
    assert_same_model(classes, whole)
    numbers = FourierRegressor(16, density=known).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    assert_same_model(numbers, FourierRegressor(16, density=known).fit(X, y))


def test_a_new_fit_forgets_the_names_of_the_last_one():
    pd = pytest.importorskip("pandas")
    X, y, _ = problem()
    model = FourierClassifier(8).fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert model.features_.feature_names_in_.tolist() == list("abcd")
    assert not hasattr(model.fit(gk.batches(X, y)), "feature_names_in_")
    model.predict(X)


def test_weight_zero_leaves_a_row_out():
    X, y, _ = problem()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    kept = weight > 0
    weighted = FourierClassifier(20, gamma=0.2).fit(X, y, weight)
    assert_same_model(weighted, FourierClassifier(20, gamma=0.2).fit(X[kept], y[kept]))


@given(X=gappy_tables(min_rows=2, scales=(1e-3, 1.0, 1e3)))
def test_any_table_can_be_fitted(X):
    y = np.arange(len(X)) % 2
    model = FourierClassifier(9).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(FourierRegressor(9).fit(X, y).predict(X)).all()


def test_data_is_never_written_to():
    X, y, _ = problem(50)
    X.flags.writeable = y.flags.writeable = False
    FourierClassifier(8).fit(X, y).predict(X)


@pytest.mark.parametrize(
    ("fit", "complaint"),
    [
        (
            lambda X, y: FourierClassifier(alpha=0).fit(X, y),
            "'alpha' parameter .* float in the range .1e-100.*Got 0",
        ),
        (
            lambda X, y: FourierClassifier("many").fit(X, y),
            "'n_components' parameter .* must be an int",
        ),
        (
            lambda X, y: FourierClassifier(loss="hinge").fit(X, y),
            "'loss' parameter .* must be a str among",
        ),
        (lambda X, y: FourierClassifier().fit(X, np.zeros(len(X))), "one class only"),
        (lambda X, y: FourierClassifier().fit(gk.batches(X)), "requires y to be passed"),
        (lambda X, y: FourierClassifier().fit(gk.batches(X, y), y), "bring their own targets"),
        (lambda X, y: FourierClassifier().fit(gk.batches(lambda: iter([]))), "the batches hold no row"),
        (lambda X, y: FourierRegressor().fit(gk.batches(X, np.full(len(X), np.nan))), "NaN"),
        (lambda X, y: FourierClassifier().partial_fit(X, y, classes=[5, 6]), "more than classes"),
        (lambda X, y: gk.batches(X, y[:-1]), "The target has 199 values, but the table has 200 rows"),
        (lambda X, y: gk.batches("no/such/table.parquet", "y"), "There is no file"),
        (lambda X, y: gk.batches(__file__, "y"), "only .parquet, .csv and .npy"),
        (lambda X, y: gk.batches(X, y, batch_size=0), "batch_size must be at least 1"),
        (lambda X, y: gk.batches(3.0), "source must be a path"),
    ],
)
def test_bad_input_is_one_clear_complaint(fit, complaint):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=complaint):
        fit(X, y)


def test_a_missing_target_column_is_named(tmp_path):
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has no column 'y'. It has \['a'\]"):
        FourierRegressor().fit(gk.batches(tmp_path / "t.parquet", "y"))


def test_stopping_early_is_said():
    X, y, _ = problem()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes"):
        FourierClassifier(20, loss="log_loss", alpha=1e-6, max_iter=1).fit(X, y)


def test_only_the_loss_with_probabilities_offers_them():
    assert not hasattr(FourierClassifier(), "predict_proba")
    assert hasattr(FourierClassifier(loss="log_loss"), "predict_proba")
    assert not hasattr(FourierClassifier(loss="log_loss"), "partial_fit")
