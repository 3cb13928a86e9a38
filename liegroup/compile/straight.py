"""Straight-line formulas: compiled by running them once on placeholders, which note what is done to them.

The compiler takes 30 ms for a function, however short.  Here a formula runs as plain Python on `Placeholder`s of the
types of its arguments.  Each operation is looked up among the compiler's own, so that it means what it would have meant
there, and what has been noted is written into every function that calls the formula.  A formula that needs to know a
value (an `if`, a loop as long as an argument says) is no straight line and is compiled in the compiler's own way.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

from numba import types
from numba.core import cgutils, utils
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import fold_arguments, signature
from numba.extending import _Intrinsic
from numba.np.arrayobj import store_item

from liegroup.compile.contiguous import Known, indices_of, is_contiguous
from liegroup.compile.lanes import Lanes, Mask
from liegroup.compile.records import Record
from liegroup.compile.shared import SharedTable
from liegroup.compile.stages import is_plain

LONGEST = 500
"""Operations of a formula; a longer one is compiled once, and called."""
of_any_length: set[Any] = set()
"""Formulas that are straight lines however long they are: programs wrote them (`straight_line`)."""
Emit = Callable[[Any, Any, list[Any]], Any]
"""``(context, builder, values)`` → the next value: how a note is written into a function."""
_ARGUMENTS = types.Number, types.Boolean, types.Array, types.CPointer, types.BaseTuple, Record
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class NotStraightError(TypeError):
    """A formula asks for more than its placeholders can tell."""


class Notes:
    """What a formula does with its arguments: each note makes the value of the next number."""

    def __init__(self, arguments: int, longest: float = LONGEST) -> None:
        self._arguments, self.longest = arguments, longest
        self._notes = list[tuple[Emit, Sequence[int], bool]]()

    def __len__(self) -> int:
        return len(self._notes)

    def forget(self, count: int) -> None:
        """Keep the first `count` notes."""
        del self._notes[count:]

    def add(self, type_: Any, emit: Emit, of: Sequence[int] = (), acts: bool = False) -> Placeholder:
        """Note how a value is made of others; `acts`: something else happens, too."""
        if len(self) >= self.longest:
            raise NotStraightError(f"more than {self.longest} operations")
        self._notes.append((emit, of, acts))
        return Placeholder(self, type_, self._arguments + len(self) - 1)

    def written(self, context: Any, builder: Any, arguments: Sequence[Any], result: int) -> Any:
        """Write the notes that matter into the function that `builder` builds; returns the value number `result`."""
        values = list(arguments)
        for (emit, _, _), matters in zip(self._notes, self._matter(result), strict=True):
            values.append(emit(context, builder, values) if matters else None)
        return values[result]

    def _matter(self, result: int) -> list[bool]:
        """Which notes act, or make a value that the result or what acts is made of."""
        needed, found = {result}, list[bool]()
        for k in range(len(self) - 1, -1, -1):
            _, of, acts = self._notes[k]
            found.append(acts or self._arguments + k in needed)
            if found[-1]:
                needed.update(of)
        return found[::-1]

    def call(self, function: Any, *arguments: Any) -> Any:
        """Note the call of a function that the compiler knows."""
        given = [self.placeholder(x) for x in arguments]
        form, sig = (_resolved_here if function in taught else resolved_once)(function, tuple(x.type for x in given))
        acts = function not in _WITHOUT_EFFECT
        return self.opened(self.add(sig.return_type, _call(form, sig, given), [x.number for x in given], acts))

    def placeholder(self, x: Any) -> Placeholder:
        """A number, or a tuple of values, as one value."""
        if isinstance(x, Placeholder):
            return x
        if isinstance(x, tuple):
            return self._packed([self.placeholder(part) for part in x], type(x))
        if isinstance(x, Called):
            return self.add(type_of(x), lambda context, builder, values: context.get_dummy_value())
        if x is not None and not isinstance(x, (bool, int, float)):
            raise NotStraightError(f"{x!r}: no number")
        type_ = type_of(x)
        return self.add(type_, lambda context, builder, values: context.get_constant_generic(builder, type_, x))

    def table(self, given: Any) -> Placeholder:
        """An array that is a constant, or lies where it is found."""
        type_ = cpu_target.typing_context.resolve_value_type(given)
        return self.add(type_, lambda context, builder, values: context.get_constant_generic(builder, type_, given))

    def _packed(self, parts: list[Placeholder], kind: type) -> Placeholder:
        type_ = types.BaseTuple.from_types(tuple(part.type for part in parts), kind)

        def emit(context: Any, builder: Any, values: list[Any]) -> Any:
            return context.make_tuple(builder, type_, _cast(context, builder, values, parts, type_))

        return self.add(type_, emit, [part.number for part in parts])

    def opened(self, x: Placeholder) -> Any:
        """A value as formulas see it: the parts of a tuple, None."""
        if x.type == types.none:
            return None
        if not isinstance(x.type, types.BaseTuple):
            return x
        parts = [self.opened(self.add(type_, _part(x.number, k), [x.number])) for k, type_ in enumerate(x.type)]
        return x.type.instance_class(*parts) if isinstance(x.type, types.BaseNamedTuple) else tuple(parts)


def _part(number: int, k: int) -> Emit:
    return lambda context, builder, values: builder.extract_value(values[number], k)


def _call(form: Any, sig: Any, given: list[Placeholder]) -> Emit:
    if len(sig.args) != len(given):
        return _folded_call(form, sig, given)
    if form == operator.getitem and is_contiguous(given[0].type):
        return _entry(form, sig, given)
    if form == operator.setitem and is_contiguous(given[0].type):
        return _setting(form, sig, given)

    def emit(context: Any, builder: Any, values: list[Any]) -> Any:
        return context.get_function(form, sig)(builder, _cast(context, builder, values, given, sig.args))

    return emit


def _folded_call(form: Any, sig: Any, given: list[Placeholder]) -> Emit:
    """A call with arguments that are left out, or with any number of them."""
    if sig.pysig is None:
        raise NotStraightError(f"{form}: arguments left out")
    parts = fold_arguments(sig.pysig, given, {}, _given, lambda index, parameter, x: [x], lambda index, parameter, x: x)

    def emit(context: Any, builder: Any, values: list[Any]) -> Any:
        found = []
        for x, type_ in zip(parts, sig.args, strict=True):
            if isinstance(x, Placeholder):
                found += _cast(context, builder, values, [x], [type_])
            elif isinstance(x, list):
                found.append(context.get_constant_generic(builder, type_, x[0]))
            else:
                found.append(cgutils.make_anonymous_struct(builder, _cast(context, builder, values, list(x), type_)))
        return context.get_function(form, sig)(builder, found)

    return emit


def _entry(form: Any, sig: Any, given: list[Placeholder]) -> Emit:
    """An entry of an array, or what is left of it at some of its indices."""
    type_, result = given[0].type, sig.return_type

    def emit(context: Any, builder: Any, values: list[Any]) -> Any:
        array, index = values[given[0].number], values[given[1].number]
        indices = indices_of(context, builder, index, given[1].type)
        is_short = len(indices) == type_.ndim or (indices and is_contiguous(result))
        if is_short and not context.enable_boundscheck:
            return Known(context, builder, type_, array).at(indices, result)
        return context.get_function(form, sig)(builder, _cast(context, builder, values, given, sig.args))

    return emit


def _setting(form: Any, sig: Any, given: list[Placeholder]) -> Emit:
    """An entry of an array is set."""
    type_ = given[0].type

    def emit(context: Any, builder: Any, values: list[Any]) -> Any:
        array, index, x = (values[part.number] for part in given)
        indices = indices_of(context, builder, index, given[1].type)
        if len(indices) == type_.ndim and not context.enable_boundscheck:
            asked = context.cast(builder, x, given[2].type, sig.args[2])
            asked = context.cast(builder, asked, sig.args[2], type_.dtype)
            return store_item(context, builder, type_, asked, Known(context, builder, type_, array).place(indices))
        return context.get_function(form, sig)(builder, _cast(context, builder, values, given, sig.args))

    return emit


def _cast(context: Any, builder: Any, values: list[Any], given: list[Placeholder], wanted: Any) -> list[Any]:
    return [context.cast(builder, values[x.number], x.type, type_) for x, type_ in zip(given, wanted, strict=True)]


def _resolved(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """What the compiler puts in the place of a function, and its signature."""
    context = cpu_target.typing_context
    type_ = context.resolve_value_type(function)
    sig = context.resolve_function_type(type_, arguments, {})
    if sig is None:
        raise NotStraightError(f"{function}: no form for {arguments}")
    return type_.get_impl_key(sig), sig


def _remembering(ask: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
    """What is asked of a function and of types, remembered by the types themselves: comparing them takes long."""
    known = dict[Any, tuple[tuple[Any, Any], Any]]()

    def remembered(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        key = (function, *map(id, arguments))
        found = known.get(key)
        if found is None:
            found = known[key] = ask(function, arguments), arguments  # which live as long as their number is known
        return found[0]

    return remembered


resolved_once, _resolved_inlined = _remembering(_resolved), _remembering(_resolved)


def _resolved_here(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same for a function that the compiler has been taught: what it is depends on whether the caller is inlined by
    force.
    """
    resolve = _resolved_inlined if ConfigStack.top_or_none().forceinline else resolved_once
    return resolve(function, arguments)


