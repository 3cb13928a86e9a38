"""OSP, the projection on the reactions, as a kernel: (13)–(16) with the missing Aᵀ in (15).

With Q_i = [Q_A, Z_i] orthogonal and A_i = Q_A R_i (Householder), X_i = Z_iᵀ C_i and Y_i = X_i M_k⁻¹ (k the parent), the
matrix ZᵀKZ, K = S M⁻¹ Sᵀ, has the blocks

    (i, i): Z_iᵀ M_i⁻¹ Z_i + Y_i X_iᵀ,     (i, k): −Y_i Z_k,     (i, j): Y_i X_jᵀ  (j a lower sibling),

and nothing else, so that a body with its children is a clique and elimination from the last row to the first leaves
every zero a zero.  Every body needs an inertia that can be inverted.  `reference.py` is the readable statement.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, ld2, less, select, sqrt, st, st2
from liegroup.formulas.vectors import subtract
from mechanics.algorithms.crba import unit_twist
from mechanics.joints.element import MOVED_SLIDE, MOVED_TURN
from mechanics.kernels.links import freedom, prescribed, put, set_angle, twist_down, vector, wrench_up
from mechanics.kernels.sweeps import apply_wrenches, velocities
from mechanics.model.layout import COLUMNS, end_of_tree, header_of, link_of, numbers_of
from mechanics.reference.osp_plan import (
    ALONG,
    BASE,
    DRIFT,
    FIRST_ROW,
    FREEDOMS,
    INVERSE,
    LAST_ROW,
    LENGTH,
    LINK,
    LINKS,
    LINKS_AT,
    ORDER,
    OWN,
    ROW_START,
    SIBLING,
    UNKNOWN,
    UPPER,
    VELOCITY,
)
from mechanics.reference.rates import momentum_rates

BASIS, CARRIED, HALF, TRIANGLE = COLUMNS, COLUMNS + 36, COLUMNS + 72, COLUMNS + 108
MOMENTUM, TWIST, MIRROR, OWN_DRIFT = COLUMNS + 144, COLUMNS + 150, COLUMNS + 156, COLUMNS + 162
"""Columns of a link, in the line of its last row: Q, X, Y, R (first A), P*, M⁻¹ Sᵀ P*, a scratch vector, Vᴶ."""

# --- one link ---------------------------------------------------------------------------------------------------------


@helper
def _descend(t: Any, y: Any, parameters: Any, structure: Any, work: Any, link: Any, v: Any, w: Any) -> Any:
    """C of a link: a twist of its parent carried down its rows."""
    for i in range(structure[link + FIRST_ROW], structure[link + LAST_ROW] + 1):
        v, w = twist_down(t, y, parameters, work, i, link_of(structure, i), v, w)
    return v, w


@helper
def _ascend(t: Any, y: Any, parameters: Any, structure: Any, work: Any, link: Any, l: Any, k: Any) -> Any:
    """Cᵀ of a link."""
    for i in range(structure[link + LAST_ROW], structure[link + FIRST_ROW] - 1, -1):
        l, k = wrench_up(t, y, parameters, work, i, link_of(structure, i), l, k)
    return l, k


@helper
def _column(work: Any, i: Any, at: Any, c: Any) -> Any:
    """Column c of a 6 × 6 matrix of a link, as (v, w)."""
    return (
        (ld2(work, i, at + c), ld2(work, i, at + 6 + c), ld2(work, i, at + 12 + c)),
        (ld2(work, i, at + 18 + c), ld2(work, i, at + 24 + c), ld2(work, i, at + 30 + c)),
    )


@helper
def _put_column(work: Any, i: Any, at: Any, c: Any, v: Any, w: Any) -> None:
    for r in range(3):
        st2(work, i, at + 6 * r + c, v[r])
        st2(work, i, at + 18 + 6 * r + c, w[r])


@helper
def _times_inverse(parameters: Any, inverse: Any, r: Any, v: Any, w: Any) -> Any:
    """Component r of M⁻¹ (v, w)."""
    o = inverse + 6 * r
    return ((parameters[o] * v[0] + parameters[o + 1] * v[1]) + parameters[o + 2] * v[2]) + (
        (parameters[o + 3] * w[0] + parameters[o + 4] * w[1]) + parameters[o + 5] * w[2]
    )


@kernel
def _joint(t: Any, y: Any, parameters: Any, structure: Any, work: Any, link: Any, i: Any, zero: Any) -> None:
    """A and Vᴶ of a link in the axes of its last row: A in the columns of R."""
    columns = 0
    for c in range(6):
        st2(work, i, OWN_DRIFT + c, zero)
    for r in range(structure[link + FIRST_ROW], structure[link + LAST_ROW] + 1):
        row = link_of(structure, r)
        kind = row.kind
        set_angle(t, y, parameters, work, r, row)
        for c in range(columns):
            v, w = _column(work, i, TRIANGLE, c)
            v, w = twist_down(t, y, parameters, work, r, row, v, w)
            _put_column(work, i, TRIANGLE, c, v, w)
        if structure[link + DRIFT]:
            v, w = vector(work, i, OWN_DRIFT), vector(work, i, OWN_DRIFT + 3)
            v, w = twist_down(t, y, parameters, work, r, row, v, w)
            if kind == MOVED_TURN:
                w = w[0], w[1], w[2] + prescribed(t, parameters, row)[1]
            elif kind == MOVED_SLIDE:
                v = v[0], v[1], v[2] + prescribed(t, parameters, row)[1]
            put(work, i, OWN_DRIFT, v)
            put(work, i, OWN_DRIFT + 3, w)
        for d in range(freedom(kind)):
            v, w = unit_twist(kind, d, numbers_of(parameters, row).pitch, zero)
            _put_column(work, i, TRIANGLE, columns, v, w)
            columns = columns + 1


@kernel
def _orthogonalise(work: Any, i: Any, n: Any, zero: Any) -> None:
    """A = Q R by n Householder reflections: Q (6 × 6) in BASIS, R in TRIANGLE."""
    for r in range(6):
        for c in range(6):
            st2(work, i, BASIS + 6 * r + c, zero + (1.0 if r == c else 0.0))
    for k in range(n):
        size = zero
        for r in range(k, 6):
            x = ld2(work, i, TRIANGLE + 6 * r + k)
            st2(work, i, MIRROR + r, x)
            size = size + x * x
        first, length = ld2(work, i, MIRROR + k), sqrt(size)
        pivot = select(less(0.0, first), -length, length)
        st2(work, i, MIRROR + k, first - pivot)
        factor = 1.0 / (size - first * pivot)
        for c in range(k, n):
            s = zero
            for r in range(k, 6):
                s = s + ld2(work, i, MIRROR + r) * ld2(work, i, TRIANGLE + 6 * r + c)
            s = s * factor
            for r in range(k, 6):
                st2(work, i, TRIANGLE + 6 * r + c, ld2(work, i, TRIANGLE + 6 * r + c) - s * ld2(work, i, MIRROR + r))
        for r in range(6):
            s = zero
            for c in range(k, 6):
                s = s + ld2(work, i, BASIS + 6 * r + c) * ld2(work, i, MIRROR + c)
            s = s * factor
            for c in range(k, 6):
                st2(work, i, BASIS + 6 * r + c, ld2(work, i, BASIS + 6 * r + c) - s * ld2(work, i, MIRROR + c))


@helper
def _component(structure: Any, work: Any, link: Any, c: Any, i: Any, at: Any) -> Any:
    """Column c of Q of a link times the six numbers from column `at` on of row i; where Q is a permutation, one of
    them.
    """
    if structure[link + ALONG]:
        return ld2(work, i, at + structure[link + ORDER + c])
    k = structure[link + LAST_ROW]
    total = ld2(work, k, BASIS + c) * ld2(work, i, at)
    for e in range(1, 6):
        total = total + ld2(work, k, BASIS + 6 * e + c) * ld2(work, i, at + e)
    return total


@helper
def _inner(work: Any, i: Any, a: Any, k: Any, b: Any) -> Any:
    """Product of six numbers of two rows."""
    total = ld2(work, i, a) * ld2(work, k, b)
    for e in range(1, 6):
        total = total + ld2(work, i, a + e) * ld2(work, k, b + e)
    return total


@helper
def _own_entry(parameters: Any, structure: Any, work: Any, link: Any, i: Any, r: Any, c: Any, zero: Any) -> Any:
    """Z_rᵀ M⁻¹ Z_c; M⁻¹ Z_r is in the scratch columns where Q is not a permutation."""
    n, inverse = structure[link + FREEDOMS], structure[link + INVERSE]
    if structure[link + ALONG]:
        return zero + parameters[inverse + 6 * structure[link + ORDER + n + r] + structure[link + ORDER + n + c]]
    return _component(structure, work, link, n + c, i, MIRROR)


@kernel
def _blocks(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, link: Any, i: Any, zero: Any) -> None:
    """X, Y and the rows of the matrix that belong to a link; those of its parent and lower siblings are done."""
    n, inverse, start = structure[link + FREEDOMS], structure[link + INVERSE], structure[link + ROW_START]
    m, length, own, parent = 6 - n, structure[link + LENGTH], structure[link + OWN], structure[link + UPPER]
    for r in range(m):
        if not structure[link + ALONG]:
            v, w = _column(work, i, BASIS, n + r)
            for e in range(6):
                st2(work, i, MIRROR + e, _times_inverse(parameters, inverse, e, v, w))
        for c in range(r + 1):
            st(out, start + r * length + own + c, _own_entry(parameters, structure, work, link, i, r, c, zero))
    if parent >= 0:
        above = structure[parent + INVERSE]
        for e in range(6):
            v = zero + (1.0 if e == 0 else 0.0), zero + (1.0 if e == 1 else 0.0), zero + (1.0 if e == 2 else 0.0)
            w = zero + (1.0 if e == 3 else 0.0), zero + (1.0 if e == 4 else 0.0), zero + (1.0 if e == 5 else 0.0)
            v, w = _descend(t, y, parameters, structure, work, link, v, w)
            put(work, i, MIRROR, v)
            put(work, i, MIRROR + 3, w)
            for r in range(m):
                st2(work, i, CARRIED + 6 * r + e, _component(structure, work, link, n + r, i, MIRROR))
        for r in range(m):
            row = start + r * length
            v, w = vector(work, i, CARRIED + 6 * r), vector(work, i, CARRIED + 6 * r + 3)
            for e in range(6):
                st2(work, i, HALF + 6 * r + e, _times_inverse(parameters, above, e, v, w))
            for c in range(r + 1):
                product = _inner(work, i, HALF + 6 * r, i, CARRIED + 6 * c)
                st(out, row + own + c, ld(out, row + own + c) + product)
            p = structure[parent + FREEDOMS]
            for c in range(6 - p):
                st(out, row + c, -_component(structure, work, parent, p + c, i, HALF + 6 * r))
            sibling = structure[link + SIBLING]
            while sibling >= 0:
                j, at = structure[sibling + LAST_ROW], structure[sibling + OWN]
                for c in range(6 - structure[sibling + FREEDOMS]):
                    st(out, row + at + c, _inner(work, i, HALF + 6 * r, j, CARRIED + 6 * c))
                sibling = structure[sibling + SIBLING]


# --- the matrix -------------------------------------------------------------------------------------------------------


@kernel
def _factorise(structure: Any, out: Any, link: Any) -> None:
    """Eliminate the rows of a link, the last first; L in place, D on the diagonal."""
    base, own = structure[link + BASE], structure[link + OWN]
    for c in range(structure[link + LENGTH] - 1, own - 1, -1):
        row = structure[base + c]
        reciprocal = 1.0 / ld(out, row + c)
        for j in range(c - 1, -1, -1):
            a, other = ld(out, row + j) * reciprocal, structure[base + j]
            for l in range(j + 1):
                st(out, other + l, ld(out, other + l) - a * ld(out, row + l))
            st(out, row + j, a)


@kernel
def _solve(structure: Any, out: Any) -> None:
    """The reactions, in the place of the right-hand side."""
    plan = end_of_tree(structure)
    links, first = structure[plan + LINKS], plan + LINKS_AT
    for k in range(links - 1, -1, -1):
        link = first + k * LINK
        base, unknown = structure[link + BASE], structure[link + UNKNOWN]
        for c in range(structure[link + LENGTH] - 1, structure[link + OWN] - 1, -1):
            x, row = ld(out, structure[unknown + c]), structure[base + c]
            for j in range(c):
                st(out, structure[unknown + j], ld(out, structure[unknown + j]) - ld(out, row + j) * x)
    for k in range(links):
        link = first + k * LINK
        base, unknown = structure[link + BASE], structure[link + UNKNOWN]
        for c in range(structure[link + OWN], structure[link + LENGTH]):
            row = structure[base + c]
            total = ld(out, structure[unknown + c]) / ld(out, row + c)
            for j in range(c):
                total = total - ld(out, row + j) * ld(out, structure[unknown + j])
            st(out, structure[unknown + c], total)


# --- the sweeps -------------------------------------------------------------------------------------------------------


@kernel
def _twists(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """M⁻¹ Sᵀ P* of all links."""
    plan = end_of_tree(structure)
    links, first = structure[plan + LINKS], plan + LINKS_AT
    for k in range(links):
        i = structure[first + k * LINK + LAST_ROW]
        put(work, i, TWIST, vector(work, i, MOMENTUM))
        put(work, i, TWIST + 3, vector(work, i, MOMENTUM + 3))
    for k in range(links - 1, -1, -1):
        link = first + k * LINK
        i, parent = structure[link + LAST_ROW], structure[link + UPPER]
        if parent >= 0:
            above = structure[parent + LAST_ROW]
            l, m = _ascend(
                t, y, parameters, structure, work, link, vector(work, i, MOMENTUM), vector(work, i, MOMENTUM + 3)
            )
            put(work, above, TWIST, subtract(vector(work, above, TWIST), l))
            put(work, above, TWIST + 3, subtract(vector(work, above, TWIST + 3), m))
        v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
        for r in range(6):
            st2(work, i, TWIST + r, _times_inverse(parameters, structure[link + INVERSE], r, v, w))


@kernel
def _relative(t: Any, y: Any, parameters: Any, structure: Any, work: Any, link: Any, i: Any) -> None:
    """S M⁻¹ Sᵀ P* − Vᴶ of a link, the twist of its joint without the prescribed motion, in the scratch columns."""
    v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
    parent = structure[link + UPPER]
    if parent >= 0:
        k = structure[parent + LAST_ROW]
        a, b = _descend(t, y, parameters, structure, work, link, vector(work, k, TWIST), vector(work, k, TWIST + 3))
        v, w = subtract(v, a), subtract(w, b)
    put(work, i, MIRROR, subtract(v, vector(work, i, OWN_DRIFT)))
    put(work, i, MIRROR + 3, subtract(w, vector(work, i, OWN_DRIFT + 3)))


@kernel
def _given(y: Any, structure: Any, work: Any, link: Any, i: Any) -> None:
    """P_0 = A (AᵀA)⁻¹ p = Q_A R⁻ᵀ p."""
    n, p = structure[link + FREEDOMS], header_of(structure).n_q + structure[link + VELOCITY]
    zero = ld(y, 0) - ld(y, 0)
    for r in range(6):
        st2(work, i, MOMENTUM + r, zero)
    for k in range(n):
        x = ld(y, p + k)
        if structure[link + ALONG]:
            st2(work, i, MOMENTUM + structure[link + ORDER + k], x)
        else:
            for j in range(k):
                x = x - ld2(work, i, TRIANGLE + 6 * j + k) * ld2(work, i, MIRROR + j)
            x = x / ld2(work, i, TRIANGLE + 7 * k)
            st2(work, i, MIRROR + k, x)
            for r in range(6):
                st2(work, i, MOMENTUM + r, ld2(work, i, MOMENTUM + r) + ld2(work, i, BASIS + 6 * r + k) * x)


@kernel
def _react(structure: Any, work: Any, out: Any, link: Any, i: Any) -> None:
    """P* = P_0 + Z λ."""
    n, unknown = structure[link + FREEDOMS], structure[link + UNKNOWN] + structure[link + OWN]
    for r in range(6 - n):
        x = ld(out, structure[unknown + r])
        if structure[link + ALONG]:
            place = MOMENTUM + structure[link + ORDER + n + r]
            st2(work, i, place, ld2(work, i, place) + x)
        else:
            for e in range(6):
                st2(work, i, MOMENTUM + e, ld2(work, i, MOMENTUM + e) + x * ld2(work, i, BASIS + 6 * e + n + r))


@kernel
def _velocity(structure: Any, work: Any, out: Any, link: Any, i: Any) -> None:
    """s = (AᵀA)⁻¹ Aᵀ V = R⁻¹ Q_Aᵀ V of the twist V in the scratch columns."""
    n, o = structure[link + FREEDOMS], header_of(structure).n_q + structure[link + VELOCITY]
    for k in range(n - 1, -1, -1):
        x = _component(structure, work, link, k, i, MIRROR)
        if not structure[link + ALONG]:
            for j in range(k + 1, n):
                x = x - ld2(work, i, TRIANGLE + 6 * k + j) * ld(out, o + j)
            x = x / ld2(work, i, TRIANGLE + 7 * k)
        st(out, o + k, x)


@entry(*FIELD_SIGNATURES)
def osp(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) or (q, p, τ, wrenches of all bodies) → out = (q, v, ṗ, scratch); the arrays by `osp_plan`."""
    tree = header_of(structure)
    n_q, n_v, plan = tree.n_q, tree.n_v, end_of_tree(structure)
    links, first, zero = structure[plan + LINKS], plan + LINKS_AT, ld(y, 0) - ld(y, 0)
    for k in range(links):
        link = first + k * LINK
        i = structure[link + LAST_ROW]
        _joint(t, y, parameters, structure, work, link, i, zero)
        if not structure[link + ALONG]:
            _orthogonalise(work, i, structure[link + FREEDOMS], zero)
        _given(y, structure, work, link, i)
        _blocks(t, y, parameters, structure, work, out, link, i, zero)
    for k in range(links - 1, -1, -1):
        _factorise(structure, out, first + k * LINK)
    _twists(t, y, parameters, structure, work)
    for k in range(links):
        link = first + k * LINK
        i, n = structure[link + LAST_ROW], structure[link + FREEDOMS]
        _relative(t, y, parameters, structure, work, link, i)
        for r in range(6 - n):
            st(
                out,
                structure[structure[link + UNKNOWN] + structure[link + OWN] + r],
                -_component(structure, work, link, n + r, i, MIRROR),
            )
    _solve(structure, out)
    for k in range(links):
        link = first + k * LINK
        _react(structure, work, out, link, structure[link + LAST_ROW])
    _twists(t, y, parameters, structure, work)
    for k in range(n_q):
        st(out, k, ld(y, k))
    for k in range(links):
        link = first + k * LINK
        i = structure[link + LAST_ROW]
        _relative(t, y, parameters, structure, work, link, i)
        _velocity(structure, work, out, link, i)
    loaded = y.shape[0] > n_q + n_v
    if loaded:
        apply_wrenches(y, n_q + 2 * n_v, parameters, structure, work)
    velocities(t, out, n_q, parameters, structure, work)
    momentum_rates(t, out, parameters, structure, work, out, n_q + n_v, loaded)
    if loaded:
        for k in range(n_v):
            st(out, n_q + n_v + k, ld(out, n_q + n_v + k) + ld(y, n_q + n_v + k))
