"""Force elements in the kernels: forces after the twists are known, stored energy, and power."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.layout import (
    ACCUMULATED,
    Equation,
    closures_of,
    compliance_of,
    contact_of,
    element_of,
    spring_of,
)
from mechanics.closed_trees.poses import add_at, pose, screws_of
from mechanics.forces.elements import COMPLIANT, JOINT_SPRING, MOTOR, SERVO
from mechanics.forces.laws import NO_FRICTION, friction_ratio, normal_force
from mechanics.kernels.links import prescribed, vector

TINY = 1e-150
"""Added to the square of a slip speed: friction at rest is zero whatever its direction."""


@helper
def on_coordinate(t: Any, parameters: Any, element: Any, x: Any, s: Any) -> Any:
    """Force, stored energy and power of an element on a joint, at the coordinate x with rate s."""
    k, c, rest = spring_of(parameters, element)
    if element.kind == JOINT_SPRING:
        d = x - rest
        return -(k * d) - c * s, 0.5 * k * d * d, -(c * s * s)
    value, rate = prescribed(t, parameters, element)
    force = value + 0.0 * x if element.kind == MOTOR else -(k * (x - value)) - c * (s - rate)
    return force, 0.0 * x, force * s


@helper
def on_equation(parameters: Any, structure: Any, closures: Any, element: Any, work: Any) -> Any:
    """φ, its rate, and the screws of a compliant equation; twists are in columns 0 … 5 of the links."""
    i, j = element.first, element.second
    equation = Equation(element.law, i, j, element.numbers, element.code)
    phi, W_i, W_j = screws_of(parameters, structure, closures, equation, work)
    rate = _power(W_i, vector(work, i, 0), vector(work, i, 3)) + _power(W_j, vector(work, j, 0), vector(work, j, 3))
    return phi, rate, W_i, W_j


@helper
def _power(W: Any, v: Any, w: Any) -> Any:
    return (W[0] * v[0] + W[1] * v[1] + W[2] * v[2]) + (W[3] * w[0] + W[4] * w[1] + W[5] * w[2])


@helper
def on_plane(parameters: Any, element: Any, work: Any, poses_at: Any) -> Any:
    """Force on the sphere (world axes), its point relative to either body (world axes), stored energy and power."""
    i, j, x = element.first, element.second, contact_of(parameters, element)
    R_i, x_i = pose(work, poses_at + i)
    R_j, x_j = pose(work, poses_at + j)
    normal = rotated(R_j, x.normal)
    center = rotated(R_i, x.center)
    arm_i = subtract(center, scale(x.radius, normal))
    arm_j = subtract(add(x_i, arm_i), x_j)
    d = -dot(normal, subtract(arm_j, rotated(R_j, x.point)))
    slip = subtract(_velocity(work, i, R_i, arm_i), _velocity(work, j, R_j, arm_j))
    d_dot = -dot(normal, slip)
    N, stored, spring = normal_force(element.law, x.stiffness, x.damping, d, d_dot)
    slip = add(slip, scale(d_dot, normal))
    force = scale(N, normal)
    if element.friction != NO_FRICTION:
        speed = sqrt(dot(slip, slip) + TINY)
        ratio = friction_ratio(element.friction, x.static, x.dynamic, x.slip_speed, speed)
        force = subtract(force, scale(N * ratio / speed, slip))
    return force, arm_i, arm_j, stored, dot(force, slip) + (spring - N) * d_dot


@helper
def _velocity(work: Any, i: Any, R: Any, arm: Any) -> Any:
    """Velocity of a point of link i, world axes."""
    return add(rotated(R, vector(work, i, 0)), cross(rotated(R, vector(work, i, 3)), arm))


@helper
def _apply(work: Any, line: Any, R: Any, arm: Any, force: Any) -> None:
    """Add a force at `arm` from the origin of a link, world axes, to its accumulated wrench."""
    f, m = rotated_back(R, force), rotated_back(R, cross(arm, force))
    for k in range(3):
        add_at(work, line, ACCUMULATED + k, f[k])
        add_at(work, line, ACCUMULATED + 3 + k, m[k])


@kernel
def forces(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """Wrenches into the accumulators, forces on joints into out[offset …]; out[0 …] holds the velocities."""
    closures = closures_of(structure)
    poses_at = closures.poses
    for n in range(closures.forces):
        element = element_of(structure, closures, n)
        kind, i, j = element.kind, element.first, element.second
        if kind in (JOINT_SPRING, SERVO, MOTOR):
            force, _, _ = on_coordinate(t, parameters, element, ld(y, i), ld(out, j))
            st(out, offset + j, ld(out, offset + j) + force)
        elif kind == COMPLIANT:
            phi, rate, W_i, W_j = on_equation(parameters, structure, closures, element, work)
            stiffness, damping = compliance_of(parameters, element)
            x = -(stiffness * phi) - damping * rate
            for k in range(6):
                add_at(work, poses_at + i, ACCUMULATED + k, x * W_i[k])
                add_at(work, poses_at + j, ACCUMULATED + k, x * W_j[k])
        else:
            f, arm_i, arm_j, _, _ = on_plane(parameters, element, work, poses_at)
            R_i, _ = pose(work, poses_at + i)
            R_j, _ = pose(work, poses_at + j)
            _apply(work, poses_at + i, R_i, arm_i, f)
            _apply(work, poses_at + j, R_j, arm_j, scale(-1.0, f))


@kernel
def stored_and_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any) -> Any:
    """(U, P): energy stored in the elements, and the power of what is not stored."""
    closures = closures_of(structure)
    stored = power = ld2(work, closures.poses, 0) * 0.0
    for n in range(closures.forces):
        element = element_of(structure, closures, n)
        if element.kind in (JOINT_SPRING, SERVO, MOTOR):
            x, s = ld(y, element.first), ld(velocities, element.second)
            _, u, p = on_coordinate(t, parameters, element, x, s)
            stored, power = stored + u, power + p
        elif element.kind == COMPLIANT:
            phi, rate, _, _ = on_equation(parameters, structure, closures, element, work)
            stiffness, damping = compliance_of(parameters, element)
            stored, power = stored + 0.5 * stiffness * phi * phi, power - damping * rate * rate
        else:
            _, _, _, u, p = on_plane(parameters, element, work, closures.poses)
            stored, power = stored + u, power + p
    return stored, power
