"""Articulated bodies in the axes of the world: what a link and all that hangs on it answer to a motion of the link,

    f = M W + β ω + p,

with the acceleration W of its origin, and the angular part ω of a twist that is added to the motion of all of them: the
forces that such a twist makes, B Ψ of `mechanics.algorithms.derivatives.bodies`, hold nothing else.  From the leaves to
the base one velocity after another is eliminated, column S with armature a and force τ:

    U = M S,    D = Sᵀ U + a,    g = U/D,    b = βᵀ S/D,    u = τ − Sᵀ p,
    M ← M − g Uᵀ,    β ← β − U bᵀ,    p ← p + g u,                x = u/D − bᵀ ω − gᵀ W

is its acceleration.  M = [[H, K], [Kᵀ, J]] and β = [[β_f], [β_m]] are kept as rows of three numbers: H (xx, xy, xz),
(yy, yz, zz), the rows of K, J as H, force and moment of p; the rows of β_f and β_m.

Momenta in the place of forces give velocities in that of accelerations, M without β (`articulate`, not `turning`).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, st, st2
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algorithms.derivatives.bodies import inertia_times, symmetric, tensor_of
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    ARTICULATED,
    CENTRE,
    FORCE,
    GAIN,
    LINEAR,
    OFFSET,
    PSEUDO,
    SECOND,
    TENSOR,
    TWIST,
    add_twist,
    along,
    carried,
    column,
    column_moved,
    pair,
    plus,
    put_twist,
    times,
    twist_of,
)
from mechanics.joints.element import SCREW, TURN
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import FIRST, HEAVY, LEAF, armature_of, has_armature, header_of, link_of, numbers_of

TURNING = ARTICULATED + 27
"""Where β begins."""
REMEMBERED = 16
"""Numbers at the end of the line of a velocity: g (6), b (3, room for 6), 1/D and u/D."""
B, INVERSE, OWN = 6, 12, 13


@helper
def remembered(lines: Any, v: Any) -> Any:
    """g, b and 1/D of the velocity whose line it is."""
    at = lines.shape[1] - REMEMBERED
    return twist_of(lines, v, at), vector(lines, v, at + B), ld2(lines, v, at + INVERSE)


@helper
def _own(parameters: Any, work: Any, i: Any, link: Any, zero: Any) -> Any:
    """M and p of a link by itself."""
    m, c = zero + numbers_of(parameters, link).mass, vector(work, i, CENTRE)
    return (
        (m, zero, zero),
        (m, zero, m),
        (zero, c[2], -c[1]),
        (-c[2], zero, c[0]),
        (c[1], -c[0], zero),
        vector(work, i, TENSOR),
        vector(work, i, TENSOR + 3),
        vector(work, i, FORCE),
        vector(work, i, FORCE + 3),
    )


@helper
def _own_turning(work: Any, i: Any, zero: Any) -> Any:
    """β of a link by itself."""
    l = scale(2.0, vector(work, i, LINEAR))
    return (
        (zero, l[2], -l[1]),
        (-l[2], zero, l[0]),
        (l[1], -l[0], zero),
        scale(2.0, vector(work, i, PSEUDO)),
        scale(2.0, vector(work, i, PSEUDO + 3)),
        scale(2.0, vector(work, i, PSEUDO + 6)),
    )


@helper
def _sum(work: Any, i: Any, A: Any) -> Any:
    """M and p, and what stands in the line of a link."""
    o = ARTICULATED
    return (
        add(A[0], vector(work, i, o)),
        add(A[1], vector(work, i, o + 3)),
        add(A[2], vector(work, i, o + 6)),
        add(A[3], vector(work, i, o + 9)),
        add(A[4], vector(work, i, o + 12)),
        add(A[5], vector(work, i, o + 15)),
        add(A[6], vector(work, i, o + 18)),
        add(A[7], vector(work, i, o + 21)),
        add(A[8], vector(work, i, o + 24)),
    )


@helper
def _sum_turning(work: Any, i: Any, T: Any) -> Any:
    """β, and what stands in the line of a link."""
    o = TURNING
    return (
        add(T[0], vector(work, i, o)),
        add(T[1], vector(work, i, o + 3)),
        add(T[2], vector(work, i, o + 6)),
        add(T[3], vector(work, i, o + 9)),
        add(T[4], vector(work, i, o + 12)),
        add(T[5], vector(work, i, o + 15)),
    )


@helper
def _keep(work: Any, i: Any, A: Any) -> None:
    """Write M and p into the line of a link."""
    for k in range(9):
        put(work, i, ARTICULATED + 3 * k, A[k])


@helper
def _keep_turning(work: Any, i: Any, T: Any) -> None:
    """Write β into the line of a link."""
    for k in range(6):
        put(work, i, TURNING + 3 * k, T[k])


@helper
def answer_to(work: Any, i: Any, W: Any) -> Any:
    """M W of what is left of the link when its own velocities are eliminated."""
    o, (a, e) = ARTICULATED, W
    H, G, J, L = vector(work, i, o), vector(work, i, o + 3), vector(work, i, o + 15), vector(work, i, o + 18)
    x, y, z = vector(work, i, o + 6), vector(work, i, o + 9), vector(work, i, o + 12)
    f, m = symmetric((H[0], H[1], H[2], G[0], G[1], G[2]), a), symmetric((J[0], J[1], J[2], L[0], L[1], L[2]), e)
    f = add(f, (dot(x, e), dot(y, e), dot(z, e)))
    m = add(m, add(scale(a[0], x), add(scale(a[1], y), scale(a[2], z))))
    return f, m


@helper
def answer(work: Any, i: Any, W: Any, w: Any) -> Any:
    """M W + β w of the same."""
    o, (f, m) = TURNING, answer_to(work, i, W)
    f = add(f, (dot(vector(work, i, o), w), dot(vector(work, i, o + 3), w), dot(vector(work, i, o + 6), w)))
    m = add(m, (dot(vector(work, i, o + 9), w), dot(vector(work, i, o + 12), w), dot(vector(work, i, o + 15), w)))
    return f, m


@helper
def _less(A: Any, k: Any, B: Any) -> Any:
    """A − k B of three numbers."""
    return A[0] - k * B[0], A[1] - k * B[1], A[2] - k * B[2]


@helper
def _eliminated(kind: Any, S: Any, A: Any, armature: Any, force: Any, lines: Any, v: Any) -> Any:
    """M and p without the velocity of a column, and U and 1/D; its line remembers what its acceleration needs."""
    H, G, x, y, z, J, L, f, m = A
    a, e = S
    p = dot(x, e), dot(y, e), dot(z, e)
    q = symmetric((J[0], J[1], J[2], L[0], L[1], L[2]), e)
    if kind != TURN:
        p = add(p, symmetric((H[0], H[1], H[2], G[0], G[1], G[2]), a))
        q = add(q, add(scale(a[0], x), add(scale(a[1], y), scale(a[2], z))))
    inverse = 1.0 / (along(kind, S, (p, q)) + armature)
    g, h = scale(inverse, p), scale(inverse, q)
    u = force - along(kind, S, (f, m))
    at = lines.shape[1] - REMEMBERED
    put_twist(lines, v, at, (g, h))
    st2(lines, v, at + INVERSE, inverse)
    st2(lines, v, at + OWN, u * inverse)
    A = (
        (H[0] - g[0] * p[0], H[1] - g[0] * p[1], H[2] - g[0] * p[2]),
        (G[0] - g[1] * p[1], G[1] - g[1] * p[2], G[2] - g[2] * p[2]),
        _less(x, g[0], q),
        _less(y, g[1], q),
        _less(z, g[2], q),
        (J[0] - h[0] * q[0], J[1] - h[0] * q[1], J[2] - h[0] * q[2]),
        (L[0] - h[1] * q[1], L[1] - h[1] * q[2], L[2] - h[2] * q[2]),
        add(f, scale(u, g)),
        add(m, scale(u, h)),
    )
    return A, (p, q), inverse


@helper
def _turning_eliminated(kind: Any, S: Any, T: Any, U: Any, inverse: Any, lines: Any, v: Any) -> Any:
    """The same of β."""
    fx, fy, fz, mx, my, mz = T
    (p, q), (a, e) = U, S
    b = add(scale(e[0], mx), add(scale(e[1], my), scale(e[2], mz)))
    if kind != TURN:
        b = add(b, add(scale(a[0], fx), add(scale(a[1], fy), scale(a[2], fz))))
    b = scale(inverse, b)
    put(lines, v, lines.shape[1] - REMEMBERED + B, b)
    return (
        _less(fx, p[0], b),
        _less(fy, p[1], b),
        _less(fz, p[2], b),
        _less(mx, q[0], b),
        _less(my, q[1], b),
        _less(mz, q[2], b),
    )


@helper
def _at_parent(A: Any, r: Any) -> Any:
    """M and p about the origin of the parent, from which their own is seen at r:

    K ← K − H r̃,    J ← J − Kᵀ r̃ + r̃ (K − H r̃),    m ← m + r × f.
    """
    H, G, x, y, z, J, L, f, m = A
    s = add(x, cross(r, H))
    t = add(y, cross(r, (H[1], G[0], G[1])))
    u = add(z, cross(r, (H[2], G[1], G[2])))
    i, j, k = cross(r, (x[0], y[0], z[0])), cross(r, (x[1], y[1], z[1])), cross(r, (x[2], y[2], z[2]))
    n, o, p = cross(r, (s[0], t[0], u[0])), cross(r, (s[1], t[1], u[1])), cross(r, (s[2], t[2], u[2]))
    return (
        H,
        G,
        s,
        t,
        u,
        (J[0] + (i[0] + n[0]), J[1] + (i[1] + o[0]), J[2] + (i[2] + p[0])),
        (L[0] + (j[1] + o[1]), L[1] + (j[2] + p[1]), L[2] + (k[2] + p[2])),
        f,
        add(m, cross(r, f)),
    )


@helper
def _turning_at_parent(T: Any, r: Any) -> Any:
    """The same of β:  β_m ← β_m + r̃ β_f."""
    fx, fy, fz, mx, my, mz = T
    return (
        fx,
        fy,
        fz,
        add(mx, subtract(scale(r[1], fz), scale(r[2], fy))),
        add(my, subtract(scale(r[2], fx), scale(r[0], fz))),
        add(mz, subtract(scale(r[0], fy), scale(r[1], fx))),
    )


@helper
def articulate(parameters: Any, structure: Any, work: Any, lines: Any, tau: Any, o: Any, turning: Any) -> None:
    """From the leaves to the base, with the forces tau[o …] of the velocities, with a line each; links
    keep what is left of them.  With β where `turning`.
    """
    n = header_of(structure).links
    zero = ld2(work, n, TWIST)
    geared = has_armature(structure)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        k, A, T = link.parent, _own(parameters, work, i, link, zero), _own_turning(work, i, zero)
        r, adds = vector(work, i, OFFSET), link.flags & FIRST == 0
        if link.flags & LEAF == 0:
            A = _sum(work, i, A)
            if turning:
                T = _sum_turning(work, i, T)
        for d in range(freedom(link.kind) - 1, -1, -1):
            v = link.v + d
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            armature = armature_of(parameters, structure, v) if geared else 0.0
            A, U, inverse = _eliminated(link.kind, S, A, armature, ld(tau, o + v), lines, v)
            if turning:
                T = _turning_eliminated(link.kind, S, T, U, inverse, lines, v)
        _keep(work, i, A)
        if turning:
            _keep_turning(work, i, T)
        if k < n:
            A = _at_parent(A, r)
            if turning:
                T = _turning_at_parent(T, r)
            if adds:
                A = _sum(work, k, A)
                if turning:
                    T = _sum_turning(work, k, T)
            _keep(work, k, A)
            if turning:
                _keep_turning(work, k, T)


@helper
def accelerate_links(parameters: Any, structure: Any, work: Any, lines: Any, out: Any, o: Any) -> None:
    """From the base to the leaves the accelerations of the joints, to out[o …], added to those that the links have,
    and what they change:  δW_i = δW_k + S_i x_i,  δΨ̈_i = δW_k × S_i,  δF_i = M_i δW_i of the link by itself.
    """
    n = header_of(structure).links
    zero = ld2(work, n, TWIST)
    none, at = (zero, zero, zero), work.shape[1] - REMEMBERED
    put_twist(work, n, GAIN, (none, none))
    for i in range(n):
        link = link_of(structure, i)
        kind = link.kind
        W = carried(work, link.parent, GAIN, vector(work, i, OFFSET))
        if kind <= SCREW:
            S = column(work, i, kind, 0, numbers_of(parameters, link).pitch)
            add_twist(work, i, SECOND, column_moved(kind, W, S))
        for d in range(freedom(kind)):
            S, v = column(work, i, kind, d, numbers_of(parameters, link).pitch), link.v + d
            x = ld2(lines, v, at + OWN) - pair(twist_of(lines, v, at), W)
            st(out, o + v, x)
            W = plus(W, times(x, S))
        put_twist(work, i, GAIN, W)
        add_twist(work, i, ACCELERATION, W)
        if link.flags & HEAVY:
            m = numbers_of(parameters, link).mass
            add_twist(work, i, FORCE, inertia_times(m, vector(work, i, CENTRE), tensor_of(work, i), W))
