"""A model file that was damaged or forged is refused, or its model answers: no crash, no hang, no raw error."""

import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

import gapkernel as gk
from gapkernel.persistence import save

random = np.random.default_rng(0)
X = random.normal(size=(24, 3))
NUMBERS = X @ [1.0, 2.0, 0.5] + 0.1 * random.normal(size=24)
CLASSES = np.where(NUMBERS > 0, "high", "low")
X[random.random(X.shape) < 0.2] = np.nan
FRAME = pd.DataFrame(X, columns=list("abc")).assign(kind=pd.Categorical(random.choice(["u", "v", None], 24)))
SMALL = {
    gk.GapClassifier: {"members": ["genrbf", "trees, small"]},
    gk.GapRegressor: {"members": ["rbf", "fourier", "trees, small"]},
    gk.MultipleImputationClassifier: {"estimator": LogisticRegression(), "n_imputations": 2},
    gk.MultipleImputationRegressor: {"estimator": Ridge(), "n_imputations": 2},
    gk.ChainedEquations: {"n_imputations": 2, "n_sweeps": 2},
    gk.SVCCV: {"gammas": 2, "Cs": [1.0]},
    gk.SVRCV: {"gammas": 2, "Cs": [1.0]},
    gk.KernelRidgeCV: {"gammas": 2},
    gk.FourierClassifier: {"n_components": 8},
    gk.FourierRegressor: {"n_components": 8},
    gk.FourierFeatures: {"n_components": 8},
    gk.GaussianProcessClassifier: {"optimizer": None},
    gk.GaussianProcessRegressor: {"optimizer": None},
}
KINDS = [kind for kind in (getattr(gk, name) for name in gk.__all__) if hasattr(kind, "fit")]
MODELS = [
    *((kind(**SMALL.get(kind, {})), X) for kind in KINDS),
    *((gk.SVC(kernel=kernel, indicator=True), FRAME) for kernel in ("genrbf", "rbf", "ehk")),
    (gk.KernelRidge(kernel="karma"), X),
    (gk.SVR(kernel="rbf", density=gk.density.GaussianMixture(2, random_state=0)), X),
    (gk.KernelRidge(density=gk.density.FactorAnalysis(1)), X),
    (gk.KernelRidge(kernel=gk.kernels.GenRBF(0.2, metric=np.eye(3) + 0.1)), X),
    (gk.KernelRidge(kernel=gk.kernels.MonteCarlo("rbf", n_draws=4), density=gk.density.Neighbours()), X),
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The files of all estimators, with rows to ask them about."""
    folder, found = tmp_path_factory.mktemp("originals"), []
    for model, table in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(table, NUMBERS if is_regressor(model) else CLASSES)
        save(model, folder / "model.skops")
        found.append((type(model).__name__, (folder / "model.skops").read_bytes(), table[:5]))
    (folder / "originals.pickle").write_bytes(pickle.dumps(found))
    return folder


def troubles(folder, change, first, last):
    """What went wrong with the files of these numbers; a process that dies is started again after the culprit."""
    found, outcomes = [], {}
    while first < last:
        command = [sys.executable, Path(__file__).with_name("forgery.py"), folder, change, str(first), str(last)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        number, name, told = -1, "", "nothing was tried"
        for line in ended.stdout.splitlines():
            number, name, told = json.loads(line)
            if told is not None:
                outcomes[number] = told
            if told not in ("refused", "refused later", "answered", None):
                found.append(f"{change} {number} {name}: {told}")
        if ended.returncode == 0:
            break
        assert number >= first, ended.stderr
        found.append(f"{change} {number} {name}: ended with {ended.returncode}: {ended.stderr[-300:]}")
        first = number + 1
    return found, outcomes


@pytest.mark.parametrize(("change", "number"), [("forged", 100), ("mutated", 40)])
def test_some_changed_files(change, number, originals):
    found, outcomes = troubles(originals, change, 0, number)
    assert not found
    assert "refused" in outcomes.values()


@pytest.mark.slow
@pytest.mark.parametrize(("change", "number"), [("forged", 2000), ("mutated", 10_000)])
def test_many_changed_files(change, number, originals):
    assert not troubles(originals, change, 1000, 1000 + number)[0]
