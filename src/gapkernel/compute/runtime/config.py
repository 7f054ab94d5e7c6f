"""How much memory and how many threads the engine may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import prod
from numbers import Integral

import joblib

GIB = 1 << 30


@dataclass(frozen=True)
class Config:
    """Limits of the engine.

    Attributes
    ----------
    memory_budget : int
        Bytes that one kernel matrix may take. A larger matrix is refused before any work is done.
    n_threads : int or None
        Threads of the engine. None means as many as joblib grants: all cores, or this process's share of
        them inside a parallel search. The number never changes a result.
    progress : bool
        Whether to show a progress bar while a kernel matrix or a prediction is computed.
    """

    memory_budget: int = 4 * GIB
    n_threads: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if not _is_count(self.memory_budget):
            raise ValueError(f"memory_budget must be a positive whole number of bytes, got {self.memory_budget!r}.")
        if self.n_threads is not None and not _is_count(self.n_threads):
            raise ValueError(f"n_threads must be None or a whole number of at least 1, got {self.n_threads!r}.")
        if not isinstance(self.progress, bool):
            raise ValueError(f"progress must be True or False, got {self.progress!r}.")


def _is_count(value) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


_everywhere = Config()
_here: ContextVar[Config | None] = ContextVar("gapkernel_config", default=None)


def get_config() -> Config:
    """The limits in force.

    Returns
    -------
    config : Config

    Examples
    --------
    >>> import gapkernel as gk
    >>> gk.get_config().progress
    False
    """
    return _here.get() or _everywhere


def set_config(**changes) -> None:
    """Change the limits of this process.

    Worker processes of a parallel search do not inherit them.

    Parameters
    ----------
    **changes
        Fields of `Config`: ``memory_budget`` (bytes that one kernel matrix may take), ``n_threads`` (None means as many
        as joblib grants) and ``progress`` (whether to show a progress bar).

    Examples
    --------
    >>> import gapkernel as gk
    >>> gk.set_config(memory_budget=4 * 2**30)
    """
    global _everywhere
    _everywhere = replace(_everywhere, **changes)


@contextmanager
def config_context(**changes) -> Iterator[Config]:
    """Change the limits inside a ``with`` block, for this thread and the engine's threads that it starts.

    Parameters
    ----------
    **changes
        As in `set_config`.

    Yields
    ------
    config : Config
        The limits inside the block.

    Examples
    --------
    >>> import gapkernel as gk
    >>> with gk.config_context(n_threads=1) as config:
    ...     config.n_threads
    1
    """
    config = replace(get_config(), **changes)
    token = _here.set(config)
    try:
        yield config
    finally:
        _here.reset(token)


def thread_count() -> int:
    """Threads to use now."""
    granted = get_config().n_threads
    if granted is not None:
        return granted
    share = os.environ.get("OMP_NUM_THREADS", "")  # joblib divides the cores among its workers through this
    return int(share) if share.isdigit() and int(share) > 0 else joblib.cpu_count()


def check_fits(shape: tuple[int, ...], what: str) -> None:
    """Refuse a float64 array that would not fit the budget, before anything is computed."""
    needed = 8 * prod(shape)
    budget = get_config().memory_budget
    if needed > budget:
        raise MemoryError(
            f"{what} of shape {shape} needs {min(needed, 10**300) / GIB:.3g} GiB, more than the memory budget of "
            f"{budget / GIB:.3g} GiB. Use fewer rows, predict instead of asking for the matrix "
            f"(predictions never hold it whole), or raise the budget: "
            f"gapkernel.set_config(memory_budget={needed})."
        )
