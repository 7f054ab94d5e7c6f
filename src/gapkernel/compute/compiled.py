"""How loops are compiled, once on each computer: what Python calls, and what only other compiled loops call.

Compiling takes long the first time, so a line on stderr says that it happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event
from numba.extending import register_jitable


class CompilingNote(event.Listener):
    """Says once in a process that loops are being compiled. numba reports each one, but not those kept on disk."""

    said = False

    def on_start(self, event) -> None:
        if not self.said and event.data["dispatcher"].py_func.__module__.startswith("gapkernel."):
            self.said = True
            print(
                "gapkernel: compiling loops for this computer, up to half a minute. They are kept on disk, so this "
                "happens once for each kind of model; `gapkernel warmup` does it beforehand for most.",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event) -> None:
        pass


event.register("numba:compile", CompilingNote())


FUSED = {"contract", "nsz"}
"""A product and a sum may be one instruction. No flag that makes isnan false is ever set."""

REORDERED = FUSED | {"reassoc"}
"""Sums may be reordered too, always in the same way; not where a value's place in memory would decide the order."""


def compiled(reorder: bool = False) -> Callable[[Callable], Any]:
    """A function that Python calls; kept on disk."""
    return njit(cache=True, **_options(reorder))


def inner(reorder: bool = False) -> Callable[[Callable], Any]:
    """A function that compiled functions call and are kept on disk with.

    It needs no code that turns Python's objects into arrays, which for tuples of arrays takes longer to compile than
    most loops, and a literal argument does not make another version of it. In Python it is an ordinary function.
    """
    return register_jitable(**_options(reorder))


def _options(reorder: bool) -> dict[str, Any]:
    """The same everywhere but for one flag: numba compiles its own functions anew for each set of options."""
    fastmath = REORDERED if reorder else FUSED
    return {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "fastmath": fastmath}
