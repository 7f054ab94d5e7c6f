"""The command line: what it reads, what it says, and that a saved model predicts."""

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.commands import command, complaint, table
from rich.console import Console
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapkernel
from gapkernel import SVC, GapRegressor, TableModel
from gapkernel.cli import problem
from gapkernel.cli.app import METHOD_NAMES
from gapkernel.cli.compare import compare
from gapkernel.cli.describe import show_gaps
from gapkernel.cli.problem import Request
from gapkernel.compute.runtime.progress import tracked
from gapkernel.persistence import load, save
from gapkernel.studies import CANDIDATES, Grid
from gapkernel.tables.files import Reading, read_frame, read_raw
from gapkernel.tables.input_errors import InputError


def test_columns_get_their_types(folder):
    text = "n; code; yes ;word;none;day\n1,5;01;True;b;NA;x\n ;02;False; a ;?;y\n3;01;;-;;x\n".replace(",", ".")
    (folder / "typed.csv").write_text(text, encoding="utf-8-sig")
    frame, _ = read_frame("typed.csv", Reading(["day"], ["code"], ["-"]))
    assert list(frame) == ["n", "code", "yes", "word", "none"]
    assert frame["n"].tolist()[::2] == [1.5, 3.0]
    assert frame["code"].cat.categories.tolist() == ["01", "02"]
    assert frame["yes"].cat.categories.tolist() == ["False", "True"]
    assert frame["word"].cat.categories.tolist() == ["a", "b"]
    assert frame.isna().sum().tolist() == [1, 0, 1, 1, 3]


def test_the_options_of_a_reading_ask_for_it():
    reading = Reading(["a b"], ["c"], ["-999", "x"], ",", "cp1252")
    wanted = "--drop 'a b' --category c --na -999 --na x --decimal , --encoding cp1252"
    assert wanted in Request(Path("t.csv"), "y", reading=reading).shell("gap")
    assert "--encoding cp1252" in Request(Path("t.csv"), "y", reading=reading).shell("gap").splitlines()[1]
    plain = "gapkernel fit t.csv --target y --method gap --rows 20000 --out model.skops"
    assert Request(Path("t.csv"), "y").shell("gap").splitlines()[0] == plain


def test_a_parquet_file_reads_as_its_csv_twin(folder):
    frame = table().assign(flag=np.arange(60) % 2 == 0, count=np.arange(60) % 7)
    frame.to_csv("twin.csv", index=False)
    frame.to_parquet("twin.parquet")
    pd.testing.assert_frame_equal(read_frame("twin.csv")[0], read_frame("twin.parquet")[0])


def test_a_row_with_a_name_is_called_by_its_place(folder):
    new = pd.DataFrame({"size": ["1", "big"]}, index=["first", "second"])
    new.to_parquet("named.parquet")
    model = TableModel(LinearRegression()).fit(pd.DataFrame({"size": [1.0, 2.0]}), [0.0, 1.0])
    with pytest.raises(InputError, match=r"of named.parquet holds 'big' in row 1 \(the first is 0\)"):
        model.known(read_raw("named.parquet"), what="named.parquet")


def test_the_help_of_fit_and_the_page_of_commands_name_every_method():
    assert set(re.split("[,; ]+", METHOD_NAMES)) >= set(CANDIDATES)
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
    listed = page[page.index("`--method` is") : page.index("Classifiers are calibrated")]
    assert [name for name in CANDIDATES if not re.search(rf"(?<![\w-]){name}(?![\w-])", listed)] == []


def test_a_missing_option_points_to_the_help_that_lists_it(capsys):
    assert command("fit", "good.csv") == 2
    assert capsys.readouterr().err.endswith("See: gapkernel fit --help\n")
    assert command("nonsense") == 2
    assert capsys.readouterr().err.endswith("See: gapkernel --help\n")


