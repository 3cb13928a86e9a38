"""Kinetic and potential energy, power, and the total momentum in the world."""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st
from liegroup.formulas.vectors import add, cross, dot
from mechanics.algorithms.kinematics import twist_at
from mechanics.kernels.armature import twice_kinetic
from mechanics.kernels.links import moment_up, put, set_angle, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, velocities
from mechanics.model.layout import HEAVY, damping_of, gravity_of, header_of, link_of, numbers_of, place_of

CENTRE = 12
"""Column of the first moment of the subtree of a link."""
MOMENTUM = 6


@helper
def first_moments(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Σ m x of the subtrees of all links; in the line of the base that of the whole tree, in the world.  The angles are
    known.
    """
    clear(structure, work, CENTRE, 3)
    for i in range(header_of(structure).links - 1, -1, -1):
        link = link_of(structure, i)
        own = numbers_of(parameters, link)
        parent = link.parent
        a = add(vector(work, i, CENTRE), own.moment)
        a = moment_up(t, y, parameters, work, i, link, a, own.tree_mass)
        put(work, parent, CENTRE, add(vector(work, parent, CENTRE), a))


@helper
def potential(parameters: Any, structure: Any, work: Any) -> Any:
    """−g · Σ m x; bodies fixed to the base do not count."""
    return -dot(gravity_of(parameters), vector(work, header_of(structure).links, CENTRE))


@helper
def kinetic(parameters: Any, structure: Any, work: Any, s: Any, at: Any) -> Any:
    """½ Σ Vᵀ M V + ½ Σ a s², from the twists of the links and the velocities s[at …]."""
    tree = header_of(structure)
    total = ld2(work, tree.links, TWIST)
    for i in range(tree.links):
        link = link_of(structure, i)
        if link.flags & HEAVY:
            v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
            l, k = own_momentum(parameters, link, v, w)
            total = total + (dot(v, l) + dot(w, k))
    return 0.5 * twice_kinetic(parameters, structure, s, at, total)


@entry(*FIELD_SIGNATURES)
def energies(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → (kinetic energy, potential energy)."""
    velocities(t, y, header_of(structure).n_q, parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    st(out, 0, kinetic(parameters, structure, work, y, header_of(structure).n_q))
    st(out, 1, potential(parameters, structure, work))


@entry(*FIELD_SIGNATURES)
def potential_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → potential energy and the centre of mass in the world (3)."""
    tree = header_of(structure)
    total = 0.0
    for i in range(tree.links):
        link = link_of(structure, i)
        set_angle(t, y, parameters, work, i, link)
        total = total + numbers_of(parameters, link).mass
    first_moments(t, y, parameters, structure, work)
    st(out, 0, potential(parameters, structure, work))
    c = vector(work, tree.links, CENTRE)
    st(out, 1, c[0] / total)
    st(out, 2, c[1] / total)
    st(out, 3, c[2] / total)


@entry(*FIELD_SIGNATURES)
def total_momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → momentum of the tree in the world: linear (3), angular about the centre of mass (3)."""
    tree = header_of(structure)
    velocities(t, y, tree.n_q, parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    clear(structure, work, MOMENTUM, 6)
    n, total = tree.links, 0.0
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        l, k = own_momentum(parameters, link, vector(work, i, TWIST), vector(work, i, TWIST + 3))
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        l, k = wrench_up(t, y, parameters, work, i, link, l, k)
        add_to(work, link.parent, MOMENTUM, l, k)
        total = total + numbers_of(parameters, link).mass
    l, k, c = vector(work, n, MOMENTUM), vector(work, n, MOMENTUM + 3), vector(work, n, CENTRE)
    arm = cross(c, l)
    st(out, 0, l[0])
    st(out, 1, l[1])
    st(out, 2, l[2])
    st(out, 3, k[0] - arm[0] / total)
    st(out, 4, k[1] - arm[1] / total)
    st(out, 5, k[2] - arm[2] / total)


@entry(*FIELD_SIGNATURES)
def power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ, wrenches of all bodies) → Σ (τ − d v) v + Σ F · V."""
    tree = header_of(structure)
    v, force = tree.n_q, tree.n_q + tree.n_v
    wrench = force + tree.n_v
    velocities(t, y, v, parameters, structure, work)
    total = loads = ld2(work, tree.links, TWIST)
    for k in range(tree.n_v):
        rate = ld(y, v + k)
        total = total + (ld(y, force + k) - damping_of(parameters, structure, k) * rate) * rate
    for b in range(tree.bodies):
        l, w = twist_at(work, place_of(parameters, structure, b))
        o = wrench + 6 * b
        loads = loads + (ld(y, o) * l[0] + ld(y, o + 1) * l[1] + ld(y, o + 2) * l[2])
        loads = loads + (ld(y, o + 3) * w[0] + ld(y, o + 4) * w[1] + ld(y, o + 5) * w[2])
    st(out, 0, total + loads)
