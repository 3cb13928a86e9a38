"""What the loops do before, at and after a step: projection, extremes of invariants, events, saved states.

Extremes and means of the invariants are taken at every step, so that saving few states never hides an energy band.
"""

from __future__ import annotations

from typing import Any

from integrators.engine.winding import unwind, unwound
from integrators.events import dips
from integrators.layout import (
    EVALUATIONS,
    FIRST_KNOWN,
    HISTORY,
    LAST,
    LAST_KNOWN,
    PENDING,
    PROJECTED,
    ROW,
    STEPS,
    STRETCH,
)
from integrators.status import DOUBTFUL, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import clear, copy
from liegroup.compile import absolute, any_, boolean, helper, integer, kernel, ld, ld2, never, rare, select, st, st2
from liegroup.table import EXP, retract

LEAST, GREATEST, SUM, SUM_LOW = 0, 1, 2, 3
"""Blocks of the statistics of the invariants between two saved states; SUM + SUM_LOW is a compensated sum."""
STATISTICS = 4
NEAR = 1e-6
"""Part of a step over which rates of event functions are taken."""
_UNITS, _BESIDE = 2.0**-49, 1e-3
"""Rounding of what a run goes on from, relative; part of what an event function changes in the first step below which
it may be a rounding at the start.
"""
_FARTHEST = 1e308
_SAME_TIME = 1e-9
"""Times closer than this part of a step are the same."""
PIECES = 64
"""In which a step to a state within another is taken, at most, where it fails."""


@helper
def is_finite(y: Any) -> Any:
    """Whether every component (in every lane) is finite: x − x is 0 for numbers and NaN otherwise."""
    s = ld(y, 0) - ld(y, 0)
    for i in range(1, y.shape[0]):
        x = ld(y, i)
        s = s + (x - x)
    return not any_(s != 0.0)


@helper
def call_step(
    step: Any, equations: Any, stepping: Any, t: Any, h: Any, y: Any, low: Any, work: Any, counters: Any
) -> Any:
    """One step of size h from the state y at t by a stepper or an interpolant; returns its status."""
    return step(
        equations.field, t, h, y, low, equations.table, stepping.coefficients, stepping.options, equations.parameters,
        equations.structure, equations.step_work, work, counters,
    )  # fmt: skip


@helper
def project(equations: Any, state: Any, t: Any, y: Any) -> None:
    """y <- its projection, if the problem has one."""
    if state.projected.shape[0]:
        call_projection(equations, state, t, y)


@rare(never)
def call_projection(equations: Any, state: Any, t: Any, y: Any) -> None:
    """y <- its projection."""
    equations.projection(t, y, equations.parameters, equations.structure, equations.field_work, state.projected)
    for i in range(y.shape[0]):
        st(y, i, ld(state.projected, i))


@helper
def tells(state: Any) -> Any:
    """Whether a projection tells more than the state: the invariants there, and then maybe the field."""
    return state.projected.shape[0] > state.y.shape[0]


@helper
def take_told(stepping: Any, state: Any) -> None:
    """What the projection of the state y has told goes where it is looked for: invariants, the field in row `LAST`."""
    projected, values = state.projected, state.values
    n = state.y.shape[0] + values.shape[0]
    for k in range(values.shape[0]):
        st(values, k, ld(projected, state.y.shape[0] + k))
    if projected.shape[0] > n:
        for k in range(projected.shape[0] - n):
            st2(stepping.work, LAST, k, ld(projected, n + k))
        state.counters[LAST_KNOWN] = 1
        state.counters[EVALUATIONS] += 1


@helper
def completed(status: Any, equations: Any, stepping: Any, state: Any, t: Any, due: Any) -> Any:
    """After a step: y <- the projection of y, if the problem has one and it is due; NON_FINITE if y is not finite.

    What was known of the field at y is forgotten with a projection, unless it tells it.
    """
    if status != OK:
        return status
    state.counters[PROJECTED] = 0
    if due and state.projected.shape[0]:
        project(equations, state, t, state.y)
        state.counters[LAST_KNOWN], state.counters[PROJECTED] = 0, 1
        if tells(state):
            take_told(stepping, state)
    return OK if is_finite(state.y) else NON_FINITE


