"""What was declared about an object is checked when it comes back, and nothing derived is stored."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import gapkernel as gk
from gapkernel.papers.expected_kernel import RobustSVC
from gapkernel.persistence.foreign import check_foreign
from gapkernel.rows import GaussianRows

X = np.random.default_rng(0).normal(size=(12, 3))
X[::3, 0], X[1::3, 1] = np.nan, np.nan
ROWS = gk.density.Gaussian().fit(X).condition(X)


def restored(rows, **changes):
    """The rows as a file would give them back, with some arrays replaced."""
    return pickle.loads(pickle.dumps(rows)).__setstate__({**rows.__getstate__(), **changes})


def test_derived_arrays_are_not_stored():
    assert ROWS.gap_start is not None
    assert set(ROWS.__getstate__()) == {"means", "pattern", "gaps", "covariance"}
    np.testing.assert_array_equal(copy.deepcopy(ROWS).total_variance, ROWS.total_variance)


@pytest.mark.parametrize(
    "changes",
    [
        {"covariance": ROWS.covariance[:1]},
        {"covariance": -ROWS.covariance},
        {"pattern": ROWS.pattern + 1000},
        {"pattern": ROWS.pattern - 1},
        {"pattern": ROWS.pattern.astype(float)},
        {"pattern": ROWS.pattern[:-1]},
        {"gaps": ROWS.gaps[:, :-1]},
        {"gaps": ROWS.gaps.astype(int)},
        {"means": ROWS.means.astype("f4")},
        {"means": np.full_like(ROWS.means, np.nan)},
        {"means": ROWS.means[:, :, None]},
        {"means": None},
        {"means": np.ma.masked_array(ROWS.means)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_rows_that_do_not_go_together_are_refused(changes):
    with pytest.raises(ValueError, match=r"GaussianRows|covariance"):
        restored(ROWS, **changes)


def test_rows_without_a_part_are_refused():
    state = ROWS.__getstate__()
    del state["gaps"]
    with pytest.raises(ValueError, match="lacks gaps"):
        GaussianRows.__new__(GaussianRows).__setstate__(state)


def test_a_forged_covariance_is_refused_when_the_model_is_loaded(tmp_path):
    model = RobustSVC().fit(X, np.arange(12) % 2)
    object.__setattr__(model.rows_, "covariance", model.rows_.covariance[:1])
    gk.persistence.save(model, tmp_path / "forged.skops")
    with pytest.raises(gk.persistence.DamagedFileError, match="covariances do not go with the gaps"):
        gk.persistence.load(tmp_path / "forged.skops")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("left_child", 10**6, "does not end"),
        ("right_child", 0, "does not end"),
        ("feature", 77, "does not exist"),
    ],
)
def test_trees_of_forests_are_checked(field, value, message):
    forest = RandomForestClassifier(2, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    check_foreign(forest)
    tree = forest.estimators_[1].tree_
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][0] = value
    tree.__setstate__(state)
    with pytest.raises(ValueError, match=message):
        check_foreign(forest)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier, GradientBoostingClassifier])
def test_trees_are_found_wherever_a_model_has_them_and_ask_for_its_columns(kind):
    numbers = np.random.default_rng(0).standard_normal((30, 2))
    model = kind(random_state=0).fit(numbers, numbers[:, 1] > 0)
    model.n_features_in_ = 1
    with pytest.raises(ValueError, match="column that does not"):
        check_foreign([model])
    model.n_features_in_ = 2
    check_foreign([model])
    tree = (model if kind is DecisionTreeClassifier else np.ravel(model.estimators_)[0]).tree_
    tree.children_left[0] = 10**6
    with pytest.raises(ValueError, match="does not end"):
        check_foreign([model])
