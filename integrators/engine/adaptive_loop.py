"""The loop over variable steps, on one trajectory: a controller proposes every step and judges it.

What a controller is, `integrators.controllers` says; the loop knows none of them.  It allocates nothing and raises
nothing; all it needs to go on is in its arguments.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import two_sum
from integrators.arithmetic.error_norm import error_norm
from integrators.controllers.clock import (
    ATTEMPTS,
    END,
    ESTIMATES,
    MEMORY,
    MOST_REPEATED,
    NARROWEST,
    NARROWEST_AT,
    NEXT,
    NEXT_LOW,
    OWN_TIME,
    REPEAT,
    RETRIES,
    T_LOW,
    TAKEN,
    WISHES,
    T,
)
from integrators.engine.loop import loop
from integrators.engine.observe import call_step, completed, crosses, observe, tells
from integrators.engine.records import CONTROL, ONE
from integrators.engine.winding import wind
from integrators.layout import (
    COMPENSATION,
    ERROR,
    ERROR_LOW,
    HISTORY,
    PENDING,
    PROJECTED,
    REJECTED,
    ROW,
    STEPS,
    TENTATIVE,
)
from integrators.status import CONTROLLER_FAILED, EVENT, FULL, NON_FINITE, OK, STEP_UNDERFLOW, TOO_MANY_STEPS
from integrators.steppers.common import copy, pass_on_last
from liegroup.compile import helper, integer, select
from liegroup.compile.scalars import absolute, sqrt

LOOPS = "short"

_ULP = 2.0**-52


@helper
def scaled_error(equations: Any, stepping: Any, state: Any, control: Any) -> Any:
    """The error of the step in units of the tolerance, from one estimate or from two; 0 where the controller goes by
    none.
    """
    table, relative, estimates = equations.table, control.relative, control.numbers[ESTIMATES]
    if estimates == 0.0:
        return 0.0
    high = error_norm(table, state.previous, state.y, stepping.work[ERROR], relative, control.absolute)
    if estimates == 1.0:
        return sqrt(high)
    low = error_norm(table, state.previous, state.y, stepping.work[ERROR_LOW], relative, control.absolute)
    return high / select(high == 0.0, 1.0, sqrt(high + 0.01 * low))


@helper
def too_small(h: Any, remaining: Any, t: Any) -> Any:
    """Whether the step is lost in the time, or of size 0, and not the last one."""
    return ((absolute(h) < 10.0 * _ULP * absolute(t)) | (h == 0.0)) & (h != remaining)


@helper
def to_the_end(t: Any, t_low: Any, end: Any) -> Any:
    """The step from the time t + t_low to the end, so short that no stage of it lies beyond, not even by rounding."""
    h = (end - t) - t_low
    forward = select(h > 0.0, 1.0, -1.0)
    h = select(forward * ((t + h) - end) > 0.0, end - t, h)
    return select(forward * ((t + h) - end) > 0.0, h * (1.0 - _ULP), h)


@helper
def leads_on(h: Any, remaining: Any, own_time: Any) -> Any:
    """Whether a step that is proposed goes towards the end, and not beyond; of a time of its own, whether forwards."""
    forward = 1.0 if remaining > 0.0 else -1.0
    return forward * h > 0.0 and (own_time or absolute(h) <= absolute(remaining))


@helper
def fails(clock: Any, h: Any, verdict: Any) -> Any:
    """The status of a controller with that step and verdict, which the clock keeps for the message."""
    clock[TAKEN], clock[NEXT] = h, verdict
    return CONTROLLER_FAILED


@helper
def settled(verdict: Any, status: Any, h: Any, clock: Any) -> Any:
    """What follows from the verdict on a step that ended with a status: OK, REPEAT or why the run ends.  A step that
    failed is not accepted, and none is repeated without end.
    """
    if verdict == OK:
        return status
    if verdict == REPEAT and clock[ATTEMPTS] < MOST_REPEATED:
        return REPEAT
    if verdict == status or NON_FINITE <= verdict <= TOO_MANY_STEPS:
        return verdict
    return fails(clock, h, verdict)


@helper
def give_back(state: Any, control: Any) -> None:
    """Undo a step that is not accepted."""
    copy(state.previous, state.y)
    copy(control.previous_low, state.low)
    state.counters[REJECTED] += 1
    state.counters[HISTORY] = 0


@helper
def time_after(t: Any, t_low: Any, end: Any, h: Any, last: Any) -> Any:
    """The time after the step, in two words."""
    s, e = two_sum(t, h)
    high, rest = two_sum(s, e + t_low)
    return select(last, end, high), select(last, 0.0, rest)


@helper
def take_own_time(equations: Any, stepping: Any, within: Any, state: Any, control: Any, t: Any, remaining: Any) -> Any:
    """After a step of a time of its own: (status, that time).

    A step that leads beyond the end is replaced by one that takes the time that is left.
    """
    h = stepping.work[ERROR, 0]
    status = OK
    if absolute(h) >= absolute(remaining):
        h = remaining
        copy(state.previous, state.y)
        copy(control.previous_low, state.low)
        status = call_step(
            within.interpolant, equations, stepping, t, h, state.y, state.low, stepping.work, state.counters
        )
    return (STEP_UNDERFLOW if too_small(h, remaining, t) else status), h


@helper
def attempt(equations: Any, stepping: Any, within: Any, state: Any, control: Any, t: Any, remaining: Any) -> Any:
    """One step as the controller proposes it, and its verdict: OK, REPEAT or why the run ends."""
    clock, numbers, own_time = control.clock, control.numbers, control.numbers[OWN_TIME] != 0.0
    h = control.propose(remaining, clock, numbers)
    if not own_time and too_small(h, remaining, t):
        return STEP_UNDERFLOW
    if not leads_on(h, remaining, own_time):
        return fails(clock, h, OK)
    if state.circles.shape[0]:
        wind(state.circles, state.y, state.low, state.turns, stepping.options[COMPENSATION])
    copy(state.y, state.previous)
    copy(state.low, control.previous_low)
    state.counters[TENTATIVE] = 1 if clock[ATTEMPTS] < numbers[RETRIES] else 0
    status = call_step(
        stepping.step, equations, stepping, t, h, state.y, state.low, stepping.work, state.counters
    )  # fmt: skip
    if own_time and status == OK:
        status, h = take_own_time(equations, stepping, within, state, control, t, remaining)
    status = completed(status, equations, stepping, state, t + h, True)
    error = scaled_error(equations, stepping, state, control) if status == OK else 0.0
    if numbers[WISHES] != 0.0:
        clock[MEMORY] = stepping.work[ERROR_LOW, 0]
    clock[ATTEMPTS] += 1.0
    clock[NEXT], clock[NEXT_LOW] = time_after(clock[T], clock[T_LOW], numbers[END], h, h == remaining)
    verdict = control.judge(
        status, error, clock[NEXT], h, state.y, control.watched, equations.parameters, equations.structure,
        equations.field_work, control.watched_values, clock, numbers,
    )  # fmt: skip
    verdict = settled(verdict, status, h, clock)
    if verdict == OK:
        clock[ATTEMPTS], clock[TAKEN] = 0.0, h
    else:
        give_back(state, control)
    return verdict


@loop(integer(*ONE, CONTROL, integer, integer))
def adaptive_loop(
    equations: Any, stepping: Any, within: Any, state: Any, crossings: Any, saving: Any, guarding: Any,
    control: Any, count: Any, most: Any,
) -> Any:  # fmt: skip
    """Up to `count` attempted steps until the end time, at most `most` accepted ones; returns a status.

    As `integrators.engine.fixed_loop`, and FULL asks for more rows of results.
    """
    clock, counters = control.clock, state.counters
    for _ in range(count):
        t, told = clock[T], False
        remaining = to_the_end(t, clock[T_LOW], control.numbers[END])
        if remaining == 0.0:
            break
        if not counters[PENDING]:
            if saving.times.shape[0] == 0 and counters[ROW] >= saving.saved.shape[0]:
                return FULL
            if counters[STEPS] >= most:
                return TOO_MANY_STEPS
            verdict = attempt(equations, stepping, within, state, control, t, remaining)
            if verdict == REPEAT:
                continue
            if verdict != OK:
                return verdict
            told = counters[PROJECTED] != 0 and tells(state)
            if crossings.directions.shape[0] and crosses(
                crossings, equations, within, state, t + clock[TAKEN], clock[TAKEN]
            ):
                return EVENT
        h = clock[TAKEN]
        if absolute(h) < clock[NARROWEST] and h != remaining:
            clock[NARROWEST], clock[NARROWEST_AT] = absolute(h), clock[NEXT]
            copy(state.y, control.narrow)
        clock[T], clock[T_LOW] = clock[NEXT], clock[NEXT_LOW]
        status = observe(equations, stepping, within, state, saving, guarding, t, clock[T], h, h == remaining, told)
        copy(crossings.after, crossings.before)
        copy(crossings.rates_after, crossings.rates_before)
        pass_on_last(stepping.work, counters)
        counters[PENDING] = 0
        counters[STEPS] += 1
        if status != OK:
            return status
    return OK
