"""Errors for files and columns that cannot be used: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from difflib import get_close_matches
from unicodedata import category

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters that do something instead of being seen."""


def shown(text) -> str:
    """Text for a terminal: characters that would move its cursor, colour it or turn it round are written as codes."""
    return "".join(
        letter.encode("unicode_escape").decode() if category(letter) in UNSEEN and letter not in "\n\t" else letter
        for letter in str(text)
    )


class InputError(ValueError):
    """A file, a column or an option that cannot be used."""


class UnusableColumn(InputError):
    """A column that no estimator can learn from.

    Parameters
    ----------
    name : str
        The column.
    what : str
        What it holds.
    advice : str, default=""
        What to do, other than leaving it out.
    """

    def __init__(self, name: str, what: str, advice: str = ""):
        way_out = f"{advice} Or leave" if advice else "Leave"
        super().__init__(f"Column '{name}' holds {what}. {way_out} the column out: --drop \"{name}\".")
        self.name, self.what = name, what


def all_of(unusable: list[UnusableColumn]) -> InputError:
    """One error for several columns."""
    if len(unusable) == 1:
        return unusable[0]
    named = "; ".join(f"'{column.name}' holds {column.what}" for column in unusable)
    options = " ".join(f'--drop "{column.name}"' for column in unusable)
    return InputError(f"{len(unusable)} columns cannot be used: {named}. Leave them out: {options}")


def unknown_column(name: str, columns, where) -> InputError:
    """The error for a column that a file does not have."""
    near = get_close_matches(name, columns, n=1)
    advice = f"Did you mean '{near[0]}'?" if near else f"Its columns: {_listed(columns)}."
    return InputError(f"There is no column '{name}' in {where}. {advice}")


def _listed(names, most: int = 12) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
