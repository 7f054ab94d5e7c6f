"""One predictor from many completed tables: against doing it by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import gapkernel as gk
from gapkernel.imputation.imputations import Imputations

nan = np.nan
CHAINS = gk.ChainedEquations(n_imputations=4, n_sweeps=2, random_state=0)


def problem(n=90, n_classes=2, gap_rate=0.2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n)
    X = random.standard_normal((n, 4)) + 1.2 * np.eye(max(n_classes, 4))[y, :4]
    X[:, 3] += X[:, 2]
    gaps = random.random(X.shape) < gap_rate
    return np.where(gaps, nan, X), y


def by_hand(X, new, y=None):
    """The completions that the pooled predictors work with."""
    imputer = clone(CHAINS)
    return imputer.fit_transform_all(X, y), imputer.transform_all(new)


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def classes(request):
    X, y = problem(n_classes=request.param)
    new, _ = problem(40, request.param, seed=1)
    return X, y, new


# --- against doing it by hand --------------------------------------------------------------------------------------


def test_stack_is_one_machine_on_all_completions(classes):
    X, y, new = classes
    train, test = by_hand(X, new)
    hand = LogisticRegression().fit(np.vstack(train), np.tile(y, 4), sample_weight=np.full(4 * len(y), 0.25))
    model = gk.MultipleImputationClassifier(LogisticRegression(), CHAINS, pooling="stack").fit(X, y)
    probability = np.mean([hand.predict_proba(part) for part in test], axis=0)
    assert_allclose(model.predict_proba(new), probability)
    assert_array_equal(model.predict(new), probability.argmax(axis=1))


def test_stack_of_an_svm_is_the_papers_with_c_times_m(classes):
    X, y, new = classes
    train, test = by_hand(X, new)
    hand = SVC(C=2.0, gamma=0.2, tol=1e-9).fit(np.vstack(train), np.tile(y, 4))  # 1MI: every copy counts once
    model = gk.MultipleImputationClassifier(SVC(C=8.0, gamma=0.2, tol=1e-9), CHAINS, pooling="stack").fit(X, y)
    assert_allclose(
        model.decision_function(new), np.mean([hand.decision_function(part) for part in test], axis=0), atol=1e-5
    )


def test_stack_without_weights_is_plain(classes):
    X, y, new = classes
    train, test = by_hand(X, new)
    hand = KNeighborsClassifier(7).fit(np.vstack(train), np.tile(y, 4))
    model = gk.MultipleImputationClassifier(KNeighborsClassifier(7), CHAINS, pooling="stack").fit(X, y)
    assert_allclose(model.predict_proba(new), np.mean([hand.predict_proba(part) for part in test], axis=0))


@pytest.mark.parametrize("estimator", [SVC(gamma=0.3), LogisticRegression()], ids=["svm", "logistic"])
def test_average_is_the_mean_of_machines_on_their_own_completions(classes, estimator):
    X, y, new = classes
    train, test = by_hand(X, new)
    machines = [clone(estimator).fit(part, y) for part in train]
    values = np.mean([machine.decision_function(part) for machine, part in zip(machines, test, strict=True)], axis=0)
    model = gk.MultipleImputationClassifier(estimator, CHAINS, pooling="average").fit(X, y)
    assert_allclose(model.decision_function(new), values)
    if isinstance(estimator, SVC):
        pooled = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        assert_array_equal(model.predict(new), pooled)


def test_vote_counts_the_machines_classes(classes):
    X, y, new = classes
    train, test = by_hand(X, new)
    answers = np.stack([SVC().fit(part, y).predict(other) for part, other in zip(train, test, strict=True)])
    shares = np.stack([(answers == c).mean(axis=0) for c in np.unique(y)], axis=1)
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling="vote").fit(X, y)
    assert_allclose(model.predict_proba(new), shares)
    assert_array_equal(model.predict(new), shares.argmax(axis=1))
    assert not hasattr(model, "decision_function")


def test_regression_by_hand():
    X, _ = problem()
    y = np.nan_to_num(X) @ [1.0, 2.0, 0.0, -1.0]
    new, _ = problem(30, seed=1)
    train, test = by_hand(X, new)
    stacked = Ridge().fit(np.vstack(train), np.tile(y, 4), sample_weight=np.full(4 * len(y), 0.25))
    answers = {
        "stack": [stacked.predict(part) for part in test],
        "average": [Ridge().fit(a, y).predict(b) for a, b in zip(train, test, strict=True)],
    }
    for pooling, each in answers.items():
        model = gk.MultipleImputationRegressor(Ridge(), CHAINS, pooling=pooling).fit(X, y)
        assert_allclose(model.predict(new), np.mean(each, axis=0))
        assert_allclose(model.between_variance(new), np.var(each, axis=0, ddof=1))


# --- laws ----------------------------------------------------------------------------------------------------------

POOLINGS = ["stack", "average", "vote"]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_complete_data_is_the_plain_estimator(pooling):
    X, y = problem(n_classes=3, gap_rate=0.0)
    new, _ = problem(40, 3, gap_rate=0.0, seed=1)
    plain = SVC().fit(X, y)
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling=pooling).fit(X, y)
    assert_array_equal(model.predict(new), plain.predict(new))
    if pooling != "vote":
        assert_allclose(model.decision_function(new), plain.decision_function(new), atol=1e-10)
    assert (model.between_variance(new) < 1e-25).all()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_gaps_may_come_at_predict_only(pooling):
    X, y = problem(gap_rate=0.0)
    new, truth = problem(400, gap_rate=0.4, seed=1)
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling=pooling).fit(X, y)
    assert model.score(new, truth) > 0.6  # the larger class has 0.51 of the rows
    variance = model.between_variance(new)
    gaps = np.isnan(new).any(axis=1)
    assert (variance[~gaps] < 1e-25).all()
    assert variance[gaps].max() > 0.01


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_prediction_does_not_depend_on_the_batch(pooling):
    X, y = problem()
    new, _ = problem(25, gap_rate=0.4, seed=1)
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling=pooling).fit(X, y)
    alone = np.concatenate([model.predict(new[i : i + 1]) for i in range(len(new))])
    assert_array_equal(model.predict(new), alone)
    assert_array_equal(model.predict(new[::-1])[::-1], alone)


def test_complete_rows_have_no_variance_in_a_stack():
    X, y = problem()
    new, _ = problem(40, seed=1)
    variance = gk.MultipleImputationClassifier(LogisticRegression(), CHAINS).fit(X, y).between_variance(new)
    gaps = np.isnan(new).any(axis=1)
    assert variance.shape == (40, 2)
    assert (variance[~gaps] < 1e-25).all()
    assert (variance[gaps] > 0).all()


def test_an_iterative_imputer_is_fitted_once_for_each_imputation():
    X, y = problem()
    new, _ = problem(40, seed=1)
    imputer = IterativeImputer(sample_posterior=True, max_iter=2)
    model = gk.MultipleImputationClassifier(SVC(), imputer, pooling="average", n_imputations=3, random_state=0).fit(
        X, y
    )
    assert len(model.estimators_) == 3
    assert_array_equal(model.decision_function(new), model.decision_function(new))
    again = clone(model).fit(X, y)
    assert_array_equal(model.decision_function(new), again.decision_function(new))
    assert model.between_variance(new)[np.isnan(new).any(axis=1)].min() > 0


def test_an_imputer_that_draws_nothing_is_fitted_once():
    X, y = problem()
    model = gk.MultipleImputationClassifier(SVC(), SimpleImputer(), pooling="average").fit(X, y)
    plain = make_pipeline(SimpleImputer(), SVC()).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X))


def test_a_seedless_imputer_takes_the_pools_seed():
    X, y = problem()
    imputer = gk.ChainedEquations(n_imputations=2, n_sweeps=1)
    first, second = (
        gk.MultipleImputationClassifier(SVC(), imputer, random_state=5).fit(X, y).decision_function(X) for _ in range(2)
    )
    assert_array_equal(first, second)
    assert imputer.random_state is None


@pytest.mark.parametrize("estimator", [SVC(), LogisticRegression(), KNeighborsClassifier()], ids=repr)
@pytest.mark.parametrize("pooling", ["stack", "average", "vote"])
def test_new_rows_are_imputed_once(monkeypatch, estimator, pooling):
    X, y = problem()
    model = gk.MultipleImputationClassifier(estimator, CHAINS, pooling=pooling).fit(X, y)
    complete, asked = Imputations.complete, []
    monkeypatch.setattr(Imputations, "complete", lambda self, *args: asked.append(1) or complete(self, *args))
    for method in ("predict", "predict_proba", "decision_function", "between_variance"):
        if hasattr(model, method):
            asked.clear()
            getattr(model, method)(X)
            assert len(asked) == 1, method


def test_the_target_may_help_the_imputer():
    X, y = problem()
    labels = np.array(["no", "yes"])[y]
    imputer = clone(CHAINS).set_params(use_target=True)
    model = gk.MultipleImputationClassifier(SVC(), imputer, pooling="average").fit(X, labels)
    assert model.score(X, labels) > 0.7
    assert set(model.predict(X)) == {"no", "yes"}


def test_names_reach_the_imputer():
    X, y = problem()
    X[:, 0] = np.where(np.isnan(X[:, 0]), nan, X[:, 0] > 0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    imputer = clone(CHAINS).set_params(categorical_features=["a"])
    model = gk.MultipleImputationClassifier(SVC(), imputer).fit(frame, y)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.predict(frame), gk.MultipleImputationClassifier(SVC(), CHAINS).fit(X, y).predict(X))


def test_it_can_be_searched_and_scored():
    X, y = problem()
    model = gk.MultipleImputationClassifier(make_pipeline(StandardScaler(), SVC()), CHAINS, pooling="average")
    search = GridSearchCV(model, {"estimator__svc__C": [0.1, 1.0], "pooling": ["average", "vote"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    assert cross_val_score(search.best_estimator_, X, y, cv=2).mean() > 0.6


def test_weights_reach_the_machines():
    X, y = problem()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    for pooling in ("stack", "average"):
        machine = SVC(gamma=0.2, tol=1e-10)
        weighted = gk.MultipleImputationClassifier(machine, CHAINS, pooling=pooling).fit(X, y, sample_weight=weight)
        plain = gk.MultipleImputationClassifier(machine, CHAINS, pooling=pooling).fit(X, y)
        assert not np.allclose(weighted.decision_function(X), plain.decision_function(X))


# --- categories ----------------------------------------------------------------------------------------------------


def mixed_frame(n=80, seed=0, gap_rate=0.2):
    """A number and two categories that tell the class, with gaps, and the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    colour = np.where(random.random(n) < 0.85, np.array(["red", "blue"])[y], "green").astype(object)
    size = np.array(["small", "large"])[(random.random(n) < 0.2) ^ y].astype(object)
    frame = pd.DataFrame({"length": random.standard_normal(n) + y, "colour": colour, "size": size})
    frame["size"] = frame["size"].astype("category")
    return frame.mask(random.random(frame.shape) < gap_rate), y


