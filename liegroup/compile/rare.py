"""Kernels that most runs do not need: compiled when a run needs them, or when they are first called.

A sweep over the links of a tree would else hold the code for every kind of joint, of which a robot has one or two.
Compiled code calls such a kernel through a cell that holds its address.  Arrays are passed as pointers and shapes: they
are contiguous.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, utils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import fold_arguments, signature
from numba.extending import intrinsic
from numpy.typing import NDArray

from liegroup.compile import progress
from liegroup.compile.cache import DigestCache
from liegroup.compile.cells import Key, cell, keys, symbol
from liegroup.compile.contiguous import Bare, bare, laid_bare, restored
from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.lanes import Lanes
from liegroup.compile.libraries import loops_of
from liegroup.compile.options import BODY, CALLED, INNER
from liegroup.compile.overloads import Remembered, follows_our_rules, teach
from liegroup.compile.pending import LateBindingError, pending
from liegroup.compile.reading import written
from liegroup.compile.undisturbed import undisturbed
from liegroup.compile.waiting import waiting

F = TypeVar("F", bound=Callable[..., Any])
Needed = Callable[[NDArray[np.int64], int], bool]
Result = Callable[..., Any]
_BIND = "liemech_bind_rare"


def _packed(types_: Sequence[Any]) -> Any:
    """The type of all arguments as one tuple, the first of them last: the compiler has reservations about tuples that
    begin with a function.
    """
    return types.Tuple([bare(x) for x in (*types_[1:], types_[0])])


@cache
def _part(k: int) -> Any:
    """For compiled code: ``part(given)`` → argument k of a kernel as it knows it."""

    @intrinsic
    def part(typing_context: Any, given: Any) -> Any:
        at = (k or len(given)) - 1
        type_ = given[at]

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return restored(context, builder, type_, builder.extract_value(args[0], at))

        return (type_.array if isinstance(type_, Bare) else type_)(given), generate

    return part


def _leaf(function: Any, count: int) -> Any:
    """The function of all `count` arguments as one tuple."""
    names = {f"part{k}": _part(k) for k in range(count)}
    call = "lambda given: function(" + ", ".join(f"{name}(given)" for name in names) + ")"
    known = {"__name__": __name__, "LOOPS": loops_of(function), "function": function, **names}
    made = eval(compile(call, __file__, "eval"), known)  # as written here
    written[made.__code__] = call
    return made


# --- calls ------------------------------------------------------------------------------------------------------------

_needed: dict[tuple[str, str], tuple[Callable[[], Any], Needed, Result]] = {}
"""What gives the functions, when they are needed, and the types of their results, by module and name."""


def rare(
    needed: Needed,
    result: Result = lambda *types_: types.none,
    name: str = "",
    made: Callable[[], Any] | None = None,
) -> Callable[[F], F]:
    """Decorator: a kernel that is compiled late; in Python it stays the plain function.

    Where functions with other rules than ours call it, it is a kernel like any other.

    Parameters
    ----------
    needed : function
        ``needed(structure, tau)`` → whether runs of a problem with this structure and a method with this coordinate map
        will call it: it is compiled before them rather than within.
    result : function
        Type of the result, or a tuple of types, from the types of the arguments; default: there is no result.
    name : str
        Of a kernel made by another function: which one it is, within its file.
    made : function
        ``made()`` → the formula that is compiled in its place, `named`, asked when the kernel is bound; default: its
        own source.  What it would give another time comes into force by `renew`.
    """

    def decorate(function: F) -> F:
        function.__qualname__ = name or function.__qualname__
        body = _body_of(function)
        _needed[function.__module__, function.__qualname__] = made or (lambda: body), needed, result
        teach(function, lambda *args, **kwargs: made() if made else function, CALLED, DigestCache, _Rare)
        function.is_rare = function.is_formula = True  # type: ignore[attr-defined]
        return function

    return decorate


def _body_of(function: F) -> F:
    """A copy that the compiler takes for a formula: what is compiled late itself."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__qualname__ = function.__qualname__
    teach(copy, lambda *args, **kwargs: copy, BODY)
    return copy  # type: ignore[return-value]


def scalar_of(state: Any) -> Any:
    """For `result`: the type of a component of a state."""
    return Lanes if state.ndim == 2 else state.dtype


