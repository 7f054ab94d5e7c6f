"""Do intervals and sets cover for every mask? One quantile for all rows, one for each gap count, and one for each mask.

python benchmarks/mask_coverage.py [--repeats 120] [--only SETTING ...] [--keep FOLDER]

With a folder to keep what was found, a stopped run goes on, and runs of different settings can be put together.
"""

import argparse
import sys
import warnings
from copy import copy
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load
from measure import RESULTS, report

import gapkernel as gk
from gapkernel.estimators.calibration.masks import GapCountCalibration
from gapkernel.plots.drawing import PALETTE, pyplot

COVERAGE = 0.9
RULES = ("marginal", "gap count", "mask")
SLOPES = np.array([1.0, 2.0, -1.0, 3.0, -0.5, -1.0, 0.3, 1.7, 0.4, -0.3])
TRAINING_ROWS = {"d = 3": 250, "d = 10": 500}
MOST_ROWS = 300
"""Training rows of a table, so that a process takes seconds."""

MASKS = 40
"""Masks of a table that are looked at: those with the fewest gaps, half of them, and others drawn at random."""

TABLES = {
    "diabetes": "numbers",
    "servo": "numbers",
    "liver_disorders": "numbers",
    "pima": "classes",
    "banknote": "classes",
}
FRACTIONS = (0.2, 0.4)


def masks_of(d, random):
    """Masks that leave at least one cell: all of them, or some with few and some with many gaps."""
    masks = np.array([np.isin(np.arange(d), gaps) for k in range(d) for gaps in combinations(range(d), k)])
    if len(masks) <= MASKS:
        return masks
    few = MASKS // 2
    return masks[np.append(np.arange(few), few + np.sort(random.permutation(len(masks) - few)[: MASKS - few]))]


def synthetic(d, repeat):
    """The setting of Zaffran and others: X normal with correlations of 0.8, a linear target, noise of variance 1."""
    random, n_train, per_mask = np.random.default_rng(repeat), TRAINING_ROWS[f"d = {d}"], 40
    masks = masks_of(d, np.random.default_rng(0))
    n = n_train + per_mask * len(masks)
    X = random.multivariate_normal(np.ones(d), 0.2 * np.eye(d) + 0.8, n)
    y = X @ SLOPES[:d] + random.standard_normal(n)
    y = (y - y[:n_train].mean()) / y[:n_train].std()
    train = np.where(random.random((n_train, d)) < 0.2, np.nan, X[:n_train])
    scaler = StandardScaler().fit(train)
    place = np.repeat(np.arange(len(masks)), per_mask)
    test = np.where(masks[place], np.nan, X[n_train:])
    yield scaler.transform(train), y[:n_train], scaler.transform(test), y[n_train:], masks[place]


