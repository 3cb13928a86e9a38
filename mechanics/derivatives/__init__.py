"""Derivatives of the dynamics: of inverse and forward dynamics and of Hamilton's equations."""

from liegroup.modules import listing
from mechanics.derivatives.trees import (
    forward_dynamics_derivatives,
    hamiltonian_rhs_derivatives,
    inverse_dynamics_derivatives,
)

__all__ = ["forward_dynamics_derivatives", "hamiltonian_rhs_derivatives", "inverse_dynamics_derivatives"]
__dir__ = listing(__all__)
