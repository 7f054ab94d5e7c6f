"""Running independent tasks on the engine's threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gapkernel.compute.config import get_config, thread_count

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Task], Result], tasks: Sequence[Task], description: str | None = None
) -> list[Result]:
    """Results of ``function`` for all tasks, in their order; with a description, a progress bar if one is wanted."""
    with ThreadPoolExecutor(thread_count()) as pool:
        results: Iterable[Result] = pool.map(function, tasks)
        if description and get_config().progress:
            from rich.console import Console
            from rich.progress import track

            console = Console(stderr=True)
            results = track(results, description, total=len(tasks), transient=True, console=console)
        return list(results)  # raises what a task raised
