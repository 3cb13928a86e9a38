"""Signatures of the two compiled functions of a controller, which the adaptive loop calls through pointers.

=============  ======================================================================================================
propose        ``propose(remaining, clock, numbers) -> h``: the size of the next step, with the sign of the direction of
               time, of which `remaining` is left
judge          ``judge(status, error, t, h, y, watched, parameters, structure, field_work, values, clock, numbers) ->
               verdict``: after a step of size h that ended at t in the state y with that status and that error in
               units of the tolerance (0 where the controller goes by none).  OK accepts it, with the next step in
               ``clock[H]``; REPEAT takes it back and proposes anew; any other status ends the run before the step.
               `watched` is the user's function of the controller, `values` room for what it gives
=============  ======================================================================================================
"""

from __future__ import annotations

from integrators.signatures import FIELD
from liegroup.compile import function, integer, integers, matrix, real, vector

_PROPOSE = (real, vector, vector)
_JUDGE = (integer, real, real, real, vector, FIELD, vector, integers, matrix, vector, vector, vector)

PROPOSE_SIGNATURE = real(*_PROPOSE)
"""For `entry`."""
JUDGE_SIGNATURE = integer(*_JUDGE)
"""For `entry`."""
PROPOSE = function(real, *_PROPOSE)
"""The type of `propose` passed as an argument."""
JUDGE = function(integer, *_JUDGE)
"""The type of `judge` passed as an argument."""
