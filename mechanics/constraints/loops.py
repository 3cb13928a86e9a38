"""Loop closures: what joins two bodies of a tree besides the tree's own joints.

A closure is one to six scalar equations between a frame on the first and a frame on the second body, by kind of joint:

=================  =========  ===========================================  ==============================
closure            equations  what the second frame may still do           the axis is
=================  =========  ===========================================  ==============================
`weld`             6          nothing (also: the halves of a split body)
`revolute`         5          turn about the axis                          z of both frames
`prismatic`        5          slide along the axis                         z of both frames
`cylindrical`      4          turn about and slide along the axis          z of both frames
`universal`        4          turn about two axes                          z of the first, x of the second
`spherical`        3          turn about the point
`planar`           3          slide in the plane and turn about its normal z of both frames (the normal)
`point_on_line`    2          slide along the line, turn about the point   z of the first frame (the line)
`point_on_plane`   1          slide in the plane, turn about the point     z of the first frame (normal)
`distance`         1          everything that keeps the distance
`holonomic`        any        what a function of your own of the second frame's pose in the first leaves free
=================  =========  ===========================================  ==============================

Closures that couple the coordinates of joints (gears, belts, cams, mimic joints) are in
`mechanics.constraints.couplings`.

Equations are expressed in the axes of the first frame, so that the equations of a planar loop that do nothing stay the
same equations wherever the mechanism moves; more equations than needed are a normal case (`mechanics.mechanism` finds
the rank once).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import of_kind, real, shown
from liegroup.compile.tape import Tape
from mechanics.constraints.body_equations import ALONG, DISTANCE, GIVEN, PARALLEL, EquationNumbers
from mechanics.constraints.given_equations import tapes
from mechanics.errors import ModelError
from mechanics.model.frames import Frame

Array = NDArray[np.float64]
JointFreedom = str | tuple[str, int]
"""A joint of one freedom by its name, or one freedom of a joint: (name, number)."""


def check_freedom(place: Any, name: str) -> None:
    """TypeError unless it is a joint by its name, or one freedom of a joint."""
    is_pair = isinstance(place, tuple) and len(place) == 2 and isinstance(place[0], str) and isinstance(place[1], int)
    if not (isinstance(place, str) or is_pair):
        raise TypeError(f"{name}: {shown(place)}, expected the name of a joint, or a pair (name, number of coordinate)")


_UNIT = {"x": 0, "y": 1, "z": 2}


class Equation(NamedTuple):
    """One scalar equation: kind (of `mechanics.constraints.body_equations`), direction and point on either body,
    length, label.

    Of a GIVEN equation the directions are whole frames (3, 3), axes in columns, and the function is on the tape.  A
    COUPLING equation acts on `joints`, not on bodies.
    """

    kind: int
    a: Array
    p: Array
    b: Array
    q: Array
    length: float
    label: str
    tape: Tape | None = None
    joints: tuple[JointFreedom, ...] = ()


@dataclass(frozen=True, eq=False)
class Closure:
    """One closing joint between a frame on one body and a frame on another: one to six scalar equations.

    Parameters
    ----------
    kind : str
        Name of the function that makes it, such as "revolute".
    first, second : Frame
        On two different bodies, or on one body and the base.
    equations : tuple of Equation
        Kind, directions and points of each.
    aligned : tuple of pairs of arrays (3,)
        Directions (first body, second body) that coincide where it is closed as it says.
    name : str
        For messages and results.

    Raises
    ------
    ModelError
        Both frames on one body.

    Examples
    --------
    >>> from mechanics import Frame
    >>> from mechanics.constraints import revolute
    >>> revolute(Frame(None), Frame("rocker"))
    <revolute 'revolute None–rocker': None – rocker, 5 equations>
    """

    kind: str
    first: Frame
    second: Frame
    equations: tuple[Equation, ...]
    aligned: tuple[tuple[Array, Array], ...]
    name: str

    def __post_init__(self) -> None:
        _check_frames(self.first, self.second)
        if self.first.body == self.second.body and not self.couples:
            raise ModelError(
                f"closure {self.name!r}", f"joins body {self.first.body!r} to itself", "name two different bodies"
            )

    @property
    def couples(self) -> bool:
        """Whether it couples joints, and acts on no bodies."""
        return any(equation.joints for equation in self.equations)

    def __repr__(self) -> str:
        ends = [self.first.body, self.second.body] if not self.couples else self.equations[0].joints
        count = len(self.equations)
        return f"<{self.kind} {self.name!r}: {' – '.join(map(str, ends))}, {count} equation{'s' * (count != 1)}>"


def _check_frames(first: Any, second: Any) -> None:
    of_kind(first, Frame, "first", "a Frame")
    of_kind(second, Frame, "second", "a Frame")


def _parallel(first: Frame, second: Frame, axes: Sequence[str]) -> list[Equation]:
    """Perpendicular directions, as "xy": x of the first · y of the second = 0."""
    _check_frames(first, second)
    zero = np.zeros(3)
    E, H = first.rotation, second.rotation
    return [
        Equation(PARALLEL, E[:, _UNIT[s[0]]], zero, H[:, _UNIT[s[1]]], zero, 1.0, f"turn {s[0]}·{s[1]}") for s in axes
    ]


def _along(first: Frame, second: Frame, axes: str) -> list[Equation]:
    """No offset of the second origin along axes of the first frame."""
    _check_frames(first, second)
    E = first.rotation
    p, q = first.position, second.position
    return [Equation(ALONG, E[:, _UNIT[s]], p, np.zeros(3), q, 1.0, f"shift {s}") for s in axes]


def _closure(
    kind: str, first: Frame, second: Frame, name: str, equations: list[Equation], aligned: str = ""
) -> Closure:
    of_kind(name, str, "name", "a text")
    E, H = first.rotation, second.rotation
    pairs = tuple((E[:, _UNIT[s]], H[:, _UNIT[s]]) for s in aligned)
    return Closure(kind, first, second, tuple(equations), pairs, name or f"{kind} {first.body}–{second.body}")


def weld(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding frames (6 equations): the halves of a split body.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> weld(Frame(None), Frame("body"))
    <weld 'weld None–body': None – body, 6 equations>
    """
    return _closure(
        "weld", first, second, name, _along(first, second, "xyz") + _parallel(first, second, ["xy", "yz", "zx"]), "xyz"
    )


