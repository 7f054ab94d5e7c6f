"""Nebot-Troyano, Belanche: the synthetic problem (Fig. 1) and the real data sets (Table 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gapkernel.papers.kernel_extension.table2 import REGRESSION, GridCV, NestedGridCV
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
from gapkernel.studies import Grid, powers_of_two, tasks_of

PAPER = {  # Table 2
    "credit_crx": ("CREDITCRX", 44.49, 13.80, 14.09, 12.81, 12.54),
    "horse_colic_23": ("HORSECOLIC-23", 38.53, 29.23, 29.90, 29.14, 27.54),
    "horse_colic_24": ("HORSECOLIC-24", 36.96, 16.50, 18.89, 15.95, 15.47),
    "servo": ("SERVO", 1.000, 0.406, 0.406, 0.541, 0.321),
    "source_tracking": ("FECALSOURCE", 65.54, 31.37, 29.32, 25.21, 23.87),
    "water_treatment": ("WWTP", 1.000, 0.456, 0.531, 0.396, 0.395),
}
MAJORITY_ERROR = 47.5
STAND_INS = ("source_tracking", "water_treatment")
TABLE_LABELS = {"rbf1": "RBF1", "rbf2": "RBF2", "ehk": "EHK", "ehk_alpha": "EHK_alpha"}
CURVES = {
    "rbf1": "RBF1",
    "rbf2": "RBF2",
    "ehk_known": "EHK1 (true laws)",
    "ehk_alpha_known": "EHKF1 (true laws)",
    "ehk": "EHK2",
    "ehk_alpha": "EHKF2",
}


@dataclass(frozen=True, kw_only=True)
class TableAndFigure(Size[GridCV]):
    """How much of the experiments to do: ``protocol`` is that of Table 2, the figure has one of its own."""

    figure_protocol: GridCV
    figure_repeats: int
    repeats: int
    nested_methods: tuple[str, ...]
    nested_repeats: int
    data: tuple[str, ...]


WIDTHS, FEW_WIDTHS = powers_of_two(*range(-9, 2, 2)), powers_of_two(-7, -5, -3)
WIDE = {
    "classification": Grid(C=tuple((10.0 ** np.arange(-1, 2.1, 0.5)).tolist()), gamma=WIDTHS),
    "regression": Grid(
        C=(1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
        gamma=WIDTHS,
        alpha=(0.1, 0.3, 0.5, 0.7, 0.9),
        epsilon=(0.001, 0.05),
    ),
}
NARROW = {
    "classification": Grid(C=(1.0, 10.0, 100.0), gamma=FEW_WIDTHS, alpha=(0.5, 0.9, 0.99)),
    "regression": Grid(C=(10.0,), gamma=FEW_WIDTHS, alpha=(0.1, 0.5, 0.9), epsilon=(0.01,)),
}
REAL = ("credit_crx", "horse_colic_23", "horse_colic_24", "servo")
QUICK = TableAndFigure(
    protocol=GridCV(grids=WIDE),
    repeats=2,
    nested_methods=("ehk_alpha",),
    nested_repeats=1,
    data=(*REAL, "source_tracking"),
    figure_protocol=GridCV(grids=NARROW, n_folds=5),
    figure_repeats=1,
    fractions=(0.0, 0.05, 0.2, 0.4, 0.6, 0.8),
    draws=3,
)
FULL = TableAndFigure(
    protocol=GridCV(grids=WIDE),
    repeats=10,
    nested_methods=tuple(TABLE_LABELS),
    nested_repeats=10,
    data=tuple(PAPER),
    figure_protocol=GridCV(grids=WIDE),
    figure_repeats=10,
    fractions=tuple(k / 20 for k in range(18)),
    draws=50,
)
STANDARD = replace(
    FULL, fractions=(*FULL.fractions[:2], *FULL.fractions[2::2]), draws=10, figure_repeats=1, nested_repeats=3
)
SIZES = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def reproduce(context) -> Report:
    """Run the three studies and make the report."""
    size = SIZES[context.size]
    table_tasks = tasks_of(dataset=size.data, method=TABLE_LABELS, repeat=range(size.repeats))
    nested_tasks = tasks_of(
        dataset=size.data, method=size.nested_methods, repeat=range(size.nested_repeats), fold=range(10)
    )
    figure_tasks = tasks_of(
        dataset=["synthetic"],
        mechanism=["mcar"],
        fraction=size.fractions,
        draw=range(size.draws),
        repeat=range(size.figure_repeats),
        method=CURVES,
    )
    table = context.run("ehk-table2", size.protocol, table_tasks)
    nested = context.run("ehk-table2-nested", NestedGridCV(grids=size.protocol.grids), nested_tasks)
    figure = context.run("ehk-figure1", size.figure_protocol, figure_tasks)
    return report(table, nested, figure, size)


def report(table, nested, figure, size: TableAndFigure) -> Report:
    """Table 2 and Fig. 1 from the results."""
    out = Report.of(table, nested, figure)
    best, honest = (as_printed(losses) for losses in (best_cells(table), nested_losses(nested)))
    out.tables = [table2(size, best, honest)]
    points = figure_points(figure)
    panels = {"synthetic problem": points_of(points, "label", "error")}
    drawn = curves(panels, "error, %", xlabel="missing values, %", line=MAJORITY_ERROR)
    caption = "Error on the synthetic problem, best cell of the grid; the line is the majority class."
    out.add_figure("figure1_synthetic", drawn, caption)
    out.tables += [figure_table(points, size), beside_the_paper(claims(size, best, points))]
    out.findings = findings(size, best, honest, points)
    out.remarks = [
        f"Table 2: {size.repeats} x 10 folds (the paper: 10 x 10); nested: {size.nested_repeats} x 10 outer, 5 inner "
        "folds. The best cell of a grid, chosen on the folds that are reported, is optimistic; nesting is not.",
        f"Figure 1: {size.draws} data sets of 500 rows with {size.figure_repeats} x {size.figure_protocol.n_folds} "
        "folds for each point (the paper: 50 data sets, 10 x 10 folds).",
        "The paper does not give its grids. Numbers are standardised for the RBF kernels. Windows have the half-width "
        "sqrt(3) times the Sheather-Jones bandwidth.",
        "Errors of regression are root mean square errors over those of the mean, averaged over folds.",
        "FECALSOURCE and WWTP are private: a simulated problem of the shape of the former (138 x 9 binary, 4 classes), "
        "and the public water treatment data, stand in; their numbers cannot be compared with the paper's.",
    ]
    return out


def best_cells(table, by=("dataset", "method")) -> dict[tuple, float]:
    """Loss of the best cell of the grid, averaged over repetitions first."""
    return {
        key: float(np.mean(np.array(part["losses"].tolist()), axis=0).min())
        for key, part in table.groupby(list(by), sort=False)
    }


def figure_points(figure):
    """Fig. 1: a line for each share of gaps, data set and method with the error of its best cell."""
    import pandas

    by = ("fraction", "draw", "method")
    points = pandas.DataFrame([(*key, error) for key, error in best_cells(figure, by).items()], columns=[*by, "error"])
    return points.assign(label=points["method"].map(CURVES))


def nested_losses(nested) -> dict[tuple[str, str], float]:
    """Loss by nested cross-validation: over rows for classes, over folds for numbers."""
    losses = {}
    for (dataset, method), part in nested.groupby(["dataset", "method"]):
        weight = np.ones(len(part)) if dataset in REGRESSION else part["rows"].to_numpy(dtype=float)
        losses[dataset, method] = float(np.average(part["loss"], weights=weight))
    return losses


def table2(size: TableAndFigure, best, honest) -> ReportTable:
    """Ours beside the paper's."""
    header = ("data", "base", *(f"{label}{which}" for label in TABLE_LABELS.values() for which in ("", ", paper")))
    header += tuple(f"{TABLE_LABELS[m]}, nested" for m in size.nested_methods)
    rows = []
    for dataset in size.data:
        name, base, *paper = PAPER[dataset]
        title = f"{name} (stand-in {dataset})" if dataset in STAND_INS else name
        values = [written(dataset, base)]
        for method, number in zip(TABLE_LABELS, paper, strict=True):
            values += [written(dataset, best[dataset, method]), written(dataset, number)]
        rows.append((title, *values, *(written(dataset, honest[dataset, m]) for m in size.nested_methods)))
    note = "Error in per cent; SERVO and WWTP: normalised root mean square error. Base is the paper's."
    return ReportTable("Table 2", header, rows, note)


