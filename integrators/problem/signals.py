"""What users give as inputs of a problem, read: numbers to be held, and one `Signal` for all functions.

A signal is a field of z = (y, v): the state, and the velocities of its first variable for functions f(t, q, v).
"""

from __future__ import annotations

import ctypes
import inspect
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.field_source import field_source, stores
from integrators.problem.fields import Field, as_field, each_at_its_time, joined, lane_by_lane, once
from integrators.problem.importable import check_importable
from integrators.problem.inputs import FORMS, Inputs, Sampled, look_up, traced
from integrators.problem.jitted import address_of, compiled_field, keep_raised
from integrators.signatures import FIELD_LANES_SIGNATURE, FIELD_SIGNATURE
from liegroup.arrays import real, reals, shown
from liegroup.compile import call_at, compile_field, is_jitted
from liegroup.compile.generated import module_of
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import IMPORTS, Graph, Traced

if TYPE_CHECKING:
    from integrators.problem.problem import Problem

Array = NDArray[np.float64]
TIME, STATE, MOTION = 1, 2, 3
"""What a function reads, by the number of its arguments."""


@dataclass(frozen=True)
class Part:
    """One function, and the numbers of the inputs that it gives."""

    which: tuple[int, ...]
    field: Field
    kind: str
    reads: int


@dataclass
class Given:
    """What was given for the inputs of a problem.

    Attributes
    ----------
    held : dict
        Numbers by the number of the input.
    parts : list of Part
        Functions.
    tables : list of array
        Of sampled data, to be put behind the parameters.
    samples : list of Sampled
        These data.
    """

    problem: Problem
    held: dict[int, float] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    tables: list[Array] = field(default_factory=list)
    samples: list[Sampled] = field(default_factory=list)

    def take(self, u: Any) -> None:
        """Numbers, a function for all inputs, or a mapping of names to either."""
        inputs: Inputs = self.problem.inputs
        if not len(inputs):
            if (isinstance(u, np.ndarray) and not u.size) or (isinstance(u, (Mapping, Sequence)) and not u):
                return  # a vector of none, as of code that is written for any number of inputs
            raise ValueError(
                f"u: the problem {self.problem.model!r} has no inputs; name some: Problem(…, inputs={{name: place}}), "
                "or elements without a force of their own, such as mechanics.forces.motor(joint)"
            )
        if isinstance(u, Mapping):
            for name, k in zip(u, inputs.numbers(list(u), "u"), strict=True):
                self._one(k, u[name], f"input {name!r}")
        elif callable(u) or isinstance(u, traced):
            self._function(range(len(inputs)), u, "u")
        else:
            self.held |= dict(enumerate(numbers(u, range(len(inputs)), inputs)))

    def _one(self, k: int, given: Any, what: str) -> None:
        if callable(given) or isinstance(given, traced):
            self._function((k,), given, what)
        else:
            self.held[k] = real(given, what, f"a finite number, Sampled(times, values) or a function {FORMS}")

    def _function(self, which: Sequence[int], given: Any, what: str) -> None:
        m, which = len(which), tuple(which)
        if isinstance(given, Sampled):
            count = np.shape(given.values)[1]
            if count != m:
                raise ValueError(f"{what}: Sampled has values for {count} inputs, expected {m}")
            at = len(np.asarray(self.problem.parameters)) + sum(map(len, self.tables))
            self.tables.append(given.table)
            self.samples.append(given)
            self.parts.append(Part(which, _of_table(given, at), "sampled", TIME))
            return
        function = given.function if isinstance(given, traced) else given
        reads = _arguments(function, what)
        if reads == MOTION and not moves(self.problem):
            names = ", ".join(v.name for v in self.problem.variables)
            raise ValueError(
                f"{what}: f(t, q, v), but the state of {self.problem.model!r} consists of ({names}); expected f(t, y)"
            )
        of = reads, sizes(self.problem), m, what
        if isinstance(given, traced):
            made, kind = _straight(function, *of), "traced"
        else:
            made, kind = _of_function(function, *of), "jitted" if is_jitted(function) else "plain Python"
        self.parts.append(Part(which, made, kind, reads))

    def together(self) -> Part:
        """All functions as one, and how each of its inputs runs."""
        made, which = self.parts[0].field, self.parts[0].which
        for part in self.parts[1:]:
            made, which = joined(made, len(which), part.field), which + part.which
        return Part(which, made, "", max(part.reads for part in self.parts))


