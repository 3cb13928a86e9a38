"""Force elements in the kernels: forces after the twists are known, stored energy, and power.

An element is ten integers ``(kind, law, first row, second row, place in parameters, friction law, motion, powers,
harmonics, 0)``; for elements on a joint the rows are the numbers of its coordinate and of its velocity.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.packing import ACCUMULATED, ELEMENT, ELEMENTS, FORCES, POSES
from mechanics.closed_trees.poses import add_at, pose
from mechanics.constraints.rows import ROW_NUMBERS, row_screws
from mechanics.forces.elements import COMPLIANT, JOINT_SPRING, MOTOR, SERVO
from mechanics.forces.laws import NO_FRICTION, friction_ratio, normal_force
from mechanics.kernels.rows import prescribed, vector
from mechanics.model.packing import EXTENSION

STIFFNESS, DAMPING = ROW_NUMBERS, ROW_NUMBERS + 1
"""Behind the numbers of a compliant row."""
TINY = 1e-150
"""Added to the square of a slip speed: friction at rest is zero whatever its direction."""


@helper
def three(parameters: Any, at: Any) -> Any:
    """Three parameters."""
    return parameters[at], parameters[at + 1], parameters[at + 2]


@helper
def on_coordinate(t: Any, parameters: Any, structure: Any, e: Any, x: Any, s: Any) -> Any:
    """Force, stored energy and power of an element on a joint, at the coordinate x with rate s."""
    kind, at = structure[e], structure[e + 4]
    k, c, rest = three(parameters, at)
    if kind == JOINT_SPRING:
        d = x - rest
        return -(k * d) - c * s, 0.5 * k * d * d, -(c * s * s)
    value, rate = prescribed(t, parameters, structure, e)
    force = value + 0.0 * x if kind == MOTOR else -(k * (x - value)) - c * (s - rate)
    return force, 0.0 * x, force * s


@helper
def on_row(parameters: Any, structure: Any, e: Any, work: Any, poses_at: Any) -> Any:
    """φ, its rate, and the screws of a compliant row; twists are in columns 0 … 5 of the rows."""
    at, i, j = structure[e + 4], structure[e + 2], structure[e + 3]
    R_i, x_i = pose(work, poses_at + i)
    R_j, x_j = pose(work, poses_at + j)
    a, p, b, q = three(parameters, at), three(parameters, at + 3), three(parameters, at + 6), three(parameters, at + 9)
    phi, W_i, W_j = row_screws(structure[e + 1], a, p, b, q, parameters[at + 12], R_i, x_i, R_j, x_j)
    rate = _power(W_i, vector(work, i, 0), vector(work, i, 3)) + _power(W_j, vector(work, j, 0), vector(work, j, 3))
    return phi, rate, W_i, W_j


@helper
def _power(W: Any, v: Any, w: Any) -> Any:
    return (W[0] * v[0] + W[1] * v[1] + W[2] * v[2]) + (W[3] * w[0] + W[4] * w[1] + W[5] * w[2])


@helper
def on_plane(parameters: Any, structure: Any, e: Any, work: Any, poses_at: Any) -> Any:
    """Force on the sphere (world axes), its point relative to either body (world axes), stored energy and power."""
    at, i, j = structure[e + 4], structure[e + 2], structure[e + 3]
    R_i, x_i = pose(work, poses_at + i)
    R_j, x_j = pose(work, poses_at + j)
    normal = rotated(R_j, three(parameters, at + 3))
    center = rotated(R_i, three(parameters, at))
    arm_i = subtract(center, scale(parameters[at + 9], normal))
    arm_j = subtract(add(x_i, arm_i), x_j)
    d = -dot(normal, subtract(arm_j, rotated(R_j, three(parameters, at + 6))))
    slip = subtract(_velocity(work, i, R_i, arm_i), _velocity(work, j, R_j, arm_j))
    d_dot = -dot(normal, slip)
    N, stored, spring = normal_force(structure[e + 1], parameters[at + 10], parameters[at + 11], d, d_dot)
    slip = add(slip, scale(d_dot, normal))
    force = scale(N, normal)
    if structure[e + 5] != NO_FRICTION:
        speed = sqrt(dot(slip, slip) + TINY)
        ratio = friction_ratio(structure[e + 5], parameters[at + 12], parameters[at + 13], parameters[at + 14], speed)
        force = subtract(force, scale(N * ratio / speed, slip))
    return force, arm_i, arm_j, stored, dot(force, slip) + (spring - N) * d_dot


@helper
def _velocity(work: Any, i: Any, R: Any, arm: Any) -> Any:
    """Velocity of a point of row i, world axes."""
    return add(rotated(R, vector(work, i, 0)), cross(rotated(R, vector(work, i, 3)), arm))


@helper
def _apply(work: Any, row: Any, R: Any, arm: Any, force: Any) -> None:
    """Add a force at `arm` from the origin of a row, world axes, to its accumulated wrench."""
    f, m = rotated_back(R, force), rotated_back(R, cross(arm, force))
    for k in range(3):
        add_at(work, row, ACCUMULATED + k, f[k])
        add_at(work, row, ACCUMULATED + 3 + k, m[k])


@kernel
def forces(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """Wrenches into the accumulators, forces on joints into out[offset …]; out[0 …] holds the velocities."""
    o = structure[EXTENSION]
    poses_at = structure[o + POSES]
    for n in range(structure[o + FORCES]):
        e = structure[o + ELEMENTS] + ELEMENT * n
        kind, at, i, j = structure[e], structure[e + 4], structure[e + 2], structure[e + 3]
        if kind in (JOINT_SPRING, SERVO, MOTOR):
            force, _, _ = on_coordinate(t, parameters, structure, e, ld(y, i), ld(out, j))
            st(out, offset + j, ld(out, offset + j) + force)
        elif kind == COMPLIANT:
            phi, rate, W_i, W_j = on_row(parameters, structure, e, work, poses_at)
            x = -(parameters[at + STIFFNESS] * phi) - parameters[at + DAMPING] * rate
            for k in range(6):
                add_at(work, poses_at + i, ACCUMULATED + k, x * W_i[k])
                add_at(work, poses_at + j, ACCUMULATED + k, x * W_j[k])
        else:
            f, arm_i, arm_j, _, _ = on_plane(parameters, structure, e, work, poses_at)
            R_i, _ = pose(work, poses_at + i)
            R_j, _ = pose(work, poses_at + j)
            _apply(work, poses_at + i, R_i, arm_i, f)
            _apply(work, poses_at + j, R_j, arm_j, scale(-1.0, f))


@kernel
def stored_and_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any) -> Any:
    """(U, P): energy stored in the elements, and the power of what is not stored."""
    o = structure[EXTENSION]
    stored = power = ld2(work, structure[o + POSES], 0) * 0.0
    for n in range(structure[o + FORCES]):
        e = structure[o + ELEMENTS] + ELEMENT * n
        kind, at = structure[e], structure[e + 4]
        if kind in (JOINT_SPRING, SERVO, MOTOR):
            _, u, p = on_coordinate(
                t, parameters, structure, e, ld(y, structure[e + 2]), ld(velocities, structure[e + 3])
            )
            stored, power = stored + u, power + p
        elif kind == COMPLIANT:
            phi, rate, _, _ = on_row(parameters, structure, e, work, structure[o + POSES])
            stored, power = (
                stored + 0.5 * parameters[at + STIFFNESS] * phi * phi,
                power - parameters[at + DAMPING] * rate * rate,
            )
        else:
            _, _, _, u, p = on_plane(parameters, structure, e, work, structure[o + POSES])
            stored, power = stored + u, power + p
    return stored, power
