"""What every controller is: two compiled functions, and what it asks of a method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import Field
from liegroup.compile import Entry

Array = NDArray[np.float64]


class Steered(Protocol):
    """The run whose steps a controller chooses, as the controller sees it at the start."""

    problem: Problem
    method: Method
    t0: float
    y: Array
    coefficients: Array
    clock: Array
    numbers: Array
    forward: float

    def first_step(self) -> float:
        """The first step: as given, or found from the field."""

    def look(self, t: float | None = None, y: Array | None = None) -> Array:
        """The values of `watched`, at the start or elsewhere."""


class StepController:
    """Base of the controllers.  A new one is a subclass with a name and the two functions of
    `integrators.controllers.signatures`; its file and a row of `integrators.controllers.KINDS` are all it takes.

    Examples
    --------
    Every kind in `IntegratingController`, `LogarithmicHamiltonian` and `Controller` is one.
    """

    name: str
    retries: ClassVar[int] = 0
    """How often in a row it takes a step that has failed once more, with a smaller size."""
    follows: ClassVar[bool] = False
    """Whether it goes by the steps that the stepper asks for."""
    propose: ClassVar[Entry]
    judge: ClassVar[Entry]

    @property
    def function(self) -> Callable[..., Any] | None:
        """The user's function it goes by, if any."""
        return None

    @property
    def watched(self) -> Field | None:
        """The function that `judge` is handed."""
        return None

    def check(self, method: Method, step: float | None, rtol: Any, atol: Any, max_step: float) -> None:
        """ValueError, with the remedy, if the method or the arguments of `integrate` do not go with it.

        Parameters
        ----------
        method : Method
            With which the run is to be made.
        step : float or None
            As given to `integrate`, s.
        rtol, atol : float or array (dimension,), or None
            As given to `integrate`.
        max_step : float
            As given to `integrate`, s.

        Raises
        ------
        ValueError
            What does not go together, with the remedy.
        """

    def why_no_step(self, clock: NDArray[np.float64], numbers: NDArray[np.float64]) -> str:
        """What a run that ends for want of a step says, where the controller knows more than the run.

        Parameters
        ----------
        clock, numbers : array
            Of the run, as `propose` and `judge` have left them.

        Returns
        -------
        str
            With the remedy, or nothing.
        """
        return ""

    def method(self, method: Method) -> Method:
        """The method as it is run under this controller.

        Parameters
        ----------
        method : Method
            With which the run is made.

        Returns
        -------
        Method
            The same, or one made of it.
        """
        return method

    def evaluated(self, problem: Problem, field: Field) -> Field:
        """What the stepper evaluates, from what it evaluates with fixed steps.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        field : Field
            What the stepper evaluates with fixed steps.

        Returns
        -------
        Field
            The same, or one made of it.
        """
        return field

    def estimates(self, method: Method) -> int:
        """How many error estimates of the method make the error it goes by: 0, 1 or 2.

        Parameters
        ----------
        method : Method
            With which the run is made.

        Returns
        -------
        int
            0, 1 or 2.
        """
        return 0

    def data(self, method: Method) -> Array:
        """The controller's own numbers.

        Parameters
        ----------
        method : Method
            With which the run is made.

        Returns
        -------
        array (k,)
            They follow the engine's own in the numbers that `propose` and `judge` get.
        """
        return np.zeros(0)

    def start(self, run: Steered) -> None:
        """Set the clock for the first step.

        Parameters
        ----------
        run : Steered
            The run before its first step.

        Raises
        ------
        ValueError
            A start from which the controller cannot go on.
        """
        raise NotImplementedError


class ReversibleController(StepController):
    """Base of the controllers that keep the symmetry of a symmetric method; `step` is then their ε.

    Examples
    --------
    `IntegratingController` and `LogarithmicHamiltonian` are such.
    """

    MEANS: ClassVar[str]
    """What `step` is."""

    def check(self, method: Method, step: float | None, rtol: Any, atol: Any, max_step: float) -> None:
        if not method.symmetric:
            raise ValueError(
                f"controller: the {self.name} keeps the symmetry of a symmetric method; {method.name} has none"
            )
        if rtol is not None or atol is not None:
            raise ValueError(f"rtol, atol: the {self.name} estimates no errors; its `step` decides the accuracy")
        if step is None:
            raise ValueError(f"step: the {self.name} needs ε, {self.MEANS}")
