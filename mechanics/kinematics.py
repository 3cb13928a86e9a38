"""Frames on bodies: where they are, how they move, their Jacobians; the centre of mass; distances.

A frame is one of `tree.frames` (links of a model file, tools, sites), a body, or a `Frame` of your own: a point of a
body is ``Frame("arm", (0.0, 0.0, -1.0))``, one of the world ``Frame(None, (1.0, 0.0, 0.0))``.  States are those of
`mechanics.dynamics`: ``(…, nq)``, ``(…, nv)`` with leading axes that broadcast.

Twists, accelerations and Jacobians are about the origin of the frame, linear first.  With ``axes="frame"`` they are
components along the axes of the frame, with ``axes="world"`` along those of the world; rates are those of these
components:

    V = J v + β,      dV/dt = J a + J̇ v + β̇,

where β is what prescribed motions add.  In world axes V is (ẋ, ω) and dV/dt = (ẍ, ω̇); in those of the frame
dV/dt is (Rᵀẋ, Rᵀω)˙, which differs by ω × of the velocity.

All functions take a mechanism, too: positions decide what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals, shown
from liegroup.compile import Entry
from liegroup.modules import listing
from mechanics.algorithms import frames
from mechanics.evaluation import StateFunction, written
from mechanics.forces.contact import geometry, nearest, pairs_of
from mechanics.forces.element import BodyState
from mechanics.forces.shapes import Shape, as_shape
from mechanics.model.frames import Frame
from mechanics.model.packing import pack_frame
from mechanics.model.tree import Tree
from mechanics.states import HasTree, tree_of

__all__ = [
    "centre_of_mass_jacobian",
    "centre_of_mass_jacobian_rate",
    "distance",
    "distance_jacobian",
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_pose",
    "frame_twist",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
Axes = Literal["frame", "world"]


def frame_pose(
    tree: Tree | HasTree,
    q: ArrayLike,
    frame: str | Frame,
    t: float = 0.0,
    *,
    out: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Origin and rotation of a frame: x_world = R x_frame + r.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    frame : str or Frame
        One of `tree.frames`, a body, or a frame of your own.
    t : float
        Time, s: it matters with prescribed motions only.
    out : tuple of arrays, optional
        Where to write the results: float64, of their shapes and in their units.

    Returns
    -------
    position : array (…, 3)
        Origin in the world, m.
    rotation : array (…, 3, 3)
        Columns are the axes of the frame in the world.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> position, rotation = mechanics.frame_pose(tree, [0.0], Frame("arm", (0.0, 0.0, -1.0)))
    >>> (position.round(12) + 0.0).tolist()
    [0.0, 0.0, -1.0]
    """
    values = _of_frame(frames.frame_pose, tree, frame, "frame", (), (12,))(tree, t, q)
    return written(out, (values[..., :3], values[..., 3:].reshape(*values.shape[:-1], 3, 3)))


def frame_twist(
    tree: Tree | HasTree,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | Frame,
    t: float = 0.0,
    *,
    axes: Axes = "frame",
    out: Array | None = None,
) -> Array:
    """Velocity of the origin of a frame and its angular velocity, V = J v + β.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    frame : str or Frame
        One of `tree.frames`, a body, or a frame of your own.
    t : float
        Time, s: it matters with prescribed motions only.
    axes : {"frame", "world"}
        Along which axes the components are.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 6)
        (linear, angular), m/s and rad/s; β is what prescribed motions add.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> tip = Frame("arm", (0.0, 0.0, -1.0))
    >>> (mechanics.frame_twist(tree, [0.0], [2.0], tip, axes="world").round(12) + 0.0).tolist()
    [-2.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    """
    return _of_frame(frames.frame_twist, tree, frame, axes, ("v",), (6,))(tree, t, q, v, out=out)


