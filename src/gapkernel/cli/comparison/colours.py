"""The colours of the page, for light and for dark screens."""

from __future__ import annotations

import re

from gapkernel.plots.drawing import GRID, MISSING, OBSERVED, PALETTE, SOFT
from gapkernel.studies.candidates import COMPARED

LIGHT = {
    "ink": "#1c2733",
    "soft": SOFT,
    "line": GRID,
    "paper": "#ffffff",
    "wash": "#f4f6f8",
    "won": "#eef5fb",
    "observed": OBSERVED,
    "missing": MISSING,
}
DARK = {
    "ink": "#e6edf3",
    "soft": "#9fadba",
    "line": "#2b3946",
    "paper": "#17212b",
    "wash": "#0f171f",
    "won": "#1d2c3a",
    "observed": "#3b5a75",
    "missing": "#ff8a73",
}
DARK_PALETTE = (
    *("#5fb0ee", "#6cc070", "#3fc0c8", "#a39ef5", "#ee9a63", "#dcae45", "#e08ab5", "#8fb0dc", "#b0b0b0", "#d5dee7"),
)
ALIKE = {"gap-quick": "gap", "fourier": "genrbf", "fourier-quick": "genrbf", "mean_landmarks": "mean_indicator"}
"""Methods that are never on one page, and share a colour."""


def colour_of(method: str) -> str:
    """The colour of a method on a light screen."""
    known = (*COMPARED, "linear")
    return PALETTE[known.index(ALIKE.get(method, method))]


def coloured(svg: str) -> str:
    """A figure whose colours follow the screen: each is replaced by the name that `style_of` gives it."""
    names = {value: name for name, value in LIGHT.items()} | {value: value[1:] for value in PALETTE}
    return re.sub("|".join(names), lambda found: f"var(--{names[found.group()]})", svg)


def style_of(method: str) -> str:
    """The colours by name, those of a dark screen where a person prefers it, with the accent of a method."""
    light = LIGHT | {value[1:]: value for value in PALETTE}
    dark = DARK | {light[1:]: dark for light, dark in zip(PALETTE, DARK_PALETTE, strict=True)}
    accent = f"--accent: var(--{colour_of(method)[1:]});"
    return (
        f":root {{ color-scheme: light dark; {_declared(light)} {accent} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_declared(dark)} }} }}"
    )


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
