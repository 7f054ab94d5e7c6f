"""Progress, if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gapkernel.compute.config import get_config


def tracked(items: Iterable, total: int, what: str, verbose) -> Iterable:
    """Pass ``items`` on, with a bar of how many of ``total`` are done if ``verbose`` or the configuration says so."""
    if not (verbose or get_config().progress):
        return items
    from rich.progress import track  # it takes long to import

    return track(items, description=what, total=total)


@contextmanager
def watched(what: str, verbose) -> Iterator[Callable[[int, float], None]]:
    """A function to report iterations and objectives to, which shows the last ones if asked for."""
    if not (verbose or get_config().progress):
        yield lambda iteration, objective: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status(what, console=Console(stderr=True)) as status:
        yield lambda iteration, objective: status.update(f"{what}: iteration {iteration}, objective {objective:.6g}")
