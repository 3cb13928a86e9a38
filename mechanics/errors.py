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

    Parameters
    ----------
    where, problem, remedy : str
        File and element; value and what was expected; what to do.

    Examples
    --------
    >>> from mechanics import Body, ModelError
    >>> try:
    ...     Body("arm", joint="hinge")
    ... except ModelError as error:
    ...     print(error)
    body 'arm': joint is 'hinge'; give a joint of mechanics.joints, such as Revolute((0, 0, 1))
    """

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = where, problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")

    def within(self, file: str) -> None:
        """Put the name of a file before the place, if it is not there.

        Parameters
        ----------
        file : str
            Its name.
        """
        if file not in self.where:
            self.where = f"{file}: {self.where}"
            self.args = (f"{self.where}: {self.problem}; {self.remedy}",)


class ModelWarning(UserWarning):
    """The model is used, but moves differently than its file says, or as no body can.

    `changes`: of a file, what is different, each with the names of the joints it is about (none: the whole model).

    Examples
    --------
    `load_urdf` warns of what a file says and the tree does differently:

    >>> import warnings
    >>> import mechanics
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mechanics.ModelWarning)
    ...     tree = mechanics.load_urdf(mechanics.model_path("double_pendulum"))
    """

    def __init__(self, message: str, changes: Sequence[tuple[str, tuple[str, ...]]] = ()) -> None:
        super().__init__(message)
        self.changes = tuple(changes)


class MotionWarning(UserWarning):
    """Something happened to a mechanism in a run: which closure, which equation, when.

    Examples
    --------
    What `LiveWatch` tells by default.
    """
