"""Random Fourier features of laws: coordinates whose scalar products approach a kernel between laws.

exp(-gamma ||x - y||^2) is the mean of cos w'(x - y) over w ~ N(0, 2 gamma I). For a law N(m, Sigma) the mean of cos w'x
is exp(-w' Sigma w / 2) cos w'm, and so for the sine: what is missing damps a wave. D waves give

    z_i = D^(-1/2) [exp(-w' Sigma_i w / 2) cos w'm_i,  exp(-w' Sigma_i w / 2) sin w'm_i],     E z_i'z_j = K(i, j),

the expected RBF kernel of independent rows, for every pair. genRBF divides row i by its exact norm,
|I + 4 gamma Sigma_i|^(-1/4). An odd number of features has a last wave without a sine, and a random phase instead.
A kernel on gaps that multiplies another one is the RBF kernel on 0/1 columns of gaps: their frequencies come last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from gapkernel.compute.doors import check_finite
from gapkernel.kernels.base import Kernel
from gapkernel.kernels.expected_rbf import ExpectedRBF
from gapkernel.kernels.missingness import Masked
from gapkernel.rows import Rows


@dataclass(frozen=True, eq=False)
class FourierMap:
    """Expected random features for one kernel.

    Attributes
    ----------
    kernel : ExpectedRBF or GenRBF, or one of them times a kernel on gaps
        With numbers in place of words.
    frequencies : ndarray of shape (n_frequencies, n_features + n_gap_columns)
    centre : ndarray of shape (n_features,)
        Where phases are measured from; it changes no scalar product, and keeps the digits of columns far from 0.
    n_components : int
        Number of features: two for each frequency, or one less.
    phase : float
        The phase of the last wave, 0 if it has a sine.
    """

    kernel: Kernel
    frequencies: np.ndarray
    centre: np.ndarray
    n_components: int
    phase: float

    @classmethod
    def draw(
        cls, kernel: Kernel, n_components: int, centre: np.ndarray, orthogonal: bool, random: np.random.RandomState
    ) -> FourierMap:
        """A map with random frequencies."""
        on_laws = _on_laws(kernel)
        root = on_laws.metric_root(len(centre))
        if isinstance(kernel, Masked):
            width = np.sqrt(kernel.indicator.gamma / on_laws.inverse_width())
            root = block_diag(root, width * np.eye(kernel.columns.sum()))
        shape = (n_components + 1) // 2, len(root)
        waves = _orthogonal(*shape, random) if orthogonal else random.standard_normal(shape)
        phase = random.uniform(0.0, 2.0 * np.pi) if n_components % 2 else 0.0
        frequencies = np.sqrt(2.0 * on_laws.inverse_width()) * waves @ root  # w'(Rx) = (R'w)'x
        return cls(kernel, frequencies, centre, n_components, phase)

    def __call__(self, rows: Rows) -> np.ndarray:
        """The features of each row, (n_rows, n_components): all cosines, then all sines."""
        features = self._waves(rows) * np.exp(_on_laws(self.kernel).log_scale(rows))[:, None]
        return check_finite(features, "A Fourier feature")

    def _waves(self, rows: Rows) -> np.ndarray:
        """The mean wave of a mixture is the mixture of its components' waves."""
        (weight, laws), *others = rows.components()
        of_gaps = self._angle_of_gaps(rows)
        total = self._damped(laws, of_gaps)
        if not others:
            return total
        total *= weight[:, None]
        for weight, laws in others:
            total += weight[:, None] * self._damped(laws, of_gaps)
        return total

    def _angle_of_gaps(self, rows: Rows) -> np.ndarray | float:
        """What the gaps of each row add to the angles of its waves."""
        if not isinstance(self.kernel, Masked):
            return 0.0
        return rows.mask()[:, self.kernel.columns] @ self.frequencies[:, len(self.centre) :].T

    def _damped(self, rows: Rows, of_gaps: np.ndarray | float) -> np.ndarray:
        """Waves of single laws, damped by their covariances."""
        frequencies = self.frequencies[:, : len(self.centre)]
        n_cosines, n_sines = len(self.frequencies), self.n_components // 2
        damping = rows.quadratic(frequencies)
        damping *= -0.5
        np.exp(damping, out=damping)
        damping *= np.sqrt(2.0 / self.n_components)
        angle = (rows.means - self.centre) @ frequencies.T
        angle += of_gaps
        angle[:, -1] += self.phase
        out = np.empty((len(rows), self.n_components))
        np.cos(angle, out=out[:, :n_cosines])
        np.sin(angle[:, :n_sines], out=out[:, n_cosines:])
        out[:, :n_cosines] *= damping
        out[:, n_cosines:] *= damping[:, :n_sines]
        return out

    def standard_error(self, left: Rows, right: Rows) -> np.ndarray:
        """Standard deviation of z_i'z_j around the kernel over draws of independent frequencies, (n_left, n_right).

        With B = I + 4 gamma S, a wave and its sine have variance
        |B|^(-1/2) (1 + exp(-4 gamma delta' B^-1 delta)) / 2 - K^2, a wave with a random phase |B|^(-1/2) / 2 more;
        both times the scales of genRBF. It holds for Gaussian laws only. Where gaps count, delta has their 0/1 columns.
        """
        on_laws = _on_laws(self.kernel)
        dense = left.dense, right.dense
        origin, stretched = ([replace(law, means=by * law.means) for law in dense] for by in (0.0, np.sqrt(2.0)))
        still, twice = on_laws.squared_mean(*origin), on_laws.squared_mean(*stretched)
        if isinstance(self.kernel, Masked):
            twice = twice * self.kernel.alike(left, right) ** 4
        paired = 0.5 * (still + twice) - self.kernel.cross(left, right) ** 2
        pairs, single = divmod(self.n_components, 2)
        variance = (4 * pairs * paired + single * (paired + 0.5 * still)) / self.n_components**2
        return np.sqrt(np.maximum(variance, 0.0))


def _on_laws(kernel: Kernel) -> ExpectedRBF:
    """The kernel without the one on gaps; ValueError for a kernel without Fourier features."""
    on_laws = kernel.kernel if isinstance(kernel, Masked) else kernel
    if not isinstance(on_laws, ExpectedRBF):
        raise ValueError(f"There are Fourier features for 'genrbf' and 'rbf', not for {on_laws!r}. Use Nystroem.")
    if isinstance(kernel, Masked) and kernel.indicator.rule != "product":
        raise ValueError("indicator: Fourier features take Missingness(rule='product') only. Use Nystroem.")
    return on_laws


def _orthogonal(n: int, d: int, random: np.random.RandomState) -> np.ndarray:
    """Standard normal directions, orthogonal within blocks of d: each is still normal, and errors are smaller."""
    directions = []
    for begin in range(0, n, d):
        q, r = np.linalg.qr(random.standard_normal((d, d)))
        directions.append((q * np.sign(np.diag(r)))[: n - begin])  # signs make the rotation uniform
    return np.concatenate(directions) * np.sqrt(random.chisquare(d, n))[:, None]
