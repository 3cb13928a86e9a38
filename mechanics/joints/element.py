"""Elementary relative motions, of which every joint is composed.

An element says where the child frame is in the parent frame and how it moves there; its basis A is constant in child
axes:

===========  ===================  ==========================  ================================  =====================
element      q                    velocity s                  A (child axes, linear first)      configuration
===========  ===================  ==========================  ================================  =====================
`Turn`       angle                its rate                    (0; a)                            R or SO(2)
`Slide`      distance             its rate                    (a; 0)                            R
`Screw`      angle                its rate                    (h a; a), h in m per rad          R
`Plane`      x, y, angle          (vx, vy, ω) child axes      (a_x; 0), (a_y; 0), (0; a_z)      SE(2)
`Ball`       quaternion w x y z   relative ω, child axes      [0; E]                            SO(3)
`Float`      position, quaternion relative (v, ω), child axes E₆                                SE(3)
===========  ===================  ==========================  ================================  =====================

`Turn` and `Slide` with a `Motion` are prescribed: no coordinate, and the drift twist Vᴶ = A ẋ(t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liegroup.arrays import of_kind, reals, shown
from liegroup.formulas import rn, se2, se3, so2, so3
from mechanics.algebra.spatial import Array, rotation, rotation_from_quaternion, unit
from mechanics.joints.motion import Motion

Axis = tuple[float, float, float]
TURN, SLIDE, SCREW, PLANE, BALL, FLOAT, MOVED_TURN, MOVED_SLIDE = range(8)
"""Codes of the elements in the kernels; the last two are prescribed."""


def axis_of(value: ArrayLike, name: str = "axis") -> Axis:
    """A direction as given, checked: three finite numbers, not all zero, whose squares neither overflow nor vanish."""
    a = reals(value, name, "three finite numbers")
    if a.shape != (3,) or not np.isfinite(a).all() or not 1e-100 < np.abs(a).max() < 1e100:
        raise ValueError(f"{name}: {shown(value)}, expected three finite numbers, not all zero")
    return float(a[0]), float(a[1]), float(a[2])


class Element:
    """One elementary relative motion of a child frame in a parent frame: where it is and how it moves there.

    Examples
    --------
    >>> from mechanics.joints import Turn
    >>> R, x = Turn((0.0, 0.0, 1.0)).pose([0.5], 0.0)
    >>> R.round(4).tolist()
    [[0.8776, -0.4794, 0.0], [0.4794, 0.8776, 0.0], [0.0, 0.0, 1.0]]
    >>> Turn().basis([0.0])[:, 0].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    code: int
    """Which branch of the kernels serves it."""
    factor: Any = rn
    """Configuration group: a file of `liegroup.formulas`."""
    n_q: int = 1
    n_v: int = 1
    neutral: tuple[float, ...] = (0.0,)
    q_labels: tuple[str, ...] = ("angle",)
    q_units: tuple[str, ...] = ("rad",)
    v_labels: tuple[str, ...] = ("angle",)
    v_units: tuple[str, ...] = ("rad/s",)
    motion: Motion | None = None

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        """R (child → parent components) and the child origin in parent axes.

        Parameters
        ----------
        q : sequence of scalars
            The element's own coordinates, rad and m.
        t : scalar
            Time, s.

        Returns
        -------
        R : array (3, 3)
            Child → parent components.
        x : array (3,)
            Child origin in parent axes, m.
        """
        raise NotImplementedError

    def basis(self, q: Any) -> Array:
        """A (6, n_v) in child axes; `q` only lends its scalar type.

        Parameters
        ----------
        q : sequence of scalars
            The element's own coordinates, rad and m.

        Returns
        -------
        array (6, n_v)
            Columns are twists per unit of velocity, linear part first.
        """
        raise NotImplementedError

    def drift(self, t: Any) -> Array:
        """Vᴶ (6,) in child axes.

        Parameters
        ----------
        t : scalar
            Time, s.

        Returns
        -------
        array (6,)
            Linear part first, m/s and rad/s.
        """
        return np.zeros(6) + 0 * t


