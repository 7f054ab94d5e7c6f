"""Running independent tasks on the engine's threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock, Thread, current_thread, main_thread
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from gapkernel.compute.runtime.config import config_context, thread_count
from gapkernel.compute.runtime.progress import tracked

Task = TypeVar("Task")
Result = TypeVar("Result")


class _Blas:
    """The limit on threads of matrix products, and how many blocks want it."""

    def __init__(self) -> None:
        self.lock, self.inside, self.limit = Lock(), 0, ExitStack()


_BLAS = _Blas()


def run_tasks(
    function: Callable[[Task], Result], tasks: Sequence[Task], description: str | None = None
) -> list[Result]:
    """Results of ``function`` for all tasks, in their order; with a description, a progress bar if one is wanted.

    The settings in force here hold in the tasks too, except the progress: one bar is enough. Each task has one thread
    for scikit-learn's loops, which would else start as many as there are cores in every task, and wait for each other.
    """

    def quietly(task: Task) -> Result:
        with config_context(progress=False), one_openmp_thread():
            return function(task)

    contexts = [copy_context() for _ in tasks]  # one each: no two threads can be inside the same
    with ThreadPoolExecutor(thread_count()) as pool:
        results: Iterable[Result] = pool.map(lambda context, task: context.run(quietly, task), contexts, tasks)
        if description:
            results = tracked(results, len(tasks), description)
        return list(results)  # raises what a task raised


def interruptible(work: Callable[[], Result]) -> Result:
    """The result of ``work()``, which runs in a thread of its own so that Ctrl-C ends the wait for it.

    This is for compiled code that does not look for Ctrl-C. What was begun ends by itself, and its result is dropped.
    Only the main thread can be interrupted, so in any other this is a plain call.
    """
    if current_thread() is not main_thread():
        return work()
    promised: Future[Result] = Future()
    context = copy_context()

    def keep() -> None:
        try:
            promised.set_result(context.run(work))
        except BaseException as error:  # it is raised where the result is waited for
            promised.set_exception(error)

    Thread(target=keep, daemon=True).start()  # a program may end before the work does
    return promised.result()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block in which a matrix product takes one thread: for tasks that multiply matrices, and fill all cores.

    The limit is one for all threads of the program: the first to enter sets it, and the last to leave lifts it.
    """
    with _BLAS.lock:
        if not _BLAS.inside:
            _BLAS.limit.enter_context(_libraries().limit(limits=1, user_api="blas"))
        _BLAS.inside += 1
    try:
        yield
    finally:
        with _BLAS.lock:
            _BLAS.inside -= 1
            if not _BLAS.inside:
                _BLAS.limit.close()


def one_openmp_thread() -> AbstractContextManager:
    """A block in which scikit-learn's loops, begun by this thread, take one thread.

    With more threads they can hang after a fork, and they slow each other down beside other tasks.
    """
    return _libraries().limit(limits=1, user_api="openmp")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # slow, because it searches all loaded libraries
