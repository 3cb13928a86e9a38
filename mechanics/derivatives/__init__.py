"""Derivatives of the dynamics: of inverse and forward dynamics, of Hamilton's equations and of force elements, and the
Jacobians of stiff problems.
"""

from liegroup.modules import listing
from mechanics.derivatives.elements import GeneralisedForces, generalised_forces
from mechanics.derivatives.stiff import StiffJacobians, stiff_jacobians
from mechanics.derivatives.trees import (
    forward_dynamics_derivatives,
    hamiltonian_rhs_derivatives,
    inverse_dynamics_derivatives,
)

__all__ = [
    "GeneralisedForces",
    "StiffJacobians",
    "forward_dynamics_derivatives",
    "generalised_forces",
    "hamiltonian_rhs_derivatives",
    "inverse_dynamics_derivatives",
    "stiff_jacobians",
]
__dir__ = listing(__all__)
