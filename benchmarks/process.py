"""How well Gaussian processes know what they do not know when cells go missing, next to imputed ones and boosting."""

import warnings

import numpy as np
import pandas as pd
from datasets import load
from measure import report
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor as Classical
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapkernel as gk

LEVEL = 0.9
FRACTIONS = (0.1, 0.3, 0.6)
REPEATS = {"diabetes": 2, "servo": 5, "water_treatment": 1}
LEAST_ROWS = 250
"""Test rows of a line of the coverage table: neighbouring gap counts are merged until they have so many."""


def tables(name):
    """A table with its categories as text, and the target in units of its deviation."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
    else:
        X, y = load(name)
        if name == "water_treatment":
            X = X.loc[:, :"COND-D"]  # measured before the output
        X, y = X[~np.isnan(y)], y[~np.isnan(y)]
    y = np.asarray(y, dtype=float)
    return X.reset_index(drop=True), (y - y.mean()) / y.std()


def codes(train, test):
    """Numbers as they are and one-hot categories, NaN in the gaps of both."""
    both = pd.concat([train, test])
    parts = []
    for column in both:
        if both[column].dtype.kind in "fi":
            parts.append(both[[column]].to_numpy(float))
        else:
            code = pd.get_dummies(both[column]).to_numpy(float, copy=True)
            code[both[column].isna()] = np.nan
            parts.append(code)
    together = np.hstack(parts)
    return together[: len(train)], together[len(train) :]


def ours(conformal):
    """Density and intervals of the process on rows with gaps."""

    def predict(train, y, test):
        train, test = codes(train, test)
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)  # the same matrix as the imputed ones get
        model = gk.GaussianProcessRegressor(normalize_y=True, conformal=conformal, random_state=0).fit(train, y)
        mean, std = model.predict(test, return_std=True)
        normal = norm.ppf(0.5 + LEVEL / 2)
        plain = np.column_stack([mean - normal * std, mean + normal * std])
        return (mean, std), plain, model.predict_interval(test, LEVEL)

    return predict


def imputed(imputer):
    """scikit-learn's process on imputed rows."""

    def predict(train, y, test):
        train, test = codes(train, test)
        kernel = ConstantKernel() * RBF(np.sqrt(train.shape[1] / 2)) + WhiteKernel()
        model = make_pipeline(StandardScaler(), imputer(), Classical(kernel, normalize_y=True)).fit(train, y)
        mean, std = model.predict(test, return_std=True)
        half = norm.ppf(0.5 + LEVEL / 2) * std
        return (mean, std), np.column_stack([mean - half, mean + half]), None

    return predict


def boosting(train, y, test):
    """Two quantiles; no density."""
    train, test = codes(train, test)
    ends = []
    for quantile in (0.5 - LEVEL / 2, 0.5 + LEVEL / 2):
        model = HistGradientBoostingRegressor(loss="quantile", quantile=quantile, random_state=0)
        ends.append(model.fit(train, y).predict(test))
    return None, np.column_stack(ends), None


METHODS = {
    "gapkernel": ours("count"),
    "mean GP": imputed(lambda: SimpleImputer(keep_empty_features=True)),
    "iterative GP": imputed(lambda: IterativeImputer(random_state=0, keep_empty_features=True)),
    "boosting": boosting,
}


def outcomes(name, fraction, repeats):
    """For every test row: gap count, squared error and NLPD of each method, and whether each interval covers it."""
    lines = []
    for repeat in range(repeats):
        random = np.random.default_rng(repeat)
        X, y = tables(name)
        X = X.mask(random.random(X.shape) < fraction)
        for train, test in KFold(5, shuffle=True, random_state=repeat).split(X):
            gaps = X.iloc[test].isna().sum(axis=1).to_numpy()
            line = {"data": name, "fraction": fraction, "row": test, "gaps": gaps}
            for method, predict in METHODS.items():
                density, plain, conformal = predict(X.iloc[train], y[train], X.iloc[test])
                if density is not None:
                    line[f"nlpd {method}"] = -norm.logpdf(y[test], *density)
                    line[f"error {method}"] = (y[test] - density[0]) ** 2
                line[f"cover {method}"] = (plain[:, 0] <= y[test]) & (y[test] <= plain[:, 1])
                line[f"width {method}"] = plain[:, 1] - plain[:, 0]
                if conformal is not None:
                    line[f"cover {method} conformal"] = (conformal[:, 0] <= y[test]) & (y[test] <= conformal[:, 1])
                    line[f"width {method} conformal"] = conformal[:, 1] - conformal[:, 0]
            lines.append(pd.DataFrame(line))
        print(name, fraction, repeat, flush=True)
    return pd.concat(lines)


MACHINES = ("gapkernel", "mean GP", "iterative GP")
"""Those with a predictive density."""

INTERVALS = {
    "GP": "gapkernel",
    "GP, conformal": "gapkernel conformal",
    "mean GP": "mean GP",
    "iterative GP": "iterative GP",
    "boosting": "boosting",
}


