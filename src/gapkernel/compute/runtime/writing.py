"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system calls a full disk: no space, a used-up quota, a file larger than allowed."""


@contextmanager
def written_whole(path) -> Iterator[Path]:
    """A file beside ``path`` to write to, which takes its place when the block ends without an error.

    Whatever goes wrong, the file that was at ``path`` before stays as it was, and nothing else is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from gapkernel.compute.runtime.writing import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(f"{folder}/answer.txt") as beside:
    ...         size = beside.write_text("42")
    ...     Path(folder, "answer.txt").read_text()
    '42'
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file():  # a terminal or a pipe keeps nothing that could be lost
        yield target
        return
    beside = target.with_name(f".{uuid4().hex}{target.suffix}")
    try:
        yield beside
        with beside.open("rb+") as file:
            os.fsync(file.fileno())  # the data are on the disk before the name is
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise disk_full(path) from error
    finally:
        beside.unlink(missing_ok=True)


def disk_full(path) -> OSError:
    """The error for a disk without room."""
    return OSError(errno.ENOSPC, f"The disk is full: {path} was not written. What was there before is unchanged")
