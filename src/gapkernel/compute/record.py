"""Frozen dataclasses that keep what they derive from their fields: it is not stored with them."""

from __future__ import annotations

from dataclasses import fields


class Record:
    """A frozen dataclass of which files, pickles and copies hold the fields only; it is made anew from them."""

    def __getstate__(self) -> dict:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]
