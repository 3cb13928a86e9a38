"""Steps that the method chooses together with its order: the controller follows what the stepper asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from integrators.controllers.clock import ATTEMPTS, MEMORY, REPEAT, RETRIES, H
from integrators.controllers.controller import Steered, StepController
from integrators.controllers.digital_filter import MOST_ATTEMPTS, SHORTER, after_failure, chosen
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.method import Method
from integrators.status import OK
from liegroup.compile import entry
from liegroup.compile.scalars import minimum

WISH = MEMORY
"""In the clock: the factor between this step and the next one that the stepper asks for."""


@entry(PROPOSE_SIGNATURE)
def propose(remaining: Any, clock: Any, numbers: Any) -> Any:
    """The step as it was asked for, or what is left."""
    return chosen(clock[H], remaining, numbers)


@entry(JUDGE_SIGNATURE)
def judge(
    status: Any, error: Any, t: Any, h: Any, y: Any, watched: Any, parameters: Any, structure: Any, field_work: Any,
    values: Any, clock: Any, numbers: Any,
) -> Any:  # fmt: skip
    """Accept errors up to 1; the next step, or this one again, as asked for; one that failed with a half or a fifth."""
    if status == OK and error <= 1.0:
        clock[H] = h * clock[WISH]
        return OK
    if status == OK and error == error:  # also where the stepper has found it smaller, before a projection
        clock[H] = h * minimum(clock[WISH], SHORTER)
        return REPEAT
    if status != OK and clock[ATTEMPTS] > numbers[RETRIES]:
        return status
    clock[H] = h * after_failure(status, clock, True)
    return REPEAT


@dataclass(frozen=True)
class OrderedSteps(StepController):
    """Steps that a method of variable order chooses with its order (`BDF2` … `BDF5`, with tolerances).

    Parameters
    ----------
    name : str
        For tables and checkpoints.

    References
    ----------
    Shampine and Reichelt 1997.

    Examples
    --------
    It is theirs where none is asked for:

    >>> from integrators.controllers import find_controller
    >>> find_controller("ORDERED")
    OrderedSteps(name='ORDERED')
    """

    name: str = "ORDERED"
    retries: ClassVar[int] = MOST_ATTEMPTS
    follows: ClassVar[bool] = True
    propose = propose
    judge = judge

    def check(self, method: Method, step: float | None, rtol: Any, atol: Any, max_step: float) -> None:
        if method.with_variable_steps().stepper.controller != self.name:
            raise ValueError(
                f"controller: {self.name} is for methods that choose their order, such as BDF5; {method.name} does "
                "not: leave `controller` away, or take one of CONTROLLERS"
            )

    def method(self, method: Method) -> Method:
        return method.with_variable_steps()

    def estimates(self, method: Method) -> int:
        return 1

    def start(self, run: Steered) -> None:
        run.clock[H] = run.forward * run.first_step()
