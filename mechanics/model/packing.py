"""A tree as two flat arrays for the kernels: `structure` (int64) and `parameters` (float64).

The kernels know links, not bodies.  A link is one elementary motion (`mechanics.joints.element`): a joint of several
elements becomes several links, massless but for the last, and a body on a fixed joint is joined to the link that
carries it.  Every link has internal axes, turned from the axes of its body so that z is the axis of the motion and x is
perpendicular to the axis of its first child.  Then the frame of a child is reached by turns about two coordinate axes
only (a third for further children):

    x_parent = ρ + Rz(γ) Rx(α) Rz(θ₀ + q) x_child,        γ = 0 for the first child of a link with an axis,

which costs a third of a general change of axes.  Outputs are turned back to body axes on output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.rotations import quaternion_wxyz_from_matrix
from mechanics.algebra.spatial import unit
from mechanics.joints.element import BALL, FLOAT, TURN, Element, Plane, _Directed
from mechanics.joints.motion import Motion
from mechanics.model.inertia import Inertia
from mechanics.model.layout import (
    ANY_KINDS,
    COLUMNS,
    DAMPING,
    FIRST,
    GEARED,
    HEADER,
    HEAVY,
    LEAF,
    LINK,
    NO_BALLS,
    NUMBERS,
    ONLY_TURNS,
    PLACE,
    SHIFT,
    SIDE,
    WITH_ARMATURE,
    Header,
    Link,
    Numbers,
    Way,
    header_of,
    place_of,
)

if TYPE_CHECKING:
    from mechanics.model.frames import Frame
    from mechanics.model.tree import Tree

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Packed:
    """The two arrays and what is needed to read them."""

    parameters: Array
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]
    link_names: tuple[str, ...]
    """The joint of every link."""


@dataclass
class _Draft:
    element: Element
    joint_name: str
    parent: int
    position: Array
    rotation: Array
    q: int
    v: int
    inertia: Inertia
    axes: Array
    origin: Array
    first_child_axis: Array | None = None


@dataclass
class _Place:
    """Where a frame is: on which link, and how in the user's axes of that link."""

    link: int
    position: Array
    rotation: Array


def pack(tree: Tree) -> Packed:
    """Links, internal axes and numbers of a tree."""
    links, places = _drafts(tree)
    for link in links:
        link.axes = _axes(link)
    ways = _ways(links)
    armature = tree.armature if tree.armature.any() else tree.armature[:0]
    links_at = DAMPING + tree.nv + len(armature)
    places_at = links_at + NUMBERS * len(links)
    motions_at = places_at + PLACE * len(places)
    header = Header(
        len(links),
        tree.nq,
        tree.nv,
        len(places),
        DAMPING,
        HEADER + LINK * len(links),
        places_at,
        0,
        WITH_ARMATURE if len(armature) else _kinds(links),
        _depth(ways),
    )
    frames = [_frame(links, link) for link in links]
    masses, flags = _tree_masses(links), _flags(links, tree.armature)
    structure: list[int] = [*header]
    numbers: list[Array] = [tree.gravity, upright(tree.gravity).ravel(), tree.damping, armature]
    motions: list[float] = []
    for i, (link, frame) in enumerate(zip(links, frames, strict=True)):
        structure += _record(link, frame, flags[i], links_at + NUMBERS * i, motions_at + len(motions), len(links))
        numbers.append(_numbers(link, masses[i], frame))
        motions += _coefficients(link)
    for place in places:
        axes, origin = _internal(links, place.link)
        structure.append(place.link if place.link >= 0 else len(links))
        numbers += [(axes.T @ place.rotation).ravel(), axes.T @ (place.position - origin)]
    structure += [x for way in ways for x in way]
    return Packed(
        np.concatenate([*numbers, np.array(motions)]),
        np.array(structure, dtype=np.int64),
        (len(links) + 1, COLUMNS),
        tuple(link.joint_name for link in links),
    )


def _kinds(links: list[_Draft]) -> int:
    """What kinds of links there are, for the sweeps."""
    codes = {link.element.code for link in links}
    return ONLY_TURNS if codes <= {TURN} else ANY_KINDS if codes & {BALL, FLOAT} else NO_BALLS


