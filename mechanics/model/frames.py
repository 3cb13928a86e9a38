"""Frames fixed in bodies: links rigidly attached, tools, sensors, the ends of closures and forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals
from liegroup.matrices import polar
from mechanics.errors import ModelError
from mechanics.joints.element import axis_of
from mechanics.model.inertia import LARGEST

Array = NDArray[np.float64]
ROUNDED = 1e-14
"""max |R Rᵀ − E| of products of rotations; a matrix that is further off, as written with few digits, is made exact."""


@dataclass(frozen=True, eq=False, init=False)
class Frame:
    """A frame fixed in a body, or in the base: x_body = rotation·x_frame + position.

    Parameters
    ----------
    body : str or None
        Name of the body; None is the base.
    position : array (3,)
        Origin of the frame in body axes, m.
    rotation : array (3, 3), optional
        Columns are the axes of the frame in body axes; default those of the body.  Of columns that are orthonormal to
        1e-6 only, the nearest rotation is taken, as for bodies.

    Raises
    ------
    ModelError
        Numbers that are not finite or beyond 1e50, or no rotation matrix.

    Examples
    --------
    >>> from mechanics import Frame
    >>> Frame("arm", (0.0, 0.0, -1.0)).rotation.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> Frame.with_axis("arm", axis=(1.0, 0.0, 0.0)).rotation[:, 2].tolist()
    [1.0, 0.0, 0.0]
    """

    body: str | None
    position: Array
    rotation: Array

    def __init__(
        self, body: str | None, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None
    ) -> None:
        of_kind(body, (str, type(None)), "body", "the name of a body, or None for the base")
        where = f"frame on body {body!r}"
        x, R = reals(position, "position"), reals(np.eye(3) if rotation is None else rotation, "rotation")
        if x.shape != (3,) or not (np.abs(x) <= LARGEST).all():
            raise ModelError(where, f"position is {x.tolist()}", f"give three finite numbers, none beyond {LARGEST:g}")
        if (
            R.shape != (3, 3)
            or not (np.abs(R) <= 2.0).all()  # finite as well, and no product overflows
            or np.abs(R @ R.T - np.eye(3)).max() > 1e-6
            or np.linalg.det(R) < 0
        ):
            raise ModelError(
                where, f"rotation {R.tolist()} is not a rotation matrix", "give orthonormal columns, right-handed"
            )
        if np.abs(R @ R.T - np.eye(3)).max() > ROUNDED:
            R = polar(R, 3)
        for name, value in (("body", body), ("position", x), ("rotation", R)):
            object.__setattr__(self, name, value)

    @staticmethod
    def with_axis(body: str | None, position: ArrayLike = (0.0, 0.0, 0.0), axis: ArrayLike = (0.0, 0.0, 1.0)) -> Frame:
        """A frame whose z is along `axis` (body axes); its x and y are any two that complete it.

        Parameters
        ----------
        body : str or None
            Name of the body; None is the base.
        position : array (3,)
            Origin of the frame in body axes, m.
        axis : array (3,)
            Direction of z, body axes; any length, not zero (dimensionless).

        Returns
        -------
        Frame
            Right-handed.

        Raises
        ------
        ValueError
            An axis that is none; ModelError for a position that is none.
        """
        z = np.asarray(axis_of(axis)) / np.linalg.norm(axis)
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
        x = x / np.linalg.norm(x)
        return Frame(body, position, np.stack([x, np.cross(z, x), z], axis=1))
