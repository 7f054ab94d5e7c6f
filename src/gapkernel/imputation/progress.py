"""A progress bar, if asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator


def tracked(items: Iterable, total: int, what: str, verbose) -> Iterator:
    """Pass ``items`` on and show how many of ``total`` are done; a bar where rich is installed, lines elsewhere."""
    if not verbose:
        yield from items
        return
    try:
        from rich.progress import track
    except ImportError:
        for done, item in enumerate(items, start=1):
            print(f"{what}: {done} of {total}", file=sys.stderr)
            yield item
        return
    yield from track(items, description=what, total=total)
