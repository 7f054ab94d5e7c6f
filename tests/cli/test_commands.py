"""The command line: what it reads, what it refuses in one line, and that a saved model predicts."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapkernel
from gapkernel import SVC, GapRegressor, KernelRidge, TableModel
from gapkernel.cli import main, problem
from gapkernel.cli.compare import compare
from gapkernel.cli.describe import show_gaps
from gapkernel.cli.options import in_options, words_of
from gapkernel.cli.predict import answers, read_model
from gapkernel.cli.problem import Request
from gapkernel.compute.runtime.progress import tracked
from gapkernel.datasets import read_xy
from gapkernel.estimators.gap.base import MEMBERS
from gapkernel.experiments import Grid
from gapkernel.persistence import load, save
from gapkernel.tables.files import Reading, read_frame, read_raw
from gapkernel.tables.input_errors import InputError, Setting


def table(n=60, seed=0):
    """Numbers and a category that say something about a class, and gaps."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": random.normal(size=n).round(3), "weight": random.normal(size=n).round(3)})
    frame["kind"] = random.choice(["a", "b"], n)
    frame["class"] = np.where(frame["size"] + 0.5 * (frame["kind"] == "a") > 0, "yes", "no")
    frame.loc[::7, "size"] = np.nan
    frame.loc[3::9, "kind"] = None
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with a good table in it."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("good.csv", index=False)
    return tmp_path


def command(*arguments):
    """Run the command and give its exit status."""
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return left.value.code or 0


