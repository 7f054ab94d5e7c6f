"""The KARMA kernel: words over the observed columns (Hazan, Livni, Mansour)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gapkernel.kernels import POSITIVE, Kernel, median_rows, scale_gamma
from gapkernel.rows import ALL_KINDS, Moments, Rows


@dataclass(eq=False, repr=False)
class Karma(Kernel):
    """A linear kernel that also depends on which columns were observed.

    A row becomes one feature for every word s_1 ... s_k of at most ``degree`` columns: the value of the last
    column if all of them were observed, else 0. Linear functions of these features hold the truncated series
    of the best linear predictor for each gap pattern, so nothing is imputed. With n columns observed in both
    rows, the scalar product has a closed form:

        k(x, y) = (1 + n + ... + n^(degree - 1)) * sum of x_l y_l over those n columns.

    It looks at observed values only; what a density says about the gaps is left aside. So a row is not random
    to it, and `gram` and `cross` agree. A gap that the density fills with certainty (a constant column) counts
    as observed.

    Parameters
    ----------
    degree : int, default=2
        Longest word, the papers' gamma. 1 is the linear kernel on rows with 0 in the gaps.
    normalize : bool, default=True
        Divide by the norms of both rows, because the kernel grows like n^degree. A row with nothing observed,
        or with zeros only, keeps the kernel 0.
    form : {"plain", "distance", "featurewise"}, default="plain"
        "plain" is the kernel above. "distance" is exp(-gamma ||phi(x) - phi(y)||^2) of its features phi (after the
        normalisation, if any). "featurewise" puts exp(-gamma (x_l - y_l)^2) in place of x_l y_l.
    gamma : float or "scale", default="scale"
        Inverse width of the last two forms. "scale" is 1 / the expected squared distance from the centre: that of the
        training rows' features phi for "distance", and that of one column for "featurewise".

    Notes
    -----
    Published experiments combine KARMA with an RBF kernel without saying how; "distance" and "featurewise" are
    two positive definite readings of that. Standardise the columns first: 0 is what a gap looks like.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel.density import Gaussian
    >>> from gapkernel.papers.genrbf import Karma
    >>> density = Gaussian.from_moments([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> rows = density.condition([[2.0, np.nan], [1.0, 1.0]])
    >>> Karma(degree=2, normalize=False).gram(rows)
    array([[8., 4.],
           [4., 6.]])
    """

    degree: int = 2
    normalize: bool = True
    form: str = "plain"
    gamma: float | str = "scale"

    kinds = ALL_KINDS
    _parameter_constraints: ClassVar[dict] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "normalize": ["boolean"],
        "form": [StrOptions({"plain", "distance", "featurewise"})],
        "gamma": [POSITIVE, StrOptions({"scale"})],
    }

    def _resolve(self, moments: Moments | None, rows: Rows) -> None:
        if self.form == "plain" or not isinstance(self.gamma, str):
            return
        if self.form == "featurewise":
            self.gamma = rows.n_features * scale_gamma(moments)
            return
        sample = rows.take(median_rows(len(rows)))
        spread = np.mean(self._embedding_norms(sample)) - np.mean(self._products(sample, sample))
        self.gamma = scale_gamma(spread if spread > 1e-12 else 0.0)

    def _diag(self, rows: Rows) -> np.ndarray:
        return np.ones(len(rows)) if self.form == "distance" else self._embedding_norms(rows)

    def _cross(self, left: Rows, right: Rows) -> np.ndarray:
        products = self._products(left, right)
        if self.form != "distance":
            return products
        squared = self._embedding_norms(left)[:, None] + self._embedding_norms(right) - 2.0 * products
        return np.exp(-self._number("gamma") * np.maximum(squared, 0.0))

    def _products(self, left: Rows, right: Rows) -> np.ndarray:
        """Scalar products of the features, after the normalisation."""
        products = self._words(left, right)
        if self.normalize:
            products *= np.outer(_inverse_root(self._self_words(left)), _inverse_root(self._self_words(right)))
        return products

    def _words(self, left: Rows, right: Rows) -> np.ndarray:
        """<phi(x), phi(y)> = c(n) * sum over the n columns observed in both."""
        (values, seen), (others, others_seen) = _observed(left), _observed(right)
        if self.form == "featurewise":
            inner = _featurewise(values, seen, others, others_seen, self._number("gamma"))
        else:
            inner = values @ others.T
        return self._word_counts(seen.astype(float) @ others_seen.T.astype(float)) * inner

    def _self_words(self, rows: Rows) -> np.ndarray:
        """<phi(x), phi(x)> for each row."""
        values, seen = _observed(rows)
        count = seen.sum(axis=1).astype(float)
        inner = count if self.form == "featurewise" else np.einsum("ij,ij->i", values, values)
        return self._word_counts(count) * inner

    def _embedding_norms(self, rows: Rows) -> np.ndarray:
        """||phi||^2 after the normalisation: 1, or 0 for a row without a feature."""
        norms = self._self_words(rows)
        return (norms > 0).astype(float) if self.normalize else norms

    def _word_counts(self, n: np.ndarray) -> np.ndarray:
        """c(n) = 1 + n + ... + n^(degree - 1): the beginnings of all words that end in a given column."""
        total = np.ones_like(n)
        for _ in range(self.degree - 1):
            total = 1.0 + n * total
        return total


def _observed(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The values with 0 in the gaps, and where they were observed."""
    seen = ~rows.uncertain
    return np.where(seen, rows.means, 0.0), seen


def _inverse_root(norms: np.ndarray) -> np.ndarray:
    """1 / sqrt, and 0 where a row has no feature."""
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)


def _featurewise(left, left_seen, right, right_seen, gamma) -> np.ndarray:
    """sum of exp(-gamma (x_l - y_l)^2) over the columns observed in both, a column at a time."""
    total = np.zeros((len(left), len(right)))
    for column in range(left.shape[1]):
        alike = np.exp(-gamma * (left[:, column, None] - right[:, column]) ** 2)
        total += alike * np.outer(left_seen[:, column], right_seen[:, column])
    return total
