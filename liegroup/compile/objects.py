"""Machine code on disk: one file per piece, named by the digest of its content, so that entries share what they
call.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from pathlib import Path


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``LIEMECH_CACHE``, else ``$XDG_CACHE_HOME/liemech`` or ``~/.cache/liemech``."""
    if "LIEMECH_CACHE" in os.environ:
        return Path(os.environ["LIEMECH_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "liemech"


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
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{digest}.{uuid.uuid4().hex[:8]}")
        part.write_bytes(code)
        part.replace(path)


def read(digest: str) -> bytes | None:
    """A piece of machine code, or None if it is not there or not what was written."""
    path = folder() / digest
    try:
        code = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return code if digest_of(code) == digest else None


def prune(before: float) -> None:
    """Remove machine code that nothing has read or written since a time."""
    for path in folder().glob("*"):
        try:
            if re.fullmatch("[0-9a-f]{32}", path.name) and path.stat().st_mtime < before:
                path.unlink()
        except OSError:  # another process was faster
            continue