@dataclass(frozen=True)
class _Directed(Element):
    axis: Axis = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_of(self.axis))

    def _unit(self, like: Any) -> Array:
        return unit(np.asarray(self.axis) + 0 * like)


@dataclass(frozen=True)
class _Prescribable(_Directed):
    motion: Motion | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        of_kind(self.motion, (Motion, type(None)), "motion", "a Motion, or None")

    @property
    def n_q(self) -> int:  # type: ignore[override]
        return int(self.motion is None)

    n_v = n_q

    @property
    def neutral(self) -> tuple[float, ...]:  # type: ignore[override]
        return (0.0,) * self.n_q

    def _value(self, q: Any, t: Any) -> Any:
        return q[0] if self.motion is None else self.motion.value(t)

    def _twist(self, like: Any) -> Array:
        raise NotImplementedError

    def basis(self, q: Any) -> Array:
        like = q[0] if len(q) else 0.0
        return self._twist(like).reshape(6, 1)[:, : self.n_v]

    def drift(self, t: Any) -> Array:
        return super().drift(t) if self.motion is None else self._twist(t) * self.motion.rate(t)


@dataclass(frozen=True)
class Turn(_Prescribable):
    """Rotation about a fixed axis; `cyclic` angles live on the circle SO(2), others on the line.

    Parameters
    ----------
    axis : array (3,)
        Direction, any length.
    motion : Motion, optional
        Prescribes the angle.
    cyclic : bool
        Whether the angle lives on the circle.

    Examples
    --------
    >>> from mechanics.joints import Turn
    >>> Turn((0.0, 0.0, 1.0)).n_q, Turn(cyclic=True).factor.NAME
    (1, 'SO(2)')
    """

    cyclic: bool = False

    @property
    def factor(self) -> Any:
        return so2 if self.cyclic else rn

    @property
    def code(self) -> int:  # type: ignore[override]
        """The branch of the kernels: TURN, or MOVED_TURN of a prescribed one."""
        return TURN if self.motion is None else MOVED_TURN

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        x = self._value(q, t)
        return rotation(self._unit(x), x), np.zeros(3) + 0 * x

    def _twist(self, like: Any) -> Array:
        a = self._unit(like)
        return np.concatenate([0 * a, a])


@dataclass(frozen=True)
class Slide(_Prescribable):
    """Translation along a fixed axis.

    Parameters
    ----------
    axis : array (3,)
        Direction, any length.
    motion : Motion, optional
        Prescribes the distance.

    Examples
    --------
    >>> from mechanics.joints import Motion, Slide
    >>> Slide((1.0, 0.0, 0.0), Motion((0.0, 2.0))).pose([], 0.5)[1].tolist()
    [1.0, 0.0, 0.0]
    """

    q_labels = ("distance",)
    q_units = ("m",)
    v_labels = ("distance",)
    v_units = ("m/s",)

    @property
    def code(self) -> int:  # type: ignore[override]
        """The branch of the kernels: SLIDE, or MOVED_SLIDE of a prescribed one."""
        return SLIDE if self.motion is None else MOVED_SLIDE

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        x = self._value(q, t)
        return np.eye(3) + 0 * x, self._unit(x) * x

    def _twist(self, like: Any) -> Array:
        a = self._unit(like)
        return np.concatenate([a, 0 * a])


@dataclass(frozen=True)
class Screw(_Directed):
    """Rotation about an axis with an advance of `pitch` metres per radian along it.

    Parameters
    ----------
    axis : array (3,)
        Direction, any length.
    pitch : float
        Advance, m per rad.

    Examples
    --------
    >>> from mechanics.joints import Screw
    >>> Screw((0.0, 0.0, 1.0), 0.1).basis([0.0])[:, 0].tolist()
    [0.0, 0.0, 0.1, 0.0, 0.0, 1.0]
    """

    code = SCREW
    pitch: float = 0.0

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        a = self._unit(q[0])
        return rotation(a, q[0]), a * (self.pitch * q[0])

    def basis(self, q: Any) -> Array:
        a = self._unit(q[0])
        return np.concatenate([self.pitch * a, a]).reshape(6, 1)