def codes_of(frame):
    """Numbers and 0/1 codes by hand."""
    levels = {"colour": ["blue", "green", "red"], "size": ["large", "small"]}
    codes = [(frame[name] == level).to_numpy(float) for name in levels for level in levels[name]]
    return np.column_stack([frame["length"], *codes])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_categories_at_fit_and_predict(pooling):
    frame, y = mixed_frame()
    new, truth = mixed_frame(60, seed=1)
    new.loc[0, "colour"] = "purple"  # unknown: a gap
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling=pooling).fit(frame, y)
    assert model.score(new, truth) > 0.75
    assert_array_equal(model.predict(new.iloc[:1]), model.predict(new)[:1])


def test_the_estimator_sees_codes_of_completed_categories():
    frame, y = mixed_frame()
    new, _ = mixed_frame(30, seed=1)
    imputer = clone(CHAINS)
    train, test = imputer.fit_transform_all(frame), imputer.transform_all(new)
    values = [SVC().fit(codes_of(a), y).decision_function(codes_of(b)) for a, b in zip(train, test, strict=True)]
    model = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling="average").fit(frame, y)
    assert_allclose(model.decision_function(new), np.mean(values, axis=0))
    gaps, new_gaps = frame.isna().to_numpy(float), new.isna().to_numpy(float)
    values = [
        SVC().fit(np.hstack([codes_of(a), gaps]), y).decision_function(np.hstack([codes_of(b), new_gaps]))
        for a, b in zip(train, test, strict=True)
    ]
    marked = gk.MultipleImputationClassifier(SVC(), CHAINS, pooling="average", indicator=True).fit(frame, y)
    assert_allclose(marked.decision_function(new), np.mean(values, axis=0))


