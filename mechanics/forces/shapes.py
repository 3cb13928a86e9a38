"""Shapes of bodies that touch: what a contact is between.

A shape on a plane is an ellipsoid with semi-axes a ≥ 0, swept by a ball of radius r: a = 0 is the ball itself, two
equal semi-axes and a third of 0 a wheel with a round tyre.  Its lowest point over a plane with the normal n (in the
axes of the shape, from its centre) is

    −A n / √(nᵀ A n) − r n,      A = diag(a²).

Shapes that touch each other are a segment, swept by a ball: half of the segment 0 is the ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from liegroup.arrays import of_kind, positive, real, reals
from mechanics.errors import ModelError
from mechanics.model.frames import Frame

Three = tuple[float, float, float]
POINT: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Shape:
    """Base of the shapes.

    Attributes
    ----------
    frame : Frame
        Where the shape is fixed on its body.

    Examples
    --------
    See `Sphere`.
    """

    frame: Frame

    def __post_init__(self) -> None:
        of_kind(self.frame, Frame, f"{type(self).__name__}: frame", "a Frame")

    @property
    def on_plane(self) -> tuple[Three, float] | None:
        """Semi-axes and radius, m, of a shape that touches a plane at one point; None of others."""
        return None

    @property
    def round(self) -> tuple[float, float] | None:
        """Half the length of the segment along z and the radius, m, of a shape that touches others; None of others."""
        return None

    def parts(self) -> list[Shape]:
        """The shapes of one contact point each that it touches a plane with."""
        return [self]


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """The x-y plane of a frame; the outward normal is its z axis.

    Parameters
    ----------
    frame : Frame
        On a body, or on the base (None).

    Raises
    ------
    TypeError
        Not a Frame.

    Examples
    --------
    >>> Plane(Frame(None)).frame.rotation[:, 2].tolist()
    [0.0, 0.0, 1.0]
    """


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A sphere about the origin of a frame; for planar motion a circle, or an arc of one.

    Parameters
    ----------
    frame : Frame
        Its origin is the centre.
    radius : float
        m.  A point is the `Frame` itself.

    Raises
    ------
    ValueError
        A radius that is not positive; TypeError for other things.

    Examples
    --------
    >>> Sphere(Frame("foot", (0.0, 0.0, -0.2)), 0.02).radius
    0.02
    """

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.radius, "Sphere: radius", "; of a point give the Frame itself")

    @property
    def on_plane(self) -> tuple[Three, float]:
        return POINT, float(self.radius)

    @property
    def round(self) -> tuple[float, float]:
        return 0.0, float(self.radius)


@dataclass(frozen=True, eq=False)
class Point(Shape):
    """The origin of a frame, as a shape."""

    @property
    def on_plane(self) -> tuple[Three, float]:
        return POINT, 0.0

    @property
    def round(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder along z with half spheres at its ends; it touches a plane with either end, others where it is nearest.

    Parameters
    ----------
    frame : Frame
        Centre, and the axis as its z.
    radius : float
        m.
    length : float
        Between the centres of the half spheres, m.

    Raises
    ------
    ValueError
        Numbers that are not positive; TypeError for other things.

    Examples
    --------
    >>> [part.frame.position.tolist() for part in Capsule(Frame("shin"), 0.02, 0.5).parts()]
    [[0.0, 0.0, 0.25], [0.0, 0.0, -0.25]]
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.radius, "Capsule: radius")
        positive(self.length, "Capsule: length")

    @property
    def round(self) -> tuple[float, float]:
        return 0.5 * float(self.length), float(self.radius)

    def parts(self) -> list[Shape]:
        half, frame = 0.5 * self.length * self.frame.rotation[:, 2], self.frame
        ends = [Frame(frame.body, frame.position + s * half, frame.rotation) for s in (1.0, -1.0)]
        return [Sphere(end, self.radius) for end in ends]


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An ellipsoid about the origin of a frame, along its axes.

    Parameters
    ----------
    frame : Frame
        Centre and axes.
    semi_axes : array (3,)
        Along x, y and z of the frame, m.

    Raises
    ------
    ModelError
        Other than three positive numbers; TypeError for other things.

    Examples
    --------
    >>> Ellipsoid(Frame("egg"), (0.02, 0.02, 0.03)).semi_axes
    (0.02, 0.02, 0.03)
    """

    semi_axes: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        a = reals(self.semi_axes, "Ellipsoid: semi_axes")
        if a.shape != (3,) or not ((a > 0.0) & (a < float("inf"))).all():
            raise ModelError("Ellipsoid: semi_axes", f"are {a.tolist()}", "give three positive numbers")

    @property
    def on_plane(self) -> tuple[Three, float]:
        a, b, c = self.semi_axes
        return (float(a), float(b), float(c)), 0.0


@dataclass(frozen=True, eq=False)
class Wheel(Shape):
    """A wheel: a circle about z, with a round tyre.

    Parameters
    ----------
    frame : Frame
        Hub, and the axis as its z.
    radius : float
        Of the centre line of the rim, m.
    section : float
        Section radius of the tyre, m; 0 is a sharp rim.

    Raises
    ------
    ValueError
        A radius that is not positive, a negative section; TypeError for other things.

    Notes
    -----
    A wheel that lies flat on the plane touches it everywhere: its contact point is then not determined.

    Examples
    --------
    >>> Wheel(Frame.with_axis("wheel", axis=(0.0, 1.0, 0.0)), 0.3, 0.02).on_plane
    ((0.3, 0.3, 0.0), 0.02)
    """

    radius: float
    section: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.radius, "Wheel: radius")
        real(self.section, "Wheel: section", "a finite number that is not negative", lambda x: 0.0 <= x < float("inf"))

    @property
    def on_plane(self) -> tuple[Three, float]:
        return (float(self.radius), float(self.radius), 0.0), float(self.section)


def as_shape(given: Any, name: str, flat: bool = False) -> Shape:
    """A shape as it is; a frame as its origin, or as its x-y plane if `flat`; TypeError for other things."""
    of_kind(given, (Shape, Frame), name, "a shape (Sphere, Capsule, Ellipsoid, Wheel, Plane) or a Frame")
    if isinstance(given, Shape):
        return given
    return Plane(given) if flat else Point(given)
