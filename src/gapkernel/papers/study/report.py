"""What a reproduction leaves behind: tables, figures, and a page that shows both."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gapkernel.compute import written_whole
from gapkernel.plots import PALETTE, pyplot
from gapkernel.studies import duration, versions

STYLES = ("-", "--", "-.", ":")
LONG = 30
"""Letters beyond which a cell is a sentence, which may be broken, and no number."""


@dataclass(frozen=True)
class ReportTable:
    """A table of text.

    Attributes
    ----------
    title : str
        The heading of the table.
    header : tuple of str
        Names of the columns.
    rows : list of tuple of str
        The lines, as text.
    note : str
        A remark below it.
    keys : int
        How many columns say what a line is about.

    Examples
    --------
    >>> from gapkernel.papers.study import ReportTable
    >>> print(ReportTable("Errors", ("method", "error"), [("genrbf", "0.21"), ("mean", "0.24")]).markdown())
    ## Errors
    <BLANKLINE>
    | method | error |
    |---|---|
    | genrbf | 0.21 |
    | mean | 0.24 |
    """

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""
    keys: int = 1

    @classmethod
    def of(cls, title: str, frame, note: str = "") -> ReportTable:
        """The table of a frame of text, its index first; NaN leaves a cell empty."""
        lines = frame.fillna("").reset_index().astype(str)
        return cls(
            title, tuple(lines.columns), list(lines.itertuples(index=False, name=None)), note, frame.index.nlevels
        )

    def markdown(self) -> str:
        """The table as markdown."""
        lines = [f"## {self.title}", "", "| " + " | ".join(self.header) + " |", "|" + "---|" * len(self.header)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else [])])

    def longest(self, column: int) -> int:
        """Letters of the longest cell of a column."""
        return max(len(line[column]) for line in (self.header, *self.rows))

    def in_parts(self, width: int) -> list[list[int]]:
        """The places of the columns, in parts that fit a width, each behind the keys: no number is cut."""
        widths = [min(self.longest(k), LONG) + len(" | ") for k in range(len(self.header))]
        keys = range(self.keys)
        parts = [[*keys]]
        for k in range(self.keys, len(widths)):
            if len(parts[-1]) > self.keys and sum(widths[j] for j in (*parts[-1], k)) >= width:
                parts.append([*keys])
            parts[-1].append(k)
        return parts


class Claim(NamedTuple):
    """What a paper says, and what came out here.

    Attributes
    ----------
    what, paper, ours : str
        The claim, the paper's number or word for it, and ours.
    lead : float
        By how much the claim holds here; below 0 if it does not.
    error : float
        Standard error of the lead, 0 or NaN where it is not known.
    """

    what: str
    paper: str
    ours: str
    lead: float
    error: float = 0.0

    @property
    def verdict(self) -> str:
        """Whether the claim holds here; "open" within two standard errors."""
        return "open" if abs(self.lead) <= 2.0 * self.error else "yes" if self.lead > 0 else "no"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"


def with_error(values, digits: int = 1, sign: str = "-") -> str:
    """The mean of a column of numbers and its standard error; ``sign="+"`` marks positive means too."""
    mean = f"{values.mean():{sign}.{digits}f}"
    return f"{mean} ± {values.sem():.{digits}f}" if len(values) > 1 else mean


def beside_the_paper(claims: Iterable[Claim], note: str = "") -> ReportTable:
    """The claims of a paper as a table."""
    rows: list[tuple[str, ...]] = [(one.what, one.paper, one.ours, one.verdict) for one in claims]
    note = f"{note} Open: within two standard errors, where they are known.".strip()
    return ReportTable("Beside the paper", ("claim", "paper", "ours", "agrees"), rows, note)


@dataclass
class Report:
    """Tables, figures and remarks of a reproduced paper.

    Attributes
    ----------
    title : str
        The heading of the report.
    note : str
        What is said first.
    tables : list of ReportTable
        The tables, in order.
    figures : dict of str to matplotlib Figure
        By file name, without ending.
    captions : dict of str to str
        The text below each figure, by its file name.
    remarks : list of str
        What differs from the paper.
    seconds : float
        Processor time of all tasks together.
    folder : Path or None
        Where `write` put everything.

    Examples
    --------
    >>> from gapkernel.papers import reproduce
    >>> report = reproduce("microbiology")  # doctest: +SKIP
    >>> report.tables, report.folder  # doctest: +SKIP
    """

    title: str = ""
    note: str = ""
    tables: list[ReportTable] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    captions: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    folder: Path | None = None

    @classmethod
    def of(cls, *frames) -> Report:
        """An empty report of results, with the time that they took; None is no result."""
        return cls(seconds=float(sum(frame["seconds"].sum() for frame in frames if frame is not None)))

    def add_figure(self, name: str, figure, caption: str) -> None:
        """Keep a figure with its caption."""
        self.figures[name], self.captions[name] = figure, caption

    def show(self, console) -> None:
        """Print the tables to a rich console."""
        from rich.table import Table

        if self.note:
            console.print(self.note, highlight=False, markup=False)
        for table in self.tables:
            for part, places in enumerate(table.in_parts(console.width)):
                shown = Table(title=None if part else table.title, title_justify="left")
                for k in places:
                    text = k == 0 or table.longest(k) > LONG
                    shown.add_column(table.header[k], justify="left" if text else "right", no_wrap=not text)
                for row in table.rows:
                    shown.add_row(*(row[k] for k in places))
                console.print(shown)
            if table.note:
                console.print(table.note, style="italic dim", highlight=False, markup=False)

    def write(self, folder, command: str) -> Path:
        """Write figures, tables as CSV, and a page ``README.md`` that shows them; the page's path."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            with (
                written_whole(folder / f"{_file_name(table.title)}.csv") as path,
                path.open("w", newline="", encoding="utf-8") as file,
            ):
                csv.writer(file, lineterminator="\n").writerows([table.header, *table.rows])
        for name, figure in self.figures.items():
            with written_whole(folder / f"{name}.png") as path:
                figure.savefig(path, dpi=110)
        packages = ", ".join(f"{name} {number}" for name, number in versions().items())
        parts = [
            f"# {self.title}",
            self.note,
            f"Made by `{command}`: {duration(self.seconds)} of processor time. {packages}.",
            *(table.markdown() for table in self.tables),
            *(f"![{self.captions[name]}]({name}.png)\n\n{self.captions[name]}" for name in self.figures),
        ]
        if self.remarks:
            parts += ["## What differs from the paper", "\n".join(f"- {remark}" for remark in self.remarks)]
        page = folder / "README.md"
        with written_whole(page) as path:
            path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
        self.folder = folder
        return page


