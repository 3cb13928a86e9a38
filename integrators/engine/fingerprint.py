"""Fingerprints of functions, with all that they reach: a run that goes on must be of the same model.

A function is its bytecode, its constants, its defaults, what it encloses, and the globals that it and the functions it
calls name: numbers, arrays, dictionaries, objects with their attributes, bound methods with their objects, attributes
of modules.  Of libraries (the standard library, installed packages, this one) functions count without their globals.

What Python shows no content of (open files, sockets, foreign pointers) is `unknown`, by place.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from integrators.problem.fields import Field
from liegroup.compile import Entry, is_ours

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), np.generic, np.dtype)
_BUILT_IN = (BuiltinFunctionType, MethodWrapperType, np.ufunc, type(str.join), type(object.__init__))
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_OF_A_CLASS = {"_abc_impl", "_member_map_", "_value2member_map_", "_hashable_values_", "_unhashable_values_"}
"""What classes keep for themselves, besides names of Python's own."""
_DEEPEST = 200


class Fingerprint:
    """Digests of what functions and values consist of, by place, in words."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self.unknown: dict[str, str] = {}
        self._known: dict[int, tuple[bytes, Any]] = {}
        self._within: list[int] = []

    def add(self, place: str, value: Any) -> None:
        """The digest of a value; functions it reaches have places of their own."""
        digest = hashlib.sha256()
        try:
            for piece in self._pieces(place, value):
                digest.update(len(piece).to_bytes(8, "little") + piece)
        except RecursionError:
            self.unknown[place] = "deeper than can be followed"
        self.places[place] = digest.hexdigest()[:16]

    def _pieces(self, place: str, value: Any) -> Iterator[bytes]:
        """What a value consists of, as bytes."""
        if isinstance(value, _PLAIN):
            yield f"{type(value).__qualname__} {value!r}".encode()
        elif isinstance(value, Field):
            yield from self._pieces(place, value.source)
        elif isinstance(value, Entry):
            yield from self._pieces(place, value.python)
        elif isinstance(value, ModuleType):
            yield value.__name__.encode()
        elif isinstance(value, _BUILT_IN):
            yield f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value)}".encode()
        else:
            yield self._digest(place, value)

    def _digest(self, place: str, value: Any) -> bytes:
        """The digest of what has parts, once for each; of what is part of itself, how far up it is."""
        key = id(value)
        if key in self._within:
            return f"up {len(self._within) - self._within.index(key)}".encode()
        if key not in self._known:
            if len(self._within) > _DEEPEST:
                raise RecursionError
            self._within.append(key)
            try:
                digest = hashlib.sha256()
                for piece in self._content(place, value):
                    digest.update(len(piece).to_bytes(8, "little") + piece)
            finally:
                self._within.pop()
            self._known[key] = digest.digest(), value  # the value is kept, so that no other takes its place
        return self._known[key][0]

    def _content(self, place: str, value: Any) -> Iterator[bytes]:
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield f"{value.dtype} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        elif hasattr(value, "py_func"):
            yield from self._pieces(place, value.py_func)
        elif isinstance(value, FunctionType):
            yield from self._function(place, value)
        elif isinstance(value, MethodType):
            yield from self._pieces(place, value.__func__)
            self.add(f"{place}: object of {value.__qualname__}", value.__self__)
        elif isinstance(value, partial):
            yield from self._all(place, (value.func, value.args, value.keywords))
        elif isinstance(value, type):
            yield from self._class(place, value)
        elif isinstance(value, (tuple, list)):
            yield from self._all(place, (type(value), *value))
        elif isinstance(value, (set, frozenset)):
            yield from sorted(b"".join(self._pieces(place, x)) for x in value)
        elif isinstance(value, Mapping):
            yield from self._all(place, [type(value), *(x for pair in value.items() for x in pair)])
        else:
            yield from self._object(place, value)

    def _all(self, place: str, values: Iterable[Any]) -> Iterator[bytes]:
        for value in values:
            pieces = list(self._pieces(place, value))
            yield len(pieces).to_bytes(8, "little")
            yield from pieces

    def _function(self, place: str, function: FunctionType) -> Iterator[bytes]:
        name = function.__qualname__.replace("<locals>.", "")
        yield function.__name__.encode()
        yield from _code(function.__code__)
        for k, value in enumerate(function.__defaults__ or ()):
            self.add(f"{place}: default {k} of {name}", value)
        for key, value in (function.__kwdefaults__ or {}).items():
            self.add(f"{place}: default {key!r} of {name}", value)
        for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.add(f"{place}: {key!r} enclosed by {name}", cell.cell_contents)
            except ValueError:  # not there yet
                continue
        if not _is_of_a_library(function.__module__):
            self._globals(place, name, function)

    def _globals(self, place: str, name: str, function: FunctionType) -> None:
        attributes = {x for code in _codes(function.__code__) for x in code.co_names}
        for key in sorted(_global_names(function.__code__)):
            value = function.__globals__.get(key)
            if isinstance(value, ModuleType) and not _is_of_a_library(value.__name__):
                for attribute in sorted(attributes & set(vars(value))):
                    self.add(f"{place}: {key}.{attribute} named by {name}", getattr(value, attribute))
            elif key in function.__globals__:
                self.add(f"{place}: global {key!r} of {name}", value)

    def _class(self, place: str, kind: type) -> Iterator[bytes]:
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if not _is_of_a_library(kind.__module__):
            for key, value in sorted(vars(kind).items()):
                own = key in _OF_A_CLASS or (key.startswith("__") and not isinstance(value, FunctionType))
                if not own and not inspect.ismemberdescriptor(value):
                    self.add(f"{place}: {kind.__qualname__}.{key}", _described(value))
            yield from self._all(place, kind.__bases__)

    def _object(self, place: str, value: Any) -> Iterator[bytes]:
        """An object as it would be copied, without what is computed once and kept."""
        try:
            made = value.tolist() if isinstance(value, np.ndarray) else value.__reduce_ex__(4)
        except Exception:
            self.unknown[place] = f"an object of type {type(value).__module__}.{type(value).__qualname__}"
            return
        if isinstance(made, tuple):
            state = made[2] if len(made) > 2 else None
            if isinstance(state, dict):
                state = {k: v for k, v in state.items() if not _is_kept(type(value), k)}
            made = (*made[:2], state, *(list(items) for items in made[3:5] if items is not None))
        yield from self._all(place, (type(value), made))


def _described(value: Any) -> Any:
    """The function behind what a class holds: a method of the class, a property."""
    for name in ("__func__", "fget", "func"):
        if isinstance(value, (classmethod, staticmethod, property, cached_property)) and hasattr(value, name):
            return getattr(value, name)
    return value


def _is_kept(kind: type, name: Any) -> bool:
    return isinstance(name, str) and isinstance(getattr(kind, name, None), cached_property)


def _code(code: CodeType) -> Iterator[bytes]:
    """What is computed: bytecode, names and constants, but no file names and lines."""
    yield code.co_code + repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            sorted_ = sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)
            yield f"{sorted_}".encode()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _global_names(code: CodeType) -> set[str]:
    asked = ("LOAD_GLOBAL", "LOAD_NAME")
    return {i.argval for inner in _codes(code) for i in dis.get_instructions(inner) if i.opname in asked}


def _is_of_a_library(module: str | None) -> bool:
    """Whether a module is part of Python, of this package or of an installed one."""
    if is_ours(module) or (module or "").split(".")[0] in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    return bool(file) and str(file).startswith(_INSTALLED)