def joint_scalar(*types_: Any) -> Any:
    """For `result`: the type of sums of scalars, and of the components of tuples, of these types."""
    parts: set[Any] = set()
    for x in types_:
        parts.add(joint_scalar(*x) if isinstance(x, types.BaseTuple) else x)
    return next((x for x in (types.complex128, Lanes) if x in parts), types.float64)


class _Rare(Remembered):
    """Puts a call through a cell in the place of a kernel."""

    def generic(self, args: Any, kws: Any) -> Any:
        given = tuple(args), tuple(kws.items())
        if not follows_our_rules():
            return super().generic(args, kws)
        if ("late", given) not in self._signatures:
            self._signatures["late", given] = self._late_signature(args, kws)
        return self._signatures["late", given]

    def _late_signature(self, args: Any, kws: Any) -> Any:
        function = type(self).key
        pysig = utils.pysignature(function)
        folded = fold_arguments(pysig, args, kws, lambda i, p, x: x, lambda i, p, x: types.Omitted(x), _refused)
        key: Key = function.__module__, function.__qualname__, tuple(_plain(x) for x in folded)
        implementation = _call_of(key)
        cpu_target.target_context.insert_func_defn([(implementation, implementation, folded)])
        sig = signature(_result_of(key), *folded).replace(pysig=pysig)
        self._compiled_overloads["late", sig.args] = implementation
        return sig

    def get_impl_key(self, sig: Any) -> Any:
        found = self._compiled_overloads.get(("late", sig.args)) if follows_our_rules() else None
        return found or super().get_impl_key(sig)


def _refused(index: int, parameter: Any, values: Any) -> Any:
    raise TypeError(f"{parameter}: a kernel bound late takes no *arguments")


def _plain(type_: Any) -> Any:
    type_ = cpu_target.typing_context.resolve_value_type(type_.value) if isinstance(type_, types.Omitted) else type_
    if isinstance(type_, types.Array) and type_.layout != "C":
        raise TypeError(f"{type_}: a kernel bound late takes contiguous arrays")
    return types.unliteral(type_)


def _result_of(key: Key) -> Any:
    def made(x: Any) -> Any:
        return types.BaseTuple.from_types([made(part) for part in x]) if isinstance(x, tuple) else x

    return made(_needed[key[:2]][2](*key[2]))


def _call_of(key: Key) -> Any:
    types_, result = key[2], _result_of(key)
    given = _packed(types_)

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        context.active_code_library.rare.add(key)
        convention = context.call_conv
        values = [context.cast(builder, x, of, to) for x, of, to in zip(args, sig.args, types_, strict=True)]
        values = [laid_bare(context, builder, to, x) for x, to in zip(values, types_, strict=True)]
        pointer = convention.get_function_type(result, [given]).as_pointer()
        kernel = builder.bitcast(_bound(builder, key), pointer)
        value = context.make_tuple(builder, given, [*values[1:], values[0]])
        return convention.call_function(builder, kernel, result, [given], [value])[1]

    return call


def _bound(builder: Any, key: Key) -> Any:
    """The address of a kernel, as its cell has it or as binding gives it: the cell is read once, since another thread
    may empty it (`renew`).
    """
    cell(key)
    module, name = builder.module, symbol(key)
    place = module.globals.get(name) or ir.GlobalVariable(module, cgutils.voidptr_t, name)
    address = cgutils.alloca_once_value(builder, builder.load(place))
    with builder.if_then(cgutils.is_null(builder, builder.load(address)), likely=False):
        binder = cgutils.get_or_insert_function(module, ir.FunctionType(cgutils.voidptr_t, [place.type]), _BIND)
        builder.store(builder.call(binder, [place]), address)
    return builder.load(address)


# --- binding ----------------------------------------------------------------------------------------------------------

_bindings: dict[Key, Any] = {}
_former: list[Any] = []
"""What other threads may still be running."""
_failed: dict[Key, Exception] = {}
"""What could not be compiled, and why: every call of it is told, and none tries it again."""
_renewals = [0]
"""How often something was to be bound anew: what was bound before then has to be asked again."""
_WISHES = 64
"""What is remembered of the kernels that were bound for a library; structures of problems are long."""


