"""What is asked of a controller of one's own before its first step, by its interpreted source: compiled code reads and
writes behind its arrays without a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.controllers.clock import MEMORY, OWN, PLACES, H
from integrators.controllers.controller import Steered, StepController
from integrators.method import Method
from integrators.problem.fields import NOTHING
from integrators.status import NON_FINITE, OK
from liegroup.arrays import check_function
from liegroup.compile import Entry, is_ours

_VERDICTS = ((OK, 0.5), (OK, 2.0), (NON_FINITE, 0.0))
"""Steps on which `judge` is asked: status and error."""
_ARGUMENTS = {
    "propose": "remaining, clock, numbers",
    "judge": "status, error, t, h, y, watched, parameters, structure, field_work, values, clock, numbers",
}


def check_kind(controller: StepController) -> None:
    """TypeError unless a controller has its name and its two functions.

    Parameters
    ----------
    controller : StepController
        As it was given.

    Raises
    ------
    TypeError
        What it lacks.
    """
    kind = type(controller).__name__
    if not isinstance(getattr(controller, "name", None), str):
        raise TypeError(f"controller: {kind} has no name; expected a text in `name`")
    for name, arguments in _ARGUMENTS.items():
        function = getattr(controller, name, None)
        if not isinstance(function, Entry):
            signature = f"{name.upper()}_SIGNATURE"
            raise TypeError(f"controller: {kind} has no compiled `{name}`; decorate it with @entry({signature})")
        check_function(function.python, f"{kind}.{name}", f"one of ({arguments})", len(arguments.split(", ")))


def check_estimates(controller: StepController, method: Method) -> None:
    """ValueError where a controller goes by error estimates that the method does not give.

    Parameters
    ----------
    controller : StepController
        Of the run.
    method : Method
        As it is run under this controller.

    Raises
    ------
    ValueError
        How many it wants, and how many there are.
    """
    wanted, given = controller.estimates(method), 0
    if method.is_adaptive:
        given = 1 if method.embedded_order_low is None else 2
    if wanted not in range(given + 1):
        raise ValueError(
            f"controller: the {controller.name} goes by {wanted} error estimates (`estimates`), {method.name} gives "
            f"{given}; take a method that estimates its error, or return a number from 0 to {given}"
        )


def check_controller(controller: StepController, run: Steered, remaining: float, work_shape: tuple[int, int]) -> None:
    """ValueError where the functions of a controller that is not ours read or write behind their arrays, change what
    belongs to the loop, or have no first step.

    Parameters
    ----------
    controller : StepController
        Of the run.
    run : Steered
        The run, after `start`.
    remaining : float
        Time to the end, s.
    work_shape : (rows, columns)
        Of the workspace of fields.

    Raises
    ------
    ValueError
        Which array, and what is in it.
    """
    if is_ours(type(controller).__module__):
        return
    problem, own = run.problem, run.numbers.size - OWN
    watched = (controller.watched or NOTHING).python
    free = [H, *range(MEMORY, MEMORY + PLACES)]
    for status, error in _VERDICTS:
        clock, numbers, y = run.clock.copy(), run.numbers.copy(), run.y.copy()
        arrays: tuple[Any, ...] = problem.own_parameters(), problem.structure, np.zeros(work_shape), np.zeros(2)
        try:
            with np.errstate(all="ignore"):
                h = controller.propose.python(remaining, clock, numbers)
                controller.judge.python(status, error, run.t0 + h, h, y, watched, *arrays, clock, numbers)
        except IndexError as wrong:
            raise ValueError(
                f"controller: the {controller.name}: {wrong}; its compiled form would use what is behind the array. "
                f"The memory has {PLACES} places, clock[MEMORY] to clock[MEMORY + {PLACES - 1}], and `data` gives "
                f"{own} numbers, from numbers[OWN] on"
            ) from wrong
        except Exception:  # what has no interpreted form is not looked at
            return
        if h == 0.0:
            raise ValueError(
                f"controller: the {controller.name} proposes a first step of 0 s; `start` sets it: "
                "run.clock[H] = run.forward * run.first_step()"
            )
        changed = [k for k in np.flatnonzero(clock != run.clock).tolist() if k not in free]
        if changed or not np.array_equal(numbers, run.numbers, equal_nan=True) or not np.array_equal(y, run.y):
            what = f"clock[{changed[0]}]" if changed else "y or numbers"
            raise ValueError(
                f"controller: the {controller.name} writes into {what}, which is the loop's; its own are clock[H] and "
                f"the {PLACES} places from clock[MEMORY] on"
            )
