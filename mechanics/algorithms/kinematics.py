"""Where the bodies are and how they move."""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld2, st, st2
from liegroup.formulas.vectors import add, cross, dot
from mechanics.algebra.vectors import rotated_back
from mechanics.kernels.links import direction_down, moment_up, put, set_angle, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, project, velocities
from mechanics.model.layout import header_of, link_of, place_of

ORIGIN, AXES = 6, 9
"""Columns of the origin of a link in the world, and of the world's axes in link axes."""


@helper
def poses(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Origins and axes of all links in the world."""
    n = header_of(structure).links
    for column in range(12):
        st2(work, n, ORIGIN + column, 1.0 if column in (3, 7, 11) else 0.0)
    for i in range(n):
        link = link_of(structure, i)
        k = link.parent
        set_angle(t, y, parameters, work, i, link)
        zero = ld2(work, n, ORIGIN)
        x = moment_up(t, y, parameters, work, i, link, (zero, zero, zero), 1.0)
        for r in range(3):
            axis = vector(work, k, AXES + 3 * r)
            st2(work, i, ORIGIN + r, ld2(work, k, ORIGIN + r) + dot(axis, x))
            put(work, i, AXES + 3 * r, direction_down(y, parameters, work, i, link, axis))


@helper
def pose_at(work: Any, place: Any, out: Any, o: Any) -> None:
    """out[o … o + 12] <- origin in the world of what is at a place of a link (3), and the rotation from its axes to
    those of the world by rows (9); after `poses`.
    """
    i, R, x = place
    for r in range(3):
        axis = vector(work, i, AXES + 3 * r)
        st(out, o + r, ld2(work, i, ORIGIN + r) + dot(axis, x))
        turned = rotated_back(R, axis)
        st(out, o + 3 + 3 * r, turned[0])
        st(out, o + 4 + 3 * r, turned[1])
        st(out, o + 5 + 3 * r, turned[2])


@helper
def twist_at(work: Any, place: Any) -> Any:
    """The twist (linear, angular) of what is at a place of a link, at its origin in its axes; after `velocities`."""
    i, R, x = place
    v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
    return rotated_back(R, add(v, cross(w, x))), rotated_back(R, w)


@helper
def put_six(out: Any, o: Any, v: Any, w: Any) -> None:
    """out[o … o + 6] <- (v, w)."""
    st(out, o, v[0])
    st(out, o + 1, v[1])
    st(out, o + 2, v[2])
    st(out, o + 3, w[0])
    st(out, o + 4, w[1])
    st(out, o + 5, w[2])


@helper
def jacobian_at(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, place: Any, in_world: Any, out: Any, o: Any
) -> None:
    """out[o … o + 6 n_v] <- Jacobian, by rows, of what is at a place of a link, in its own axes or in those of the
    world, at its origin; after `poses`.

    Row r is what a unit wrench there does along the joints, Bᵀ F.
    """
    tree = header_of(structure)
    for k in range(o, o + 6 * tree.n_v):
        st(out, k, 0.0)
    for r in range(6):
        f, m = unit_wrench(work, place, in_world, r)
        i = place.link
        while i < tree.links:
            link = link_of(structure, i)
            project(parameters, link, f, m, out, o + r * tree.n_v + link.v, 1)
            f, m = wrench_up(t, y, parameters, work, i, link, f, m)
            i = link.parent


@helper
def unit_wrench(work: Any, place: Any, in_world: Any, r: Any) -> Any:
    """A unit force (r < 3) or moment along one of the axes of a place, or of the world, about the origin of the link
    and in its axes.
    """
    c = r if r < 3 else r - 3
    R, x = place.rotation, place.position
    zero = ld2(work, place.link, ORIGIN) - ld2(work, place.link, ORIGIN)
    if in_world:
        d = vector(work, place.link, AXES + 3 * c)
    elif c == 0:
        d = zero + R[0], zero + R[3], zero + R[6]
    elif c == 1:
        d = zero + R[1], zero + R[4], zero + R[7]
    else:
        d = zero + R[2], zero + R[5], zero + R[8]
    none = zero, zero, zero
    return (d, cross(x, d)) if r < 3 else (none, d)


@entry(*FIELD_SIGNATURES)
def body_poses(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → for every body its origin in the world (3) and the rotation body → world by rows (9)."""
    poses(t, y, parameters, structure, work)
    for b in range(header_of(structure).bodies):
        pose_at(work, place_of(parameters, structure, b), out, 12 * b)


@entry(*FIELD_SIGNATURES)
def body_twists(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → for every body its twist (linear, angular), body axes at the body origin."""
    tree = header_of(structure)
    velocities(t, y, tree.n_q, parameters, structure, work)
    for b in range(tree.bodies):
        v, w = twist_at(work, place_of(parameters, structure, b))
        put_six(out, 6 * b, v, w)


@entry(*FIELD_SIGNATURES)
def body_jacobians(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → for every body its Jacobian (6 × n_v, by rows), body axes at the body origin."""
    tree = header_of(structure)
    poses(t, y, parameters, structure, work)
    for b in range(tree.bodies):
        place = place_of(parameters, structure, b)
        jacobian_at(t, y, parameters, structure, work, place, False, out, 6 * tree.n_v * b)
