"""``gapkernel compare``: the same folds for everyone, honest intervals, and a page that needs nothing but itself."""

import html
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from gapkernel.cli import problem as problems
from gapkernel.cli.compare import FULL, compare, compare_study, final_choice
from gapkernel.cli.page import code, page
from gapkernel.cli.penguins import penguins
from gapkernel.cli.problem import at_most, problem_of
from gapkernel.cli.verdict import Verdict, difference, margin
from gapkernel.estimators.gap.member_list import MemberRow, Members
from gapkernel.experiments import METHODS, Grid, paired_test
from gapkernel.experiments.methods import COMPARED, FITTED
from gapkernel.tables.input_errors import InputError

PAIR = ("genrbf", "mean_indicator")
SHOWN = tuple(dict.fromkeys((*COMPARED, *FITTED)))
NASTY = '<b>&"x"'


def frame(n=70):
    """A small table with gaps: numbers, a category, a class and a number to predict."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", NASTY])
    table["kind"] = pd.Categorical(random.choice(["u", "v"], n))
    score = table["a"] + (table["kind"] == "u") + 0.3 * random.normal(size=n)
    table["value"], table["class"] = score, pd.Categorical(np.where(score > 0.4, "high", "low"))
    table["third"] = pd.Categorical(np.select([score < 0, score > 0.8], ["x", "z"], "y"))
    table.loc[::6, "a"] = np.nan
    return table


def problem(target):
    return problem_of(frame()[["a", "b", NASTY, "kind", target]], target, name="table.csv")


@pytest.fixture(scope="module", autouse=True)
def small_grid():
    """Few settings to choose from: which ones does not matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problems, "table_grid", lambda n_columns: Grid(C=(1.0, 10.0), gamma=(0.3 / n_columns,)))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def pages(folder):
    """A comparison and its page for each kind of target."""
    made = {}
    for target in ("class", "third", "value"):
        table = frame()[["a", "b", NASTY, "kind", target]]
        table.to_csv(folder / f"{target}.csv", index=False)
        quiet = Console(file=(folder / f"{target}.txt").open("w", encoding="utf-8"), width=100)
        out = folder / f"{target}.html"
        made[target] = (
            compare(folder / f"{target}.csv", target, out, quick=True, n_jobs=1, methods=PAIR, console=quiet),
            out.read_text(encoding="utf-8"),
        )
        quiet.file.close()
    return made


def verdict_of(**scores):
    """A verdict on ten folds in which each method scores around a number, with noise of its own."""
    random = np.random.default_rng(0)
    lines = [
        {"method": name, "fraction": 0.0, "repeat": 0, "fold": fold, "score": mean + 0.01 * random.standard_normal()}
        for name, mean in scores.items()
        for fold in range(10)
    ]
    seconds = {"log_loss": 0.5, "tune_seconds": 0.0, "fit_seconds": 0.0}
    return Verdict(problem("class"), pd.DataFrame(lines).assign(**seconds))


def test_the_estimator_that_chooses_is_measured_against_the_simplest_as_good():
    tied = verdict_of(gap=0.9, genrbf=0.9, mean_indicator=0.7)
    assert "The simplest method that cannot be told from the Gap estimator here is genRBF SVM" in tied.worth
    ahead = verdict_of(gap=0.9, genrbf=0.7, mean_indicator=0.7)
    assert "better than every simpler method" in ahead.worth
    assert verdict_of(genrbf=0.9, mean_indicator=0.7).worth == ""


def test_the_page_shows_the_members(pages):
    rows = Members([MemberRow("process <1>", {}, -0.41, 0.75, 1.2), MemberRow("trees", {}, -0.6, 0.0, 0.3)])
    verdict, _ = pages["class"]
    shown = page(verdict, final_choice(verdict), members=rows)
    assert "What the Gap estimator is made of" in shown
    assert "process &lt;1&gt;</td><td>75%</td>" in shown
    assert "What the Gap estimator is made of" not in page(verdict, final_choice(verdict))


