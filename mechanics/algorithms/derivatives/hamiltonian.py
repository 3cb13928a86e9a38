"""The derivative of Hamilton's equations of a tree, (q, p) → (v, ṗ), from composite bodies: ERA's own.

With p = π(q, v) and ṗ = ρ(q, v), where for every column S of the joint of a link

    π = Sᵀ P,     ρ = Sᵀ(F − V ×* P) − d v,

P and F the momentum and the weight (with the wrenches) of its composite body, and Ξ = (g; 0) × S, Ψ̇ = V_parent × S,

    ∂π_j/∂q_k = S_jᵀ Z,                   ∂π_k/∂q_j = Ψ̇_jᵀ M S,               Z = S ×* P + M Ψ̇,
    ∂ρ_j/∂q_k = S_jᵀ E + (V_j × S_j)ᵀ Z,  ∂ρ_k/∂q_j = Ξ_jᵀ M S + Ψ̇_jᵀ z,       E = S ×* F + M Ξ,
    ∂ρ_j/∂v_k = (V_j × S_j)ᵀ M S,         ∂ρ_k/∂v_j = S_jᵀ z,                 z = S ×* P + M (V × S),

for j on the way of k to the base; within one joint Z and E are without S ×* P and S ×* F, ∂ρ/∂q is Ξ_eᵀ M S + Ψ̇_eᵀ z
and ∂ρ/∂v is S_eᵀ z.  Armature adds a to M and ∂g/∂v to ∂ρ/∂v (`mechanics.algorithms.derivatives.armature`).  Then

    ∂v/∂q = −M⁻¹ ∂π/∂q,   ∂v/∂p = M⁻¹,   ∂ṗ/∂q = ∂ρ/∂q + ∂ρ/∂v ∂v/∂q,   ∂ṗ/∂p = ∂ρ/∂v M⁻¹.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, ld2, never, rare, st
from liegroup.formulas.vectors import cross, dot
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.algorithms.derivatives.armature import add_rate_derivatives
from mechanics.algorithms.derivatives.bodies import add_bodies, add_forces, column_momentum, composite_times, own_bodies
from mechanics.algorithms.derivatives.columns import (
    ANGULAR,
    CENTRE,
    FORCE,
    LINEAR,
    OFFSET,
    RATE,
    TWIST,
    along,
    axis_of,
    carried,
    column,
    column_moved,
    column_turned,
    force_cross,
    minus,
    pair,
    plus,
    project_world,
    put_twist,
    rows_of,
    twist_of,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.factor import by_momenta, factorise, fill, solve
from mechanics.algorithms.derivatives.forward import mass_into
from mechanics.algorithms.derivatives.inverse import load
from mechanics.algorithms.derivatives.motion import retwist, twists
from mechanics.joints.element import TURN
from mechanics.kernels.links import add_three, freedom, put, vector
from mechanics.kernels.sweeps import clear, own_momentum
from mechanics.model.layout import (
    HEAVY,
    ONLY_TURNS,
    F,
    damping_of,
    gravity_of,
    has_armature,
    header_of,
    link_of,
    numbers_of,
    with_only_turns,
)

LOOPS = "short"


@helper
def momenta(parameters: Any, structure: Any, work: Any) -> None:
    """P of the composite bodies of all links."""
    n = header_of(structure).links
    clear(structure, work, LINEAR, 3)
    clear(structure, work, ANGULAR, 3)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        P = vector(work, i, LINEAR), vector(work, i, ANGULAR)
        if link.flags & HEAVY:
            R = rows_of(work, i)
            v, w = rotated_back(R, vector(work, i, TWIST)), rotated_back(R, vector(work, i, TWIST + 3))
            l, k = own_momentum(parameters, link, v, w)
            P = plus(P, (rotated(R, l), rotated(R, k)))
            put(work, i, LINEAR, P[0])
            put(work, i, ANGULAR, P[1])
        l, k = wrench_to_parent(vector(work, i, OFFSET), P)
        add_three(work, link.parent, LINEAR, l)
        add_three(work, link.parent, ANGULAR, k)


@helper
def _weights(parameters: Any, structure: Any, work: Any) -> None:
    """F of the composite bodies of all links: the wrenches of their bodies, then their weight."""
    n, g = header_of(structure).links, gravity_of(parameters)
    for i in range(n):
        R = rows_of(work, i)
        put_twist(work, i, FORCE, (rotated(R, vector(work, i, F)), rotated(R, vector(work, i, F + 3))))
    add_forces(structure, work)
    for i in range(n):
        m = numbers_of(parameters, link_of(structure, i)).tree_mass
        weight = (m * g[0], m * g[1], m * g[2]), cross(vector(work, i, CENTRE), g)
        put_twist(work, i, FORCE, plus(twist_of(work, i, FORCE), weight))


@helper
def _mass(parameters: Any, structure: Any, work: Any) -> None:
    """Composite bodies, and the factors of M."""
    first = header_of(structure).links + 1
    own_bodies(parameters, structure, work)
    add_bodies(parameters, structure, work, False)
    mass_into(parameters, structure, work, first)
    factorise(structure, work, first)


@helper
def _velocities_into(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any) -> None:
    """The factors of M, v = M⁻¹(p − π(q, 0)) into out[o …], and the twists of all links."""
    tree = header_of(structure)
    n_v, first = tree.n_v, tree.links + 1
    for k in range(n_v):
        st(out, o + k, ld2(work, tree.links, F))
    twists(t, y, parameters, structure, work, out, o)
    _mass(parameters, structure, work)
    momenta(parameters, structure, work)
    for i in range(tree.links):
        link = link_of(structure, i)
        P = vector(work, i, LINEAR), vector(work, i, ANGULAR)
        for d in range(freedom(link.kind)):
            S, k = column(work, i, link.kind, d, numbers_of(parameters, link).pitch), link.v + d
            st(out, o + k, ld(y, tree.n_q + k) - along(link.kind, S, P))
    solve(structure, work, first, out, o)
    retwist(t, parameters, structure, work, out, o)
    put_rates(structure, work)


@helper
def put_rates(structure: Any, work: Any) -> None:
    """Ψ̇ of links with one degree of freedom."""
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        if link.kind == TURN:
            a = axis_of(rows_of(work, i), 2)
            v, w = carried(work, link.parent, TWIST, vector(work, i, OFFSET))
            put_twist(work, i, RATE, (cross(v, a), cross(w, a)))


@helper
def _columns_into(parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """∂π/∂q, ∂ρ/∂q and ∂ρ/∂v, without armature, in the places of ∂v/∂q, ∂ṗ/∂q and ∂ṗ/∂p."""
    tree = header_of(structure)
    n, n_v = tree.links, tree.n_v
    width, below = 2 * n_v, 2 * n_v * n_v
    zero, g = ld2(work, n, TWIST), gravity_of(parameters)
    none = zero, zero, zero
    at_rest = none, none
    fill(out, 0, 2 * below, zero)
    for i in range(n):
        link = link_of(structure, i)
        P, weight = (vector(work, i, LINEAR), vector(work, i, ANGULAR)), twist_of(work, i, FORCE)
        for d in range(freedom(link.kind)):
            at = link.v + d
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            before = carried(work, link.parent, TWIST, vector(work, i, OFFSET))
            turned, own = column_turned(link.kind, S, P), column_moved(link.kind, twist_of(work, i, TWIST), S)
            w = column_momentum(parameters, work, i, link, S)
            z = plus(turned, composite_times(parameters, work, i, link, own))
            Z = plus(turned, composite_times(parameters, work, i, link, column_moved(link.kind, before, S)))
            E = plus(
                column_turned(link.kind, S, weight), composite_times(parameters, work, i, link, (cross(g, S[1]), none))
            )
            j = i
            while j < n:
                passed = link_of(structure, j)
                if passed.kind == TURN:
                    a, rate, c = axis_of(rows_of(work, j), 2), twist_of(work, j, RATE), passed.v
                    x = pair(rate, w)
                    st(out, at * width + c, x)
                    st(out, below + at * width + c, dot(cross(g, a), w[0]) + pair(rate, z))
                    st(out, below + n_v + at * width + c, dot(a, z[1]))
                    if j != i:
                        st(out, c * width + at, dot(a, Z[1]))
                        st(out, below + c * width + at, dot(a, E[1]) + pair(rate, Z))
                        st(out, below + n_v + c * width + at, x)
                elif freedom(passed.kind) > 0:
                    before = carried(work, passed.parent, TWIST, vector(work, j, OFFSET))
                    own, row, col = twist_of(work, j, TWIST), at * width + passed.v, passed.v * width + at
                    x = minus((none, cross(w[0], g)), force_cross(before, z))
                    y = minus(at_rest, force_cross(before, w))
                    project_world(parameters, work, j, passed, y, out, row, 1)
                    project_world(parameters, work, j, passed, x, out, below + row, 1)
                    project_world(parameters, work, j, passed, z, out, below + n_v + row, 1)
                    if j != i:
                        x, e = minus(E, force_cross(own, Z)), minus(at_rest, force_cross(own, w))
                        project_world(parameters, work, j, passed, Z, out, col, width)
                        project_world(parameters, work, j, passed, x, out, below + col, width)
                        project_world(parameters, work, j, passed, e, out, below + n_v + col, width)
                r, j = vector(work, j, OFFSET), passed.parent
                w, z, Z, E = (
                    wrench_to_parent(r, w),
                    wrench_to_parent(r, z),
                    wrench_to_parent(r, Z),
                    wrench_to_parent(r, E),
                )
            damped = below + at * width + n_v + at
            st(out, damped, ld(out, damped) - damping_of(parameters, structure, at))


@helper
def _derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    if header_of(structure).kinds == ONLY_TURNS:
        _derivatives_of_tree(t, y, parameters, with_only_turns(structure), work, out)
    else:
        _derivatives_of_others(t, y, parameters, structure, work, out)


@helper
def _derivatives_of_tree(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    tree = header_of(structure)
    below = 2 * tree.n_v * tree.n_v
    _velocities_into(t, y, parameters, structure, work, out, below)
    _derivatives_of_twists(parameters, structure, work, out, below, out)


@rare(never)
def _derivatives_of_others(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Of trees with other joints than turns: the formulas are the same, their code is a half longer."""
    _derivatives_of_tree(t, y, parameters, structure, work, out)