class Placeholder:
    """A value of which only the type is known; operators note what is done to it."""

    __array_ufunc__ = None
    __iter__ = None

    def __init__(self, notes: Notes, type_: Any, number: int) -> None:
        self.notes, self.type, self.number = notes, type_, number

    def __getitem__(self, index: Any) -> Any:
        return self.notes.call(operator.getitem, self, index)

    def __setitem__(self, index: Any, x: Any) -> None:
        given = [self.notes.placeholder(part) for part in (self, index, x)]
        sig = cpu_target.typing_context.resolve_setitem(*(part.type for part in given))
        self.notes.add(types.none, _call(operator.setitem, sig, given), [x.number for x in given], acts=True)

    def __getattr__(self, name: str) -> Any:
        """The shape of an array, a field of a record."""
        type_ = cpu_target.typing_context.resolve_getattr(self.type, name)
        if type_ is None:
            raise AttributeError(name)

        def emit(context: Any, builder: Any, values: list[Any]) -> Any:
            if name == "shape" and is_contiguous(self.type):
                return Known(context, builder, self.type, values[self.number]).part(name)
            return context.get_getattr(self.type, name)(context, builder, self.type, values[self.number], name)

        return self.notes.opened(self.notes.add(type_, emit, [self.number]))

    def __bool__(self) -> bool:
        raise NotStraightError("an `if`, or a loop, on a value")


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift")
_OTHERS = ("neg", "pos", "invert", "abs", "lt", "le", "gt", "ge", "eq", "ne")


