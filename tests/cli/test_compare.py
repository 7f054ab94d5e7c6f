"""``gapkernel compare``: the same folds for everyone, honest intervals, and a page that needs nothing but itself."""

import html
import itertools
import re
import shlex
import shutil
import subprocess
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from cli.comparisons import NASTY, frame, problem, rows_of
from rich.console import Console
from threadpoolctl import threadpool_limits

from gapkernel.cli import main, problem as problems
from gapkernel.cli.compare import FULL, SEX, compare, compare_study, expected_seconds, methods_for, write_penguins
from gapkernel.cli.page import colour_of, page
from gapkernel.cli.problem import Problem, Request
from gapkernel.estimators.gap.combined import MemberRow, Members
from gapkernel.estimators.gap.members import KERNELS
from gapkernel.plots.drawing import MISSING, PALETTE, SOFT
from gapkernel.studies import CANDIDATES, Grid
from gapkernel.studies.candidates import COMPARED
from gapkernel.tables.files import Reading, at_most, labelled
from gapkernel.tables.input_errors import InputError

PAIR = ("genrbf", "mean_indicator")
FAST = [name for name in CANDIDATES if name not in ("gap", "fourier")]  # these two take seconds


@pytest.fixture(scope="module", autouse=True)
def small_grid():
    """Few settings to choose from, and one thread: which settings, and how fast, does not matter here."""
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
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
        request, out = Request(folder / f"{target}.csv", target), folder / f"{target}.html"
        made[target] = (
            compare(request, out, quick=target != "class", n_jobs=1, methods=PAIR, console=quiet),
            out.read_text(encoding="utf-8"),
        )
        quiet.file.close()
    return made


def test_labels_of_pure_noise_and_few_positives_find_no_winner(tmp_path):
    random = np.random.default_rng(0)
    noise = pd.DataFrame(random.normal(size=(120, 3)), columns=list("abc")).assign(y=random.permutation(120) < 8)
    noise.to_csv(tmp_path / "noise.csv", index=False)
    quiet = Console(file=(tmp_path / "told.txt").open("w", encoding="utf-8"))
    methods = ("genrbf", "mean_indicator", "baseline")
    request, out = Request(tmp_path / "noise.csv", "y"), tmp_path / "page.html"
    found = compare(request, out, quick=True, methods=methods, console=quiet)
    quiet.file.close()
    assert found.measure.name == "log loss"
    assert found.headline == "Do not rely on predictions of “y” yet: no method is shown to beat the majority class"
    assert "points" not in found.sight  # log loss has none


def test_the_page_shows_the_members(pages, folder):
    rows = Members([MemberRow("process <1>", {}, -0.41, 0.75, 1.2), MemberRow("trees", {}, -0.6, 0.0, 0.3)])
    verdict, text = pages["class"]
    choice = verdict.problem.choose(CANDIDATES[verdict.winner])
    shown = page(verdict, choice, Request(folder / "class.csv", "class"), members=rows)
    assert "is made of" in shown
    assert "process &lt;1&gt;</td><td>75%</td>" in shown
    assert "is made of" not in text


def test_every_method_sees_the_same_folds_and_gaps():
    study = compare_study(problem("class"), **FULL)
    seeds = {}
    for task in study.tasks:
        key = (task.fraction, task.draw, task.repeat, task.fold)
        seeds.setdefault(key, set()).add((task.split_seed, task.data_seed))
    assert all(len(found) == 1 for found in seeds.values())
    assert {task.method for task in study.tasks} == set(COMPARED)


@pytest.mark.parametrize(("n_rows", "quick"), [*itertools.product((100, 10**4), (False, True))])
def test_every_method_that_is_compared_can_be_fitted_and_drawn(n_rows, quick):
    names = methods_for(n_rows, quick)
    assert set(names) <= set(CANDIDATES)
    assert len({colour_of(name) for name in names}) == len(names)


@pytest.mark.parametrize(("method", "target"), [*((name, "class") for name in FAST), ("genrbf", "value")])
def test_each_method_learns(method, target):
    study = compare_study(problem(target), (method,))
    told = study.run_task(study.tasks[0])
    if method != "baseline":
        assert told["accuracy" if target == "class" else "r2"] > (0.6 if target == "class" else 0.3)
    assert len(told["answers"]) == len(told["rows"]) == 14


@pytest.mark.parametrize("method", ["genrbf", "mean_indicator"])
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
    study = compare_study(Problem("odd", target, labelled(odd, target)), fractions=(0.6,))
    for task in study.tasks:
        if (task.fraction, task.draw, task.fold) == (0.6, 0, 4):
            assert np.isfinite(study.run_task(task)["accuracy" if target == "class" else "r2"])


