"""What can be wrong: `ModelError` (a model cannot be used), `ModelWarning` (it is used, with a departure),
`MotionWarning` (in a run).
"""

from __future__ import annotations

from collections.abc import Sequence

from liegroup.modules import listing

__all__ = [
    "ModelError",
    "ModelWarning",
    "MotionWarning",
]
__dir__ = listing(__all__)


class ModelError(ValueError):
    """A model that cannot be used; the message names the file, the element, the value, what was expected and the
    remedy.
    """

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = where, problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")

    def within(self, file: str) -> None:
        """Put the name of a file before the place, if it is not there."""
        if file not in self.where:
            self.where = f"{file}: {self.where}"
            self.args = (f"{self.where}: {self.problem}; {self.remedy}",)


class ModelWarning(UserWarning):
    """The model is used, but moves differently than its file says, or as no body can.

    `changes`: of a file, what is different, each with the names of the joints it is about (none: the whole model).
    """

    def __init__(self, message: str, changes: Sequence[tuple[str, tuple[str, ...]]] = ()) -> None:
        super().__init__(message)
        self.changes = tuple(changes)


class MotionWarning(UserWarning):
    """Something happened to a mechanism in a run: which closure, which equation, when."""
