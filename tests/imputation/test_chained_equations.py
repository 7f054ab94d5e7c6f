"""Chained equations: what is drawn, for whom, and what is kept."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from strategies import mixed_imputer, mixed_table

import gapkernel as gk
from gapkernel.imputation import select_predictors

nan = np.nan


VARIANTS = [
    mixed_imputer(),
    mixed_imputer(numeric="pmm"),
    mixed_imputer(use_target=True),
    mixed_imputer(predictors="selected"),
    mixed_imputer(draws="expected"),
    mixed_imputer(draws="expected", numeric="pmm"),
]


@pytest.fixture(params=VARIANTS, ids=lambda v: f"{v.numeric}-{v.draws}-{v.predictors}-{v.use_target}")
def imputer(request):
    return clone(request.param)


def target_of(complete):
    return np.where(complete[:, 0] + complete[:, 2] > 0.5, "high", "low")


# --- what comes out ------------------------------------------------------------------------------------------------


def test_observed_cells_stay_and_gaps_are_filled(imputer):
    X, complete, gaps = mixed_table()
    for completed in (
        imputer.fit_transform_all(X, target_of(complete)),
        imputer.transform_all(X),
    ):
        assert completed.shape == (3, *X.shape)
        assert np.isfinite(completed).all()
        assert_array_equal(completed[:, ~gaps], np.broadcast_to(X[~gaps], (3, np.sum(~gaps))))
        assert set(np.unique(completed[..., 2])) == {0, 1}
        assert set(np.unique(completed[..., 3])) <= {1, 2, 5}
        assert set(np.unique(completed[..., 4])) <= {0, 1, 2, 3, 4}


def test_the_first_set_is_the_transform(imputer):
    X, complete, _ = mixed_table()
    y = target_of(complete)
    assert_array_equal(clone(imputer).fit_transform(X, y), clone(imputer).fit_transform_all(X, y)[0])
    fitted = imputer.fit(X, y)
    assert_array_equal(fitted.transform(X), fitted.transform_all(X)[0])


def test_imputed_values_follow_what_is_known():
    X, complete, gaps = mixed_table(600)
    completed = mixed_imputer(n_imputations=5).fit_transform_all(X)
    for j in (0, 1):
        rows = gaps[:, j]
        assert np.corrcoef(completed[:, rows, j].mean(axis=0), complete[rows, j])[0, 1] > 0.7
    for j, chance in ((2, 0.5), (3, 0.45), (4, 0.3)):
        rows = gaps[:, j]
        assert np.mean(completed[:, rows, j] == complete[rows, j]) > chance + 0.1


def test_mean_matching_fills_in_observed_values():
    X, _, gaps = mixed_table()
    completed = mixed_imputer(numeric="pmm").fit(X).transform_all(X)
    assert np.isin(completed[:, gaps[:, 1], 1], X[~gaps[:, 1], 1]).all()


def test_complete_rows_are_returned_as_they_are(imputer):
    X, complete, _ = mixed_table()
    imputer.fit(X, target_of(complete))
    assert_array_equal(imputer.transform(complete), complete)


def test_the_callers_table_is_not_written_to(imputer):
    X, complete, _ = mixed_table()
    X.setflags(write=False)
    before = X.copy()
    imputer.fit(X, target_of(complete)).transform_all(X)
    assert_array_equal(X, before)


# --- for whom: rows, batches, seeds, threads -----------------------------------------------------------------------


def test_a_row_is_completed_alike_alone_and_in_any_batch(imputer):
    X, complete, _ = mixed_table()
    new, _, _ = mixed_table(60, gap_rate=0.4, seed=1)
    imputer.fit(X, target_of(complete))
    together = imputer.transform_all(new)
    for i in range(20):
        assert_array_equal(imputer.transform(new[i : i + 1])[0], together[0, i])
    for size in (1, 7, 60):
        parts = [imputer.transform_all(new[i : i + size]) for i in range(0, len(new), size)]
        assert_array_equal(np.concatenate(parts, axis=1), together)
    order = np.random.default_rng(0).permutation(len(new))
    assert_array_equal(imputer.transform_all(new[order]), together[:, order])


def test_same_seed_same_draws_and_another_seed_others():
    X, _, _ = mixed_table()
    first = mixed_imputer().fit(X)
    assert_array_equal(first.transform_all(X), mixed_imputer().fit(X).transform_all(X))
    assert_array_equal(mixed_imputer().fit_transform_all(X), mixed_imputer().fit_transform_all(X))
    assert (first.transform_all(X) != mixed_imputer(random_state=1).fit(X).transform_all(X)).any()


def test_threads_and_the_number_of_chains_change_no_draw():
    X, _, _ = mixed_table()
    one = mixed_imputer().fit_transform_all(X)
    assert_array_equal(mixed_imputer(n_jobs=2).fit_transform_all(X), one)
    assert_array_equal(mixed_imputer(n_imputations=5).fit_transform_all(X)[:3], one)


def test_without_a_seed_a_fitted_imputer_still_repeats_itself():
    X, _, _ = mixed_table()
    imputer = mixed_imputer(random_state=None).fit(X)
    assert_array_equal(imputer.transform_all(X), imputer.transform_all(X))
    assert_array_equal(pickle.loads(pickle.dumps(imputer)).transform_all(X), imputer.transform_all(X))


# --- new rows ------------------------------------------------------------------------------------------------------


def test_columns_complete_in_fit_may_have_gaps_later(imputer):
    _, complete, _ = mixed_table(400)
    imputer.fit(complete, target_of(complete))
    new, truth, gaps = mixed_table(300, gap_rate=0.3, seed=2)
    completed = imputer.transform_all(new)
    rows = gaps[:, 1] & ~gaps[:, 0]
    drawn = completed[:, rows, 1]
    assert np.isfinite(completed).all()
    assert np.corrcoef(drawn.mean(axis=0), truth[rows, 1])[0, 1] > 0.7  # not the mean of the column


def test_a_row_of_gaps_alone_is_drawn_from_the_whole():
    X, complete, _ = mixed_table(2000)
    empty = np.full((1, 5), nan)
    drawn = mixed_imputer(n_imputations=200, n_sweeps=5).fit(X[:500]).transform_all(empty)[:, 0]
    error = complete.std(axis=0) / np.sqrt(200)
    assert np.all(np.abs(drawn.mean(axis=0) - complete.mean(axis=0)) < 5 * error)


def test_unknown_categories_are_gaps():
    X, _, _ = mixed_table()
    imputer = mixed_imputer().fit(X)
    completed = imputer.transform_all([[0.0, 100.0, 1.0, 7.0, 2.0]])
    assert np.isin(completed[:, 0, 3], [1, 2, 5]).all()
    assert_array_equal(np.delete(completed[:, 0], 3, axis=1), np.tile([0.0, 100.0, 1.0, 2.0], (3, 1)))


def test_the_target_helps_in_fit_and_is_not_needed_later():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 400)
    X = np.column_stack([y == k for k in range(3)]).astype(float) * 3 + random.standard_normal((400, 3))
    X[:200, 0] = nan
    X[:, 1:] = random.standard_normal((400, 2))  # only the target knows column 0
    with_target = gk.ChainedEquations(use_target=True, random_state=0).fit_transform_all(X, y)[:, :200, 0].mean(axis=0)
    without = gk.ChainedEquations(random_state=0).fit_transform_all(X)[:, :200, 0].mean(axis=0)
    expected = np.where(y[:200] == 0, 3.0, 0.0)
    assert np.corrcoef(with_target, expected)[0, 1] > 0.9
    assert np.corrcoef(without, expected)[0, 1] < 0.3
    fitted = gk.ChainedEquations(use_target=True, random_state=0, n_imputations=40).fit(X, y)
    drawn = fitted.transform_all([[nan, 0.0, 0.0]])[:, 0, 0]
    assert drawn.std() > 1.3  # the label is unknown here, and so the draws mix over it


def test_a_continuous_target_is_used_too():
    random = np.random.default_rng(0)
    y = random.standard_normal(200)
    X = np.column_stack([y + 0.1 * random.standard_normal(200), random.standard_normal(200)])
    X[::2, 0] = nan
    filled = gk.ChainedEquations(use_target=True, random_state=0).fit_transform(X, y)
    assert np.corrcoef(filled[::2, 0], y[::2])[0, 1] > 0.97


def test_frames_give_names_and_take_them():
    X, _, _ = mixed_table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = mixed_imputer(categorical_features=["d", "e"]).fit(frame)
    assert by_name.kinds_ == ["numeric", "numeric", "binary", "categorical", "categorical"]
    completed = by_name.transform_all(frame)
    assert all(isinstance(table, pd.DataFrame) for table in completed)
    assert_array_equal(np.stack(completed), mixed_imputer().fit(X).transform_all(X))
    assert list(by_name.transform(frame).columns) == list("abcde")
    as_array = mixed_imputer().fit(X).set_output(transform="pandas").transform(X)
    assert_array_equal(as_array, completed[0])


def frame_of_every_kind(n=80, seed=0, gap_rate=0.2):
    """Text, an unordered and an ordered category, booleans, whole numbers and numbers that depend on each other."""
    random = np.random.default_rng(seed)
    z = random.standard_normal(n)
    three = np.clip(np.round(z + 1 + 0.3 * random.standard_normal(n)), 0, 2).astype(int)
    columns = {
        "number": z,
        "whole": np.round(10 * z).astype(int),
        "text": np.array(["a", "b", "c"])[three],
        "category": np.array(["yes", "no"])[(z > 0).astype(int)],
        "grade": np.array(["low", "middle", "high"])[three],
        "truth": z + 0.1 * random.standard_normal(n) > 0,
    }
    gaps = random.random((n, 6)) < gap_rate
    cells = {}
    for k, (name, column) in enumerate(columns.items()):
        cells[name] = column.astype(float if column.dtype.kind in "if" else object)
        cells[name][gaps[:, k]] = None
    frame = pd.DataFrame(cells, index=np.arange(n) + 1000)
    frame["category"] = frame["category"].astype("category")
    frame["grade"] = frame["grade"].astype(pd.CategoricalDtype(["low", "middle", "high"], ordered=True))
    return frame, gaps


KINDS = ["numeric", "numeric", "categorical", "binary", "categorical", "binary"]


def test_frames_with_categories_stay_frames():
    frame, gaps = frame_of_every_kind()
    before = frame.copy()
    imputer = gk.ChainedEquations(n_imputations=3, n_sweeps=2, random_state=0)
    completed = imputer.fit_transform_all(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert imputer.kinds_ == KINDS
    for table in (*completed, *imputer.transform_all(frame)):
        assert not table.isna().any().any()
        pd.testing.assert_index_equal(table.index, frame.index)
        for k, name in enumerate(frame):
            assert table[name][~gaps[:, k]].tolist() == frame[name][~gaps[:, k]].tolist()
        assert set(table["text"]) <= {"a", "b", "c"}
        assert table["grade"].dtype == frame["grade"].dtype
        assert table["category"].dtype == frame["category"].dtype
    text = frame["text"].isna() & frame["grade"].notna()
    same = [(t["text"].map({"a": 0, "b": 1, "c": 2}) == t["grade"].cat.codes)[text].mean() for t in completed]
    assert np.mean(same) > 0.6  # what the other columns say, not a level at random


def test_levels_unknown_at_fit_are_gaps_and_rows_do_not_meet():
    frame, _ = frame_of_every_kind()
    imputer = gk.ChainedEquations(n_imputations=2, n_sweeps=2, random_state=0).fit(frame)
    new, _ = frame_of_every_kind(30, seed=1)
    new["text"] = "zebra"
    completed = imputer.transform(new)
    assert set(completed["text"]) <= {"a", "b", "c"}
    for i in (0, 7):
        assert imputer.transform(new.iloc[i : i + 1]).iloc[0].tolist() == completed.iloc[i].tolist()


def test_polars_frames_and_arrays_of_text_keep_their_form():
    polars = pytest.importorskip("polars")
    frame, _ = frame_of_every_kind()
    imputer = gk.ChainedEquations(n_imputations=2, n_sweeps=2, random_state=0)
    expected = clone(imputer).fit_transform(frame[["number", "text", "grade"]])
    other = polars.DataFrame(
        {
            "number": polars.Series([None if v != v else v for v in frame["number"]]),
            "text": polars.Series([v if isinstance(v, str) else None for v in frame["text"]]),
            "grade": polars.Series(
                [None if v != v else v for v in frame["grade"].astype(object)],
                dtype=polars.Enum(["low", "middle", "high"]),
            ),
        }
    )
    completed = clone(imputer).fit_transform(other)
    assert isinstance(completed, polars.DataFrame)
    assert completed.dtypes == other.dtypes
    for name in expected:
        assert completed[name].to_list() == expected[name].tolist()
    cells = frame[["number", "text"]].to_numpy(object)
    assert clone(imputer).fit_transform_all(cells).shape == (2, *cells.shape)
    assert clone(imputer).fit_transform_all(cells).dtype == object


def test_dates_and_undeclared_text_are_refused():
    frame, _ = frame_of_every_kind()
    with pytest.raises(ValueError, match="Column 'day' of X holds dates"):
        gk.ChainedEquations().fit(frame.assign(day=pd.Timestamp("2020-01-01")))
    with pytest.raises(ValueError, match="Column 'text' of X holds values that are not numbers"):
        gk.ChainedEquations(categorical_features=["grade", "category", "truth"]).fit(frame)


# --- what is kept --------------------------------------------------------------------------------------------------


def test_chain_statistics_are_those_of_the_imputed_cells():
    X, _, gaps = mixed_table()
    X[:, 0] = np.nan_to_num(X[:, 0])
    gaps[:, 0] = False
    imputer = mixed_imputer()
    completed = imputer.fit_transform_all(X)
    assert imputer.chain_means_.shape == imputer.chain_variances_.shape == (3, 3, 5)
    assert np.isnan(imputer.chain_means_[:, :, 0]).all()
    for j in range(1, 5):
        cells = completed[:, gaps[:, j], j]
        cells = np.searchsorted([1, 2, 5], cells) if j == 3 else cells  # of a category, the codes of its levels
        assert_allclose(imputer.chain_means_[:, -1, j], cells.mean(axis=1))
        assert_allclose(imputer.chain_variances_[:, -1, j], cells.var(axis=1, ddof=1))


def test_selected_predictors_are_those_of_select_predictors():
    X, _, _ = mixed_table()
    X[:, 1] = np.random.default_rng(0).permutation(X[:, 1])
    imputer = mixed_imputer(predictors="selected").fit(X)
    assert_array_equal(imputer.predictors_, select_predictors(X))
    assert not imputer.predictors_[~np.eye(5, dtype=bool)].all()


def test_a_column_without_gaps_has_predictors_too():
    X = np.random.default_rng(0).standard_normal((400, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:10, 2] = nan
    imputer = gk.ChainedEquations(predictors="selected", n_imputations=1, n_sweeps=1).fit(X)
    assert_array_equal(imputer.predictors_[:2], [[False, True, False], [True, False, False]])


def test_a_matrix_of_predictors_is_obeyed():
    random = np.random.default_rng(0)
    X = np.repeat(random.standard_normal((300, 1)), 2, axis=1)
    X[::3, 1] = nan
    blind = gk.ChainedEquations(predictors=np.zeros((2, 2)), random_state=0).fit_transform(X)
    assert abs(np.corrcoef(blind[::3].T)[0, 1]) < 0.3
    assert np.corrcoef(gk.ChainedEquations(random_state=0).fit_transform(X)[::3].T)[0, 1] > 0.99


def test_progress_is_shown_when_asked_for(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # show it although the test's output is no terminal
    X, _, _ = mixed_table(50)
    mixed_imputer(verbose=True).fit(X)
    shown = capfd.readouterr()
    assert "chains" in shown.out + shown.err


def test_the_chain_display_plots_columns_with_gaps():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from gapkernel.plots import ChainDisplay

    X, _, _ = mixed_table()
    X[:, 0] = np.nan_to_num(X[:, 0])
    imputer = mixed_imputer().fit(pd.DataFrame(X, columns=list("abcde")))
    display = ChainDisplay.from_estimator(imputer)
    assert display.axes_.shape == (4, 2)
    assert len(display.axes_[0, 0].lines) == 3
    assert display.axes_[0, 0].get_ylabel() == "b"
    assert ChainDisplay.from_estimator(imputer, columns=["d"]).names == ["d"]
    with pytest.raises(ValueError, match="had no gaps in fit"):
        ChainDisplay.from_estimator(imputer, columns=["a"])
    plt.close("all")