def test_another_table_has_other_results():
    def some_of(rows, places):
        return replace(rows, X=rows.X.iloc[places], y=rows.y[places])

    table, backwards = problem("class"), some_of(rows_of("class"), np.arange(70)[::-1])
    others = (problem("value"), Problem("table.csv", "class", some_of(table.rows, np.arange(60))))
    names = {compare_study(one).name for one in (table, *others, Problem("table.csv", "class", backwards))}
    assert len(names) == 4
    assert compare_study(problem("class")).name == compare_study(table).name


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
    comparison = pages["third"][0]
    again = compare(Request(folder / "third.csv", "third"), folder / "third.html", quick=True, methods=PAIR)
    pd.testing.assert_frame_equal(again.results, comparison.results)  # also the seconds: nothing was run
    told = capsys.readouterr().out
    assert "10 results in" in told
    assert "going by the size" not in told  # nothing is to be waited for


def test_the_time_is_said_beforehand_and_grows_with_the_table(pages, folder):
    told = (folder / "third.txt").read_text(encoding="utf-8")
    assert re.search(r"10 tasks, about \d+ s going by the size of the table", told)
    assert told.index("going by the size") < told.index("held-out folds")
    study = compare_study(problem("class"), PAIR)
    few, more, wide = (expected_seconds(study, shape) for shape in ((300, 8), (1200, 8), (300, 24)))
    assert few == pytest.approx(2.0)
    assert more == pytest.approx(4 * few)
    assert few < wide < 2 * few
    chooses = compare_study(problem("class"), ("gap",))
    assert expected_seconds(chooses, (1200, 8)) == pytest.approx(16 * expected_seconds(chooses, (300, 8)))


def test_a_comparison_that_is_stopped_says_that_it_can_go_on(folder, tmp_path, monkeypatch, capsys):
    done = iter(range(2))

    def stop(*_):
        if next(done, None) is None:
            raise KeyboardInterrupt
        return {"accuracy": 0.5}

    monkeypatch.setattr("gapkernel.cli.compare.CompareTask.result", stop)
    page = str(tmp_path / "page.html")
    with pytest.raises(SystemExit, match="130"):
        main(["compare", str(folder / "class.csv"), "--target", "class", "--quick", "--out", page])
    assert "2 of 35 results are kept in" in capsys.readouterr().err


def test_a_large_table_is_sampled_with_its_classes():
    table = rows_of("class")
    sample = at_most(table, 50)
    assert len(sample.y) == 50
    assert abs(np.mean(sample.y == "high") - np.mean(table.y == "high")) < 0.02
    assert "50 of 70 rows are used, drawn at random; rows changes" in str(sample.notes[-1])
    assert at_most(table, 70) is table
    with pytest.raises(InputError, match="at least 50"):
        at_most(table, 10)


@pytest.mark.parametrize("rows", [50, 51, 63, 69])
def test_a_sample_keeps_every_class(rows):
    labels = ["often"] * 48 + ["seldom"] * 17 + ["rare"] * 5
    table = labelled(frame().assign(label=pd.Categorical(labels)), "label")
    sample, again = at_most(table, rows), at_most(table, rows)
    pd.testing.assert_frame_equal(sample.X, again.X)
    counts = pd.Series(sample.y).value_counts()
    assert counts.sum() == rows
    assert counts["rare"] == 5
    assert abs(counts["often"] - (rows - 5) * 48 / 65) <= 1.5
    assert len(at_most(rows_of("value"), rows).y) == rows


def test_more_classes_than_rows_can_hold_is_a_complaint():
    labels = np.repeat([f"class {k}" for k in range(12)], 6)[:70]
    table = labelled(frame(70).assign(label=pd.Categorical(labels)).iloc[:66], "label")
    with pytest.raises(InputError, match=r"11 classes .* rows: rows must be at least 55"):
        at_most(table, 50)


def test_the_embedded_table_has_gaps_that_matter(tmp_path):
    table = Request(write_penguins(tmp_path / "penguins.csv"), SEX).problem()
    assert table.X.shape == (333, 8)
    assert 0.35 < table.X.isna().to_numpy().mean() < 0.45
    assert sorted(set(table.y)) == ["female", "male"]


@pytest.fixture(scope="module")
def odd_file(folder):
    """A file that needs every reading option: codes, a mark, a column to leave out, decimal commas."""
    table = frame().assign(code=[f"0{k % 3}" for k in range(70)], id=range(70))
    table["kind"] = table["kind"].astype(object).where(np.arange(70) % 5 > 0, "none")
    table["a"] = table["a"].astype(object).where(table["a"].notna(), "none")  # a mark among numbers
    table["grade"] = np.where(table["class"] == "high", 1, 2)
    table["b c"] = [f"{k % 7},{k % 10}25" for k in range(70)]  # which may mean two things
    table.drop(columns=["third", "class", "value"]).to_csv(folder / "odd file.csv", index=False, sep=";")
    table.drop(columns=["third", "class", "grade"]).to_csv(folder / "odd numbers.csv", index=False, sep=";")
    return folder


