"""What is chosen where the user leaves it open: steps, by taking some, and the method."""

from integrators.choice.steps import suggest_step
from liegroup.modules import listing

__all__ = ["suggest_step"]
__dir__ = listing(__all__)
