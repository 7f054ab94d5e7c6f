"""Curves over the share of gaps, one panel for each data set."""

from __future__ import annotations

import numpy as np

from gapkernel.plots.drawing import PALETTE, pyplot

STYLES = ("-", "--", "-.", ":")


def curves(panels: dict, ylabel: str, *, xlabel="removed cells, %", columns=4, bars=True):
    """A figure with one panel for each entry of ``panels``.

    ``panels[title][label]`` is a list of (x, mean, standard error).
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


def points_of(frame, by: str, score: str, scale: float = 100.0) -> dict:
    """``curves`` for one panel: label -> (100 x fraction, mean, standard error) over the lines of a frame."""
    found: dict = {}
    for (label, fraction), part in frame.groupby([by, "fraction"], sort=False):
        values = scale * part[score].to_numpy(dtype=float)
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        found.setdefault(label, []).append((100.0 * fraction, values.mean(), error))
    return found
