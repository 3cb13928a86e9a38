"""The arguments of the compiled loops: named records of arrays and functions, for one trajectory and for lanes alike.

A field of a record has the name of the attribute of `Run` that it is filled from.

===========  ===========================================================================================================
`Equations`  what is integrated: the compiled functions of the problem and what they read
`Stepping`   how a step is taken: the stepper, its numbers, its workspace; how often states are projected
`Within`     states within a step: what gives them, its own workspace and counters, room for one
`State`      the state and what belongs to it; `circles` are the components that are wound, `counters` those of
             `integrators.layout`
`Crossings`  event functions, their directions, their values and rates before and after the step
`Saving`     what is kept: every `save_every`-th state and the last, or those at `times`; a row per saved state
`Guarding`   the limits of watched numbers, and by how far and since when they were passed
`Control`    how the next step is chosen: the two functions of the controller (`integrators.controllers`), what they
             read and write, the state's low words before the step
===========  ===========================================================================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.controllers.signatures import JUDGE, PROPOSE
from integrators.signatures import FIELD, FIELD_LANES, STEP, STEP_LANES, STEP_OF_STAGES, STEP_PACED
from liegroup.compile import integer, integer_table, integers, lane_matrix, lane_vector, matrix, record, vector


class Equations(NamedTuple):
    """Functions of the problem and what they read; `step_work` is the workspace of the field within a step."""

    field: Any
    invariants: Any
    projection: Any
    table: Any
    parameters: Any
    structure: Any
    field_work: Any
    step_work: Any


class Stepping(NamedTuple):
    """The stepper, its numbers, its workspace; after how many steps the state is projected."""

    step: Any
    coefficients: Any
    options: Any
    work: Any
    projection_every: Any


class Within(NamedTuple):
    """States within a step: by the interpolant from the state before the step."""

    interpolant: Any
    dense_work: Any
    dense_counters: Any
    between: Any
    between_low: Any


class State(NamedTuple):
    """The state, its low words, the whole turns of its angles; the state before the step; values of the invariants.

    `projected` is room for a projected state and what the projection tells there, empty where nothing is projected.
    """

    y: Any
    low: Any
    turns: Any
    circles: Any
    previous: Any
    values: Any
    projected: Any
    counters: Any


class Crossings(NamedTuple):
    """Event functions; `directions` has one entry per event, +1 upwards, −1 downwards, 0 both; the field, with room for
    its values, a state near and the functions there: for their rates at the ends of the step, not numbers where they
    are not known.
    """

    events: Any
    directions: Any
    before: Any
    after: Any
    own_field: Any
    rate: Any
    near: Any
    values_near: Any
    rates_before: Any
    rates_after: Any


class Saving(NamedTuple):
    """The results, a row per saved state, and the statistics of the invariants between them."""

    save_every: Any
    times: Any
    saved_t: Any
    saved: Any
    saved_values: Any
    statistics: Any
    stretch: Any


class Guarding(NamedTuple):
    """Guards: the place of each among the watched numbers, whether it stops the run, its limits; the time when it was
    passed first, the number where it was furthest beyond, and how far that is (0: never passed).
    """

    guarded: Any
    stopping: Any
    lower: Any
    upper: Any
    first_time: Any
    furthest: Any
    excess: Any


class Control(NamedTuple):
    """The controller: its functions, the user's function it watches with room for the values, the tolerances per
    component of the velocity, its clock and its numbers (`integrators.controllers.clock`); the state after the
    smallest step.
    """

    propose: Any
    judge: Any
    watched: Any
    watched_values: Any
    relative: Any
    absolute: Any
    clock: Any
    numbers: Any
    previous_low: Any
    narrow: Any


def _types(step: Any, field: Any, v: Any, m: Any, evaluated: Any, step_work: Any, kinds: Any) -> tuple[Any, ...]:
    """Types of the records that every loop takes; v, m: those of a state and of a workspace; then those of the field as
    the step evaluates it and of its workspace; the classes of the first three.
    """
    equations, stepping, within = kinds
    return (
        record(equations, evaluated, field, field, integer_table, vector, integers, m, step_work),
        record(stepping, step, vector, integers, m, integer),
        record(within, step, m, integers, v, v),
        record(State, v, v, v, integers, v, v, v, integers),
        record(Crossings, field, integers, v, v, field, v, v, v, v, v),
        record(Saving, integer, vector, vector, m, m, m, integers),
        record(Guarding, integers, integers, v, v, v, v, v),
    )


class EquationsOfStages(Equations):
    """Where the step evaluates the field in lanes, one per stage."""


class SteppingOfStages(Stepping):
    """The same, of such a step."""


class WithinOfStages(Within):
    """The same, of such an interpolant."""


class SteppingPaced(Stepping):
    """Of a step in lanes with times and sizes of their own."""


class Paces(NamedTuple):
    """Lanes of runs of their own: the addresses of the records of every run, a row each; which run is in each lane, and
    how each run fared; rows for times and sizes of steps; the clocks of the runs, and those after a step, were it
    accepted; the low words of the states before the step; and, where angles are wound, the states before that.
    """

    addresses: Any
    places: Any
    verdicts: Any
    rows: Any
    clocks: Any
    ahead: Any
    previous_low: Any
    before: Any
    before_low: Any
    before_turns: Any


ONE = _types(STEP, FIELD, vector, matrix, FIELD, matrix, (Equations, Stepping, Within))
"""Types of the records of one trajectory, in the order of the loops."""
LANES = _types(
    STEP_LANES, FIELD_LANES, lane_vector, lane_matrix, FIELD_LANES, lane_matrix, (Equations, Stepping, Within)
)
"""The same for eight trajectories in lanes."""
BY_STAGES = (EquationsOfStages, SteppingOfStages, WithinOfStages)
STAGES = _types(STEP_OF_STAGES, FIELD, vector, matrix, FIELD_LANES, lane_matrix, BY_STAGES)
"""The same for one trajectory with the stages of its steps in lanes."""
CONTROL = record(Control, PROPOSE, JUDGE, FIELD, *[vector] * 7)
PACED = (
    LANES[0],
    record(SteppingPaced, STEP_PACED, vector, integers, lane_matrix, integer),
    LANES[3],
    record(Paces, integer_table, integers, integers, *[lane_vector] * 7),
)
"""The same for lanes with times and steps of their own: what all of them share, and the records of their runs."""
