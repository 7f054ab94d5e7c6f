"""Machines whose density may be fitted to a sample of the rows, and that meet the table in parts."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gapkernel.batches import Batches
from gapkernel.estimators.base import KernelMachine, Laws
from gapkernel.parts import HeldParts, Part, Parts, StreamedParts
from gapkernel.rowwise import is_dask
from gapkernel.table import Table, read_table


class SampledMachine(KernelMachine):
    """A kernel machine for many rows; parameters ``density_samples`` and ``random_state`` besides those of the base."""

    def _parts(self, X) -> Parts:
        """The table in parts; one in memory is checked at once, others part by part."""
        if isinstance(X, Batches | np.memmap) or is_dask(X):
            return unchecked_parts(X)
        return HeldParts(Part(read_table(self, X, reset=True, categorical_features=self.categorical_features)))

    def _fit_sample(self, parts: Parts, random) -> Laws:
        """Density and kernel from a sample of the rows, and the laws of the sample."""
        k = self.density_samples
        if k is not None and not (isinstance(k, Integral) and int(k) >= 1):
            raise ValueError(f"density_samples must be None or a number of rows from 1 up, got {k!r}.")
        sample = parts.take(sample_rows(parts.n_rows, None if k is None else int(k), random))
        table = sample.X
        if not isinstance(table, Table):
            table = read_table(self, table, reset=True, categorical_features=self.categorical_features)
        return self._fit_laws(table, self._weights_of(table, sample.weight), needs_gram=False)

    def _table(self, X) -> Table:
        """New rows, checked."""
        check_is_fitted(self, "density_")
        return read_table(self, X, reset=False, schema=getattr(self.density_, "schema_", None))


def unchecked_parts(X, y=None, weight=None) -> Parts:
    """Parts of a table that does not fit in memory: each is checked when it is met."""
    if isinstance(X, Batches):
        if y is not None or weight is not None:
            raise ValueError(
                "Batches bring their own targets and weights: give gapkernel.batches(source, target) alone."
            )
        return StreamedParts(X)
    if is_dask(X):
        from gapkernel.distributed import DaskParts

        return DaskParts(X, y, weight)
    check_consistent_length(*(values for values in (X, y, weight) if values is not None))
    return HeldParts(Part(X, y, weight))


def sample_rows(n_rows: int, most: int | None, random) -> np.ndarray:
    """Numbers of the rows in the sample, sorted: all, or ``most`` drawn without replacement."""
    seed = random.randint(2**31)  # always drawn, so that what follows does not depend on the number of rows
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False, shuffle=False))
