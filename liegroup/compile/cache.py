"""The cache of compiled functions: in a folder named after the digest of every source file they are compiled from."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.targetconfig import ConfigStack

from liegroup.compile.options import MODE

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
    # a package's __init__ only collects names; what a kernel needs it imports from the module itself
    if spec is None or not spec.origin or spec.origin.endswith("__init__.py"):
        return None
    return spec.origin


@cache
def _content(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


def source_digest(*paths: str | Path) -> str:
    """Digest of source files, of every project file they import directly or indirectly, of this folder and of the
    compiler's setting.
    """
    todo, seen = (
        [str(path) for path in (*(Path(path).resolve() for path in paths), *Path(__file__).parent.glob("*.py"))],
        set[str](),
    )
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += _imports(file)
    digest = hashlib.sha256(f"{MODE} {numba.__version__} {sys.version_info[:2]}".encode())
    for file in sorted(seen):
        digest.update(_content(file))
    return digest.hexdigest()[:24]


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``LIEMECH_CACHE``, else ``$XDG_CACHE_HOME/liemech`` or ``~/.cache/liemech``."""
    if "LIEMECH_CACHE" in os.environ:
        return Path(os.environ["LIEMECH_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "liemech"


def _prune(root: Path, days: float = 30.0) -> None:
    """Remove kernels of sources that have not been used for a while."""
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > days * 86400:
            shutil.rmtree(folder, ignore_errors=True)


class _DigestLocator:
    """Places the cache of a function in a folder named after the digest of everything it is compiled from."""

    def __init__(self, py_func: Callable[..., Any], path: str) -> None:
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
    _locator_classes = (_DigestLocator,)


class DigestCache(FunctionCache):
    """Keeps compiled functions by file, name, line and signature, and by whether the caller forces them inline."""

    _impl_class = _DigestCacheImpl

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless it is made for kernels that it was given as arguments: their types cannot be
        written down.
        """
        if not any(isinstance(x, types.Function) for x in getattr(sig, "args", sig)):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        caller = ConfigStack.top_or_none()
        inline = bool(caller and caller.forceinline)
        if "<locals>" in self._py_func.__qualname__:  # one of several made by a function: known by what it was made of
            return (*super()._index_key(sig, codegen), inline)
        return sig, codegen.magic_tuple(), self._py_func.__qualname__, inline
