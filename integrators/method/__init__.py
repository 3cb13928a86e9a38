"""A method: a row of numbers and the stepper that reads them; its step as a map."""

from integrators.method.method import Method, Reference, Stepper
from integrators.method.step_map import step_map

__all__ = ["Method", "Reference", "Stepper", "step_map"]
