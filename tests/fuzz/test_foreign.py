"""Trees of scikit-learn whose arrays do not go together are refused: their compiled code does not check them."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from gapkernel.persistence.foreign import check_foreign


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
