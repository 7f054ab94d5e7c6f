"""Loading: types, checks, and what is said when the data are not to be had."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from gapkernel import datasets
from gapkernel.datasets.download import DOWNLOADS
from gapkernel.datasets.loading import OPENML
from gapkernel.datasets.source_tracking import MARKER_CHANCES, SOURCE_COUNTS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in the form that `load` reads, with one small data set."""
    monkeypatch.delenv("GAPKERNEL_DATA", raising=False)
    text = "age,colour,target\n20,1,yes\n,2,no\n30,,yes\n40,1,\n"
    (tmp_path / "toy.csv").write_text(text)
    entry = {
        "file": "toy.csv",
        "target": "target",
        "categorical": ["colour"],
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    (tmp_path / "index.json").write_text(json.dumps({"toy": entry}))
    return tmp_path


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("GAPKERNEL_DATA", raising=False)


def test_columns_have_their_types_and_rows_without_target_are_left_out(folder):
    X, y = datasets.load("toy", folder)
    assert X["age"].dtype == np.float64
    assert X["colour"].dtype == "category"
    assert X["colour"].tolist()[:2] == ["1", "2"]
    assert X.isna().to_numpy().sum() == 2
    assert y.tolist() == ["yes", "no", "yes"]


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("GAPKERNEL_DATA", str(folder))
    assert len(datasets.load("toy").y) == 3
    assert "toy" in datasets.available()


def test_a_changed_file_is_refused(folder):
    with open(folder / "toy.csv", "a") as file:
        file.write("50,1,no\n")
    with pytest.raises(ValueError, match="SHA-256 differs"):
        datasets.load("toy", folder)


@pytest.mark.parametrize(
    ("name", "data_dir", "error", "words"),
    [
        ("toy", "nowhere", FileNotFoundError, "data_dir names the folder 'nowhere', which does not exist"),
        ("iris", None, ValueError, "There is no data set 'iris'. Known are australian"),
    ],
)
def test_what_is_not_there_is_said_plainly(no_folder, name, data_dir, error, words):
    with pytest.raises(error, match=words):
        datasets.load(name, data_dir)


def test_a_folder_without_an_index_is_refused(no_folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no index\.json"):
        datasets.load("toy", tmp_path)


def test_without_a_connection_the_message_says_what_to_do(no_folder, monkeypatch):
    def offline(**options):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(ConnectionError, match=r"'pima' could not be fetched from OpenML \(id 37\).*GAPKERNEL_DATA"):
        datasets.load("pima")


def openml_answer(name, rows, extra=()):
    source = OPENML[name]
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((rows, source.shape[1])), columns=[f"c{k}" for k in range(source.shape[1])])
    X["c0"] = pd.Categorical(random.choice(["u", "v"], rows))
    target = np.repeat(["a", "b"], source.class_counts)[:rows]
    return SimpleNamespace(data=X.assign(**dict.fromkeys(extra, 1.0)), target=pd.Series(pd.Categorical(target)))


def test_openml_gives_typed_frames(no_folder, monkeypatch):
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return openml_answer("climate_crashes", 540, extra=("Study", "Run"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    X, y = datasets.load("climate_crashes")
    assert asked == [40994]
    assert X.shape == (540, 18)
    assert X["c0"].dtype == "category"
    assert X["c1"].dtype == np.float64
    assert sorted(np.unique(y, return_counts=True)[1].tolist()) == [46, 494]


def test_another_data_set_from_openml_is_refused(no_folder, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: openml_answer("pima", 700))
    with pytest.raises(ValueError, match="is not the 'pima' of the papers"):
        datasets.load("pima")


def test_the_real_data_sets_are_those_of_the_papers(data_folder: Path):
    index = json.loads((data_folder / "index.json").read_text())
    assert set(datasets.available(data_folder)) == set(index) | set(OPENML) | set(DOWNLOADS)
    for name in ("heart_statlog", "horse_colic_24", "servo", "water_treatment"):
        X, y = datasets.load(name, data_folder)
        entry = index[name]
        assert X.shape == (entry["n"] - entry["target_missing"], entry["d"])
        assert [c for c in X if X[c].dtype == "category"] == [c for c in X if c in entry["categorical"]]
        if name != "water_treatment":
            assert int(X.isna().to_numpy().sum()) == entry["missing_cells"]
        if entry["task"] == "classification":
            assert (
                dict(zip(*map(np.ndarray.tolist, np.unique(y.astype(str), return_counts=True)), strict=True))
                == (entry["class_counts"])
            )
    for name, source in OPENML.items():
        assert source.shape == (index[name]["n"], index[name]["d"])
        assert source.id == (index[name]["openml_id"] or 171)  # the folder does not know that of primary_tumor
        assert source.class_counts == tuple(sorted(index[name]["class_counts"].values()))


def test_source_tracking_has_the_shape_of_the_paper():
    X, y = datasets.make_source_tracking(random_state=1)
    assert X.shape == (138, 9)
    assert int(X.isna().to_numpy().sum()) == 212
    assert np.unique(y, return_counts=True)[1].tolist() == [25, 50, 33, 30]
    assert set(np.unique(X.to_numpy()[~X.isna().to_numpy()])) == {0.0, 1.0}
    assert MARKER_CHANCES.shape == (9, 4)
    assert sum(SOURCE_COUNTS) == 138
