"""The loop over fixed steps: any stepper on any field, on one trajectory or on eight in lanes.

The time of step n is t0 + n h from the integer n, that of the last one as it was given: no stage lies beyond it by a
rounding, where tables of forces may end.  The loop allocates nothing and raises nothing; it returns a status
and leaves in the counters how far it came, in `previous` the state before the last step.
"""

from __future__ import annotations

from typing import Any

from integrators.engine.ends import begun, reaches
from integrators.engine.loop import loop
from integrators.engine.observe import call_step, completed, crosses, observe, tells
from integrators.engine.records import LANES, ONE, STAGES
from integrators.engine.winding import wind
from integrators.layout import COMPENSATION, PENDING, PROJECTED, STEPS
from integrators.status import EVENT, OK
from integrators.steppers.common import copy, pass_on_last
from liegroup.compile import integer, real

LOOPS = "short"


@loop(integer(*ONE, real, real, real, integer, integer), integer(*LANES, real, real, real, integer, integer))
def fixed_loop(
    equations: Any, stepping: Any, within: Any, state: Any, crossings: Any, saving: Any, guarding: Any, t0: Any,
    h: Any, end: Any, count: Any, last: Any,
) -> Any:  # fmt: skip
    """Up to `count` steps of size h, ending at the latest with step number `last`, and with the one at `end`; returns a
    status.

    The records are those of `integrators.engine.records`.  If a step fails, y is the state before it.  When an event
    function has crossed zero, the loop returns EVENT before anything of the step is saved; called again, it goes on
    from there.
    """
    counters, y = state.counters, state.y
    for _ in range(count):
        k = counters[STEPS]
        if k >= last:
            break
        t, t_new, told = t0 + k * h, t0 + (k + 1) * h, False
        begin = t
        if reaches(t_new, h, end):
            t_new, begin = end, begun(t, h, end)
        if not counters[PENDING]:
            if state.circles.shape[0]:
                wind(state.circles, y, state.low, state.turns, stepping.options[COMPENSATION])
            copy(y, state.previous)
            status = call_step(
                stepping.step, equations, stepping, begin, h, y, state.low, stepping.work, counters
            )  # fmt: skip
            status = completed(status, equations, stepping, state, t_new, (k + 1) % stepping.projection_every == 0)
            if status != OK:
                copy(state.previous, y)
                return status
            told = counters[PROJECTED] != 0 and tells(state)
            if crossings.directions.shape[0] and crosses(crossings, equations, within, state, t_new, h):
                return EVENT
        status = observe(equations, stepping, within, state, saving, guarding, t, t_new, h, k + 1 == last, told)
        copy(crossings.after, crossings.before)
        copy(crossings.rates_after, crossings.rates_before)
        pass_on_last(stepping.work, counters)
        counters[PENDING] = 0
        counters[STEPS] = k + 1
        if status != OK:
            return status
    return OK


stages_loop = loop(integer(*STAGES, real, real, real, integer, integer))(fixed_loop.python)
"""The same loop on one trajectory with the stages of its steps in lanes."""
