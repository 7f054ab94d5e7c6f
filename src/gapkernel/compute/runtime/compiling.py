"""A line on stderr when loops are compiled: the wait is long, and comes once on each computer."""

from __future__ import annotations

import sys

from numba.core import event


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
