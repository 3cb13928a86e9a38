"""Derivatives of inverse dynamics τ(q, v, a) from composite bodies, in O(n · depth).

For a column S of the joint of link k, and every column S_j of the links j on its way to the base,

    ∂τ_j/∂q_k = S_jᵀ(B Ψ̇ + M Ψ̈ + S ×* F),     ∂τ_k/∂q_j = Sᵀ(B Ψ̇_j + M Ψ̈_j),
    ∂τ_j/∂v_k = S_jᵀ(B S + M(Ψ̇ + V × S)),     ∂τ_k/∂v_j = Sᵀ(B S_j + M(Ψ̇_j + V_j × S_j)),     M_jk = S_jᵀ M S,

with M, B and F of the composite body of k (`mechanics.algorithms.derivatives.bodies`); within the joint itself without
S ×* F.  Derivatives by q are by increments q·τ(δ) from the right, in the algebra of the joint.  Gravity is in the
acceleration of the base, wrenches are fixed in their bodies and turn with them, and what is prescribed needs nothing:
all twists hold its drift.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st
from liegroup.formulas.vectors import dot
from mechanics.algorithms.derivatives.bodies import (
    add_bodies,
    add_forces,
    composite_times,
    coriolis,
    coriolis_transposed,
    own_bodies,
    own_forces,
)
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    FORCE,
    OFFSET,
    RATE,
    SECOND,
    TWIST,
    carried,
    column,
    force_cross,
    motion_cross,
    pair,
    plus,
    twist_of,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.motion import accelerations, twists
from mechanics.joints.element import SCREW
from mechanics.kernels.links import freedom, vector
from mechanics.kernels.sweeps import apply_wrench, clear
from mechanics.model.layout import F, damping_of, header_of, link_of, numbers_of


@helper
def rates_of(work: Any, j: Any, link: Any, S: Any) -> Any:
    """Ψ̇, Ψ̈ and Ψ̇ + V × S of a column of a link."""
    if link.kind <= SCREW:
        rate, second = twist_of(work, j, RATE), twist_of(work, j, SECOND)
        both = plus(rate, rate)
    else:
        r = vector(work, j, OFFSET)
        before = carried(work, link.parent, TWIST, r)
        rate = motion_cross(before, S)
        second = plus(motion_cross(carried(work, link.parent, ACCELERATION, r), S), motion_cross(before, rate))
        both = plus(rate, motion_cross(twist_of(work, j, TWIST), S))
    return rate, second, both


@helper
def fill(out: Any, o: Any, count: Any, zero: Any) -> None:
    """out[o … o + count] <- 0."""
    for k in range(count):
        st(out, o + k, zero)


@helper
def derivatives_into(parameters: Any, structure: Any, work: Any, out: Any, o: Any, with_mass: Any) -> None:
    """∂τ/∂q, ∂τ/∂v (with damping) and, `with_mass`, M by rows, from out[o] on; the workspace is filled."""
    tree = header_of(structure)
    n, n_v = tree.links, tree.n_v
    nn = n_v * n_v
    fill(out, o, (3 if with_mass else 2) * nn, ld2(work, n, TWIST))
    for i in range(n):
        link = link_of(structure, i)
        for d in range(freedom(link.kind)):
            at = link.v + d
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            rate, second, both = rates_of(work, i, link, S)
            w, u = composite_times(parameters, work, i, link, S), coriolis_transposed(work, i, S)
            Q = plus(coriolis(work, i, rate[1]), composite_times(parameters, work, i, link, second))
            G = plus(coriolis(work, i, S[1]), composite_times(parameters, work, i, link, both))
            for e in range(freedom(link.kind)):
                S_e, row = column(work, i, link.kind, e, numbers_of(parameters, link).pitch), (link.v + e) * n_v + at
                st(out, o + row, pair(S_e, Q))
                st(out, o + nn + row, pair(S_e, G))
                if with_mass:
                    st(out, o + 2 * nn + row, pair(S_e, w))
            Q = plus(Q, force_cross(S, twist_of(work, i, FORCE)))
            r, j = vector(work, i, OFFSET), link.parent
            while j < n:
                passed = link_of(structure, j)
                w, Q, G = wrench_to_parent(r, w), wrench_to_parent(r, Q), wrench_to_parent(r, G)
                for e in range(freedom(passed.kind)):
                    S_j = column(work, j, passed.kind, e, numbers_of(parameters, passed).pitch)
                    rate, second, both = rates_of(work, j, passed, S_j)
                    row, turned = passed.v + e, at * n_v + passed.v + e
                    st(out, o + row * n_v + at, pair(S_j, Q))
                    st(out, o + turned, dot(u, rate[1]) + pair(second, w))
                    st(out, o + nn + row * n_v + at, pair(S_j, G))
                    st(out, o + nn + turned, dot(u, S_j[1]) + pair(both, w))
                    if with_mass:
                        m = pair(S_j, w)
                        st(out, o + 2 * nn + row * n_v + at, m)
                        st(out, o + 2 * nn + turned, m)
                r, j = vector(work, j, OFFSET), passed.parent
            damped = o + nn + at * n_v + at
            st(out, damped, ld(out, damped) + damping_of(parameters, structure, at))


@helper
def load(y: Any, o: Any, parameters: Any, structure: Any, work: Any) -> None:
    """The wrenches of all bodies from y[o] on, in link axes in the columns F."""
    clear(structure, work, F, 6)
    for b in range(header_of(structure).bodies):
        apply_wrench(y, o + 6 * b, parameters, structure, work, b)


@entry(*FIELD_SIGNATURES)
def inverse_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, a, wrenches of all bodies) → ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M by rows; `work` (links + 1, COLUMNS)."""
    tree = header_of(structure)
    n_q, n_v = tree.n_q, tree.n_v
    load(y, n_q + 2 * n_v, parameters, structure, work)
    twists(t, y, parameters, structure, work, y, n_q)
    accelerations(t, y, parameters, structure, work, y, n_q, y, n_q + n_v)
    own_bodies(parameters, structure, work, True)
    own_forces(parameters, structure, work)
    add_bodies(parameters, structure, work, True)
    add_forces(structure, work)
    derivatives_into(parameters, structure, work, out, 0, True)
