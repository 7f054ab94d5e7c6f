"""Model files that were changed by somebody who knows how they are made.

``python tests/fuzz/forgery.py FOLDER CHANGE FIRST LAST STEP`` loads the forgeries with these numbers one after another,
asks each model that is not refused for its answers, and prints one line of JSON about each. A crash ends the process,
so it is seen by whoever started it.
"""

import io
import json
import os
import pickle
import signal
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np

HANG = 60
"""Seconds of processor time that a file may take: a loaded machine is no hang."""

VERBS = ("predict", "predict_proba", "decision_function", "transform", "condition")
ORDINARY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of a model whose parts do not go together, if its answer shows it and not its file."""

LEAVES_GAPS = ("OneHotWithGaps",)
ODD_NUMBERS = (-1, 0, 1, 7, 1000, -0.5, 1e308, float("nan"), float("inf"), None, True, "x", [], [1, 2])


def forged_array(content, random):
    """An array file with another shape, another type or other values."""
    array = np.load(io.BytesIO(content))
    changes = [
        lambda: array.ravel()[:1],
        lambda: array.ravel(),
        lambda: array[:0],
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array[None],
        lambda: array.T.copy(),
        lambda: np.asfortranarray(array),
        lambda: array.astype(random.choice(["f4", "f8", "i8", "i4", "u1", "?", "U3", "c16"])),
        lambda: random.permutation(array),
        lambda: -array,
        lambda: np.zeros_like(array),
        lambda: array + random.choice([1, 1000, 10**9, -(10**9)]),
        lambda: odd_values(array, random),
        lambda: odd_values(array, random),
        lambda: random.standard_normal(array.shape),
        lambda: np.array(0.0),
    ]
    changed = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.save(changed, changes[random.integers(len(changes))](), allow_pickle=False)
    return changed.getvalue()


def odd_values(array, random):
    """Some cells with values that no fit would give."""
    array = array.copy()
    odd = [np.nan, np.inf, -1.0, 1e300, 2.0**40] if array.dtype.kind == "f" else [-1, 2**31 - 1, 255, 10**6]
    array.flat[random.integers(array.size)] = random.choice(odd)
    return array


def nodes_of(tree):
    """All parts of a description that are objects."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found += [node] if "__class__" in node else []
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return found


def forged_description(content, random):
    """A description with another number, class, attribute or array."""
    tree = json.loads(content)
    nodes = nodes_of(tree)
    node, other = (nodes[random.integers(len(nodes))] for _ in range(2))
    inside = node.get("content")
    kind = random.integers(5)
    if kind == 0:
        numbers = [node for node in nodes if node.get("__loader__") == "JsonNode"]
        if numbers:
            odd = ODD_NUMBERS[random.integers(len(ODD_NUMBERS))]
            numbers[random.integers(len(numbers))]["content"] = json.dumps(odd)
    elif kind == 1 and isinstance(inside, dict) and inside:
        del inside[list(inside)[random.integers(len(inside))]]
    elif kind == 2 and isinstance(inside, list) and inside:
        del inside[random.integers(len(inside))]
    elif kind == 3:
        node["__class__"], node["__module__"] = other["__class__"], other["__module__"]
    else:
        arrays = [node for node in nodes if str(node.get("file")).endswith(".npy")]
        if len(arrays) > 1:
            first, second = (arrays[random.integers(len(arrays))] for _ in range(2))
            first["file"] = second["file"]
    return json.dumps(tree).encode()


def members(content):
    """What an archive holds."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(content, random):
    """A file with one or two changes, and a checksum that fits."""
    from gapkernel.persistence.archive import sealed

    parts = members(content)
    arrays = [name for name in parts if name.endswith(".npy")]
    for _ in range(random.integers(1, 3)):
        if arrays and random.random() < 0.65:
            name = arrays[random.integers(len(arrays))]
            try:
                parts[name] = forged_array(parts[name], random)
            except (ValueError, TypeError, IndexError, OverflowError):
                continue  # not every change suits every array
        else:
            parts["schema.json"] = forged_description(parts["schema.json"], random)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return sealed(buffer.getvalue())


def mutated(content, random):
    """A file in which bytes were changed, lost, doubled or moved."""
    content = bytearray(content)
    for _ in range(random.integers(1, 4)):
        first, second = np.sort(random.integers(len(content) + 1, size=2))
        change = random.integers(4)
        if change == 0 and first < len(content):
            content[first] ^= 1 << int(random.integers(8))
        elif change == 1:
            del content[first : first + min(second - first, 100)]
        elif change == 2:
            content[first:first] = content[first:second][:100]
        else:
            content[first:second] = bytes(second - first)
    return bytes(content)


def outcome(path, X, finite=True):
    """What became of one file: refused, or what its answers are like."""
    from gapkernel.persistence import DamagedFileError, UntrustedFileError, load

    try:
        model = load(path)
    except (DamagedFileError, UntrustedFileError):
        return "refused"
    except Exception as error:
        return f"load: {type(error).__name__}: {error}"
    try:
        for verb in (verb for verb in VERBS if hasattr(model, verb)):
            answer = getattr(model, verb)(X)
            answer = answer.means if verb == "condition" and answer.kind != "marginal" else answer
            if finite and np.asarray(answer).dtype.kind == "f" and not np.isfinite(np.asarray(answer)).all():
                return f"{verb}: not finite"
    except ORDINARY as error:
        return f"refused later: {error}" if str(error) else "without words"
    except Exception as error:
        return f"{verb}: {type(error).__name__}: {error}"
    return "answered"


def work(folder, change, first, last, step):
    """Try the forgeries with these numbers."""
    originals = pickle.loads((folder / "originals.pickle").read_bytes())
    warnings.simplefilter("ignore")
    path = folder / f"forged-{os.getpid()}.skops"
    for k in range(first, last, step):
        name, content, X = originals[k % len(originals)]
        print(json.dumps([k, name, None]), flush=True)
        changed = change(content, np.random.default_rng([17, k]))
        path.write_bytes(changed)
        signal.setitimer(signal.ITIMER_PROF, HANG)  # ends the process
        signal.alarm(20 * HANG)
        told = outcome(path, X, name not in LEAVES_GAPS)
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if told == "answered" and change is mutated and members(changed) != members(content):
            told = "answered, though its content has changed"
        print(json.dumps([k, name, told]), flush=True)
    path.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    work(Path(sys.argv[1]), {"forged": forged, "mutated": mutated}[sys.argv[2]], *map(int, sys.argv[3:]))
