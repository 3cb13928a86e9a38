"""The cache of compiled functions: in a folder named after the digest of every source file they are compiled from."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import compile_result

from liegroup.compile import objects
from liegroup.compile.libraries import KernelLibrary
from liegroup.compile.objects import cache_directory
from liegroup.compile.options import MODE
from liegroup.compile.overloads import forced_inline

PACKAGES = ("liegroup", "integrators", "mechanics", "studies", "tests", "benchmarks", "examples")


@cache
def _imports(path: str) -> tuple[str, ...]:
    """Files of the project that the file imports, without following them further."""
    found: list[str] = []
    package = _package_of(path)
    for node in ast.walk(ast.parse(Path(path).read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    filter(None, [".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]), base])
                )
            names = [base] + [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] in PACKAGES and (file := _file_of(name)):
                found.append(file)
    return tuple(found)


def _package_of(path: str) -> str:
    parts = list(Path(path).resolve().parts[:-1])
    for package in PACKAGES:
        if package in parts:
            return ".".join(parts[len(parts) - 1 - parts[::-1].index(package) :])
    return ""


@cache
def _file_of(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None:
        package, _, attribute = name.rpartition(".")
        module = _collected(package).get(attribute)
        return _file_of(module) if module else None
    # a package's __init__ only collects names: what a kernel needs of it is looked for where it comes from
    return None if not spec.origin or spec.origin.endswith("__init__.py") else spec.origin


@cache
def _collected(package: str) -> dict[str, str]:
    """Where the names come from that a package's ``__init__`` imports: name → module, or name in another package."""
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or not (spec.origin or "").endswith("__init__.py"):
        return {}
    found: dict[str, str] = {}
    for node in ast.parse(Path(str(spec.origin)).read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            source = importlib.util.find_spec(node.module)
            is_package = source is not None and source.submodule_search_locations is not None
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}" if is_package else node.module
    return found


@cache
def _content(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


_registered: dict[str, set[str]] = {}
"""Files that every compiled function depends on, though none of ours imports them: groups that users have added, by
name in the order in which they were added, which compiled code depends on, too.
"""
_asked: list[str] = []
"""The first file for whose functions the cache has been asked."""


def depend_on(name: str, paths: Iterable[str]) -> None:
    """Have all compiled functions depend on these files, too; RuntimeError if some have been compiled before."""
    files = {str(Path(path).resolve()) for path in paths}
    if missing := sorted(file for file in files if not Path(file).is_file()):
        raise TypeError(
            f"{name}: functions from {missing}, expected a source file; put them into a module of their own"
        )
    if _asked and _registered.get(name) != files:
        raise RuntimeError(
            f"{name}: code that does not know it has been compiled already (for {_asked[0]}); "
            f"register it before the first run"
        )
    _registered[name] = files


def source_digest(*paths: str | Path) -> str:
    """Digest of source files, of every project file they import directly or indirectly, of this folder and of the
    compiler's setting.
    """
    given = {str(Path(path).resolve()) for path in paths}.union(*_registered.values())
    return _digest(tuple(sorted(given)), tuple(_registered))


@cache
def _digest(paths: tuple[str, ...], registered: tuple[str, ...]) -> str:
    todo, seen = [*paths, *(str(path) for path in Path(__file__).parent.glob("*.py"))], set[str]()
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += _imports(file)
    digest = hashlib.sha256(f"{MODE} {numba.__version__} {sys.version_info[:2]} {registered}".encode())
    for file in sorted(seen):
        digest.update(_content(file))
    return digest.hexdigest()[:24]


def _prune(root: Path, days: float = 30.0) -> None:
    """Remove kernels of sources that have not been used for a while: only folders named by a digest, with nothing in
    them but what the compiler has put there, since the folder may be the user's.
    """
    before = time.time() - days * 86400
    objects.prune(before)
    for folder in root.iterdir():
        ours = re.fullmatch("[0-9a-f]{24}", folder.name) and folder.is_dir()
        if ours and folder.stat().st_mtime < before and all(p.suffix in (".nbi", ".nbc") for p in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


class _DigestLocator:
    """Places the cache of a function in a folder named after the digest of everything it is compiled from."""

    def __init__(self, py_func: Callable[..., Any], path: str) -> None:
        if not _asked:
            _asked.append(path)
        # a kernel built around a formula it was given depends on the file of the formula, too
        self._path = cache_directory() / source_digest(path, *getattr(py_func, "sources", ()))
        self._line = py_func.__code__.co_firstlineno

    def ensure_cache_path(self) -> None:
        fresh = not self._path.exists()
        self._path.mkdir(parents=True, exist_ok=True)
        if fresh:
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
    def from_function(cls, py_func: Callable[..., Any], path: str) -> _DigestLocator | None:
        return cls(py_func, path) if Path(path).is_file() else None


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


class DigestCache(FunctionCache):
    """Keeps compiled functions by file, name, line and signature."""

    _impl_class = _DigestCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function as it was kept, unless it is to be inlined: what is kept is machine code."""
        return None if forced_inline() else super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless it is made for kernels that it was given as arguments: their types cannot be
        written down.
        """
        if not any(isinstance(x, types.Function) for x in getattr(sig, "args", sig)):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        if "<locals>" in self._py_func.__qualname__:  # one of several made by a function: known by what it was made of
            return super()._index_key(sig, codegen)
        return sig, codegen.magic_tuple(), self._py_func.__qualname__
