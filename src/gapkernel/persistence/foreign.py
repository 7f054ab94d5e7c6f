"""Parts of scikit-learn whose compiled code trusts their arrays, which they do not check themselves.

Of scikit-learn's estimators those are covered that the estimators of this package are made of, and its support vector
machines. What else a person puts into a model is as safe to restore as scikit-learn makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def check_foreign(model: Any) -> None:
    """Refuse trees and support vector machines, anywhere in a model, whose arrays do not go together."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | type):
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):  # of which only those of objects, such as trees, have parts
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
            continue
        name = f"{type(part).__module__}.{type(part).__name__}"
        if name == "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor":
            _check_tree(part)
        elif name.startswith("sklearn.svm._classes."):
            _check_libsvm(vars(part))
        elif name == "sklearn.tree._tree.Tree":
            _check_children(part.children_left != -1, part.children_left, part.children_right)
        elif hasattr(part, "_predictors"):
            _check_columns(part)
        elif hasattr(part, "tree_") or hasattr(part, "estimators_"):
            _check_forest(part)
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else []
        waiting += vars(part).values() if hasattr(part, "__dict__") else []


def _check_tree(tree) -> None:
    nodes, inner = tree.nodes, tree.nodes["is_leaf"] == 0
    _check_children(inner, nodes["left"], nodes["right"])
    by_level = inner & (nodes["is_categorical"] != 0)
    for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        if bits.shape[1:] != (8,) or bits.dtype != np.uint32 or np.any(nodes["bitset_idx"][by_level] >= len(bits)):
            raise ValueError("A tree asks for levels that it does not have.")


def _check_children(inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """A node's children come after it, so that every way through the tree ends."""
    if not len(inner):
        raise ValueError("A tree has no node.")
    for children in (left, right):
        if np.any(children[inner] <= np.flatnonzero(inner)) or np.any(children[inner] >= len(inner)):
            raise ValueError("A tree does not end.")


def _check_columns(booster) -> None:
    levels = np.asarray(booster._bin_mapper.is_categorical_)
    if levels.shape != (booster.n_features_in_,):
        raise ValueError("A tree asks for levels that it does not have.")
    for nodes in (tree.nodes for trees in booster._predictors for tree in trees):
        columns, by_level = (nodes[name][nodes["is_leaf"] == 0] for name in ("feature_idx", "is_categorical"))
        if np.any((columns < 0) | (columns >= len(levels))) or not levels[columns[by_level != 0]].all():
            raise ValueError("A tree asks for a column that does not exist.")


def _check_forest(model) -> None:
    """The trees of a forest, or the one of a decision tree, ask for columns that the model has."""
    for tree in (getattr(part, "tree_", None) for part in [model, *np.ravel(getattr(model, "estimators_", []))]):
        if tree is not None:
            columns = tree.feature[tree.children_left != -1]
            if np.any((columns < 0) | (columns >= model.n_features_in_)):
                raise ValueError("A tree asks for a column that does not exist.")


def _check_libsvm(held: dict) -> None:
    if "dual_coef_" not in held or "_n_support" not in held:  # not fitted, or linear
        return
    n_support, vectors = len(held["support_"]), held["support_vectors_"]
    n_classes = len(held["classes_"]) if "classes_" in held else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    whole = (
        np.all(held["support_"] >= 0)
        and vectors.shape in ((n_support, held["n_features_in_"]), (0, 0))
        and (len(vectors) or held["kernel"] == "precomputed")
        and np.all(held["support_"] < held["shape_fit_"][0])
        and len(held["_n_support"]) == n_classes
        and np.all(held["_n_support"] >= 0)
        and held["_n_support"].sum() in (n_support, 2 * n_support)
        and all(held[name].shape == (n_classes - 1, n_support) for name in ("dual_coef_", "_dual_coef_"))
        and all(held[name].shape == (n_pairs,) for name in ("intercept_", "_intercept_"))
    )
    if not whole:
        raise ValueError("The parts of a support vector machine do not go together.")