@helper
def shown(equations: Any, within: Any, state: Any, t: Any) -> None:
    """`between` <- y as it is saved: projected, also where the run goes on without."""
    copy(state.y, within.between)
    if not state.counters[PROJECTED]:
        project(equations, state, t, within.between)


@helper
def _values_near(crossings: Any, equations: Any, t: Any) -> None:
    crossings.events(
        t, crossings.near, equations.parameters, equations.structure, equations.field_work, crossings.values_near
    )


@helper
def _rates(crossings: Any, equations: Any, state: Any, t: Any, aside: Any, y: Any, values: Any, rates: Any) -> None:
    """rates <- of event functions with these values at t and y along the motion, towards a time a little aside."""
    crossings.own_field(t, y, equations.parameters, equations.structure, equations.field_work, crossings.rate)
    state.counters[EVALUATIONS] += 1
    for i in range(crossings.rate.shape[0]):
        st(crossings.rate, i, aside * ld(crossings.rate, i))
    retract(equations.table, EXP, y, crossings.rate, crossings.near)
    unwind(crossings.near, state.turns, crossings.near)
    _values_near(crossings, equations, t + aside)
    for k in range(rates.shape[0]):
        st(rates, k, (ld(crossings.values_near, k) - ld(values, k)) / aside)


@helper
def _forget_roundings(crossings: Any, equations: Any, state: Any, t: Any, h: Any) -> None:
    """`before` <- 0 where it is what rounding leaves of a zero at the start of the motion, as where a run goes on from
    an event: no more than the function changes by a few units in the last place of the time, the step and the state.
    """
    before, noise, y = crossings.before, crossings.rates_after, state.previous
    for k in range(before.shape[0]):
        st(noise, k, _UNITS * (absolute(t) + absolute(h)) * absolute(ld(crossings.rates_before, k)))
    for i in range(y.shape[0]):
        copy(y, crossings.near)
        st(crossings.near, i, ld(y, i) + _UNITS * ld(y, i))
        unwind(crossings.near, state.turns, crossings.near)
        _values_near(crossings, equations, t)
        for k in range(before.shape[0]):
            st(noise, k, ld(noise, k) + absolute(ld(crossings.values_near, k) - ld(before, k)))
    for k in range(before.shape[0]):
        x = ld(before, k)
        st(before, k, select(absolute(x) <= ld(noise, k), x - x, x))


@rare(never, lambda *types: boolean)
def crosses(crossings: Any, equations: Any, within: Any, state: Any, t: Any, h: Any) -> bool:
    """Whether an event function has changed its sign, in its direction, in the step of size h that ended at t, may have
    changed it twice, or gives NaN; the step then waits for being looked at.
    """
    directions = crossings.directions
    shown(equations, within, state, t)  # values and rates of one state: the momenta of y may differ from it
    unwind(within.between, state.turns, crossings.near)
    crossings.events(
        t, crossings.near, equations.parameters, equations.structure, equations.field_work, crossings.after
    )
    before, after, rates, rates_after = (
        crossings.before, crossings.after, crossings.rates_before, crossings.rates_after,
    )  # fmt: skip
    found, beside = False, False
    if any_(ld(rates, 0) != ld(rates, 0)):  # of the first step: else those of the end of the one before
        _rates(crossings, equations, state, t - h, NEAR * h, state.previous, before, rates)
        for k in range(directions.shape[0]):
            beside = beside or any_(absolute(ld(before, k)) <= _BESIDE * absolute(ld(after, k) - ld(before, k)))
        if beside:
            _forget_roundings(crossings, equations, state, t - h, h)
    for k in range(directions.shape[0]):
        a, b = ld(before, k), ld(after, k)
        up, down = any_((a < 0.0) & (b >= 0.0)), any_((a > 0.0) & (b <= 0.0))
        found = found or (up and directions[k] >= 0) or (down and directions[k] <= 0) or any_(b != b)
    _rates(crossings, equations, state, t, -NEAR * h, within.between, after, rates_after)  # from within the step
    for k in range(directions.shape[0]):
        found = found or any_(dips(ld(before, k), ld(after, k), h * ld(rates, k), h * ld(rates_after, k)))
    if found:
        state.counters[PENDING] = 1
    return found


