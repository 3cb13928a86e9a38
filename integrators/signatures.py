"""Signatures of the compiled functions the engine calls through pointers: fields, invariants, events and steppers.

One signature for all fields and one for all steppers make one compiled run loop serve every method on every problem.
An `entry` declares them for one trajectory and for lanes of eight::

    @entry(*FIELD_SIGNATURES)
    def my_field(t, y, parameters, structure, work, out): ...

=============  ======================================================================================================
field          ``field(t, y, parameters, structure, work, out)``: out = the body velocity of the state y at time t,
               one number per algebra component.  Invariants and events have the same signature, out = their values
step           ``step(field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work,
               counters) -> status``: advances y from t to t + h in place
=============  ======================================================================================================

``low`` holds the low words of y (what compensated addition has not yet absorbed), ``table`` describes the group,
``coefficients`` and ``options`` the method, ``work`` and ``field_work`` are scratch, ``counters`` counts.
"""

from __future__ import annotations

from liegroup.compile import (
    function,
    integer,
    integer_table,
    integers,
    lane_matrix,
    lane_real,
    lane_vector,
    matrix,
    nothing,
    real,
    stepped,
    stepped_matrix,
    stepped_vector,
    vector,
)
from liegroup.modules import listing

__all__ = [
    "FIELD",
    "FIELD_LANES",
    "FIELD_LANES_SIGNATURE",
    "FIELD_SIGNATURE",
    "FIELD_SIGNATURES",
    "FIELD_STEPPED",
    "FIELD_STEPPED_SIGNATURE",
    "FIELD_TIMED_SIGNATURE",
    "FIELD_VARIED_SIGNATURE",
    "STEP",
    "STEP_LANES",
    "STEP_LANES_SIGNATURE",
    "STEP_OF_STAGES",
    "STEP_OF_STAGES_SIGNATURE",
    "STEP_PACED",
    "STEP_PACED_SIGNATURE",
    "STEP_SIGNATURE",
    "STEP_SIGNATURES",
    "STEP_STEPPED",
    "STEP_STEPPED_SIGNATURE",
]
__dir__ = listing(__all__)

_FIELD_ARGUMENTS = (real, vector, vector, integers, matrix, vector)
_FIELD_LANES_ARGUMENTS = (real, lane_vector, vector, integers, lane_matrix, lane_vector)

FIELD_SIGNATURE = nothing(*_FIELD_ARGUMENTS)
"""A field on one trajectory, for `entry`."""
FIELD_LANES_SIGNATURE = nothing(*_FIELD_LANES_ARGUMENTS)
"""A field on eight trajectories, for `entry`."""
FIELD_SIGNATURES = (FIELD_SIGNATURE, FIELD_LANES_SIGNATURE)
FIELD_TIMED_SIGNATURE = nothing(lane_real, *_FIELD_LANES_ARGUMENTS[1:])
"""A field on eight states, each at a time of its own."""

FIELD_VARIED_SIGNATURE = nothing(lane_real, lane_vector, lane_vector, integers, lane_matrix, lane_vector)
"""A field on eight states, each with parameters of its own."""

FIELD = function(nothing, *_FIELD_ARGUMENTS)
"""The type of a field passed as an argument."""
FIELD_LANES = function(nothing, *_FIELD_LANES_ARGUMENTS)

_METHOD = (integer_table, vector, integers)
_STEP_ARGUMENTS = (FIELD, real, real, vector, vector, *_METHOD, vector, integers, matrix, matrix, integers)
_STEP_LANES_ARGUMENTS = (
    FIELD_LANES,
    real,
    real,
    lane_vector,
    lane_vector,
    *_METHOD,
    vector,
    integers,
    lane_matrix,
    lane_matrix,
    integers,
)

STEP_SIGNATURE = integer(*_STEP_ARGUMENTS)
"""A stepper on one trajectory, for `entry`."""
STEP_LANES_SIGNATURE = integer(*_STEP_LANES_ARGUMENTS)
"""A stepper on eight trajectories, for `entry`."""
STEP_SIGNATURES = (STEP_SIGNATURE, STEP_LANES_SIGNATURE)
_STEP_OF_STAGES_ARGUMENTS = (
    FIELD_LANES, real, real, vector, vector, *_METHOD, vector, integers, lane_matrix, matrix, integers
)  # fmt: skip
STEP_OF_STAGES_SIGNATURE = integer(*_STEP_OF_STAGES_ARGUMENTS)
"""A stepper on one trajectory that evaluates the field in lanes, one per stage."""

_STEP_PACED_ARGUMENTS = (FIELD_LANES, lane_real, lane_real, *_STEP_LANES_ARGUMENTS[3:])
STEP_PACED_SIGNATURE = integer(*_STEP_PACED_ARGUMENTS)
"""A stepper on eight trajectories, each at a time and with a step of its own; the field finds the times in the last row
of its workspace.
"""

_FIELD_STEPPED_ARGUMENTS = (stepped, stepped_vector, stepped_vector, integers, stepped_matrix, stepped_vector)
FIELD_STEPPED_SIGNATURE = nothing(*_FIELD_STEPPED_ARGUMENTS)
"""A field on numbers that carry a derivative (`integrators.step_derivatives.compiled`)."""
FIELD_STEPPED = function(nothing, *_FIELD_STEPPED_ARGUMENTS)
_STEP_STEPPED_ARGUMENTS = (
    FIELD_STEPPED, stepped, stepped, stepped_vector, stepped_vector, *_METHOD, stepped_vector, integers, stepped_matrix,
    stepped_matrix, integers,
)  # fmt: skip
STEP_STEPPED_SIGNATURE = integer(*_STEP_STEPPED_ARGUMENTS)
"""A stepper on numbers that carry a derivative."""
STEP_STEPPED = function(integer, *_STEP_STEPPED_ARGUMENTS)

STEP = function(integer, *_STEP_ARGUMENTS)
"""The type of a stepper passed as an argument."""
STEP_LANES = function(integer, *_STEP_LANES_ARGUMENTS)
STEP_PACED = function(integer, *_STEP_PACED_ARGUMENTS)
STEP_OF_STAGES = function(integer, *_STEP_OF_STAGES_ARGUMENTS)
