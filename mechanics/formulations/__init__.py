"""Closed loops in other variables: multipliers, index one, coordinates of bodies, holonomic constraints, reactions."""

from liegroup.modules import listing
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.closing_forces import closing_forces
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.driving_forces import driving_forces
from mechanics.formulations.multiplier_problem import (
    AugmentedLagrangian,
    Baumgarte,
    Lagrange,
    Ostermeyer,
    Penalty,
    multiplier_problem,
)
from mechanics.formulations.reactions import reactions

__all__ = [
    "AugmentedLagrangian",
    "Baumgarte",
    "Lagrange",
    "Ostermeyer",
    "Penalty",
    "body_problem",
    "closing_forces",
    "constrained_problem",
    "driving_forces",
    "multiplier_problem",
    "reactions",
]
__dir__ = listing(__all__)
