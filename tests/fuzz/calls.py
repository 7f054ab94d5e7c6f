"""Random calls of every public name, with values that people pass by mistake.

Each call has a number, and depends on nothing else: ``python tests/fuzz/calls.py 17`` repeats one and shows its error.
"""

import inspect
import signal
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

import gapkernel as gk

LONGEST = 60
"""Seconds of processor time."""

ROOMS = ("density", "kernels", "imputation", "missingness", "inspection", "datasets")
LEFT_OUT = {
    "Density": "abstract",
    "Kernel": "abstract",
    "load": "reads files and the network",
    "available": "reads files",
    "batches": "reads files",
}

random = np.random.default_rng(0)
X = random.normal(size=(16, 3))
NUMBERS = X @ [1.0, 2.0, 0.5] + 0.1 * random.normal(size=16)
CLASSES = np.where(np.median(NUMBERS) < NUMBERS, "high", "low")
X[random.random(X.shape) < 0.2] = np.nan
FRAME = pd.DataFrame(X, columns=list("abc")).assign(kind=pd.Categorical(random.choice(["u", "v", None], 16)))

TABLES = (
    X[:0], X[:1], X[0], X[:, :0], X[:, :1], X[:, [0, 0]], 1e300 * X, 1e-300 * X, np.full((16, 3), np.nan),
    np.zeros((16, 3)), X.astype(object), np.where(np.isnan(X), np.inf, X), X.tolist(), FRAME, FRAME[["kind"]],
    FRAME[:3], FRAME.T, X[None], 3.0, None, "table", {"a": 1}, [[1, "a"], [2, None]] * 8, X + 1e12,
    np.asfortranarray(X), X > 0, X.astype("f4"), np.vstack([X, 1e150 * X[:1]]), [], [[]], pd.DataFrame(),
    FRAME.assign(a=pd.Timestamp("2024-01-01")), X * 1j,
)  # fmt: skip
TARGETS = (
    NUMBERS, CLASSES, CLASSES[:3], NUMBERS[:, None], np.zeros(16), np.full(16, np.nan), 1e300 * NUMBERS,
    np.arange(16), np.arange(16) % 5, None, "y", 1.0, [None] * 16, np.full(16, "a"), np.column_stack([NUMBERS] * 2),
    [-1] * 16, [],
)  # fmt: skip
ODD = (
    None, True, False, 0, 1, -1, 2, 7, 1000, 0.5, -0.5, 1e-300, 5e-324, 1e300, np.inf, np.nan, "x", "auto", "rbf",
    b"x", (), [], [1], [0.1, 1.0], ["a"], {}, {"a": 1}, np.array([1.0, np.nan]), np.eye(3), -np.eye(3), X, print, int,
    object(), 1j, gk.kernels.GenRBF(), gk.density.Gaussian(), Ridge(), np.float32(0.5), np.int64(2), [([0], [99])],
    slice(2), 10**400,
)  # fmt: skip
SMALL = {
    "members": ["rbf", "linear"],
    "n_imputations": 2,
    "n_sweeps": 2,
    "n_components": 2,
    "gammas": 2,
    "optimizer": None,
    "estimator": Ridge(),
    "kernel": gk.kernels.GenRBF(0.5),
    "left": gk.kernels.GenRBF(0.5),
    "right": gk.kernels.ExpectedLinear(),
    "columns": [0],
    "max_iter": 20,
}
MODELS = [gk.SVC().fit(X, CLASSES), gk.KernelRidge().fit(X, NUMBERS), gk.GaussianProcessRegressor(optimizer=None)]
MODELS[2].fit(X, NUMBERS)
GOOD = {
    "X": X, "X_new": X, "x": NUMBERS, "y": NUMBERS, "row": X[3], "model": MODELS[0], "estimator": MODELS[1], "prop":
    0.2, "word": "normal", "name": "mean", "scores": np.abs(X[~np.isnan(X).any(axis=1)]), "estimates": [1.0, 2.0],
    "n_rows": 9, "variances": [1.0, 2.0], "n_columns": 3, "kernel": "rbf", "n_samples": 20, "n_permutations": 4,
    "n_nodes": 4,
}  # fmt: skip


