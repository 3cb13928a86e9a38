"""Exact derivatives of a step: by state, forces, step size and time."""

from integrators.step_derivatives.linearised import linearised_step

__all__ = ["linearised_step"]
