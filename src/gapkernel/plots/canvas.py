"""Where to draw: matplotlib is loaded only when a plot is asked for."""

from __future__ import annotations


def pyplot(display: str):
    """matplotlib.pyplot, or a complaint that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{display} needs matplotlib: pip install gapkernel[plots].") from error
    return plt


def axes_or_new(ax, display: str, size=(6.4, 4.0)):
    """The axes given, or those of a new figure."""
    return pyplot(display).subplots(figsize=size, layout="constrained")[1] if ax is None else ax
