"""Tiles of a matrix, worked on by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from gapkernel.compute.config import get_config, thread_count


def run_tiles(task: Callable, tiles: Sequence) -> None:
    """Do ``task`` for every tile, in any order, with a progress bar if the configuration asks for one."""
    with ThreadPoolExecutor(thread_count()) as pool:
        done: Iterable = pool.map(task, tiles)
        if get_config().progress:
            from rich.progress import track

            done = track(done, "Comparing rows", total=len(tiles), transient=True)
        for _ in done:  # iterating raises what a tile raised
            pass
