"""The parts of a mechanism for implicit and variational steppers (`integrators.problem.parts`, layout "constrained").

Equations of loops and the heights of wheels are integrable: the variational methods (`DLA`, `DLA4`, `DLA6`) then close
positions and velocities at every node, which is RATTLE on the tree's group.  Equations of contacts that roll or slide
come before them and hold velocities only.  `structure` is (n, m, k) and then that of the mechanism; the equations are
scaled to comparable sizes.

With V the twists, P* the momenta of the subtrees and A s the joint's own twist, the gradient of the kinetic energy at
fixed velocities is D = −Aᵀ Ω(V − A s) P*: a momentum is carried along by the parent's motion, not by the joint's own.
"""

from __future__ import annotations

from typing import Any

from integrators.problem.parts import clear, constrained
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, joined, kernel, ld, st
from liegroup.compile.dense import ld_on
from liegroup.formulas.vectors import add, cross, subtract
from mechanics.algorithms.crba import mass_matrix_into
from mechanics.algorithms.energy import first_moments, potential
from mechanics.algorithms.momentum import MOMENTUM
from mechanics.algorithms.rnea import accelerations, joint_forces
from mechanics.closed_trees.layout import closures_of, equation_of, scale_of
from mechanics.closed_trees.poses import gather_row
from mechanics.formulations.index_one import accelerated, applied_forces, copy_state, powers_of, watched
from mechanics.kernels.links import vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, own_momentum, own_twist, project
from mechanics.kernels.sweeps import clear as clear_columns
from mechanics.model.layout import F, damping_of, header_of, link_of

LOOPS = "short"

AHEAD = 3
"""(n, m, k), before the structure of the mechanism."""


@kernel
def at_rest(t: Any, y: Any, parameters: Any, structure: Any, work: Any, state: Any, out: Any) -> None:
    """out <- b(q, 0): the gradient of the potential."""
    tree = header_of(structure)
    for i in range(tree.n_q):
        st(state, i, ld(y, i))
    for i in range(tree.n_q, tree.n_q + 2 * tree.n_v):
        st(state, i, 0.0)
    clear_columns(structure, work, F, 6)
    accelerations(t, state, parameters, structure, work)
    joint_forces(t, state, parameters, structure, work, out)


@kernel
def kinetic_gradient(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out <- D, from the twists in the links."""
    tree = header_of(structure)
    clear_columns(structure, work, MOMENTUM, 6)
    for r in range(tree.links):
        i = tree.links - 1 - r
        link = link_of(structure, i)
        v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
        l, k = own_momentum(parameters, link, v, w)
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        v_own, w_own = own_twist(t, y, tree.n_q, parameters, link, 0.0 * v[0])
        v, w = subtract(v, v_own), subtract(w, w_own)
        force, moment = cross(l, w), add(cross(l, v), cross(k, w))
        project(parameters, link, force, moment, out, link.v, 1)
        l, k = wrench_up(t, y, parameters, work, i, link, l, k)
        add_to(work, link.parent, MOMENTUM, l, k)


@entry(*FIELD_SIGNATURES)
def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → the parts."""
    s = structure[AHEAD:]
    tree, closures, m, k = header_of(s), closures_of(s), structure[1], structure[2]
    n, at = tree.n_v, constrained(tree.n_v, m, k)
    rates, moved = joined(work[closures.rates : closures.moved]), joined(work[closures.moved : closures.state])
    state = joined(work[closures.state : closures.target])
    clear(out)
    at_rest(t, y, parameters, s, work, state, moved)
    for i in range(n):
        st(out, at.GRADIENT + i, ld(moved, i))
    copy_state(y, s, state)
    applied_forces(t, y, state, parameters, s, work)
    for i in range(n):  # forces are b + (f = forces − b), without the damping that is in both
        damping = damping_of(parameters, s, i) * ld(y, tree.n_q + i)
        st(out, at.FORCE + i, (ld(rates, n + i) + ld(moved, i)) - damping)
        st(out, at.RATE + i, (ld(moved, i) - damping) - ld(out, at.GRADIENT + i))
    for c in range(m):
        gather_row(parameters, s, work, out, at.ROWS + c * n, c)
        st(out, at.BIAS + c, -ld_on(work, closures.target, c))
        if c >= m - k:
            scale = scale_of(parameters, equation_of(s, closures, c))
            st(out, at.POSITION + c - (m - k), scale * ld_on(work, closures.gap, c))
    kinetic_gradient(t, y, parameters, s, work, rates)
    for i in range(n):
        st(out, at.KINETIC + i, ld(rates, i))
        st(out, at.RATE + i, ld(out, at.RATE + i) + ld(rates, i))
    first_moments(t, y, parameters, s, work)
    st(out, at.POTENTIAL, potential(parameters, s, work))
    mass_matrix_into(t, y, parameters, s, work, out)


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇), without stabilisation."""
    accelerated(t, y, parameters, structure[AHEAD:], work, out)


@entry(*FIELD_SIGNATURES)
def powers(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The power of every input."""
    powers_of(t, y, parameters, structure[AHEAD:], work, out)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(energy, greatest gap, greatest closing velocity)."""
    watched(t, y, parameters, structure[AHEAD:], work, out)
