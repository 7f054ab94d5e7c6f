"""Explaining a prediction on the command line."""

import pandas as pd
import pytest
from cli.commands import command, complaint, table

from gapkernel import SVC, KernelRidge
from gapkernel.cli.predict import read_model
from gapkernel.estimators.gap.members import KERNELS
from gapkernel.persistence import save
from gapkernel.tables.files import read_frame


@pytest.mark.parametrize("method", ["gap", "rbf"])
def test_explain_says_what_pushed_what_is_missing_and_what_is_worth_measuring(method, folder, capsys, monkeypatch):
    monkeypatch.setattr("gapkernel.estimators.gap.base.KERNELS", {"rbf": KERNELS["rbf"]})
    monkeypatch.setattr("gapkernel.estimators.gap.base.TREES", {})
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
    monkeypatch.setattr("gapkernel.estimators.gap.base.KERNELS", {"rbf": KERNELS["rbf"]})
    monkeypatch.setattr("gapkernel.estimators.gap.base.TREES", {})
    command("fit", "good.csv", "-t", "weight", "-o", "model.skops", "--drop", "class")
    capsys.readouterr()
    assert command("explain", "model.skops", "good.csv", "--row", 1) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "with 90 % probability between" in told
    assert "Nothing is missing in the row." in told
