"""Estimators meet rows of every kind: mixtures where one Gaussian law was expected, and metrics."""

import numpy as np
import pytest

import gapkernel as gk
from gapkernel.density import BestDensity, Gaussian, GaussianMixture
from gapkernel.kernels import AnisotropicRBF, GenRBF


def two_groups(seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((60, 3)) + np.repeat([[0.0], [5.0]], 30, axis=0) * [1.0, -1.0, 0.5]
    y = np.repeat([0, 1], 30)
    X[random.random(X.shape) < 0.2] = np.nan
    return X, y


def test_length_scales_and_mixtures_go_together():
    X, y = two_groups()
    machine = gk.SVC(kernel=AnisotropicRBF([1.0, 2.0, 3.0]), density=GaussianMixture(2, random_state=0)).fit(X, y)
    scaled = gk.SVC(kernel=GenRBF(0.5, np.diag([1.0, 0.25, 1 / 9])), density=GaussianMixture(2, random_state=0)).fit(
        X, y
    )
    assert machine.score(X, y) > 0.95
    assert scaled.score(X, y) > 0.95


def test_fourier_features_take_length_scales():
    X, _ = two_groups()
    kernel = AnisotropicRBF([1.0, 2.0, 3.0])
    Z = gk.FourierFeatures(20_000, kernel=kernel, random_state=0).fit_transform(X)
    rows = Gaussian().fit(X).condition(X)
    assert np.abs(Z @ Z.T - kernel.cross(rows, rows)).max() < 0.05


def test_a_process_refuses_mixtures_with_what_to_use_instead():
    X, y = two_groups()
    best = BestDensity([GaussianMixture(2, random_state=0)])
    with pytest.raises(ValueError, match=r"needs Gaussian laws.*density='auto'"):
        gk.GaussianProcessRegressor(density=best).fit(X, y.astype(float))
