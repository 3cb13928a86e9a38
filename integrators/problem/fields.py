"""What users may give as a field, invariant or event, brought to the engine's one signature.

=================================  ==================================================================================
``f(t, y)``, ``f(t, y, params)``   returns the values; plain Python (any NumPy code) or jitted
``f(t, y, params, out)``           writes the values into ``out``; plain Python or jitted
all six arguments of a field       ``f(t, y, parameters, structure, work, out)``; plain Python or jitted
`Entry`                            declared with ``@entry(*FIELD_SIGNATURES)``: compiled, cached, on lanes too
``{name: f, …}``                   several one-valued functions, stacked (invariants, events)
=================================  ==================================================================================

A plain Python function is called back by the compiled engine (`integrators.problem.python_field`).  A jitted one is
wrapped and compiled in memory; in lanes it is called for one trajectory after another, unless it takes all six
arguments (then it uses `ld` and `st`).

The stages of a step in lanes have times of their own: the field finds them in the last row of its workspace.  Lanes
with parameters of their own find these there, too, in as many rows as they take.
"""

from __future__ import annotations

import dataclasses
import dis
import inspect
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.importable import check_importable
from integrators.problem.jitted import compiled_field, compiled_field_lanes, compiled_field_timed
from integrators.signatures import (
    FIELD_LANES_SIGNATURE,
    FIELD_SIGNATURE,
    FIELD_SIGNATURES,
    FIELD_STEPPED_SIGNATURE,
    FIELD_TIMED_SIGNATURE,
    FIELD_VARIED_SIGNATURE,
)
from liegroup.arrays import reals, shown, unmasked
from liegroup.compile import WIDTH, Entry, compile_field, entry, interpreted, is_jitted, ld, ld2

Array = NDArray[np.float64]
Shape = tuple[int, int]
PATIENCE, SMALL = 0.25, 2000
"""Seconds for which a function is interpreted at single states before it is compiled; parameters of problems for which
a state takes some 10 ms.
"""
_FORMS = "f(t, y), f(t, y, params), f(t, y, params, out) or f(t, y, parameters, structure, work, out)"


class ReturnedError(TypeError):
    """A function that is given the array for its values has returned them instead: they would be lost, and what it
    stands for be zero.
    """


@dataclass(frozen=True)
class Field:
    """A function in the engine's signature.

    Attributes
    ----------
    python
        Its interpreted form ``python(t, y, parameters, structure, work, out)``.
    is_compiled
        Whether the compiled engine can call it; if not, `compiled` and `compiled_lanes` are not available.
    source
        What the user gave.
    recipe
        A function and its arguments that make this field, in another process too; None: `as_field` of the source.
    build_timed
        Makes `compiled_timed`, or None.
    build_varied
        Makes `compiled_varied`, or None.
    build_stepped
        Makes `compiled_stepped`, or None.
    differentiates, by_complex_steps
        Whether it also writes its derivatives: see `differentiating`; and whether these come from complex steps, so
        that nothing carries derivatives through them.
    room
        Shapes of the workspace of a problem with this field, and of what does where no derivatives are asked for; None:
        the same.
    gives_entries
        Whether it also writes those that are not zero: see `giving_entries`.
    said
        Of what users have been warned already.
    """

    python: Callable[..., None]
    is_compiled: bool
    source: Any
    build: Callable[[], Any]
    build_lanes: Callable[[], Any]
    recipe: tuple[Callable[..., Field], tuple[Any, ...]] | None = None
    build_timed: Callable[[], Any] = lambda: None
    differentiates: bool = False
    room: tuple[Shape, Shape] | None = None
    build_varied: Callable[[], Any] = lambda: None
    gives_entries: bool = False
    by_complex_steps: bool = False
    build_stepped: Callable[[], Any] = lambda: None
    said: set[str] = dataclasses.field(default_factory=set, init=False, repr=False, compare=False)
    _spent: list[float] = dataclasses.field(default_factory=lambda: [0.0], init=False, repr=False, compare=False)

    def __reduce__(self) -> Any:
        if self.recipe is None:
            for function in functions_of(self):
                check_importable(function)
        return self.recipe or (as_field, (self.source,))

    def __deepcopy__(self, memo: Any) -> Field:
        return self

    @cached_property
    def is_kernel(self) -> bool:
        """Whether it is compiled and reads of its arrays only what it needs: all but functions that users have
        jitted.
        """
        return self.is_compiled and not any(is_jitted(f) and not isinstance(f, Entry) for f in functions_of(self))

    def at_one_state(self, t: float, y: Array, parameters: Array, structure: Any, work: Array, out: Array) -> None:
        """Write the values at one state.

        Of small problems it is interpreted as long as that takes less time than to compile it, with the same bits: a
        start is looked at, whether or not the method needs the compiled form.
        """
        arguments = t, y, parameters, structure, work, out
        if self._spent[0] < PATIENCE and parameters.size <= SMALL and self._is_to_compile:
            begun = time.perf_counter()
            is_done = interpreted(self.python, *arguments)
            self._spent[0] += time.perf_counter() - begun
            if is_done:
                return
        call = self.compiled if self.is_compiled else self.python
        call(*arguments)

    @property
    def _is_to_compile(self) -> bool:
        """Whether it is a kernel without compiled form."""
        if "compiled" in self.__dict__ or not self.is_kernel:
            return False
        return not any(isinstance(f, Entry) and f.is_at_hand for f in functions_of(self))

    @cached_property
    def compiled(self) -> Any:
        return self.build()

    @cached_property
    def compiled_lanes(self) -> Any:
        return self.build_lanes()

    @cached_property
    def compiled_timed(self) -> Any:
        """In lanes with times of their own, those in the last row of the workspace; None if there is no such form."""
        return self.build_timed()

    @cached_property
    def compiled_varied(self) -> Any:
        """In lanes with parameters of their own, those in the last rows of the workspace; None if there is no such
        form.
        """
        return self.build_varied()

    @cached_property
    def compiled_stepped(self) -> Any:
        """For numbers that carry a derivative (`liegroup.compile.COMPLEX_STEP`); None if there is no such form."""
        return self.build_stepped()