@kernel
def derivatives_at(t: Any, y: Any, v: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What `era_derivatives` gives where p belongs to the velocities v; y = (q, …), and p is not read."""
    clear(structure, work, F, 6)
    twists(t, y, parameters, structure, work, v, 0)
    _mass(parameters, structure, work)
    put_rates(structure, work)
    _derivatives_of_twists(parameters, structure, work, v, 0, out)
    by_momenta(structure, work, out)


@helper
def _derivatives_of_twists(parameters: Any, structure: Any, work: Any, s: Any, o: Any, out: Any) -> None:
    """The derivatives by (q, v) at the twists in the links, the velocities s[o …] and the factors of M, for
    `by_momenta`.
    """
    tree = header_of(structure)
    n_v, below = tree.n_v, 2 * tree.n_v * tree.n_v
    v = work[tree.links + 1 + n_v]  # a line that is not in use yet
    for k in range(n_v):
        st(v, k, ld(s, o + k))
    momenta(parameters, structure, work)
    _weights(parameters, structure, work)
    _columns_into(parameters, structure, work, out)
    if has_armature(structure):
        add_rate_derivatives(parameters, structure, v, 0, out, below + n_v, 2 * n_v, 1.0)


@kernel
def derivatives_without_wrenches(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What `era_derivatives` gives."""
    clear(structure, work, F, 6)
    _derivatives(t, y, parameters, structure, work, out)
    by_momenta(structure, work, out)


@entry(*FIELD_SIGNATURES)
def era_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → the derivative of (v, ṗ) by (q, p), (2 n_v)² by rows; `work` of `work_shape`."""
    derivatives_without_wrenches(t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def era_derivatives_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p, τ, wrenches of all bodies) → the same with the wrenches; τ matters nothing."""
    tree = header_of(structure)
    load(y, tree.n_q + 2 * tree.n_v, parameters, structure, work)
    _derivatives(t, y, parameters, structure, work, out)
    by_momenta(structure, work, out)


@rare(never)
def derivatives_on_demand(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What `era_derivatives` gives, for fields that most runs never ask for it."""
    derivatives_without_wrenches(t, y, parameters, structure, work, out)