def _give_operator(name: str) -> None:
    function = abs if name == "abs" else getattr(operator, name)

    def forward(self: Any, *other: Any) -> Any:
        return self.notes.call(function, self, *other)

    def backward(self: Any, other: Any) -> Any:
        return self.notes.call(function, other, self)

    setattr(Placeholder, f"__{name.rstrip('_')}__", forward)
    if name in _BINARY:
        setattr(Placeholder, f"__r{name.rstrip('_')}__", backward)


for _name in _BINARY + _OTHERS:
    _give_operator(_name)

_WITHOUT_EFFECT = {getattr(operator, name) for name in _BINARY + _OTHERS} | {
    abs,
    float,
    int,
    len,
    max,
    min,
    operator.getitem,
}
"""Functions that do nothing but make a value: where it is not used, they are left out."""


def without_effect(function: Any) -> Any:
    """Say of a function that it does nothing but make a value."""
    _WITHOUT_EFFECT.add(function)
    return function


# --- running formulas on placeholders ---------------------------------------------------------------------------------

taught: dict[Any, Callable[..., Any] | None] = {}
"""Functions that the compiler has been taught; of those that are inlined by force also what is compiled in their place,
by types.
"""
_bodies: dict[Any, Any] = {}
"""What runs on placeholders, by function and types, with these types; None for what is no straight line."""
running: list[Notes] = []


class Called:
    """A function that the compiler knows, called by a formula that runs on placeholders."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named:
            bound = utils.pysignature(self.function).bind(*arguments, **named)
            bound.apply_defaults()
            arguments = bound.args
        notes = running[-1]
        count = len(notes)
        try:
            return _run(self.function, arguments)
        except Exception:
            notes.forget(count)
        return notes.call(self.function, *arguments)


class _Module:
    """A module whose functions are called by a formula that runs on placeholders."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return meaning(getattr(self._module, name))


