"""Formulas bound late: compiled code calls them through a table of addresses, and each is compiled when it is first
needed.

A kernel over a table of groups would else hold the formulas of all groups and maps, of which a run needs one or two.
The table is a symbol that compiled code refers to, so that code from the cache finds it in any process.  A place whose
formula is not there yet holds the address of a Python function that compiles the formula or loads it from the cache.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from liegroup.compile import progress
from liegroup.compile.cache import DigestCache
from liegroup.compile.decorators import compiled_form
from liegroup.compile.dispatchers import dispatcher_of
from liegroup.compile.lanes import DOUBLE, VECTOR, WIDTH, Lanes
from liegroup.compile.options import INNER
from liegroup.compile.pending import LateBindingError, pending
from liegroup.compile.undisturbed import undisturbed
from liegroup.compile.waiting import waiting

SIZE = 6144
"""Places of the table: one for each form of each formula."""
ONE, LANES, STEPPED = range(3)
"""Forms of a formula: on one trajectory, on lanes, on complex numbers that carry a derivative."""
FORMS = 3
_SCALARS = types.float64, Lanes, types.complex128
_NUMBERS = DOUBLE, VECTOR, ir.LiteralStructType([DOUBLE, DOUBLE])
_SYMBOL = "liemech_formulas_bound_late"
_CALLED = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 6, ctypes.c_int64, ctypes.c_int64)
"""How formulas are called: room for the compiler's own results, a, b, c, out, a number, the place."""


@dataclass(frozen=True)
class Formula:
    """A function ``(a, b, c, out, n, place)`` of arrays from their beginnings, made by `make` when it is first needed.

    Attributes
    ----------
    name : str
        Which one it is, for what is in the files `sources`.
    written : function
        n → how many components it writes.
    """

    name: str
    sources: tuple[str, ...]
    make: Callable[[], Any]
    written: Callable[[int], int]


_formulas: list[Callable[[], Formula]] = []
_made: dict[int, Any] = {}
_bound: dict[int, Any] = {}


def python_form(place: int) -> Any:
    """The formula of a place as a Python function."""
    if place not in _made:
        _made[place] = _formulas[place]().make()
    return _made[place]


