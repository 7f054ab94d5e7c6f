"""What inspection asks of the estimators that choose for themselves: their members answer."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.gap.columns import Preparation
from gapkernel.estimators.gap.problem import FittedMember
from gapkernel.estimators.gap.views import AsItIs
from gapkernel.estimators.inspectable import Inspectable


class InspectableMembers(Inspectable):
    """An estimator with members, some of which have laws for gaps."""

    fitted_: list[FittedMember]
    weights_: np.ndarray
    preparation_: Preparation

    @property
    def gaussian_share(self) -> float:
        """The weight of the members that have Gaussian laws for gaps; the others have other laws, or trees."""
        check_is_fitted(self, "fitted_")
        return float(sum(w for w, m in zip(self.weights_, self.fitted_, strict=True) if m.has_gaussian_laws))

    def cell_nodes(self, X, column: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values in the units of the table, and weights, of a quadrature over a missing cell of a single row.

        The law is that of the member with the largest weight among those that see the table as it is, and Gaussian
        laws first.
        """
        table = self.table_of(X)  # which refuses an estimator that is not fitted
        table = self.preparation_(table)
        place = np.flatnonzero(self.preparation_.used == column)
        if not len(place):
            return np.zeros(1), np.ones(1)  # nothing is learned from the column, whatever it holds
        pairs = zip(self.fitted_, self.weights_, strict=True)
        able = [(m.has_gaussian_laws, w, m.estimator) for m, w in pairs if m.has_laws and isinstance(m.view, AsItIs)]
        if not able:
            raise ValueError(
                "No member has laws for the gaps of the table as it is: pass density=, for example "
                "gapkernel.density.JointGaussian().fit(X_train)."
            )
        *_, estimator = max(able, key=lambda entry: entry[:2])
        values, weights = estimator.cell_nodes(table, int(place[0]), n_nodes)
        return self.preparation_.in_units(int(place[0]), values), weights