def functions_of(source: Any) -> list[Any]:
    """The functions of which a field is made."""
    if isinstance(source, Field):
        return functions_of(source.source)
    parts = source.values() if isinstance(source, Mapping) else source if isinstance(source, tuple) else None
    return [source] if parts is None else [f for part in parts for f in functions_of(part)]


def reads_time(field: Field) -> bool:
    """Whether one of the functions of a field reads its first argument, the time, or passes it on; True where their
    source does not tell.
    """
    return any(_reads_first(f) for f in functions_of(field))


def _reads_first(function: Any) -> bool:
    """Of what is called itself, not of what it wraps: a wrapper may read the time, or take it in *args."""
    python: Any = function.python if isinstance(function, Entry) else getattr(function, "py_func", function)
    bound = inspect.ismethod(python)  # behind self
    code = getattr(python.__func__ if bound else python, "__code__", None)
    return code is None or code.co_argcount <= bound or _loads(code, code.co_varnames[bound])


@lru_cache(1024)
def _loads(code: CodeType, name: str) -> bool:
    """Whether a function loads one of its arguments."""
    loads = (i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD"))
    return name in code.co_cellvars or any(name == x or (isinstance(x, tuple) and name in x) for x in loads)


def as_field(function: Any, name: str = "field", matrix: bool = False) -> Field:
    """Bring what a user gave to the engine's signature; TypeError says what is wrong with anything else.

    matrix: what it returns may be a square matrix, whose rows are its values.
    """
    if isinstance(function, Field):
        return function
    if isinstance(function, Entry):
        return Field(
            function.python, True, function, lambda: function.compiled, lambda: function.compiled_lanes,
            build_timed=lambda: _timed(function), build_varied=lambda: _varied(function),
            build_stepped=lambda: _stepped(function),
        )  # fmt: skip
    if isinstance(function, Mapping):
        return _stacked(function, [as_field(f, f"{name} {key!r}") for key, f in function.items()], name)
    if not callable(function):
        raise TypeError(f"{name}: {function!r} is not callable; expected a function {_FORMS}")
    count = _argument_count(function, name)
    if not is_jitted(function):
        return Field(_interpreted(function, count, name, matrix), False, function, _refuse(name), _refuse(name))
    known = vars(function).setdefault("_fields_of_problems", {})  # its own: what is compiled for one problem serves all
    if (name, matrix) not in known:
        known[name, matrix] = _field_of_jitted(function, count, name, matrix)
    made: Field = known[name, matrix]
    return made


def _field_of_jitted(function: Any, count: int, name: str, matrix: bool) -> Field:
    python = _interpreted(function, count, name, matrix)
    scalar = once(lambda: compiled_field(_wrapped(function, count, matrix), python, name))
    if count == 6:
        return Field(
            python, True, function, scalar, lambda: compiled_field_lanes(function, python, name),
            build_timed=lambda: compiled_field_timed(function, python, name),
        )  # fmt: skip
    return Field(
        python, True, function, scalar, lambda: compile_field(lane_by_lane(scalar()), FIELD_LANES_SIGNATURE),
        build_timed=lambda: compile_field(each_at_its_time(scalar()), FIELD_LANES_SIGNATURE),
    )  # fmt: skip


def source_of(function: Any, name: str) -> Any:
    """What a user has compiled as its source says it, interpreted, in the engine's signature; a function of numbers may
    return them.
    """
    if isinstance(function, Field) and is_jitted(function.source) and not isinstance(function.source, Entry):
        function = function.source
    if isinstance(function, Field | Entry):
        return function.python
    return _interpreted(getattr(function, "py_func", function), _argument_count(function, name), name, False)


@entry(*FIELD_SIGNATURES)
def nothing_to_do(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The invariants, events and projection of a problem that has none."""


NOTHING = as_field(nothing_to_do)


def differentiating(function: Entry, room: tuple[Shape, Shape] | None = None, by_complex_steps: bool = False) -> Field:
    """The field of an entry that, where `out` has just d + d² places, writes its derivatives behind its d values, by
    rows: ∂f/∂x of f(t, y τ(x)).  The workspace of the problem has room for them; `room` is that workspace, and what of
    it does for the values alone.  `by_complex_steps`: it finds some of them so.
    """
    recipe = differentiating, (function, room, by_complex_steps)
    return replace(as_field(function), differentiates=True, room=room, by_complex_steps=by_complex_steps, recipe=recipe)


def giving_entries(function: Entry) -> Field:
    """The field of an entry that, where `out` has more than its d places, writes the entries of its derivative ∂f/∂x of
    f(t, y τ(x)) behind its values that the problem's `jacobian_sparsity` allows, by rows.
    """
    return replace(as_field(function), gives_entries=True, recipe=(giving_entries, (function,)))


def lane_work_shape(n: int) -> tuple[int, int]:
    """The workspace a jitted field needs in lanes, of this or of any other shape with as many numbers: registers for a
    state of n numbers, and behind them for its values.
    """
    return 2, -(-n // WIDTH)


def once(build: Callable[[], Any]) -> Callable[[], Any]:
    """Remember what `build` returned."""
    found: list[Any] = []

    def built() -> Any:
        if not found:
            found.append(build())
        return found[0]

    return built


def _argument_count(function: Callable[..., Any], name: str) -> int:
    try:
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: {function!r} does not tell its arguments; expected a function {_FORMS}") from error
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    count = sum(p.default is p.empty for p in positional)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        count = max(count, 2)
    if count not in (2, 3, 4, 6):
        raise TypeError(f"{name}: takes {count} arguments ({', '.join(p.name for p in positional)}); expected {_FORMS}")
    return count


def writes_values(function: Any, name: str) -> bool:
    """Whether a plain Python function of a user's is given the array for its values."""
    if isinstance(function, Field | Entry) or not callable(function) or is_jitted(function):
        return False
    with suppress(TypeError):  # what stands beside it in a field, such as an input, has other arguments
        return _argument_count(function, name) in (4, 6)
    return False


def _interpreted(function: Callable[..., Any], count: int, name: str, matrix: bool) -> Callable[..., None]:
    """The function in the engine's signature, for the interpreted engine; checks the shape of what it returns."""
    if count in (4, 6):
        writer = getattr(function, "py_func", function)

        def writes(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            more = (parameters, out) if count == 4 else (parameters, structure, work, out)
            values = writer(t, y, *more)
            if values is not None and values is not out:
                raise ReturnedError(
                    f"{name}: takes {count} arguments, the last of which is the array that its values are to be "
                    f"written into, and returned {shown(values)}; write out[:] = … and return nothing, or take (t, y), "
                    "or (t, y, params): numbers of the model are elements of `parameters`, or arguments with defaults"
                )

        return writes

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        values = function(t, y) if count == 2 else function(t, y, parameters)
        if type(values) is np.ndarray and values.dtype is out.dtype and values.shape == out.shape:
            out[:] = values
            return
        returned, values = values, _array(values, name)
        if values.dtype.kind == "O" and not values.ndim and not hasattr(returned, "__float__"):
            hint = "; does it end without `return`?" if returned is None else ""
            raise TypeError(f"{name}: returned {shown(returned)}, expected {out.size} real numbers{hint}")
        if values.dtype.kind == "b" and name.startswith("event"):
            raise TypeError(f"{name}: returned a truth value, expected a number that changes its sign")
        if matrix:
            values = _by_rows(values, out.size, name)
        if values.shape != out.shape and not (values.ndim == 0 and out.shape == (1,)):
            raise ValueError(f"{name}: returned an array of shape {values.shape}, expected {out.shape}")
        if out.dtype.kind == "f" and values.dtype.kind not in "fiub":
            values = reals(values, f"{name}: returned", f"{out.size} real numbers")
        out[:] = values

    return field


def _by_rows(values: Any, size: int, name: str) -> Any:
    """A square matrix of `size` numbers by rows; ValueError for other shapes."""
    d = math.isqrt(size)
    if values.shape not in ((d, d), (size,)):
        raise ValueError(f"{name}: returned an array of shape {values.shape}, expected ({d}, {d})")
    return values.reshape(size)


def _array(values: Any, name: str) -> Any:
    unmasked(values, f"{name}: returned")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name}: returned rows of different lengths; where params is an argument, it is an array: take elements"
        ) from error


def _wrapped(function: Callable[..., Any], count: int, matrix: bool) -> Callable[..., None]:
    """The same for the compiler, whose functions must be plain enough to compile."""
    if count == 6:
        return function
    if count == 4:

        def writes(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            function(t, y, parameters, out)

        return writes
    if matrix:
        return _matrix_wrapped(function, count)
    if count == 3:

        def returns_with_parameters(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            values = function(t, y, parameters)
            if np.shape(values) != out.shape and not (np.shape(values) == () and out.shape[0] == 1):
                raise ValueError("returned an array of another shape than expected")  # the interpreted form says which
            out[:] = values

        return returns_with_parameters

    def returns(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        values = function(t, y)
        if np.shape(values) != out.shape and not (np.shape(values) == () and out.shape[0] == 1):
            raise ValueError("returned an array of another shape than expected")
        out[:] = values

    return returns


def _matrix_wrapped(function: Callable[..., Any], count: int) -> Callable[..., None]:
    """A function that returns an array of one or two axes, for the compiler."""
    if count == 3:

        def matrix_with_parameters(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            values = function(t, y, parameters)
            if values.size != out.shape[0]:
                raise ValueError("jacobian: returned a matrix of another size than (dimension, dimension)")
            out[:] = values.ravel()

        return matrix_with_parameters

    def matrix(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        values = function(t, y)
        if values.size != out.shape[0]:
            raise ValueError("jacobian: returned a matrix of another size than (dimension, dimension)")
        out[:] = values.ravel()

    return matrix


def lane_by_lane(scalar: Any) -> Callable[..., None]:
    """A function of one trajectory, called for eight one after the other; its registers are the first numbers of the
    workspace (`lane_work_shape`).
    """

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        registers = work.ravel()
        state, values = registers[: y.shape[0]], registers[y.shape[0] : y.shape[0] + out.shape[0]]
        for lane in range(y.shape[1]):
            for i in range(y.shape[0]):
                state[i] = y[i, lane]
            scalar(t, state, parameters, structure, work[0], values)
            for i in range(out.shape[0]):
                out[i, lane] = values[i]

    return field


def each_at_its_time(scalar: Any) -> Callable[..., None]:
    """The same at a time of its own for each, from the last row of the workspace."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        registers, times = work.ravel(), work[work.shape[0] - 1]
        state, values = registers[: y.shape[0]], registers[y.shape[0] : y.shape[0] + out.shape[0]]
        for lane in range(y.shape[1]):
            for i in range(y.shape[0]):
                state[i] = y[i, lane]
            scalar(times[0, lane], state, parameters, structure, work[0], values)
            for i in range(out.shape[0]):
                out[i, lane] = values[i]

    return field


def _timed(function: Entry) -> Any:
    """An entry in lanes at their times; None if it takes no times in lanes."""
    return _kept(function, "_timed_field", _build_timed)


def _kept(function: Entry, name: str, build: Callable[[Entry], Any]) -> Any:
    """What is made of an entry, once for all problems that have it."""
    if name not in vars(function):
        vars(function)[name] = build(function)
    return vars(function)[name]


def _build_timed(function: Entry) -> Any:
    within = function.within(FIELD_TIMED_SIGNATURE)

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        times = work.shape[0] - 1
        within(ld2(work, times, 0), y, parameters, structure, work[:times], out)

    return None if within is None else compile_field(field, FIELD_LANES_SIGNATURE)


def _varied(function: Entry) -> Any:
    """An entry in lanes with parameters of their own; None if it takes no parameters in lanes."""
    return _kept(function, "_varied_field", _build_varied)


def _build_varied(function: Entry) -> Any:
    within = function.within(FIELD_VARIED_SIGNATURE)

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        rows = (parameters.shape[0] + work.shape[1] - 1) // work.shape[1]
        first = work.shape[0] - rows
        own = work[first:].reshape(rows * work.shape[1], WIDTH)
        within(t + 0.0 * ld(own, 0), y, own, structure, work[:first], out)

    return None if within is None else compile_field(field, FIELD_LANES_SIGNATURE)


def _stepped(function: Entry) -> Any:
    """An entry for numbers that carry a derivative; None if the compiler does not take it for them."""
    return _kept(function, "_stepped_field", lambda f: f.on(FIELD_STEPPED_SIGNATURE))


def _stacked(source: Mapping[str, Any], fields: list[Field], name: str) -> Field:
    """One field whose values are those of one-valued fields."""
    if not fields:
        raise ValueError(f"{name}: an empty mapping; give at least one function, or None")

    def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        for k, f in enumerate(fields):
            f.python(t, y, parameters, structure, work, out[k : k + 1])

    if not all(f.is_compiled for f in fields):
        return Field(python, False, source, _refuse(name), _refuse(name))
    return Field(
        python,
        True,
        source,
        lambda: _chain([f.compiled for f in fields], FIELD_SIGNATURE),
        lambda: _chain([f.compiled_lanes for f in fields], FIELD_LANES_SIGNATURE),
        build_timed=lambda: _chain_timed([f.compiled_timed for f in fields], 1),
    )


def joined(first: Field, size: int, second: Field) -> Field:
    """One field whose first `size` values are those of one field, the others those of another."""

    def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        first.python(t, y, parameters, structure, work, out[:size])
        second.python(t, y, parameters, structure, work, out[size:])

    return Field(
        python,
        first.is_compiled and second.is_compiled,
        (first.source, second.source),
        lambda: _chain([first.compiled, second.compiled], FIELD_SIGNATURE, size),
        lambda: _chain([first.compiled_lanes, second.compiled_lanes], FIELD_LANES_SIGNATURE, size),
        (joined, (first, size, second)),
        lambda: _chain_timed([first.compiled_timed, second.compiled_timed], size),
    )


def _chain_timed(functions: list[Any], size: int) -> Any:
    return None if None in functions else _chain(functions, FIELD_LANES_SIGNATURE, size)


def linearised(field: Field, size: int, jacobian: Field) -> Field:
    """One field whose first `size` values are those of a field, and, where `out` has room for more, its derivatives by
    rows.
    """

    def python(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        field.python(t, y, parameters, structure, work, out[:size])
        if out.shape[0] > size:
            jacobian.python(t, y, parameters, structure, work, out[size:])

    return Field(
        python,
        field.is_compiled and jacobian.is_compiled,
        (field.source, jacobian.source),
        lambda: _with_derivatives(field.compiled, jacobian.compiled, FIELD_SIGNATURE, size),
        lambda: _with_derivatives(field.compiled_lanes, jacobian.compiled_lanes, FIELD_LANES_SIGNATURE, size),
        (linearised, (field, size, jacobian)),
    )


def _with_derivatives(field: Any, jacobian: Any, signature: Any, size: int) -> Any:
    def with_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        field(t, y, parameters, structure, work, out[:size])
        if out.shape[0] > size:
            jacobian(t, y, parameters, structure, work, out[size:])

    return compile_field(with_derivatives, signature)


def _chain(functions: list[Any], signature: Any, size: int = 1) -> Any:
    if len(functions) == 1:
        return functions[0]
    first, rest = functions[0], _chain(functions[1:], signature)

    def chained(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        first(t, y, parameters, structure, work, out[:size])
        rest(t, y, parameters, structure, work, out[size:])

    return compile_field(chained, signature)


def _refuse(name: str) -> Callable[[], Any]:
    def refuse() -> Any:
        raise TypeError(f"{name}: a plain Python function has no compiled form; decorate it with numba.njit")

    return refuse
