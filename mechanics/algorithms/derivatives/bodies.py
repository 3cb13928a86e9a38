"""Composite bodies in the axes of the world, about the origins of their links: what a subtree is as one rigid body, and
the sums over it that the derivatives need.

    c = ∫ r dm,   J = ∫ (r² E − r rᵀ) dm,   l = ∫ ẋ dm,   Y = −∫ r̃ ẋ~ dm,   F = Σ (M W + V ×* M V − F^ext),

where ẋ is the velocity of a point and r its place.  B = V×* M − M V× + bar(M V), whose action is that of the
Coriolis forces, B u = 2 Σ (ω' × ẋ; r × (ω' × ẋ)) dm with the angular part ω' of u, holds nothing but l and Y:

    B = 2 [[0, −l̃], [0, Y]],     Y = (c·v) E − v cᵀ − ω̃ P,     P = ∫ r rᵀ dm = ½ tr(J) E − J.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, st2
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.screws import congruence
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.algorithms.crba import moved_tensor
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    CENTRE,
    FORCE,
    LINEAR,
    OFFSET,
    PSEUDO,
    TENSOR,
    TWIST,
    add_twist,
    minus,
    put_twist,
    rows_of,
    twist_of,
    wrench_to_parent,
)
from mechanics.joints.element import TURN
from mechanics.kernels.links import add_three, put, vector
from mechanics.model.layout import HEAVY, F, header_of, link_of, numbers_of


@helper
def symmetric(J: Any, a: Any) -> Any:
    """J a of a symmetric matrix (xx, xy, xz, yy, yz, zz)."""
    return (
        (J[0] * a[0] + J[1] * a[1]) + J[2] * a[2],
        (J[1] * a[0] + J[3] * a[1]) + J[4] * a[2],
        (J[2] * a[0] + J[4] * a[1]) + J[5] * a[2],
    )


@helper
def inertia_times(m: Any, c: Any, J: Any, u: Any) -> Any:
    """M u of a twist: (m v + ω×c; c×v + J ω)."""
    v, w = u
    return add(scale(m, v), cross(w, c)), add(cross(c, v), symmetric(J, w))


@helper
def tensor_of(work: Any, i: Any) -> Any:
    """The inertia tensor of a line."""
    a, b = vector(work, i, TENSOR), vector(work, i, TENSOR + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@helper
def _put_tensor(work: Any, i: Any, J: Any) -> None:
    put(work, i, TENSOR, J[:3])
    put(work, i, TENSOR + 3, J[3:])


@helper
def composite_times(parameters: Any, work: Any, i: Any, link: Any, u: Any) -> Any:
    """M^c u of the composite body of a link."""
    return inertia_times(numbers_of(parameters, link).tree_mass, vector(work, i, CENTRE), tensor_of(work, i), u)


@helper
def column_momentum(parameters: Any, work: Any, i: Any, link: Any, S: Any) -> Any:
    """M^c S of a column of a link."""
    if link.kind == TURN:
        momentum = cross(S[1], vector(work, i, CENTRE)), symmetric(tensor_of(work, i), S[1])
    else:
        momentum = composite_times(parameters, work, i, link, S)
    return momentum


@helper
def _zero(work: Any, i: Any, first: Any, count: Any) -> None:
    for c in range(first, first + count):
        st2(work, i, c, 0.0)


@helper
def own_body(parameters: Any, work: Any, i: Any, link: Any, moving: Any, loaded: Any) -> None:
    """c, J and, `moving`, l, Y and F of the body of a link, `loaded` with its wrench; zero without a body.

    With a = dv/dt + ω × v, the acceleration of the point at the origin, and ε,

        M W + V ×* M V = (m a + ε × c + ω × (ω × c); c × a + J ε + ω × J ω).
    """
    if link.flags & HEAVY:
        own, R = numbers_of(parameters, link), rows_of(work, i)
        c, J = rotated(R, own.moment), congruence(R, own.tensor)
        put(work, i, CENTRE, c)
        _put_tensor(work, i, J)
        if moving:
            (v, w), (a, e) = twist_of(work, i, TWIST), twist_of(work, i, ACCELERATION)
            swept, a = cross(w, c), add(a, cross(w, v))
            put(work, i, LINEAR, add(scale(own.mass, v), swept))
            put(work, i, FORCE, add(add(scale(own.mass, a), cross(e, c)), cross(w, swept)))
            put(work, i, FORCE + 3, add(add(cross(c, a), symmetric(J, e)), cross(w, symmetric(J, w))))
            p = 0.5 * ((J[0] + J[3]) + J[5])
            x, y, z = (
                cross(w, (p - J[0], -J[1], -J[2])),
                cross(w, (-J[1], p - J[3], -J[4])),
                cross(w, (-J[2], -J[4], p - J[5])),
            )
            d = dot(c, v)
            put(work, i, PSEUDO, (d - v[0] * c[0] - x[0], -v[0] * c[1] - y[0], -v[0] * c[2] - z[0]))
            put(work, i, PSEUDO + 3, (-v[1] * c[0] - x[1], d - v[1] * c[1] - y[1], -v[1] * c[2] - z[1]))
            put(work, i, PSEUDO + 6, (-v[2] * c[0] - x[2], -v[2] * c[1] - y[2], d - v[2] * c[2] - z[2]))
    else:
        _zero(work, i, CENTRE, 6)
        _zero(work, i, TENSOR, 21 if moving else 6)
    if loaded:
        R = rows_of(work, i)
        put_twist(work, i, FORCE, minus(twist_of(work, i, FORCE), wrench_of(work, i, R)))


@helper
def wrench_of(work: Any, i: Any, R: Any) -> Any:
    """The wrench of a link in the axes of the world."""
    return rotated(R, vector(work, i, F)), rotated(R, vector(work, i, F + 3))


@helper
def own_bodies(parameters: Any, structure: Any, work: Any) -> None:
    """c and J of the bodies of all links."""
    for i in range(header_of(structure).links):
        own_body(parameters, work, i, link_of(structure, i), False, False)


@helper
def add_bodies(parameters: Any, structure: Any, work: Any, moving: Any) -> None:
    """Composite bodies: c, J (and, `moving`, l, Y and F) of all links with their subtrees."""
    tree = header_of(structure)
    for i in range(tree.links - 1, -1, -1):
        link = link_of(structure, i)
        k = link.parent
        if k < tree.links:
            r, m, c = vector(work, i, OFFSET), numbers_of(parameters, link).tree_mass, vector(work, i, CENTRE)
            J = moved_tensor(tensor_of(work, i), m, c, r)
            add_three(work, k, CENTRE, add(c, scale(m, r)))
            add_three(work, k, TENSOR, J[:3])
            add_three(work, k, TENSOR + 3, J[3:])
            if moving:
                add_twist(work, k, FORCE, wrench_to_parent(r, twist_of(work, i, FORCE)))
                l = vector(work, i, LINEAR)
                add_three(work, k, LINEAR, l)
                d = dot(r, l)
                a, b = vector(work, i, PSEUDO), vector(work, i, PSEUDO + 3)
                e = vector(work, i, PSEUDO + 6)
                a, b, e = (
                    subtract(a, scale(l[0], r)),
                    subtract(b, scale(l[1], r)),
                    subtract(e, scale(l[2], r)),
                )
                add_three(work, k, PSEUDO, (a[0] + d, a[1], a[2]))
                add_three(work, k, PSEUDO + 3, (b[0], b[1] + d, b[2]))
                add_three(work, k, PSEUDO + 6, (e[0], e[1], e[2] + d))


@helper
def add_forces(structure: Any, work: Any) -> None:
    """Forces of the links with their subtrees."""
    n = header_of(structure).links
    for i in range(n - 1, -1, -1):
        k = link_of(structure, i).parent
        if k < n:
            add_twist(work, k, FORCE, wrench_to_parent(vector(work, i, OFFSET), twist_of(work, i, FORCE)))


@helper
def coriolis(work: Any, i: Any, w: Any) -> Any:
    """B^c u of the composite body of a link, u with the angular part w: (2 w × l; 2 Y w)."""
    l, a, b, c = (
        vector(work, i, LINEAR),
        vector(work, i, PSEUDO),
        vector(work, i, PSEUDO + 3),
        vector(work, i, PSEUDO + 6),
    )
    return scale(2.0, cross(w, l)), scale(2.0, (dot(a, w), dot(b, w), dot(c, w)))


@helper
def coriolis_transposed(work: Any, i: Any, kind: Any, S: Any) -> Any:
    """B^cᵀ S of a column of a link, of which only the moment is not zero: 2 (l × v + Yᵀ ω)."""
    a, b, c = vector(work, i, PSEUDO), vector(work, i, PSEUDO + 3), vector(work, i, PSEUDO + 6)
    turned = rotated_back((a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]), S[1])
    if kind != TURN:
        turned = add(cross(vector(work, i, LINEAR), S[0]), turned)
    return scale(2.0, turned)