def _ways(links: list[_Draft]) -> list[Way]:
    """The `Way` of every velocity."""
    last: list[int] = []
    above: list[int] = []
    for link in links:
        at = last[link.parent] if link.parent >= 0 else -1
        for v in range(link.v, link.v + link.element.n_v):
            above.append(at)
            at = v
        last.append(at)
    run, moves = list(range(len(above))), list(range(len(above)))
    for v, at in enumerate(above):
        if at == v - 1 >= 0:
            run[v] = run[at]
    for v in reversed(range(len(above))):
        if above[v] >= 0:
            moves[above[v]] = max(moves[above[v]], moves[v])
    return [Way(*way) for way in zip(above, run, moves, strict=True)]


def _depth(ways: list[Way]) -> int:
    """How many velocities there are on the way of one to the base, in the mean, rounded down."""
    counts: list[int] = []
    for way in ways:
        counts.append(counts[way.above] + 1 if way.above >= 0 else 0)
    return sum(counts) // max(len(counts), 1)


def _record(link: _Draft, frame: _Frame, flags: int, numbers: int, motion: int, base: int) -> Link:
    bits = flags | SIDE * (frame.gamma != (1.0, 0.0)) | SHIFT * bool(frame.rho.any())
    parent = link.parent if link.parent >= 0 else base
    powers, harmonics = (link.element.motion or Motion()).sizes
    return Link(link.element.code, parent, link.q, link.v, numbers, bits, motion, powers, harmonics)


def _coefficients(link: _Draft) -> list[float]:
    return (link.element.motion or Motion()).numbers


def upright(gravity: Array) -> Array:
    """Orthonormal rows, the last against gravity; the world's axes if there is none or it is along z."""
    if not gravity.any():
        return np.eye(3)
    z = -gravity / np.linalg.norm(gravity)
    x = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = unit(x - z * (z @ x))
    return np.stack([x, np.cross(z, x), z])


def _drafts(tree: Tree) -> tuple[list[_Draft], list[_Place]]:
    links: list[_Draft] = []
    places: list[_Place] = []
    base = _Place(-1, np.zeros(3), np.eye(3))
    for i, body in enumerate(tree.bodies):
        on = places[tree.parents[i]] if tree.parents[i] >= 0 else base
        place = _Place(on.link, on.position + on.rotation @ body.position, on.rotation @ body.rotation)
        q, v = int(tree.q_offsets[i]), int(tree.v_offsets[i])
        for element in body.joint.elements:
            _note_child(links, place, element)
            links.append(
                _Draft(
                    element,
                    body.joint_name,
                    place.link,
                    place.position,
                    place.rotation,
                    q,
                    v,
                    Inertia.zero(),
                    np.eye(3),
                    np.zeros(3),
                )
            )
            q, v = q + element.n_q, v + element.n_v
            place = _Place(len(links) - 1, np.zeros(3), np.eye(3))
        if place.link >= 0 and not body.inertia.is_zero:
            links[place.link].inertia += body.inertia.moved(place.position, place.rotation)
        places.append(place)
    return links, places


def _axis(element: Element) -> Array:
    """The z axis of the internal axes, in the user's."""
    if isinstance(element, _Directed):
        return np.asarray(unit(element.axis))
    return np.asarray(element.axes(0.0)[:, 2] if isinstance(element, Plane) else (0.0, 0.0, 1.0), dtype=float)


def _note_child(links: list[_Draft], place: _Place, element: Element) -> None:
    if place.link >= 0 and links[place.link].first_child_axis is None:
        links[place.link].first_child_axis = place.rotation @ _axis(element)


def _axes(link: _Draft) -> Array:
    """Columns: the internal axes in the user's.  z along the motion, x normal to it and to the axis of the first
    child.
    """
    if isinstance(link.element, Plane):
        return np.asarray(link.element.axes(0.0), dtype=float)
    if not isinstance(link.element, _Directed):
        return np.eye(3)
    z = _axis(link.element)
    x = np.zeros(3) if link.first_child_axis is None else np.cross(z, link.first_child_axis)
    if np.linalg.norm(x) < 1e-14:
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x = unit(x - z * (z @ x))
    return np.stack([x, np.cross(z, x), z], axis=1)


def _internal(links: list[_Draft], i: int) -> tuple[Array, Array]:
    """Axes and origin of the internal frame of a link, in the user's frame; −1 is the base."""
    return (links[i].axes, links[i].origin) if i >= 0 else (np.eye(3), np.zeros(3))