def test_every_method_sees_the_same_folds_and_gaps():
    study = compare_study(problem("class"), **FULL)
    seeds = {}
    for task in study.tasks:
        key = (task.fraction, task.draw, task.repeat, task.fold)
        seeds.setdefault(key, set()).add((task.split_seed, task.data_seed))
    assert all(len(found) == 1 for found in seeds.values())
    assert {task.method for task in study.tasks} >= {"genrbf", "rbf", "ehk", "mean_indicator", "iterative", "boosting"}


@pytest.mark.parametrize(
    ("method", "target"), [*((name, "class") for name in SHOWN), ("genrbf", "value"), ("boosting", "value")]
)
def test_each_method_learns(method, target):
    study = compare_study(problem(target), (method,))
    told = study.run_task(study.tasks[0])
    assert told["score"] > (0.6 if target == "class" else 0.3)
    assert len(told["answers"]) == len(told["rows"]) == 14


@pytest.mark.parametrize("method", ["genrbf", "iterative"])
def test_a_task_repeats_itself(method):
    study = compare_study(problem("class"), (method,), **FULL)
    first, again = (study.run_task(study.tasks[-1]) for _ in range(2))
    assert study.tasks[-1].fraction == 0.6
    assert {k: v for k, v in first.items() if "seconds" not in k} == {
        k: v for k, v in again.items() if "seconds" not in k
    }


@pytest.mark.parametrize("target", ["class", "value"])
def test_odd_columns_stop_no_method(target):
    random = np.random.default_rng(0)
    odd = frame(40)[["a", target]].assign(constant=1.0, big=1e12 * random.normal(size=40), tiny=1e-12)
    odd["once"], odd["rare"] = [np.nan] * 39 + [3.0], pd.Categorical(["u"] * 39 + ["v"])
    odd["label"], odd["same"] = pd.Categorical([None] * 39 + ["w"]), pd.Categorical(["k"] * 40)
    odd.loc[5, odd.columns != target] = np.nan
    study = compare_study(problem_of(odd, target, name="odd"), fractions=(0.6,))
    for task in study.tasks:
        if (task.fraction, task.draw, task.fold) == (0.6, 0, 4):
            assert np.isfinite(study.run_task(task)["score"])


def test_another_table_has_other_results():
    table = problem("class")
    names = {
        compare_study(one).name
        for one in (table, problem("value"), table.take(np.arange(60), ""), replace(table, y=table.y[::-1]))
    }
    assert len(names) == 4
    assert compare_study(problem("class")).name == compare_study(table).name


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_that_of_the_corrected_test(seed):
    random = np.random.default_rng(seed)
    first, second = pd.Series(random.normal(0.4, 0.5, 10)), pd.Series(random.normal(0, 0.5, 10))
    found = difference(first, second)
    p = paired_test(first, second, test_share=0.2).corrected_t_pvalue
    assert found.is_noise == (p > 0.05)
    standard_error = found.margin / stats.t.ppf(0.975, 9)
    assert 2 * stats.t.sf(abs(found.mean) / standard_error, 9) == pytest.approx(p)


def test_margins_are_wider_than_those_of_independent_splits():
    values = pd.Series([0.8, 0.9, 0.85, 0.7, 0.95])
    assert margin(values) > stats.t.ppf(0.975, 4) * values.std() / np.sqrt(5)


def results(scores):
    """Results of a made-up study: for each method its scores by fold."""
    return pd.DataFrame(
        [
            {"method": name, "fraction": 0.0, "repeat": 0, "fold": fold, "score": score, "log_loss": 1 - score}
            | {"tune_seconds": 1.0, "fit_seconds": 0.1}
            for name, values in scores.items()
            for fold, score in enumerate(values)
        ]
    )


