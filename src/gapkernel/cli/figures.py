"""Figures as SVG text: drawn by hand so that they need no library, no font and no script where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np

WIDTH = 440
INK, SOFT, GRID = "#1c2733", "#5b6875", "#e3e8ed"
COLOURS = {
    "genrbf": "#0b6fb8",
    "genrbf-indicator": "#2e7d32",
    "rbf": "#0c8a91",
    "ehk": "#5a54c4",
    "linear": "#3d5a80",
    "mean": "#c0632b",
    "iterative": "#a8740a",
    "boosting": "#9a3f6d",
    "xgboost": "#6d6d6d",
}


class Scale:
    """A linear map from values to places."""

    def __init__(self, low: float, high: float, begin: float, end: float):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.begin + share * (self.end - self.begin), 1)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the range."""
        return round_steps(self.low, self.high, about)


def round_steps(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from ``low`` to ``high``."""
    raw = max(high - low, 1e-12) / about
    unit = 10.0 ** np.floor(np.log10(raw))
    step = unit * min((factor for factor in (1, 2, 5, 10)), key=lambda factor: abs(factor - raw / unit))
    first = np.ceil(low / step - 1e-9) * step
    return [float(round(first + k * step, 12)) for k in range(int((high - first) / step + 1e-9) + 1)]


def svg(height: float, title: str, parts: Sequence[str]) -> str:
    """A figure of the common width; the title is read aloud by screen readers."""
    name = escape(title, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def text(x, y, words, *, anchor="start", colour=INK, size=13, weight="normal") -> str:
    """Words at a place."""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-size="{size}" '
        f'font-weight="{weight}">{escape(str(words))}</text>'
    )


def line(x1, y1, x2, y2, *, colour=GRID, width=1.0, dash="") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="{width}"{dashes}/>'


def dot(x, y, colour, *, radius=4.5, hollow=False) -> str:
    """A point: full for machines of this package, hollow for others."""
    fill = "#fff" if hollow else colour
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def path(points, colour, *, width=2.2, dash="") -> str:
    """A line through points."""
    places = " ".join(f"{x},{y}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>'


def intervals(rows, show, tick_label, title: str) -> str:
    """A dot with its interval for each row ``(label, colour, mean, margin, spots, hollow)``; spots are single folds."""
    low = min(min(spots.min(), mean - margin) for _, _, mean, margin, spots, _ in rows)
    high = max(max(spots.max(), mean + margin) for _, _, mean, margin, spots, _ in rows)
    scale = Scale(low, high, 16, WIDTH - 20)
    step, parts = 52, []
    height = step * len(rows) + 26
    for tick in scale.ticks(4):
        parts.append(line(scale(tick), 4, scale(tick), height - 22))
        parts.append(text(scale(tick), height - 6, tick_label(tick), anchor="middle", colour=SOFT, size=12))
    for k, (label, colour, mean, margin, spots, hollow) in enumerate(rows):
        y = step * k + 29
        parts.append(text(10, y - 12, label, weight="600", colour=colour))
        parts.append(text(WIDTH - 10, y - 12, f"{show(mean)} ± {show(margin)}", anchor="end", colour=SOFT, size=12.5))
        parts += [f'<circle cx="{scale(s)}" cy="{y + 10}" r="3" fill="{colour}" opacity="0.3"/>' for s in spots]
        parts.append(line(scale(mean - margin), y, scale(mean + margin), y, colour=colour, width=2.4))
        parts.append(dot(scale(mean), y, colour, hollow=hollow))
    return svg(height, title, parts)


def curves(x: Sequence[float], series, show, title: str, label: str) -> str:
    """Lines ``(label, colour, values, hollow)`` over shares of hidden cells, named at their right ends."""
    every = np.concatenate([values for _, _, values, _ in series])
    pad = 0.05 * (every.max() - every.min() or 1.0)
    room = 116
    across = Scale(min(x), max(x), 46, WIDTH - room)
    up = Scale(every.min() - pad, every.max() + pad, 268, 14)
    parts = []
    for tick in up.ticks():
        parts.append(line(46, up(tick), WIDTH - room, up(tick)))
        parts.append(text(40, up(tick) + 4, show(tick), anchor="end", colour=SOFT, size=12))
    for share in x:
        parts.append(text(across(share), 288, f"{share:.0%}", anchor="middle", colour=SOFT, size=12))
    parts.append(text((46 + WIDTH - room) / 2, 308, label, anchor="middle", colour=SOFT, size=12.5))
    ends = spaced([up(values[-1]) for _, _, values, _ in series], 15.5, 268)
    for (name, colour, values, hollow), end in zip(series, ends, strict=True):
        points = [(across(a), up(b)) for a, b in zip(x, values, strict=True)]
        parts.append(path(points, colour, dash="5 4" if hollow else ""))
        parts += [dot(a, b, colour, radius=3.4, hollow=hollow) for a, b in points]
        parts.append(line(points[-1][0] + 5, points[-1][1], WIDTH - room + 14, end, colour=colour, width=0.8))
        parts.append(text(WIDTH - room + 17, end + 4, name, colour=colour, size=11.5, weight="600"))
    return svg(316, title, parts)


def spaced(places: Sequence[float], apart: float, lowest: float) -> list[float]:
    """Places moved as little as needed to be ``apart``, none below ``lowest`` (places grow downwards)."""
    order = np.argsort(places, kind="stable")
    out = np.array(places, dtype=float)
    for before, after in pairwise(order):
        out[after] = max(out[after], out[before] + apart)
    over = out[order[-1]] - lowest
    if over > 0:
        out[order[-1]] -= over
        for after, before in pairwise(order[::-1]):
            out[before] = min(out[before], out[after] - apart)
    return [round(float(place), 1) for place in out]


def reliability(found, colour: str, title: str) -> str:
    """Promised against observed frequency, with intervals, and the diagonal of perfect promises."""
    across, up = Scale(0, 1, 46, WIDTH - 24), Scale(0, 1, 268, 14)
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(line(46, up(tick), WIDTH - 24, up(tick)))
        parts.append(text(40, up(tick) + 4, f"{tick:.0%}", anchor="end", colour=SOFT, size=12))
        parts.append(text(across(tick), 288, f"{tick:.0%}", anchor="middle", colour=SOFT, size=12))
    parts.append(line(across(0), up(0), across(1), up(1), colour=SOFT, dash="3 4"))
    parts.append(text(across(0.5), 308, f"promised: {found.what}", anchor="middle", colour=SOFT, size=12.5))
    for x, low, high in zip(found.promised, found.low, found.high, strict=True):
        parts.append(line(across(x), up(low), across(x), up(high), colour=colour, width=1.6))
    parts += [dot(across(x), up(y), colour) for x, y in zip(found.promised, found.happened, strict=True)]
    return svg(316, title, parts)


def scatter(guess, truth, colour: str, show, title: str, name: str) -> str:
    """Predicted against true values."""
    low, high = float(min(guess.min(), truth.min())), float(max(guess.max(), truth.max()))
    across, up = Scale(low, high, 62, WIDTH - 24), Scale(low, high, 268, 14)
    parts = []
    for tick in up.ticks(4):
        parts.append(line(62, up(tick), WIDTH - 24, up(tick)))
        parts.append(text(56, up(tick) + 4, show(tick), anchor="end", colour=SOFT, size=12))
        parts.append(text(across(tick), 288, show(tick), anchor="middle", colour=SOFT, size=12))
    parts.append(line(across(low), up(low), across(high), up(high), colour=SOFT, dash="3 4"))
    parts.append(text(across((low + high) / 2), 308, f"predicted {name}", anchor="middle", colour=SOFT, size=12.5))
    parts += [
        f'<circle cx="{across(x)}" cy="{up(y)}" r="3" fill="{colour}" opacity="0.35"/>'
        for x, y in zip(guess, truth, strict=True)
    ]
    return svg(316, title, parts)


def gap_patterns(summary, title: str, most: int = 10) -> str:
    """The most frequent patterns as lines of cells, with how many rows have each, and the gaps of each column below."""
    columns, shown = summary.n_columns, min(len(summary.patterns), most)
    side, named = min(34.0, (WIDTH - 112) / columns), columns <= 26
    top = 12 + (6.2 * min(20, max(map(len, summary.names))) if named else 0)
    parts = []
    for j, name in enumerate(summary.names if named else ()):
        x, short = round(10 + side * (j + 0.6), 1), name if len(name) <= 20 else name[:19] + "…"
        words = text(x, top - 6, short, size=11.5, colour=SOFT)
        parts.append(words.replace("<text", f'<text transform="rotate(-58 {x} {top - 6:.1f})"'))
    for k in range(shown):
        y = top + 26 * k
        parts += [_cell(10 + side * j, y, side, gap) for j, gap in enumerate(summary.patterns.gaps[k])]
        count, x = int(summary.patterns.counts[k]), 16 + side * columns
        parts.append(text(x, y + 16, f"{count} {'row' if count == 1 else 'rows'}", size=12.5, weight="600"))
        parts.append(text(x + 74, y + 16, share_of(count, summary.n_rows), size=12, colour=SOFT))
    y = top + 26 * shown + 14
    if side >= 20:
        for j, count in enumerate(summary.column_gaps):
            place = round(10 + side * (j + 0.5), 1)
            parts.append(
                text(place, y, int(count) or "·", anchor="middle", size=11.5, colour="#a32f2f" if count else SOFT)
            )
        parts.append(text(16 + side * columns, y, "gaps", size=12, colour=SOFT))
        y += 18
    rest = summary.patterns.counts[shown:]
    if len(rest):
        parts.append(text(10, y + 2, f"and {len(rest)} further patterns, {rest.sum()} rows", size=12, colour=SOFT))
        y += 18
    return svg(y, title, parts)


def share_of(count: int, total: int) -> str:
    """A share in per cent; a small one is not none."""
    return "<1%" if 0 < count < 0.005 * total else f"{count / total:.0%}"


def _cell(x: float, y: float, side: float, gap: bool) -> str:
    """A value that is there, or one that is not."""
    margin = 1.5 if side > 6 else 0.2
    look = 'fill="#fff" stroke="#c23b3b" stroke-dasharray="3 2"' if gap else f'fill="{COLOURS["genrbf"]}" opacity="0.8"'
    place = f'x="{x + margin:.1f}" y="{y + 1.5:.1f}" width="{side - 2 * margin:.1f}" height="21"'
    return f'<rect {place} rx="3" {look}/>'
