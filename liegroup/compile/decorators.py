"""`helper`, `kernel`, `primitive` and `entry`: what makes a Python function of scalars a compiled one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError

from liegroup.compile import progress
from liegroup.compile.cache import DigestCache
from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.generated import module_of
from liegroup.compile.options import CALLED, FORMULA, INNER, KERNEL, OPTIONS
from liegroup.compile.overloads import teach
from liegroup.compile.pending import pending, raise_pending
from liegroup.compile.straight import of_any_length
from liegroup.compile.undisturbed import undisturbed
from liegroup.compile.waiting import waiting

F = TypeVar("F", bound=Callable[..., Any])


def helper(function: F) -> F:
    """Register a formula with the compiler, inlined by force; in Python it stays the plain function."""
    teach(function, lambda *args, **kwargs: function, FORMULA)
    return _registered(function)


def straight_line(function: F) -> F:
    """A `helper` without branches and of any length, as programs write them: the compiler is given what it does, in a
    fifth of the time that thousands of its statements would take.
    """
    of_any_length.add(function)
    return helper(function)


def kernel(function: F, name: str = "", sources: Sequence[str] = ()) -> F:
    """Register a larger function with the compiler; in Python it stays the plain function.

    Kernels of a module are kept on disk and serve every entry that calls them.  Those made by another function are,
    too, if they are given a `name` that says, within their file and for what is in the files `sources`, which one they
    are.
    """
    if name:
        named(function, name, sources)
    kept = (bool(name) or "<locals>" not in function.__qualname__) and Path(function.__code__.co_filename).is_file()
    teach(function, lambda *args, **kwargs: function, CALLED, DigestCache if kept else None)
    function.is_kernel = True  # type: ignore[attr-defined]
    return _registered(function)


def named(function: F, name: str, sources: Sequence[str] = ()) -> F:
    """Say of a function made by another one which one it is, within its file and for what is in the files `sources`."""
    function.__qualname__, function.sources = name, tuple(sources)  # type: ignore[attr-defined]
    return function


def _registered(function: F) -> F:
    function.is_formula = True  # type: ignore[attr-defined]
    return function


def is_formula(function: Any) -> bool:
    """True for a `helper` or `kernel`: what other kernels can call."""
    return bool(getattr(function, "is_formula", False))


def primitive(compiled: Callable[..., Any], stepped: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Give a Python function of any scalar type the compiled form `compiled` (same arguments) on float64 and lanes, and
    the form `stepped` on complex numbers: f(x) + i f'(x) y of x + i y, for steps y that have no second order.
    """

    def decorate(function: F) -> F:
        def resolve(*args: Any) -> Callable[..., Any]:
            return stepped if stepped is not None and any(isinstance(x, types.Complex) for x in args) else compiled

        compiled_form(function)(resolve)
        return function

    return decorate


def compiled_form(function: Callable[..., Any]) -> Any:
    """Decorator: chooses, by the types of the arguments, what the compiler puts in the place of a Python function."""

    def decorate(resolve: Callable[..., Any]) -> Callable[..., Any]:
        teach(function, resolve, FORMULA)
        return resolve

    return decorate