def numbers(u: Any, which: Sequence[int], inputs: Inputs) -> list[float]:
    """Numbers for some of the inputs, in order; ValueError names what is wrong with others."""
    names = [inputs.names[k] for k in which]
    wanted = f"{len(names)} finite numbers, one per input ({', '.join(names)})"
    values = reals(u, "u", wanted)
    if values.shape != (len(names),) and not (values.ndim == 0 and len(names) == 1):
        raise ValueError(f"u: shape {values.shape}, expected {wanted}")
    flat: list[float] = values.reshape(-1).tolist()
    for name, x in zip(names, flat, strict=True):
        if not np.isfinite(x):
            raise ValueError(f"u: input {name!r} is {x}, expected a finite number")
    return flat


def moves(problem: Problem) -> bool:
    """Whether the state begins with configurations q, and momenta p or velocities v come next."""
    v = problem.variables
    return len(v) > 1 + problem.inputs.worked and v[0].name == "q" and v[1].name in ("p", "v")


def sizes(problem: Problem) -> tuple[int, int, int]:
    """Numbers of the state (without the work of its inputs), of its configurations, and of their velocities."""
    first, *others = problem.variables
    n = problem.n - len(problem.inputs) * problem.inputs.worked
    return n, first.size, others[0].size if moves(problem) else 0


def _arguments(function: Any, what: str) -> int:
    try:
        found = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}: {function!r} does not tell its arguments; expected a function {FORMS}") from error
    count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in found)
    if count not in (TIME, STATE, MOTION):
        raise TypeError(f"{what}: {shown(function)} takes {count} arguments, expected a function {FORMS}")
    return count


