"""Which source files a function is compiled from, and the digest of them all.

What a file says of its imports depends on its content alone, and is kept between processes by the digest of that: a
process reads and digests its sources, but looks for imports only in those that have changed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba

from liegroup.compile import folders, seals
from liegroup.compile.folders import cache_directory
from liegroup.compile.options import MODE

PACKAGES = ("liegroup", "integrators", "mechanics", "studies", "tests", "benchmarks", "examples")
_OURS = ("liegroup", "integrators", "mechanics", "liemech")
_KEPT = "imports"
"""The file in the cache that holds what is known of contents."""
_MOST = 4000
"""Contents it may hold; beyond that, only those that the process that writes it has met."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]*(?:\((?P<many>[^)]*)\)|(?P<few>[^\n(]*))"
    rb"|import[ \t]+(?P<plain>[^\n]*))",
    re.MULTILINE,
)
_BEHIND = rb"[;:][ \t]*(?:from[ \t\\.](?:[^\n;#]|\\\r?\n)*?import|import)\b"
_MAYBE_HIDDEN, _HIDDEN = re.compile(_BEHIND), re.compile(rb"^[^\n#\"']*" + _BEHIND, re.MULTILINE)
_COMMENT = re.compile(rb"#[^\n]*")


def is_ours(module: str | None) -> bool:
    """Whether a module is one of these packages, by its name."""
    return (module or "").partition(".")[0] in _OURS


def source_digest(*paths: str | Path) -> str:
    """Digest of source files, of every project file they import directly or indirectly, of this folder and of the
    compiler's setting.
    """
    return _digest(tuple(sorted({_resolved(str(path)) for path in paths})))


@cache
def _resolved(path: str) -> str:
    return str(Path(path).resolve())


@cache
def _digest(paths: tuple[str, ...]) -> str:
    todo, seen = [*paths, *_own()], set[str]()
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += imports(file)
    _keep()
    setting = f"{MODE} {numba.__version__} {sys.version_info[:2]}".encode()
    return hashlib.sha256(setting + b"".join(map(_content, sorted(seen)))).hexdigest()[:24]


@cache
def _own() -> list[str]:
    """The files of this folder."""
    return [str(path) for path in Path(__file__).parent.glob("*.py")]


@cache
def _content(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


# --- what a file imports ----------------------------------------------------------------------------------------------


@cache
def imports(path: str) -> tuple[str, ...]:
    """Files of the project that the file imports, without following them further."""
    found: list[str] = []
    for base, names in _said(path, statements):
        if base.startswith("."):
            dots = len(base) - len(base.lstrip("."))
            package = _package_of(path).split(".")
            base = ".".join(filter(None, [*package[: len(package) + 1 - dots], base[dots:]]))
        if base.split(".")[0] in PACKAGES:
            found += [file for file in map(_file_of, [base, *(f"{base}.{name}" for name in names)]) if file]
    return tuple(found)


def statements(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """Modules that a source file imports, with dots in front where it says so, and what it takes from them.

    Looked for in the text, which takes a twentieth of the time of parsing it; what a string within the file says is
    found, too, which does no harm.  Statements behind others in a line are left to the parser.
    """
    if _MAYBE_HIDDEN.search(content) and _HIDDEN.search(content):
        yield from parsed_statements(content)
        return
    for found in _IMPORT.finditer(content.replace(b"\r\n", b"\n").replace(b"\\\n", b" ")):
        base, many, few, plain = (x.decode() for x in found.groups(b""))
        if base:
            yield base, _names(many or few)
        else:
            yield from ((name, []) for name in _names(plain))


def _names(text: str) -> list[str]:
    """The names of a list of imports, without those they are given here."""
    text = _COMMENT.sub(b"", text.encode()).decode()
    return [words[0] for part in text.split(",") if (words := part.split())]


def parsed_statements(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """The same by Python's own parser."""
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]


def _collecting(content: bytes) -> Iterator[tuple[str, str, str]]:
    """The names that a package's ``__init__`` imports: where from, what, and what it is called here."""
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name, alias.asname or alias.name) for alias in node.names)