def test_a_lead_is_called_noise_when_it_is():
    clear = Verdict(
        problem("class"), results({"rbf": [0.9, 0.91, 0.92, 0.9, 0.93], "mean_indicator": [0.7, 0.7, 0.71, 0.69, 0.72]})
    )
    assert clear.winner == "rbf"
    assert "more than noise explains" in clear.summary
    assert clear.headline == "expected RBF SVM predicts “class” best"
    assert clear.to_beat.startswith("To beat it beyond doubt, a method has to reach 9")
    close = Verdict(
        problem("class"), results({"rbf": [0.9, 0.8, 0.95, 0.7, 0.9], "mean_indicator": [0.8, 0.9, 0.8, 0.9, 0.82]})
    )
    assert "within noise" in close.summary
    assert close.headline.endswith("but mean + indicator SVM cannot be told from it")
    assert close.to_beat.startswith("No method can beat it beyond doubt")
    hidden = results({name: [0.5 + 0.1 * (name == "ehk")] * 5 for name in ("rbf", "mean_indicator", "ehk")}).assign(
        fraction=0.4
    )
    all_tied = pd.concat([results({"rbf": [0.9, 0.8], "mean_indicator": [0.8, 0.9], "ehk": [0.85, 0.86]}), hidden])
    headline = Verdict(problem("class"), all_tied).headline
    assert headline == "Three methods predict “class” equally well; EHK SVM holds up best as cells go missing"
    twins = {"mean_indicator": [0.8, 0.7, 0.75], "rbf": [0.8, 0.7, 0.75], "ehk": [0.6, 0.7, 0.65]}
    told = Verdict(problem("class"), results(twins))
    assert told.lead.margin == 0 < told.least_lead  # twins say nothing about what can be seen
    tie = Verdict(problem("class"), results({"mean_indicator": [0.8] * 5, "rbf": [0.8] * 5}))
    assert tie.lead == (0.0, 0.0)
    assert "within noise" in tie.summary


def test_promises_are_counted_right(pages):
    comparison = pages["class"][0]
    found = comparison.reliability("genrbf")
    chances, truth = comparison.answers("genrbf")
    assert found.counts.sum() == len(truth) == 70
    assert found.happened @ found.counts == pytest.approx((truth == 1).sum())
    assert found.promised @ found.counts == pytest.approx(chances[:, 1].sum())
    assert ((found.low <= found.happened) & (found.happened <= found.high)).all()
    assert found.what == "probability of low"


def test_a_second_run_measures_nothing_again(pages, folder, capsys):
    comparison = pages["class"][0]
    again = compare(folder / "class.csv", "class", folder / "class.html", quick=True, n_jobs=1, methods=PAIR)
    pd.testing.assert_frame_equal(again.results, comparison.results)  # also the seconds: nothing was run
    assert "20 results were in" in capsys.readouterr().out


def test_a_large_table_is_sampled_with_its_classes():
    table = problem("class")
    sample = at_most(table, 50)
    assert len(sample.y) == 50
    assert abs(np.mean(sample.y == "high") - np.mean(table.y == "high")) < 0.02
    assert "50 of 70 rows are used" in sample.notes[-1]
    assert at_most(table, 70) is table
    with pytest.raises(InputError, match="at least 50"):
        at_most(table, 10)


@pytest.mark.parametrize("rows", [50, 51, 63, 69])
def test_a_sample_keeps_every_class(rows):
    labels = ["often"] * 48 + ["seldom"] * 17 + ["rare"] * 5
    table = problem_of(frame().assign(label=pd.Categorical(labels)), "label", name="table.csv")
    sample, again = at_most(table, rows), at_most(table, rows)
    pd.testing.assert_frame_equal(sample.X, again.X)
    counts = pd.Series(sample.y).value_counts()
    assert counts.sum() == rows
    assert counts["rare"] == 5
    assert abs(counts["often"] - (rows - 5) * 48 / 65) <= 1.5
    assert len(at_most(problem("value"), rows).y) == rows