class _Table:
    """A table that compiled code reads where it lies, read by a formula that runs on placeholders."""

    def __init__(self, table: SharedTable) -> None:
        self._table = table

    def __getitem__(self, index: Any) -> Any:
        return running[-1].call(operator.getitem, running[-1].table(self._table), index)


def meaning(x: Any) -> Any:
    """What a name in a formula stands for when it runs on placeholders."""
    if isinstance(x, ModuleType):
        return _Module(x)
    if isinstance(x, SharedTable):
        return _Table(x)
    is_taught = isinstance(x, FunctionType) and x in taught
    is_builtin = isinstance(x, BuiltinFunctionType) and x.__module__ == "math"
    return Called(x) if is_taught or is_builtin or isinstance(x, _Intrinsic) else x


def _run(function: Any, arguments: Sequence[Any]) -> Any:
    """What a formula returns for placeholders."""
    given = tuple(type_of(x) for x in arguments)
    key = (function, *map(id, given))
    if key not in _bodies:
        resolve = taught.get(function)
        _bodies[key] = (_readable(resolve(*given)) if resolve else None), given
    body = _bodies[key][0]
    if body is None:
        raise NotStraightError(f"{function}: compiled in the compiler's own way")
    try:
        return body(*arguments)
    except Exception:
        _bodies[key] = None, given
        raise


def type_of(x: Any) -> Any:
    if isinstance(x, Placeholder):
        return x.type
    if isinstance(x, tuple):
        return types.BaseTuple.from_types(tuple(type_of(part) for part in x), type(x))
    if isinstance(x, Called):
        return cpu_target.typing_context.resolve_value_type(x.function)
    return _type_of_integer(x) if type(x) is int else cpu_target.typing_context.resolve_value_type_prefer_literal(x)


@cache
def _type_of_integer(x: int) -> Any:
    return cpu_target.typing_context.resolve_value_type_prefer_literal(x)


def _readable(function: Any) -> Any:
    """A copy of a function whose names stand for what they mean on placeholders; None if it cannot be told."""
    code = function.__code__
    if not is_plain(code) or code.co_flags & _VARIADIC:
        return None
    names = {name: meaning(function.__globals__[name]) for name in code.co_names if name in function.__globals__}
    cells = tuple(CellType(meaning(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


# --- what the compiler is given ---------------------------------------------------------------------------------------


def straight_form(function: Any, body: Any, arguments: Any, named: Any) -> tuple[Any, Any] | None:
    """Signature and implementation of a formula for arguments of these types; None if it is no straight line.

    `body`: what is compiled in its place.
    """
    pysig = utils.pysignature(body)
    try:
        folded = fold_arguments(pysig, arguments, named, _given, _left_out, _refused)
        notes = Notes(len(folded), math.inf if function in of_any_length else LONGEST)
        result = _noted(notes, function, folded)
    except Exception:  # of any kind: the compiler's own way says what is wrong, if anything is
        return None

    def implementation(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return notes.written(context, builder, arguments, result.number)

    return signature(result.type, *folded).replace(pysig=pysig), implementation


def _noted(notes: Notes, function: Any, arguments: Any) -> Placeholder:
    """The result of a formula, noted; what it calls is compiled as it is for those that are inlined by force, but for
    long ones, whose kernels are called.
    """
    flags = ConfigStack.top_or_none().copy()
    flags.forceinline = function not in of_any_length
    running.append(notes)
    try:
        with ConfigStack().enter(flags):
            return notes.placeholder(_run(function, [argument(notes, t, k) for k, t in enumerate(arguments)]))
    finally:
        running.pop()


def argument(notes: Notes, type_: Any, number: int) -> Any:
    if isinstance(type_, types.Omitted):
        return type_.value
    if not (isinstance(type_, _ARGUMENTS) or type_ in (Lanes, Mask, types.none)):
        raise NotStraightError(f"an argument of type {type_}")
    return notes.opened(Placeholder(notes, type_, number))


def _given(index: int, parameter: Any, type_: Any) -> Any:
    return type_


def _left_out(index: int, parameter: Any, default: Any) -> Any:
    return types.Omitted(default)


def _refused(index: int, parameter: Any, values: Any) -> Any:
    raise NotStraightError("*arguments")