@pytest.mark.parametrize("method", ["gap", "genrbf", "ehk"])
def test_fit_and_predict(method, folder, capsys):
    named = () if method == "gap" else ("-m", method)  # it is the default
    assert command("fit", "good.csv", "-t", "class", "-o", "model.skops", *named) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert ("Members, by their log loss out of fold" in told) == ("process, shrunk" in told) == (method == "gap")
    assert command("predict", "model.skops", "good.csv", "-o", "all.csv") == 0
    told, truth = pd.read_csv("all.csv"), table()
    assert list(told) == ["class", "probability_no", "probability_yes", "share_missing"]
    np.testing.assert_allclose(told["probability_no"] + told["probability_yes"], 1.0)
    np.testing.assert_allclose(told["share_missing"], truth.drop(columns="class").isna().mean(axis=1), atol=1e-6)
    assert (told["class"] == np.where(told["probability_yes"] > 0.5, "yes", "no")).all()
    assert (told["class"] == truth["class"]).mean() > 0.8

    truth.sample(frac=1, random_state=0).iloc[:5].drop(columns="class").to_csv("some.csv", index=False)
    assert command("predict", "model.skops", "some.csv", "-o", "some_told.csv") == 0
    same = told.loc[truth.sample(frac=1, random_state=0).index[:5]].reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.read_csv("some_told.csv"), same)  # other rows in the file do not matter


def test_predict_says_what_it_does_not_know(folder, capsys):
    assert command("fit", "good.csv", "-t", "class", "-o", "model.skops", "-m", "genrbf") == 0
    new = table().iloc[:4].assign(kind=["a", "z", None, "b"])
    new.drop(columns="weight").to_csv("new.csv", index=False)
    told = complaint(capsys, "predict", "model.skops", "new.csv", "-o", "p.csv")
    assert "does not have 'weight'" in told
    assert told.endswith("in every row: --absent-as-gaps\n")
    assert command("predict", "model.skops", "new.csv", "-o", "p.csv", "--absent-as-gaps") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "'kind' has values unknown at fit, which are gaps: z." in told
    assert "No column 'weight': a gap in every row." in told
    assert pd.read_csv("p.csv")["share_missing"].round(2).tolist() == [0.67, 0.67, 0.67, 0.33]
    new.assign(size="big").to_csv("new.csv", index=False)
    told = complaint(capsys, "predict", "model.skops", "new.csv", "-o", "p.csv")
    assert "holds 'big' in row 0 (the first is 0)" in told
    assert told.endswith("say so: --na big\n")
    with pytest.raises(InputError, match=r"say so: gap_marks=\['big'\]"):
        load("model.skops").predict(pd.read_csv("new.csv"))


def test_predict_warns_of_gaps_that_have_changed(folder, capsys):
    command("fit", "good.csv", "-t", "class", "-o", "model.skops", "-m", "rbf")
    capsys.readouterr()
    command("predict", "model.skops", "good.csv", "-o", "same.csv")
    assert "gaps differ" not in capsys.readouterr().out
    new = pd.read_csv("good.csv")
    name = next(column for column in new if column != "class" and new[column].isna().mean() < 0.3)
    new.loc[:50, name] = np.nan
    new.to_csv("new.csv", index=False)
    command("predict", "model.skops", "new.csv", "-o", "out.csv")
    told = " ".join(capsys.readouterr().out.split())
    assert "The gaps differ from those at fit (p = 0.001)" in told
    assert f"'{name}' is missing in" in told


def test_a_regression_and_its_notes(folder, capsys):
    frame = table()
    frame["value"] = 3 * frame["weight"] + 100
    frame.loc[:4, "value"] = np.nan
    frame.assign(id=range(60), blank=None).to_csv("good.csv", index=False)
    assert command("fit", "good.csv", "-t", "value", "-o", "model.skops", "-m", "genrbf") == 0
    told = " ".join(capsys.readouterr().out.split())
    for note in ("5 rows without a value", "'id' looks like a row number", "No value at all in 'blank'", "R²"):
        assert note in told
    assert command("predict", "model.skops", "good.csv", "-o", "p.csv") == 0
    guess = pd.read_csv("p.csv")
    assert list(guess) == ["value", "share_missing"]
    assert np.corrcoef(guess["value"], frame["weight"])[0, 1] > 0.9


