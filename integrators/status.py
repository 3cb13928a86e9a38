"""How a run went: codes that kernels return and drivers explain."""

from __future__ import annotations

from enum import IntEnum

from liegroup.modules import listing

__all__ = [
    "ANOTHER_WAY",
    "CHART_LEFT",
    "CONTROLLER_FAILED",
    "DOUBTFUL",
    "EVENT",
    "EXPLANATIONS",
    "FULL",
    "NON_FINITE",
    "NOT_CONVERGED",
    "OK",
    "REACHED",
    "STEP_UNDERFLOW",
    "TOO_MANY_STEPS",
    "Status",
]
__dir__ = listing(__all__)


class Status(IntEnum):
    """Codes returned by steppers and run loops; everything computed before is kept.

    Attributes
    ----------
    OK, EVENT
        The end, or a terminal event, was reached.
    STOPPED, INTERRUPTED
        Ended by the callback, or by Ctrl-C.
    NON_FINITE, NOT_CONVERGED, CHART_LEFT, STEP_UNDERFLOW, TOO_MANY_STEPS
        Failures: the state or the field is not finite; an implicit step was not solved; a stage turned by π or more;
        the variable step became too small; `max_steps` was reached.
    DOUBTFUL
        A guard of the problem stopped the run.
    ACCUMULATED
        Transitions of a system in modes come faster than the run resolves.
    FULL
        Of the loops only: no room for results.
    CONTROLLER_FAILED
        A controller repeats a step without end, proposes one that does not lead on, or gives no verdict.
    ANOTHER_WAY
        Of straight-line steps only: this one is the stepper's own.

    Examples
    --------
    >>> from integrators import Status
    >>> from integrators.status import EXPLANATIONS
    >>> Status.CHART_LEFT.is_failure, EXPLANATIONS[Status.OK]
    (True, 'reached the end')
    """

    OK = 0
    NON_FINITE = 1
    NOT_CONVERGED = 2
    CHART_LEFT = 3
    STEP_UNDERFLOW = 4
    TOO_MANY_STEPS = 5
    EVENT = 6
    STOPPED = 7
    INTERRUPTED = 8
    FULL = 9
    DOUBTFUL = 10
    ACCUMULATED = 11
    ANOTHER_WAY = 12
    CONTROLLER_FAILED = 13

    @property
    def is_failure(self) -> bool:
        """Whether a run with this status ended before it should have."""
        return self in _FAILURES


_FAILURES = {Status.NON_FINITE, Status.NOT_CONVERGED, Status.CHART_LEFT, Status.STEP_UNDERFLOW, Status.TOO_MANY_STEPS,
    Status.DOUBTFUL, Status.ACCUMULATED, Status.CONTROLLER_FAILED,
}  # fmt: skip

REACHED = (Status.OK, Status.EVENT)
"""How a run ends that has come as far as it was to."""

# plain integers for the kernels
OK = int(Status.OK)
"""`Status.OK` as kernels return it: all went well."""
NON_FINITE = int(Status.NON_FINITE)
"""`Status.NON_FINITE` as kernels return it: the state or the field is not finite."""
NOT_CONVERGED = int(Status.NOT_CONVERGED)
"""`Status.NOT_CONVERGED` as kernels return it: an implicit step was not solved."""
CHART_LEFT = int(Status.CHART_LEFT)
"""`Status.CHART_LEFT` as kernels return it: a stage turned by π or more."""
STEP_UNDERFLOW = int(Status.STEP_UNDERFLOW)
"""`Status.STEP_UNDERFLOW` as kernels return it: the step became too small for the time."""
TOO_MANY_STEPS = int(Status.TOO_MANY_STEPS)
"""`Status.TOO_MANY_STEPS` as kernels return it."""
EVENT = int(Status.EVENT)
"""`Status.EVENT` as kernels return it: a terminal event."""
FULL = int(Status.FULL)
"""`Status.FULL` as kernels return it: no room for results; the driver makes some."""
DOUBTFUL = int(Status.DOUBTFUL)
"""`Status.DOUBTFUL` as kernels return it: a guard stops the run."""
ANOTHER_WAY = int(Status.ANOTHER_WAY)
"""`Status.ANOTHER_WAY` as straight-line steps return it: take this step by the stepper itself."""
CONTROLLER_FAILED = int(Status.CONTROLLER_FAILED)
"""`Status.CONTROLLER_FAILED` as kernels return it: a controller without a step that leads on, or without a verdict."""

EXPLANATIONS = {
    Status.OK: "reached the end",
    Status.NON_FINITE: "the state or the field is not finite; a smaller step or another start may help",
    Status.NOT_CONVERGED: "the equations of an implicit step were not solved",
    Status.CHART_LEFT: "a stage turned by π or more within one step; use a smaller step",
    Status.STEP_UNDERFLOW: (
        "the step size fell below ten units in the last place of the time; the problem may be singular there, or the "
        "field jump (an input, a contact) while the time is counted from far away"
    ),
    Status.TOO_MANY_STEPS: "max_steps reached",
    Status.EVENT: "a terminal event",
    Status.STOPPED: "stopped by the callback",
    Status.INTERRUPTED: "interrupted",
    Status.FULL: "the table of results is full",
    Status.DOUBTFUL: "a guard of the problem stopped the run",
    Status.ACCUMULATED: "transitions come faster than the run resolves",
    Status.CONTROLLER_FAILED: "the controller has no step that leads on",
    Status.ANOTHER_WAY: "the step goes another way than its straight-line code",
}
"""What messages say of a status."""
