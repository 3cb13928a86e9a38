"""Exact derivatives of a step: by state, forces, step size and time."""

from integrators.step_derivatives.linearised import LinearisedStep, linearised_step
from liegroup.modules import listing

__all__ = ["LinearisedStep", "linearised_step"]
__dir__ = listing(__all__)