def complaint(capsys, *arguments):
    """The one line that a failed command leaves."""
    capsys.readouterr()  # what came before, such as the note that loops are compiled
    assert command(*arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("gapkernel: ")
    assert told.count("\n") == 1, told
    return told


def refusal(*arguments, **settings):
    """What `read_xy` says of a file, or nothing."""
    try:
        read_xy(*arguments, **settings)
    except InputError as error:
        return str(error)


def with_column(**columns):
    """The good table with a bad column."""
    table().assign(**columns).to_csv("bad.csv", index=False)


def put(content, name="bad.csv"):
    Path(name).write_bytes(content)


DATES = pd.date_range("2024-01-01", periods=60)
TEXTS = [f"a remark about row {k}" for k in range(60)]
BAD_TABLES = {
    "missing file": (lambda: None, "There is no file bad.csv"),
    "folder": (lambda: Path("bad.csv").mkdir(), "is a folder"),
    "empty file": (lambda: put(b""), "bad.csv is empty"),
    "blank file": (lambda: put(b"\n\n"), "bad.csv is empty"),
    "header only": (lambda: put(b"a,class\n"), "header line but no rows"),
    "ragged": (lambda: put(b"a,class\n1,x\n1,2,3\n"), "is not a table"),
    "separator at line ends": (lambda: put(b"a,class\n1,x,\n2,y,\n"), "more cells than its header names"),
    "latin1": (lambda: put(b"a,class\n1,caf\xe9\n"), "not UTF-8 text (byte 0xe9"),
    "binary": (lambda: put(bytes(range(256)) * 9), "not UTF-8"),
    "repeated name": (lambda: put(b"a,a ,class\n1,2,x\n"), "more than one column named 'a'"),
    "dates": (lambda: with_column(day=DATES), "'day' holds dates or times such as '2024-01-01'"),
    "dates of another land": (lambda: with_column(day=DATES.strftime("%d.%m.%Y")), "'day' holds dates"),
    "free text": (lambda: with_column(remark=TEXTS), "'remark' holds free text"),
    "dates and text": (lambda: with_column(day=DATES, remark=TEXTS), "--drop day --drop remark"),
    "numbers and text": (lambda: with_column(age=[*range(59), "unknown"]), "--na unknown"),
    "infinity": (lambda: with_column(age=[*range(59), "inf"]), "'age' holds infinity"),
    "constant target": (lambda: with_column(**{"class": "yes"}), "has one value only"),
    "empty target": (lambda: with_column(**{"class": None}), "no value in any row"),
    "sixty classes": (lambda: with_column(**{"class": [f"c{k}" for k in range(60)]}), "60 classes"),
    "a rare class": (lambda: with_column(**{"class": ["a"] * 58 + ["b"] * 2}), "class 'b' of 'class' has 2 rows"),
    "nothing to learn from": (lambda: table()[["class"]].to_csv("bad.csv", index=False), "no column to predict"),
    "not parquet": (lambda: put(b"no", "bad.parquet"), "not a Parquet file"),
}


@pytest.mark.parametrize(("make", "told"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_one_line(make, told, folder, capsys):
    make()
    name = "bad.parquet" if (folder / "bad.parquet").exists() else "bad.csv"
    for arguments in (("compare", name, "-t", "class"), ("fit", name, "-t", "class", "-o", "model.skops")):
        assert told in complaint(capsys, *arguments)
    assert not (folder / "model.skops").exists()
    with pytest.raises(InputError) as error:
        read_xy(name, "class")
    assert "--" not in str(error.value)  # Python has parameters where the command line has options
    for setting in (part for part in error.value.args if isinstance(part, Setting)):
        assert str(setting) in str(error.value)
        assert " ".join(words_of(*setting)) in in_options(error.value)
        assert command("fit", *words_of(*setting), "--help") == 0
        assert refusal(name, "class", **{setting.name: setting.value}) != str(error.value)  # it helps


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("compare", "good.csv"), "--target COL"),
        (("compare", "--target", "class"), "there is no table"),
        (("compare", "good.csv", "-t", "clas"), "Did you mean 'class'?"),
        (("compare", "good.csv", "-t", "colour"), "Its columns: size, weight, kind, class"),
        (("compare", "good.csv", "-t", "class", "--rows", "3"), "--rows must be at least 50"),
        (("compare", "good.csv", "-t", "class", "--out", "no/page.html"), "There is no folder no"),
        (("fit", "good.csv", "-t", "class", "-o", "no/model.skops"), "There is no folder no"),
        (("fit", "good.csv", "-t", "class", "-o", "m.skops", "-m", "forest"), "--method must be one of"),
        (("fit", "good.csv", "-t", "class", "-o", "m.skops", "--task", "sorting"), "--task must be one of"),
        (("fit", "good.csv", "-t", "class", "-o", "m.skops", "--task", "regression"), "cannot be a regression"),
        (("fit", "good.csv", "-t", "class", "-o", "m.skops", "--drop", "siz"), "Did you mean 'size'?"),
        (("fit", "good.csv", "-t", "class"), "Missing option"),
        (("predict", "nothing.skops", "good.csv", "-o", "p.csv"), "There is no file nothing.skops"),
        (("predict", "good.csv", "good.csv", "-o", "p.csv"), "not a file of a saved model"),
        (("describe", "nothing.csv"), "There is no file nothing.csv"),
        (("reproduce", "nothing"), "There is no paper"),
        (("bench", "nothing"), "There is no benchmark"),
        (("forecast",), "No such command"),
    ],
    ids=str,
)
def test_a_bad_request_is_one_line(arguments, told, folder, capsys):
    assert told in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fit", "good.csv", "-t", "class", "-o", "good.csv"), "would destroy good.csv"),
        (("fit", "good.csv", "-t", "class", "-o", "link.csv"), "would destroy good.csv"),
        (("fit", "good.csv", "-t", "class", "-o", "."), ". is a folder"),
        (("predict", "model.skops", "good.csv", "-o", "./good.csv"), "would destroy good.csv"),
        (("predict", "model.skops", "good.csv", "-o", "model.skops"), "would destroy model.skops"),
        (("predict", "model.skops", "good.csv", "-o", "part"), "part is a folder"),
        (("compare", "good.csv", "-t", "class", "-o", "good.csv"), "would destroy good.csv"),
        (("compare", "good.csv", "-t", "class", "-o", "page.sqlite"), "would destroy page.sqlite"),
        (("compare", "good.sqlite", "-t", "class", "-o", "good.html"), "would destroy good.sqlite"),
        (("compare", "good.csv", "-t", "class", "-o", "part"), "part is a folder"),
    ],
    ids=str,
)
def test_no_command_writes_over_what_it_reads(arguments, told, folder, capsys):
    content = (folder / "good.csv").read_bytes()
    for name in ("good.sqlite", "model.skops"):
        (folder / name).write_bytes(content)
    (folder / "link.csv").symlink_to("good.csv")
    (folder / "part").mkdir()
    before = set(folder.iterdir())
    assert told in complaint(capsys, *arguments)
    assert set(folder.iterdir()) == before
    assert all(path.read_bytes() == content for path in before if path.is_file())


def test_a_data_folder_that_is_none_leaves_nothing_behind(folder, capsys):
    told = complaint(capsys, "reproduce", "genrbf", "--data-dir", "nowhere", "--out", "here")
    assert "'nowhere', which does not exist" in told
    assert not (folder / "here").exists()


def test_a_model_with_other_types_in_it_is_refused_by_name(folder, capsys):
    import skops.io

    skops.io.dump({"format": 1, "model": complaint}, "model.skops")
    assert "test_commands.complaint" in complaint(capsys, "predict", "model.skops", "good.csv", "-o", "p.csv")
    assert not (folder / "p.csv").exists()


