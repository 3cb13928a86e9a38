"""The exact derivative of a step by complex steps, whatever it is made of: a problem's own step with loops, wheels and
force elements, or a step of a variational integrator on any group.

The interpreted source of the step is run on complex numbers, y exp(iε δ) with ε = 1e-30; the imaginary part over ε is
the derivative along δ without any difference of large numbers.  Comparisons look at the real parts.  An iteration
carries the derivative one turn behind the value; the step is therefore taken twice, the second time with its own
solution as the first guess, and one Newton iteration at the solution gives the derivative of the solution.  Parts of a
composition are differentiated one after the other, and so are those into which a method with stages in lanes has
divided a step, its stages one by one (`Parts`).  What a step keeps for the next one that is more than a guess, such as
forces at its end, is forgotten in between (`Stepper.remembers`).

Exact to rounding, and slow: some hundredths of a second per direction, where a step on trees with its own tangent
(`integrators.step_derivatives.tangent_step`) takes microseconds.
Source: Squire and Trapp 1998.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.slopes import contradiction
from integrators.layout import COUNTERS, FIRST_KNOWN, HISTORY
from integrators.method import Method
from integrators.method.step_map import SingleStep, moved
from integrators.problem import Problem
from integrators.problem.ambient import state_sizes
from integrators.problem.jacobian import sizes_of
from integrators.status import OK, Status
from integrators.steppers.own import substeps
from liegroup.compile import COMPLEX_STEP

Array = NDArray[np.float64]
EPSILON = COMPLEX_STEP
_PARTS = 1.0, 0.6180339887498949, 2.4142135623730951e-4
"""Of what moves, over which differences are first taken: after many periods of a drive, or turns of an angle, a round
part of them is whole ones again, over which nothing changes.
"""
_ROUNDED = 4.0
"""Times what neighbours carry differs, by which rounding may make it wrong."""
_SMALL = 1e-3
"""Part of what counts as one below which differences may reach too far for a number."""


def carry_complex(
    problem: Problem, method: Method, y: Array, h: float, u: Array, directions: Array, t: float
) -> tuple[Array, Array]:
    """`integrators.step_derivatives.tangent_step.carry` by complex steps; with the projection that the problem applies
    after a step.

    The forces u act as half kicks at either end of every part, p + (h/2) u.
    """
    ends, carried = np.empty_like(y), np.array(np.broadcast_to(directions, (len(y), *directions.shape)))
    n, parts = problem.dimension // 2, substeps(method)
    check_carried(problem, t, y[0], np.zeros((0, len(np.asarray(problem.parameters)))))
    for k in range(len(y)):
        ends[k] = _end(problem, parts, y[k], h, u[k], t, k)
        inverse = np.linalg.pinv(velocities(problem, ends[k]))
        for j, d in enumerate(directions):
            start = moved(problem, y[k].astype(complex), 1j * EPSILON * d[: 2 * n])
            size, time = np.complex128(h + 1j * EPSILON * d[-2]), np.complex128(t + 1j * EPSILON * d[-1])
            end = _end(problem, parts, start, size, u[k] + 1j * EPSILON * d[2 * n : 3 * n], time, k)
            carried[k, j, : 2 * n] = inverse @ finite(method, end.imag / EPSILON, y[k], h, t)
            carried[k, j, -1] += d[-2]
    return ends, carried


def by_parameters(
    problem: Problem, method: Method, y: Array, h: float, directions: Array, t: float
) -> tuple[Array, Array]:
    """The state after one step of a method, and its derivative by state, along directions (m, k) of the k parameters
    and by the step: (2n, 2n + m + 1).

    Raises
    ------
    ValueError
        A direction changes what the method has computed from the problem beforehand, such as an inertia; a function of
        the user's that loses derivatives (`check_carried`).
    ArithmeticError
        A step fails; the message names the status.
    """
    n, m, parameters = problem.dimension, len(directions), np.array(problem.parameters, dtype=np.float64)
    check_directions(problem, method, directions)
    check_carried(problem, t, y, directions)
    parts = Parts(problem, method)(parameters, y, h, t)
    end = _whole(problem, parts, y, h, t, parameters)
    problem, columns = by_differences(problem), []
    for d in np.eye(n + m + 1):
        u = parameters + 1j * EPSILON * (d[n:-1] @ directions)
        start = moved(problem, y.astype(complex), 1j * EPSILON * d[:n])
        size = np.complex128(h + 1j * EPSILON) if d[-1] else h  # unlike Python's, it is compared by its real part
        columns.append(_whole(problem, parts, start, size, t, u).imag / EPSILON)
    return end, np.linalg.pinv(velocities(problem, end)) @ finite(method, np.transpose(columns), y, h, t)


def finite(method: Method, rates: Array, y: Array, h: float, t: float) -> Array:
    """The rates; ArithmeticError where some are no numbers."""
    if not np.isfinite(rates).all():
        raise ArithmeticError(
            f"{method.name}: the step of {h:.3g} s at t = {t:.9g} from y = {y.tolist()} has derivatives that are not "
            "finite; use a smaller step, or a state where the field has derivatives"
        )
    return rates


def by_differences(problem: Problem) -> Problem:
    """The problem with differences in the place of derivatives of its field that come from complex steps themselves
    (`mechanics.closed_trees.directions`): a complex step through these gives nothing.  Newton's method finds the same
    with them; steps that are made of them (Rosenbrock's) have their derivatives to 1e-9.
    """
    if problem.jacobian is not None or not problem.field.by_complex_steps:
        return problem
    return replace(problem, field=replace(problem.field, differentiates=False))


def undivided(method: Method) -> Method:
    """What is differentiated: of a method with stages in lanes, which divides its steps, the same without either."""
    return method.stepper.one_by_one(method) if method.stepper.one_by_one else method


class Parts:
    """Steps one after another, with their parts of the step size, that make a step of a method: those of a composition;
    of what is `undivided` as many as the shortest part into which a step is divided asks for.
    """

    def __init__(self, problem: Problem, method: Method) -> None:
        self._problem, self._method, self._undivided = problem, method, undivided(method)
        self._single: SingleStep | None = None

    def __call__(self, parameters: Array, y: Array, h: float, t: float) -> list[tuple[Method, float]]:
        stepper = self._method.stepper
        if stepper.own:
            return substeps(self._method)
        count = 1
        if stepper.one_by_one and stepper.report:
            if self._single is None or not np.array_equal(parameters, self._problem.parameters):
                self._problem = replace(self._problem, parameters=np.array(parameters))
                self._single = SingleStep(self._problem, self._method)
            count = 1 << max(len(stepper.report(self._single(y, h, t).work).levels) - 1, 0)
        return [(self._undivided, 1.0 / count)] * count


def _whole(
    problem: Problem, parts: Sequence[tuple[Method, float]], y: Any, h: Any, t: Any, parameters: Any
) -> Any:  # fmt: skip
    """The state after one step in parts, with the projection that the problem applies after it."""
    for single, part in parts:
        y = _single(problem, single, y, part * h, t, 0, parameters)
        t = t + part * h
    return _projected(problem, y, t, parameters)


def _projected(problem: Problem, y: Any, t: Any, parameters: Any) -> Any:
    if problem.projection is None:
        return y
    out, work = y.copy(), np.zeros(problem.work_shape, dtype=y.dtype)
    problem.projection.python(t, y, parameters, problem.structure, work, out)
    return out


def controls_as_directions(problem: Problem, controls: Sequence[int]) -> Array:
    """(m, k): the parameters that are controls, one by one."""
    directions = np.zeros((len(controls), len(np.asarray(problem.parameters))))
    directions[range(len(controls)), list(controls)] = 1.0
    return directions


def check_directions(problem: Problem, method: Method, directions: Array) -> None:
    """ValueError if what the method computes from the problem depends on its parameters along a direction."""
    parameters, method = np.array(problem.parameters, dtype=np.float64), undivided(method)
    for d in directions:
        other = replace(problem, parameters=parameters + (0.5 * parameters + 0.125) * (d != 0.0))
        if not np.array_equal(method.kernel_coefficients(problem), method.kernel_coefficients(other)):
            places = np.flatnonzero(d)
            raise ValueError(
                f"controls: {places[0] if len(places) == 1 else places.tolist()}, a parameter that changes the inertia "
                f"which {method.name} finds once; expected one of forces or of the potential (a method such as "
                "VARIATIONAL_GAUSS1 takes any)"
            )


def check_carried(problem: Problem, t: float, y: Array, directions: Array) -> None:
    """ValueError where a function of the user's, plain Python or jitted, loses what complex numbers carry: `abs`,
    `np.linalg.norm`, `float` and their like give the value and no derivative, or a wrong one, and say nothing.

    What is carried along every increment of the state, every direction of the parameters and the time is compared with
    differences; near a kink, where these contradict each other, anything between them is taken.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        _check_carried(problem, t, y, directions)


def _check_carried(problem: Problem, t: float, y: Array, directions: Array) -> None:
    sizes, ones = state_sizes(problem.table, np.abs(y)), sizes_of(problem, y)
    unit = np.spacing(np.abs(y))
    for name, function, size in (
        ("field", problem.field, problem.dimension),
        ("projection", problem.projection, problem.n),
    ):
        if function is None or function.is_kernel:
            continue
        d, parameters = problem.dimension, np.array(problem.parameters, dtype=np.float64)

        def at(s: Any, e: Array, function: Any = function, size: int = size, off: Any = 0.0) -> Array:
            state, held = moved(problem, y + off + 0 * s, s * e[:d]), parameters + s * (e[d:-1] @ directions)
            out, work = (np.zeros(shape, dtype=state.dtype) for shape in (size, problem.work_shape))
            function.python(t + s * e[-1], state, held, problem.structure, work, out)
            return out

        def rounded(e: Array, at: Any = at) -> Array:
            """What neighbours carry: where terms of a force balance, what is left, and its derivative, is rounding."""
            found = [at(np.complex128(1j * EPSILON), e, off=k * unit).imag / EPSILON for k in range(-2, 3)]
            return np.asarray(_ROUNDED * np.ptp(found, axis=0))

        for k, e in enumerate(np.eye(d + len(directions) + 1)):
            along = np.abs(e[d:-1] @ directions)
            scale, own = (float(ones[k]), float(sizes[k])) if k < d else (max(1.0, abs(t)), abs(t))
            if along.any():
                own = float((np.abs(parameters)[along > 0.0] / along[along > 0.0]).min())
                scale = float(np.abs(parameters).max()) / float(along.max()) or 1.0
            try:
                carried = at(np.complex128(1j * EPSILON), e).imag / EPSILON
            except TypeError as error:  # of what NumPy has for real numbers only
                raise TypeError(
                    f"{name}: cannot be called with complex numbers, which carry its derivatives ({error}); write "
                    "liegroup.compile.scalars.arctan2(y, x) for np.arctan2(y, x), and functions of NumPy that take "
                    "complex numbers for others"
                ) from error
            for part in _PARTS if own >= scale or e[-1] else _PARTS[:1]:
                wrong = contradiction(partial(at, e=e), carried, own, part * scale, partial(rounded, e))
                if wrong is None:
                    break
            if wrong is not None:
                i, near = wrong
                by = f"component {k} of the velocity" if k < d else "the time" if e[-1] else "a parameter"
                raise ValueError(
                    f"{name}: complex numbers carry {carried[i]:.6g} as the derivative of its value {i} by {by} at "
                    f"t = {t:.9g}, y = {y.tolist()}, but differences give {near:.6g}; functions of plain Python must "
                    "carry imaginary parts on: in the place of abs(x), np.linalg.norm(v), np.vdot(u, v), float(x), "
                    "math.sin(x) write np.sqrt(x * x), np.sqrt(v @ v), u @ v, x, np.sin(x)"
                    f"{_of_small(problem, y)}"
                )


def _of_small(problem: Problem, y: Array) -> str:
    """What may be the matter where something is small beside what counts as one."""
    sizes, ones = state_sizes(problem.table, np.abs(y)), sizes_of(problem, y)
    if not ((sizes > 0.0) & (sizes < _SMALL * ones)).any():
        return ""
    return "; or, where numbers far below one are meant, say by `scales` what counts as one: differences reach as far"


def velocities(problem: Problem, y: Array) -> Array:
    """(n, dimension): the rates of the components of a state by its velocity."""
    return np.array(
        [moved(problem, y.astype(complex), 1j * EPSILON * e).imag / EPSILON for e in np.eye(problem.dimension)]
    ).T


def _end(problem: Problem, parts: list[tuple[Method, float]], y: Any, h: Any, u: Any, t: Any, number: int) -> Any:
    """The state after one step with forces u, interpreted: the numbers of the compiled step, to the bit."""
    n, y = problem.dimension // 2, np.array(y)
    for single, part in parts:
        size = part * h
        y[-n:] = y[-n:] + 0.5 * size * u
        y = _single(problem, single, y, size, t, number)
        y[-n:] = y[-n:] + 0.5 * size * u
        t = t + size
    return _projected(problem, y, t, problem.parameters)


def _single(problem: Problem, method: Method, y: Any, h: Any, t: Any, number: int, parameters: Any = None) -> Any:
    """One step that is not composed; on complex numbers a second time, from its own solution as the first guess."""
    work, fields = (np.zeros(shape, dtype=y.dtype) for shape in (method.work_shape(problem), problem.work_shape))
    counters, parameters = np.zeros(COUNTERS, dtype=np.int64), problem.parameters if parameters is None else parameters
    for _ in range(2 if np.iscomplexobj(y) else 1):
        end, low = y.copy(), 0 * y
        counters[FIRST_KNOWN] = 0  # the first of several parts left what belongs to the next
        if method.stepper.remembers:
            counters[HISTORY] = 0
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # as in compiled code
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            try:
                status = method.step(problem).python(
                    method.function(problem).python, t, h, end, low, problem.table, method.kernel_coefficients(problem),
                    method.kernel_options(problem), parameters, problem.structure, fields, work, counters,
                )  # fmt: skip
            except np.exceptions.ComplexWarning:
                raise ValueError(
                    f"method: {method.name}, whose step loses what complex numbers carry on {problem.model!r}; "
                    "expected another one"
                ) from None
        if status != OK:
            raise ArithmeticError(
                f"{method.name}, state {number}: {Status(status).name}; {method.explain(problem, work[0].real)}"
            )
    return end + low
