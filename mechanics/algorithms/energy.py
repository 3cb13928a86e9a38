"""Kinetic and potential energy, and the total momentum in the world."""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld2, st
from liegroup.formulas.vectors import add, cross, dot
from mechanics.kernels.rows import moment_up, put, set_angle, three, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, velocities
from mechanics.model.packing import HEADER, MASS, MOMENT, N_Q, PARAMETERS, PARENT, ROW, ROWS, TREE_MASS

CENTRE = 12
"""Column of the first moment of the subtree of a row."""
MOMENTUM = 6


@helper
def first_moments(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Σ m x of the subtrees of all rows; in the base's row that of the whole tree, in the world.  The angles are
    known.
    """
    clear(structure, work, CENTRE, 3)
    for i in range(structure[ROWS] - 1, -1, -1):
        row = HEADER + i * ROW
        at, parent = structure[row + PARAMETERS], structure[row + PARENT]
        a = add(vector(work, i, CENTRE), three(parameters, at + MOMENT))
        a = moment_up(t, y, parameters, structure, work, i, row, at, a, parameters[at + TREE_MASS])
        put(work, parent, CENTRE, add(vector(work, parent, CENTRE), a))


@helper
def potential(parameters: Any, structure: Any, work: Any) -> Any:
    """−g · Σ m x; bodies fixed to the base do not count."""
    return -dot(three(parameters, 0), vector(work, structure[ROWS], CENTRE))


@helper
def kinetic(parameters: Any, structure: Any, work: Any) -> Any:
    """½ Σ Vᵀ M V, from the twists of the rows."""
    total = ld2(work, structure[ROWS], TWIST)
    for i in range(structure[ROWS]):
        at = structure[HEADER + i * ROW + PARAMETERS]
        v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
        l, k = own_momentum(parameters, at, v, w)
        total = total + (dot(v, l) + dot(w, k))
    return 0.5 * total


@entry(*FIELD_SIGNATURES)
def energies(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → (kinetic energy, potential energy)."""
    velocities(t, y, structure[N_Q], parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    st(out, 0, kinetic(parameters, structure, work))
    st(out, 1, potential(parameters, structure, work))


@entry(*FIELD_SIGNATURES)
def potential_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → potential energy and the centre of mass in the world (3)."""
    total = 0.0
    for i in range(structure[ROWS]):
        row = HEADER + i * ROW
        set_angle(t, y, parameters, structure, work, i, row, structure[row + PARAMETERS])
        total = total + parameters[structure[row + PARAMETERS] + MASS]
    first_moments(t, y, parameters, structure, work)
    st(out, 0, potential(parameters, structure, work))
    c = vector(work, structure[ROWS], CENTRE)
    st(out, 1, c[0] / total)
    st(out, 2, c[1] / total)
    st(out, 3, c[2] / total)


@entry(*FIELD_SIGNATURES)
def total_momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → momentum of the tree in the world: linear (3), angular about the centre of mass (3)."""
    velocities(t, y, structure[N_Q], parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    clear(structure, work, MOMENTUM, 6)
    n, total = structure[ROWS], 0.0
    for i in range(n - 1, -1, -1):
        row = HEADER + i * ROW
        at = structure[row + PARAMETERS]
        l, k = own_momentum(parameters, at, vector(work, i, TWIST), vector(work, i, TWIST + 3))
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        l, k = wrench_up(t, y, parameters, structure, work, i, row, at, l, k)
        add_to(work, structure[row + PARENT], MOMENTUM, l, k)
        total = total + parameters[at + MASS]
    l, k, c = vector(work, n, MOMENTUM), vector(work, n, MOMENTUM + 3), vector(work, n, CENTRE)
    arm = cross(c, l)
    st(out, 0, l[0])
    st(out, 1, l[1])
    st(out, 2, l[2])
    st(out, 3, k[0] - arm[0] / total)
    st(out, 4, k[1] - arm[1] / total)
    st(out, 5, k[2] - arm[2] / total)