@dataclass(frozen=True)
class Plane(Element):
    """Motion in the plane of two directions: x, y along them in parent axes, angle about their normal.

    Parameters
    ----------
    x_axis, y_axis : array (3,)
        Perpendicular directions, any length.

    Raises
    ------
    ValueError
        Directions that are not perpendicular, or zero.

    Examples
    --------
    >>> from mechanics.joints import Plane
    >>> Plane().axes(0.0)[:, 2].tolist()
    [0.0, 0.0, 1.0]
    """

    code = PLANE
    factor = se2
    n_q = 3
    n_v = 3
    neutral = (0.0, 0.0, 0.0)
    q_labels = ("x", "y", "angle")
    q_units = ("m", "m", "rad")
    v_labels = ("vx", "vy", "omega")
    v_units = ("m/s", "m/s", "rad/s")
    x_axis: Axis = (1.0, 0.0, 0.0)
    y_axis: Axis = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        x, y = axis_of(self.x_axis, "x_axis"), axis_of(self.y_axis, "y_axis")
        object.__setattr__(self, "x_axis", x)
        object.__setattr__(self, "y_axis", y)
        if abs(np.dot(x, y)) > 1e-12 * np.linalg.norm(x) * np.linalg.norm(y):
            raise ValueError(f"y_axis: {y} is not perpendicular to x_axis {x}")

    def axes(self, like: Any) -> Array:
        """Columns: the two directions and their normal.

        Parameters
        ----------
        like : scalar
            Lends its type.

        Returns
        -------
        array (3, 3)
            Unit vectors.
        """
        x, y = unit(np.asarray(self.x_axis) + 0 * like), unit(np.asarray(self.y_axis) + 0 * like)
        return np.stack([x, y, np.cross(x, y)], axis=1)

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        E = self.axes(q[2])
        return rotation(E[:, 2], q[2]), E[:, 0] * q[0] + E[:, 1] * q[1]

    def basis(self, q: Any) -> Array:
        E = self.axes(q[2])
        zero = 0 * E
        return np.concatenate(
            [np.stack([E[:, 0], E[:, 1], zero[:, 2]], axis=1), np.stack([zero[:, 0], zero[:, 1], E[:, 2]], axis=1)]
        )


@dataclass(frozen=True)
class Ball(Element):
    """Rotation about a fixed point, by a unit quaternion.

    Examples
    --------
    >>> from mechanics.joints import Ball
    >>> Ball().neutral
    (1.0, 0.0, 0.0, 0.0)
    """

    code = BALL
    factor = so3
    n_q = 4
    n_v = 3
    neutral = (1.0, 0.0, 0.0, 0.0)
    q_labels = ("qw", "qx", "qy", "qz")
    q_units = ("1", "1", "1", "1")
    v_labels = ("wx", "wy", "wz")
    v_units = ("rad/s", "rad/s", "rad/s")

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        return rotation_from_quaternion(q), np.zeros(3) + 0 * q[0]

    def basis(self, q: Any) -> Array:
        return np.eye(6)[:, 3:] + 0 * q[0]


@dataclass(frozen=True)
class Float(Element):
    """Unconstrained motion: position of the child origin in parent axes, and a unit quaternion.

    Examples
    --------
    >>> from mechanics.joints import Float
    >>> Float().q_labels
    ('x', 'y', 'z', 'qw', 'qx', 'qy', 'qz')
    """

    code = FLOAT
    factor = se3
    n_q = 7
    n_v = 6
    neutral = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    q_labels = ("x", "y", "z", "qw", "qx", "qy", "qz")
    q_units = ("m", "m", "m", "1", "1", "1", "1")
    v_labels = ("vx", "vy", "vz", "wx", "wy", "wz")
    v_units = ("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s")

    def pose(self, q: Any, t: Any) -> tuple[Array, Array]:
        return rotation_from_quaternion(q[3:]), np.array([q[0], q[1], q[2]])

    def basis(self, q: Any) -> Array:
        return np.eye(6) + 0 * q[0]
