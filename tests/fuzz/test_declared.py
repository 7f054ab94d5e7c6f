"""Whatever a file gives back was declared: nothing that computes an answer is restored without a check."""

import copy
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import gapkernel as gk
from gapkernel.compute.runtime.restored import Restored
from gapkernel.estimators.calibration import NotCalibratedError
from gapkernel.estimators.gap.fitted import MemberRow
from gapkernel.estimators.gap.preparation import ColumnUse
from gapkernel.persistence.models import VERBS

sys.path.insert(0, str(Path(__file__).parent))

import models

CHECKED_BY_ALL = {"n_features_in_", "classes_", "feature_names_in_", "_sklearn_version"}
"""What scikit-learn checks in every call, and `TakesGaps` when it is restored."""

TOLD = {
    "bic_", "n_components_", "ridge_", "log_likelihood_", "objective_", "n_iter_", "n_iter", "converged_",
    "best_index_", "scores_", "mean_", "variances_", "covariance_",  # of densities
    "dual_coef_", "support_", "n_support_", "class_weight_", "fit_status_", "scales_", "coef_", "tau_", "slack_",
    "margin_norm_", "residuals_", "status_", "solve_time_",  # of support vector machines
    "C_", "kernel_", "basis_", "n_basis_", "label_distributions_", "transduction_",  # of the CCCP classifier
    "constant_value_", "length_scale_", "noise_level_", "log_marginal_likelihood_value_", "L_",
    "alpha_",  # of processes
    "cv_results_", "scorer_", "n_splits_", "best_score_", "best_params_",  # of searches
    "columns_", "cv_score_", "members_",  # of Gap estimators
    "kinds_", "predictors_", "chain_means_", "chain_variances_", "categories_",  # of imputers and counts
}  # fmt: skip
"""What is shown to users only; another test puts nonsense in its place, and nothing else changes."""

ONLY_SHOWN = (ColumnUse, MemberRow)

NEVER_SAVED = {"SupportVectors", "ConeSolution", "ScaledSolution", "Known", "MappedRows"}
"""Kinds that live during a fit, or during an answer."""


def parts_of(model):
    """All objects of this package that a model is made of, itself among them."""
    seen, waiting = {}, [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | type):
            continue
        seen[id(part)] = part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
        elif hasattr(part, "__dict__"):
            waiting += stored(part).values()
    return [part for part in seen.values() if type(part).__module__.startswith("gapkernel")]


def stored(part):
    """What a file holds of an object."""
    return part.__getstate__() or {}


def parameters_of(part):
    return set(part.get_params(deep=False)) if isinstance(part, BaseEstimator) else set()


def undeclared(part):
    """The attributes of an object that come back without a check."""
    if isinstance(part, tuple):
        return set() if isinstance(part, ONLY_SHOWN) or all(isinstance(row, MemberRow) for row in part) else {"all"}
    return set(stored(part)) - set(getattr(part, "_held", ())) - parameters_of(part) - CHECKED_BY_ALL


def test_every_public_estimator_is_among_the_models():
    kinds = {type(model) for model, _ in models.MODELS}
    named = [getattr(room, name) for room in (gk, gk.density) for name in room.__all__]
    wanted = {kind for kind in named if isinstance(kind, type) and hasattr(kind, "fit")}
    inside = {type(part) for model, _ in models.fitted() for part in parts_of(model)}
    assert wanted - {gk.density.Density} <= kinds | inside


def test_every_kind_that_is_checked_is_met_in_a_model():
    kinds, waiting = set(), [Restored]
    while waiting:
        waiting += waiting.pop().__subclasses__()
        kinds |= set(waiting)
    ours = {kind for kind in kinds if kind.__module__.startswith("gapkernel") and not kind.__subclasses__()}
    met = {type(part) for model, _ in models.fitted() for part in parts_of(model)}
    assert {kind.__name__ for kind in ours - met} == NEVER_SAVED


@pytest.mark.parametrize("place", range(len(models.MODELS)), ids=lambda k: type(models.MODELS[k][0]).__name__)
def test_what_a_model_computes_with_is_declared(place):
    model, _ = models.fitted()[place]
    forgotten = {type(part).__name__: undeclared(part) - TOLD for part in parts_of(model)}
    assert not {name: attributes for name, attributes in forgotten.items() if attributes}


@pytest.mark.parametrize("place", range(len(models.MODELS)), ids=lambda k: type(models.MODELS[k][0]).__name__)
def test_what_is_only_shown_changes_no_answer(place):
    model, table = models.fitted()[place]
    spoilt = copy.deepcopy(model)
    for part in parts_of(spoilt):
        for name in undeclared(part) & TOLD if not isinstance(part, tuple) else ():
            part.__dict__[name] = "nonsense"
    verbs = [verb for verb in VERBS if hasattr(model, verb)]
    assert verbs
    for verb in verbs:
        try:
            expected = getattr(model, verb)(table)
        except NotCalibratedError:
            continue  # fitted without intervals
        if verb == "condition":
            expected, spoilt_answer = (found.draws(2, random_state=0) for found in (expected, spoilt.condition(table)))
        else:
            spoilt_answer = getattr(spoilt, verb)(table)
        np.testing.assert_array_equal(np.asarray(spoilt_answer), np.asarray(expected), err_msg=verb)
