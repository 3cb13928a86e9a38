"""What steppers and run loops share: options, counters and the first rows of a stepper's workspace.

counters
    int64 vector of length `COUNTERS`, the last argument of every stepper.
work
    Workspace of `OWN_ROWS` common rows and then the stepper's own; as wide as the longer of state and velocity.
options
    int64 vector of the method: `OWN_OPTIONS` common ones, then the stepper's own.
"""

from liegroup.modules import listing

__all__ = [
    "CANONICAL",
    "COMPENSATION",
    "COUNTERS",
    "DIVIDED",
    "ERROR",
    "ERROR_LOW",
    "EVALUATIONS",
    "FIRST",
    "FIRST_KNOWN",
    "HISTORY",
    "ITERATIONS",
    "LAST",
    "LAST_KNOWN",
    "OWN_OPTIONS",
    "OWN_ROWS",
    "PENDING",
    "POSITIONS",
    "PROJECTED",
    "REJECTED",
    "ROW",
    "SPARED",
    "STAGE",
    "STEPS",
    "STRETCH",
    "SUBSTEPS",
    "TAU",
    "TENTATIVE",
]
__dir__ = listing(__all__)

STEPS = 0
"""Counter: accepted steps."""
EVALUATIONS = 1
"""Counter: evaluations of the field."""
ITERATIONS = 2
"""Counter: iterations of implicit solvers."""
REJECTED = 3
"""Counter: rejected steps."""
STAGE = 4
"""Counter: the stage at which a stepper failed."""
ROW = 5
"""Counter: saved states."""
FIRST_KNOWN = 6
"""Flag: row `FIRST` holds the field at the start of the step."""
LAST_KNOWN = 7
"""Flag: the stepper left the field at the end of the step in row `LAST`."""
HISTORY = 8
"""Counter: steps that a stepper with memory can look back on; the run loop sets it to 0 where the past ends."""
STRETCH = 9
"""Counter: values watched since the last saved state."""
PENDING = 10
"""Flag: a step is done but not yet saved, because an event has to be looked at first.  Of the counters of states within
steps: 1 where such a state is a step by itself, 2 where one was taken before from the same start."""
DIVIDED = 11
"""Counter: steps that a stepper divided into substeps because its equations demanded it."""
SUBSTEPS = 12
"""Counter: substeps of the divided steps."""
PROJECTED = 13
"""Flag: the state has been projected since the last step."""
SPARED = 14
"""Of lanes with steps of their own: the bits of those whose quaternions this step does not bring back to unit norm."""
TENTATIVE = 15
"""Flag: a step that cannot be solved is taken once more with a smaller size, so that help that costs much can wait."""
COUNTERS = 16

ERROR = 0
"""Row: error estimate in the algebra (embedded methods); the residual of an iteration that failed, in its first entry.
"""
ERROR_LOW = 1
"""Row: second error estimate, for methods that combine two."""
FIRST = 2
"""Row: the field at the start of the step."""
LAST = 3
"""Row: the field at the end of the step."""
OWN_ROWS = 4
"""Here the stepper's own rows begin."""

TAU = 0
"""Option: code of the coordinate map."""
COMPENSATION = 1
"""Option: 1 to carry the low words of the state, 0 for plain additions."""
CANONICAL = 2
"""Option, set from the problem: the last factor of the group holds the momenta of the others."""
POSITIONS = 3
"""Option, set from the problem: how many components of the velocity, the first, are rates of positions that count as
one (`Problem.positions`).
"""
OWN_OPTIONS = 4
"""Here the stepper's own options begin."""