class Entry:
    """The outermost function of a kernel family: compiled at its first use, for its fixed signatures, and cached.

    `entry.python` is the undecorated function: the same source, interpreted (plain Python fields, mpmath, …).
    `entry.compiled` (and `entry.compiled_lanes`) is what other kernels take as an argument of type `function`; every
    signature compiles on its own, when it is first needed.

    Entries are known by their names: copies are the entry itself, and other processes find it in its module, or make it
    by its `recipe` (a function and its arguments) where another function has made it.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Any, ...]) -> None:
        self.python = function
        self.recipe: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
        self._signatures = signatures
        self._dispatcher: Any = None
        self._is_missing = False
        self._address = 0
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    @property
    def compiled(self) -> Any:
        """The dispatcher, compiled at least for the first signature (one trajectory)."""
        return self._compiled_for(0)

    @property
    def compiled_lanes(self) -> Any:
        """The dispatcher, compiled at least for the last signature (lanes)."""
        return self._compiled_for(-1)

    @property
    def takes_lanes(self) -> bool:
        """Whether it has a form for lanes beside that for one trajectory: signatures of its own, more than one."""
        return len(self._signatures) > 1

    @property
    def is_at_hand(self) -> bool:
        """Whether it is compiled already, in this process or, for one trajectory, in the cache."""
        if self._dispatcher is None and self._signatures and not self._is_missing:
            self._is_missing = not self.has(False)
        return self._dispatcher is not None

    def has(self, lanes: bool) -> bool:
        """Whether it is compiled already for lanes, or for one trajectory, in this process or in the cache."""
        wanted = self._signatures[-1 if lanes else 0]
        with global_compiler_lock, undisturbed():
            dispatcher = self._dispatcher or dispatcher_of(self.python, KERNEL, self._cache)
            if dispatcher.is_kept(wanted):
                dispatcher.disable_compile()
                self._dispatcher = self._dispatcher or dispatcher
        return self._dispatcher is not None and wanted.args in self._dispatcher.overloads

    @property
    def address(self) -> int:
        """Where the code for the first signature is, for `function_at`."""
        if not self._address:
            compiled = self.compiled.overloads[self._signatures[0].args]
            self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return self._address

    @property
    def _cache(self) -> type | None:
        """None for what was typed at a prompt: it has no source."""
        return DigestCache if Path(self.python.__code__.co_filename).is_file() else None

    def _compiled_for(self, which: int) -> Any:
        wanted = self._signatures[which]
        if self._dispatcher is None or wanted.args not in self._dispatcher.overloads:
            with waiting(), global_compiler_lock:  # whether a dispatcher may compile is one flag for all threads
                self._compile(wanted)
        return self._dispatcher

    def _compile(self, wanted: Any) -> None:
        if self._dispatcher is None:
            self._dispatcher = dispatcher_of(self.python, KERNEL, self._cache)
        if wanted.args not in self._dispatcher.overloads:
            self._dispatcher.disable_compile(False)
            try:
                with undisturbed():
                    progress.wanted(self.python)
                    self._dispatcher.compile(wanted)
            finally:
                self._dispatcher.disable_compile(bool(self._dispatcher.overloads))  # none: the error is on its way

    def within(self, signature: Any) -> Any:
        """For compiled code alone, a dispatcher of the same source with a signature of its own; None if the compiler
        refuses the source for it.
        """
        return self._other(signature, INNER)

    def on(self, signature: Any) -> Any:
        """The same for Python, too."""
        return self._other(signature, KERNEL)

    def _other(self, signature: Any, options: dict[str, Any]) -> Any:
        dispatcher = dispatcher_of(self.python, options, self._cache)
        try:
            with global_compiler_lock, undisturbed():
                progress.wanted(self.python)
                dispatcher.compile(signature)
        except NumbaError:
            return None
        dispatcher.disable_compile()
        return dispatcher

    def __deepcopy__(self, memo: Any) -> Entry:
        return self

    def __copy__(self) -> Entry:
        return self

    def __reduce__(self) -> Any:
        if self.recipe is not None:
            return self.recipe
        module = sys.modules.get(self.__module__)
        for name, value in vars(module).items() if module else ():
            if value is self:
                return _found, (self.__module__, name, getattr(module, "__source__", None))
        raise TypeError(
            f"{self.__module__}.{self.__name__}: an entry that is no name of its module cannot be sent to another "
            "process; define it at the top of a module"
        )

    def __call__(self, *args: Any) -> Any:
        dispatcher = self._dispatcher or self.compiled
        if len(self._signatures) > len(dispatcher.overloads):
            given = tuple(getattr(a, "ndim", 0) for a in args)
            for k, wanted in enumerate(self._signatures):
                if tuple(getattr(t, "ndim", 0) for t in wanted.args) == given:
                    dispatcher = self._compiled_for(k)
        result = dispatcher(*args)
        if pending.first is not None:
            raise_pending()
        return result


def _found(module: str, name: str, source: str | None) -> Any:
    """A name of a module, or of one that a program has written."""
    return getattr(importlib.import_module(module) if source is None else module_of(source), name)


def entry(*signatures: Any) -> Callable[[Callable[..., Any]], Entry]:
    """Decorator: an entry point with the given signatures (built from `real`, `vector`, `function`, …)."""
    return lambda function: Entry(function, signatures)


def compile_field(function: Callable[..., Any], *signatures: Any, name: str = "", sources: Sequence[str] = ()) -> Any:
    """Compile a user's plain or jitted function for the given signatures, in memory only (0.2 s or so).

    What another function has made is kept on disk if a `name` says which one it is, within its file and for what is in
    the files `sources`.
    """
    python = getattr(function, "py_func", function)
    if name:
        named(python, name, sources)
    dispatcher = dispatcher_of(python, OPTIONS, DigestCache if name else None)
    with global_compiler_lock, undisturbed():
        for s in signatures:
            dispatcher.compile(s)
    dispatcher.disable_compile()
    return dispatcher


def interpreted(function: Callable[..., Any], *arguments: Any) -> bool:
    """Call the Python form of an entry on arrays, as where one value is wanted: milliseconds, where compiling takes
    seconds.

    False where Python raises an exception: compiled code may go on (from a division by 0), or says what is wrong.
    """
    try:
        with np.errstate(all="ignore"):
            function(*arguments)
    except Exception:
        return False
    return True


def is_jitted(function: Any) -> bool:
    """True for a function that came out of the compiler (`numba.njit`, `numba.cfunc`) or is an `Entry`."""
    return isinstance(function, Entry) or hasattr(function, "py_func") or hasattr(function, "_wrapper_address")
