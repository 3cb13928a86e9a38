"""How modules show themselves: their public names only, and modules that have moved under their earlier names, too."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any


def listing(names: Iterable[str]) -> Callable[[], list[str]]:
    """The ``__dir__`` of a module that shows these names and nothing else: ``__dir__ = listing(__all__)``."""
    shown = sorted(names)
    return lambda: list(shown)


def found_later(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are looked up when they are first asked for: ``{module: names}``.

    So the import of the package takes no time.  Its modules are attributes without being imported, too.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def found(name: str) -> Any:
        with uncollected():
            if name in home:
                value = getattr(importlib.import_module(home[name]), name)
                setattr(sys.modules[package], name, value)
                return value
            if not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}"):
                return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return found


class Later:
    """A function of a module that is imported when it is asked for: ``Later("package.module:function").found()``.

    With arguments it is the function with these given, as by `functools.partial`.
    """

    def __init__(self, home: str, *arguments: Any, **keywords: Any) -> None:
        self.home, self._arguments, self._keywords = home, arguments, keywords

    def found(self) -> Callable[..., Any]:
        """The function."""
        with uncollected():
            function: Callable[..., Any] = pkgutil.resolve_name(self.home)
        given = self._arguments or self._keywords
        return partial(function, *self._arguments, **self._keywords) if given else function


def registered(door: Any, thing: Any) -> Callable[..., Any] | None:
    """What is registered for a thing at a `functools.singledispatch` function; None where nothing is.

    A class that lies below those who register it says at which doors it is known, and by which modules: ``known_in =
    {"pose": "package.module"}``; they are imported when the first of its things comes to the door.
    """
    kind = type(thing)
    home = getattr(kind, "known_in", {}).get(door.__name__)
    if home is None:
        return None
    importlib.import_module(home)
    found: Callable[..., Any] = door.dispatch(kind)
    return None if found is door.dispatch(object) else found


@contextmanager
def uncollected() -> Iterator[None]:
    """Around imports: the collector of garbage finds none in them, and looks for it through all of the compiler.

    What has been loaded counts as old in the end, so that the next look at what is young is no look at all of it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_freeze_count() == 0:  # else somebody has put objects aside, and would get them back
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def whose(point: EntryPoint) -> str:
    """An entry point in a message: its name, its package, what it points to."""
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return f"entry point {point.name!r}{package} ({point.value})"


class _Renamed(MetaPathFinder, Loader):
    """Finds a module by an earlier name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.names:
            return None
        now = importlib.util.find_spec(self.names[fullname])
        return ModuleSpec(fullname, self, origin=now.origin if now else None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.names[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the import system has just put the earlier name there


_finder = _Renamed()
sys.meta_path.append(_finder)


def renamed(names: Mapping[str, str]) -> None:
    """Let modules be imported by earlier names: ``{earlier: name now}``.

    A module that is loaded is entered at once: were it looked for later, the import system would put it in the place of
    a function of the same name in the package.
    """
    _finder.names.update(names)
    for earlier, now in names.items():
        if now in sys.modules:
            package, _, name = earlier.rpartition(".")
            sys.modules.setdefault(earlier, sys.modules[now])
            if package in sys.modules and not hasattr(sys.modules[package], name):
                setattr(sys.modules[package], name, sys.modules[now])