@helper
def watch(values: Any, statistics: Any, counters: Any) -> None:
    """Include values of the invariants in the statistics of the stretch since the last saved state."""
    if values.shape[0]:
        include(values, statistics, counters)
    counters[STRETCH] += 1


@rare(never)
def include(values: Any, statistics: Any, counters: Any) -> None:
    """Extremes and sums of the stretch with these values."""
    m, row = values.shape[0], counters[ROW]
    for k in range(m):
        x = ld(values, k)
        if counters[STRETCH] == 0:
            st2(statistics, row, LEAST * m + k, x)
            st2(statistics, row, GREATEST * m + k, x)
            st2(statistics, row, SUM * m + k, x)
            st2(statistics, row, SUM_LOW * m + k, x - x)
        else:
            least, greatest = ld2(statistics, row, LEAST * m + k), ld2(statistics, row, GREATEST * m + k)
            st2(statistics, row, LEAST * m + k, select(x < least, x, least))
            st2(statistics, row, GREATEST * m + k, select(x > greatest, x, greatest))
            old = ld2(statistics, row, SUM * m + k)
            total = old + x
            part = total - old
            st2(statistics, row, SUM * m + k, total)
            st2(
                statistics,
                row,
                SUM_LOW * m + k,
                ld2(statistics, row, SUM_LOW * m + k) + ((old - (total - part)) + (x - part)),
            )


@rare(never)
def beyond(guarding: Any, k: Any, x: Any, t: Any) -> Any:
    """Note that a number is beyond its limits, or not a number."""
    before = ld(guarding.excess, k)
    zero = 0.0 * before
    excess = select(x < ld(guarding.lower, k), ld(guarding.lower, k) - x, x - ld(guarding.upper, k))
    excess = select(excess < _FARTHEST, excess, zero + _FARTHEST)  # also where x is not a number
    st(guarding.first_time, k, select((before == 0.0) & (excess > 0.0), t + zero, ld(guarding.first_time, k)))
    st(guarding.furthest, k, select(excess > before, x, ld(guarding.furthest, k)))
    st(guarding.excess, k, select(excess > before, excess, before))


@rare(never, lambda *types: integer)
def guarded(guarding: Any, values: Any, t: Any) -> Any:
    """Compare the watched numbers with their limits; DOUBTFUL if one stops the run."""
    status = OK
    for k in range(guarding.guarded.shape[0]):
        x = ld(values, guarding.guarded[k])
        if any_((x < ld(guarding.lower, k)) | (x > ld(guarding.upper, k)) | (x != x)):
            beyond(guarding, k, x, t)
            if guarding.stopping[k]:
                status = DOUBTFUL
    return status


@kernel
def write_row(
    t: Any, y: Any, turns: Any, values: Any, saved_t: Any, saved: Any, saved_values: Any, stretch: Any, counters: Any
) -> None:
    """Write the next row of the results; angles with their turns."""
    row = counters[ROW]
    saved_t[row] = t
    for i in range(y.shape[0]):
        st2(saved, row, i, unwound(y, turns, i))
    for k in range(values.shape[0]):
        st2(saved_values, row, k, ld(values, k))
    stretch[row] = counters[STRETCH]
    counters[ROW] = row + 1
    counters[STRETCH] = 0


@helper
def save(t: Any, y: Any, state: Any, saving: Any) -> None:
    """Save the state y at t and the values of the invariants."""
    write_row(
        t, y, state.turns, state.values, saving.saved_t, saving.saved, saving.saved_values, saving.stretch,
        state.counters,
    )  # fmt: skip


@helper
def is_due(saving: Any, counters: Any, t_new: Any, h: Any) -> Any:
    """Whether a state within the step of size h that ended at t_new is still to be saved."""
    times = saving.times
    near, forward = _SAME_TIME * abs(h), 1.0 if h >= 0.0 else -1.0
    return counters[ROW] < times.shape[0] and forward * (times[counters[ROW]] - t_new) < -near


@helper
def begin_within(dense_counters: Any) -> None:
    """Before the states within a step: an interpolant prepares once what it needs of the step; of parts that are steps
    by themselves none is taken yet.
    """
    dense_counters[HISTORY] = dense_counters[FIRST_KNOWN] = 0
    dense_counters[PENDING] = min(dense_counters[PENDING], 1)


