"""Kobayashi, Aluja, Belanche: two kernel extensions and two uses of multiple imputation (Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC as CompleteSVC

from gapkernel.datasets import load, make_source_tracking
from gapkernel.estimators import SVC, Search
from gapkernel.imputation import ChainedEquations
from gapkernel.kernels import HeterogeneousKernel
from gapkernel.papers.microbiology.completion_kernel import CompletionKernel
from gapkernel.papers.microbiology.naive_bayes import CategoricalNaiveBayes
from gapkernel.papers.study import Claim, Report, ReportTable, Size, beside_the_paper, with_error
from gapkernel.studies import Protocol, Task, fold_of, tasks_of

DATASETS = {
    "source_tracking": "simulated source tracking",
    "house_votes": "house votes",
    "primary_tumor": "primary tumour",
}
LABELS = {"1ke": "1KE", "2ke": "2KE", "1mi": "1MI", "2mi": "2MI", "nb": "naive Bayes"}
PAPER = {"1ke": 79.3, "2ke": 78.2, "1mi": 79.9, "2mi": 79.0, "nb": 77.9}
PAPER_CLASSES = {
    "1ke": (95.4, 64.5, 75.2, 69.4),
    "2ke": (92.6, 62.8, 71.8, 74.2),
    "1mi": (92.7, 66.4, 69.4, 80.2),
    "2mi": (94.5, 57.5, 70.8, 78.8),
}
SOURCES = ("human", "cow", "poultry", "swine")
SMALLEST_CLASS = 10
COMPARABLE, MUCH = 2.0, 3.0
"""Points of accuracy that are no difference (the paper's four lie within 1.7), and how many times more is much more."""


@dataclass(frozen=True, kw_only=True)
class FoldOfTable1(Protocol):
    """Which rows of a fold each penalty gets right, everything learned from the other folds."""

    Cs: tuple[float, ...]
    n_folds: int = 10
    n_imputations: int = 10

    def result(self, task: Task) -> dict[str, Any]:
        X, y = table(task, self.data_dir)
        train, test = fold_of(task, y, self.n_folds)
        right = np.array([guess == y[test] for guess in self.predictions(task, X, y, train, test)])
        return {
            "right": right.sum(axis=1).tolist(),
            "rows": len(test),
            "right_by_class": {str(c): right[:, y[test] == c].sum(axis=1).tolist() for c in np.unique(y)},
            "rows_by_class": {str(c): int((y[test] == c).sum()) for c in np.unique(y)},
        }

    def predictions(self, task: Task, X, y, train, test) -> list[np.ndarray]:
        """Predictions of the test rows for each penalty."""
        if task.method == "nb":
            return [CategoricalNaiveBayes().fit(X[train], y[train]).predict(X[test])] * len(self.Cs)
        if task.method in ("1ke", "2ke"):
            kernel = HeterogeneousKernel() if task.method == "1ke" else CompletionKernel()
            svm = SVC(kernel=kernel, categorical_features=np.ones(X.shape[1], bool), break_ties=True)
            search = Search(svm, X, y, [(train, test)])
            return search.results([{"C": C} for C in self.Cs], lambda model, new, truth, weight: model.predict(new))[0]
        imputer = self.imputer(X, task.split_seed)
        completed, new = imputer.fit_transform_all(X[train], y[train]), imputer.transform_all(X[test])
        if task.method == "2mi":
            pairs = zip(completed, new, strict=True)
            sets = [(overlap(here, here), y[train], [overlap(there, here)]) for here, there in pairs]
            return [pooled(C, sets) for C in self.Cs]
        rows, labels = np.concatenate(completed), np.tile(y[train], len(completed))
        sets = [(overlap(rows, rows), labels, [overlap(there, rows) for there in new])]
        return [pooled(C / len(completed), sets) for C in self.Cs]

    def imputer(self, X, seed: int) -> ChainedEquations:
        """Logistic and multinomial regressions on the columns that Kendall's tau and usable cases suggest."""
        levels = [len(np.unique(column[~np.isnan(column)])) for column in X.T]
        return ChainedEquations(
            n_imputations=self.n_imputations,
            categorical_features=[k for k, n in enumerate(levels) if n > 2],
            use_target=True,
            predictors="selected",
            random_state=seed % 2**31,
        )


def table(task: Task, data_dir: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Category codes with gaps, and the classes that are large enough for ten folds."""
    if task.dataset == "source_tracking":
        X, y = make_source_tracking(random_state=0)
        return X.to_numpy(), y
    X, y = load(task.dataset, data_dir)
    codes = np.column_stack([X[c].cat.codes.to_numpy(dtype=float) for c in X])
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= SMALLEST_CLASS])
    return np.where(codes < 0, np.nan, codes)[kept], y[kept]


def overlap(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Share of equal columns, for complete rows."""
    return 1.0 - cdist(left, right, "hamming")


def pooled(C: float, sets) -> np.ndarray:
    """The class with the highest decision value, summed over completions of the new rows.

    ``sets`` has a Gram matrix, its labels and the matrices of the new rows for each SVM.
    """
    total: Any = 0.0
    for gram, labels, crosses in sets:
        svm = CompleteSVC(kernel="precomputed", C=C).fit(gram, labels)
        values = sum(svm.decision_function(cross) for cross in crosses)
        total = total + (np.column_stack([-values, values]) if values.ndim == 1 else values)
    return svm.classes_[total.argmax(axis=1)]


QUICK = Size(draws=2, protocol=FoldOfTable1(Cs=(0.25, 0.5, 1.0, 2.0, 4.0, 8.0)))
FULL = Size(draws=10, protocol=FoldOfTable1(Cs=(0.1, 0.2, 0.5, 0.8, 1.0, 1.3, 1.6, 2.0, 3.0, 4.0, 8.0)))
SIZES = {"quick": QUICK, "standard": FULL, "full": FULL}


def reproduce(context) -> Report:
    """Run the study and make its report."""
    size = SIZES[context.size]
    tasks = tasks_of(dataset=DATASETS, method=LABELS, repeat=range(size.draws), fold=range(size.protocol.n_folds))
    return report(context.run("microbiology", size.protocol, tasks), size)


def report(frame, size: Size[FoldOfTable1]) -> Report:
    """Table 1 from the results."""
    out = Report.of(frame)
    summary = {key: summarised(part, size.protocol.Cs) for key, part in frame.groupby(["dataset", "method"])}
    out.tables = [table1(summary), class_table(summary), beside_the_paper(claims(summary))]
    out.remarks = [
        f"{size.draws} x 10 folds (the paper: 10 x 10), C from {size.protocol.Cs}; the best C is chosen on the folds "
        "that are reported, as in the paper, which is optimistic: the column with the worst C shows by how much at "
        "most.",
        "The paper's data are private. A simulated problem of their shape (138 rows, 9 markers, 4 sources, 17 % gaps) "
        "and two public data sets of categories with gaps stand in, so no number can be compared with the paper's; but "
        "how close the four approaches are, and what they cost, can.",
        "The paper does not say which kernel its multiple imputation used; here it is the overlap kernel on completed "
        "rows. New rows are completed by the chains without their label; 2MI averages decision values, so that it is "
        "one classifier, where the paper averages accuracies. Each copy of a row in 1MI weighs 1/10.",
        f"Primary tumour: classes with at least {SMALLEST_CLASS} rows.",
    ]
    return out


def summarised(part, Cs) -> dict[str, Any]:
    """Accuracy of the best and of the worst penalty, and of each repetition and class with the best."""
    right = np.array(part["right"].tolist())
    accuracy = right.sum(axis=0) / part["rows"].sum()
    best = int(accuracy.argmax())
    by_repeat = part.assign(right=right[:, best]).groupby("repeat")[["right", "rows"]].sum()
    by_class = {
        name: sum(row[name][best] for row in part["right_by_class"]) / sum(row[name] for row in part["rows_by_class"])
        for name in part["rows_by_class"].iloc[0]
    }
    return {
        "accuracy": 100 * by_repeat["right"] / by_repeat["rows"],
        "worst": 100 * accuracy.min(),
        "C": Cs[best],
        "classes": {name: 100 * value for name, value in by_class.items()},
        "seconds": float(part["seconds"].mean()),
    }


def table1(summary) -> ReportTable:
    """Accuracy and cost of the approaches on each data set."""
    rows: list[tuple[str, ...]] = []
    for dataset, title in DATASETS.items():
        for method, label in LABELS.items():
            one = summary[dataset, method]
            C = "" if method == "nb" else f"{one['C']:g}"
            paper = f"{PAPER[method]:.1f}" if dataset == "source_tracking" else ""
            cells = (with_error(one["accuracy"]), f"{one['worst']:.1f}", C, f"{one['seconds']:.2f}", paper)
            rows.append((title, label, *cells))
    header = ("data", "approach", "accuracy, %", "with the worst C", "best C", "s for a fold", "paper, private data, %")
    return ReportTable("Table 1", header, rows, "Standard errors are over repetitions.", keys=2)


def class_table(summary) -> ReportTable:
    """Accuracy of each source, the paper's private data beside the simulated ones."""
    rows = []
    for method, label in LABELS.items():
        ours = [f"{summary['source_tracking', method]['classes'][name]:.1f}" for name in SOURCES]
        paper = [f"{value:.1f}" for value in PAPER_CLASSES.get(method, ())] or [""] * len(SOURCES)
        rows.append((label, *ours, *paper))
    header = ("approach", *SOURCES, *(f"{name}, paper" for name in SOURCES))
    return ReportTable("Accuracy of each class in per cent, simulated source tracking", header, rows)


def claims(summary) -> list[Claim]:
    """What the paper says of its four approaches, and what came out on the stand-ins."""
    four = ("1ke", "2ke", "1mi", "2mi")
    out = []
    for dataset, title in DATASETS.items():
        best, worst = (
            choice((summary[dataset, method]["accuracy"] for method in four), key=lambda repeats: repeats.mean())
            for choice in (max, min)
        )
        apart = best - worst
        what, ours = f"the four approaches are comparable ({title})", f"{worst.mean():.1f} to {best.mean():.1f} %"
        out.append(Claim(what, "78.2 to 79.9 %", ours, COMPARABLE - apart.mean(), apart.sem()))
    kernel, chains = (
        [summary[dataset, method]["seconds"] for dataset in DATASETS for method in pair]
        for pair in (four[:2], four[2:])
    )
    ratios = [slow / fast for slow, fast in zip(chains, kernel, strict=True)]
    cost = f"{min(ratios):.0f} to {max(ratios):.0f} times"
    out.append(Claim("multiple imputation costs much more", "much", cost, min(ratios) - MUCH))
    gap = summary["source_tracking", "1ke"]["accuracy"] - summary["source_tracking", "nb"]["accuracy"]
    ours = f"{with_error(gap)} points"
    out.append(Claim("1KE is ahead of naive Bayes", "1.4 points", ours, gap.mean(), gap.sem()))
    return out
