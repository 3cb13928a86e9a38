"""Machine code on disk: one file per piece, named by the digest of its content, so that entries share what they
call.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from contextlib import suppress
from pathlib import Path

from liegroup.compile import folders
from liegroup.compile.folders import cache_directory


def digest_of(code: bytes) -> str:
    """The name of a piece of machine code."""
    return hashlib.sha256(code).hexdigest()[:32]


def folder() -> Path:
    """Where machine code is kept."""
    return cache_directory() / "objects"


def keep(digest: str, code: bytes) -> None:
    """Write a piece of machine code, whole or not at all: another process may be reading it."""
    path = folder() / digest
    try:
        os.utime(path)
    except OSError:
        folders.make(path.parent)
        part = path.with_name(f"{digest}.{uuid.uuid4().hex[:8]}")
        try:
            part.write_bytes(code)
            part.replace(path)
        except PermissionError:  # on Windows while another process reads it: then the same code is there
            if not path.is_file():
                raise
        finally:
            with suppress(OSError):
                part.unlink()


def read(digest: str) -> bytes | None:
    """A piece of machine code, or None if it is not there or not what was written; then it is removed, so that it is
    written again.
    """
    path = folder() / digest
    try:
        code = path.read_bytes()
    except OSError:
        return None
    whole = digest_of(code) == digest
    with suppress(OSError):  # a folder that can only be read
        os.utime(path) if whole else path.unlink()
    return code if whole else None


def prune(before: float) -> None:
    """Remove machine code that nothing has read or written since a time."""
    if not folders.is_own(folder()):
        return
    for path in folder().iterdir():
        with suppress(OSError):  # another process was faster
            if re.fullmatch(r"[0-9a-f]{32}(\.[0-9a-f]{8})?", path.name) and path.stat().st_mtime < before:
                path.unlink()
