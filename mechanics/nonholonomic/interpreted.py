"""The functions of a nonholonomic system where they cannot be traced: derivatives by complex steps, nothing compiled.

For functions that branch on values or call what knows arrays of numbers only (``np.linalg``, tables); they must accept
complex numbers (no ``abs``, no ``np.linalg.norm``), which is looked at in the first state and beside it.  A step takes
about a thousand times as long as a compiled one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.fields import Field, as_field
from integrators.problem.importable import check_importable
from integrators.problem.multipliers import admissible_state
from integrators.problem.parts import constrained
from mechanics.nonholonomic.flat import along_velocity, bracket_transpose, contradicted, coordinate_rate
from mechanics.nonholonomic.notes import FORMS, MATRIX, TIMED, Derived, form_taken
from mechanics.nonholonomic.written import Functions, plain, work_height

Array = NDArray[Any]
EPS = 1e-100
"""Complex step."""


@dataclass(frozen=True, eq=False)
class InterpretedFunctions(Functions):
    """The same functions, called as they are at every evaluation."""

    start: Any = None
    """A configuration, for the sizes of what the functions return."""
    numbers: Any = ()
    """The parameters, of the start."""

    def call(self, name: str, *arguments: Any, shape: tuple[int, ...] = ()) -> Array:
        """The values of a function as an array of a shape, zeros if it is not given; ValueError for another number."""
        function = getattr(self, name)
        if function is None:
            return np.zeros(shape)
        values = self._values(name, *arguments)
        if values.size != math.prod(shape):
            raise ValueError(f"{name}: returned an array of shape {values.shape}, expected {shape}")
        return values.reshape(shape)

    def _values(self, name: str, *arguments: Any) -> Array:
        values = getattr(self, name)(*arguments, *(() if self.parameters is None else (self.numbers,)))
        if values is None:
            raise TypeError(f"{name}: returned None, expected numbers; does it end without `return`?")
        return np.asarray(values)

    def mass_at(self, q: Array) -> Array:
        """M(q); of the kinetic energy by polarisation."""
        if form_taken("mass", self.mass, self.parameters is not None) == MATRIX:
            return self.call("mass", q, shape=(self.n, self.n))
        e = np.eye(self.n)
        t = np.array([self.call("mass", q, x) for x in e])
        return np.asarray(np.array([[self.call("mass", q, x + y) for y in e] for x in e]) - t[:, None] - t)

    def rows_at(self, t: Any, q: Array, m: int | None = None) -> Array:
        """A(t, q), of m rows where that is known."""
        timed = form_taken("rows", self.rows, self.parameters is not None) == TIMED
        rows = np.atleast_2d(self._values("rows", *((t, q) if timed else (q,))))
        if rows.ndim != 2 or rows.shape[1] != self.n or len(rows) != (len(rows) if m is None else m):
            wanted = f"({'m' if m is None else m}, {self.n})"
            raise ValueError(f"rows: returned an array of shape {rows.shape}, expected {wanted}")
        return rows

    @cached_property
    def derived(self) -> Derived:
        """The parts by complex steps; without a frame."""
        q = np.asarray(self.start, float)
        m = len(self.rows_at(0.0, q))
        k = 0 if self.position is None else self._values("position", q).size
        for name, function in (
            ("mass", self.mass_at),
            ("rows", lambda x: self.rows_at(0.0, x)),
            ("potential", self._potential),
        ):
            wrong = self._lost(name, function, q, "q0")
            for x in self._beside(q):  # at rest, and where they begin to bend, functions often have no derivative
                if not wrong:
                    with suppress(Exception):  # functions need not be there
                        wrong = self._lost(name, function, x, f"q = {x.tolist()}")
            if wrong:
                raise ValueError(wrong)
        return Derived(self._parts(m, k), None, m, k, None)

    def _potential(self, q: Array) -> Array:
        return self.call("potential", q)

    def _beside(self, q: Array) -> list[Array]:
        """Configurations that are nothing special, in the units of q and in those in which it is one."""
        random = np.random.default_rng(7)
        rates = [coordinate_rate(self.group, q, random.uniform(-1.0, 1.0, self.n)) for _ in range(4)]
        return [q + 0.1 * size * rate for rate in rates for size in (1.0, np.abs(q)) if np.any(size)]

    def _lost(self, name: str, function: Any, q: Array, where: str) -> str:
        """What is said where complex numbers do not carry the derivative that differences show."""
        for k, e in enumerate(np.eye(self.n)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                carried = _imaginary(along_velocity(self.group, function, q, e)(1j * EPS))
            wrong = contradicted(self.group, function, q, e, carried)
            if wrong is not None:
                i, near = wrong
                return (
                    f"{name}: complex numbers carry {carried[i]:.6g} as its derivative by velocity {k} at {where}, but "
                    f"differences give {near:.6g}; write functions that carry imaginary parts on: np.sqrt(x * x) for "
                    "abs(x), np.sqrt(v @ v) for np.linalg.norm(v), np.sin for math.sin, no float(x)"
                )
        return ""

    @property
    def autonomous(self) -> bool | None:
        return None

    @cached_property
    def _module(self) -> Any:
        made = {name: as_field(function, name.rpartition("_")[2]) for name, (function, _, _) in plain(self).items()}
        return SimpleNamespace(**{name: replace(f, recipe=(_form, (self, name))) for name, f in made.items()})

    def __deepcopy__(self, memo: Any) -> InterpretedFunctions:
        return self

    def __getstate__(self) -> dict[str, Any]:
        for name in FORMS:
            given = getattr(self, name)
            for function in given.values() if isinstance(given, Mapping) else [given]:
                check_importable(function, name)
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def lift(self, q: Array, u: Array) -> Array:
        """The admissible velocity nearest to u, on numbers of any kind."""
        m, k = self.derived.m, self.derived.k
        at = constrained(self.n, m, k)

        def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            out[:] = 0 * y[0]
            _write(
                out, at, MASS=self.mass_at(q), ROWS=self.rows_at(t, q, m), VALUE=self.call("value", t, q, shape=(m,))
            )

        work = np.full((work_height(self.n, m, self.n), at.SIZE), 0 * q[0], dtype=object)
        out = np.full(self.n_q + self.n, 0 * q[0], dtype=object)
        y = np.concatenate([q, np.array([0 * q[0] + x for x in u], dtype=object)])
        admissible_state(parts, 0.0, y, self.numbers, np.array([self.n, m, k]), work, out)
        return out[self.n_q :]

    def _parts(self, m: int, k: int) -> Any:
        at = constrained(self.n, m, k)

        def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
            now = self._with(parameters)
            _write(out, at, **now._blocks(t, y[: self.n_q], y[self.n_q :], m, k))

        return parts

    def _with(self, parameters: Array) -> InterpretedFunctions:
        """The same functions with the parameters of a problem, which may be inputs."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, numbers=parameters[: self.parameters or 0])
        return made

    def _blocks(self, t: Any, q: Array, v: Array, m: int, k: int) -> dict[str, Any]:
        mass = self.mass_at(q)
        moved = [q + 1j * EPS * coordinate_rate(self.group, q, e) for e in np.eye(self.n)]
        later, along = t + 1j * EPS, q + 1j * EPS * coordinate_rate(self.group, q, v)
        value_rate = _imaginary(self.call("value", later, along, shape=(m,)))
        return {
            "MASS": mass,
            "ROWS": self.rows_at(t, q, m),
            "GRADIENT": [_imaginary(self.call("potential", x)) for x in moved],
            "FORCE": self.call("force", t, q, v, shape=(self.n,)),
            "KINETIC": [0.5 * v @ _imaginary(self.mass_at(x)) @ v for x in moved],
            "RATE": _imaginary(self.mass_at(along)) @ v - bracket_transpose(self.group, v, mass @ v),
            "VALUE": self.call("value", t, q, shape=(m,)),
            "BIAS": _imaginary(self.rows_at(later, along, m)) @ v - value_rate,
            "POSITION": self.call("position", q, shape=(k,)),
            "POTENTIAL": self.call("potential", q),
        }


def _form(functions: InterpretedFunctions, name: str) -> Field:
    return getattr(functions._module, name)  # type: ignore[no-any-return]


def _write(out: Array, at: Any, **blocks: Any) -> None:
    for name, block in blocks.items():
        values, start = np.ravel(block), getattr(at, name)
        out[start : start + len(values)] = values


def _imaginary(x: Any) -> Array:
    return np.asarray(np.imag(np.asarray(x)) / EPS)
