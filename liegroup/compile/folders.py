"""Where compiled kernels are kept, and whether they may be read there: compiled code is code.

A folder is used if it belongs to the user and nobody else can write it, or if ``LIEMECH_CACHE_TRUSTED=1`` says that
whoever can write it may run code here.  Folders made by this package hold a file by which it knows them, and are the
only ones in which it removes anything.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

MARK = ".liemech"
"""The file that marks folders of this package's own making."""
_told: list[str] = []


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``LIEMECH_CACHE``, else ``$XDG_CACHE_HOME/liemech``, else where the system keeps
    such things of a user: ``~/.cache/liemech``, ``~/Library/Caches/liemech``, ``%LOCALAPPDATA%\\liemech\\Cache``.
    """
    if "LIEMECH_CACHE" in os.environ:
        return Path(os.environ["LIEMECH_CACHE"])
    return _of_user("XDG_CACHE_HOME", {"win32": "liemech/Cache", "darwin": "Library/Caches/liemech"}, ".cache/liemech")


def key_file() -> Path:
    """Where the key is kept with which entries are sealed: beside the user's settings, or, in folders that are trusted
    explicitly, beside the kernels.
    """
    if is_trusted():
        return cache_directory() / "key"
    elsewhere = {"win32": "liemech", "darwin": "Library/Application Support/liemech"}
    return _of_user("XDG_CONFIG_HOME", elsewhere, ".config/liemech") / "cache-key"


def _of_user(variable: str, places: dict[str, str], place: str) -> Path:
    """A folder of the user: `places` by system (of Windows below ``%LOCALAPPDATA%``), `place` for all others."""
    if os.environ.get(variable):
        return Path(os.environ[variable]) / "liemech"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / places["win32"]
    try:
        return Path.home() / places.get(sys.platform, place)
    except RuntimeError:  # a user without a home
        user = os.getuid() if hasattr(os, "getuid") else "user"
        return Path(tempfile.gettempdir()) / f"liemech-{user}{place.removesuffix('/liemech')}"


def is_trusted() -> bool:
    """Whether the user trusts the cache whoever can write it."""
    return os.environ.get("LIEMECH_CACHE_TRUSTED", "") not in ("", "0")


def is_usable() -> bool:
    """Whether kernels may be read from the cache and written there; if not, a warning says why, once."""
    reason = trouble()
    if reason:
        warn(reason)
    return not reason


def trouble() -> str:
    """Why the cache cannot be used, with the remedy; empty if it can."""
    return _reason(cache_directory(), is_trusted())


def warn(reason: str) -> None:
    """Say once per process why kernels are not kept."""
    if not _told:
        _told.append(reason)
        warnings.warn(f"kernels are compiled in memory only, and anew by every process: {reason}", RuntimeWarning, 2)


@cache
def _reason(root: Path, trusted: bool) -> str:
    """Why the folder cannot be used; empty if it can."""
    try:
        os.makedirs(root, 0o700, exist_ok=True)
        found = os.stat(root)
    except OSError as error:
        return f"the folder {root} cannot be used ({error.strerror}); LIEMECH_CACHE names another one"
    if trusted or os.name != "posix":
        return ""
    remedy = "LIEMECH_CACHE names another one, LIEMECH_CACHE_TRUSTED=1 uses it all the same (docs/security.md)"
    if found.st_uid != os.geteuid():
        return f"the folder {root} belongs to user {found.st_uid}, not to you; {remedy}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write the folder {root} (mode {stat.S_IMODE(found.st_mode):o}); chmod go-w it, or {remedy}"
    return ""


def make(folder: Path) -> bool:
    """Make a folder, marked as our own, if it is not there; returns whether it is new."""
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return False
    (folder / MARK).touch()
    return True


def is_own(folder: Path) -> bool:
    """Whether this package has made a folder."""
    return not folder.is_symlink() and (folder / MARK).is_file()
