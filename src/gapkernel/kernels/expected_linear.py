"""The expected linear kernel (Anderson, Gupta: expected kernel)."""

from __future__ import annotations

import numpy as np

from gapkernel.kernels.base import Kernel
from gapkernel.rows import ALL_KINDS, Rows


class ExpectedLinear(Kernel):
    """The scalar product of two rows, averaged over what is missing.

    E x'y = m_i'm_j for two rows, and m_i'm_i + tr Sigma_i for a row with itself (equation 5 of
    docs/theory/kernels.md). It depends on the means and covariances of the laws only, so rows of any kind will do.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.kernels import ExpectedLinear
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[2.0, np.nan], [1.0, 1.0]])
    >>> ExpectedLinear().gram(rows)
    array([[5.75, 3.  ],
           [3.  , 2.  ]])
    """

    kinds = ALL_KINDS
    is_expectation = True
    linear_factor = 1.0

    def _diag(self, rows: Rows) -> np.ndarray:
        return np.einsum("ij,ij->i", rows.means, rows.means) + rows.total_variance  # same draw

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        return left.means @ right.means.T  # independent draws

    def _dot(self, left: Rows, right: Rows, coefficients: np.ndarray) -> np.ndarray:
        return left.means @ (right.means.T @ coefficients)
