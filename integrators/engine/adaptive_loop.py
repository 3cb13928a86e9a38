"""The run loop with variable steps: an error estimate and a controller, the reversible integrating controller, or steps
whose size is not their time.

Times are kept in two words, so that they do not lose the small steps of a long run.  The loop allocates nothing and
raises nothing; all it needs to go on is in its arguments.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import two_sum
from integrators.engine.observe import crossed, is_finite, observe, pass_on_last, project
from integrators.engine.winding import unwind, wind
from integrators.layout import COMPENSATION, ERROR, ERROR_LOW, HISTORY, PENDING, REJECTED, ROW, STEPS
from integrators.signatures import FIELD, STEP
from integrators.status import EVENT, FULL, NON_FINITE, OK, STEP_UNDERFLOW, TOO_MANY_STEPS
from integrators.steppers.common import copy
from liegroup.compile import entry, helper, integer, integer_table, integers, kernel, ld, matrix, vector
from liegroup.compile.scalars import absolute, arctan2, maximum, minimum, sqrt
from liegroup.formulas.facts import LENGTH_Q, LENGTH_V, SIZE
from liegroup.table import KIND, N_V, Q_OFFSET, V_OFFSET

T, T_LOW, H, TAKEN, OLD_H, OLDER_H, OLD_ERROR, OLDER_ERROR, RHO, RETRIES, REJECTED_LAST = range(11)
"""The clock: time in two words, next step, the step taken, histories, ρ = 1/Q, attempts in a row, whether the last one
failed.
"""
CLOCK = 11
END, EPSILON, MAX_STEP, RELATIVE, TWO_ESTIMATES, INTEGRATING, FILTER = range(7)
"""The control: end time, ε, largest step, relative tolerance, flags, and the numbers of the controller from FILTER on.
"""
B1, B2, B3, A2, A3, SAFETY, LEAST, GREATEST, SMOOTH, POWER = range(FILTER, FILTER + 10)
CONTROL = FILTER + 10
CONTROLLED, INTEGRATED, FICTITIOUS = 0.0, 1.0, 2.0
"""Values of the flag INTEGRATING; FICTITIOUS: steps of ε in a time of their own, which say how long they took."""
MOST_RETRIES = 20
"""A step that has failed so often in a row is given up."""
_ULP = 2.0**-52
_SMALLEST_ERROR = 1e-10


@helper
def size_of_state(y: Any, z: Any, first: Any, count: Any) -> Any:
    """The larger of the lengths of components first … first + count − 1 of y and z; 1 for an angle, which has none."""
    if count == 0:
        return 1.0
    if count == 1:
        return maximum(absolute(ld(y, first)), absolute(ld(z, first)))
    a, b = 0.0, 0.0
    for k in range(first, first + count):
        a, b = a + ld(y, k) * ld(y, k), b + ld(z, k) * ld(z, k)
    return sqrt(maximum(a, b))


@kernel
def error_norm(table: Any, y: Any, z: Any, e: Any, relative: Any, tolerances: Any) -> Any:
    """Mean square of the error e in the algebra, each component in units of its scale, between the states y and z.

    Scale: tolerance + relative · size, the size by what the group says (`liegroup.formulas.facts`): 1 for a rotation,
    the length of a position, the magnitude of a component of Rⁿ.
    """
    total, n = 0.0, 0
    for row in range(table.shape[0]):
        kind, q, k = table[row, KIND], table[row, Q_OFFSET], table[row, V_OFFSET]
        n += table[row, N_V]
        for _ in range(table[row, N_V] // LENGTH_V[kind]):
            size = 0.0
            for c in range(LENGTH_V[kind]):
                if c == 0 or SIZE[kind, c, 0] != SIZE[kind, c - 1, 0] or SIZE[kind, c, 1] != SIZE[kind, c - 1, 1]:
                    size = size_of_state(y, z, q + SIZE[kind, c, 0], SIZE[kind, c, 1])
                part = ld(e, k) / (tolerances[k] + relative * size)
                total = total + part * part
                k += 1
            q += LENGTH_Q[kind]
    return total / n


@kernel
def scaled_error(table: Any, y: Any, z: Any, work: Any, control: Any, tolerances: Any) -> Any:
    """The error of the step in units of the tolerance, from one estimate or from two."""
    high = error_norm(table, y, z, work[ERROR], control[RELATIVE], tolerances)
    if control[TWO_ESTIMATES] == 0.0:
        return sqrt(high)
    low = error_norm(table, y, z, work[ERROR_LOW], control[RELATIVE], tolerances)
    return 0.0 if high == 0.0 else high / sqrt(high + 0.01 * low)


@helper
def power(x: Any, a: Any) -> Any:
    """xᵃ for x > 0; 1 for a = 0."""
    return 1.0 if a == 0.0 else float(x) ** float(a)


@kernel
def next_step(h: Any, error: Any, clock: Any, control: Any) -> Any:
    """The step after an accepted one of size h with the scaled error, by the controller; keeps the histories."""
    k = control[POWER]
    r = maximum(error, _SMALLEST_ERROR) / power(control[SAFETY], k)
    factor = (
        power(r, -control[B1] / k)
        * power(clock[OLD_ERROR], -control[B2] / k)
        * power(clock[OLDER_ERROR], -control[B3] / k)
    )
    if clock[OLD_H] != 0.0:
        factor = factor * power(h / clock[OLD_H], -control[A2])
        if clock[OLDER_H] != 0.0:
            factor = factor * power(clock[OLD_H] / clock[OLDER_H], -control[A3])
    factor = limited(factor, control)
    if clock[REJECTED_LAST] != 0.0:
        factor = minimum(factor, 1.0)
    clock[OLDER_ERROR], clock[OLD_ERROR] = clock[OLD_ERROR], r
    clock[OLDER_H], clock[OLD_H] = clock[OLD_H], h
    clock[REJECTED_LAST] = 0.0
    return h * factor


@helper
def limited(factor: Any, control: Any) -> Any:
    """The factor between two steps within its bounds."""
    if control[SMOOTH] != 0.0:
        factor = 1.0 + arctan2(factor - 1.0, 1.0)
    return maximum(control[LEAST], minimum(control[GREATEST], factor))


@helper
def forget(clock: Any) -> None:
    """Begin the histories of the controller anew."""
    clock[OLD_H] = clock[OLDER_H] = 0.0
    clock[OLD_ERROR] = clock[OLDER_ERROR] = 1.0


@helper
def bounded(h: Any, remaining: Any, control: Any) -> Any:
    """The step within the largest one and the end; two equal last steps instead of a long and a tiny one."""
    if absolute(h) > control[MAX_STEP]:
        h = h * (control[MAX_STEP] / absolute(h))
    if absolute(h) >= absolute(remaining):
        return remaining
    if control[INTEGRATING] == CONTROLLED and absolute(h) > 0.5 * absolute(remaining):
        return 0.5 * remaining
    return h


@helper
def too_small(h: Any, remaining: Any, t: Any) -> Any:
    """Whether the step is lost in the time, and not the last one."""
    return absolute(h) < 10.0 * _ULP * absolute(t) and h != remaining


@helper
def give_back(y: Any, low: Any, previous: Any, previous_low: Any, clock: Any, counters: Any) -> None:
    """Undo a step that is not accepted."""
    copy(previous, y)
    copy(previous_low, low)
    forget(clock)
    counters[REJECTED] += 1
    counters[HISTORY] = 0
    clock[RETRIES] += 1.0
    clock[REJECTED_LAST] = 1.0


@helper
def pass_time(clock: Any, control: Any, h: Any, last: Any) -> None:
    """Add the step to the time."""
    s, e = two_sum(clock[T], h)
    high, rest = two_sum(s, e + clock[T_LOW])
    clock[T], clock[T_LOW] = (control[END], 0.0) if last else (high, rest)


@entry(
    integer(STEP, STEP, FIELD, FIELD, FIELD, FIELD, FIELD, vector, vector, vector, integer, integer, integer, vector,
            integers, vector, vector, vector, vector, vector, integer_table, vector, integers, vector, integers, matrix,
            matrix, matrix,
            integers, integers,
            vector, vector, vector, vector, integers, vector, vector, vector, vector, matrix, matrix, matrix, integers),
)  # fmt: skip
def advance_adaptive(
    step: Any, interpolant: Any, field: Any, invariants: Any, projection: Any, events: Any, size: Any, clock: Any,
    control: Any,
    tolerances: Any, count: Any, most: Any, save_every: Any, times: Any, circles: Any, y: Any, low: Any, turns: Any,
    previous: Any,
    previous_low: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
    dense_work: Any, counters: Any, dense_counters: Any,
    values: Any, projected: Any, before: Any, after: Any, directions: Any, sizes: Any, between: Any, between_low: Any,
    saved_t: Any,
    saved: Any, saved_values: Any, statistics: Any, stretch: Any,
) -> Any:  # fmt: skip
    """Up to `count` attempted steps until the end time, at most `most` accepted ones; returns a status.

    clock, control
        The state and the settings of the controller, see the constants of this module.
    size, sizes
        The function (Q, G) of the integrating controller and room for its values.
    tolerances
        Absolute tolerance per component of the velocity.

    Everything else as in `integrators.engine.fixed_loop`.  FULL asks for more rows of results.
    """
    for _ in range(count):
        t = clock[T]
        remaining = (control[END] - t) - clock[T_LOW]
        if remaining == 0.0:
            break
        if counters[PENDING]:
            h = clock[TAKEN]
        else:
            if times.shape[0] == 0 and counters[ROW] >= saved.shape[0]:
                return FULL
            if counters[STEPS] >= most:
                return TOO_MANY_STEPS
            fictitious = control[INTEGRATING] == FICTITIOUS
            h = clock[H] if fictitious else bounded(clock[H], remaining, control)
            if not fictitious and too_small(h, remaining, t):
                return STEP_UNDERFLOW
            wind(circles, y, low, turns, options[COMPENSATION])
            copy(y, previous)
            copy(low, previous_low)
            status = step(
                field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
            )
            if fictitious and status == OK:
                h = work[ERROR, 0]
                if absolute(h) >= absolute(remaining):
                    h = remaining
                    copy(previous, y)
                    copy(previous_low, low)
                    status = interpolant(
                        field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
                        counters
                    )  # fmt: skip
                if too_small(h, remaining, t):
                    status = STEP_UNDERFLOW
            if status == OK:
                project(projection, t + h, y, parameters, structure, field_work, projected, counters)
                if not is_finite(y):
                    status = NON_FINITE
            error = 0.0
            if status == OK and control[INTEGRATING] == CONTROLLED:
                error = scaled_error(table, previous, y, work, control, tolerances)
            if status != OK or not error <= 1.0:
                give_back(y, low, previous, previous_low, clock, counters)
                if status != OK and (clock[RETRIES] > MOST_RETRIES or control[INTEGRATING] != CONTROLLED):
                    return status
                if status == OK and error == error:
                    clock[H] = h * maximum(control[LEAST], control[SAFETY] * power(error, -1.0 / control[POWER]))
                else:
                    clock[H] = h * (0.5 if status not in (NON_FINITE, OK) else 0.2)
                continue
            clock[RETRIES] = 0.0
            clock[TAKEN] = h
            if control[INTEGRATING] == CONTROLLED:
                clock[H] = next_step(h, error, clock, control)
            if directions.shape[0]:
                unwind(y, turns, between)
                events(t + h, between, parameters, structure, field_work, after)
                if crossed(before, after, directions):
                    counters[PENDING] = 1
                    return EVENT
        counters[PENDING] = 0
        last = h == remaining
        pass_time(clock, control, h, last)
        if control[INTEGRATING] == INTEGRATED:
            size(clock[T], y, parameters, structure, field_work, sizes)
            forward = 1.0 if h > 0.0 else -1.0
            clock[RHO] += control[EPSILON] * forward * sizes[1]
            clock[H] = control[EPSILON] / clock[RHO] * forward
            if not clock[RHO] > 0.0:
                return STEP_UNDERFLOW
        status = observe(
            interpolant, field, invariants, t, clock[T], h, last, save_every, times, y, turns, previous, table,
            coefficients, options,
            parameters, structure, field_work, dense_work, counters, dense_counters, values, between, between_low,
            saved_t, saved,
            saved_values, statistics, stretch,
        )  # fmt: skip
        copy(after, before)
        pass_on_last(work, counters)
        counters[STEPS] += 1
        if status != OK:
            return status
    return OK