def test_describe_counts_the_gaps(folder, capsys):
    table().assign(day=pd.date_range("2024-01-01", periods=60)).to_csv("bad.csv", index=False)
    assert command("describe", "bad.csv") == 0
    told = capsys.readouterr().out
    frame = table()
    gaps = frame.isna()
    assert f"{gaps.to_numpy().sum()} cells missing" in told
    assert f"{(~gaps.any(axis=1)).sum()} rows complete" in " ".join(told.split())
    for pattern, count in gaps.value_counts().items():
        cells = "".join("·" if gap else "■" for gap in pattern) + "■"
        assert any(line.split()[0] == str(count) and cells in line for line in told.splitlines() if line.strip())
    assert "dates or times" in told
    assert "\x1b[" not in told  # no colours outside a terminal


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "gapkernel"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for name in ("describe", "compare", "fit", "predict", "reproduce", "bench", "warmup"):
        assert f"\n  {name} " in done.stdout


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['typer'] = None; from gapkernel.cli import main; main(['describe', 'x'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith('pip install "gapkernel[cli]"')
    assert done.stderr.count("\n") == 1


ODD = "[/x]"


@pytest.fixture
def bracketed(folder, monkeypatch):
    """A table whose columns, levels, target and file are named as rich would close a style."""
    few = Grid(C=(1.0,), gamma=(0.1,), alpha=(0.5, 0.9))  # settings to choose from: which ones does not matter here
    monkeypatch.setattr(problem, "table_grid", lambda n_columns: few)
    frame = table().assign(number=range(60), blank=None)
    frame["class"], frame["kind"] = frame["class"] + ODD, frame["kind"] + ODD
    frame.columns = [f"{name} {ODD}" for name in frame]
    Path("[").mkdir()  # the slash makes a folder of the first half of the name
    frame.to_csv(f"{ODD}.csv", index=False)
    return frame


def test_names_with_brackets_are_shown_as_they_are(bracketed, capsys):
    data, target = f"{ODD}.csv", f"class {ODD}"
    assert command("describe", data) == 0
    assert command("fit", data, "-t", target, "-o", f"{ODD}.skops", "-m", "rbf") == 0
    new = bracketed.iloc[:5].assign(**{f"kind {ODD}": f":heart: {ODD}"}).drop(columns=f"weight {ODD}")
    new.to_csv(f"{ODD}new.csv", index=False)
    assert command("predict", f"{ODD}.skops", f"{ODD}new.csv", "-o", f"{ODD}p.csv", "--absent-as-gaps") == 0
    told = " ".join(capsys.readouterr().out.split())
    for name in (f"{ODD}.csv: 60 rows", f"'number {ODD}' looks like", f"No value at all in 'blank {ODD}'"):
        assert name in told
    for name in (f"{ODD}.skops is written", f"No column 'weight {ODD}'", f"gaps: :heart: {ODD}", f"'{target}' predict"):
        assert name in told
    assert f"{ODD}p.csv is written" in told
    assert f"probability_yes{ODD}" in pd.read_csv(f"{ODD}p.csv")


def test_a_comparison_shows_names_with_brackets(bracketed):
    shown, out, pair = Console(file=StringIO(), width=200), Path(f"{ODD}.html"), ("rbf", "mean_indicator")
    for _ in range(2):  # the second run tells where its results come from
        compare(Request(Path(f"{ODD}.csv"), f"class {ODD}"), out, quick=True, methods=pair, console=shown)
    told = " ".join(shown.file.getvalue().split())
    for name in ("x].csv: 60 rows", f"'number {ODD}' looks like", f"'class {ODD}'", f"in {ODD}.sqlite", f"ures: {out}"):
        assert name in told


def test_a_progress_bar_shows_a_name_with_brackets(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")
    assert list(tracked(range(3), 3, f"study {ODD}", verbose=True)) == [0, 1, 2]
    assert ODD in capsys.readouterr().err


def test_no_word_about_the_gaps_is_cut_off_at_80_columns():
    frame = pd.DataFrame(
        {"island": ["Biscoe", "Dream", "Torgersen"] * 4, "flipper_length_mm": [181.25, 195.5, np.nan] * 4}
    )
    page = StringIO()
    show_gaps(frame, "penguins", Console(file=page, width=80))
    words = page.getvalue().split()
    assert "Torgersen" in words
    assert "it grows with the gaps" in " ".join(words)


def test_a_saved_model_takes_the_raw_frame(folder, capsys):
    assert command("fit", "good.csv", "-t", "class", "-o", "model.skops", "-m", "genrbf", "--na", "gone") == 0
    assert command("predict", "model.skops", "good.csv", "-o", "p.csv") == 0
    model, raw, told = load("model.skops"), pd.read_csv("good.csv"), pd.read_csv("p.csv")
    np.testing.assert_array_equal(model.predict(raw), told["class"])
    np.testing.assert_allclose(model.predict_proba(raw), told[["probability_no", "probability_yes"]])
    mixed = raw[["class", "kind", "weight", "size"]].assign(note="x", size=raw["size"].astype(object))  # other order
    mixed.loc[raw["size"].isna(), "size"] = "gone"
    np.testing.assert_array_equal(model.predict(mixed), told["class"])
    with pytest.raises(InputError, match=r"does not have 'size'.* absent_as_gaps=True"):
        model.predict(raw.drop(columns="size"))
    gaps = model.set_params(absent_as_gaps=True).predict_proba(raw.drop(columns="size"))
    np.testing.assert_allclose(gaps, model.predict_proba(raw.assign(size=np.nan)))
    assert not hasattr(model, "predict_interval")


@pytest.mark.parametrize("form", ["frame", "array", "pipeline"])
def test_a_model_saved_from_python_predicts_on_the_command_line(form, folder):
    raw = pd.read_csv("good.csv")
    X = raw[["size", "weight"]] if form != "frame" else raw[["size", "weight", "kind"]]
    X = X.to_numpy() if form == "array" else X
    model = SVC() if form != "pipeline" else make_pipeline(StandardScaler(), SVC())
    save(model.fit(X, raw["class"]), "model.skops")
    new = raw if form != "array" else raw[["size", "weight"]]
    new.to_csv("new.csv", index=False)
    assert command("predict", "model.skops", "new.csv", "-o", "p.csv") == 0
    np.testing.assert_array_equal(pd.read_csv("p.csv")["prediction"], model.predict(X))


def test_intervals_and_ids_travel_with_the_predictions(folder, capsys):
    frame = table().assign(value=3 * table()["weight"], id=[f"P{k}" for k in range(60)])
    model = GapRegressor(members=["genrbf"], random_state=0).fit(frame[["size", "weight"]], frame["value"])
    save(model, "model.skops")
    frame.to_csv("new.csv", index=False)
    for coverage in (0.5, 0.95):
        options = ("--coverage", coverage, "--id", "id")
        assert command("predict", "model.skops", "new.csv", "-o", f"{coverage}.csv", *options) == 0
    half, most = pd.read_csv("0.5.csv"), pd.read_csv("0.95.csv")
    assert list(half) == ["id", "prediction", "prediction_low", "prediction_high", "share_missing"]
    assert half["id"].tolist() == frame["id"].tolist()
    assert (half["prediction_high"] < most["prediction_high"]).all()
    inside = most["prediction_low"].le(frame["value"]) & most["prediction_high"].ge(frame["value"])
    assert inside.mean() > 0.9
    predict = ("predict", "model.skops", "new.csv", "-o", "p.csv")
    assert "'code'" in complaint(capsys, *predict, "--id", "code")
    assert "--coverage is a probability" in complaint(capsys, *predict, "--coverage", "2")


def test_the_version_is_that_of_the_package(capsys):
    assert command("--version") == 0
    assert capsys.readouterr().out == f"gapkernel {gapkernel.__version__}\n"
