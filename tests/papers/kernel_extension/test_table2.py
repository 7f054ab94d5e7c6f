"""What the paper does to a data set: a loss for every cell of the grid, and nesting."""

from dataclasses import replace

import numpy as np
import pytest

from gapkernel.papers.kernel_extension import experiment as ehk, table2
from gapkernel.studies import Grid, Task


@pytest.mark.parametrize("method", table2.CANDIDATES)
def test_every_cell_of_the_grid_has_a_loss_and_nesting_reports_one_setting(method, monkeypatch):
    grids = {"classification": Grid(C=(1.0, 10.0, 100.0), gamma=(0.01, 0.1), alpha=(0.5, 0.9))}
    task = Task("synthetic", method, "mcar", 0.3)
    X, y = table2.data(task, None)
    monkeypatch.setattr(table2, "data", lambda task, data_dir: (X.iloc[:80], y[:80]))
    losses = np.array(table2.GridCV(grids=grids, n_folds=3)(task)["losses"])
    assert losses.shape == ((3,) if method in ("ehk", "ehk_known") else (6,))
    assert ((losses >= 0) & (losses <= 1)).all()
    one = table2.NestedGridCV(grids=grids, n_folds=4, n_inner_folds=2)(task)
    assert one["rows"] == 20
    assert 0 <= one["loss"] <= 1
    assert one["settings"] in table2.CANDIDATES[method].settings(grids["classification"])


def test_regression_is_measured_against_the_mean(data_folder):
    grids = {"regression": replace(ehk.WIDE["regression"], C=(1.0, 4.0), alpha=(0.5,))}
    protocol = table2.GridCV(grids=grids, n_folds=3, data_dir=str(data_folder))
    assert 0 < protocol(Task("servo", "ehk_alpha"))["losses"][0] < 1
