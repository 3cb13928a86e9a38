"""The cache of compiled functions: in a folder named after the digest of every source file they are compiled from.

Whatever is not there, or not as it was written, is compiled anew; what cannot be written is compiled in memory.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.compiler import compile_result
from numba.core.serialize import dumps

from liegroup.compile import folders, objects, seals
from liegroup.compile.closures import digest_of
from liegroup.compile.folders import cache_directory
from liegroup.compile.libraries import KernelLibrary
from liegroup.compile.overloads import forced_inline
from liegroup.compile.sources import source_digest


def _prune(root: Path, days: float = 30.0) -> None:
    """Remove kernels of sources that have not been used for a while: only folders of our own making, with nothing in
    them but what the compiler has put there, since the folder may be the user's.
    """
    before = time.time() - days * 86400
    objects.prune(before)
    for folder in root.iterdir():
        ours = re.fullmatch("[0-9a-f]{24}", folder.name) and folders.is_own(folder)
        if ours and folder.stat().st_mtime < before and all(_KEPT.fullmatch(p.name) for p in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


_KEPT = re.compile(rf".*\.nb[ic](\.tmp\.[0-9a-f]+)?|{re.escape(folders.MARK)}")
"""Names of files in the folder of a digest."""


class _DigestLocator:
    """Places the cache of a function in a folder named after the digest of everything it is compiled from."""

    def __init__(self, py_func: Callable[..., Any], path: str) -> None:
        # a kernel built around a formula it was given depends on the file of the formula, too
        self._path = cache_directory() / source_digest(path, *getattr(py_func, "sources", ()))
        self._line = py_func.__code__.co_firstlineno

    def ensure_cache_path(self) -> None:
        if folders.make(self._path):
            _prune(self._path.parent)
        else:
            os.utime(self._path)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._path.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], path: str) -> _DigestLocator:
        if not Path(path).is_file():
            raise RuntimeError(
                f"{path}: is no file; kernels are compiled from their source files, and these must lie in folders: "
                "install the package (pip install), an archive on sys.path does not do"
            )
        return cls(py_func, path)


class _DigestCacheImpl(CompileResultCacheImpl):
    """What is kept of a compiled function: its types, and by digest the machine code of all it calls."""

    _locator_classes = (_DigestLocator,)

    def check_cachable(self, result: Any) -> bool:
        return isinstance(result.library, KernelLibrary) and super().check_cachable(result)

    def reduce(self, result: Any) -> Any:
        description = result.fndesc
        description.typemap = description.calltypes = None
        environments = tuple(result._find_referenced_environments())
        return (
            result.library.keep(),
            description,
            result.environment,
            result.signature,
            result.reload_init,
            environments,
        )

    def rebuild(self, target_context: Any, kept: Any) -> Any:
        """The compiled function, or None if its machine code has been removed from the disk."""
        machine_code, description, environment, signature, reload_init, environments = kept
        library = KernelLibrary.load(target_context.codegen(), *machine_code)
        if library is None:
            return None
        for initialise in reload_init:
            initialise()
        result = compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, description, environment),
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            referenced_envs=environments,
        )
        for inner in environments:
            library.codegen.set_env(inner.env_name, inner)
        return result


class _SealedFiles(IndexDataCacheFile):
    """Index and data of a function, with seals that are checked before anything looks at their content.

    Every entry has a file of its own name: two processes that write at the same time would else take the same number,
    and one's code be found under the other's types.
    """

    def _load_index(self) -> Any:
        version, stamp, overloads = self._read(self._index_name) or (None, None, {})
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_name, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(name)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, data)

    def _data_name(self, number: int) -> str:
        return str(self._data_name_pattern.format(number=uuid.uuid4().int >> 80))

    def _read(self, name: str) -> Any:
        """What was written under a name; None if it is gone, is not what was written, or of modules that are gone."""
        try:
            content = seals.opened(self._sealed_name(name), Path(self._data_path(name)).read_bytes())
            return None if content is None else pickle.loads(content)
        except Exception:
            return None

    def _write(self, name: str, data: Any) -> None:
        content = seals.sealed(self._sealed_name(name), dumps(data))
        if content is not None:
            with self._open_for_write(self._data_path(name)) as file:
                file.write(content)

    def _sealed_name(self, name: str) -> str:
        return f"{self._source_stamp}/{name}"


class DigestCache(FunctionCache):
    """Keeps compiled functions by file, name, line and signature."""

    _impl_class = _DigestCacheImpl
    takes_bare_arrays = False
    """How what is kept is called: see `liegroup.compile.calls`."""

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = _SealedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function as it was kept, unless it is to be inlined: what is kept is machine code."""
        if forced_inline() or not folders.is_usable():
            return None
        try:  # without setting the compiler up first: machine code that needs it says so (`KernelLibrary.load`)
            found = self._load_overload(sig, target_context)
        except OSError:
            return None
        if found is not None:
            with suppress(OSError):  # a folder that can only be read
                os.utime(self._cache_path)  # not to be pruned
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless it is made for kernels that it was given as arguments: their types cannot be
        written down.
        """
        if any(isinstance(x, types.Function) for x in getattr(sig, "args", sig)) or not folders.is_usable():
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            folders.warn(f"{self._cache_path} cannot be written ({error.strerror})")

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        name = self._py_func.__qualname__
        if "<locals>" in name:  # one of several made by a function: known by what it was made of
            name = digest_of(self._py_func)
        return sig, codegen.magic_tuple(), name, self.takes_bare_arrays
