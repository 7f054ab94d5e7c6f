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
        if id(part) in seen or isinstance(part, str | bytes | np.ndarray | type):
            continue
        seen.add(id(part))
        name = f"{type(part).__module__}.{type(part).__name__}"
        if name == "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor":
            _check_tree(part)
        elif name == "sklearn.tree._tree.Tree":
            _check_grown_tree(part)
        elif name.startswith("sklearn.svm._classes."):
            _check_libsvm(vars(part))
        elif hasattr(part, "_predictors"):
            _check_columns(part)
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else []
        waiting += vars(part).values() if hasattr(part, "__dict__") else []


def _check_tree(tree) -> None:
    """A node's children come after it, so that every way through the tree ends."""
    nodes, places = tree.nodes, np.arange(len(tree.nodes))
    inner = nodes["is_leaf"] == 0
    for side in ("left", "right"):
        children = nodes[side][inner]
        if np.any(children <= places[inner]) or np.any(children >= len(nodes)):
            raise ValueError("A tree does not end.")
    by_level = inner & (nodes["is_categorical"] != 0)
    for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
        if bits.shape[1:] != (8,) or bits.dtype != np.uint32 or np.any(nodes["bitset_idx"][by_level] >= len(bits)):
            raise ValueError("A tree asks for levels that it does not have.")


def _check_grown_tree(tree) -> None:
    """The same for a tree of a forest."""
    left, right, places = tree.children_left, tree.children_right, np.arange(tree.node_count)
    inner = left != -1
    for children in (left[inner], right[inner]):
        if np.any(children <= places[inner]) or np.any(children >= tree.node_count):
            raise ValueError("A tree does not end.")
    if np.any((tree.feature[inner] < 0) | (tree.feature[inner] >= tree.n_features)):
        raise ValueError("A tree asks for a column that does not exist.")


def _check_columns(booster) -> None:
    for tree in (tree for trees in booster._predictors for tree in trees):
        columns = tree.nodes["feature_idx"][tree.nodes["is_leaf"] == 0]
        if np.any((columns < 0) | (columns >= booster.n_features_in_)):
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
