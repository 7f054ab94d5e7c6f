"""Errors for files and columns that cannot be used: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple
from unicodedata import category

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters that do something instead of being seen."""


def shown(text) -> str:
    """Text for a terminal: characters that would move its cursor, colour it or turn it round are written as codes."""
    return "".join(
        letter.encode("unicode_escape").decode() if category(letter) in UNSEEN and letter not in "\n\t" else letter
        for letter in str(text)
    )


class Setting(NamedTuple):
    """A parameter that a message names, alone or with the value to give it."""

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class Message:
    """A note for the user: pieces of text, and the settings that they name.

    `str` writes a setting as a parameter of Python, and the command line as an option.
    """

    def __init__(self, *args: str | Setting):
        self.args = args

    def __str__(self) -> str:
        return self.worded(str)

    def worded(self, word: Callable[[Setting], str]) -> str:
        """The text, with each setting as ``word`` writes it."""
        return "".join(word(part) if isinstance(part, Setting) else part for part in self.args)


class InputError(Message, ValueError):
    """A file, a column or a setting that cannot be used."""


class UnusableColumn(InputError):
    """A column that no estimator can learn from.

    Parameters
    ----------
    name : str
        The column.
    what : str
        What it holds.
    *advice : str or Setting
        What to do, other than leaving it out.
    """

    def __init__(self, name: str, what: str, *advice: str | Setting):
        super().__init__(f"Column '{name}' holds {what}.", *((" ", *advice) if advice else ()))
        self.name, self.what, self.advice = name, what, advice

    def __reduce__(self):  # by default an error is made again from its text
        return type(self), (self.name, self.what, *self.advice)


def to_leave_out(unusable: list[UnusableColumn]) -> InputError:
    """One error for all columns that have to be mended or left out."""
    names = Setting("drop", [column.name for column in unusable])
    if len(unusable) == 1:
        way_out = " Or leave" if unusable[0].advice else " Leave"
        return InputError(*unusable[0].args, f"{way_out} the column out: ", names)
    named = "; ".join(f"'{column.name}' holds {column.what}" for column in unusable)
    return InputError(f"{len(unusable)} columns cannot be used: {named}. Leave them out: ", names)


def unknown_column(name: str, columns, where) -> InputError:
    """The error for a column that a file does not have."""
    near = get_close_matches(name, columns, n=1)
    advice = f"Did you mean '{near[0]}'?" if near else f"Its columns: {_listed(columns)}."
    return InputError(f"There is no column '{name}' in {where}. {advice}")


def _listed(names, most: int = 12) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
