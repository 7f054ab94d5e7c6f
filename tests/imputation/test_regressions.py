"""The models of one column: their modes, their draws, and the donors of mean matching."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from gapkernel.imputation import regressions


def test_logistic_mode_is_the_ridge_solution():
    random = np.random.default_rng(0)
    A = random.standard_normal((300, 4))
    y = (random.random(300) < 1 / (1 + np.exp(-A @ [1.0, -2.0, 0.5, 0.0] - 0.3))).astype(float)
    design = np.vstack([np.ones(300), A.T])
    reference = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=1000).fit(A, y)
    beta = regressions.fit_logistic(design, y, 0.7, None).beta
    assert_allclose(beta, [*reference.intercept_, *reference.coef_[0]], atol=1e-5)
    two = regressions.fit_multinomial(design, y, 2, 0.7, None).beta
    assert_allclose(two[0], beta, atol=1e-5)


def test_multinomial_without_penalty_is_scikit_learns():
    random = np.random.default_rng(1)
    A = random.standard_normal((400, 3))
    y = (A @ random.standard_normal((3, 3)) + random.gumbel(size=(400, 3))).argmax(axis=1).astype(float)
    model = regressions.fit_multinomial(np.vstack([np.ones(400), A.T]), y, 3, 1e-8, None)
    reference = LogisticRegression(C=1e10, tol=1e-10, max_iter=5000).fit(A, y)
    coefficients = np.column_stack([reference.intercept_, reference.coef_])
    assert_allclose(model.beta, (coefficients - coefficients[0])[1:], atol=1e-3)


def test_linear_draws_have_the_posterior_spread():
    random = np.random.default_rng(0)
    A = np.vstack([np.ones(50), random.standard_normal((2, 50))])
    y = np.array([1.0, 2.0, -1.0]) @ A + random.standard_normal(50)
    draws = [regressions.fit_linear(A, y, 1e-9, random) for _ in range(4000)]
    betas = np.stack([draw.beta for draw in draws])
    mode, *_ = np.linalg.lstsq(A.T, y, rcond=None)
    residual = np.sum((y - mode @ A) ** 2)
    # sigma^2* = RSS / chi2_47 has mean RSS / 45, and beta* the covariance of that times (A A')^-1
    assert_allclose(np.mean([draw.deviation**2 for draw in draws]), residual / 45, rtol=0.02)
    assert_allclose(betas.mean(axis=0), mode, atol=0.02)
    assert_allclose(np.cov(betas.T), residual / 45 * np.linalg.inv(A @ A.T), rtol=0, atol=1.5e-3)


def test_levels_are_drawn_with_their_probabilities():
    design = np.ones((1, 20_000))
    uniform = np.random.default_rng(0).random(20_000)
    shares = np.array([0.2, 0.5, 0.3])
    drawn = regressions.Multinomial(np.log(shares[1:] / shares[0])[:, None]).draw(design, uniform)
    assert_allclose(np.bincount(drawn.astype(int)) / 20_000, shares, atol=4 * np.sqrt(0.25 / 20_000))


def test_donors_are_the_nearest_and_ties_share():
    predictions = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 5.0])
    model = regressions.MeanMatching(np.array([1.0]), predictions, np.arange(6.0), n_donors=2)
    uniform = np.linspace(0.001, 0.999, 300)
    drawn = model.draw(np.full((1, 300), 1.1), uniform)
    assert_array_equal(np.unique(drawn, return_counts=True), [[1, 2, 3], [100, 100, 100]])
    assert_array_equal(np.unique(model.draw(np.full((1, 300), 99.0), uniform)), [4, 5])
    assert_array_equal(np.unique(model.draw(np.full((1, 300), -99.0), uniform)), [0, 1, 2, 3])


def test_all_rows_are_donors_when_they_are_few():
    model = regressions.MeanMatching(np.array([1.0]), np.array([0.0, 1.0]), np.array([7.0, 8.0]), n_donors=5)
    assert_array_equal(np.unique(model.draw(np.ones((1, 50)), np.linspace(0.01, 0.99, 50))), [7, 8])
