"""A progress bar, if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeVar

from gapkernel.compute.runtime.config import get_config

Item = TypeVar("Item")


def tracked(items: Iterable[Item], total: int | None, what: str, verbose: bool | int = False) -> Iterable[Item]:
    """Pass ``items`` on, with a bar of how many of ``total`` are done if ``verbose`` or the configuration says so."""
    if not (verbose or get_config().progress):
        return items
    from rich.markup import escape  # they take long to import
    from rich.progress import track

    return track(items, description=escape(what), total=total, transient=True, console=_console())


@contextmanager
def watched(what: str, verbose) -> Iterator[Callable[[int, float], None]]:
    """A function to report iterations and objectives to, which shows the last ones if asked for."""
    if not (verbose or get_config().progress):
        yield lambda iteration, objective: None
        return
    from rich.status import Status

    with Status(what, console=_console()) as status:
        yield lambda iteration, objective: status.update(f"{what}: iteration {iteration}, objective {objective:.6g}")


def _console():
    """Where progress is shown: stderr, which in a notebook without ipywidgets takes the codes of a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter and find_spec("ipywidgets") is None:
        return Console(stderr=True, force_jupyter=False, force_terminal=True, force_interactive=True)
    return console
