"""Where the bodies are and how they move."""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld2, st, st2
from liegroup.formulas.vectors import add, cross, dot
from mechanics.algebra.vectors import rotated_back
from mechanics.kernels.links import direction_down, moment_up, put, set_angle, vector
from mechanics.kernels.sweeps import TWIST, velocities
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


@entry(*FIELD_SIGNATURES)
def body_poses(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → for every body its origin in the world (3) and the rotation body → world by rows (9)."""
    poses(t, y, parameters, structure, work)
    for b in range(header_of(structure).bodies):
        i, R, x = place_of(parameters, structure, b)
        for r in range(3):
            axis = vector(work, i, AXES + 3 * r)
            st(out, 12 * b + r, ld2(work, i, ORIGIN + r) + dot(axis, x))
            turned = rotated_back(R, axis)
            st(out, 12 * b + 3 + 3 * r, turned[0])
            st(out, 12 * b + 4 + 3 * r, turned[1])
            st(out, 12 * b + 5 + 3 * r, turned[2])


@entry(*FIELD_SIGNATURES)
def body_twists(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → for every body its twist (linear, angular), body axes at the body origin."""
    tree = header_of(structure)
    velocities(t, y, tree.n_q, parameters, structure, work)
    for b in range(tree.bodies):
        i, R, x = place_of(parameters, structure, b)
        v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
        v, w = rotated_back(R, add(v, cross(w, x))), rotated_back(R, w)
        st(out, 6 * b, v[0])
        st(out, 6 * b + 1, v[1])
        st(out, 6 * b + 2, v[2])
        st(out, 6 * b + 3, w[0])
        st(out, 6 * b + 4, w[1])
        st(out, 6 * b + 5, w[2])