@helper
def begin_part(dense_counters: Any) -> None:
    """Before a state within a step: where it is a step by itself, the part before, from the same start, is not its
    past.
    """
    if dense_counters[PENDING]:
        dense_counters[HISTORY] = dense_counters[FIRST_KNOWN] = 0


@helper
def end_part(dense_counters: Any) -> None:
    """After a state within a step: the next part begins where this one began."""
    if dense_counters[PENDING]:
        dense_counters[PENDING] = 2


@rare(never, lambda *types: integer)
def save_within(
    equations: Any, stepping: Any, within: Any, state: Any, saving: Any, t: Any, t_new: Any, h: Any
) -> Any:  # fmt: skip
    """Save the states that are due within a step: `between` <- `previous`, advanced by the interpolant and projected
    like the state at the end of a step; returns a status.  What is itself a step (`PENDING` of its counters) goes there
    in pieces where it fails: the run has passed that place.
    """
    counters, dense_counters, times, between = state.counters, within.dense_counters, saving.times, within.between
    begin_within(dense_counters)
    while is_due(saving, counters, t_new, h):
        wanted, pieces, status = times[counters[ROW]], 1, NOT_CONVERGED
        while status != OK and (pieces == 1 or (dense_counters[PENDING] and pieces <= PIECES)):
            copy(state.previous, between)
            clear(within.between_low)
            begin_part(dense_counters)
            status, part = OK, (wanted - t) / pieces
            for k in range(pieces):
                if status == OK:
                    status = call_step(
                        within.interpolant, equations, stepping, t + k * part, part, between, within.between_low,
                        within.dense_work, dense_counters,
                    )  # fmt: skip
            pieces *= 4
        if status != OK:
            return status
        end_part(dense_counters)
        project(equations, state, wanted, between)
        if state.values.shape[0]:
            equations.invariants(
                wanted, between, equations.parameters, equations.structure, equations.field_work, state.values
            )
        watch(state.values, saving.statistics, counters)
        save(wanted, between, state, saving)
    return OK


@rare(never)
def save_reached(
    equations: Any, within: Any, state: Any, saving: Any, t_new: Any, h: Any, last: Any
) -> None:  # fmt: skip
    """Save the state at the end of a step for the times it has reached."""
    counters, times = state.counters, saving.times
    near, forward = _SAME_TIME * abs(h), 1.0 if h >= 0.0 else -1.0
    while counters[ROW] < times.shape[0] and (last or forward * (times[counters[ROW]] - t_new) <= near):
        if counters[STRETCH] == 0:
            watch(state.values, saving.statistics, counters)
        shown(equations, within, state, t_new)
        save(times[counters[ROW]], within.between, state, saving)


@helper
def observe(
    equations: Any, stepping: Any, within: Any, state: Any, saving: Any, guarding: Any, t: Any, t_new: Any, h: Any,
    last: Any, told: Any,
) -> Any:  # fmt: skip
    """Watch the invariants and guards at the end of an accepted step and save what is due; returns a status.

    Due are every `save_every`-th state and the last one, or, if `times` are given, the states at those.  `told`: the
    projection of this step has told the invariants.
    """
    status = OK
    if saving.times.shape[0] > 0:
        status = save_within(equations, stepping, within, state, saving, t, t_new, h)
    if status != OK:
        return status
    if state.values.shape[0] and not (told and saving.times.shape[0] == 0):
        equations.invariants(
            t_new, state.y, equations.parameters, equations.structure, equations.field_work, state.values
        )
    return note(equations, within, state, saving, guarding, t_new, h, last)


@helper
def note(
    equations: Any, within: Any, state: Any, saving: Any, guarding: Any, t_new: Any, h: Any, last: Any
) -> Any:  # fmt: skip
    """The same from the values of the invariants on, without states within the step."""
    counters = state.counters
    watch(state.values, saving.statistics, counters)
    if saving.times.shape[0] > 0:
        save_reached(equations, within, state, saving, t_new, h, last)
    elif last or (counters[STEPS] + 1) % saving.save_every == 0:
        shown(equations, within, state, t_new)
        save(t_new, within.between, state, saving)
    return guarded(guarding, state.values, t_new) if guarding.guarded.shape[0] else OK
