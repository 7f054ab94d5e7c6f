"""A progress bar, or a line now and then where there is no terminal, if asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic
from typing import TypeVar

from gapkernel.compute.runtime.config import get_config

Item = TypeVar("Item")
EVERY = 10.0
"""Seconds between lines at first; later they come after another tenth of the time."""


def tracked(items: Iterable[Item], total: int | None, what: str, verbose: bool | int = False) -> Iterable[Item]:
    """Pass ``items`` on and show how many of ``total`` are done, if ``verbose`` or the configuration says so."""
    if not (verbose or get_config().progress):
        return items
    from rich.markup import escape  # they take long to import
    from rich.progress import track

    console = _console()
    if not console.is_terminal:
        return _with_lines(items, total, what)
    return track(items, description=escape(what), total=total, transient=True, console=console)


def _with_lines(items: Iterable[Item], total: int | None, what: str) -> Iterator[Item]:
    """Pass ``items`` on, and say on stderr now and then how many are done: a file or a pipe has no use for a bar."""
    begin = last = monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = monotonic()
        if now - last >= max(EVERY, (now - begin) / 10) and done != total:
            left = "" if total is None else f" of {total}, about {(now - begin) * (total - done) / done:.0f} s left"
            print(f"{what}: {done}{left}", file=sys.stderr, flush=True)
            last = now


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
