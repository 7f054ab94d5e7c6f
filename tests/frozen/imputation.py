"""Tables that are filled, tables that are emptied, and tables that are made: imputation, missingness, datasets."""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge

from frozen.names import (
    ChainedEquations,
    GapFiller,
    OneHotWithGaps,
    ampute,
    baseline,
    flux,
    make_ehk_synthetic,
    make_source_tracking,
    pairs,
    patterns,
    pool_scalar,
    select_predictors,
    summary,
    usable_cases,
)
from frozen.rooms import Room
from frozen.tables import TABLES, classes, complete, frame, numbers, problem, value

ROOM = Room("imputation")


def cells(table) -> np.ndarray:
    """A table as text, or as numbers if it holds nothing else."""
    values = np.asarray(table)
    if values.dtype.kind == "O" or values.dtype.kind == "U":
        return np.array([f"{cell:.10g}" if isinstance(cell, float) else str(cell) for cell in values.ravel()])
    return values


def discrete() -> np.ndarray:
    """A number, 0 or 1, one of three levels, and a grade, with gaps."""
    X = numbers(1)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, X[:, 1] > 1)
    X[:, 2:] = np.round(X[:, 2:]).clip(1, 3)
    return X


def imputed(imputer, table="numbers") -> dict:
    """Completions of training rows and of new ones, and how the chains went."""
    X, new = (discrete(), discrete()[::5]) if table == "discrete" else TABLES[table]
    y = value(X)
    imputer = clone(imputer).set_params(random_state=0)
    completed = imputer.fit_transform_all(X, y)
    gaps = np.isnan(X[1:7]) if table != "frame" else X.iloc[1:7].isna().to_numpy()
    filled = [np.asarray(one)[1:7][gaps] for one in completed]
    there = [np.asarray(one)[2:5] for one in imputer.transform_all(new)]
    return {
        "training rows": cells(filled),
        "new rows": cells(there),
        "chain means": imputer.chain_means_[-1],
        "chain variances": imputer.chain_variances_[-1],
        "kinds": imputer.kinds_,
    }


FEW = {"n_imputations": 2, "n_sweeps": 3}
IMPUTERS = {
    "proper": (ChainedEquations(**FEW), "numbers"),
    "expected": (ChainedEquations(draws="expected", **FEW), "numbers"),
    "matching": (ChainedEquations(numeric="pmm", n_donors=3, **FEW), "numbers"),
    "target": (ChainedEquations(use_target=True, **FEW), "numbers"),
    "ridge": (ChainedEquations(ridge=2.0, **FEW), "numbers"),
    "selected": (ChainedEquations(predictors="selected", **FEW), "numbers"),
    "given predictors": (ChainedEquations(predictors=np.triu(np.ones((4, 4), bool), 1), **FEW), "numbers"),
    "complete": (ChainedEquations(**FEW), "complete"),
    "frame": (ChainedEquations(**FEW), "frame"),
    "discrete": (ChainedEquations(categorical_features=[2, 3], **FEW), "discrete"),
    "discrete, expected": (ChainedEquations(categorical_features=[2], draws="expected", **FEW), "discrete"),
}
for name, (imputer, table) in IMPUTERS.items():
    ROOM.add(f"chains, {name}", partial(imputed, imputer, table))


@ROOM.group("pooled estimates")
def pooled_estimates():
    """Rubin's rules."""
    random = np.random.default_rng(0)
    estimates, variances = np.round(random.normal(1.0, 0.3, (5, 2)), 3), np.round(random.uniform(0.1, 0.2, (5, 2)), 3)
    found = {}
    for name, options in {"many rows": {}, "few rows": {"n_samples": 40, "n_parameters": 3}}.items():
        pooled = pool_scalar(estimates, variances, **options)
        fields = ("estimate", "within", "between", "total", "dof", "increase", "fmi", "standard_error")
        found |= {f"{name}, {field}": getattr(pooled, field) for field in fields}
        found[f"{name}, interval"] = np.array(pooled.interval(0.9))
    return found


@ROOM.group("predictors")
def predictors():
    X = numbers(1)
    chosen = {c: select_predictors(X, 0.2, 0.3, correlation=c) for c in ("kendall", "pearson")}
    return {**chosen, "usable cases": usable_cases(X)}


@ROOM.group("fillers")
def fillers():
    """The usual ways to fill gaps."""
    found = {}
    for name in ("mean", "zero", "rbf1", "rbf2", "mean_indicator", "iterative", "knn"):
        for table in ("numbers", "frame"):
            X, _, new = problem(table, "number")
            filler = GapFiller(name=name, random_state=0).fit(X)
            found[f"{name}, {table}"] = filler.transform(new)[2:6]
    X, y, new = problem("frame", "number")
    found["pipeline"] = baseline("mean_indicator", Ridge(), scale=False).fit(X, y).predict(new)
    found["one-hot"] = OneHotWithGaps().fit(X).transform(new)
    empty = numbers(1)
    empty[:, 1] = np.nan
    found["without empty columns"] = np.asarray(OneHotWithGaps().fit(empty).transform(numbers(2, 8)))[2:5]
    return found


@ROOM.group("removed cells")
def removed_cells():
    """Which cells each mechanism removes."""
    X = complete(1, 21)
    found = {}
    for mechanism in ("mcar", "mar", "nmar"):
        for share in (0.2, 0.6):
            found[f"{mechanism}, {share}"] = np.isnan(ampute(X, share, mechanism, random_state=0))
    found["frame"] = ampute(frame(), 0.3, random_state=1).isna().to_numpy()
    found["values"] = ampute(X, 0.3, "nmar", random_state=2)[:4]
    return found


@ROOM.group("gaps")
def gaps():
    """What a table's gaps look like."""
    found = {}
    for name, X in {"numbers": numbers(1), "frame": frame()}.items():
        seen, table, shape = pairs(X), summary(X), patterns(X)
        found |= {f"{name}, {field}": getattr(seen, field) for field in ("rr", "rm", "mr", "mm")}
        found |= {
            f"{name}, patterns": shape.gaps,
            f"{name}, counts": shape.counts,
            f"{name}, influx": flux(X).influx,
            f"{name}, outflux": flux(X).outflux,
            f"{name}, summary": [table.n_rows, table.n_columns, table.n_gaps, table.n_complete_rows],
            f"{name}, gap_fraction": table.gap_fraction,
            f"{name}, column_gaps": table.column_gaps,
        }
    return found


@ROOM.group("made")
def made():
    """Synthetic problems."""
    X, y = make_ehk_synthetic(12, random_state=0)
    tracked, source = make_source_tracking(random_state=0)
    return {
        "ehk": X.iloc[:4, :-1].to_numpy(),
        "ehk, category": X.iloc[:, -1].astype(str).to_numpy(),
        "ehk, classes": y,
        "source tracking": tracked.to_numpy()[::12],
        "source tracking, sources": source[::12],
        "classes of this room": classes(numbers(1), 3),
    }
