"""The loop over variable steps in lanes: eight runs at a time, each at its own time, with its own step and verdict.

What costs is done for all lanes at once: the step, the estimate of its error, the next step, the invariants.  What
decides is done for each run in its own records, by what the loop over one trajectory does: verdicts, counters, saved
states, guards.  A run that has ended, or waits for something, leaves its lane to the next one; what is in a lane that
nobody wants stands still, by steps of size zero.  Whether a run is taken alone or in a lane changes no bit.
"""

from __future__ import annotations

from typing import Any

from integrators.controllers.clock import (
    ATTEMPTS,
    CLOCK,
    END,
    MEMORY,
    NARROWEST,
    NARROWEST_AT,
    NEXT,
    NEXT_LOW,
    REPEAT,
    T_LOW,
    TAKEN,
    H,
    T,
)
from integrators.controllers.digital_filter import chosen, next_step
from integrators.engine.adaptive_loop import scaled_error, settled, time_after, to_the_end, too_small
from integrators.engine.loop import loop
from integrators.engine.observe import call_step, is_due, note, project, save_within, take_told, tells
from integrators.engine.records import CONTROL, ONE, PACED
from integrators.engine.winding import wind
from integrators.layout import (
    COMPENSATION,
    EVALUATIONS,
    FIRST,
    FIRST_KNOWN,
    HISTORY,
    LAST,
    LAST_KNOWN,
    PENDING,
    PROJECTED,
    REJECTED,
    ROW,
    SPARED,
    STEPS,
)
from integrators.layout import ERROR as ERROR_ROW
from integrators.status import ANOTHER_WAY, FULL, NON_FINITE, OK, STEP_UNDERFLOW, TOO_MANY_STEPS
from integrators.steppers.common import RENORMALISE_EVERY, copy, dimension, evaluate
from liegroup.compile import WIDTH, helper, integer, kernel, ld, ld2, record_at, select, st, st2
from liegroup.compile.scalars import absolute

NOBODY = -1
"""In a lane."""
SAME = 0
"""A verdict: the run goes on, or has reached its end."""
EQUATIONS, STEPPING, WITHIN, STATE, CROSSINGS, SAVING, GUARDING, OF_CONTROL = range(8)
"""Columns of addresses: the records of a run."""
START, SIZE, REMAINING, TOO_SMALL, UNKNOWN, UNDEFINED, ERROR, ACCEPTED, NARROW = range(9)
"""Rows: the time before the step, the step, what is left to the end, whether it is lost in the time, whether the field
at its start is not yet known; 0 where the state after it is finite, its error in units of the tolerance, whether it is
accepted, whether it is the smallest so far.
"""
ROWS = 9

_equations, _stepping, _within, _state = (record_at(ONE[k]) for k in range(4))
_saving, _guarding, _control = record_at(ONE[5]), record_at(ONE[6]), record_at(CONTROL)


@helper
def put(source: Any, target: Any, lane: Any) -> None:
    """A lane of target <- source."""
    for i in range(source.shape[0]):
        target[i, lane] = source[i]


@helper
def take(source: Any, lane: Any, target: Any) -> None:
    """target <- a lane of source."""
    for i in range(target.shape[0]):
        target[i] = source[i, lane]


@kernel
def enter(
    own: Any, control: Any, own_work: Any, state: Any, work: Any, previous_low: Any, clocks: Any, lane: Any
) -> None:  # fmt: skip
    """A run comes into a lane."""
    put(control.clock, clocks, lane)
    put(own.y, state.y, lane)
    put(own.low, state.low, lane)
    put(own.turns, state.turns, lane)
    put(own.previous, state.previous, lane)
    put(control.previous_low, previous_low, lane)
    for i in range(own_work.shape[0]):
        for k in range(own_work.shape[1]):
            work[i, k, lane] = own_work[i, k]


@kernel
def leave(own: Any, control: Any, own_work: Any, state: Any, work: Any, previous_low: Any, lane: Any) -> None:
    """The run in a lane takes with it what belongs to it."""
    take(state.y, lane, own.y)
    take(state.low, lane, own.low)
    take(state.turns, lane, own.turns)
    take(state.previous, lane, own.previous)
    take(previous_low, lane, control.previous_low)
    for i in range(own_work.shape[0]):
        for k in range(own_work.shape[1]):
            own_work[i, k] = work[i, k, lane]


