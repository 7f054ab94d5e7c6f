"""A progress bar, if asked for."""

from __future__ import annotations

from collections.abc import Iterable

from gapkernel.compute.config import get_config


def tracked(items: Iterable, total: int, what: str, verbose) -> Iterable:
    """Pass ``items`` on, with a bar of how many of ``total`` are done if ``verbose`` or the configuration says so."""
    if not (verbose or get_config().progress):
        return items
    from rich.progress import track  # it takes long to import

    return track(items, description=what, total=total)
