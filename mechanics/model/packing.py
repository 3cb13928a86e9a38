"""A tree as two flat arrays for the kernels: `structure` (int64) and `parameters` (float64).

The kernels know rows, not bodies.  A row is one elementary motion (`mechanics.joints.element`): a joint of several
elements becomes several rows, massless but for the last, and a body on a fixed joint is joined to the row that carries
it.  Every row has internal axes, turned from the axes of its body so that z is the axis of the motion and x is
perpendicular to the axis of its first child.  Then the frame of a child is reached by turns about two coordinate axes
only (a third for further children):

    x_parent = ρ + Rz(γ) Rx(α) Rz(θ₀ + q) x_child,        γ = 0 for the first child of a row with an axis,

which costs a third of a general change of axes.  Outputs are turned back to body axes on output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from liegroup.rotations import quaternion_wxyz_from_matrix
from mechanics.algebra.spatial import unit
from mechanics.joints.element import BALL, FLOAT, Element, Plane, _Directed
from mechanics.joints.motion import Motion
from mechanics.model.inertia import Inertia

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

Array = NDArray[np.float64]

# --- layout of `structure`: a header, the rows, the rows of the bodies
# ------------------------------------------------------

ROWS, N_Q, N_V, BODIES, DAMPING, BODY_ROWS, BODY_PLACES, EXTENSION = range(8)
HEADER = 8
KIND, PARENT, Q, V, PARAMETERS, FLAGS, MOTION, POWERS, HARMONICS = range(9)
ROW = 10
LEAF, FIRST, SIDE, SHIFT, HEAVY = 1, 2, 4, 8, 16
"""Flags: has no children; is the first to add to its parent; γ ≠ 0; ρ ≠ 0; has own inertia."""

# --- layout of `parameters`: gravity, axes with z against it (by rows), damping, rows, places of the bodies, motions
# ---------

AXES = 3
"""Where the upright axes begin."""
MASS, MOMENT, TENSOR, TREE_MASS, THETA, COS_THETA, SIN_THETA, COS_ALPHA, SIN_ALPHA, COS_GAMMA, SIN_GAMMA, RHO, PITCH = (
    *(0, 1, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21),
)
QUATERNION, PLACE = 22, 26
"""All constant turns of a row as one unit quaternion (w, x, y, z), and ρ turned by them: for BALL and FLOAT."""
ROW_NUMBERS = 29
BODY_NUMBERS = 12

# --- layout of a row of the workspace
# ---------------------------------------------------------------------------------------

A, H, J, L, K, C, COS, SIN, F = 0, 6, 15, 21, 24, 27, 30, 31, 32
"""Inertia blocks A, H, J (6, 9, 6), momentum (linear 3, angular 3), first moment (3), cos and sin of the angle, wrench
(6).
"""
COLUMNS = 38


@dataclass(frozen=True)
class Packed:
    """The two arrays and what is needed to read them."""

    parameters: Array
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]
    row_names: tuple[str, ...]
    """The joint of every row."""


@dataclass
class _Row:
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
    """Where a frame is: on which row, and how in the user's axes of that row."""

    row: int
    position: Array
    rotation: Array


def pack(tree: Tree) -> Packed:
    """Rows, internal axes and numbers of a tree."""
    rows, places = _rows(tree)
    for row in rows:
        row.axes = _axes(row)
    frames = [_frame(rows, row) for row in rows]
    n, damping_at = len(rows), AXES + 9
    rows_at = damping_at + tree.nv
    places_at = rows_at + n * ROW_NUMBERS
    body_rows_at = HEADER + n * ROW
    motions: list[float] = []
    structure = [n, tree.nq, tree.nv, len(places), damping_at, body_rows_at, places_at, 0]
    numbers: list[Array] = [tree.gravity, upright(tree.gravity).ravel(), tree.damping]
    masses = _tree_masses(rows)
    flags = _flags(rows)
    for i, row in enumerate(rows):
        theta, alpha, gamma, position = frames[i]
        motion = row.element.motion or Motion()
        at = places_at + len(places) * BODY_NUMBERS + len(motions)
        motions += [*motion.polynomial, *(x for harmonic in motion.harmonics for x in harmonic)]
        bits = flags[i] | SIDE * (gamma != (1.0, 0.0)) | SHIFT * bool(position.any())
        parent = row.parent if row.parent >= 0 else n
        structure += [
            row.element.code,
            parent,
            row.q,
            row.v,
            rows_at + i * ROW_NUMBERS,
            bits,
            at,
            len(motion.polynomial),
        ]
        structure += [len(motion.harmonics), 0]
        numbers.append(_numbers(row, masses[i], theta, alpha, gamma, position))
        if row.element.code in (BALL, FLOAT):
            E = _turn(gamma) @ _about_x(alpha)
            numbers[-1][QUATERNION:PLACE] = quaternion_wxyz_from_matrix(E @ _turn(theta))
            numbers[-1][PLACE:] = E @ position
    for place in places:
        axes, origin = _internal(rows, place.row)
        structure.append(place.row if place.row >= 0 else n)
        numbers.append(np.concatenate([(axes.T @ place.rotation).ravel(), axes.T @ (place.position - origin)]))
    return Packed(
        np.concatenate([*numbers, np.array(motions)]),
        np.array(structure, dtype=np.int64),
        (n + 1, COLUMNS),
        tuple(row.joint_name for row in rows),
    )


def upright(gravity: Array) -> Array:
    """Orthonormal rows, the last against gravity; the world's axes if there is none or it is along z."""
    if not gravity.any():
        return np.eye(3)
    z = -gravity / np.linalg.norm(gravity)
    x = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = unit(x - z * (z @ x))
    return np.stack([x, np.cross(z, x), z])


