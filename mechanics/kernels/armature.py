"""Armature, for the kernels: ½ Σ a s² in the kinetic energy, s the velocities of the joints, and nothing else.

    p += a s,     M += diag(a),     ṗ += ad_sᵀ(a s)     (p in the axes of the joint; zero for joints of one freedom)

Elimination of a joint with armature (`mechanics.kernels.elimination.geared`): with M̃ = M + A a Aᵀ in the place of M the
velocity V_J = Aᵀw + s of its motions is found as ever, but from the momentum p + a Aᵀw, w the twist that the link would
have without its joint.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, rare, st
from liegroup.formulas.vectors import add, cross
from mechanics.joints.element import BALL, FLOAT, PLANE, SLIDE
from mechanics.kernels.links import freedom
from mechanics.model.layout import (
    GEARED,
    WITH_ARMATURE,
    armature_of,
    has_armature,
    has_kinds,
    header_of,
    link_of,
)


@helper
def in_places(kind: Any, x: Any, o: Any, zero: Any) -> Any:
    """Numbers x[o], … of the freedoms of a link where its motions are among (linear, angular); the rest is zero."""
    l = k = zero, zero, zero
    if kind == SLIDE:
        l = zero, zero, zero + ld(x, o)
    elif kind == PLANE:
        l, k = (zero + ld(x, o), zero + ld(x, o + 1), zero), (zero, zero, zero + ld(x, o + 2))
    elif kind == BALL:
        k = zero + ld(x, o), zero + ld(x, o + 1), zero + ld(x, o + 2)
    elif kind == FLOAT:
        l = zero + ld(x, o), zero + ld(x, o + 1), zero + ld(x, o + 2)
        k = zero + ld(x, o + 3), zero + ld(x, o + 4), zero + ld(x, o + 5)
    else:
        k = zero, zero, zero + ld(x, o)
    return l, k


@helper
def armature_in_places(parameters: Any, structure: Any, link: Any) -> Any:
    """a of a link, where its motions are among (linear, angular)."""
    tree = header_of(structure)
    return in_places(link.kind, parameters, tree.damping + tree.n_v + link.v, 0.0)


@helper
def times(a: Any, b: Any) -> Any:
    """The product of two vectors, component by component."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@helper
def turned_momentum(l: Any, k: Any, v: Any, w: Any) -> Any:
    """ad_(v, w)ᵀ (l, k)."""
    return cross(l, w), add(cross(l, v), cross(k, w))


@helper
def add_in_places(kind: Any, out: Any, o: Any, stride: Any, l: Any, k: Any, sign: Any) -> None:
    """out[o], out[o + stride], … of the freedoms of a link += sign·(l, k), of links with several freedoms."""
    if kind == PLANE:
        x = l[0], l[1], k[2]
    else:
        x = k if kind == BALL else l
    for c in range(3):
        at = o + c * stride
        st(out, at, ld(out, at) + sign * x[c])
    if kind == FLOAT:
        for c in range(3):
            at = o + (3 + c) * stride
            st(out, at, ld(out, at) + sign * k[c])


@helper
def add_momenta(parameters: Any, structure: Any, s: Any, at: Any, out: Any, o: Any) -> None:
    """out[o …] += a s, with the velocities s[at …]."""
    if has_armature(structure):
        for k in range(header_of(structure).n_v):
            st(out, o + k, ld(out, o + k) + armature_of(parameters, structure, k) * ld(s, at + k))


@rare(has_kinds(WITH_ARMATURE))
def add_rates(parameters: Any, structure: Any, s: Any, at: Any, out: Any, o: Any, sign: Any) -> None:
    """out[o …] += sign·ad_sᵀ(a s), with the velocities s[at …]; called for trees with armature."""
    tree = header_of(structure)
    for i in range(tree.links):
        link = link_of(structure, i)
        kind = link.kind
        if link.flags & GEARED and freedom(kind) > 1:
            v, w = in_places(kind, s, at + link.v, 0.0 * ld(s, at + link.v))
            x, y = armature_in_places(parameters, structure, link)
            f, m = turned_momentum(times(x, v), times(y, w), v, w)
            add_in_places(kind, out, o + link.v, 1, f, m, sign)


@helper
def add_forces(parameters: Any, structure: Any, s: Any, at: Any, out: Any) -> None:
    """out += a ṡ − ad_sᵀ(a s), with the velocities s[at …] and the accelerations behind them."""
    if has_armature(structure):
        add_momenta(parameters, structure, s, at + header_of(structure).n_v, out, 0)
        add_rates(parameters, structure, s, at, out, 0, -1.0)


@helper
def twice_kinetic(parameters: Any, structure: Any, s: Any, at: Any, total: Any) -> Any:
    """Σ a s², added to what is there."""
    if has_armature(structure):
        for k in range(header_of(structure).n_v):
            x = ld(s, at + k)
            total = total + armature_of(parameters, structure, k) * (x * x)
    return total
