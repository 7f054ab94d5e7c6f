"""Where a display draws: the axes it is given, or new ones."""

from __future__ import annotations


def new_axes(ax, display: str, size: tuple[float, float]):
    """``ax``, or the axes of a new figure; matplotlib is imported only now."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{display} needs matplotlib: pip install gapkernel[plots].") from error
    return plt.subplots(figsize=size, layout="constrained")[1]
