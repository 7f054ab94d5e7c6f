"""Kernels on complete vectors: those of scikit-learn and functions, row by row and all at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, DotProduct, WhiteKernel
from sklearn.metrics.pairwise import rbf_kernel

from gapkernel.kernels import ExpectedLinear
from gapkernel.kernels.on_vectors import CompleteKernel, FunctionKernel
from gapkernel.rows import GaussianRows

KERNELS = [
    CompleteKernel("rbf", {"gamma": 0.3}),
    CompleteKernel("rbf"),
    CompleteKernel("polynomial", {"degree": 2, "gamma": 0.5}),
    CompleteKernel(RBF(0.7) + WhiteKernel(0.5)),
    CompleteKernel(DotProduct()),
    CompleteKernel(lambda X, Y: 1.0 + X @ Y.T),
    CompleteKernel(ExpectedLinear()),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: getattr(kernel.source, "__name__", str(kernel.source)))
@pytest.mark.parametrize("n_rows", [0, 1, 40])
def test_the_diagonal_is_that_of_the_matrix(kernel, n_rows):
    rows = np.random.default_rng(0).standard_normal((n_rows, 3))
    values = [kernel(row[None], row[None].copy())[0, 0] for row in rows]
    assert_allclose(kernel.diag(rows), np.reshape(values, n_rows), rtol=1e-12)


@pytest.mark.parametrize("parameters", [{}, {"gamma": None}, {"gamma": 0.4}], ids=str)
def test_the_rbf_is_scikit_learns_in_either_precision(parameters):
    left, right = np.random.default_rng(0).standard_normal((2, 20, 3))
    expected = rbf_kernel(left, right, **parameters)
    assert_allclose(CompleteKernel("rbf", parameters)(left, right), expected, rtol=1e-12)
    assert_allclose(CompleteKernel("rbf", parameters)(left.astype(np.float32), right), expected, rtol=1e-5)


def test_the_diagonal_asks_for_many_rows_at_a_time():
    asked = []
    kernel = CompleteKernel(lambda X, Y: asked.append(len(X)) or X @ Y.T)
    kernel.diag(np.ones((100, 2)))
    assert len(asked) < 10


def test_noise_counts_neither_on_the_diagonal_nor_in_the_matrix():
    rows = GaussianRows.certain(np.random.default_rng(0).standard_normal((5, 3)))
    noisy = FunctionKernel(RBF(0.7) + WhiteKernel(0.5))
    assert_allclose(noisy.diag(rows), noisy.gram(rows).diagonal())


def test_a_parameter_that_a_kernel_lacks_is_refused():
    rows = np.zeros((2, 3))
    for name, parameters in (("rbf", {"gamma": 0.3, "gama": 0.3}), ("linear", {"gamma": 0.3})):
        with pytest.raises(TypeError, match="unexpected keyword argument 'gam"):
            CompleteKernel(name, parameters)(rows, rows)
