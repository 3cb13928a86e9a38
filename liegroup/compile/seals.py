"""What is read from the cache is what this user has written there: every entry carries a keyed digest (HMAC-SHA-256).

It is checked before anything else looks at the content, and covers the name under which the content is kept.  The key
is a file that only its user can read (`liegroup.compile.folders.key_file`).
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

from liegroup.compile.folders import key_file, warn

_SIZE = 32


def sealed(name: str, content: bytes) -> bytes | None:
    """The content with its digest in front; None if there is no key."""
    key = _key()
    return None if key is None else _digest(key, name, content) + content


def opened(name: str, found: bytes) -> bytes | None:
    """The content that was sealed under this name; None if anything in it is not as it was."""
    key = _key()
    if key is None or len(found) < _SIZE:
        return None
    content = found[_SIZE:]
    return content if hmac.compare_digest(found[:_SIZE], _digest(key, name, content)) else None


def _digest(key: bytes, name: str, content: bytes) -> bytes:
    digest = hmac.new(key, name.encode() + b"\0", "sha256")
    digest.update(content)
    return digest.digest()


def has_key() -> bool:
    """Whether there is a key, or one could be made; if not, nothing is kept."""
    return _key() is not None


def _key() -> bytes | None:
    return _key_in(key_file())


@cache
def _key_in(path: Path) -> bytes | None:
    """The key in a file, which is made if it is not there; None, with a warning, if that cannot be."""
    try:
        return _read(path) or _made(path)
    except OSError as error:
        warn(f"no key can be kept in {path} ({error.strerror}); LIEMECH_CACHE_TRUSTED=1 keeps it beside the kernels")
        return None


def _read(path: Path) -> bytes | None:
    """The key, unless it is damaged or others could have read it: then a new one is made."""
    try:
        found = os.stat(path)
        key = path.read_bytes()
    except FileNotFoundError:
        return None
    if os.name == "posix" and found.st_uid != os.geteuid():
        raise PermissionError(0, f"it belongs to user {found.st_uid}")
    private = os.name != "posix" or not stat.S_IMODE(found.st_mode) & 0o077
    return key if private and len(key) == _SIZE else None


def _made(path: Path) -> bytes:
    """A new key; where another process has made one meanwhile, that one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # Windows else changes line ends
        descriptor = os.open(part, flags, 0o600)
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_SIZE))
        if path.exists() and _read(path) is None:
            os.replace(part, path)  # damaged, or not private
        else:
            _link(part, path)
    finally:
        with suppress(OSError):
            part.unlink()
    key = _read(path)
    if key is None:
        raise OSError(0, "its content is not what was written")
    return key


def _link(part: Path, path: Path) -> None:
    """Give the file its name, unless another has it."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not path.exists():
            os.replace(part, path)
