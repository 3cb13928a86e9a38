"""Files that are always whole: written beside, brought to the disk, then put in the place of the old one."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from integrators.results.digests import StorageError

STALE = 3600.0
"""Seconds after which what another machine, or a process of the same number, has left unfinished is removed."""


def target_of(path: str | os.PathLike[str]) -> Path:
    """Where a file is written: at the end of links, which stay; StorageError if something else than a regular file
    is there.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = os.lstat(target).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return target
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a link in a circle" if stat.S_ISLNK(mode) else "a device or pipe"
        raise StorageError(f"{path}: is {kind}; expected the name of a new file, or of a regular file to be replaced")
    return target


@contextmanager
def part_of(target: Path) -> Iterator[Path]:
    """The name of a new file or folder beside the target, for as long as it is written; removed if that fails."""
    remove_leftovers(target)
    part = target.parent / f".{target.name}.{_host()}.{os.getpid()}.{uuid.uuid4().hex[:12]}.part"
    try:
        yield part
    finally:
        _remove(part)


def put(part: Path, target: Path, previous: Path | None = None) -> None:
    """Put a finished file in the place of the target, whose content is kept as `previous` if that is given."""
    with open(part, "r+b") as file:  # Windows brings only files open for writing to the disk
        os.fsync(file.fileno())
    if previous is not None and target.exists():
        _keep(target, previous)
    os.replace(part, target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            with suppress(OSError):  # not every file system brings folders to the disk
                os.fsync(folder)
        finally:
            os.close(folder)


def _keep(target: Path, previous: Path) -> None:
    """Give the content of the target a second name, so that the target is there at any moment."""
    with part_of(previous) as name:
        try:
            os.link(target, name)
        except OSError:  # a file system without links: for a moment only the previous name is there
            os.replace(target, previous)
        else:
            os.replace(name, previous)


def remove_leftovers(target: Path) -> None:
    """Remove what processes that have ended left unfinished beside the target."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([^.]+)\.(\d+)\.[0-9a-f]{{12}}\.part")
    with suppress(OSError):
        for path in target.parent.iterdir():
            whole = path.is_file() or path.is_dir()
            if (found := pattern.fullmatch(path.name)) and whole and not path.is_symlink():
                with suppress(OSError):
                    ours = found[1] == _host() and not _is_running(int(found[2]))
                    if ours or path.stat().st_mtime < time.time() - STALE:
                        _remove(path)


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there and can be removed."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:40] or "host"


def _is_running(process: int) -> bool:
    """Whether a process of this machine may still be there; elsewhere than on POSIX only time tells."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
