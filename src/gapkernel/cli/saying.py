"""Words in the terminal; the names of a person's files, columns and levels are never taken for markup."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print pieces of plain text, each alone or with a style."""
    console.print(Text.assemble(*parts))


def note(console: Console, text: str, label: str = "Note:") -> None:
    """Print something that a person should know."""
    say(console, (label, "yellow"), f" {text}")
