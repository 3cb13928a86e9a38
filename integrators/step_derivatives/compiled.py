"""The derivative of a step by complex steps of its compiled kernels.

The kernels are compiled once more, for numbers x + i ε δ that carry a derivative δ (`liegroup.compile.COMPLEX_STEP`):
the same source, in the same order.  State, parameters, forces, step size and time may all carry one.  Along one
direction a step then costs about four steps.  As in `integrators.step_derivatives.complex_step`, an iteration carries
the derivative one turn behind the value, and looks at both before it ends; parts of a composition are differentiated
one after the other.

What the compiler does not take for complex numbers, such as a jitted field that asks for real ones, has no such step.
"""

from __future__ import annotations

from functools import cache
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COUNTERS, FIRST_KNOWN, HISTORY
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.jitted import raise_raised
from integrators.signatures import (
    FIELD_STEPPED,
    STEP_STEPPED,
    STEP_STEPPED_SIGNATURE,
)
from integrators.status import OK, Status
from integrators.step_derivatives.complex_step import Parts, by_differences, check_directions, finite, undivided
from integrators.step_derivatives.written import written
from integrators.steppers.own import substeps
from liegroup.compile import (
    COMPLEX_STEP,
    Entry,
    Pointer,
    boolean,
    entry,
    integer,
    integer_table,
    integers,
    matrix,
    real,
    stepped_matrices,
    stepped_matrix,
    stepped_vector,
    vector,
)
from liegroup.table import EXP, KIND, RN, SO2, retract

Array = NDArray[np.float64]


@entry(integer(integer_table, vector, matrix, stepped_vector, stepped_vector))
def rates_of_components(table: Any, y: Any, out: Any, moved: Any, x: Any) -> int:
    """out (dimension, n) <- by rows the rates of the components of a state by its velocities; `moved` and x work."""
    for k in range(out.shape[0]):
        for i in range(x.shape[0]):
            x[i] = complex(0.0, COMPLEX_STEP if i == k else 0.0)
        for i in range(y.shape[0]):
            moved[i] = complex(y[i], 0.0)
        retract(table, EXP, moved, x, moved)
        for i in range(y.shape[0]):
            out[k, i] = moved[i].imag / COMPLEX_STEP
    return OK


_FUNCTIONS = STEP_STEPPED, FIELD_STEPPED, FIELD_STEPPED, boolean, integer, boolean
_GIVEN = real, real, vector, vector, matrix, integers, vector
_METHOD = integer_table, vector, integers, stepped_vector, integers
_ROOM = stepped_matrix, stepped_matrices, integer_table, stepped_matrix, matrix


@entry(integer(*_FUNCTIONS, *_GIVEN, *_METHOD, *_ROOM))
def carry_compiled(
    step: Any, field: Any, project: Any, projects: Any, passes: Any, forgets: Any, h: Any, t: Any, y: Any, u: Any,
    directions: Any, places: Any, weights: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any, room: Any, out: Any,
) -> int:  # fmt: skip
    """out (k, n) <- the rates of the components of the state after a step, along k directions, rows of (rates of the
    components of y, of the parameters at `places`, of the forces u, of h, of t).

    The last row of `out` is the state itself.  A step of several parts has their weights, and a workspace and counters
    each.
    """
    n, m, last = y.shape[0], u.shape[0], directions.shape[1]
    z, end, low = room[0], room[1], room[2]
    for k in range(-1, directions.shape[0]):  # the first is the step itself
        for i in range(n):
            z[i] = complex(y[i], COMPLEX_STEP * directions[k, i] if k >= 0 else 0.0)
        for j in range(places.shape[0]):
            parameters[places[j]] = complex(
                parameters[places[j]].real, COMPLEX_STEP * directions[k, n + j] if k >= 0 else 0.0
            )
        size = complex(h, COMPLEX_STEP * directions[k, last - 2] if k >= 0 else 0.0)
        time = complex(t, COMPLEX_STEP * directions[k, last - 1] if k >= 0 else 0.0)
        rounds = passes if k >= 0 and directions[k, last - 2] == 0.0 else 2
        if passes > 1:  # iterations end where the real numbers are found: from those of another direction at once
            work[:] = 0.0
            counters[:] = 0
        for part in range(weights.shape[0]):
            own = weights[part] * size
            for i in range(m):
                force = complex(u[i], COMPLEX_STEP * directions[k, last - 2 - m + i] if k >= 0 else 0.0)
                z[n - m + i] = z[n - m + i] + 0.5 * own * force
            for _ in range(rounds):
                for i in range(n):
                    end[i], low[i] = z[i], 0.0
                counters[part, FIRST_KNOWN] = 0
                if forgets:
                    counters[part, HISTORY] = 0
                status = step(
                    field, time, own, end, low, table, coefficients, options, parameters, structure, field_work,
                    work[part], counters[part],
                )  # fmt: skip
                if status != OK:
                    return int(status)
            for i in range(n):
                z[i] = end[i] + low[i]
            for i in range(m):
                force = complex(u[i], COMPLEX_STEP * directions[k, last - 2 - m + i] if k >= 0 else 0.0)
                z[n - m + i] = z[n - m + i] + 0.5 * own * force
            time = time + own
        if projects:
            for i in range(n):
                end[i] = z[i]
            project(time, z, parameters, structure, field_work, end)
            for i in range(n):
                z[i] = end[i]
        if k < 0:
            for i in range(n):
                out[directions.shape[0], i] = z[i].real
        else:
            for i in range(n):
                out[k, i] = z[i].imag / COMPLEX_STEP
    return OK


