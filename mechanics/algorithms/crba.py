"""CRBA: the mass matrix from composite bodies.

Every link gets the inertia of its subtree as one rigid body, (m, c, J) about its origin.  Column i of the mass matrix
is the momentum M^c_i A_i of that composite under a unit velocity, carried to the base and projected on every joint it
passes; armature comes on the diagonal.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.screws import congruence, turn_symmetric, turn_z
from mechanics.algebra.vectors import rotated
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, PLANE, SCREW, SLIDE
from mechanics.kernels.elimination.carry import constant_turn_up_symmetric
from mechanics.kernels.links import (
    freedom,
    moment_up,
    orientation,
    plane_position,
    position,
    prescribed,
    put,
    set_angle,
    vector,
    wrench_up,
)
from mechanics.kernels.sweeps import clear, project
from mechanics.model.layout import COS, SHIFT, SIN, armature_of, has_armature, header_of, link_of, numbers_of

CENTRE, COMPOSITE = 0, 3
"""Columns of the first moment (3) and the tensor (6) of the composite body."""


@helper
def moved_tensor(tensor: Any, mass: Any, moment: Any, x: Any) -> Any:
    """The tensor about the point from which its origin is seen at x: J + 2 (c·x) E − c xᵀ − x cᵀ + m (x² E − x xᵀ)."""
    c0, c1, c2 = moment[0] + mass * x[0], moment[1] + mass * x[1], moment[2] + mass * x[2]
    d0, d1, d2 = c0 * x[0] + x[0] * moment[0], c1 * x[1] + x[1] * moment[1], c2 * x[2] + x[2] * moment[2]
    return (
        tensor[0] + (d1 + d2),
        tensor[1] - (c0 * x[1] + x[0] * moment[1]),
        tensor[2] - (c0 * x[2] + x[0] * moment[2]),
        tensor[3] + (d0 + d2),
        tensor[4] - (c1 * x[2] + x[1] * moment[2]),
        tensor[5] + (d0 + d1),
    )


@helper
def _composite_up(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any, moment: Any, tensor: Any) -> Any:
    """The tensor of a composite body about the origin and in the axes of the parent."""
    own = numbers_of(parameters, link)
    kind, q, mass, zero = link.kind, link.q, own.tree_mass, moment[0] - moment[0]
    if kind == SLIDE:
        x = zero, zero, ld(y, q)
        tensor, moment = moved_tensor(tensor, mass, moment, x), (moment[0], moment[1], moment[2] + mass * x[2])
    elif kind == SCREW:
        x = zero, zero, own.pitch * ld(y, q)
        tensor, moment = moved_tensor(tensor, mass, moment, x), (moment[0], moment[1], moment[2] + mass * x[2])
    elif kind == MOVED_SLIDE:
        x = zero, zero, zero + prescribed(t, parameters, link)[0]
        tensor, moment = moved_tensor(tensor, mass, moment, x), (moment[0], moment[1], moment[2] + mass * x[2])
    elif kind == BALL:
        R = orientation(y, link)
        tensor, moment = congruence(R, tensor), rotated(R, moment)
    elif kind == FLOAT:
        R, x = orientation(y, link), position(y, link)
        tensor, moment = congruence(R, tensor), rotated(R, moment)
        tensor, moment = (
            moved_tensor(tensor, mass, moment, x),
            (moment[0] + mass * x[0], moment[1] + mass * x[1], moment[2] + mass * x[2]),
        )
    c, s = ld2(work, i, COS), ld2(work, i, SIN)
    tensor, moment = turn_symmetric(tensor, c, s, c * s, s * s), turn_z(moment, c, s)
    if kind == PLANE:
        tensor = moved_tensor(tensor, mass, moment, plane_position(y, parameters, link))
    elif link.flags & SHIFT:
        tensor = moved_tensor(tensor, mass, moment, own.rho)
    return constant_turn_up_symmetric(parameters, link, tensor)


@helper
def _composites(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """First moments and tensors of the composite bodies of all links."""
    tree = header_of(structure)
    clear(structure, work, CENTRE, 9)
    for i in range(tree.links - 1, -1, -1):
        link = link_of(structure, i)
        own = numbers_of(parameters, link)
        parent = link.parent
        set_angle(t, y, parameters, work, i, link)
        moment = add(vector(work, i, CENTRE), own.moment)
        first = add(vector(work, i, COMPOSITE), own.tensor[:3])
        second = add(vector(work, i, COMPOSITE + 3), own.tensor[3:])
        put(work, i, CENTRE, moment)
        put(work, i, COMPOSITE, first)
        put(work, i, COMPOSITE + 3, second)
        if parent < tree.links:
            tensor = _composite_up(t, y, parameters, work, i, link, moment, (*first, *second))
            moment = moment_up(t, y, parameters, work, i, link, moment, own.tree_mass)
            put(work, parent, CENTRE, add(vector(work, parent, CENTRE), moment))
            put(work, parent, COMPOSITE, add(vector(work, parent, COMPOSITE), (tensor[0], tensor[1], tensor[2])))
            put(
                work, parent, COMPOSITE + 3, add(vector(work, parent, COMPOSITE + 3), (tensor[3], tensor[4], tensor[5]))
            )


@helper
def _composite_momentum(parameters: Any, link: Any, work: Any, i: Any, v: Any, w: Any) -> Any:
    """M^c (v, w) of the composite body of a link."""
    m, c, a, b = (
        numbers_of(parameters, link).tree_mass,
        vector(work, i, CENTRE),
        vector(work, i, COMPOSITE),
        vector(work, i, COMPOSITE + 3),
    )
    l = cross(w, c)
    k = cross(c, v)
    return (
        (m * v[0] + l[0], m * v[1] + l[1], m * v[2] + l[2]),
        (
            k[0] + ((a[0] * w[0] + a[1] * w[1]) + a[2] * w[2]),
            k[1] + ((a[1] * w[0] + b[0] * w[1]) + b[1] * w[2]),
            k[2] + ((a[2] * w[0] + b[1] * w[1]) + b[2] * w[2]),
        ),
    )


@helper
def unit_twist(kind: Any, d: Any, pitch: Any, zero: Any) -> Any:
    """Column d of the basis A of a link."""
    e0, e1, e2 = zero + (1.0 if d == 0 else 0.0), zero + (1.0 if d == 1 else 0.0), zero + (1.0 if d == 2 else 0.0)
    v = w = zero, zero, zero
    if kind == SLIDE:
        v = zero, zero, e0
    elif kind == PLANE:
        v, w = (e0, e1, zero), (zero, zero, e2)
    elif kind == BALL:
        w = e0, e1, e2
    elif kind == FLOAT:
        e3, e4, e5 = zero + (1.0 if d == 3 else 0.0), zero + (1.0 if d == 4 else 0.0), zero + (1.0 if d == 5 else 0.0)
        v, w = (e0, e1, e2), (e3, e4, e5)
    else:
        v, w = (zero, zero, e0 * pitch), (zero, zero, e0)
    return v, w


@helper
def mass_matrix_into(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any = 0) -> None:
    """out[o … o + n_v²] <- M by rows; y begins with q."""
    tree = header_of(structure)
    n, n_v = tree.links, tree.n_v
    _composites(t, y, parameters, structure, work)
    zero = ld2(work, n, CENTRE)
    for k in range(n_v * n_v):
        st(out, o + k, zero)
    for i in range(n):
        link = link_of(structure, i)
        first = link.v
        for d in range(freedom(link.kind)):
            v, w = unit_twist(link.kind, d, numbers_of(parameters, link).pitch, zero)
            l, k = _composite_momentum(parameters, link, work, i, v, w)
            column, j = first + d, i
            while j < n:
                passed = link_of(structure, j)
                project(parameters, passed, l, k, out, o + passed.v * n_v + column, n_v)
                project(parameters, passed, l, k, out, o + column * n_v + passed.v, 1)
                l, k = wrench_up(t, y, parameters, work, j, passed, l, k)
                j = passed.parent
    if has_armature(structure):
        for k in range(n_v):
            at = o + k * (n_v + 1)
            st(out, at, ld(out, at) + armature_of(parameters, structure, k))


@entry(*FIELD_SIGNATURES)
def mass_matrix(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → M by rows."""
    mass_matrix_into(t, y, parameters, structure, work, out)
