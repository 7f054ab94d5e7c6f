"""Columns in units that one width cannot serve are named."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapkernel as gk
from gapkernel.kernels import AnisotropicRBF, ExpectedRBF, GenRBF

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.standard_normal((60, 3)) * [1.0, 1e4, 50.0], columns=["height", "income", "age"])
X = X.mask(RANDOM.random(X.shape) < 0.1)
Y = RANDOM.integers(2, size=60)
WORDS = r"next to column 'income' \(.*\) it hardly sees 'height' \(.*\), 'age' \(.*\)\. Standardise"
MACHINES = [
    gk.SVC(),
    gk.SVR(kernel="rbf", gamma=0.1),
    gk.SVC(indicator=True),
    gk.SVC(kernel=2.0 * ExpectedRBF()),
    gk.OneClassSVM(kernel=AnisotropicRBF(2.0)),
    gk.Gram(),
    gk.SVCCV(Cs=[1, 2], gammas=2, cv=2),
]
INDIFFERENT = [
    gk.SVC(kernel=GenRBF(metric="mahalanobis")),
    gk.SVC(kernel=AnisotropicRBF([1.0, 1e4, 50.0])),
    gk.SVC(kernel=ExpectedRBF().on([0]) + ExpectedRBF().on([1])),
    gk.KernelRidge(kernel="linear"),
    gk.SVC(density=gk.density.JointGaussian()),  # it standardises
    make_pipeline(StandardScaler(), gk.SVC()),
]


@pytest.mark.parametrize("model", MACHINES, ids=str)
def test_columns_that_one_width_hardly_sees_are_named_once(model):
    with pytest.warns(UserWarning, match=WORDS) as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("model", INDIFFERENT, ids=str)
def test_no_warning_where_units_do_not_count(model):
    model.fit(X, Y)  # a warning is an error here


def test_few_rows_categories_constants_and_nearer_units_say_nothing():
    near = X / X.std() * [1.0, 98.0, 1.0]
    with warnings.catch_warnings(action="error"):
        gk.SVC().fit(X[:49], Y[:49])
        gk.SVC().fit(near.assign(same=3.0, kind=pd.Categorical(Y)), Y)
    with pytest.warns(UserWarning, match="'height'"):
        gk.SVC().fit(near / [1.05, 1.0, 1.0], Y)


def test_many_columns_are_counted():
    wide = RANDOM.standard_normal((50, 9))
    wide[:, 8] *= 1e3
    with pytest.warns(UserWarning, match=r"0 \(.*, 4 \([^,]*\) and 3 more\."):
        gk.SVC(kernel="rbf").fit(wide, RANDOM.integers(2, size=50))
