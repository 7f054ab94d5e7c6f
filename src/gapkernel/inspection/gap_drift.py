"""Have the gaps changed since the fit? Columns, patterns, and the masks as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import fisher_exact
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapkernel.estimators.inspectable import MOST_MASKS, Inspectable, TrainingSummary
from gapkernel.inspection.answers import inside_of, last_step, with_summary
from gapkernel.kernels.width import scale_gamma
from gapkernel.rows import Moments, Patterns

N_PERMUTATIONS = 999
FREQUENT = 5
"""Rows of both tables together from which a pattern is compared by itself."""

OTHER_PATTERNS = "rarer patterns"


class Change(NamedTuple):
    """How often something is missing now and at fit; `gap_drift` says what each number is."""

    name: str
    at_fit: float
    now: float
    effect: float
    pvalue: float


class Changes(tuple[Change, ...]):
    """Changes, the smallest p-value first; printed as a table."""

    def __repr__(self) -> str:
        width = max([6, *(len(change.name) for change in self)])
        lines = [f"{'':<{width}}{'at fit':>9}{'now':>8}{'effect':>8}{'p-value':>10}"]
        for name, at_fit, now, effect, pvalue in self:
            lines.append(f"{name:<{width}}{at_fit:>9.1%}{now:>8.1%}{effect:>8.2f}{pvalue:>10.2g}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class GapDrift:
    """How the gaps of new rows differ from those of the training rows; see `gap_drift`."""

    pvalue: float
    distance: float
    columns: Changes
    patterns: Changes
    n_rows: int

    def changed(self, significance: float = 0.05) -> list[str]:
        """The columns whose gap rates have changed, by their corrected p-values."""
        return [change.name for change in self.columns if change.pvalue < significance]


def gap_drift(model, X_new, *, random_state=None) -> GapDrift:
    """Test whether the gaps of new rows come from where those of the training rows came from.

    The model remembers how often each column was missing, and the masks of at most 1,000 training rows.

    Parameters
    ----------
    model : fitted estimator
        `SVC`, `SVR`, `KernelRidge`, their CV forms, the processes, `GapClassifier`, `GapRegressor`, or one of them at
        the end of a pipeline or inside scikit-learn's `CalibratedClassifierCV`.
    X_new : array-like or frame of shape (n_samples, n_features)
        A level that was never seen is a gap.
    random_state : int, RandomState or None, default=None
        Seed of the permutations, and of the masks that are compared where there are more than 1,000. None draws anew.

    Returns
    -------
    result : GapDrift
        Its attributes:

        pvalue : float
            Of the masks as a whole: a permutation test of their distance. Below 0.05 they have changed.
        distance : float
            Maximum mean discrepancy of the masks under the kernel on gaps: 0 if all patterns are as frequent as at fit.
        columns : Changes
            One for each column: its ``name``, the shares of its gaps ``at_fit`` and ``now``, the ``effect`` (Cohen's
            h, 2 asin sqrt(now) - 2 asin sqrt(at_fit): 0.2 is small, 0.5 medium, 0.8 large) and the ``pvalue`` of
            Fisher's exact test, with Holm's correction for all lines. The smallest p-value comes first.
        patterns : Changes
            The same of each gap pattern that 5 or more rows have, at fit and now together, and of all rarer ones.
        n_rows : int
            Number of new rows.

        ``changed(significance=0.05)`` lists the columns whose p-values are below that.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidge
    >>> from gapkernel.inspection import gap_drift
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((300, 3))
    >>> y = X.sum(axis=1)
    >>> X[random.random(X.shape) < 0.1] = np.nan
    >>> model = KernelRidge().fit(X[:200], y[:200])
    >>> new = X[200:].copy()
    >>> new[:40, 1] = np.nan
    >>> result = gap_drift(model, new, random_state=0)
    >>> result.pvalue, result.changed()
    (0.001, ['1'])
    >>> result.columns
             at fit     now  effect   p-value
    1         12.5%   46.0%    0.77   1.3e-09
    0         12.0%    7.0%   -0.17      0.46
    2         13.5%   13.0%   -0.01         1
    """
    check_is_fitted(model)
    inside, X_new, named = _inside(model, X_new, getattr(model, "feature_names_in_", None))
    table, before = inside.table_of(X_new), inside.training_summary_
    names = tuple(map(str, range(table.shape[1]) if named is None else named))
    missing, random = table.missing, check_random_state(random_state)
    pooled, counts = _patterns(before, missing[random.permutation(len(missing))[:MOST_MASKS]])
    distance, pvalue = _two_samples(pooled, counts, random)
    columns = _changes(names, before.gap_counts, before.n_rows, missing.sum(axis=0), len(missing))
    return GapDrift(pvalue, distance, columns, _pattern_changes(names, before, missing), len(missing))


def _inside(model, X, names=None) -> tuple[Inspectable, Any, Any]:
    """The estimator that remembers its training table, with what reaches it and the names of that."""
    model = inside_of(model)
    if isinstance(model, Pipeline):
        return _inside(*last_step(model, X, names))
    return with_summary(model, "does not remember the gaps of its training rows"), X, names


def _changes(names: Iterable[str], before: np.ndarray, n_before: int, now: np.ndarray, n_now: int) -> Changes:
    """Compare counts out of ``n_before`` and ``n_now`` rows, one by one."""
    tests = [fisher_exact([[a, n_before - a], [b, n_now - b]]).pvalue for a, b in zip(before, now, strict=True)]
    shares = np.array(before) / n_before, np.array(now) / n_now
    effects = 2.0 * (np.arcsin(np.sqrt(shares[1])) - np.arcsin(np.sqrt(shares[0])))
    found = map(Change, names, *(part.tolist() for part in (*shares, effects, holm(np.array(tests)))))
    return Changes(sorted(found, key=lambda change: (change.pvalue, -abs(change.effect))))


def _pattern_changes(names: tuple[str, ...], before: TrainingSummary, missing: np.ndarray) -> Changes:
    """The frequent patterns by what is missing in them, and all others together.

    Which patterns are frequent is decided by both tables together: one that was chosen because the training rows have
    it, or have it not, would seem to have changed.
    """
    patterns, counts = _patterns(before, missing)
    frequent = counts.sum(axis=0) >= FREQUENT
    labels = [", ".join(np.array(names)[gaps]) or "nothing" for gaps in patterns[frequent]]
    old, new = (np.append(some[frequent], some[~frequent].sum()) for some in counts)
    return _changes([*labels, OTHER_PATTERNS], old, int(old.sum()), new, len(missing))


def _patterns(before: TrainingSummary, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The patterns of both tables, and how many rows of each table have them, (2, n_patterns)."""
    found = Patterns.of(np.vstack([before.patterns, missing]))
    old, new = found.index[: len(before.patterns)], found.index[len(before.patterns) :]
    weight = np.bincount(old, before.pattern_counts, len(found)).astype(np.int64)
    return found.gaps, np.array([weight, np.bincount(new, minlength=len(found))])


def _two_samples(patterns: np.ndarray, counts: np.ndarray, random) -> tuple[float, float]:
    """Maximum mean discrepancy of two samples of masks, and its p-value among random exchanges of rows."""
    if len(patterns) == 1:
        return 0.0, 1.0
    pooled, sizes = counts.sum(axis=0), counts.sum(axis=1)
    masks = patterns.astype(float)
    kernel = rbf_kernel(masks, gamma=scale_gamma(Moments.of(masks, pooled.astype(float))))
    # rows that change places at random leave hypergeometric numbers of each pattern on either side
    generator = np.random.default_rng(random.randint(2**31 - 1))
    first = np.vstack([counts[0], generator.multivariate_hypergeometric(pooled, sizes[0], size=N_PERMUTATIONS)])
    away = first / sizes[0] - (pooled - first) / sizes[1]  # the difference of the shares of each pattern
    squares = np.einsum("ij,ij->i", away @ kernel, away)
    pvalue = np.mean(squares >= squares[0] * (1 - 1e-12))
    return float(np.sqrt(max(squares[0], 0.0))), float(pvalue)


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Holm's correction: the k-th smallest of m p-values times m - k + 1, never falling and at most 1."""
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    out = np.empty(len(pvalues))
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out
