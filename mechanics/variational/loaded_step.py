"""Force elements in a variational step: half of their impulse at either node, F = F(q, v, t) with the velocity v of the
node.

    p̂ = p + (h/2) (Q₀ + F₀),      p₁ = … + (h/2) (Q₁ + F₁),      F₁ = F(q₁, v(q₁, p₁), t₁)

Dampers make the second equation implicit.  It is solved by substitution, which contracts by about c h/2m (damping c,
mass m); a step for which it does not is refused.  Symmetric, order 2.  Everything else is as in
`mechanics.variational.closed_step`.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase
from integrators.layout import COMPENSATION
from integrators.signatures import STEP_SIGNATURES
from liegroup.compile import absolute, any_, entry, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from mechanics.closed_trees.field import velocities
from mechanics.closed_trees.forces import forces
from mechanics.closed_trees.layout import closures_of
from mechanics.closed_trees.poses import gather
from mechanics.kernels.links import freedom
from mechanics.model.layout import header_of, link_of
from mechanics.variational.closed_step import accept as accept_closed
from mechanics.variational.closed_step import close_step
from mechanics.variational.step import begin, run
from mechanics.variational.workspace import ETA, FORCE, TARGET

ROUNDS = 40
"""Substitutions at most."""
SETTLED = 4e-16
"""Change of the momenta, relative to the largest, below which the forces count as found."""


@kernel
def element_forces(t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, rates: Any) -> None:
    """rates <- (v, F) at the state y."""
    n = header_of(structure).n_v
    velocities(t, y, parameters, structure, field_work, rates)
    for k in range(n):
        st(rates, n + k, 0.0)
    forces(t, y, parameters, structure, field_work, rates, n)
    gather(t, y, parameters, structure, field_work, rates, n)


@kernel
def pull_elements(t: Any, half: Any, y: Any, parameters: Any, structure: Any, field_work: Any, work: Any) -> None:
    """The forces of the elements at node k, added to those of gravity and to the momenta the step aims at."""
    tree = header_of(structure)
    closures = closures_of(structure)
    n, rates = tree.n_v, field_work[closures.rates]
    element_forces(t, y, parameters, structure, field_work, rates)
    for i in range(tree.links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            x = ld(rates, n + link.v + j)
            st2(work, i, FORCE + j, ld2(work, i, FORCE + j) + x)
            st2(work, i, TARGET + j, ld2(work, i, TARGET + j) + half * x)


@kernel
def push_elements(
    t: Any, half: Any, y: Any, low: Any, parameters: Any, structure: Any, compensated: Any, field_work: Any, work: Any
) -> Any:  # fmt: skip
    """p += (h/2) F₁ at node k + 1, and F₁ to the forces there; returns whether it has settled."""
    tree = header_of(structure)
    closures = closures_of(structure)
    n, p, rates = tree.n_v, tree.n_q, field_work[closures.rates]
    going = 0.0 * ld(y, 0) + 1.0
    for i in range(tree.links):
        for j in range(6):
            st2(work, i, ETA + j, 0.0)
    for _ in range(ROUNDS):
        element_forces(t, y, parameters, structure, field_work, rates)
        change, size = 0.0 * going, 0.0 * going
        for i in range(tree.links):
            link = link_of(structure, i)
            for j in range(freedom(link.kind)):
                v = link.v + j
                x = select(going > 0.0, ld(rates, n + v) - ld2(work, i, ETA + j), 0.0 * going)
                st2(work, i, ETA + j, ld2(work, i, ETA + j) + x)
                increase(y, low, p + v, half * x, compensated)
                change, size = maximum(change, absolute(half * x)), maximum(size, absolute(ld(y, p + v)))
        going = select(change <= SETTLED * size, 0.0 * going, going)
        if not any_(going > 0.0):
            break
    for i in range(tree.links):
        for j in range(freedom(link_of(structure, i).kind)):
            st2(work, i, FORCE + j, ld2(work, i, FORCE + j) + ld2(work, i, ETA + j))
    return not any_(going > 0.0)


# --- the step ---------------------------------------------------------------------------------------------------------


@kernel
def attempt(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    forces_known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep; the state is not touched."""
    begin(t, h, y, parameters, structure, work, known, forces_known, counters)
    if not forces_known:
        pull_elements(t, 0.5 * h, y, parameters, structure, field_work, work)
    return close_step(t, y, parameters, structure, options, field_work, work, known, counters)


@kernel
def accept(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any,
    counters: Any
) -> Any:  # fmt: skip
    """Go on to the end t of a solved substep."""
    accept_closed(t, h, y, low, parameters, structure, options, field_work, work, counters)
    return push_elements(t, 0.5 * h, y, low, parameters, structure, options[COMPENSATION], field_work, work)


@entry(*STEP_SIGNATURES)
def loaded_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One variational step of a tree with closed loops and force elements, y = (q, p)."""
    return run(
        attempt, accept, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )
