"""What to say of an iteration that stopped before it converged."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


def warn_unless_converged(result, max_iter: int) -> None:
    """Warn, on behalf of a `fit`, of the ``result`` of an expectation maximisation that did not converge."""
    if result.converged:
        return
    if result.n_iter < max_iter:
        reason = (
            f"the objective fell by more than rounding in iteration {result.n_iter + 1}, which is undone. Raise ridge"
        )
    else:
        reason = f"max_iter={max_iter} was reached. Raise max_iter, or ridge"
    warnings.warn(f"EM stopped early: {reason}.", ConvergenceWarning, stacklevel=3)
