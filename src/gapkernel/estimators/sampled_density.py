"""Estimators for many rows: the table comes in parts, and the density may be fitted to a sample of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from gapkernel.density import make_density
from gapkernel.estimators.base import KernelEstimator, Laws
from gapkernel.kernels.width import median_rows
from gapkernel.tables import Table, read_table, read_weight
from gapkernel.tables.part_by_part import parts_of
from gapkernel.tables.table_in_parts import HeldTable, Part, TableInParts


@dataclass(eq=False, repr=False)
class SampledDensity(KernelEstimator):
    """An estimator for many rows, with features."""

    n_components: int = 512
    _: KW_ONLY
    density_samples: int | None = 100_000
    random_state: Any = None

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "density_samples": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _parts(self, X, y, sample_weight, *, reset: bool = True) -> TableInParts:
        """The table in parts; one in memory is checked at once, others part by part."""
        parts = parts_of(X, y, sample_weight)
        if parts is not None:
            return parts
        table = self._read(X) if reset else self.table_of(X)
        return HeldTable(self._checked(Part(table, y, sample_weight)))

    @classmethod
    def _checked(cls, part: Part) -> Part:
        """A part with its weights checked, and with its targets where there are any."""
        return Part(part.X, None, read_weight(part.weight, part.X))

    def _fit_sample(self, parts: TableInParts, random: np.random.RandomState) -> Laws:
        """Density and kernel from a sample of the rows, and the laws of the sample."""
        rows = sample_rows(parts.n_rows, self.density_samples, random)
        if self.density_samples is None and not parts.checked:
            return self._fit_all(parts)
        sample = parts.take(rows)
        table = self._read(sample.X)
        return self._fit_laws(table, read_weight(sample.weight, table))

    def _fit_all(self, parts: TableInParts) -> Laws:
        """Density from all rows of a table in parts; only some of their laws."""
        sample = parts.take(median_rows(parts.n_rows))
        table = self._read(sample.X)
        kernel = self._kernel()
        density = make_density(self.density, kernel, table.schema, parts.n_rows)
        if not density.fits_in_parts:
            raise ValueError(
                f"{type(density).__name__} cannot be fitted to a table in parts. Give density_samples, the number of "
                f"rows to fit it to, or use density=gapkernel.density.Gaussian()."
            )
        rows = self._condition(density.fit(parts), table)
        return Laws(density, kernel.resolve(density.moments(), rows), rows)

    def _read(self, X) -> Table:
        """The training rows, checked."""
        return read_table(self, X, reset=True, categorical_features=self.categorical_features)


def sample_rows(n_rows: int, most: int | None, random: np.random.RandomState) -> np.ndarray:
    """Numbers of the rows in the sample, sorted: all, or ``most`` drawn without replacement."""
    seed = random.randint(2**31)  # always drawn, so that what follows does not depend on the number of rows
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False, shuffle=False))
