"""A progress bar, if asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from gapkernel.compute.config import get_config

Item = TypeVar("Item")


def tracked(items: Iterable[Item], total: int | None, what: str, verbose: bool | int = False) -> Iterable[Item]:
    """Pass ``items`` on, with a bar of how many of ``total`` are done if ``verbose`` or the configuration says so."""
    if not (verbose or get_config().progress):
        return items
    from rich.console import Console  # they take long to import
    from rich.progress import track

    return track(items, description=what, total=total, transient=True, console=Console(stderr=True))