Angle = tuple[float, float]
"""Cosine and sine."""


def _turn(angle: Angle) -> Array:
    c, s = angle
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_x(angle: Angle) -> Array:
    return np.roll(_turn(angle), (1, 1), axis=(0, 1))


class _Frame(NamedTuple):
    """How a link stands in the frame of its parent."""

    theta: Angle
    alpha: Angle
    gamma: Angle
    rho: Array


def _frame(links: list[_Draft], link: _Draft) -> _Frame:
    """The frame of a link; also settles its origin (the parent's is settled)."""
    axes, origin = _internal(links, link.parent)
    R = axes.T @ link.rotation @ link.axes
    gamma = (1.0, 0.0)
    if abs(R[0, 2]) > 1e-15:
        gamma = _normed(-R[1, 2], R[0, 2])
    if gamma[0] < 0.0:  # the same direction of z with a smaller γ and the opposite α
        gamma = (-gamma[0], -gamma[1])
    R = _turn(gamma).T @ R
    alpha = _normed(R[2, 2], -R[1, 2])
    R = _about_x(alpha).T @ R
    rho = _about_x(alpha).T @ _turn(gamma).T @ axes.T @ (link.position - origin)
    if isinstance(link.element, _Directed):
        link.origin = -rho[2] * link.axes[:, 2]
        rho[2] = 0.0
    return _Frame(_normed(R[0, 0], R[1, 0]), alpha, gamma, rho)


def _normed(c: float, s: float) -> Angle:
    r = float(np.hypot(c, s))
    return float(c) / r, float(s) / r


def _tree_masses(links: list[_Draft]) -> Array:
    masses = np.array([link.inertia.mass for link in links])
    for i in range(len(links) - 1, -1, -1):
        if links[i].parent >= 0:
            masses[links[i].parent] += masses[i]
    return masses


def _flags(links: list[_Draft], armature: Array) -> list[int]:
    """LEAF, FIRST (children add to their parent from the last to the first), HEAVY and GEARED."""
    last_child: dict[int, int] = {link.parent: i for i, link in enumerate(links)}
    return [
        LEAF * (i not in last_child)
        | FIRST * (last_child[link.parent] == i)
        | HEAVY * (not link.inertia.is_zero)
        | GEARED * bool(armature[link.v : link.v + link.element.n_v].any())
        for i, link in enumerate(links)
    ]


def _numbers(link: _Draft, tree_mass: float, frame: _Frame) -> Array:
    inertia = link.inertia.moved(-link.axes.T @ link.origin, link.axes.T)
    quaternion, place = np.zeros(4), np.zeros(3)
    if link.element.code in (BALL, FLOAT):
        E = _turn(frame.gamma) @ _about_x(frame.alpha)
        quaternion, place = quaternion_wxyz_from_matrix(E @ _turn(frame.theta)), E @ frame.rho
    numbers = Numbers(
        mass=inertia.mass,
        moment=inertia.mass * inertia.com,
        tensor=inertia.tensor[np.triu_indices(3)],
        tree_mass=tree_mass,
        theta=np.arctan2(frame.theta[1], frame.theta[0]),
        turn=frame.theta,
        alpha=frame.alpha,
        gamma=frame.gamma,
        rho=frame.rho,
        pitch=getattr(link.element, "pitch", 0.0),
        quaternion=quaternion,
        place=place,
    )
    return np.hstack(numbers)


def pack_frame(tree: Tree, frame: Frame, in_world: bool) -> Packed:
    """The arrays of a tree with those of a frame behind them (`mechanics.algorithms.frames`)."""
    packed = tree.packed
    link, rotation, position = header_of(packed.structure).links, np.eye(3), np.zeros(3)
    if frame.body is not None:
        place = place_of(packed.parameters, packed.structure, tree.body_index(frame.body))
        link, rotation, position = place.link, np.reshape(place.rotation, (3, 3)), np.array(place.position)
    own = (rotation @ frame.rotation).ravel(), position + rotation @ frame.position
    return replace(
        packed,
        parameters=np.concatenate([packed.parameters, *own]),
        structure=np.append(packed.structure, [link, int(in_world)]),
    )
