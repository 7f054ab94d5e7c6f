"""Running independent tasks on the engine's threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gapkernel.compute.config import thread_count
from gapkernel.compute.progress import tracked

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Task], Result], tasks: Sequence[Task], description: str | None = None
) -> list[Result]:
    """Results of ``function`` for all tasks, in their order; with a description, a progress bar if one is wanted."""
    with ThreadPoolExecutor(thread_count()) as pool:
        results: Iterable[Result] = pool.map(function, tasks)
        if description:
            results = tracked(results, len(tasks), description)
        return list(results)  # raises what a task raised
