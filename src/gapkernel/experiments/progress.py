"""The bar of a running study: tasks done, time gone, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def task_bar(name: str, total: int, console=None) -> Iterator[Callable[[], None]]:
    """Show a bar; the function it gives counts one task."""
    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))
    with Progress(*parts, *left, console=console or Console(stderr=True), speed_estimate_period=300) as bar:
        line = bar.add_task(name, total=total)
        yield lambda: bar.advance(line)