def places(count: int, formula: Callable[[int], Formula]) -> tuple[int, Any]:
    """Keep consecutive places for formulas, of which ``formula(number)`` tells one when it is first needed.

    Returns the first place, and a function that says of what calls it that it needs them, for arrays like the one it is
    given.
    """
    first = len(_formulas)
    _formulas.extend(partial(formula, number) for number in range(count))
    if FORMS * len(_formulas) > SIZE:
        raise RuntimeError(f"{len(_formulas)} formulas bound late; SIZE in {__name__} has room for {SIZE // FORMS}")

    def needed_for(out: Any) -> None:
        pass

    @intrinsic
    def note(typing_context: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            context.active_code_library.bound_late.add((first, _form(sig.args[0])))
            return context.get_dummy_value()

        return types.void(out), generate

    compiled_form(needed_for)(lambda out: lambda out: note(out))
    return first, needed_for


def call(place: Any, a: Any, i: Any, b: Any, j: Any, c: Any, k: Any, out: Any, l: Any, n: Any) -> None:
    """Call the formula of a place on the components of arrays from a[i], b[j], c[k], out[l] on."""
    python_form(int(place))(a[i:], b[j:], c[k:], out[l:], n, place)


@intrinsic
def _through_table(
    typing_context: Any, place: Any, a: Any, i: Any, b: Any, j: Any, c: Any, k: Any, out: Any, l: Any, n: Any
) -> Any:
    return types.void(place, a, i, b, j, c, k, out, l, n), _call_through_table


@compiled_form(call)
def _call(place: Any, a: Any, i: Any, b: Any, j: Any, c: Any, k: Any, out: Any, l: Any, n: Any) -> Any:
    arrays = a, b, c, out
    if any(not isinstance(x, types.Array) or x.layout != "C" or _form(x) != _form(out) for x in arrays):
        raise TypeError(f"{arrays}: expected contiguous arrays, all of one trajectory, all of lanes or all complex")
    return lambda place, a, i, b, j, c, k, out, l, n: _through_table(place, a, i, b, j, c, k, out, l, n)


def _form(array: Any) -> int:
    """The form that serves an array."""
    return STEPPED if isinstance(array.dtype, types.Complex) else LANES if array.ndim == 2 else ONE


def _call_through_table(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    form = _form(sig.args[1])
    place, n = (context.cast(builder, args[k], sig.args[k], types.int64) for k in (0, 9))
    index = builder.add(builder.mul(place, place.type(FORMS)), place.type(form))
    address = builder.load(builder.gep(_table(builder.module), [place.type(0), index]))
    pointers = [_part(context, builder, sig, args, k, form) for k in (1, 3, 5, 7)]
    types_ = _argument_types(form)
    function = builder.bitcast(address, context.call_conv.get_function_type(types.none, types_).as_pointer())
    context.call_conv.call_function(builder, function, types.none, types_, [*pointers, n, index])
    return context.get_dummy_value()


def _table(module: Any) -> Any:
    """The table as compiled code knows it."""
    if _SYMBOL in module.globals:
        return module.globals[_SYMBOL]
    return ir.GlobalVariable(module, ir.ArrayType(cgutils.voidptr_t, SIZE), _SYMBOL)


def _part(context: Any, builder: Any, sig: Any, args: Any, k: int, form: int) -> Any:
    """Pointer to the component, argument k + 1, of the array, argument k."""
    data = context.data_model_manager[sig.args[k]].get(builder, args[k], "data")
    offset = context.cast(builder, args[k + 1], sig.args[k + 1], types.int64)
    pointer = builder.gep(data, [builder.mul(offset, offset.type(WIDTH)) if form == LANES else offset])
    return builder.bitcast(pointer, _NUMBERS[form].as_pointer())


def _argument_types(form: int) -> tuple[Any, ...]:
    return (*[types.CPointer(_SCALARS[form])] * 4, types.int64, types.int64)


def bind(place: int, form: int) -> None:
    """Compile the formula of a place, or load it from the cache, and enter its address in the table."""
    index = FORMS * place + form
    with global_compiler_lock:
        if index not in _bound:
            _bind(place, form, index)


def _bind(place: int, form: int, index: int) -> None:
    formula, leaf = _formulas[place](), python_form(place)
    leaf.__qualname__, leaf.sources = formula.name, formula.sources
    dispatcher = dispatcher_of(leaf, INNER, DigestCache)
    arguments = _argument_types(form)
    with undisturbed():
        dispatcher.compile(types.void(*arguments))
    compiled = dispatcher.overloads[arguments]
    _addresses[index] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    _bound[index] = dispatcher


def _first_call(result: int, status: int, a: int, b: int, c: int, out: int, n: int, index: int) -> int:
    """What an empty place holds: binds the formula and calls it; no exception can pass through compiled code."""
    try:
        with waiting():
            bind(index // FORMS, index % FORMS)
    except BaseException as error:
        formula = _formulas[index // FORMS]()
        failed = LateBindingError(f"{formula.name}: {error}")
        failed.__cause__ = error
        pending.first = pending.first or failed
        size = formula.written(n) * (1, WIDTH, 2)[index % FORMS]
        (ctypes.c_double * size).from_address(out)[:] = [float("nan")] * size
        return 0
    return int(_CALLED(_addresses[index] or 0)(result, status, a, b, c, out, n, index))


def needed_by(function: Any) -> set[tuple[int, int]]:
    """What a pointer to a compiled function calls through the table: first places, and in which form; of others
    nothing is known.
    """
    library = getattr(function, "library", None)
    return set(getattr(library, "bound_late", ()))


def bind_all(needed: Iterable[tuple[int, int]]) -> None:
    """Bind formulas before a run starts, so that it does not wait for them."""
    missing = [(place, form) for place, form in needed if FORMS * place + form not in _bound]
    if not missing:
        return
    with undisturbed():
        for place, _ in missing:
            progress.wanted(python_form(place))
        for place, form in missing:
            bind(place, form)


_first_calls = _CALLED(_first_call)
_addresses = (ctypes.c_void_p * SIZE)(*[ctypes.cast(_first_calls, ctypes.c_void_p).value] * SIZE)
llvm.add_symbol(_SYMBOL, ctypes.addressof(_addresses))
