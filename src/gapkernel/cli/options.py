"""The options of the command line in place of Python's parameters: in messages, and in lines to paste."""

from __future__ import annotations

import shlex
from typing import Any

from gapkernel.tables.input_errors import Message, Setting

OTHER_NAMES = {"categories": "category", "gap_marks": "na"}
"""Options that are not called as their parameter: they take one value each and may be repeated."""


def in_options(message: Message | Exception | str) -> str:
    """A message as the command line says it."""
    return message.worded(_said) if isinstance(message, Message) else str(message)


def words_of(name: str, value: Any) -> list[str]:
    """The words that give a parameter a value; none where it is as it would be anyway."""
    if value is True:
        return [option(name)]
    values = [value] if isinstance(value, str | int) else value or ()
    return [word for one in values for word in (option(name), str(one))]


def option(name: str) -> str:
    """The option for a parameter."""
    return "--" + OTHER_NAMES.get(name, name).replace("_", "-")


def _said(setting: Setting) -> str:
    return option(setting.name) if setting.value is None else shlex.join(words_of(*setting))