@cache
def _step_on(step: Entry) -> Any:
    """A step compiled for numbers that carry a derivative; None where the compiler refuses."""
    found = step.on(STEP_STEPPED_SIGNATURE)
    return found and Pointer(found, STEP_STEPPED)


def is_flat(problem: Problem) -> bool:
    """Whether the components of a state change with its velocities."""
    return all(int(kind) in (RN, SO2) for kind in problem.table[:, KIND])


class SteppedKernels:
    """Step, field and projection of a problem compiled for numbers that carry a derivative, and their workspace: calls
    from several threads wait for one another.

    Parameters
    ----------
    problem : Problem
    method : Method
    step, field, projection : Pointer
    given : tuple
        The arguments of `stepped_kernels`, which makes them in copies and in other processes.
    """

    def __init__(
        self, problem: Problem, method: Method, step: Any, field: Any, projection: Any, given: tuple[Any, ...]
    ) -> None:
        self.problem, self.method, self._given, self._alone = problem, method, given, RLock()
        self._step, self._field, self._projection = step, field, projection
        self._parts, n = Parts(problem, method), problem.n
        single = substeps(method)[0][0] if method.stepper.own else undivided(method)
        self._method = problem.table, single.kernel_coefficients(problem), single.kernel_options(problem)
        self._work = np.zeros((0, *single.work_shape(problem)), dtype=complex)
        self._field_work, self._room = np.zeros(problem.work_shape, dtype=complex), np.zeros((3, n), dtype=complex)
        self._x, self._rates = np.zeros(problem.dimension, dtype=complex), np.zeros((problem.dimension, n))
        self._flat, self._one = is_flat(problem), np.eye(problem.n)
        self._passes = 1 if method.stepper.own else 2

    def __reduce__(self) -> tuple[Any, ...]:
        return stepped_kernels, self._given

    def velocities(self, y: Array) -> Array:
        """(n, dimension): the rates of the components of a state by its velocity."""
        if self._flat:
            return self._one
        with self._alone:
            rates_of_components(self.problem.table, y, self._rates, self._room[0], self._x)
            return self._rates.T.copy()

    def increments(self, y: Array) -> Array:
        """(dimension, n): the velocity of given rates of the components; rates that leave the group have none."""
        return self._one if self._flat else np.asarray(np.linalg.pinv(self.velocities(y)))

    def _weights(self, y: Array, h: float, t: float, parameters: Array) -> Array:
        """Of the parts of a step, and room for each of them."""
        parts = self._parts(parameters, y, h, t)
        if len(parts) != len(self._work):
            self._work = np.zeros((len(parts), *self._work.shape[1:]), dtype=complex)
            self._counters = np.zeros((len(parts), COUNTERS), dtype=np.int64)
        return np.array([weight for _, weight in parts])

    def __call__(
        self, y: Array, h: float, t: float, parameters: Array, places: NDArray[np.int64], u: Array, directions: Array
    ) -> tuple[Array, Array]:
        """The state after a step (n,), and the rates of its components along k directions (n, k)."""
        out = np.empty((len(directions) + 1, self.problem.n))
        with self._alone:
            weights = self._weights(y, h, t, parameters)
            self._counters[...] = 0
            self._work[...] = 0.0
            status = carry_compiled(
                self._step, self._field, self._projection, self.problem.projection is not None, self._passes,
                self.method.stepper.remembers, h, t, y, u,
                directions, places, weights, *self._method, parameters.astype(complex), self.problem.structure,
                self._field_work, self._work, self._counters, self._room, out,
            )  # fmt: skip
            raise_raised()
            if status != OK:
                said = self.method.explain(self.problem, self._work[0, 0].real)
                raise ArithmeticError(f"{self.method.name}: {Status(status).name}; {said}")
            return out[-1], finite(self.method, out[:-1].T, y, h, t)