@pytest.mark.parametrize("saved", [{"model": 1}, [1], StandardScaler()], ids=["dict", "list", "transformer"])
def test_a_file_without_a_model_is_one_line(saved, folder, capsys):
    save(saved, "model.skops")
    told = complaint(capsys, "predict", "model.skops", "good.csv", "-o", "p.csv")
    assert "holds no model that predicts" in told
    assert not (folder / "p.csv").exists()


@pytest.mark.parametrize("name", ["share_missing", "probability_yes"])
def test_a_target_may_not_be_called_as_another_column_of_the_answers(name, folder, capsys):
    table().rename(columns={"class": name}).to_csv("good.csv", index=False)
    assert f"a column '{name}' of its own" in complaint(capsys, "fit", "good.csv", "-t", name, "-o", "model.skops")
    X = table()[["size"]]
    model = TableModel(DummyClassifier(), name).fit(X, table()["class"])
    with pytest.raises(InputError, match="of its own"):
        answers(model, X)


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


@pytest.mark.parametrize("method", ["gap", "genrbf", "ehk"])
def test_fit_and_predict(method, folder, capsys):
    named = () if method == "gap" else ("-m", method)  # it is the default
    assert command("fit", "good.csv", "-t", "class", "-o", "model.skops", *named) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert ("Members, by their out-of-fold score" in told) == ("process, shrunk" in told) == (method == "gap")
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


@pytest.mark.parametrize("method", ["gap", "rbf"])
def test_explain_says_what_pushed_what_is_missing_and_what_is_worth_measuring(method, folder, capsys, monkeypatch):
    monkeypatch.setattr("gapkernel.estimators.gap.base.MEMBERS", {"rbf": MEMBERS["rbf"]})
    monkeypatch.setattr("gapkernel.GapClassifier._trees", {})
    command("fit", "good.csv", "-t", "class", "-o", "model.skops", "-m", method)
    frame, saved = read_frame("good.csv")[0].drop(columns="class"), read_model(folder / "model.skops")
    capsys.readouterr()
    assert command("explain", "model.skops", "good.csv", "--row", 7, "--cost", "size=2") == 0
    told = " ".join(capsys.readouterr().out.split())
    chances = saved.predict_proba(frame.iloc[[7]])[0]
    label = saved.classes_[chances.argmax()]
    assert f"'class' is predicted to be {label} with probability {chances.max():.2f}" in told
    assert "weight = " in told
    assert "kind = " in told
    assert "size = " not in told  # it is missing
    assert "entropy" in told
    assert "cost" in told
    assert ("tips at" in told) == (method == "gap")
    for arguments, wrong in (
        (("--row", 60), "--row must be a number from 0 to 59"),
        (("--cost", "height=2"), "got 'height=2'"),
        (("--cost", "size=none"), "positive number after 'size='"),
    ):
        assert wrong in complaint(capsys, "explain", "model.skops", "good.csv", *arguments)


def test_explain_asks_for_a_classifier_with_probabilities(folder, capsys):
    frame = table()
    save(SVC().fit(frame[["size", "weight"]], frame["class"]), "model.skops")
    assert "needs the probabilities of classes" in complaint(capsys, "explain", "model.skops", "good.csv")


@pytest.mark.filterwarnings("error")
def test_explain_gives_a_model_of_an_array_an_array(folder, capsys):
    frame = table()[["size", "weight"]]
    save(KernelRidge().fit(frame.to_numpy(), frame["weight"]), "model.skops")
    frame.to_csv("new.csv", index=False)
    assert command("explain", "model.skops", "new.csv", "--row", 7) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "prediction' is predicted to be" in told
    assert "interval" not in told  # it was fitted without
    assert "What is missing cell" in told
    assert command("predict", "model.skops", "new.csv", "-o", "p.csv") == 0
    assert list(pd.read_csv("p.csv")) == ["prediction", "share_missing"]
    refused = complaint(capsys, "predict", "model.skops", "new.csv", "-o", "p.csv", "--coverage", 0.8)
    assert "no intervals for --coverage: --method gap fits one that has" in refused


def test_explain_shows_the_interval_of_a_number(folder, capsys, monkeypatch):
    monkeypatch.setattr("gapkernel.estimators.gap.base.MEMBERS", {"rbf": MEMBERS["rbf"]})
    monkeypatch.setattr("gapkernel.GapRegressor._trees", {})
    command("fit", "good.csv", "-t", "weight", "-o", "model.skops", "--drop", "class")
    capsys.readouterr()
    assert command("explain", "model.skops", "good.csv", "--row", 1) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "with 90 % probability between" in told
    assert "Nothing is missing in the row." in told


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
    with_column(day=DATES)
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
