"""What the support vector machines share."""

from __future__ import annotations

import numpy as np

from gapkernel.estimators.base import KernelMachine, Laws
from gapkernel.solvers.libsvm import SupportVectors


class SupportVectorMachine(KernelMachine):
    """A kernel machine that keeps its support rows."""

    def _weighted_rows(self, X, sample_weight):
        """Indices and weights of the rows that count.

        Rows of weight zero are left out here because libsvm would drop them itself, and scikit-learn's precomputed
        kernel then pairs the others with the wrong columns.
        """
        weight = self._weights_of(X, sample_weight)
        if weight is None:
            return np.arange(len(X)), None
        kept = np.flatnonzero(weight)
        if not len(kept):
            raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
        return kept, weight[kept]

    def _keep(self, laws: Laws, solution: SupportVectors, kept: np.ndarray):
        """Fitted attributes; of the training rows only the support stays."""
        self.density_, self.kernel_ = laws.density, laws.kernel
        self.rows_ = laws.rows.take(solution.support)
        self.support_, self.n_support_ = kept[solution.support], solution.n_support
        self.dual_coef_, self.intercept_ = solution.dual_coef, solution.intercept
        self._weights = solution.weights
        self.n_iter_, self.fit_status_ = solution.n_iter, solution.status
        return self

    def _decision_values(self, X) -> np.ndarray:
        rows = self._laws(X)
        return self.kernel_.dot(rows, self.rows_, self._weights) + self.intercept_

    def _libsvm(self, *names) -> dict:
        shared = ("shrinking", "tol", "cache_size", "verbose", "max_iter")
        return {name: getattr(self, name) for name in (*shared, *names)}