def as_printed(losses) -> dict[tuple[str, str], float]:
    """Losses in the units of the paper: shares of errors in per cent."""
    return {key: value * (1 if key[0] in REGRESSION else 100) for key, value in losses.items()}


def written(dataset: str, value: float) -> str:
    """A loss as the paper prints it."""
    return f"{value:.{3 if dataset in REGRESSION else 2}f}"


def figure_table(points, size: TableAndFigure) -> ReportTable:
    """The numbers behind Fig. 1."""
    means = points.pivot_table(index="fraction", columns="label", values="error")
    rows = [(percent(f), *(f"{100 * means.loc[f, label]:.1f}" for label in CURVES.values())) for f in means.index]
    return ReportTable(
        "Figure 1", ("missing", *CURVES.values()), rows, "Error in per cent. The paper gives a figure only."
    )


def findings(size: TableAndFigure, best, honest, points) -> list[str]:
    """EHK_alpha in Table 2 beside the best method, and the order of Fig. 1."""
    out = []
    for dataset in (name for name in size.data if name not in STAND_INS):
        name, *_, paper = PAPER[dataset]
        ahead = min(TABLE_LABELS, key=lambda method: best[dataset, method])
        ours, nested, least = (
            written(dataset, loss)
            for loss in (best[dataset, "ehk_alpha"], honest[dataset, "ehk_alpha"], best[dataset, ahead])
        )
        out.append(
            f"{name}: EHK_alpha has an error of {ours} by the paper's protocol (the paper: {written(dataset, paper)}) "
            f"and of {nested} nested; the least is that of {TABLE_LABELS[ahead]}, {least}."
        )
    means = points[points["fraction"] > 0].groupby("label")["error"].mean().sort_values()
    order = ", ".join(f"{label} {100 * value:.1f}" for label, value in means.items())
    out.append(f"Synthetic problem, mean error over all shares of gaps: {order}.")
    return out