@pytest.mark.filterwarnings("ignore:.*(n_components|Early stopping)")
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    ("method", "members"),
    [
        *((name, None) for name in FAST),
        ("gap", ("genrbf", "rbf")),
        pytest.param("gap", None, marks=pytest.mark.slow),  # all its members
        pytest.param("fourier", None, marks=pytest.mark.slow),  # "fourier-quick" with more folds
    ],
)
def test_both_snippets_give_the_compared_predictions(method, members, task, odd_file, tmp_path, monkeypatch, capsys):
    """What is printed is pasted, for every method on a mixed table with every option."""
    monkeypatch.chdir(tmp_path)
    if members:
        monkeypatch.setattr("gapkernel.estimators.gap.base.KERNELS", {name: KERNELS[name] for name in members})
        monkeypatch.setattr("gapkernel.estimators.gap.base.TREES", {})
    name, target = {"classification": ("odd file.csv", "grade"), "regression": ("odd numbers.csv", "value")}[task]
    reading = Reading(["id"], ["code"], ["none"], ",")
    request = Request(odd_file / name, target, task, 60, reading)
    problem = request.problem()
    choice = problem.choose(CANDIDATES[method])
    expected = problem.build(CANDIDATES[method], choice).fit(problem.X, problem.y)
    text = pd.read_csv(odd_file / name, sep=";", dtype=str, keep_default_na=False)
    text.drop(columns=target).to_csv("NEW.csv", index=False)
    raw = pd.read_csv("NEW.csv", engine="pyarrow")  # which reads every digit, as not every pandas does
    names: dict = {}
    exec(request.python(problem, method, choice), names)
    np.testing.assert_array_equal(names["y"], problem.y)
    np.testing.assert_array_equal(names["model"].predict(problem.X), expected.predict(problem.X))
    for line in request.shell(method).splitlines():
        with pytest.raises(SystemExit) as left:
            main(shlex.split(line)[1:])
        assert not left.value.code, capsys.readouterr().err
    told = pd.read_csv("predictions.csv", engine="pyarrow")[target].to_numpy()
    new = names["model"].predict(raw)
    np.testing.assert_array_equal(told.astype(str) if task == "classification" else told, new)


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
        if tag not in ("meta", "link", "img"):
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
    assert tags.asked[0] == "data:,"  # an empty icon, so that browsers do not ask for one
    assert all(value.startswith("data:image/svg+xml;base64,") for value in tags.asked[1:])
    assert tags.scripts == 0
    assert not re.search(r"https?:|url\(|@import|\bnan\b", text)
    assert NASTY not in text
    figures = [b64decode(figure).decode() for figure in re.findall(r'base64,([^"]*)"', text)]
    assert len(figures) == 3 + comparison.has_hidden
    assert NASTY in html.unescape("".join(figures))
    for said in (comparison.headline, *comparison.sentences, *comparison.problem.notes):
        assert html.escape(said) in text
    for method in PAIR:
        assert text.count(html.escape(CANDIDATES[method].label)) >= 2
        assert html.escape(CANDIDATES[method].label) in figures[0]
        assert comparison.measure.show(comparison.means[method]) in text
    assert ("When more cells are hidden" in text) == comparison.has_hidden
    assert len(re.findall(r'<img alt="[^"]+" src="data:image/svg', text)) == text.count("<img") == len(figures)
    assert (">came true</th>" in text) == comparison.problem.is_classification  # the table under that figure
    for measure in comparison.measures:
        assert html.escape(measure.meaning) in text


def luminance(colour):
    """As WCAG defines it."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def channels(colour):
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def turned(colour):
    """invert(1) hue-rotate(180deg), as CSS defines them: what the page does to figures on a dark screen."""
    grey = np.array([0.213, 0.715, 0.072])
    return np.clip((2 * np.outer(np.ones(3), grey) - np.eye(3)) @ (1 - channels(colour)), 0, 1)


@pytest.mark.parametrize("dark", [False, True])
def test_every_label_has_the_contrast_of_level_aa(dark, pages):
    style = pages["class"][1].partition("</style>")[0]
    light, dim = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("@media", 2)[:2])
    assert "invert(1) hue-rotate(180deg)" in style
    screen = dim if dark else light
    words = [(channels(screen[word]), ground) for word in ("ink", "soft") for ground in ("paper", "wash")]
    words += [(turned(label) if dark else channels(label), "paper") for label in (*PALETTE, SOFT, MISSING)]
    for word, ground in words:  # figures stand on cards only
        dark_side, light_side = sorted((luminance(word), luminance(channels(screen[ground]))))
        assert (light_side + 0.05) / (dark_side + 0.05) >= 4.5, (word, ground)


LOOK = """<script>
const told = parent.document.documentElement.dataset;
told.wide = document.documentElement.scrollWidth;
told.requests = performance.getEntriesByType("resource").map(one => one.name.slice(0, 9)).join(" ");
told.figures = [...document.images].filter(image => image.complete && image.naturalWidth > 0).length;
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
    assert "http" not in told["requests"]
    assert "CONSOLE" not in done.stderr
    assert int(told["wide"]) <= width, "the page is wider than the window"
    assert int(told["figures"]) == pages[target][1].count("<img"), "a figure is not drawn"
