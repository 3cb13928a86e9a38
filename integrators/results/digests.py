"""Data files carry digests of their bytes, so that damage is noticed before anything else reads them.

After the content comes, for every block of 2²⁰ bytes, its SHA-256; then the length of the content (8 bytes, little
endian), the SHA-256 of all that since the content, and sixteen bytes by which it is known.  HDF5 does not look behind
its own end, so that other programs open the files as they are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any

BLOCK = 1 << 20
MARK = b"liemech-digest-1"
_DIGEST, _LENGTH = 32, 8
_END = _LENGTH + _DIGEST + len(MARK)


class StorageError(ValueError):
    """A file that is not a readable data file of this project, or cannot be one.

    Examples
    --------
    See `read`.
    """


def append(file: Any) -> None:
    """Add the digests to the end of a file that is open for reading and writing."""
    length = file.seek(0, os.SEEK_END)
    digests = b"".join(_digests(file, length))
    table = digests + length.to_bytes(_LENGTH, "little")
    file.seek(length)
    file.write(table + hashlib.sha256(table).digest() + MARK)


def remove(path: str | os.PathLike[str]) -> None:
    """Take the digests off the end of a file that is to be written to again."""
    if has_digest(path):
        with open(path, "r+b") as file:
            file.seek(file.seek(0, os.SEEK_END) - _END)
            file.truncate(int.from_bytes(file.read(_LENGTH), "little"))


def check(path: str | os.PathLike[str]) -> None:
    """StorageError with the place if a file is not, bit by bit, what was written."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < _END:
            raise StorageError(
                f"{path}: not a readable data file; {size} bytes are too few, it is empty or was cut off"
            )
        file.seek(size - _END)
        end = file.read(_END)
        if not end.endswith(MARK):
            raise StorageError(
                f"{path}: not a readable data file; at its end, byte {size}, is no digest: it is of another format, or "
                "was cut off, changed by another program or written by an earlier version (h5py opens what it can read)"
            )
        length = int.from_bytes(end[:_LENGTH], "little")
        blocks = -(-length // BLOCK)
        table_size = blocks * _DIGEST + _LENGTH
        if length + blocks * _DIGEST + _END != size:
            raise StorageError(f"{path}: {size} bytes do not agree with the length {length} noted at its end; damaged")
        file.seek(length)
        table = file.read(table_size)
        if hashlib.sha256(table).digest() != end[_LENGTH : -len(MARK)]:
            raise StorageError(f"{path}: damaged between bytes {length} and {size}, in the digests at its end")
        for k, digest in enumerate(_digests(file, length)):
            if digest != table[k * _DIGEST : (k + 1) * _DIGEST]:
                last = min((k + 1) * BLOCK, length)
                raise StorageError(f"{path}: damaged between bytes {k * BLOCK} and {last}; its digest does not agree")


def has_digest(path: str | os.PathLike[str]) -> bool:
    """Whether a file ends like a data file of this project."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(MARK)))
            return file.read() == MARK
    except OSError:
        return False


def stamp_of(path: str | os.PathLike[str]) -> str:
    """The digest of a file's digests, by which its content is known; nothing where it has none."""
    if not has_digest(path):
        return ""
    with open(path, "rb") as file:
        file.seek(-_END, os.SEEK_END)
        return file.read()[_LENGTH : _LENGTH + _DIGEST].hex()


def _digests(file: Any, length: int) -> Iterator[bytes]:
    file.seek(0)
    for start in range(0, length, BLOCK):
        yield hashlib.sha256(file.read(min(BLOCK, length - start))).digest()
