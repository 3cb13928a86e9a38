"""A method: a row of numbers and the stepper that reads them; its step as a map."""

from integrators.method.method import Method, Reference, Report, Stepper
from integrators.method.step_map import step_map
from liegroup.modules import listing

__all__ = ["Method", "Reference", "Report", "Stepper", "step_map"]
__dir__ = listing(__all__)
