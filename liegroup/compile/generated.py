"""Source code written by a program as a module on disk, so that the compiler's cache knows it by its contents in every
later process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from types import ModuleType

from liegroup.compile import cache_directory


def module_of(source: str) -> ModuleType:
    """The module with this source: kept in the cache directory under the digest of its contents, imported once."""
    name = f"liemech_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    folder = cache_directory() / "generated"
    path = folder / f"{name}.py"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / f"{name}.{uuid.uuid4().hex}"  # whole or not at all, also if several processes write it
        written.write_text(source, encoding="utf-8")
        os.replace(written, path)
    else:
        os.utime(folder)
    module = ModuleType(name)
    exec(compile(source, str(path), "exec"), module.__dict__)
    return sys.modules.setdefault(name, module)
