"""What a command prints, and where it may write.

The names of a person's files, columns and levels are never taken for markup. Options stand in place of Python's
parameters, in messages and in lines to paste.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gapkernel.tables.input_errors import InputError, Message, Setting, shown

OTHER_NAMES = {"categories": "category", "gap_marks": "na"}
"""Options that are not called as their parameter: they take one value each and may be repeated."""

LOOK: dict[str, Any] = {
    "box": None,
    "pad_edge": False,
    "header_style": "bold",
    "title_justify": "left",
    "caption_justify": "left",
}
"""Of tables in the terminal."""


class Stopped(Exception):
    """A person stopped the command; it says what was kept."""


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print pieces of plain text, each alone or with a style."""
    console.print(Text.assemble(*(as_text(part) if isinstance(part, str) else as_text(*part) for part in parts)))


def as_text(text: str, style: str = "") -> Text:
    """Text as it is: no markup, and nothing that a terminal would obey."""
    return Text(shown(text), style)


def note(console: Console, message: Message | str, label: str = "Note:") -> None:
    """Print something that a person should know."""
    say(console, (label, "yellow"), f" {in_options(message)}")


def counted(number: int, thing: str) -> str:
    """A number of things, such as "1 row" or "2 rows"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def lines_table(title: str, first: str, *others: str, caption: str | None = None) -> Table:
    """A table without a frame: its first column is text, the others are numbers, or bars where they have no name."""
    table = Table(title=title, caption=caption, **LOOK)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right" if name else "left")
    return table


def may_write(out: Path, *kept: Path | None) -> None:
    """Refuse ``out`` unless it can be a file, and one other than those of ``kept``, which are needed as they are."""
    if out.is_dir():
        raise InputError(f"{out} is a folder. Name a file to write.")
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} to write {out.name} to.")
    for path in kept:
        if path is not None and _are_one(out, path):
            raise InputError(f"Writing {out} would destroy {path}. Choose another --out.")


def _are_one(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, also by links."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def in_options(message: Message | Exception | str) -> str:
    """A message as the command line says it."""
    return message.worded(_said) if isinstance(message, Message) else str(message)


def words_of(name: str, value: Any) -> list[str]:
    """The words that give a parameter a value; no words where it has its default."""
    if value is True:
        return [option(name)]
    values = [value] if isinstance(value, str | int) else value or ()
    return [word for one in values for word in (option(name), str(one))]


def option(name: str) -> str:
    """The option for a parameter."""
    return "--" + OTHER_NAMES.get(name, name).replace("_", "-")


def _said(setting: Setting) -> str:
    return option(setting.name) if setting.value is None else shlex.join(words_of(*setting))
