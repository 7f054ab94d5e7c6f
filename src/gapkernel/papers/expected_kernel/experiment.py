"""Anderson, Gupta: the expected kernel in a standard SVM against two cone SVMs (Fig. 1 and the training times)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from gapkernel.datasets import load
from gapkernel.density import Gaussian
from gapkernel.estimators import SVC, SVCCV
from gapkernel.papers.expected_kernel.robust import RobustSVC
from gapkernel.papers.study import (
    Claim,
    Report,
    ReportTable,
    Size,
    beside_the_paper,
    curves,
    percent,
    points_of,
    with_error,
)
from gapkernel.studies import EM_TOLERANCE, Protocol, Task, folds, powers_of_two, remove_by_row

DATASETS = {"heart_statlog": "Heart", "ionosphere": "Ionosphere"}
LABELS = {
    "expected": "SVM, expected kernel",
    "variance": "cone SVM, expected kernel and variances",
    "identity": "cone SVM, imputed rows and spheres",
    "complete": "SVM, nothing removed",
}
CONES = {"variance": "variances", "identity": "spheres"}
"""The cone SVMs, by the covariance that each measures margins with."""
PAPER_RATIO = 20
ALIKE = 2.0
"""Points of error within which performance is "roughly the same"."""
TEST_SHARE = 0.1
DENSITY = Gaussian(tol=EM_TOLERANCE)


@dataclass(frozen=True, kw_only=True)
class Split(Protocol):
    """One random split: settings chosen in the training part, error on the test part, seconds of one fit.

    Attributes
    ----------
    gammas : tuple of float
        Times 1 / number of columns.
    Cs, taus : tuple of float
    n_tau_folds : int
        Folds on which tau is chosen, out of five.
    max_rows : dict-like tuple of (dataset, rows)
    """

    gammas: tuple[float, ...]
    Cs: tuple[float, ...]
    taus: tuple[float, ...]
    n_tau_folds: int
    max_rows: tuple[tuple[str, int], ...] = ()

    def result(self, task: Task) -> dict[str, Any]:
        train, test, y_train, y_test = self.split(task)
        splits = list(folds(5, task.split_seed).split(train, y_train))
        gammas = [gamma / train.shape[1] for gamma in self.gammas]
        search = SVCCV(kernel="rbf", density=DENSITY, Cs=self.Cs, gammas=gammas, cv=splits, refit=False)
        settings = search.fit(train, y_train).best_params_
        model = SVC(kernel="rbf", density=DENSITY, **settings)
        if task.method in CONES:
            model = self._cone(task.method, settings, train, y_train, splits)
            settings = settings | {"tau": model.tau}
        start = process_time()
        clone(DENSITY).fit(train)
        middle = process_time()
        model.fit(train, y_train)
        return {
            "density_seconds": middle - start,
            "fit_seconds": process_time() - middle,
            "error": float(np.mean(model.predict(test) != y_test)),
            "training_rows": len(train),
            "settings": settings,
        }

    def split(self, task: Task):
        """Standardised rows, entries of the training rows removed."""
        X, y = load(task.dataset, self.data_dir)
        X, y = X.astype(np.float64).to_numpy(), np.asarray(y)
        rows = dict(self.max_rows).get(task.dataset, len(y))
        kept = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
        seed = task.split_seed
        train, test, y_train, y_test = train_test_split(
            X[kept], y[kept], test_size=TEST_SHARE, stratify=y[kept], random_state=seed
        )
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)
        if task.method != "complete":
            train = removed(train, task.fraction, np.random.default_rng(task.data_seed))
        return train, test, y_train, y_test

    def _cone(self, covariance: str, settings: dict, X, y, splits) -> RobustSVC:
        """The cone SVM with gamma and C of the plain one, tau chosen on some of the folds."""
        mean = "imputed" if covariance == "identity" else "expected"
        cone = RobustSVC(covariance=covariance, mean=mean, density=DENSITY, tol=1e-8, **settings)
        search = GridSearchCV(cone, {"tau": self.taus}, cv=splits[: self.n_tau_folds], refit=False).fit(X, y)
        return clone(cone).set_params(**search.best_params_)


def removed(X: np.ndarray, share: float, random) -> np.ndarray:
    """``share`` of the entries of each row removed; what is left of a whole number is drawn."""
    wanted = share * X.shape[1]
    return remove_by_row(X, np.floor(wanted + random.random(len(X))).astype(int), random)


QUICK = Size(
    fractions=(0.05, 0.2, 0.4),
    draws=5,
    protocol=Split(
        gammas=(0.25, 0.5, 1.0, 2.0), Cs=(1.0, 10.0), taus=(0.1, 0.5), n_tau_folds=1, max_rows=(("ionosphere", 180),)
    ),
)
FULL = Size(
    fractions=tuple(k / 20 for k in range(1, 9)),
    draws=10,
    protocol=Split(
        gammas=powers_of_two(*range(-3, 4)),
        Cs=tuple(10.0**k for k in range(-1, 4)),
        taus=(0.05, 0.1, 0.2, 0.5, 1.0),
        n_tau_folds=5,
    ),
)
STANDARD = replace(FULL, protocol=replace(FULL.protocol, taus=(0.1, 0.5), n_tau_folds=1))
SIZES = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def reproduce(context) -> Report:
    """Run the study and make its report."""
    size = SIZES[context.size]
    tasks = [
        Task(dataset, method, "mcar by row", fraction, draw, draw)
        for dataset in DATASETS
        for draw in range(size.draws)
        for method in LABELS
        for fraction in ((0.0,) if method == "complete" else size.fractions)
    ]
    return report(context.run("expected-kernel", size.protocol, tasks), size)


def report(frame, size: Size[Split]) -> Report:
    """Fig. 1 and the training times from the results."""
    out, frame = Report.of(frame), frame.sort_values(["dataset", "fraction"])
    names = {"data": frame["dataset"].map(DATASETS), "removed": frame["fraction"].map(percent)}
    frame = frame.assign(label=frame["method"].map(LABELS), **names)
    panels = {}
    for title, part in frame.groupby("data", sort=False):
        panels[title] = points_of(part[part["method"] != "complete"], "label", "error")
        whole = points_of(part[part["method"] == "complete"], "label", "error")[LABELS["complete"]][0]
        ends = (100 * min(size.fractions), 100 * max(size.fractions))
        panels[title][LABELS["complete"]] = [(x, whole[1], 0.0) for x in ends]
    figure = curves(panels, "test error, %", xlabel="removed features, %")
    out.add_figure("figure1_error", figure, "Test error against the share of removed features of each training row.")
    out.tables = [error_table(frame), time_table(frame), beside_the_paper(claims(frame))]
    out.remarks = [
        f"{size.draws} splits (the paper: 10). gamma and C are chosen by 5-fold cross-validation for the SVM and "
        f"shared by the cone SVMs; tau on {size.protocol.n_tau_folds} of the folds. The paper chooses all for each "
        "SVM, and does not give its grids.",
        *(f"{DATASETS[name]}: {rows} rows, drawn once." for name, rows in size.protocol.max_rows),
        "Cones are solved by clarabel to 1e-8, the SVM by libsvm; the paper does not name its solvers. Its variances "
        "have a wrong constant (its equation 7); these are the corrected ones.",
        "The laws come from one Gaussian fitted by EM; category codes count as numbers. Seconds are CPU seconds of "
        "one whole fit, EM included, in one thread.",
    ]
    return out


def error_table(frame) -> ReportTable:
    """Mean error and its standard error."""
    frame = frame.assign(error=100 * frame["error"])
    cells = {"index": ["data", "removed"], "columns": "label", "values": "error", "sort": False}
    note = "Mean over splits ± its standard error. The paper gives these as a figure only (Fig. 1)."
    return ReportTable.of("Test error in per cent", frame.pivot_table(**cells, aggfunc=with_error), note)


def time_table(frame) -> ReportTable:
    """Median seconds of a fit, and ratios."""
    frame = frame[frame["method"] != "complete"]
    seconds = frame.pivot_table(
        index=["data", "removed"], columns="label", values="fit_seconds", aggfunc="median", sort=False
    )
    table = seconds.map("{:.3f}".format)
    table["EM alone"] = frame.groupby(["data", "removed"])["density_seconds"].median().map("{:.3f}".format)
    for cone, title in CONES.items():
        table[f"{title} / SVM"] = (seconds[LABELS[cone]] / seconds[LABELS["expected"]]).map("{:.0f}".format)
    note = f"Median seconds of whole fits to up to {frame['training_rows'].max()} rows."
    return ReportTable.of("Training times", table, note)


def claims(frame) -> list[Claim]:
    """What the paper says, and what came out here; splits of one data set are the pairs of a difference."""
    out = []
    frame = frame[frame["fraction"] > 0]
    for dataset, title in DATASETS.items():
        part = frame[frame["dataset"] == dataset]
        by_split = 100 * part.pivot_table(index="draw", columns="method", values="error")  # over the shares removed
        for cone, name in CONES.items():
            apart = by_split[cone] - by_split["expected"]
            what = f"the cone SVM with {name} is as good on {title}"
            ours = f"{with_error(apart, sign='+')} points"
            out.append(Claim(what, "roughly the same", ours, ALIKE - abs(apart.mean()), apart.sem()))
    heart = frame[frame["dataset"] == "heart_statlog"]
    seconds = heart.pivot_table(index="fraction", columns="method", values="fit_seconds", aggfunc="median")
    for cone, name in CONES.items():
        ratio = (seconds[cone] / seconds["expected"]).median()
        what = f"the SVM trains faster on Heart than the cone SVM with {name}"
        out.append(Claim(what, f"{PAPER_RATIO} times", f"{ratio:.0f} times", ratio - PAPER_RATIO))
    return out
