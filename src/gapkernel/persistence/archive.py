"""The archive of a saved model: how large it may be, and whether it is as it was written.

A forged archive can ask for far more memory than its own size. Everything that unpacking it would take is added up from
the archive's directory and from the places where its description names a member, before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from itertools import accumulate
from math import prod
from pathlib import Path
from zipfile import ZipFile

import numpy as np

MOST_BYTES = 4 << 30
MOST_MEMBERS = 100_000
MOST_DESCRIBED = 32 << 20
"""Bytes of the description, which take some twenty times as much memory once they are read."""

DEEPEST = 200
"""Brackets inside one another; the Gap estimators need some 40."""

DESCRIPTION = "schema.json"
LOADERS = ("ObjectNode", "TupleNode", "TypeNode")
"""How `save` describes objects of this package: an object is restored by its state, and never by calling its class."""

SEAL = b"gapkernel sha256 "


class DamagedFileError(ValueError):
    """A file is not as `save` wrote it."""


def read_whole(path, max_bytes: int) -> bytes:
    """The bytes of an ordinary file of at most ``max_bytes``."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise DamagedFileError(f"{path} is not a file.")
    size = path.stat().st_size
    if size > max_bytes:
        raise DamagedFileError(f"{path} has {size} bytes, more than max_bytes={max_bytes} allows.")
    return path.read_bytes()


def sealed(content: bytes) -> bytes:
    """The archive with a checksum of its members as its comment."""
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a") as archive:
        archive.comment = SEAL + _checksum(archive)
    return buffer.getvalue()


def check_seal(content: bytes, path) -> None:
    """Refuse an archive that is not as it was written."""
    with ZipFile(io.BytesIO(content)) as archive:
        if not archive.comment.startswith(SEAL):
            raise DamagedFileError(f"{path} has no checksum: gapkernel.persistence.save did not write it.")
        if archive.comment != SEAL + _checksum(archive):
            raise DamagedFileError(f"{path} is damaged: its content does not match its checksum. Save the model again.")


def check_size(content: bytes, path, max_bytes: int) -> None:
    """Refuse an archive that takes more than ``max_bytes`` once it is unpacked."""
    with ZipFile(io.BytesIO(content)) as archive:
        named = _named_members(archive, path, max_bytes)
        for name in named:
            if name.endswith(".npz"):  # an archive in the archive
                with ZipFile(io.BytesIO(archive.read(name))) as inner:
                    _check_arrays(inner, inner.namelist(), path, max_bytes)
        _check_arrays(archive, [name for name in named if name.endswith(".npy")], path, max_bytes)


def _named_members(archive: ZipFile, path, max_bytes: int) -> set[str]:
    """The members that a load unpacks, once their sizes are known to be within the limits."""
    members = {member.filename: member.file_size for member in archive.infolist()}
    if len(archive.infolist()) > min(MOST_MEMBERS, len(members)):
        raise DamagedFileError(f"{path} is refused: too many members, or two of one name.")
    _limit(sum(members.values()), path, max_bytes)
    if members.get(DESCRIPTION, 0) > MOST_DESCRIBED:
        raise DamagedFileError(f"{path} is refused: its description takes more than {MOST_DESCRIBED} bytes.")
    text = archive.read(DESCRIPTION).decode()
    nodes: list[dict] = []
    if _depth(text) > DEEPEST:
        raise DamagedFileError(f"{path} is refused: its objects are nested more than {DEEPEST} deep.")
    json.loads(text, object_hook=nodes.append)
    for node in nodes:
        ours = str(node.get("__module__")).partition(".")[0] == "gapkernel"
        if ours and node.get("__loader__") not in LOADERS:
            raise DamagedFileError(f"{path} is refused: it makes a {node.get('__class__')} by calling it.")
    named = [node["file"] for node in nodes if isinstance(node.get("file"), str)]
    _limit(sum(members[name] for name in named), path, max_bytes)  # a member can be named, and so unpacked, many times
    return set(named)


def _limit(n_bytes: int, path, max_bytes: int) -> None:
    if n_bytes > max_bytes:
        raise DamagedFileError(
            f"{path} is refused: unpacked it would take {n_bytes} bytes. If you trust it, allow more by max_bytes."
        )


def _check_arrays(archive: ZipFile, names: list[str], path, max_bytes: int) -> None:
    """Arrays are as large as their headers say, so that none is made that no data can fill."""
    _limit(sum(archive.getinfo(name).file_size for name in names), path, max_bytes)
    for name in names:
        with archive.open(name) as file:
            major, _ = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            if dtype.hasobject or archive.getinfo(name).file_size != file.tell() + dtype.itemsize * prod(shape):
                raise DamagedFileError(f"{path} is damaged: the array {name} is not as large as it says.")


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text are nested, leaving aside those in strings."""
    marks = re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text)
    return max(accumulate((mark[0] in "[{") - (mark[0] in "]}") for mark in marks), default=0)


def _checksum(archive: ZipFile) -> bytes:
    """SHA-256 of the names and the content of the members."""
    total = hashlib.sha256()
    for name in sorted(archive.namelist()):
        total.update(f"{len(name)} {name} {archive.getinfo(name).file_size} ".encode())
        total.update(archive.read(name))
    return total.hexdigest().encode()