def table(name):
    """Columns and target."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        return X, (y - y.mean()) / y.std()
    X, y = load(name)
    if name == "liver_disorders":  # its class is a split of the study: the number of drinks is the target
        X, y = X.drop(columns="drinks"), np.log1p(X["drinks"].to_numpy(float))
    y = pd.Series(np.asarray(y))
    if TABLES[name] == "numbers":
        y = (y - y.mean()) / y.std()
    whole = X.notna().all(axis=1).to_numpy()
    return X[whole].reset_index(drop=True), y[whole].reset_index(drop=True)


def removed(name, fraction, repeat):
    """Five folds of a table with cells removed from the training rows, each test row under every mask."""
    random = np.random.default_rng(repeat)
    X, y = table(name)
    numbers = X.select_dtypes("number").columns
    masks = masks_of(X.shape[1], np.random.default_rng(0))
    for train, test in KFold(5, shuffle=True, random_state=repeat).split(X):
        train = random.permutation(train)[:MOST_ROWS]
        test = random.permutation(test)[:100]
        scaled = X.copy()
        scaled[numbers] = (X[numbers] - X.loc[train, numbers].mean()) / X.loc[train, numbers].std()
        seen = scaled.loc[train].mask(random.random((len(train), X.shape[1])) < fraction)
        new = scaled.loc[np.repeat(test, len(masks))]
        masked = np.tile(masks, (len(test), 1))
        yield seen, y[train].to_numpy(), new.mask(masked), y[np.repeat(test, len(masks))].to_numpy(), masked


def enough_repeats(name):
    """Repeats that give every mask more than 1,000 test rows, and at least 3."""
    return max(3, -(-1050 // min(500, 5 * (len(table(name)[0]) // 5))))


def answered(model, X, y):
    """Whether interval or set holds the target, how wide or large it is, and the rule."""
    if hasattr(model, "predict_set"):
        sets, rules = model.predict_set(X, COVERAGE), model.conformal_rules(X, COVERAGE)
        places = np.searchsorted(model.classes_, y)
        return sets[np.arange(len(y)), places], sets.sum(axis=1), rules
    intervals, rules = model.predict_interval(X, COVERAGE), model.conformal_rules(X, COVERAGE)
    low, high = intervals.T
    return (low <= y) & (y <= high), high - low, rules


def outcomes(model, parts, repeat):
    """One line for each test row: its fit and its mask, and for each rule whether it is covered and how widely."""
    for fold, (X, y, new, target, masks) in enumerate(parts):
        by_mask = model.fit(X, y)
        found = by_mask.calibration_
        by_count, marginal = copy(by_mask), copy(by_mask)
        by_count.calibration_ = found.by_count
        marginal.calibration_ = GapCountCalibration(np.zeros(len(found.scores), int), found.scores)
        line = {"fit": 5 * repeat + fold, "mask": ["".join("01"[int(gap)] for gap in mask) for mask in masks]}
        for rule, one in zip(RULES, (marginal, by_count, by_mask), strict=True):
            line[f"cover {rule}"], line[f"width {rule}"], line["rule"] = answered(one, new, target)
        yield pd.DataFrame(line)


def settings():
    """Name, model and parts of every setting; the parts by repeat."""
    machines = {
        "ridge": gk.KernelRidge(kernel="linear", alpha=1.0, conformal="mask"),
        "process": gk.GaussianProcessRegressor(conformal="mask"),
    }
    for d in (3, 10):
        for name, model in machines.items():
            yield f"d = {d}, {name}", model, lambda repeat, d=d: synthetic(d, repeat)
    for name, kind in TABLES.items():
        classes = gk.GaussianProcessClassifier(conformal="mask", prior="share")
        model = classes if kind == "classes" else machines["process"]
        for fraction in FRACTIONS:
            yield (
                f"{name}, {fraction:.0%}",
                model,
                lambda repeat, name=name, fraction=fraction: removed(name, fraction, repeat),
            )


def frame_of(name, model, parts, times, folder):
    """What came out of a setting, read from the folder where it is known."""
    kept = folder / f"{name.replace(' ', '_')}.csv.gz" if folder else None
    if kept and kept.exists():
        return pd.read_csv(kept, dtype={"mask": str})
    frame = pd.concat([line for k in range(times) for line in outcomes(model, parts(k), k)])
    if kept:
        folder.mkdir(parents=True, exist_ok=True)
        frame.to_csv(kept, index=False)
    return frame


def by_mask(frame):
    """Coverage by mask with at least 1,000 rows, and a lower bound that holds for all of them together.

    Rows of one fit share a model and its calibration: the bound is from the fits, each counted once, by Student's law,
    at 95 % after Bonferroni's correction for the number of masks.
    """
    frame = frame[frame.groupby("mask")["mask"].transform("size") >= 1000]
    covers = [f"cover {rule}" for rule in RULES]
    shares = frame.groupby(["mask", "fit"])[covers].mean()
    mean, n = shares.groupby("mask").mean(), shares.groupby("mask").size()
    error = shares.groupby("mask").std(ddof=1).div(np.sqrt(n), axis=0)
    reach = stats.t.ppf(1.0 - 0.05 / len(mean), n - 1)
    return mean, mean.sub(error.mul(reach, axis=0))


def summary(name, frame):
    """A line of the table for each rule."""
    mean, lower = by_mask(frame)
    rules = frame["rule"].value_counts(normalize=True)
    share = ", ".join(f"{rule} {part:.0%}" for rule, part in rules.items())
    size = frame[np.isfinite(frame[[f"width {rule}" for rule in RULES]]).all(axis=1)]
    usual = size["width gap count"].mean()
    for rule in RULES:
        found = mean[f"cover {rule}"]
        yield (
            name, rule, len(mean), f"{frame[f'cover {rule}'].mean():.1%}", f"{found.min():.1%}",
            f"{lower[f'cover {rule}'].min():.1%}", f"{found.max():.1%}", f"{size[f'width {rule}'].mean() / usual:.2f}",
            share if rule == "mask" else "",
        )  # fmt: skip


def draw(frames):
    """Coverage of every mask, by its number of gaps."""
    figure, axes = pyplot("mask_coverage").subplots(1, len(frames), figsize=(4.6 * len(frames), 3.6), sharey=True)
    for ax, (name, frame) in zip(np.atleast_1d(axes), frames.items(), strict=True):
        mean, _ = by_mask(frame)
        gaps = np.array([mask.count("1") for mask in mean.index])
        for k, rule in enumerate(RULES):
            places = gaps + 0.22 * (k - 1)
            ax.plot(
                places, mean[f"cover {rule}"], ".", markersize=5, color=("0.6", PALETTE[1], PALETTE[0])[k], label=rule
            )
        ax.axhspan(0.88, 0.93, color="0.93", zorder=0)
        ax.axhline(COVERAGE, color="black", linewidth=0.8, linestyle="--")
        ax.set(title=name, xlabel="missing cells")
        ax.xaxis.get_major_locator().set_params(integer=True)
    first = np.atleast_1d(axes)[0]
    first.set_ylabel("coverage of one mask")
    first.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(RESULTS / "mask_coverage.png", dpi=120)


def run(repeats=120, only=None, keep=None):
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    rows, drawn = [], {}
    for name, model, parts in settings():
        if only and not any(word in name for word in only):
            continue
        times = repeats if name[:3] == "d =" else enough_repeats(name.split(",")[0])
        frame = frame_of(name, model, parts, times, keep)
        rows += summary(name, frame)
        print(*rows[-3:], sep="\n", flush=True)
        if name in ("d = 3, ridge", "d = 10, ridge"):
            drawn[name] = frame
    if drawn:
        draw(drawn)
    report(
        "mask_coverage",
        f"Coverage of {COVERAGE:.0%} intervals and sets, mask by mask",
        ("setting", "rule", "masks", "all rows", "lowest mask", "its bound", "highest mask", "width", "served by"),
        rows,
        f"Masks with at least 1,000 test rows; {repeats} repeats of the synthetic settings, "
        f"and as many of five folds on a table as that takes. Synthetic: the setting of Zaffran, "
        f"Dieuleveut, Josse and Romano (normal columns with correlations of 0.8, a linear target, 20 % of the training "
        f"cells removed at random; {TRAINING_ROWS['d = 3']} training rows with three columns, "
        f"{TRAINING_ROWS['d = 10']} with ten). Tables: at most {MOST_ROWS} training rows with cells removed, test rows "
        f"under every mask. At most "
        f"{MASKS} masks, half of them with few gaps. Its bound: the smallest lower bound over masks, which holds for "
        f"all masks together with 95 % (Bonferroni), from the fits (those to a table share rows, so its bounds "
        f"are rough). Width: mean over all test rows, or mean size of sets, as a multiple of the gap-count "
        f"rule's. pima and banknote have classes, all others numbers.\n\n"
        f"![Coverage of every mask](mask_coverage.png)",
        command=f"python benchmarks/mask_coverage.py --repeats {repeats}"
        + (f" --only {' '.join(only)}" if only else ""),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=120)
    parser.add_argument("--only", nargs="*", help="parts of the names of settings")
    parser.add_argument("--keep", type=Path, help="folder for what was found")
    options = parser.parse_args()
    run(options.repeats, options.only, options.keep)
