"""Figures of a reproduced paper: curves over the share of gaps, bars, and points on lines."""

from __future__ import annotations

import numpy as np

from gapkernel.plots import PALETTE, pyplot

STYLES = ("-", "--", "-.", ":")


def curves(panels: dict, ylabel: str, *, xlabel="removed cells, %", columns=4, bars=True, line=None):
    """A figure with one panel for each entry of ``panels``.

    ``panels[title][label]`` is a list of (x, mean, standard error); ``line`` is a height to compare with.
    """
    plt = pyplot("curves")
    columns = min(columns, len(panels))
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


def bars(groups, series: dict, ylabel: str):
    """A figure with bars side by side in each group; ``series[label]`` is a list of (height, deviation)."""
    figure, ax = pyplot("bars").subplots(figsize=(8, 3.2), layout="constrained")
    places, width = np.arange(len(groups)), 0.8 / len(series)
    for k, (label, values) in enumerate(series.items()):
        heights, deviations = zip(*values, strict=True)
        left = places + (k - (len(series) - 1) / 2) * width
        ax.bar(left, heights, 0.92 * width, yerr=deviations, capsize=2, label=label)
    ax.set_xticks(places, groups)
    ax.set(ylabel=ylabel, ylim=(0, 105))
    figure.legend(ncols=len(series), fontsize=8, loc="outside lower center", frameon=False)
    return figure


def points_on_lines(lines: dict, references: dict, xlabel: str):
    """A figure with a line for each label; ``lines[label]`` are its points, ``references[label]`` the paper's."""
    figure, ax = pyplot("points_on_lines").subplots(figsize=(7, 2.8), layout="constrained")
    names = list(lines)
    here = [(x, names.index(label)) for label, points in lines.items() for x in points]
    paper = [(x, names.index(label)) for label, x in references.items()]
    ax.plot(*zip(*here, strict=True), "o", color="tab:blue", label="here")
    ax.plot(*zip(*paper, strict=True), "x", color="black", label="paper")
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.invert_yaxis()
    ax.set(xlabel=xlabel, xlim=(0, None))
    ax.legend(fontsize=8, frameon=False)
    return figure