def frame_acceleration(
    tree: Tree | HasTree,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str | Frame,
    t: float = 0.0,
    *,
    axes: Axes = "frame",
    out: Array | None = None,
) -> Array:
    """Rate of the components of `frame_twist`, dV/dt = J a + J̇ v + β̇.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    a : array (…, nv)
        Accelerations v̇, rad/s² and m/s²; with zeros, J̇ v + β̇ is left.
    frame : str or Frame
        One of `tree.frames`, a body, or a frame of your own.
    t : float
        Time, s: it matters with prescribed motions only.
    axes : {"frame", "world"}
        Along which axes the components are: of the world, (ẍ, ω̇), what a fixed observer sees; of the frame, the
        spatial acceleration of the literature.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 6)
        (linear, angular), m/s² and rad/s².  Gravity is no part of it.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> tip = Frame("arm", (0.0, 0.0, -1.0))
    >>> (mechanics.frame_acceleration(tree, [0.0], [2.0], [0.0], tip, axes="world").round(12) + 0.0).tolist()
    [0.0, 0.0, 4.0, 0.0, 0.0, 0.0]
    """
    return _of_frame(frames.frame_acceleration, tree, frame, axes, ("v", "a"), (6,))(tree, t, q, v, a, out=out)


def frame_jacobian(
    tree: Tree | HasTree,
    q: ArrayLike,
    frame: str | Frame,
    t: float = 0.0,
    *,
    axes: Axes = "frame",
    out: Array | None = None,
) -> Array:
    """J of the twist of a frame, V = J v + β.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    frame : str or Frame
        One of `tree.frames`, a body, or a frame of your own.
    t : float
        Time, s: it matters with prescribed motions only.
    axes : {"frame", "world"}
        Along which axes the components are.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 6, nv)
        Rows: velocity of the origin and angular velocity, SI units.  Jᵀ takes a wrench at the origin of the frame, in
        the same axes, to generalised forces.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> (mechanics.frame_jacobian(tree, [0.3], Frame("arm", (0.0, 0.0, -1.0)))[:, 0].round(12) + 0.0).tolist()
    [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    return _of_frame(frames.frame_jacobian, tree, frame, axes, (), (6, -1))(tree, t, q, out=out)


def frame_jacobian_rate(
    tree: Tree | HasTree,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | Frame,
    t: float = 0.0,
    *,
    axes: Axes = "frame",
    out: Array | None = None,
) -> Array:
    """J̇, the rate of `frame_jacobian` along the velocities v (and the prescribed motions).

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    frame : str or Frame
        One of `tree.frames`, a body, or a frame of your own.
    t : float
        Time, s: it matters with prescribed motions only.
    axes : {"frame", "world"}
        Along which axes the components are.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 6, nv)
        SI units; J̇ v is `frame_acceleration` without a (and without prescribed motions).

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Notes
    -----
    Row r is the rate of what a unit wrench F at the frame does along the joints: on link j, A_jᵀ(V_f ×* F − V_j ×* F)
    with the twists of the frame and of the link.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> tip = Frame("arm", (0.0, 0.0, -1.0))
    >>> (mechanics.frame_jacobian_rate(tree, [0.0], [2.0], tip, axes="world")[:, 0].round(12) + 0.0).tolist()
    [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    """
    return _of_frame(frames.frame_jacobian_rate, tree, frame, axes, ("v",), (6, -1))(tree, t, q, v, out=out)


# --- the centre of mass -----------------------------------------------------------------------------------------------


_CENTRE = StateFunction(frames.centre_jacobian, shape=lambda tree: (3, tree.nv))
_CENTRE_RATE = StateFunction(frames.centre_jacobian_rate, ("v",), shape=lambda tree: (3, tree.nv))


def centre_of_mass_jacobian(tree: Tree | HasTree, q: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """J of the velocity of the centre of mass, ċ = J v (+ what prescribed motions add), world axes.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 3, nv)
        SI units; the point is that of `mechanics.centre_of_mass`.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> (mechanics.centre_of_mass_jacobian(tree, [0.0])[:, 0].round(12) + 0.0).tolist()
    [-0.5, 0.0, 0.0]
    """
    return _CENTRE(tree, t, q, out=out)


def centre_of_mass_jacobian_rate(
    tree: Tree | HasTree, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None
) -> Array:
    """J̇, the rate of `centre_of_mass_jacobian`, world axes: c̈ = J a + J̇ v.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 3, nv)
        SI units.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> (mechanics.centre_of_mass_jacobian_rate(tree, [0.0], [2.0])[:, 0].round(12) + 0.0).tolist()
    [0.0, 0.0, 1.0]
    """
    return _CENTRE_RATE(tree, t, q, v, out=out)


# --- distances --------------------------------------------------------------------------------------------------------


def distance(
    tree: Tree | HasTree,
    q: ArrayLike,
    first: str | Frame | Shape,
    second: str | Frame | Shape,
    t: float = 0.0,
    *,
    radii: ArrayLike = (0.0, 0.0),
    out: Array | None = None,
) -> Array:
    """Distance between two points, or of two spheres around them, |x₂ − x₁| − r₁ − r₂; or of two shapes.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    first, second : str, Frame or shape
        Whose origins: frames of `tree.frames`, bodies, or frames of your own; ``Frame(None, x)`` is a point of the
        world.  Or shapes of `mechanics.forces` that have a contact with each other: any on a `Plane`, spheres and
        capsules on one another.
    t : float
        Time, s: it matters with prescribed motions only.
    radii : array (2,)
        Of the spheres around points, m, not negative.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…)
        m; negative where spheres or shapes overlap.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        Negative radii, or radii of shapes; wrong sizes of arrays, numbers that are not finite, a quaternion that is not
        of unit norm.
    ModelError
        Shapes without a formula.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> tip, corner = Frame("arm", (0.0, 0.0, -1.0)), Frame(None, (0.0, 0.0, -3.0))
    >>> float(mechanics.distance(tree, [0.0], tip, corner, radii=(0.25, 0.0)))
    1.75
    >>> from mechanics.forces import Capsule, Plane
    >>> float(mechanics.distance(tree, [0.0], Capsule(Frame("arm"), radius=0.1, length=2.0), Plane(corner)).round(9))
    1.9
    """
    if isinstance(first, Shape) or isinstance(second, Shape):
        if _radii(radii).any():
            raise ValueError(f"radii: {shown(radii)}, expected none: shapes have their own")
        return written(out, _nearest(tree, q, first, second, t)[0])
    gap = _apart(tree, q, first, second, t)
    values = np.asarray(np.sqrt((gap * gap).sum(axis=-1)) - _radii(radii).sum())
    return written(out, values)


def distance_jacobian(
    tree: Tree | HasTree,
    q: ArrayLike,
    first: str | Frame | Shape,
    second: str | Frame | Shape,
    t: float = 0.0,
    *,
    out: Array | None = None,
) -> Array:
    """J of the rate of `distance`, J = nᵀ(J₂ − J₁) with the direction n from the first point to the second, of shapes
    the points that are nearest.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    first, second : str, Frame or shape
        Whose origins: frames of `tree.frames`, bodies, or frames of your own; ``Frame(None, x)`` is a point of the
        world.  Or shapes of `mechanics.forces` that have a contact with each other: any on a `Plane`, spheres and
        capsules on one another.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv)
        SI units; radii of spheres change nothing.

    Raises
    ------
    KeyError
        No such frame.
    ValueError
        The points, or the middles of two round shapes, coincide: the distance has a corner there; wrong sizes of
        arrays, numbers that are not finite, a quaternion that is not of unit norm.
    ModelError
        Shapes without a formula.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> tip, wall = Frame("arm", (0.0, 0.0, -1.0)), Frame(None, (4.0, 0.0, -1.0))
    >>> mechanics.distance_jacobian(tree, [0.0], tip, wall).round(12).tolist()
    [1.0]
    """
    arms: list[tuple[Any, Array | None]] = [(first, None), (second, None)]
    if isinstance(first, Shape) or isinstance(second, Shape):
        _, n, arms = _nearest(tree, q, first, second, t)
    else:
        gap = _apart(tree, q, first, second, t)
        length = np.sqrt((gap * gap).sum(axis=-1, keepdims=True))
        n = -gap / np.where(length == 0.0, np.inf, length)
    if not n.any(axis=-1).all():
        raise ValueError(
            f"distance from {shown(first)} to {shown(second)}: the points coincide, where it has no derivative; "
            "take another configuration, or the Jacobians of the two frames"
        )
    J_1, J_2 = (_jacobian_of_point(tree, q, frame, t, arm) for frame, arm in arms)
    return written(out, np.einsum("...i,...ij->...j", n, J_1 - J_2))


def _jacobian_of_point(tree: Tree | HasTree, q: ArrayLike, frame: Any, t: float, arm: Array | None) -> Array:
    """J of the velocity of a point at `arm` from the origin of a frame, both in world axes."""
    J = frame_jacobian(tree, q, frame, t, axes="world")
    if arm is None:
        return J[..., :3, :]
    return np.asarray(J[..., :3, :] + np.cross(J[..., 3:, :], arm[..., None], axisa=-2, axisb=-2, axisc=-2))


def _nearest(
    tree: Tree | HasTree, q: ArrayLike, first: Any, second: Any, t: float
) -> tuple[Array, Array, list[tuple[Any, Array | None]]]:
    """The distance of two shapes, the direction from the second to the first, and of either the frame of its body with
    the arm of the point that is nearest, in world axes.
    """
    shapes = [as_shape(one if isinstance(one, Shape) else _frame(tree_of(tree), one), name)
              for one, name in ((first, "first"), (second, "second"))]  # fmt: skip
    found = []
    for pair in pairs_of(shapes[0], shapes[1]):
        bodies = [Frame(shape.frame.body) for shape in pair]
        states = [_still(*frame_pose(tree, q, body, t)) for body in bodies]
        n, d, *arms = nearest(geometry(pair, pair[0].frame, pair[1].frame), *states)
        found.append((-np.asarray(d), np.stack(n, axis=-1), [np.stack(arm, axis=-1) for arm in arms]))
    gaps = np.stack([gap for gap, _, _ in found])
    least = np.argmin(gaps, axis=0)

    def chosen(parts: Sequence[Array]) -> Array:
        return np.asarray(np.choose(least[..., None], [np.broadcast_to(x, (*least.shape, 3)) for x in parts]))

    ends: list[tuple[Any, Array | None]] = [(bodies[k], chosen([arms[k] for _, _, arms in found])) for k in (0, 1)]
    return gaps.min(axis=0), chosen([n for _, n, _ in found]), ends


def _still(x: Array, R: Array) -> BodyState:
    """A body at rest, in tuples of arrays."""
    R = R.reshape(*R.shape[:-2], 9)
    none = (0.0, 0.0, 0.0)
    return BodyState(tuple(np.moveaxis(R, -1, 0)), tuple(np.moveaxis(x, -1, 0)), none, none)


def _apart(tree: Tree | HasTree, q: ArrayLike, first: Any, second: Any, t: float) -> Array:
    """x₂ − x₁."""
    return frame_pose(tree, q, second, t)[0] - frame_pose(tree, q, first, t)[0]


def _radii(radii: ArrayLike) -> Array:
    r = reals(radii, "radii")
    if r.shape != (2,) or not (np.isfinite(r) & (r >= 0.0)).all():
        raise ValueError(f"radii: {shown(radii)}, expected two lengths, finite and not negative")
    return r


# --- frames -----------------------------------------------------------------------------------------------------------


def _of_frame(
    kernel: Entry,
    model: Tree | HasTree,
    frame: str | Frame,
    axes: str,
    names: tuple[str, ...],
    shape: tuple[int, ...],
) -> StateFunction:
    """A kernel of `mechanics.algorithms.frames` for a frame: kept with the tree; −1 in the shape stands for nv."""
    tree = tree_of(model)
    try:
        return tree.calls[kernel, frame, axes]  # type: ignore[no-any-return]
    except (KeyError, TypeError):
        pass
    if not isinstance(axes, str) or axes not in ("frame", "world"):
        raise ValueError(f"axes: {shown(axes)}, expected 'frame' or 'world'")
    arrays = pack_frame(tree, _frame(tree, frame), axes == "world")
    full = tuple(tree.nv if n < 0 else n for n in shape)
    function = StateFunction(kernel, names, shape=lambda tree: full, arrays=lambda tree: arrays)
    tree.calls[kernel, frame, axes] = function
    return function


def _frame(tree: Tree, frame: str | Frame) -> Frame:
    of_kind(frame, (str, Frame), "frame", "the name of a frame or a body of the tree, or a mechanics.Frame")
    if isinstance(frame, str):
        if frame not in tree.frames:
            return Frame(tree.bodies[_body(tree, frame)].name)
        frame = tree.frames[frame]
    if frame.body is not None and frame.body not in tree.body_names:
        raise KeyError(f"frame on body {frame.body!r}: tree {tree.name!r} has no such body")
    return frame


def _body(tree: Tree, name: str) -> int:
    try:
        return tree.body_index(name)
    except KeyError:
        known = [*tree.frames, *tree.body_names]
        few = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        raise KeyError(f"no frame or body {name!r} of tree {tree.name!r}; there are {few}") from None
