"""Whether two parts of a row are independent, so that expectations over them multiply."""

from __future__ import annotations

import numpy as np

from gapkernel.rows import Rows


def check_independent(rows: Rows, first: np.ndarray, second: np.ndarray) -> None:
    """Refuse rows whose gaps in the columns of two factors, given as masks, may depend on each other."""
    if rows.complete.all():
        return  # points: any product is exact
    shared = np.flatnonzero(first & second)
    if shared.size:
        raise ValueError(
            f"Both factors of the product look at column {shared[0]}, so their expectations do not multiply. "
            f"Give each its own columns with kernel.on([...]), or add the kernels."
        )
    if rows.kind == "marginal":
        return  # the gaps of a row are independent of each other
    for members, columns, covariance in rows.by_pattern():
        if np.any(covariance[np.ix_(first[columns], second[columns])]):
            raise ValueError(
                f"Row {members[0]} has correlated gaps in the columns of both factors, so their expectations "
                f"do not multiply. Add the kernels, or use one kernel over all the columns."
            )