def _checked(
    function: Callable[..., Any], reads: int, sizes: tuple[int, int, int], m: int, what: str
) -> Callable[..., None]:
    """The function in the signature of a field of z, interpreted; it names what is returned wrongly.  It is asked of
    finite numbers only: where an iteration has left everything, what it goes by next is none either.
    """
    n, n_q, n_v = sizes

    def python(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        given = (t,) if reads == TIME else (t, z[:n]) if reads == STATE else (t, z[:n_q], z[n : n + n_v])
        if out.dtype.kind == "f" and not math.isfinite(np.vdot(z, z)):
            out[:] = np.nan
            return
        values = np.asarray(function(*given))
        if values.shape != out.shape and not (values.ndim == 0 and m == 1):
            raise ValueError(f"{what}: returned an array of shape {values.shape}, expected ({m},)")
        if out.dtype.kind == "f":
            values = reals(values, f"{what}: returned", f"{m} real numbers")
            if np.isnan(values).any():
                raise ValueError(f"{what}: returned {values.tolist()} at t = {t!r}, y = {np.asarray(z[:n]).tolist()}")
        out[:] = values

    return python


@dataclass(frozen=True)
class _Called(Field):
    """A field that is made of what a user gave for an input, in another process too."""

    what: str = ""

    def __reduce__(self) -> Any:
        check_importable(self.source, self.what, "traced(f) or a jitted function, whose code is sent")
        return super().__reduce__()


def _field(
    python: Callable[..., None], source: Any, build: Callable[[], Any], recipe: tuple[Any, ...], what: str = ""
) -> Field:
    """A function that is called for one trajectory after the other in lanes, too."""
    scalar = once(build)
    return _Called(
        python, True, source, scalar, lambda: compile_field(lane_by_lane(scalar()), FIELD_LANES_SIGNATURE),
        (recipe[0], recipe[1:]), what=what,
        build_timed=lambda: compile_field(each_at_its_time(scalar()), FIELD_LANES_SIGNATURE),
    )  # fmt: skip


def _of_function(function: Any, reads: int, sizes: tuple[int, int, int], m: int, what: str) -> Field:
    """A jitted function, or one that is called back."""
    n, n_q, n_v = sizes
    python = _checked(getattr(function, "py_func", function), reads, sizes, m, what)

    def build() -> Any:
        if is_jitted(function):
            return compiled_field(_adapted(function, reads, n, n_q, n_v), python, what)
        return _called_back(python, n + n_v, m, what)

    return _field(python, function, build, (_of_function, function, reads, sizes, m, what), what)


def _adapted(function: Any, reads: int, n: int, n_q: int, n_v: int) -> Callable[..., None]:
    """A jitted function in the signature of a field of z, for the compiler."""
    end = n + n_v

    def of_time(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        out[:] = function(t)

    def of_state(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        out[:] = function(t, z[:n])

    def of_motion(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        out[:] = function(t, z[:n_q], z[n:end])

    return {TIME: of_time, STATE: of_state, MOTION: of_motion}[reads]


def _of_table(sampled: Sampled, at: int) -> Field:
    count, m, linear = len(np.asarray(sampled.times)), np.shape(sampled.values)[1], sampled.hold == "linear"

    def signal(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        look_up(t, parameters, at, count, m, linear, out)

    return _field(signal, sampled, lambda: compile_field(signal, FIELD_SIGNATURE), (_of_table, sampled, at))


_HEADER = f'''"""Inputs of one problem: written by integrators.problem.signals."""

from integrators.signatures import FIELD_SIGNATURES
{IMPORTS}
'''


def _straight(function: Callable[..., Any], reads: int, sizes: tuple[int, int, int], m: int, what: str) -> Field:
    """A formula of t and z as straight-line code."""
    graph, out, python = Graph(), np.empty(m, dtype=object), _checked(function, reads, sizes, m, what)
    z = scalars([graph.input(f"ld(y, {i})") for i in range(sizes[0] + sizes[2])])
    try:
        traceable(python)(graph.input("t"), z, None, None, None, out)
        wanted = [x.k if isinstance(x, Traced) else graph.constant(float(x)) for x in out]
    except TypeError as error:
        raise TypeError(f"{what}: cannot be traced: {error}; give it without traced(…), or jitted") from error
    return as_field(module_of(_HEADER + field_source("signal", stores(graph, wanted))).signal)


def _memory(place: int, length: int) -> Array:
    """The numbers at a place in memory."""
    numbers: Any = (ctypes.c_double * length).from_address(place)
    return np.frombuffer(numbers)


class _Places(threading.local):
    """The last two places told, in every thread its own: threads come in between one word and the next."""

    def __init__(self) -> None:
        self.places: list[int] = []


def _called_back(python: Callable[..., None], length: int, m: int, what: str) -> Any:
    """A plain Python function for compiled code, which tells it the places of z and of its values in memory.

    What it raises is kept for `raise_raised`; its values are then NaN, and the step fails.
    """
    told, nothing = _Places(), np.zeros((0, 0))

    def call(t: float) -> None:
        z, out = (_memory(at, k) for at, k in zip(told.places, (length, m), strict=True))
        try:
            python(t, z.copy(), (), (), nothing, out)
        except BaseException as error:  # also a second Ctrl-C
            error.add_note(f"raised by {what}, called at t = {t!r}, y = {z.tolist()}")
            keep_raised(error)
            out[:] = np.nan

    def note(place: float) -> None:
        told.places = [*told.places[-1:], int(place)]

    calls, notes = address_of(call), address_of(note)

    def signal(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        call_at(notes, float(z.ctypes.data))
        call_at(notes, float(out.ctypes.data))
        call_at(calls, t)

    return compile_field(signal, FIELD_SIGNATURE)