@helper
def vacate(stepping: Any, state: Any, paces: Any, lane: Any, verdict: Any) -> None:
    """The run in a lane leaves it with a verdict."""
    address = paces.addresses[paces.places[lane]]
    take(paces.clocks, lane, _control(address[OF_CONTROL]).clock)
    leave(
        _state(address[STATE]), _control(address[OF_CONTROL]), _stepping(address[STEPPING]).work, state, stepping.work,
        paces.previous_low, lane,
    )  # fmt: skip
    paces.verdicts[paces.places[lane]] = verdict
    paces.places[lane] = NOBODY


@helper
def proposed(paces: Any, numbers: Any) -> None:
    """The next steps, into the rows."""
    rows, clocks = paces.rows, paces.clocks
    t = ld(clocks, T)
    remaining = to_the_end(t, ld(clocks, T_LOW), numbers[END])
    h = chosen(ld(clocks, H), remaining, numbers)
    st(rows, START, t)
    st(rows, SIZE, h)
    st(rows, REMAINING, remaining)
    st(rows, TOO_SMALL, select(too_small(h, remaining, t), 1.0, 0.0))


@helper
def hindered(paces: Any, lane: Any, most: Any) -> Any:
    """Whether the run in a lane takes no step, and its verdict then."""
    address, rows = paces.addresses[paces.places[lane]], paces.rows
    counters, saving = _state(address[STATE]).counters, _saving(address[SAVING])
    if rows[REMAINING, lane] == 0.0:
        return True, SAME
    if saving.times.shape[0] == 0 and counters[ROW] >= saving.saved.shape[0]:
        return True, FULL
    if counters[STEPS] >= most:
        return True, TOO_MANY_STEPS
    return rows[TOO_SMALL, lane] != 0.0, STEP_UNDERFLOW


@helper
def filled(stepping: Any, state: Any, paces: Any, numbers: Any, waiting: Any, most: Any) -> Any:
    """Every lane with a run that takes a step, as far as there are any; (how many there are, the first run that still
    waits), none if one of them needs room first.
    """
    alive, full, changed = 0, False, True
    while changed:
        alive, changed = 0, False
        for lane in range(WIDTH):
            if paces.places[lane] == NOBODY and waiting < paces.addresses.shape[0]:
                address = paces.addresses[waiting]
                enter(
                    _state(address[STATE]), _control(address[OF_CONTROL]), _stepping(address[STEPPING]).work, state,
                    stepping.work, paces.previous_low, paces.clocks, lane,
                )  # fmt: skip
                paces.places[lane] = waiting
                waiting += 1
        proposed(paces, numbers)
        for lane in range(WIDTH):
            if paces.places[lane] == NOBODY:
                paces.rows[SIZE, lane] = 0.0
                continue
            stands, verdict = hindered(paces, lane, most)
            if stands:
                full = full or verdict == FULL
                vacate(stepping, state, paces, lane, verdict)
                paces.rows[SIZE, lane] = 0.0
                changed = waiting < paces.addresses.shape[0]
            else:
                alive += 1
    return (0 if full else alive), waiting


@helper
def look_at_starts(equations: Any, stepping: Any, state: Any, paces: Any) -> None:
    """FIRST <- the field at the start of the step, in the lanes where it is not known; in the common counters: that it
    is known, and whose quaternions are spared.
    """
    counters, rows, unknown, lanes = state.counters, paces.rows, False, 0
    for lane in range(WIDTH):
        k = paces.places[lane]
        rows[UNKNOWN, lane] = 0.0
        if k != NOBODY:
            own = _state(paces.addresses[k, STATE]).counters
            if not own[FIRST_KNOWN]:
                rows[UNKNOWN, lane], unknown = 1.0, True
                own[EVALUATIONS] += 1
                own[FIRST_KNOWN] = 1
        if k == NOBODY or own[STEPS] % RENORMALISE_EVERY != 0:
            lanes |= 1 << lane
    counters[FIRST_KNOWN], counters[LAST_KNOWN], counters[SPARED] = 1, 0, lanes
    counters[STEPS] = 1 if lanes == (1 << WIDTH) - 1 else 0
    counters[EVALUATIONS] = 0
    if unknown:
        values = stepping.work[ERROR_ROW][: dimension(equations.table)]
        evaluate(
            equations.field, ld(rows, START), state.y, equations.parameters, equations.structure, equations.step_work,
            values,
        )  # fmt: skip
        here = ld(rows, UNKNOWN) > 0.5
        for k in range(values.shape[0]):
            st2(stepping.work, FIRST, k, select(here, ld(values, k), ld2(stepping.work, FIRST, k)))