def revolute(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding origins and z axes (5 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> revolute(Frame(None), Frame("body"))
    <revolute 'revolute None–body': None – body, 5 equations>
    """
    return _closure(
        "revolute", first, second, name, _along(first, second, "xyz") + _parallel(first, second, ["xz", "yz"]), "z"
    )


def prismatic(first: Frame, second: Frame, name: str = "") -> Closure:
    """Equal axes, the second origin on the z axis of the first (5 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> prismatic(Frame(None), Frame("body"))
    <prismatic 'prismatic None–body': None – body, 5 equations>
    """
    return _closure(
        "prismatic",
        first,
        second,
        name,
        _along(first, second, "xy") + _parallel(first, second, ["xy", "yz", "zx"]),
        "xyz",
    )


def cylindrical(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding z axes (4 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> cylindrical(Frame(None), Frame("body"))
    <cylindrical 'cylindrical None–body': None – body, 4 equations>
    """
    return _closure(
        "cylindrical", first, second, name, _along(first, second, "xy") + _parallel(first, second, ["xz", "yz"]), "z"
    )


def universal(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding origins, z of the first perpendicular to x of the second (4 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> universal(Frame(None), Frame("body"))
    <universal 'universal None–body': None – body, 4 equations>
    """
    return _closure("universal", first, second, name, _along(first, second, "xyz") + _parallel(first, second, ["zx"]))


def spherical(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding origins (3 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> spherical(Frame(None), Frame("body"))
    <spherical 'spherical None–body': None – body, 3 equations>
    """
    return _closure("spherical", first, second, name, _along(first, second, "xyz"))


def planar(first: Frame, second: Frame, name: str = "") -> Closure:
    """Coinciding x-y planes (3 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> planar(Frame(None), Frame("body"))
    <planar 'planar None–body': None – body, 3 equations>
    """
    return _closure(
        "planar", first, second, name, _along(first, second, "z") + _parallel(first, second, ["xz", "yz"]), "z"
    )


def point_on_line(first: Frame, second: Frame, name: str = "") -> Closure:
    """The second origin on the z axis of the first frame (2 equations).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> point_on_line(Frame(None), Frame("body"))
    <point_on_line 'point_on_line None–body': None – body, 2 equations>
    """
    return _closure("point_on_line", first, second, name, _along(first, second, "xy"))


def point_on_plane(first: Frame, second: Frame, name: str = "") -> Closure:
    """The second origin in the x-y plane of the first frame (1 equation).

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        Both frames on one body; TypeError for what is no frame.

    Examples
    --------
    >>> point_on_plane(Frame(None), Frame("body"))
    <point_on_plane 'point_on_plane None–body': None – body, 1 equation>
    """
    return _closure("point_on_plane", first, second, name, _along(first, second, "z"))


def distance(first: Frame, second: Frame, length: float, name: str = "") -> Closure:
    """Origins `length` apart (1 equation): a massless rod with spherical joints at its ends.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    length : float
        Between the origins, m, positive.
    name : str
        For messages and results; default from the kind and the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        A length that is not positive; both frames on one body.

    Examples
    --------
    >>> distance(Frame(None), Frame("body"), 0.5)
    <distance 'distance None–body': None – body, 1 equation>
    """
    _check_frames(first, second)
    length = real(length, "length")
    if not (np.isfinite(length) and length > 0.0):
        raise ModelError(f"distance {name!r}", f"length {length}", "give a positive length (or use spherical for none)")
    zero = np.zeros(3)
    equation = Equation(DISTANCE, zero, first.position, zero, second.position, float(length), "distance")
    return _closure("distance", first, second, name, [equation])


def holonomic(first: Frame, second: Frame, function: Callable[..., Any], name: str = "") -> Closure:
    """Equations given as a function of the relative pose: a point on a curve or a surface, a cam, a coupling of turn
    and shift.

    Parameters
    ----------
    first, second : Frame
        ``Frame(None, …)`` is fixed in space.
    function : callable
        ``c(x, R)`` → the numbers that the motion keeps at zero, of the size of lengths in m.  x (3,) is the origin of
        the second frame in axes of the first, m, and R (3, 3) turns its components into those of the first.  A plain
        function of scalars with + − * / ** and the functions of NumPy or `liegroup.compile.scalars`, no `if` on a
        value; it is differentiated exactly.
    name : str
        For messages and results; default from the bodies.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    TypeError, ModelError
        The function cannot be traced, returns nothing, or a number that does not depend on the pose.

    Examples
    --------
    The tip of a body on a paraboloid that is fixed in space:

    >>> bowl = holonomic(Frame(None), Frame("body", (0, 0, -0.3)),
    ...     lambda x, R: [x[2] - (x[0] ** 2 + x[1] ** 2)], "bowl")
    >>> bowl
    <holonomic 'bowl': None – body, 1 equation>
    """
    _check_frames(first, second)
    found = tapes(function, f"closure {name or 'holonomic'!r}")
    E, H, p, q = first.rotation, second.rotation, first.position, second.position
    return _closure(
        "holonomic",
        first,
        second,
        name,
        [Equation(GIVEN, E, p, H, q, 1.0, f"number {k}", tape) for k, tape in enumerate(found)],
    )


CLOSURES: dict[str, Callable[..., Closure]] = {
    f.__name__: f
    for f in (
        weld,
        revolute,
        prismatic,
        cylindrical,
        universal,
        spherical,
        planar,
        point_on_line,
        point_on_plane,
        distance,
    )
}
"""All closing joints by name, for tests and files."""


def numbers_of_equation(equation: Equation, scale: float = 1.0, tolerance: float = 0.0) -> Array:
    """The parameters of an equation for the kernels; φ, its screws and its rates are multiplied by `scale`.

    Behind them, of a GIVEN equation: the second axes of its frames, and the constants of its tape; of a COUPLING
    equation: these constants.
    """
    a, b, tail = equation.a, equation.b, []
    if equation.tape is not None and equation.joints:
        tail = [equation.tape.constants]
    elif equation.tape is not None:
        a, b, tail = equation.a[:, 0], equation.b[:, 0], [equation.a[:, 1], equation.b[:, 1], equation.tape.constants]
    return np.hstack([*EquationNumbers(a, equation.p, b, equation.q, equation.length, scale, tolerance), *tail])