# --- where modules are ------------------------------------------------------------------------------------------------


def _package_of(path: str) -> str:
    parts = list(Path(path).resolve().parts[:-1])
    for package in PACKAGES:
        if package in parts:
            return ".".join(parts[len(parts) - 1 - parts[::-1].index(package) :])
    return ""


@cache
def _file_of(name: str) -> str | None:
    """The file of a module, or where a name comes from that a package has collected."""
    place = _place(name)
    if place is None:
        package, _, attribute = name.rpartition(".")
        module = _collected(package).get(attribute)
        return _file_of(module) if module else None
    # a package's __init__ only collects names: what a kernel needs of it is looked for where it comes from
    return None if _is_package(place) else place


@cache
def _place(name: str) -> str | None:
    """The file of a module, of a package that of its ``__init__``; None if there is no such module.

    Within packages looked for in their folders: the import system takes twenty times as long, and imports packages on
    its way.  It is asked for packages themselves, and for modules that have moved.
    """
    package, _, last = name.rpartition(".")
    above = _place(package) if package else None
    if above is not None:
        if not _is_package(above):
            return None
        within = os.path.join(os.path.dirname(above), last)
        for file in (os.path.join(within, "__init__.py"), within + ".py"):
            if os.path.isfile(file):
                return file
        if last in _collected(package):
            return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    return spec.origin if spec else None


def _is_package(file: str) -> bool:
    return file.endswith("__init__.py")


@cache
def _collected(package: str) -> dict[str, str]:
    """Where the names come from that a package's ``__init__`` imports: name → module, or name in another package."""
    place = _place(package) if package else None
    if place is None or not _is_package(place):
        return {}
    found: dict[str, str] = {}
    for module, name, here in _said(place, _collecting):
        if (source := _place(module)) is not None and _is_package(source):
            module = f"{module}.{name}"
        found[here] = module
    return found


# --- what is known of contents ----------------------------------------------------------------------------------------

_met: dict[str, Any] = {}
"""What readers have found in this process, by reader and digest of the content."""
_unkept: list[str] = []


def _said(path: str, reader: Callable[[bytes], Iterator[Any]]) -> Any:
    """What a reader finds in a file."""
    key = f"{reader.__name__} {_content(path).hex()}"
    if key not in _met:
        if key in _remembered():
            _met[key] = _remembered()[key]
        else:
            content = Path(path).read_bytes()
            key = f"{reader.__name__} {hashlib.sha256(content).hexdigest()}"  # of what is read now
            _met[key] = [*reader(content)]
            _unkept.append(key)
    return _met[key]


@cache
def _remembered() -> dict[str, Any]:
    """What earlier processes have found."""
    try:
        found = None if folders.trouble() else seals.opened(_sealed_name(), (cache_directory() / _KEPT).read_bytes())
        return {} if found is None else dict(json.loads(found))
    except (OSError, ValueError):
        return {}


def _keep() -> None:
    """Write what is new for later processes, whole or not at all."""
    if not _unkept or folders.trouble():
        return
    _unkept.clear()
    known = _remembered() | _met
    content = seals.sealed(_sealed_name(), json.dumps(_met if len(known) > _MOST else known).encode())
    if content is None:
        return
    part = cache_directory() / f"{_KEPT}.{uuid.uuid4().hex[:8]}"
    with suppress(OSError):  # a folder that can only be read
        try:
            part.write_bytes(content)
            os.replace(part, cache_directory() / _KEPT)
        finally:
            part.unlink(missing_ok=True)


@cache
def _sealed_name() -> str:
    """What the file is sealed as: another one when the readers have changed."""
    return f"{_KEPT}/{_content(__file__).hex()}"