def test_more_classes_than_rows_can_hold_is_a_complaint():
    labels = np.repeat([f"class {k}" for k in range(12)], 6)[:70]
    table = problem_of(frame(70).assign(label=pd.Categorical(labels)).iloc[:66], "label", name="table.csv")
    with pytest.raises(InputError, match=r"11 classes .* --rows must be at least 55"):
        at_most(table, 50)


def test_the_embedded_table_has_gaps_that_matter():
    table = penguins()
    assert table.X.shape == (333, 8)
    assert 0.35 < table.X.isna().to_numpy().mean() < 0.45
    assert any("hidden at random" in note for note in table.notes)
    assert sorted(set(table.y)) == ["female", "male"]


@pytest.mark.parametrize("target", ["class", "value"])
@pytest.mark.parametrize("method", [name for name in SHOWN if name != "xgboost"])
def test_the_code_on_the_page_runs(method, target):
    table = problem(target)
    score = {"class": "log_loss", "value": "rmse"}[target]
    made_up = results({method: [0.9] * 5, "rbf" if method != "rbf" else "mean_indicator": [0.1] * 5})
    comparison = Verdict(table, made_up.rename(columns={"log_loss": score}))
    choice = final_choice(comparison)
    names = {"X": table.X, "y": table.y, "X_new": table.X.iloc[:3]}
    lines = code(comparison, choice)
    exec(lines, names)
    expected = table.build(METHODS[method], choice).fit(table.X, table.y).predict(table.X)
    np.testing.assert_array_equal(names["model"].predict(table.X), expected)


class Tags(HTMLParser):
    """Checks that tags are closed, and collects what an element may ask the network for."""

    def __init__(self):
        super().__init__()
        self.open, self.asked, self.scripts = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.asked += [
            value for name, value in attrs if name in ("src", "href", "srcset", "xlink:href", "data", "action")
        ]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("target", ["class", "third", "value"])
def test_the_page_is_whole_and_asks_for_nothing(pages, target):
    comparison, text = pages[target]
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    outside = [value for value in tags.asked if not value.startswith("#")]  # marks are drawn once and referred to
    assert outside == ["data:,"]  # an empty icon, so that browsers do not ask for one
    assert tags.scripts == 0
    assert not re.search(r"https?:|url\(|@import|\bnan\b", text)
    assert NASTY not in text
    assert NASTY in html.unescape(text)
    for said in (comparison.summary, comparison.to_beat, comparison.robustness, *comparison.problem.notes):
        assert html.escape(said) in text
    for method in PAIR:
        assert text.count(html.escape(METHODS[method].label)) >= 3
        assert comparison.show(comparison.scores.loc[method, "mean"]) in text
    assert len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]+"', text)) == text.count("<svg") == 4


LOOK = """<script>
const told = parent.document.documentElement.dataset;
told.wide = document.documentElement.scrollWidth;
told.requests = performance.getEntriesByType("resource").length;
told.outside = [...document.querySelectorAll("svg text")].filter(text => {
  const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
  return box.left < frame.left - 1 || box.right > frame.right + 1; }).map(text => text.textContent).join("|");
</script></body>"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("target", ["class", "value"])
def test_a_browser_shows_the_page_without_complaint(pages, target, width, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed, so no browser has looked at the page")
    inside = html.escape(pages[target][1].replace("</body>", LOOK))
    frame = tmp_path / "frame.html"  # a window is at least 500 wide, a frame may be as narrow as a phone
    frame.write_text(
        f'<html><head></head><iframe srcdoc="{inside}" width="{width}" height="900" style="border:0"></html>'
    )
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,1000"]
    options += ["--disable-background-networking", "--disable-component-update"]
    options += ["--enable-logging=stderr", "--log-level=0", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [chromium, *options, "--dump-dom", frame.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = dict(re.findall(r'data-(\w+)="([^"]*)"', done.stdout[: done.stdout.index("<head>")]))
    assert told["requests"] == "0"
    assert "CONSOLE" not in done.stderr
    assert int(told["wide"]) <= width, "the page is wider than the window"
    assert told["outside"] == "", "text is cut off"