def names():
    """Every public name that can be called, with what it stands for."""
    found = {name: getattr(gk, name) for name in gk.__all__ if not inspect.ismodule(getattr(gk, name))}
    for room in ROOMS:
        found |= {f"{room}.{name}": getattr(getattr(gk, room), name) for name in getattr(gk, room).__all__}
    kept = {name: thing for name, thing in found.items() if name.split(".")[-1] not in LEFT_OUT and callable(thing)}
    records = {name for name, thing in kept.items() if inspect.isclass(thing) and not hasattr(thing, "get_params")}
    return {name: thing for name, thing in kept.items() if name not in records}


NAMES = names()
VERBS = ("predict", "predict_proba", "decision_function", "transform", "condition", "predict_interval", "predict_set")


FINE = ("answered", "refused")


def one_of(values, random):
    return values[random.integers(len(values))]


def built(kind, random):
    """An estimator or kernel with small settings, of which some are wrong."""
    known = inspect.signature(kind).parameters
    settings = {name: value for name, value in SMALL.items() if name in known}
    if "estimator" in known:
        settings["estimator"] = LogisticRegression() if "Classifier" in kind.__name__ else Ridge()
    for name in random.permutation(list(known))[: random.integers(3)]:
        settings[str(name)] = one_of(ODD, random)
    return kind(**settings)


def use(model, random):
    """Fit an estimator and ask it something, or compare rows by a kernel."""
    table = X if random.random() < 0.6 else one_of(TABLES, random)
    if isinstance(model, gk.kernels.Kernel):
        return gk.SVR(kernel=model, max_iter=1000).fit(table, NUMBERS).predict(X)
    if not hasattr(model, "fit"):
        return model._validate_params()
    right = NUMBERS if _takes_numbers(model) else CLASSES
    target = right if random.random() < 0.7 else one_of(TARGETS, random)
    weight = {} if random.random() < 0.8 else {"sample_weight": one_of((*ODD, np.ones(16), np.zeros(16)), random)}
    if weight and "sample_weight" not in inspect.signature(model.fit).parameters:
        weight = {}
    model.fit(table, target, **weight)
    able = [verb for verb in VERBS if hasattr(model, verb)]
    return getattr(model, one_of(able, random))(table if random.random() < 0.5 else one_of(TABLES, random))


def _takes_numbers(model):
    try:
        return is_regressor(model)
    except AttributeError:  # around something that is no estimator, which fit has to say
        return False


def call(number):
    """Make the call with this number."""
    random = np.random.default_rng([17, number])
    name = list(NAMES)[number % len(NAMES)]
    thing = NAMES[name]
    if inspect.isclass(thing):
        return use(built(thing, random), random)
    parameters = [part for part in inspect.signature(thing).parameters.values() if part.kind != part.VAR_KEYWORD]
    values = {part.name: GOOD.get(part.name, part.default) for part in parameters}
    values = {key: one_of(ODD, random) if value is inspect.Parameter.empty else value for key, value in values.items()}
    if name.endswith("config") or name == "config_context":
        values = {one_of(("memory_budget", "n_threads", "progress", "x"), random): one_of(ODD, random)}
    elif random.random() < 0.8 and values:
        wrong = one_of(list(values), random)
        values[wrong] = one_of(TABLES if wrong.startswith("X") else TARGETS if wrong == "y" else ODD, random)
    return thing(**values)


def is_clear(error):
    """Whether an error is of a kind that says what was wrong with the call."""
    if isinstance(error, MemoryError):
        return "memory budget" in str(error)
    raw = isinstance(error, np.linalg.LinAlgError | UnicodeError)
    return isinstance(error, ValueError | TypeError) and not raw and bool(str(error).strip())


def outcome(number):
    """How a call ended: it was answered, or clearly refused, or else what is wrong with that."""
    before = gk.get_config()
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(number)
    except Exception as error:
        if not is_clear(error):
            return f"{number} {list(NAMES)[number % len(NAMES)]}: {type(error).__name__}: {error}"[:300]
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        gk.set_config(memory_budget=before.memory_budget, n_threads=before.n_threads, progress=before.progress)
    return "answered"


def _too_long(*_):
    raise TimeoutError(f"longer than {LONGEST} s")


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[1:]]
    if len(numbers) == 1:
        call(numbers[0])
    else:
        for number in range(*numbers):
            told = outcome(number)
            if told not in FINE:
                print(told, flush=True)
