"""The discrete rolling condition of a variational step: what a wheel or blade must not slip from one node to the next.

With the displacement T = ΔQ − ΔP of the hub past the plane and the rotation vectors φ_j, φ_i of wheel and plane over
the step (all in space), and the force f, its moments o × f about the hub and (D + o) × f about the plane at either
node,

    C = ½ Σ_{k, k+1} [ f·T + (o × f)·φ_j − ((D + o) × f)·φ_i ] = 0

This is the trapezoidal rule of A(q) v dt = 0 along the step.  It changes its sign when the nodes are exchanged, so that
the step stays symmetric; a wheel that rolls straight, and one that turns on the spot, meet it exactly, whatever their
angle per step; and the equations of two wheels of one axle stay dependent. Source: Cortés and Martínez 2001 (discrete
Lagrange–d'Alembert); McLachlan and Perlmutter 2006 (symmetric constraints).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel
from liegroup.compile.dense import st_on
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.layout import closures_of, equation_of
from mechanics.closed_trees.poses import pose
from mechanics.constraints.body_equations import equation_numbers, second
from mechanics.constraints.wheel_equations import HEIGHT
from mechanics.constraints.wheel_gradients import slip, slip_gradient
from mechanics.kernels.links import put, vector
from mechanics.variational.body_maps import rotation_vector
from mechanics.variational.gibbs import turned
from mechanics.variational.workspace import SHIFT_BODY, TURN_BODY

LOOPS = "short"

FORCE, ABOUT_HUB, ABOUT_PLANE = 12, 15, 18
"""Columns of the line of an equation, behind its screws at k."""


@helper
def contact(parameters: Any, e: Any, field_work: Any, poses_at: Any) -> Any:
    """Normal A, axis B and D = Q − P of the contact of equation e, with the bodies as they are placed."""
    x = equation_numbers(parameters, e.numbers)
    R_i, x_i = pose(field_work, poses_at + e.first)
    R_j, x_j = pose(field_work, poses_at + e.second)
    return (
        rotated(R_i, x.a),
        rotated(second(e.kind, R_i, R_j), x.b),
        subtract(add(x_j, rotated(R_j, x.q)), add(x_i, rotated(R_i, x.p))),
    )


@helper
def displacement(work: Any, i: Any, R: Any, x: Any) -> Any:
    """ΔX of the point x of a link and its rotation vector φ over the step: in space, and φ also in link axes; R at k +
    1.
    """
    a = vector(work, i, TURN_BODY)
    phi = rotation_vector(a)
    shift = add(vector(work, i, SHIFT_BODY), turned(a, x))
    return rotated(R, add(shift, turned((-a[0], -a[1], -a[2]), shift))), rotated(R, phi), phi


@kernel
def remember_contact(parameters: Any, structure: Any, field_work: Any, work: Any, c: Any, line: Any) -> None:
    """Force and moments of a contact at node k."""
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    if e.kind > HEIGHT:
        A, B, D = contact(parameters, e, field_work, closures.poses)
        zero = scale(0.0, D)
        g = slip_gradient(e.kind, A, B, D, zero, zero, zero)
        put(work, line, FORCE, g.force)
        put(work, line, ABOUT_HUB, g.about_hub)
        put(work, line, ABOUT_PLANE, g.about_plane)


@kernel
def roll(parameters: Any, structure: Any, field_work: Any, work: Any, c: Any, line: Any) -> None:
    """Put C and its derivative by the increments of the two bodies in the places of φ and of the screws of a
    contact.
    """
    closures = closures_of(structure)
    e = equation_of(structure, closures, c)
    if e.kind > HEIGHT:
        x = equation_numbers(parameters, e.numbers)
        i, j, factor = e.first, e.second, x.scale
        poses_at, screw = closures.poses, closures.screws + c
        R_i, _ = pose(field_work, poses_at + i)
        R_j, _ = pose(field_work, poses_at + j)
        A, B, D = contact(parameters, e, field_work, poses_at)
        P, phi_i, turn_i = displacement(work, i, R_i, x.p)
        Q, phi_j, turn_j = displacement(work, j, R_j, x.q)
        T = subtract(Q, P)
        g = slip_gradient(e.kind, A, B, D, T, phi_i, phi_j)
        f = scale(0.5, add(g.force, vector(work, line, FORCE)))
        about_hub = scale(0.5, add(g.about_hub, vector(work, line, ABOUT_HUB)))
        about_plane = scale(0.5, add(g.about_plane, vector(work, line, ABOUT_PLANE)))
        st_on(field_work, closures.gap, c, slip(f, about_hub, about_plane, T, phi_i, phi_j))
        along = rotated_back(R_j, scale(factor, add(f, scale(0.5, g.by_distance))))
        turning = so3.dexpinv_right_transpose(turn_j, rotated_back(R_j, about_hub))
        turning = add(turning, rotated_back(R_j, scale(0.5, g.by_turn)))
        put(field_work, screw, 6, along)
        put(field_work, screw, 9, add(cross(x.q, along), scale(factor, turning)))
        along = rotated_back(R_i, scale(-factor, add(f, scale(0.5, g.by_distance))))
        turning = so3.dexpinv_right_transpose(turn_i, rotated_back(R_i, about_plane))
        turning = subtract(rotated_back(R_i, scale(0.5, g.by_turn_of_plane)), turning)
        put(field_work, screw, 0, along)
        put(field_work, screw, 3, add(cross(x.p, along), scale(factor, turning)))