def claims(size: TableAndFigure, best, points) -> list[Claim]:
    """What the paper says, and what came out here."""
    real = [name for name in size.data if name not in STAND_INS]
    out = []
    for dataset in real:
        name, paper = PAPER[dataset][0], PAPER[dataset][-1]
        value = best[dataset, "ehk_alpha"]
        near = bool(abs(value - paper) <= allowed(dataset))
        why = "" if near else "The paper does not give its grid."
        out.append(Claim(f"EHK_alpha on {name}", written(dataset, paper), written(dataset, value), near, why))
    ahead = [name for name in real if min(TABLE_LABELS, key=lambda m: best[name, m]) == "ehk_alpha"]
    out.append(
        Claim(
            "EHK_alpha is the best of the four",
            "on every table",
            f"on {len(ahead)} of {len(real)}",
            len(ahead) == len(real),
            "Our RBF kernels, tuned over a wide grid on standardised columns, make fewer errors than the paper's.",
        )
    )
    by_draw = 100 * points[points["fraction"] > 0].pivot_table(index="draw", columns="label", values="error")
    others = by_draw.drop(columns=CURVES["ehk_alpha_known"])
    rival = others.mean().idxmin()
    fewer = others[rival] - by_draw[CURVES["ehk_alpha_known"]]
    room = 2 * fewer.sem() if len(fewer) > 1 else 0.0
    out.append(
        Claim(
            "EHKF1 is the best on the synthetic problem",
            "yes",
            f"{with_error(fewer, 2, '+')} points before {rival}",
            bool(fewer.mean() > 0) if abs(fewer.mean()) > room else None,
            "Over all shares of gaps, with the standard error over the data sets drawn; open within two of them.",
        )
    )
    means = 100 * points.pivot_table(index="fraction", columns="label", values="error")
    none, first = means.index[:2]
    jump, other = (means.loc[first, label] - means.loc[none, label] for label in ("RBF2", "RBF1"))
    out.append(
        Claim(
            f"RBF2 falls from 0 to {percent(first)} of gaps",
            "drastically, from 0 to 5 %",
            f"{jump:+.1f} points, RBF1 {other:+.1f}",
            bool(jump > 2 * other),
            "Columns for gaps come in at this step, but C and the width are tuned again there.",
        )
    )
    return out


def allowed(dataset: str) -> float:
    """How far from the paper's a loss may be and still agree."""
    return 0.03 if dataset in REGRESSION else 0.5
