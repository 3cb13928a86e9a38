"""Hamilton's equations of a network of points, its energy and momenta.

ẋ = p/m,    ṗ = m g − r p − Σ ∂V/∂x − Σ c u u·(v_b − v_a)
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, select, st
from liegroup.compile.functions import less
from liegroup.formulas.vectors import add, cross, dot, scale
from liegroup.table import load_components, store_components
from mechanics.elastic.continua import TETRAHEDRA, TETRAHEDRON_STABLE, volume_ratio
from mechanics.elastic.dampers import rate
from mechanics.elastic.layout import (
    BLOCK,
    BLOCKS,
    BLOCKS_AT,
    COUNT,
    CS_AT,
    DAMPERS,
    DAMPERS_AT,
    KIND,
    MOVING,
    NODES,
    NODES_AT,
    NUMBERS_AT,
    ORDER_AT,
    node_at,
)
from mechanics.elastic.registry import KINDS, add_forces, add_potentials, load_places

three, store = load_components(3), store_components(3)
four_places, twelve = load_places(4), load_components(12)
_FIRST_TETRAHEDRON = min(KINDS.index(kind) for kind in TETRAHEDRA)
_LAST_TETRAHEDRON = KINDS.index(TETRAHEDRON_STABLE)


@helper
def add_blocks(
    w: Any, start: Any, end: Any, y: Any, parameters: Any, structure: Any, force: Any, first: Any
) -> None:  # fmt: skip
    """Add w times the forces of the blocks start … end − 1 to `force` from `first` on."""
    for block in range(start, end):
        at = structure[BLOCKS_AT] + BLOCK * block
        add_forces(
            structure[at + KIND], w, structure[at + COUNT], structure[at + NODES_AT], structure[at + NUMBERS_AT], y,
            parameters, structure, force, first,
        )  # fmt: skip


@helper
def velocity(y: Any, momenta: Any, offset: Any, parameters: Any) -> Any:
    """v = p/m of a node."""
    return scale(parameters[node_at(offset) + 1], three(y, momenta + offset))


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, ṗ) of every node; nothing of those that are held."""
    n = 3 * structure[NODES]
    for i in range(2 * n):
        st(out, i, ld(y, i) * 0.0)
    add_blocks(1.0, 0, structure[BLOCKS], y, parameters, structure, out, n)
    for k in range(structure[DAMPERS]):
        at = structure[DAMPERS_AT] + 2 * k
        a, b = structure[at], structure[at + 1]
        u, speed = rate(
            three(y, a), three(y, b), velocity(y, n, a, parameters), velocity(y, n, b, parameters)
        )  # fmt: skip
        f = scale(parameters[structure[CS_AT] + k] * speed, u)
        store(out, n + a, add(three(out, n + a), f))
        store(out, n + b, add(three(out, n + b), scale(-1.0, f)))
    for k in range(structure[NODES]):
        i = structure[structure[ORDER_AT] + k]
        if k < structure[MOVING]:
            at = node_at(i)
            p, mass, drag = three(y, n + i), parameters[at], parameters[at + 2]
            store(out, i, scale(parameters[at + 1], p))
            weight = (mass * parameters[0], mass * parameters[1], mass * parameters[2])
            store(out, n + i, add(three(out, n + i), add(weight, scale(-drag, p))))
        else:
            store(out, n + i, three(out, i))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The energy; then, if there is room, Σ p and Σ x × p."""
    n = 3 * structure[NODES]
    energy = 0.0 * ld(y, 0)
    linear, angular = (energy, energy, energy), (energy, energy, energy)
    g = (parameters[0], parameters[1], parameters[2])
    for i in range(0, n, 3):
        x, p, at = three(y, i), three(y, n + i), node_at(i)
        energy = energy + (0.5 * parameters[at + 1] * dot(p, p) - parameters[at] * dot(g, x))
        linear, angular = add(linear, p), add(angular, cross(x, p))
    for block in range(structure[BLOCKS]):
        at = structure[BLOCKS_AT] + BLOCK * block
        energy = energy + add_potentials(
            structure[at + KIND], structure[at + COUNT], structure[at + NODES_AT], structure[at + NUMBERS_AT], y,
            parameters, structure,
        )  # fmt: skip
    st(out, 0, energy)
    if out.shape[0] > 1:
        store(out, 1, linear)
        store(out, 4, angular)


@entry(*FIELD_SIGNATURES)
def smallest_volume(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The smallest ratio J of present to reference volume, of all tetrahedra."""
    least = 0.0 * ld(y, 0) + 1e300
    for block in range(structure[BLOCKS]):
        row = structure[BLOCKS_AT] + BLOCK * block
        if _FIRST_TETRAHEDRON <= structure[row + KIND] <= _LAST_TETRAHEDRON:
            for e in range(structure[row + COUNT]):
                J = volume_ratio(
                    twelve(parameters, structure[row + NUMBERS_AT] + 12 * e),
                    four_places(y, structure, structure[row + NODES_AT] + 4 * e),
                )
                least = select(less(J, least), J, least)
    st(out, 0, least)