def renew(function: Any) -> None:
    """Have a kernel bound anew, since another function is to be compiled in its place from now on."""
    with global_compiler_lock:
        _renewals[0] += 1
        for key in [key for key in list(keys.values()) if key[:2] == (function.__module__, function.__qualname__)]:
            cell(key).value = None
            _failed.pop(key, None)
            if key in _bindings:
                _former.append(_bindings.pop(key))


def bind(key: Key) -> int | None:
    """Compile a kernel, or load it from the cache, and put its address into its cell; returns the address."""
    with global_compiler_lock:
        if key in _bindings:
            return cell(key).value
        module, name, types_ = key
        if (module, name) not in _needed:
            importlib.import_module(module)
        function = _needed[module, name][0]()

        leaf = _leaf(function, len(types_))
        leaf.__qualname__ = f"{module}.{function.__qualname__}"
        leaf.sources = (function.__code__.co_filename, *getattr(function, "sources", ()))
        with undisturbed():
            progress.wanted(function)
            dispatcher = dispatcher_of(leaf, INNER, DigestCache)
            given = _packed(types_)
            dispatcher.compile(_result_of(key)(given))
        compiled = dispatcher.overloads[(given,)]
        cell(key).value = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        _bindings[key] = dispatcher
        return cell(key).value


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def _first_call(address: int) -> int | None:
    """What compiled code calls where a cell is empty: the address of the kernel; no exception can pass through it."""
    key = keys[address]
    error: BaseException | None = _failed.get(key)
    if error is None:
        try:
            with waiting():
                return bind(key)
        except BaseException as raised:
            error = raised
            if isinstance(raised, Exception):  # not a key that stops the program
                _failed[key] = raised
    if pending.first is None:
        pending.first = LateBindingError(f"{'.'.join(key[:2])}: {error}")
        pending.first.__cause__ = error
    return ctypes.cast(_nothing, ctypes.c_void_p).value


@ctypes.CFUNCTYPE(ctypes.c_int32)
def _nothing() -> int:
    """What is called in the place of a kernel that cannot be compiled."""
    return 0


def bind_needed(functions: Iterable[Any], structure: Any, tau: int) -> None:
    """Bind what compiled functions call late for problems of a structure and a coordinate map, before a run starts, and
    what this calls late in its turn.
    """
    wish = structure.tobytes(), tau, _renewals[0]
    libraries = _without(wish, functions)
    todo, seen = [key for library in libraries for key in library.rare], set[Key]()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            if key[:2] not in _needed or _needed[key[:2]][1](structure, tau):
                bind(key)
                todo += [inner for library in _libraries([_bindings[key]]) for inner in library.rare]
    _note(wish, libraries)


def bind_these(functions: Iterable[Any], wanted: Iterable[Any]) -> None:
    """Bind what compiled functions call late, if it is among the kernels that are wanted."""
    names = frozenset((f.__module__, f.__qualname__) for f in wanted)
    wish = names, _renewals[0]
    libraries = _without(wish, functions)
    for key in [key for library in libraries for key in library.rare if key[:2] in names]:
        bind(key)
    _note(wish, libraries)


def _libraries(functions: Iterable[Any]) -> list[Any]:
    """The libraries of compiled functions that call something late."""
    found = [x for f in functions for x in ([f] if hasattr(f, "library") else getattr(f, "overloads", {}).values())]
    return [x.library for x in found if getattr(x.library, "rare", ())]


def _without(wish: Any, functions: Iterable[Any]) -> list[Any]:
    """The libraries of functions for which a wish has not been fulfilled: before every run the same is asked, and to
    go through what a library calls takes as long as some hundred steps.
    """
    return [library for library in _libraries(functions) if wish not in library.fulfilled]


def _note(wish: Any, libraries: Iterable[Any]) -> None:
    for library in libraries:
        if len(library.fulfilled) >= _WISHES:
            library.fulfilled.clear()
        library.fulfilled.add(wish)


def never(structure: NDArray[np.int64], tau: int) -> bool:
    """For kernels of which a problem does not tell whether they are needed; see `bind_these`."""
    return False


llvm.add_symbol(_BIND, ctypes.cast(_first_call, ctypes.c_void_p).value)