@helper
def tick(rows: Any, clocks: Any, ahead: Any) -> None:
    """The clocks after the step, where it is accepted."""
    accepted = (ld(rows, UNDEFINED) == 0.0) & (ld(rows, ERROR) <= 1.0)
    h, narrowest = ld(rows, SIZE), ld(clocks, NARROWEST)
    narrow = accepted & (absolute(h) < narrowest) & (h != ld(rows, REMAINING))
    st(rows, ACCEPTED, select(accepted, 1.0, 0.0))
    st(rows, NARROW, select(narrow, 1.0, 0.0))
    st(clocks, NARROWEST, select(narrow, absolute(h), narrowest))
    st(clocks, NARROWEST_AT, select(narrow, ld(clocks, NEXT), ld(clocks, NARROWEST_AT)))
    st(clocks, ATTEMPTS, select(accepted, 0.0, ld(clocks, ATTEMPTS) + 1.0))
    st(clocks, TAKEN, select(accepted, h, ld(clocks, TAKEN)))
    st(clocks, T, select(accepted, ld(clocks, NEXT), ld(clocks, T)))
    st(clocks, T_LOW, select(accepted, ld(clocks, NEXT_LOW), ld(clocks, T_LOW)))
    st(clocks, H, select(accepted, ld(ahead, H), ld(clocks, H)))
    for c in range(MEMORY, CLOCK):
        st(clocks, c, select(accepted, ld(ahead, c), ld(clocks, c)))


@helper
def stepped(equations: Any, stepping: Any, state: Any, paces: Any) -> Any:
    """One step in all lanes, as far as it is the same for all: the state after it, its error, the invariants; returns a
    status.
    """
    rows, counters, y, low = paces.rows, state.counters, state.y, state.low
    if state.circles.shape[0]:
        copy(y, paces.before)
        copy(low, paces.before_low)
        copy(state.turns, paces.before_turns)
        wind(state.circles, y, low, state.turns, stepping.options[COMPENSATION])
    copy(y, state.previous)
    copy(low, paces.previous_low)
    look_at_starts(equations, stepping, state, paces)
    t, h = ld(rows, START), ld(rows, SIZE)
    status = call_step(stepping.step, equations, stepping, t, h, y, low, stepping.work, counters)
    if status != OK:
        if state.circles.shape[0]:  # who takes the step winds them
            copy(paces.before, y)
            copy(paces.before_low, low)
            copy(paces.before_turns, state.turns)
        else:
            copy(state.previous, y)
            copy(paces.previous_low, low)
        return status
    times = equations.field_work.shape[0] - 1
    if state.projected.shape[0]:
        st2(equations.field_work, times, 0, t + h)
        project(equations, state, 0.0, y)
        counters[LAST_KNOWN] = 0
        if tells(state):
            take_told(stepping, state)
    undefined = ld(y, 0) - ld(y, 0)
    for i in range(1, y.shape[0]):
        undefined = undefined + (ld(y, i) - ld(y, i))
    st(rows, UNDEFINED, undefined)
    control, clocks, ahead = _control(paces.addresses[0, OF_CONTROL]), paces.clocks, paces.ahead
    error = scaled_error(equations, stepping, state, control)
    st(rows, ERROR, error)
    t_new, t_low = time_after(t, ld(clocks, T_LOW), control.numbers[END], h, h == ld(rows, REMAINING))
    st(clocks, NEXT, t_new)
    st(clocks, NEXT_LOW, t_low)
    for c in range(MEMORY, CLOCK):
        st(ahead, c, ld(clocks, c))
    st(ahead, H, next_step(h, error, ahead, control.numbers))
    tick(rows, clocks, ahead)
    within = _saving(paces.addresses[0, SAVING]).times.shape[0] > 0
    if state.values.shape[0] and (within or not tells(state)):
        st2(equations.field_work, times, 0, ld(clocks, NEXT))
        equations.invariants(
            0.0, y, equations.parameters, equations.structure, equations.field_work, state.values
        )  # fmt: skip
    return OK


@helper
def observed(stepping: Any, state: Any, paces: Any, lane: Any, h: Any, last: Any) -> Any:
    """An accepted step of the run in a lane is watched and saved; returns a status."""
    address = paces.addresses[paces.places[lane]]
    equations, within, own = _equations(address[EQUATIONS]), _within(address[WITHIN]), _state(address[STATE])
    saving, guarding, own_stepping = (
        _saving(address[SAVING]),
        _guarding(address[GUARDING]),
        _stepping(address[STEPPING]),
    )
    t, t_new = paces.rows[START, lane], paces.clocks[NEXT, lane]
    take(state.y, lane, own.y)
    take(state.turns, lane, own.turns)
    if is_due(saving, own.counters, t_new, h):
        leave(
            own, _control(address[OF_CONTROL]), own_stepping.work, state, stepping.work, paces.previous_low, lane
        )  # fmt: skip
        status = save_within(equations, own_stepping, within, own, saving, t, t_new, h)
        if status != OK:
            return status
    take(state.values, lane, own.values)
    return note(equations, within, own, saving, guarding, t_new, h, last)


