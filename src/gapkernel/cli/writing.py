"""Where a command may write."""

from __future__ import annotations

from pathlib import Path

from gapkernel.cli.complaints import Complaint


def may_write(out: Path, *kept: Path | None) -> None:
    """Complain unless ``out`` can be a file, and one other than those of ``kept``, which are needed as they are."""
    if out.is_dir():
        raise Complaint(f"{out} is a folder. Name a file to write.")
    if not out.parent.is_dir():
        raise Complaint(f"There is no folder {out.parent} to write {out.name} to.")
    for path in kept:
        if path is not None and _are_one(out, path):
            raise Complaint(f"Writing {out} would destroy {path}. Choose another --out.")


def _are_one(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, also by links."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()
