"""What the command line refuses, in one line that says what to do."""

from pathlib import Path

import pandas as pd
import pytest
from cli.commands import command, complaint, table
from sklearn.dummy import DummyClassifier
from sklearn.preprocessing import StandardScaler

from gapkernel import TableModel
from gapkernel.cli.output import in_options, words_of
from gapkernel.cli.predict import answers
from gapkernel.datasets import read_xy
from gapkernel.persistence import save
from gapkernel.tables.input_errors import InputError, Setting


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
    assert "commands.complaint" in complaint(capsys, "predict", "model.skops", "good.csv", "-o", "p.csv")
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