def curves(panels: dict, ylabel: str, *, xlabel="removed cells, %", bars=True, line=None):
    """A figure with one panel for each entry of ``panels``.

    ``panels[title][label]`` is a list of (x, mean, standard error); ``line`` is a height to compare with.
    """
    plt = pyplot("curves")
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    size = (max(6.5, 3.3 * columns), 2.6 * lines + (1.7 if columns < 3 else 0.9))
    figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel))
    for ax, (title, panel) in zip(axes.ravel(), panels.items(), strict=False):
        for label, points in panel.items():
            x, mean, error = (np.array(part, dtype=float) for part in zip(*sorted(points), strict=True))
            place = labels.index(label)
            look = {"color": PALETTE[place % len(PALETTE)], "linestyle": STYLES[(place // 5) % 4], "marker": "."}
            reach = np.nan_to_num(error) if bars else None
            ax.errorbar(x, mean, reach, capsize=2, linewidth=1.2, label=label, **look)
        if line is not None:
            ax.axhline(line, color="black", linewidth=0.8)
        ax.set_title(title, fontsize=10)
        ax.tick_params(labelsize=8)
    for ax in axes.ravel()[len(panels) :]:
        ax.axis("off")
    for ax in axes[-1]:
        ax.set_xlabel(xlabel, fontsize=9)
    for ax in axes[:, 0]:
        ax.set_ylabel(ylabel, fontsize=9)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2 if columns < 3 else 5, fontsize=8, frameon=False)
    return figure


def points_of(frame, by: str, score: str) -> dict:
    """``curves`` for one panel in per cent: label -> (fraction, mean, standard error) over the lines of a frame."""
    points: dict = {}
    summary = frame.groupby([by, "fraction"], sort=False)[score].agg(["mean", "sem"]).fillna(0.0)
    for (label, fraction), mean, error in summary.itertuples():
        points.setdefault(label, []).append((100.0 * fraction, 100.0 * mean, 100.0 * error))
    return points


def _file_name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")