def _rows(tree: Tree) -> tuple[list[_Row], list[_Place]]:
    rows: list[_Row] = []
    places: list[_Place] = []
    base = _Place(-1, np.zeros(3), np.eye(3))
    for i, body in enumerate(tree.bodies):
        on = places[tree.parents[i]] if tree.parents[i] >= 0 else base
        place = _Place(on.row, on.position + on.rotation @ body.position, on.rotation @ body.rotation)
        q, v = int(tree.q_offsets[i]), int(tree.v_offsets[i])
        for element in body.joint.elements:
            _note_child(rows, place, element)
            rows.append(
                _Row(
                    element,
                    body.joint_name,
                    place.row,
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
            place = _Place(len(rows) - 1, np.zeros(3), np.eye(3))
        if place.row >= 0 and not body.inertia.is_zero:
            rows[place.row].inertia += body.inertia.moved(place.position, place.rotation)
        places.append(place)
    return rows, places


def _axis(element: Element) -> Array:
    """The z axis of the internal axes, in the user's."""
    if isinstance(element, _Directed):
        return np.asarray(unit(element.axis))
    return np.asarray(element.axes(0.0)[:, 2] if isinstance(element, Plane) else (0.0, 0.0, 1.0), dtype=float)


def _note_child(rows: list[_Row], place: _Place, element: Element) -> None:
    if place.row >= 0 and rows[place.row].first_child_axis is None:
        rows[place.row].first_child_axis = place.rotation @ _axis(element)


def _axes(row: _Row) -> Array:
    """Columns: the internal axes in the user's.  z along the motion, x normal to it and to the axis of the first
    child.
    """
    if isinstance(row.element, Plane):
        return np.asarray(row.element.axes(0.0), dtype=float)
    if not isinstance(row.element, _Directed):
        return np.eye(3)
    z = _axis(row.element)
    x = np.zeros(3) if row.first_child_axis is None else np.cross(z, row.first_child_axis)
    if np.linalg.norm(x) < 1e-14:
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x = unit(x - z * (z @ x))
    return np.stack([x, np.cross(z, x), z], axis=1)


def _internal(rows: list[_Row], i: int) -> tuple[Array, Array]:
    """Axes and origin of the internal frame of a row, in the user's frame; −1 is the base."""
    return (rows[i].axes, rows[i].origin) if i >= 0 else (np.eye(3), np.zeros(3))


Angle = tuple[float, float]
"""Cosine and sine."""


def _turn(angle: Angle) -> Array:
    c, s = angle
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_x(angle: Angle) -> Array:
    return np.roll(_turn(angle), (1, 1), axis=(0, 1))


def _frame(rows: list[_Row], row: _Row) -> tuple[Angle, Angle, Angle, Array]:
    """θ₀, α, γ and ρ of a row; also settles its origin (the parent's is settled)."""
    axes, origin = _internal(rows, row.parent)
    R = axes.T @ row.rotation @ row.axes
    gamma = (1.0, 0.0)
    if abs(R[0, 2]) > 1e-15:
        gamma = _normed(-R[1, 2], R[0, 2])
    if gamma[0] < 0.0:  # the same direction of z with a smaller γ and the opposite α
        gamma = (-gamma[0], -gamma[1])
    R = _turn(gamma).T @ R
    alpha = _normed(R[2, 2], -R[1, 2])
    R = _about_x(alpha).T @ R
    rho = _about_x(alpha).T @ _turn(gamma).T @ axes.T @ (row.position - origin)
    if isinstance(row.element, _Directed):
        row.origin = -rho[2] * row.axes[:, 2]
        rho[2] = 0.0
    return _normed(R[0, 0], R[1, 0]), alpha, gamma, rho


def _normed(c: float, s: float) -> Angle:
    r = float(np.hypot(c, s))
    return float(c) / r, float(s) / r


def _tree_masses(rows: list[_Row]) -> Array:
    masses = np.array([row.inertia.mass for row in rows])
    for i in range(len(rows) - 1, -1, -1):
        if rows[i].parent >= 0:
            masses[rows[i].parent] += masses[i]
    return masses


def _flags(rows: list[_Row]) -> list[int]:
    """LEAF, FIRST (children add to their parent from the last to the first) and HEAVY."""
    last_child: dict[int, int] = {row.parent: i for i, row in enumerate(rows)}
    return [
        LEAF * (i not in last_child) | FIRST * (last_child[row.parent] == i) | HEAVY * (not row.inertia.is_zero)
        for i, row in enumerate(rows)
    ]


def _numbers(row: _Row, mass: float, theta: Angle, alpha: Angle, gamma: Angle, position: Array) -> Array:
    inertia = row.inertia.moved(-row.axes.T @ row.origin, row.axes.T)
    x = np.zeros(ROW_NUMBERS)
    x[MASS] = inertia.mass
    x[MOMENT : MOMENT + 3] = inertia.mass * inertia.com
    x[TENSOR : TENSOR + 6] = inertia.tensor[np.triu_indices(3)]
    x[TREE_MASS] = mass
    x[THETA] = np.arctan2(theta[1], theta[0])
    x[COS_THETA], x[SIN_THETA] = theta
    x[COS_ALPHA], x[SIN_ALPHA] = alpha
    x[COS_GAMMA], x[SIN_GAMMA] = gamma
    x[RHO : RHO + 3] = position
    x[PITCH] = getattr(row.element, "pitch", 0.0)
    return x
