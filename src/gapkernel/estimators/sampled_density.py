"""Machines whose density may be fitted to a sample of the rows, and that meet the table in parts."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapkernel.density import Gaussian, make_density
from gapkernel.estimators.base import KernelEstimator, Laws, resolve_kernel
from gapkernel.kernels.expected_rbf import median_rows
from gapkernel.tables import Table, read_table, read_weight
from gapkernel.tables.table_in_parts import HeldTable, Part, TableInParts, parts_of


class SampledMachine(KernelEstimator):
    """A kernel machine for many rows; parameters ``density_samples`` and ``random_state`` besides those of the base."""

    def _parts(self, X) -> TableInParts:
        """The table in parts; one in memory is checked at once, others part by part."""
        table = parts_of(X)
        if table is None:
            table = HeldTable(Part(read_table(self, X, reset=True, categorical_features=self.categorical_features)))
        return table

    def _fit_sample(self, parts: TableInParts, random) -> Laws:
        """Density and kernel from a sample of the rows, and the laws of the sample."""
        most = self.density_samples
        if most is not None and not (isinstance(most, Integral) and int(most) >= 1):
            raise ValueError(f"density_samples must be None or a number of rows from 1 up, got {most!r}.")
        rows = sample_rows(parts.n_rows, None if most is None else int(most), random)
        if most is None and not parts.checked:
            return self._fit_all(parts)
        sample = parts.take(rows)
        table = sample.X
        if not isinstance(table, Table):
            table = read_table(self, table, reset=True, categorical_features=self.categorical_features)
        return self._fit_laws(table, read_weight(sample.weight, table), needs_gram=False)

    def _fit_all(self, parts: TableInParts) -> Laws:
        """Density from all rows of a table in parts; only some of their laws."""
        sample = parts.take(median_rows(parts.n_rows))
        table = read_table(self, sample.X, reset=True, categorical_features=self.categorical_features)
        kernel = resolve_kernel(self.kernel, self.gamma)
        density = make_density(self.density, kernel, table.schema, parts.n_rows)
        if not isinstance(density, Gaussian):
            raise ValueError(
                f"{type(density).__name__} cannot be fitted to a table in parts. Give density_samples, the number of "
                f"rows to fit it to, or use density=gapkernel.density.Gaussian()."
            )
        rows = self._condition(density.fit(parts), table)
        return Laws(density, self._kernel().resolve(density, rows), rows)

    def _table(self, X) -> Table:
        """New rows, checked."""
        check_is_fitted(self, "density_")
        return read_table(self, X, reset=False, schema=self.density_.schema_)


def sample_rows(n_rows: int, most: int | None, random) -> np.ndarray:
    """Numbers of the rows in the sample, sorted: all, or ``most`` drawn without replacement."""
    seed = random.randint(2**31)  # always drawn, so that what follows does not depend on the number of rows
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False, shuffle=False))
