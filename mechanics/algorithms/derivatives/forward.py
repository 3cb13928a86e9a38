"""Derivatives of forward dynamics v̇(q, v, τ): with those of inverse dynamics at the accelerations that belong to τ,

∂v̇/∂q = −M⁻¹ ∂τ/∂q,     ∂v̇/∂v = −M⁻¹ ∂τ/∂v,     ∂v̇/∂τ = M⁻¹.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st
from mechanics.algorithms.derivatives.bodies import add_bodies, add_forces, composite_times, own_bodies, own_forces
from mechanics.algorithms.derivatives.columns import FORCE, OFFSET, TWIST, column, pair, twist_of, wrench_to_parent
from mechanics.algorithms.derivatives.factor import factorise, invert, solve
from mechanics.algorithms.derivatives.inverse import derivatives_into, fill, load
from mechanics.algorithms.derivatives.motion import accelerations, twists
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import damping_of, header_of, link_of, numbers_of


@helper
def mass_into(parameters: Any, structure: Any, work: Any, out: Any, o: Any, width: Any) -> None:
    """The lower triangle of M, where velocities share a way to the base, from the composite bodies."""
    n = header_of(structure).links
    for i in range(n):
        link = link_of(structure, i)
        for d in range(freedom(link.kind)):
            at = o + (link.v + d) * width
            w = composite_times(
                parameters, work, i, link, column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            )
            j = i
            while j < n:
                passed = link_of(structure, j)
                for e in range(d + 1 if j == i else freedom(passed.kind)):
                    S = column(work, j, passed.kind, e, numbers_of(parameters, passed).pitch)
                    st(out, at + passed.v + e, pair(S, w))
                w, j = wrench_to_parent(vector(work, j, OFFSET), w), passed.parent


@helper
def forces_into(parameters: Any, structure: Any, work: Any, out: Any, o: Any) -> None:
    """SᵀF of all velocities, without damping."""
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        F = twist_of(work, i, FORCE)
        for d in range(freedom(link.kind)):
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            st(out, o + link.v + d, pair(S, F))


@entry(*FIELD_SIGNATURES)
def forward_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ, wrenches of all bodies) → ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹ by rows, and v̇; `work` (links + 1,
    COLUMNS).
    """
    tree = header_of(structure)
    n_q, n_v = tree.n_q, tree.n_v
    nn = n_v * n_v
    mass, a = 2 * nn, 3 * nn
    load(y, n_q + 2 * n_v, parameters, structure, work)
    twists(t, y, parameters, structure, work, y, n_q)
    fill(out, a, n_v, ld2(work, tree.links, TWIST))
    accelerations(t, y, parameters, structure, work, y, n_q, out, a)
    own_bodies(parameters, structure, work, True)
    own_forces(parameters, structure, work)
    add_bodies(parameters, structure, work, True)
    add_forces(structure, work)
    forces_into(parameters, structure, work, out, a)
    for k in range(n_v):
        resisted = ld(out, a + k) + damping_of(parameters, structure, k) * ld(y, n_q + k)
        st(out, a + k, ld(y, n_q + n_v + k) - resisted)
    mass_into(parameters, structure, work, out, mass, n_v)
    factorise(structure, out, mass, n_v)
    solve(structure, out, mass, n_v, out, a, 1, 1, 1)
    accelerations(t, y, parameters, structure, work, y, n_q, out, a)
    own_forces(parameters, structure, work)
    add_forces(structure, work)
    derivatives_into(parameters, structure, work, out, 0, False)
    for k in range(2 * nn):
        st(out, k, -ld(out, k))
    solve(structure, out, mass, n_v, out, 0, n_v, 1, n_v)
    solve(structure, out, mass, n_v, out, nn, n_v, 1, n_v)
    invert(structure, out, mass, n_v)
