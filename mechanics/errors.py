"""What a model file can do wrong: `ModelError` (it cannot be used) and `ModelWarning` (it is used, and moves differently than its author meant)."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be used; the message names the file, the element, the value, what was expected and the remedy."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = where, problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")


class ModelWarning(UserWarning):
    """Something in a model file that would change the motion and is not modelled."""