def test_imputers_of_numbers_complete_categories_to_a_level():
    frame, y = mixed_frame()
    imputer = IterativeImputer(sample_posterior=True, max_iter=2)
    model = gk.MultipleImputationClassifier(SVC(), imputer, n_imputations=2, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.75
    seen = model.estimators_[0].support_vectors_
    assert_allclose(seen[:, 1:4].sum(axis=1), 1.0)
    assert set(np.unique(seen[:, 1:])) == {0.0, 1.0}


def test_dates_are_refused_and_a_regressor_takes_categories():
    frame, y = mixed_frame()
    with pytest.raises(ValueError, match="Column 'day' of X holds dates"):
        gk.MultipleImputationRegressor(Ridge(), CHAINS).fit(frame.assign(day=pd.Timestamp("2020-01-01")), y)
    model = gk.MultipleImputationRegressor(Ridge(), CHAINS).fit(frame, y.astype(float))
    assert np.corrcoef(model.predict(frame), y)[0, 1] > 0.6


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (gk.MultipleImputationClassifier(SVC(), pooling="median"), "'pooling' parameter .* must be a str among"),
        (gk.MultipleImputationRegressor(SVR(), pooling="vote"), "'pooling' parameter .* must be a str among"),
        (gk.MultipleImputationClassifier(SVC(), n_imputations=0), "'n_imputations' parameter .* must be an int"),
    ],
)
def test_bad_settings_are_named_and_leave_nothing_behind(model, complaint):
    X, y = problem(30)
    with pytest.raises(ValueError, match=complaint):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    assert not hasattr(model, "classes_")


def test_one_class_is_no_classification():
    X, _ = problem(30)
    with pytest.raises(ValueError, match="one class only"):
        gk.MultipleImputationClassifier(SVC(), CHAINS).fit(X, np.ones(30))
