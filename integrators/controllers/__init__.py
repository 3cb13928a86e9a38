"""Step size controllers: who chooses the steps of a run.

Each kind is one file: a subclass of `StepController` with the two compiled functions that the adaptive loop calls,
`propose` and `judge` (`integrators.controllers.signatures`), and a row of `KINDS`.

========================  ==========================================================================================
`Controller`              digital filters of the last error estimates, by name in `CONTROLLERS`; for embedded methods
`IntegratingController`   steps that follow a given size, reversible; for symmetric methods
`LogarithmicHamiltonian`  steps in the equations of motion, symplectic and reversible; for splittings
`OrderedSteps`            steps that a method of variable order chooses itself
========================  ==========================================================================================
"""

from __future__ import annotations

from integrators.controllers.controller import ReversibleController, StepController
from integrators.controllers.digital_filter import CONTROLLERS, Controller, first_step
from integrators.controllers.integrating import IntegratingController
from integrators.controllers.logarithmic import LogarithmicHamiltonian
from integrators.controllers.ordered import OrderedSteps
from integrators.controllers.trial import check_kind
from liegroup.modules import listing

AnyController = StepController
KINDS: tuple[type[StepController], ...] = (Controller, IntegratingController, LogarithmicHamiltonian, OrderedSteps)
"""All kinds of controllers; checkpoints name them by their classes."""


def find_controller(controller: str | StepController) -> StepController:
    """The controller of a name, or the controller itself.

    Parameters
    ----------
    controller : str or StepController
        One of `CONTROLLERS` by name; an object is returned as it is.

    Returns
    -------
    StepController
        The controller.

    Raises
    ------
    ValueError
        No controller of the name.
    TypeError
        A controller without a name or without its two functions.

    Examples
    --------
    >>> find_controller("H211b").a
    (0.25, 0)
    """
    if isinstance(controller, StepController):
        check_kind(controller)
        return controller
    if isinstance(controller, str) and controller == OrderedSteps.name:
        return OrderedSteps()
    if not isinstance(controller, str) or controller not in CONTROLLERS:
        raise ValueError(f"controller: {controller!r}, expected one of {', '.join(CONTROLLERS)} or a Controller")
    return CONTROLLERS[controller]


__all__ = [
    "CONTROLLERS",
    "KINDS",
    "AnyController",
    "Controller",
    "IntegratingController",
    "LogarithmicHamiltonian",
    "OrderedSteps",
    "ReversibleController",
    "StepController",
    "find_controller",
    "first_step",
]
__dir__ = listing(__all__)