def merged_counts(gaps):
    """A label for each row: its gap count, merged with neighbours until there are enough rows."""
    values, counts = np.unique(gaps, return_counts=True)
    label, begin, rows = {}, 0, 0
    for k in range(len(values)):
        rows += counts[k]
        left = counts[k + 1 :].sum()
        if (rows >= LEAST_ROWS and left >= LEAST_ROWS) or k == len(values) - 1:
            low, high = values[begin], values[k]
            label |= dict.fromkeys(values[begin : k + 1], str(low) if low == high else f"{low}-{high}")
            begin, rows = k + 1, 0
    return np.array([label[count] for count in gaps])


def density_table(frame):
    """NLPD and root mean squared error by data and fraction, best of each in bold."""
    for (name, fraction), part in frame.groupby(["data", "fraction"], sort=False):
        nlpd = [part[f"nlpd {m}"].mean() for m in MACHINES]
        error = [np.sqrt(part[f"error {m}"].mean()) for m in MACHINES]
        yield name, f"{fraction:.0%}", *best_in_bold(nlpd), *(f"{e:.3f}" for e in error)


def row_table(frame):
    """What single rows have to do with it: medians, paired differences and the share of the worst row."""
    for (name, fraction), part in frame.groupby(["data", "fraction"], sort=False):
        rows = part.groupby("row")[[f"nlpd {m}" for m in MACHINES]].mean()  # a row's repeats are not independent
        ours, *others = (rows[f"nlpd {m}"] for m in MACHINES)
        paired = [ours - other for other in others]
        typical = ours < ours.max()
        yield (
            name,
            f"{fraction:.0%}",
            *best_in_bold([part[f"nlpd {m}"].median() for m in MACHINES]),
            *(f"{difference.mean():+.3f} ± {difference.sem():.3f}" for difference in paired),
            f"{ours.max() / ours.sum():.0%}",
            *(f"{difference[typical].mean():+.3f} ± {difference[typical].sem():.3f}" for difference in paired),
        )


def best_in_bold(values):
    """Three decimals, the lowest marked."""
    return [f"**{v:.3f}**" if v == min(values) else f"{v:.3f}" for v in values]


def coverage_table(frame):
    """Coverage in % by data and gap count, over all fractions."""
    for name, part in frame.groupby("data", sort=False):
        labels = merged_counts(part["gaps"].to_numpy())
        for label in sorted(set(labels), key=lambda text: int(text.split("-")[0])):
            inside = part[labels == label]
            error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / len(inside))
            covered = [f"{100 * inside[f'cover {column}'].mean():.1f}" for column in INTERVALS.values()]
            yield name, label, len(inside), f"{error:.1f}", *covered


def width_note(frame):
    """Mean widths over everything, in deviations of the target; infinite ones are left out."""
    widths = {title: frame[f"width {column}"] for title, column in INTERVALS.items()}
    return ", ".join(f"{title} {width[np.isfinite(width)].mean():.2f}" for title, width in widths.items())


def markdown(header, rows):
    """A table as text."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def run():
    """Measure and write the tables."""
    warnings.simplefilter("ignore")
    frame = pd.concat([outcomes(name, fraction, REPEATS[name]) for name in REPEATS for fraction in FRACTIONS])
    write(frame)


def write(frame):
    """The tables from the outcomes of all rows."""
    others = ("mean GP", "iterative GP")
    medians, paired = [f"median, {m}" for m in ("GP", *others)], [f"GP less {m}" for m in others]
    by_row = markdown(
        ("data", "hidden", *medians, *paired, "worst row", *(f"{title}, without it" for title in paired)),
        row_table(frame),
    )
    by_count = markdown(("data", "missing cells", "rows", "s.e.", *INTERVALS), coverage_table(frame))
    report(
        "process",
        "Predictive densities and intervals with gaps",
        ("data", "hidden", "GP", "mean GP", "iterative GP", "RMSE, GP", "RMSE, mean GP", "RMSE, iterative GP"),
        list(density_table(frame)),
        f"Negative log predictive density (lower is better, targets in units of their deviation) of test rows with "
        f"cells hidden completely at random in training and test rows, 5-fold cross-validation, repeats: {REPEATS}. "
        f"Like for like: all three are the same process (one length scale, hyperparameters by marginal likelihood from "
        f"one start) on the same matrix, numbers and one-hot categories scaled to variance 1, and differ only in the "
        f"gaps: kept, filled by the mean, filled by IterativeImputer. The folds and the hidden cells are the same for "
        f"all. In servo every column is a category, whose codes determine one another: IterativeImputer predicts each "
        f"from its mean-filled siblings, which is the mean again.\n\n"
        f"## The same by rows\n\n{by_row}\n\n"
        f"Median over test rows, and mean difference of the densities of the same row ± its standard error over rows "
        f"(below 0: the process on rows with gaps is better). Worst row: its share of the sum of this process's "
        f"densities over all rows; the last two columns leave it out.\n\n"
        f"## Coverage of {LEVEL:.0%} intervals in %, by number of missing cells\n\n{by_count}\n\n"
        f"All fractions together, neighbouring gap counts merged until a group has {LEAST_ROWS} rows; s.e. is the "
        f"standard error of a coverage of {LEVEL:.0%} from so many rows, were they independent. Boosting: "
        f"quantile HistGradientBoosting. Mean widths, of the intervals that are finite: {width_note(frame)}.",
    )


if __name__ == "__main__":
    run()
