"""Source code written by a program as a module on disk, so that the compiler's cache knows it by its contents in every
later process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from liegroup.compile import folders


def module_of(source: str) -> ModuleType:
    """The module with this source: kept in the cache directory under the digest of its contents, imported once."""
    name = f"liemech_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__dict__["__source__"] = source
    exec(compile(source, _kept(f"{name}.py", source), "exec"), module.__dict__)
    return sys.modules.setdefault(name, module)


def _kept(name: str, source: str) -> str:
    """The path of a file with this source; where none can be kept, a name that is no path."""
    folder = folders.cache_directory() / "generated"
    try:
        if folders.is_usable():
            if _content(folder / name) == source:
                with suppress(OSError):  # a folder that can only be read
                    os.utime(folder)
            else:
                _write(folder, name, source)
            return str(folder / name)
    except OSError as error:
        folders.warn(f"{folder} cannot be written ({error.strerror})")
    return f"<{name}>"


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(folder: Path, name: str, source: str) -> None:
    """Whole or not at all, also if several processes write it."""
    folders.make(folder)
    part = folder / f"{name}.{uuid.uuid4().hex}"
    try:
        part.write_text(source, encoding="utf-8")
        os.replace(part, folder / name)
    except PermissionError:  # on Windows while another process reads it
        if _content(folder / name) != source:
            raise
    finally:
        part.unlink(missing_ok=True)
