"""How bodies look: shapes fixed in them, from model files or of one's own.  They have no part in any motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import of_kind

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visual:
    """Shapes on a body.

    Parameters
    ----------
    body : str or None
        Name of the body; None is the base.
    shapes : sequence of Surface and Line, or callable
        Of `integrators.scenes`; or a function without arguments that returns them, called when the body is drawn: the
        files of meshes are not opened before.
    position : array (3,)
        Origin of the axes of the shapes, in body axes, m.
    rotation : array (3, 3)
        x_body = rotation·x_shape + position.
    """

    body: str | None
    shapes: Sequence[Any] | Callable[[], Sequence[Any]]
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        of_kind(self.body, (str, type(None)), "body", "the name of a body, or None for the base")

    def drawn(self) -> list[Any]:
        """The shapes in body axes."""
        found = self.shapes() if callable(self.shapes) else self.shapes
        return [shape.moved(self.position, self.rotation) for shape in found]
