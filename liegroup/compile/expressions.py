"""Expressions of functions that are gone through (`liegroup.compile.flow`): values where they are known, else notes."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from liegroup.compile import contiguous
from liegroup.compile.addresses import Address
from liegroup.compile.contiguous import Known, is_contiguous
from liegroup.compile.records import Record
from liegroup.compile.straight import (
    LONGEST,
    Called,
    Notes,
    Placeholder,
    meaning,
    of_any_length,
    resolved_once,
    taught,
    type_of,
)
from liegroup.compile.ways import CONSTANTS, End, NotPlainError, Phi, Place, is_same, joint, like

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARED = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_NUMBERS = {min, max, abs, len, int, float}
"""Builtins that the compiler knows, too."""
_WORDS: dict[Any, Any] = {np.float64: types.float64, np.int64: types.int64}

Env = dict[str, Any]
"""Variables and what they hold."""


def refused(self: Any, node: Any) -> Any:
    """What is left to the compiler."""
    raise NotPlainError(type(node).__name__)


class Expressions:
    """The variables of a function, its ways, and the values of its expressions."""

    def __init__(self, function: FunctionType, notes: Notes, env: Env) -> None:
        code = function.__code__
        self.notes, self._function, self._known = notes, function, dict[str, Any]()
        self._env: Env | None = env  # None where no way leads
        self._locals = {*code.co_varnames, *code.co_cellvars}
        self._free = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    # --- ways ---------------------------------------------------------------------------------------------------------

    def _at(self, place: Place) -> None:
        self.notes.add(types.none, lambda context, builder, values: place.begin(builder), (), acts=True)

    def _go(self, place: Place) -> End:
        end = End(self.notes)
        self.notes.add(types.none, lambda context, builder, values: builder.branch(place.made(builder)), (), acts=True)
        return end

    def _truth(self, node: Any) -> Any:
        """Of a condition: whether it holds, or what goes to one place where it holds and to another where it does
        not.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = self._truth(node.operand)
            return not asked if isinstance(asked, bool) else lambda yes, no: asked(no, yes)
        if isinstance(node, ast.BoolOp):
            return self._several(node.values, isinstance(node.op, ast.And))
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self._chain(self._value(node.left), node.ops, node.comparators)
        return self._asked(self._value(node))

    def _chain(self, first: Any, kinds: list[Any], others: list[Any]) -> Any:
        """``a < b < c``: one comparison after the other."""
        second = self._value(others[0])
        asked = self._asked(self._compared(first, type(kinds[0]), second))
        if len(kinds) == 1 or asked is False:
            return asked
        if asked is True:
            return self._chain(second, kinds[1:], others[1:])
        return self._both(asked, lambda: self._chain(second, kinds[1:], others[1:]), True)

    def _asked(self, value: Any) -> Any:
        """Whether a value is true, or what goes to one place or another."""
        if not isinstance(value, Placeholder):
            return bool(value)
        if value.type != types.boolean:
            if not isinstance(value.type, types.Integer):
                raise NotPlainError("a condition that is no truth")
            value = self.notes.call(operator.ne, value, 0)
        return lambda yes, no: self._either(value, yes, no)

    def _several(self, nodes: list[Any], all_: bool) -> Any:
        """The same of several conditions: all of them, or one."""
        asked = self._truth(nodes[0])
        if len(nodes) == 1:
            return asked
        if isinstance(asked, bool):
            return self._several(nodes[1:], all_) if asked == all_ else asked

        return self._both(asked, lambda: self._several(nodes[1:], all_), all_)

    def _both(self, asked: Any, others: Callable[[], Any], all_: bool) -> Any:
        """A condition, and others that are looked at where it does not decide."""

        def go(yes: Place, no: Place) -> None:
            further = Place()
            asked(*((further, no) if all_ else (yes, further)))
            self._at(further)
            then = others()
            if isinstance(then, bool):
                place = yes if then else no
                self.notes.add(types.none, lambda c, builder, v: builder.branch(place.made(builder)), (), acts=True)
            else:
                then(yes, no)

        return go

    def _either(self, value: Placeholder, yes: Place, no: Place) -> None:
        def emit(context: Any, builder: Any, values: list[Any]) -> None:
            builder.cbranch(values[value.number], yes.made(builder), no.made(builder))

        self.notes.add(types.none, emit, [value.number], acts=True)

    def _joined(self, given: list[Any], ends: list[End]) -> Any:
        """A value that is one or another."""
        first = given[0]
        if all(is_same(first, x) for x in given[1:]):
            return first
        if any(isinstance(x, tuple) for x in given):
            if not all(type(x) is type(first) and len(x) == len(first) for x in given):
                raise NotPlainError("tuples of several kinds")
            return like(first, [self._joined([x[k] for x in given], ends) for k in range(len(first))])
        phi = Phi(self.notes, joint([type_of(x) for x in given]))
        for x, end in zip(given, ends, strict=True):
            end.give(phi, x)
        return phi.placeholder

    # --- expressions --------------------------------------------------------------------------------------------------

    def _value(self, node: Any) -> Any:
        return _EXPRESSIONS.get(type(node), refused)(self, node)

    def _constant(self, node: ast.Constant) -> Any:
        if not isinstance(node.value, CONSTANTS):
            raise NotPlainError("a constant")
        return node.value

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name in self._locals:
            assert self._env is not None
            if name not in self._env:
                raise NotPlainError(f"{name}: not always assigned")
            return self._env[name]
        if name not in self._known:
            if name in self._free:
                found = self._free[name].cell_contents
            elif name in self._function.__globals__:
                found = self._function.__globals__[name]
            else:
                found = getattr(builtins, name)
            self._known[name] = found if isinstance(found, np.ndarray) else meaning(found)
        found = self._known[name]
        return self.notes.table(found) if isinstance(found, np.ndarray) else found

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._several_values(node.elts))

    def _several_values(self, nodes: list[Any]) -> list[Any]:
        """Values one after the other, and those of tuples with a star."""
        found = list[Any]()
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self._value(node))
                continue
            whole = self._value(node.value)
            if not isinstance(whole, tuple):
                raise NotPlainError("something else with a star")
            found += whole
        return found

    def _attribute(self, node: ast.Attribute) -> Any:
        base = self._value(node.value)
        if isinstance(base, Placeholder):
            if node.attr == "ndim" and isinstance(base.type, types.Array):
                return base.type.ndim
            return base.__getattr__(node.attr)
        return getattr(base, node.attr)

    def _index(self, node: Any) -> Any:
        if isinstance(node, ast.Slice):
            if node.step is not None:
                raise NotPlainError("a step of entries")
            return slice(*(None if x is None else self._value(x) for x in (node.lower, node.upper)))
        return self._value(node)

    def _subscript(self, node: ast.Subscript) -> Any:
        base, index = self._value(node.value), self._index(node.slice)
        if isinstance(index, slice):
            if isinstance(base, tuple):
                if any(isinstance(x, Placeholder) for x in (index.start, index.stop)):
                    raise NotPlainError("a part of a tuple")
                return tuple(base[index])
            return self._view(base, index.start, index.stop)
        if isinstance(base, tuple) and isinstance(index, Placeholder):
            return self.notes.call(operator.getitem, base, index)
        return base[index]

    def _view(self, base: Any, first: Any, last: Any) -> Any:
        """Entries of an array from one to another."""
        if not isinstance(base, Placeholder) or not is_contiguous(base.type):
            raise NotPlainError("entries of something else")
        result = resolved_once(operator.getitem, (base.type, types.slice2_type))[1].return_type
        if not is_contiguous(result):
            raise NotPlainError("entries with steps")
        bounds = [None if x is None else self.notes.placeholder(x) for x in (first, last)]
        for x in bounds:
            if x is not None and not isinstance(x.type, types.Integer):
                raise NotPlainError("bounds that are no numbers")

        def emit(context: Any, builder: Any, values: list[Any]) -> Any:
            given = [
                None if x is None else context.cast(builder, values[x.number], x.type, types.int64) for x in bounds
            ]
            return contiguous.view(builder, Known(context, builder, base.type, values[base.number]), *given)

        return self.notes.add(result, emit, [base.number, *(x.number for x in bounds if x is not None)])

    def _binary(self, node: ast.BinOp) -> Any:
        function = BINARY.get(type(node.op))
        if function is None:
            raise NotPlainError("an operator")
        a, b = self._value(node.left), self._value(node.right)
        if isinstance(a, tuple) != isinstance(b, tuple):
            raise NotPlainError("tuples")
        return function(a, b)

    def _unary(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self._as_truth(node)
        return _UNARY[type(node.op)](self._value(node.operand))

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1:
            return self._as_truth(node)
        return self._compared(self._value(node.left), type(node.ops[0]), self._value(node.comparators[0]))

    def _compared(self, a: Any, kind: type, b: Any) -> Any:
        if kind in (ast.Is, ast.IsNot):
            if b is not None:
                raise NotPlainError("is")
            return (a is None) == (kind is ast.Is)
        if kind in (ast.In, ast.NotIn) and isinstance(b, tuple):
            found: Any = False
            for x in b:
                found = self._compared(a, ast.Eq, x) | found
            is_known = isinstance(found, bool)
            return found if kind is ast.In else not found if is_known else self.notes.call(operator.not_, found)
        if kind not in _COMPARED or isinstance(a, tuple) or isinstance(b, tuple):
            raise NotPlainError("a comparison")
        return _COMPARED[kind](a, b)

    def _chosen(self, node: ast.IfExp) -> Any:
        test = self._truth(node.test)
        if isinstance(test, bool):
            return self._value(node.body if test else node.orelse)
        return self._choice(test, lambda: self._value(node.body), lambda: self._value(node.orelse))

    def _as_truth(self, node: Any) -> Any:
        test = self._truth(node)
        return test if isinstance(test, bool) else self._choice(test, lambda: True, lambda: False)

    def _choice(self, test: Any, *ways: Callable[[], Any]) -> Any:
        yes, no, end = Place(), Place(), Place()
        test(yes, no)
        values, ends = [], []
        for place, way in zip((yes, no), ways, strict=True):
            self._at(place)
            values.append(way())
            ends.append(self._go(end))
        self._at(end)
        return self._joined(values, ends)

    def _bool_op(self, node: ast.BoolOp) -> Any:
        return self._last(node.values, isinstance(node.op, ast.And))

    def _last(self, nodes: list[Any], all_: bool) -> Any:
        """The first value that decides, or the last."""
        first = self._value(nodes[0])
        if len(nodes) == 1:
            return first
        test = self._asked(first)
        if isinstance(test, bool):
            return self._last(nodes[1:], all_) if test == all_ else first
        ways = (lambda: self._last(nodes[1:], all_)), (lambda: first)
        return self._choice(test, *(ways if all_ else ways[::-1]))

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            base = self._value(node.func.value)
            if isinstance(base, Placeholder):
                if isinstance(base.type, types.Array) and node.func.attr == "view":
                    return self._as_words(base, *self._several_values(node.args))
                if not isinstance(base.type, Record):
                    raise NotPlainError("a method")
                function = base.__getattr__(node.func.attr)
            else:
                function = getattr(base, node.func.attr)
        else:
            function = self._value(node.func)
        if any(x.arg is None for x in node.keywords):
            raise NotPlainError("**names")
        given = self._several_values(node.args)
        named = {x.arg: self._value(x.value) for x in node.keywords if x.arg is not None}
        if isinstance(function, Placeholder):
            return self._called_by_address(function, given)
        if isinstance(function, Called):
            return self._formula(function, given, named)
        if function is slice and not named:
            found = slice(*given)
            if found.step is not None:
                raise NotPlainError("a step of entries")
            return found
        if function is bool and len(given) == 1:
            asked = self._asked(given[0])
            return asked if isinstance(asked, bool) else self._choice(asked, lambda: True, lambda: False)
        if function in _NUMBERS and not named:
            if function is len and isinstance(given[0], tuple):
                return len(given[0])
            if any(isinstance(x, Placeholder) for x in given):
                return self.notes.call(function, *given)
            return function(*given)
        if isinstance(function, type) and issubclass(function, tuple) and function is not tuple:
            return function(*given, **named)
        raise NotPlainError(f"{function}")

    def _formula(self, function: Called, given: list[Any], named: dict[str, Any]) -> Any:
        """A function that the compiler has been taught; formulas are inlined by force, with all that they call."""
        flags, longest = ConfigStack.top_or_none(), self.notes.longest
        if taught.get(function.function) is not None:
            flags = flags.copy()
            flags.forceinline = function.function not in of_any_length
        if function.function not in of_any_length:
            self.notes.longest = min(longest, len(self.notes) + LONGEST)
        try:
            with ConfigStack().enter(flags):
                return function(*given, **named)
        finally:
            self.notes.longest = longest

    def _called_by_address(self, function: Placeholder, given: list[Any]) -> Any:
        if not isinstance(function.type, Address):
            raise NotPlainError(f"{function.type} is called")
        parts = [self.notes.placeholder(x) for x in given]
        sig = function.type.get_call_type(cpu_target.typing_context, [x.type for x in parts], {})
        key = function.type.get_impl_key(sig)

        def emit(context: Any, builder: Any, values: list[Any]) -> Any:
            cast = [context.cast(builder, values[x.number], x.type, t) for x, t in zip(parts, sig.args, strict=True)]
            return context.get_function(key, sig)(builder, [values[function.number], *cast])

        of = [function.number, *(x.number for x in parts)]
        return self.notes.opened(self.notes.add(sig.return_type, emit, of, acts=True))

    def _as_words(self, base: Placeholder, *kind: Any) -> Any:
        """``a.view(kind)`` of contiguous arrays, all 64 bits of each entry."""
        to = _WORDS.get(kind[0]) if len(kind) == 1 and isinstance(kind[0], type) else None
        if to is None or not is_contiguous(base.type) or base.type.dtype not in _WORDS.values():
            raise NotPlainError("a view")
        result = base.type.copy(dtype=to)

        def emit(context: Any, builder: Any, values: list[Any]) -> Any:
            return contiguous.words_as(context, builder, base.type, result, values[base.number])

        return self.notes.add(result, emit, [base.number])


_EXPRESSIONS: dict[type, Any] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Tuple: Expressions._tuple,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._chosen,
    ast.BoolOp: Expressions._bool_op,
    ast.Call: Expressions._call,
}
