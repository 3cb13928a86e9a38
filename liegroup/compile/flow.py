"""Functions with branches and loops, compiled as straight lines are: run once on placeholders, statement by statement.

The compiler turns bytecode into a form of its own, looks for the types of all variables until nothing changes, and
writes code from that: two thirds of the time of a function.  Here the statements of a function are gone through once,
with the types of its arguments known.  Each operation is looked up among the compiler's own and noted
(`liegroup.compile.straight`); variables are the values that they hold, and where ways meet a value is one or another
(φ).  What is assigned in a loop has the type that it had before; if that does not do, the loop is gone through again
with a wider one.  What is known meanwhile (constants, what a function that makes others holds, a mark) decides
branches.  What is not as plain as that (exceptions, generators, functions within, lists …) is compiled in the
compiler's own way.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from liegroup.compile.addresses import Address
from liegroup.compile.expressions import BINARY, Env, Expressions, refused
from liegroup.compile.reading import read
from liegroup.compile.stages import KernelCompiler
from liegroup.compile.straight import Notes, Placeholder, argument, meaning, running, type_of
from liegroup.compile.ways import End, NotPlainError, Phi, Place, joint, like

_WORD = ir.IntType(64)


class _WiderError(Exception):
    """A variable of a loop needs another type."""

    def __init__(self, loop: Any, name: str, at: tuple[int, ...], type_: Any) -> None:
        self.loop, self.name, self.at, self.type = loop, name, at, type_


class _Loop:
    """A loop that is being gone through."""

    def __init__(self, node: ast.stmt, first: Place, out: Place) -> None:
        self.node, self.first, self.out = node, first, out
        self.carried = dict[str, Any]()
        self.exits: list[tuple[dict[str, Any], End]] = []
        self.count: tuple[tuple[Phi, Any], ...] = ()


class Flow(Expressions):
    """What a function does with its arguments of some types, and the type of its result."""

    def __init__(self, function: Any, arguments: Sequence[Any], wanted: Any) -> None:
        source, code = read(function), function.__code__
        names = code.co_varnames[: code.co_argcount]
        if source is None or code.co_kwonlyargcount or len(names) != len(arguments):
            raise NotPlainError(f"{function}: no source, or other arguments")
        body, self._need = source
        notes = Notes(len(arguments), math.inf)
        given = enumerate(zip(names, arguments, strict=True))
        super().__init__(function, notes, {name: _argument(notes, type_, k) for k, (name, type_) in given})
        self._returned: list[Any] = []
        self._loops: list[_Loop] = []
        running.append(notes)
        try:
            self._block(body)
            if self._env is not None:
                self._return(None)
        finally:
            running.pop()
        if not self._returned:
            raise NotPlainError("it never returns")
        found = [type_of(x) for x in self._returned]
        self.result = joint(found if wanted is None else [wanted, *found])
        if wanted is not None and wanted != self.result:
            raise NotPlainError("another result is wanted")

    def write(self, context: Any, builder: Any, arguments: Sequence[Any]) -> None:
        """Write the code of the function where the builder stands."""
        self.notes.written(context, builder, arguments, -1)
        self.notes.forget(0)  # they hold this, and are held by it

    # --- statements ---------------------------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self._env is None:
                return
            _STATEMENTS.get(type(statement), refused)(self, statement)

    def _pass(self, node: Any) -> None:
        pass

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self._value(node.value)
        for target in node.targets:
            self._put(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._put(node.target, self._value(node.value))

    def _changed(self, node: ast.AugAssign) -> None:
        """``a[i] += x``: place and index are looked up once."""
        function = BINARY.get(type(node.op))
        if function is None:
            raise NotPlainError("an operator")
        target = node.target
        if isinstance(target, ast.Name):
            assert self._env is not None
            self._env[target.id] = function(self._name(target), self._value(node.value))
        elif isinstance(target, ast.Subscript):
            array, index = self._value(target.value), self._index(target.slice)
            if not isinstance(array, Placeholder) or isinstance(index, slice):
                raise NotPlainError("an entry that is changed")
            array[index] = function(array[index], self._value(node.value))
        else:
            raise NotPlainError("what is changed")

    def _put(self, target: Any, value: Any) -> None:
        if isinstance(target, ast.Name):
            assert self._env is not None
            self._env[target.id] = value
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise NotPlainError("a tuple is taken apart")
            for part, x in zip(target.elts, value, strict=True):
                self._put(part, x)
        elif isinstance(target, ast.Subscript):
            array, index = self._value(target.value), self._index(target.slice)
            if not isinstance(array, Placeholder) or isinstance(index, slice):
                raise NotPlainError("what is set")
            array[index] = value
        else:
            raise NotPlainError("what is assigned to")

    def _return(self, node: ast.Return | None) -> None:
        value = self._value(node.value) if node is not None and node.value is not None else None
        self._returned.append(value)
        given = self.notes.placeholder(value)

        def emit(context: Any, builder: Any, values: list[Any]) -> None:
            found = context.cast(builder, values[given.number], given.type, self.result)
            context.call_conv.return_value(builder, context.get_return_value(builder, self.result, found))

        self.notes.add(types.none, emit, [given.number], acts=True)
        self._env = None

    def _if(self, node: ast.If) -> None:
        test = self._truth(node.test)
        if isinstance(test, bool):
            self._block(node.body if test else node.orelse)
            return
        yes, no, end = Place(), Place(), Place()
        test(yes, no)
        before, ends = self._env, list[tuple[Env, End]]()
        assert before is not None
        for place, body in ((yes, node.body), (no, node.orelse)):
            self._at(place)
            self._env = dict(before)
            self._block(body)
            if self._env is not None:
                ends.append((self._env, self._go(end)))
        self._meet(end, ends, self._need.after[node])

    def _meet(self, place: Place, ends: list[tuple[Env, End]], needed: set[str]) -> None:
        """Where ways meet."""
        if not ends:
            self._env = None
            return
        self._at(place)
        if len(ends) == 1:
            self._env = dict(ends[0][0])
            return
        met: Env = {}
        for name in sorted(needed.intersection(*(env for env, _ in ends))):
            met[name] = self._joined([env[name] for env, _ in ends], [end for _, end in ends])
        self._env = met

    # --- loops --------------------------------------------------------------------------------------------------------

    def _while(self, node: ast.While) -> None:
        def rounds(loop: _Loop) -> None:
            body, done = Place(), Place()
            test = self._truth(node.test)
            if isinstance(test, bool):
                if not test:
                    raise NotPlainError("a loop without rounds")
            else:
                test(body, done)
                self._at(done)
                assert self._env is not None
                loop.exits.append((dict(self._env), self._go(loop.out)))
                self._at(body)

        self._repeated(node, rounds)

    def _for(self, node: ast.For) -> None:
        """A loop over a range; it counts only while it goes on."""
        call = node.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords
        if not is_range or self._value(call.func) is not range or not isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
            raise NotPlainError("a loop over something else than a range")
        given = [self._value(x) for x in call.args]  # type: ignore[attr-defined]
        start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
        if not isinstance(step, Placeholder) and step == 0:
            raise NotPlainError("a range that does not go on")
        for x in (start, stop, step):
            if not isinstance(type_of(x), types.IntegerLiteral) and type_of(x) != types.int64:
                raise NotPlainError("a range of other numbers")
        is_known = not isinstance(step, Placeholder)
        start, stop, by = (self.notes.placeholder(x) for x in (start, stop, step))

        def count(context: Any, builder: Any, values: list[Any]) -> Any:
            first, last = (context.cast(builder, values[x.number], x.type, types.int64) for x in (start, stop))
            if not is_known:
                return _rounds(context, builder, first, last, values[by.number])
            number = way = builder.sub(last, first) if step > 0 else builder.sub(first, last)
            if abs(step) > 1:
                number = builder.add(builder.sdiv(builder.sub(way, _WORD(1)), _WORD(abs(step))), _WORD(1))
            return builder.select(builder.icmp_signed(">", way, _WORD(0)), number, _WORD(0))

        often = self.notes.add(types.int64, count, [start.number, stop.number, by.number])

        def rounds(loop: _Loop) -> None:
            body, done = Place(), Place()
            (next_, _), (left, _) = loop.count
            number, remaining = next_.placeholder, left.placeholder

            def ask(context: Any, builder: Any, values: list[Any]) -> None:
                is_one = builder.icmp_signed(">", values[remaining.number], _WORD(0))
                builder.cbranch(is_one, body.made(builder), done.made(builder))

            self.notes.add(types.none, ask, [remaining.number], acts=True)
            self._at(done)
            assert self._env is not None
            loop.exits.append((dict(self._env), self._go(loop.out)))
            self._at(body)

            def further(context: Any, builder: Any, values: list[Any]) -> Any:
                return builder.add(values[number.number], _WORD(step) if is_known else values[by.number])

            def fewer(context: Any, builder: Any, values: list[Any]) -> Any:
                return builder.sub(values[remaining.number], _WORD(1), flags=["nsw"])

            then = self.notes.add(types.int64, further, [number.number, by.number])
            loop.count = (next_, then), (left, self.notes.add(types.int64, fewer, [remaining.number]))
            self._env[node.target.id] = number  # type: ignore[attr-defined]

        self._repeated(node, rounds, start, often)

    def _repeated(self, node: Any, rounds: Callable[[_Loop], None], *counted: Any) -> None:
        """The rounds of a loop: gone through with the types that its variables have before, and again while one needs
        a wider type.
        """
        if node.orelse:
            raise NotPlainError("a loop with an else")
        before = self._env
        assert before is not None
        carried = sorted(name for name in self._need.at_rounds[node] & self._need.made[node] if name in before)
        wider = dict[tuple[str, tuple[int, ...]], Any]()
        memory = len(self.notes), len(self._returned), len(self._loops)
        while True:
            self._env = dict(before)
            try:
                self._gone_through(node, rounds, carried, wider, counted)
                return
            except _WiderError as error:
                if error.loop is not node:
                    raise
                wider[error.name, error.at] = error.type
                self.notes.forget(memory[0])
                del self._returned[memory[1] :], self._loops[memory[2] :]

    def _gone_through(self, node: Any, rounds: Any, carried: list[str], wider: Any, counted: Any) -> None:
        assert self._env is not None
        first, out = Place(), Place()
        entry, before = self._go(first), self._env
        self._at(first)
        made = self._need.made[node]
        self._env = {name: x for name, x in before.items() if name not in made}
        loop = _Loop(node, first, out)
        for name in carried:
            loop.carried[name] = self._turned(before[name], entry, name, (), wider)
            self._env[name] = _values(loop.carried[name])
        phis = [Phi(self.notes, types.int64) for _ in counted]
        for phi, x in zip(phis, counted, strict=True):
            entry.give(phi, x)
        loop.count = tuple((phi, None) for phi in phis)
        rounds(loop)
        self._loops.append(loop)
        self._block(node.body)
        if self._env is not None:
            self._again(loop)
        self._loops.pop()
        self._meet(out, loop.exits, self._need.after[node])

    def _turned(self, x: Any, entry: End, name: str, at: tuple[int, ...], wider: Any) -> Any:
        """A variable at the beginning of a round."""
        if isinstance(x, tuple):
            return like(x, [self._turned(part, entry, name, (*at, k), wider) for k, part in enumerate(x)])
        type_ = wider.get((name, at)) or types.unliteral(type_of(x))
        phi = Phi(self.notes, type_)
        entry.give(phi, x)
        return phi

    def _again(self, loop: _Loop) -> None:
        """To the next round."""
        assert self._env is not None
        end = self._go(loop.first)
        for name, phi in loop.carried.items():
            if name not in self._env:
                raise NotPlainError(f"{name} is not always assigned")
            self._bring(loop, name, (), phi, self._env[name], end)
        for phi, x in loop.count:
            end.give(phi, x)
        self._env = None

    def _bring(self, loop: _Loop, name: str, at: tuple[int, ...], phi: Any, x: Any, end: End) -> None:
        if isinstance(phi, tuple):
            if type(x) is not type(phi) or len(x) != len(phi):
                raise NotPlainError("tuples of several kinds")
            for k, part in enumerate(phi):
                self._bring(loop, name, (*at, k), part, x[k], end)
            return
        if isinstance(x, tuple):
            raise NotPlainError("a tuple and something else")
        type_ = joint([phi.type, type_of(x)])
        if type_ != phi.type:
            raise _WiderError(loop.node, name, at, type_)
        end.give(phi, x)

    def _break(self, node: Any) -> None:
        loop = self._loops[-1]
        assert self._env is not None
        loop.exits.append((self._env, self._go(loop.out)))
        self._env = None

    def _continue(self, node: Any) -> None:
        self._again(self._loops[-1])


def _rounds(context: Any, builder: Any, first: Any, last: Any, step: Any) -> Any:
    """How many numbers a range has whose step is known when it is begun."""
    none, way = _WORD(0), builder.sub(last, first)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", step, none)):
        context.call_conv.return_user_exc(builder, ValueError, ("range() arg 3 must not be zero",))
    whole = builder.sdiv(way, step)
    more = builder.select(builder.icmp_signed("!=", builder.srem(way, step), none), _WORD(1), none)
    up, down = (builder.icmp_signed(sign, way, none) for sign in "><")
    is_one = builder.select(builder.icmp_signed(">", step, none), up, down)
    return builder.select(is_one, builder.add(whole, more), none)


def _values(phi: Any) -> Any:
    return like(phi, [_values(x) for x in phi]) if isinstance(phi, tuple) else phi.placeholder


def _argument(notes: Notes, type_: Any, number: int) -> Any:
    if isinstance(type_, types.Function):
        return meaning(type_.typing_key)
    return Placeholder(notes, type_, number) if isinstance(type_, Address) else argument(notes, type_, number)


_STATEMENTS: dict[type, Any] = {
    ast.Pass: Flow._pass,
    ast.Expr: Flow._expression,
    ast.Assign: Flow._assign,
    ast.AnnAssign: Flow._annotated,
    ast.AugAssign: Flow._changed,
    ast.Return: Flow._return,
    ast.If: Flow._if,
    ast.While: Flow._while,
    ast.For: Flow._for,
    ast.Break: Flow._break,
    ast.Continue: Flow._continue,
}
KernelCompiler.goes_through = Flow
