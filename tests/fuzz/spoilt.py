"""Fitted models of which one array was changed in memory, where nothing is checked but what compiled loops are given.

``python tests/fuzz/spoilt.py FOLDER spoilt FIRST LAST STEP`` asks the models with these numbers one after another, and
prints one line of JSON about each. A crash ends the process, so it is seen by whoever started it. With
NUMBA_BOUNDSCHECK=1 a loop that would read or write beyond its arrays is seen too.
"""

import copy
import json
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from forgery import ORDINARY, VERBS

from gapkernel.persistence import load

BEYOND = "index is out of bounds"
"""What numba says of its loops; numpy's message has numbers."""

CHANGES = {
    "one row less": lambda array: array[:-1],
    "one row more": lambda array: np.concatenate([array, array[-1:]]),
    "no rows": lambda array: array[:0],
    "one column less": lambda array: array[..., :-1],
    "one column more": lambda array: np.concatenate([array, array[..., -1:]], axis=-1),
    "turned": lambda array: np.array(array.T, order="C") if array.ndim > 1 else array[:, None],
    "another type": lambda array: array.astype("f4" if array.dtype.kind == "f" else "f8"),
    "far places": lambda array: _places(array) + 1000,
    "places before the first": lambda array: _places(array) - 1 - len(array),
    "places one too far": lambda array: _places(array) + 1,
    "other gaps": lambda array: np.logical_not(_of_kind(array, "b")),
    "not a number": lambda array: np.full_like(_of_kind(array, "f"), np.nan),
    "infinite": lambda array: np.full_like(_of_kind(array, "f"), np.inf),
}


def _of_kind(array, kinds):
    if array.dtype.kind not in kinds:
        raise ValueError("does not apply")
    return array


def _places(array):
    return _of_kind(array, "iu")


def arrays_of(model):
    """Where the arrays of a model are: pairs of a dictionary or list, and a key."""
    found, seen, waiting = [], set(), [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if type(part).__module__.startswith("gapkernel") and hasattr(part, "__dict__"):
            part = vars(part)
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list | tuple) else ()
        for key, value in items:
            if isinstance(value, np.ndarray) and value.ndim and not isinstance(part, tuple):
                found.append((part, key))
            elif not isinstance(value, str | bytes | type):
                waiting.append(value)
    return found


def outcome(model, place, change, X):
    """What became of a model with one array changed: it answers, or says what is wrong."""
    model = copy.deepcopy(model)
    holder, key = arrays_of(model)[place]
    try:
        holder[key] = change(holder[key])
    except ORDINARY:
        return "answered"  # not every change suits every array
    told = "answered"
    for verb in (verb for verb in VERBS if hasattr(model, verb)):
        try:
            getattr(model, verb)(X)
        except ORDINARY as error:
            told = f"{verb} {key}: {error}" if str(error) == BEYOND else "refused"
        except Exception as error:
            return f"{verb} {key}: {type(error).__name__}: {error}"
        if told not in ("answered", "refused"):
            return told
    return told


def work(folder, numbers):
    """Try the models with these numbers: each array of each model, changed in each way."""
    warnings.simplefilter("ignore")
    number = 0
    for name, content, X in pickle.loads((folder / "originals.pickle").read_bytes()):
        (folder / "original.skops").write_bytes(content)
        model = copy.deepcopy(load(folder / "original.skops"))  # without what it derived while it was loaded
        for place, (_, key) in enumerate(arrays_of(model)):
            for what, change in CHANGES.items():
                if number in numbers:
                    print(json.dumps([number, f"{name}, {key}, {what}", None]), flush=True)
                    print(json.dumps([number, f"{name}, {key}, {what}", outcome(model, place, change, X)]), flush=True)
                number += 1


if __name__ == "__main__":
    work(Path(sys.argv[1]), range(*map(int, sys.argv[3:])))
