"""The logarithmic Hamiltonian: it puts the steps into the equations of motion, and keeps symplectic splittings
symplectic (Preto and Tremaine 1999; Mikkola and Tanikawa 1999)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from integrators.controllers.clock import H
from integrators.controllers.controller import ReversibleController, Steered
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import Field, as_field, joined
from integrators.steppers.logarithmic import logarithmic, time_momentum
from liegroup.compile import entry


@entry(PROPOSE_SIGNATURE)
def propose(remaining: Any, clock: Any, numbers: Any) -> Any:
    """The same step of the fictitious time, always."""
    return clock[H]


@entry(JUDGE_SIGNATURE)
def judge(
    status: Any, error: Any, t: Any, h: Any, y: Any, watched: Any, parameters: Any, structure: Any, field_work: Any,
    values: Any, clock: Any, numbers: Any,
) -> Any:  # fmt: skip
    """Every step that did not fail is accepted; none is repeated."""
    return status


@dataclass(frozen=True)
class LogarithmicHamiltonian(ReversibleController):
    """Equal steps ε of a fictitious time under Γ = ln(T + p_t) − ln(−V), symplectic and reversible: for splittings.

    dt ≈ ε/(−V): steps are short where the potential is deep.  The splitting's parts are solved exactly
    (`integrators.steppers.logarithmic`), so that the energy does not drift and Kepler orbits are exact conics.

    Holds when H = T + V is a constant of the motion, T = ½ pᵀK p the kinetic energy of particles and rigid bodies (what
    a splitting asks for anyway), and V < 0 along the whole motion; a V bounded above becomes negative by a constant,
    which changes where the steps fall and nothing else.

    Parameters
    ----------
    potential : callable
        ``potential(t, y)`` → V, a function of the configuration in the units of ½ pᵀK p: a plain function beside a
        field of plain Python, one jitted by Numba beside a field that is compiled (of a Lagrangian, a model).
    name : str
        For tables and checkpoints.

    References
    ----------
    Preto and Tremaine 1999; Mikkola and Tanikawa 1999.

    Examples
    --------
    >>> from integrators.controllers import LogarithmicHamiltonian
    >>> LogarithmicHamiltonian(lambda t, y: -1.0 / (y[0] ** 2 + y[1] ** 2) ** 0.5).MEANS
    'the step where V = −1'
    """

    potential: Callable[..., Any]
    name: str = "logarithmic Hamiltonian"
    MEANS: ClassVar[str] = "the step where V = −1"
    propose = propose
    judge = judge

    @property
    def function(self) -> Callable[..., Any]:
        """The function `potential`."""
        return self.potential

    def check(self, method: Method, step: float | None, rtol: Any, atol: Any, max_step: float) -> None:
        super().check(method, step, rtol, atol, max_step)
        if np.isfinite(max_step):
            raise ValueError(
                f"max_step: the steps of the {self.name} are equal in their own time; take a smaller `step`"
            )

    def method(self, method: Method) -> Method:
        return logarithmic(method)

    def evaluated(self, problem: Problem, field: Field) -> Field:
        """The field, and V behind it.

        Parameters
        ----------
        problem : Problem
            What is to be integrated.
        field : Field
            What the stepper evaluates with fixed steps.

        Returns
        -------
        Field
            One value longer.
        """
        return joined(field, problem.dimension, as_field(self.potential, "potential"))

    def start(self, run: Steered) -> None:
        momentum = time_momentum(run.problem, as_field(self.potential, "potential"), run.t0, run.y)
        run.coefficients = np.append(run.coefficients, momentum)
        run.clock[H] = run.forward * run.first_step()
