"""Objects that are checked when they come back from a file, a pickle or a copy.

A class declares what its attributes hold, once. Compiled loops check no bounds, so what they are given must be right:
nothing in a file that somebody else wrote can be relied on.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

KINDS = {"float": "f", "nan": "f", "any": "fiubOUT", "bool": "b", "int": "iu", "index": "iu"}

ARRAYS = (np.ndarray, np.memmap)
"""Types of arrays that are nothing but their numbers; others have rules of their own."""


class Restored:
    """An object that checks its state when it is restored.

    ``_held`` says what attributes hold: a type; a text such as ``"float n d"``, an array of finite numbers whose
    lengths must agree with the same letters elsewhere in the object; ``(Rows, "n d")``, an object of a type with these
    numbers of rows and columns; or a list ``[what]`` of such things. The first word of a text is

    ======  ==========================================================================================
    float   finite numbers of double precision; ``nan`` if they may be NaN
    any     numbers or labels
    bool    truth values
    int     whole numbers; ``index<p`` if they are places among p things
    ======  ==========================================================================================

    and a question mark at its end allows None. Attributes are there together or, before a fit, not at all.
    """

    _held: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        declared = [vars(base).get("_held", {}) for base in reversed(cls.__mro__)]
        cls._held = {name: what for one in declared for name, what in one.items()}

    def __getstate__(self):
        """The fields of a record and nothing that is derived from them; all attributes of other objects."""
        if not _is_record(self):
            return super().__getstate__()
        return {part.name: vars(self)[part.name] for part in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state) -> None:
        if not isinstance(state, dict):
            raise ValueError(f"{type(self).__name__} has no state.")
        if _is_record(self):
            names = [part.name for part in fields(self)]  # type: ignore[arg-type]
            if set(names) - set(state):
                raise ValueError(f"{type(self).__name__} lacks {sorted(set(names) - set(state))[0]}.")
            state = {name: state[name] for name in names}
        above = getattr(super(), "__setstate__", None)
        if above is None:
            self.__dict__.update(state)
        else:
            above(state)
        self._check_held()

    def _check_held(self) -> None:
        """Refuse attributes that are not as they were declared; a class adds what a declaration cannot say."""
        if not self._held.keys() & self.__dict__.keys():
            return
        lengths: dict[str, int] = {}
        places: list[tuple[str, np.ndarray, str]] = []
        for name, what in self._held.items():
            if name not in self.__dict__:
                raise ValueError(f"{type(self).__name__} lacks {name}.")
            _check(f"{type(self).__name__}.{name}", self.__dict__[name], what, lengths, places)
        for name, values, bound in places:
            if values.size and not (values.min() >= 0 and values.max() < _length(bound, lengths)):
                raise ValueError(f"{name} holds places that do not exist.")


def _is_record(value) -> bool:
    """Whether an object is a frozen dataclass, whose fields are all there is to know about it."""
    return is_dataclass(value) and type(value).__dataclass_params__.frozen  # type: ignore[union-attr]


def _check(name: str, value, what, lengths: dict[str, int], places: list) -> None:
    if isinstance(what, str):
        _check_array(name, value, what, lengths, places)
    elif isinstance(what, list):
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} is not a list.")
        for k, part in enumerate(value):
            _check(f"{name}[{k}]", part, what[0], lengths, places)
    elif isinstance(what, tuple) and isinstance(what[-1], str):
        _check(name, value, what[0], lengths, places)
        shape = (len(value), value.n_features)
        _bind(name, what[-1].split(), shape[: len(what[-1].split())], lengths)
    elif what is float:
        if not isinstance(value, Real) or not np.isfinite(float(value)):
            raise ValueError(f"{name} is not a finite number.")
    elif not isinstance(value, {int: Integral, bool: bool | np.bool_}.get(what, what)):
        raise ValueError(f"{name} is a {type(value).__name__}.")


def _check_array(name: str, value, what: str, lengths: dict[str, int], places: list) -> None:
    word, *letters = what.removesuffix("?").split()
    if value is None and what.endswith("?"):
        return
    word, _, bound = word.partition("<")
    if type(value) not in ARRAYS or value.dtype.kind not in KINDS[word]:
        raise ValueError(f"{name} is not an array of the right kind.")
    if word in ("float", "nan") and (value.dtype != np.float64 or np.isinf(value).any()):
        raise ValueError(f"{name} holds infinity, or numbers of another precision.")
    if word == "float" and np.isnan(value).any():
        raise ValueError(f"{name} holds NaN.")
    _bind(name, letters, value.shape, lengths)
    if bound:
        places.append((name, value, bound))


def _bind(name: str, letters: list[str], shape: tuple[int, ...], lengths: dict[str, int]) -> None:
    """Check a shape against letters that stand for the same lengths everywhere, or are numbers; * is any length."""
    if len(letters) != len(shape):
        raise ValueError(f"{name} has {len(shape)} dimensions, not {len(letters)}.")
    for letter, length in zip(letters, shape, strict=True):
        expected = int(letter) if letter.isdigit() else lengths.setdefault(letter, length)
        if letter != "*" and expected != length:
            raise ValueError(f"{name} has the shape {shape}, which does not go with the rest.")


def _length(bound: str, lengths: dict[str, int]) -> int:
    return int(bound) if bound.isdigit() else lengths.get(bound, 0)