@helper
def judged(stepping: Any, state: Any, paces: Any, lane: Any) -> Any:
    """The verdict about the step of the run in a lane, and what follows from it."""
    address, rows, common = paces.addresses[paces.places[lane]], paces.rows, state.counters
    equations, own, control = _equations(address[EQUATIONS]), _state(address[STATE]), _control(address[OF_CONTROL])
    counters, h = own.counters, rows[SIZE, lane]
    counters[EVALUATIONS] += common[EVALUATIONS]
    counters[LAST_KNOWN] = common[LAST_KNOWN]
    counters[PROJECTED] = 1 if own.projected.shape[0] else 0
    if rows[ACCEPTED, lane] == 0.0:
        status = OK if rows[UNDEFINED, lane] == 0.0 else NON_FINITE
        error = rows[ERROR, lane] if status == OK else 0.0
        take(paces.clocks, lane, control.clock)
        verdict = control.judge(
            status, error, paces.clocks[NEXT, lane], h, own.y, control.watched, equations.parameters,
            equations.structure, equations.field_work, control.watched_values, control.clock, control.numbers,
        )  # fmt: skip
        verdict = settled(verdict, status, h, control.clock)
        put(control.clock, paces.clocks, lane)
        counters[REJECTED] += 1
        counters[HISTORY] = 0
        return verdict
    if rows[NARROW, lane] != 0.0:
        take(state.y, lane, control.narrow)
    verdict = observed(stepping, state, paces, lane, h, h == rows[REMAINING, lane])
    counters[FIRST_KNOWN] = counters[LAST_KNOWN]
    counters[PENDING] = 0
    counters[STEPS] += 1
    return verdict


@helper
def taken_over(stepping: Any, state: Any, paces: Any) -> None:
    """Where a step is accepted its end is the start of the next, elsewhere it begins anew."""
    accepted = ld(paces.rows, ACCEPTED) > 0.5
    for i in range(state.y.shape[0]):
        st(state.y, i, select(accepted, ld(state.y, i), ld(state.previous, i)))
        st(state.low, i, select(accepted, ld(state.low, i), ld(paces.previous_low, i)))
    if state.counters[LAST_KNOWN]:
        for k in range(stepping.work.shape[1]):
            st2(stepping.work, FIRST, k, select(accepted, ld2(stepping.work, LAST, k), ld2(stepping.work, FIRST, k)))


@loop(integer(*PACED, integer, integer))
def paced_loop(equations: Any, stepping: Any, state: Any, paces: Any, count: Any, most: Any) -> Any:
    """Up to `count` attempted steps in every lane; ANOTHER_WAY if a step fails in a lane so that all have to take it
    one by one.

    Beside the records of the lanes (`integrators.engine.records.PACED`), each run has its own, whose addresses are in
    `paces`; what happened to each is in its verdict there.  Runs of one problem, method and controller, with the same
    tolerances; with the error estimates of the method, without events.
    """
    status, waiting, numbers = OK, 0, _control(paces.addresses[0, OF_CONTROL]).numbers
    for lane in range(WIDTH):
        paces.places[lane] = NOBODY
    for _ in range(count):
        alive, waiting = filled(stepping, state, paces, numbers, waiting, most)
        if alive == 0:
            break
        status = stepped(equations, stepping, state, paces)
        if status != OK:
            status = ANOTHER_WAY
            break
        for lane in range(WIDTH):
            k = paces.places[lane]
            if k != NOBODY:
                verdict = judged(stepping, state, paces, lane)
                paces.verdicts[k] = SAME if verdict == REPEAT else verdict
        taken_over(stepping, state, paces)
        for lane in range(WIDTH):
            if paces.places[lane] != NOBODY and paces.verdicts[paces.places[lane]] != SAME:
                vacate(stepping, state, paces, lane, paces.verdicts[paces.places[lane]])
    for lane in range(WIDTH):
        if paces.places[lane] != NOBODY:
            vacate(stepping, state, paces, lane, SAME)
    return status