def carry_stepped(
    problem: Problem, method: Method, y: Array, h: float, u: Array, directions: Array, t: float
) -> tuple[Array, Array]:
    """`integrators.step_derivatives.complex_step.carry_complex` by compiled kernels."""
    kernels, n, count = kernels_of(problem, method), problem.dimension // 2, problem.n
    ends, carried = np.empty_like(y), np.array(np.broadcast_to(directions, (len(y), *directions.shape)))
    rows = np.zeros((len(directions), count + n + 2))
    rows[:, count:] = directions[:, 2 * n :]
    parameters, none = np.asarray(problem.parameters, dtype=np.float64), np.zeros(0, dtype=np.int64)
    for k in range(len(y)):
        rows[:, :count] = directions[:, : 2 * n] @ kernels.velocities(y[k]).T
        ends[k], rates = kernels(y[k], h, t, parameters, none, u[k], rows)
        carried[k, :, : 2 * n] = (kernels.increments(ends[k]) @ rates).T
    carried[:, :, -1] += directions[:, -2]
    return ends, carried


def by_parameters_stepped(
    problem: Problem, method: Method, y: Array, h: float, directions: Array, t: float
) -> tuple[Array, Array]:
    """`integrators.step_derivatives.complex_step.by_parameters` by compiled kernels."""
    check_directions(problem, method, directions)
    kernels, touched, d = kernels_of(problem, method), np.flatnonzero(directions.any(axis=0)), problem.dimension
    rows = np.zeros((d + len(directions) + 1, problem.n + len(touched) + 2))
    rows[:d, : problem.n] = kernels.velocities(y).T
    rows[d:-1, problem.n : -2] = directions[:, touched]
    rows[-1, -2] = 1.0
    end, rates = kernels(y, h, t, np.asarray(problem.parameters, dtype=np.float64), touched, np.zeros(0), rows)
    return end, kernels.increments(end) @ rates


def kernels_of(problem: Problem, method: Method) -> SteppedKernels:
    """`stepped_kernels`; ValueError where there are none."""
    found = stepped_kernels(problem, method, True)
    if found is None:
        raise ValueError(
            f"compiled: a step of {method.name} on {problem.model!r} is not compiled for numbers that carry a "
            "derivative; expected a field of compiled kernels or a formula in plain Python (no `if` on a value, not "
            "jitted by yourself); leave it False"
        )
    return found


def stepped_kernels(problem: Problem, method: Method, writes: bool) -> SteppedKernels | None:
    """The compiled step of a method on a problem with complex steps; None where it has none: fields that are jitted by
    users, or plain Python that is no formula (a formula is written down if `writes`).
    """
    given, problem = (problem, method, writes), by_differences(problem)
    problem = (written(problem) if writes else None) or problem
    single = undivided(method)
    step, fields = (
        single.step(problem),
        [single.function(problem), *([problem.projection] if problem.projection else [])],
    )
    if not isinstance(step, Entry):
        return None
    found = [f.compiled_stepped for f in fields]
    if any(f is None for f in found) or (taken := _step_on(step)) is None:
        return None
    at = [Pointer(f, FIELD_STEPPED) for f in found]
    return SteppedKernels(problem, method, taken, at[0], at[-1], given)
