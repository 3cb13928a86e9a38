"""Hamilton's equations of a network of points, its energy and momenta.

ẋ = p/m,    ṗ = m g − r p − Σ ∂V/∂x − Σ c u u·(v_b − v_a);    supports and bodies: `mechanics.elastic.owned`
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
    BODIES,
    COUNT,
    CS_AT,
    DAMPERS,
    DAMPERS_AT,
    DEPTH,
    DRIVEN,
    KIND,
    MOVING,
    NODES,
    NODES_AT,
    NUMBERS_AT,
    ORDER_AT,
    inverse_mass,
    inverses_at,
    masses_at,
    rates_at,
    run,
    runs,
)
from mechanics.elastic.owned import (
    forces_at,
    is_owned,
    momenta_at,
    of_bodies,
    place_all,
    share,
    velocity,
    works,
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


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Velocities of all nodes and bodies, then ṗ; nothing of nodes that do not move by themselves, but for the power
    of supports.
    """
    first, momenta = forces_at(structure), momenta_at(structure)
    for i in range(2 * first):
        st(out, i, 0.0)
    places = y
    if is_owned(structure):
        places = work[0]
        place_all(t, y, parameters, structure, places)
    add_blocks(1.0, 0, structure[BLOCKS], places, parameters, structure, out, first)
    for k in range(structure[DAMPERS]):
        at = structure[DAMPERS_AT] + 2 * k
        a, b = structure[at], structure[at + 1]
        u, speed = rate(
            three(places, a), three(places, b), velocity(t, y, a, parameters, structure),
            velocity(t, y, b, parameters, structure),
        )  # fmt: skip
        f = scale(parameters[structure[CS_AT] + k] * speed, u)
        store(out, first + a, add(three(out, first + a), f))
        store(out, first + b, add(three(out, first + b), scale(-1.0, f)))
    masses, inverses, rates = masses_at(structure), inverses_at(structure), rates_at(structure)
    for r in range(runs(structure, structure[DEPTH])):
        start, end = run(structure, r)
        for i in range(start, end):
            p = ld(y, momenta + i)
            st(out, i, ld(parameters, inverses + i) * p)
            weight = ld(parameters, masses + i) * ld(parameters, i)
            st(out, first + i, ld(out, first + i) + (weight - ld(parameters, rates + i) * p))
    if is_owned(structure):
        share(t, y, parameters, structure, out, first)
    for k in range(structure[MOVING] + structure[DRIVEN], structure[NODES]):
        i = structure[structure[ORDER_AT] + k]
        store(out, first + i, three(out, i))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The energy; then, if there is room, less the work of supports that move, or Σ p and Σ x × p."""
    momenta = momenta_at(structure)
    places = y
    if is_owned(structure):
        places = work[0]
        place_all(t, y, parameters, structure, places)
    energy = 0.0 * ld(y, 0)
    linear, angular = (energy, energy, energy), (energy, energy, energy)
    g = (parameters[0], parameters[1], parameters[2])
    for k in range(structure[NODES]):
        i, mass, inverse = (
            3 * k,
            ld(parameters, masses_at(structure) + 3 * k),
            inverse_mass(parameters, structure, 3 * k),
        )
        if inverse != 0.0:
            x, p = three(y, i), three(y, momenta + i)
            energy = energy + (0.5 * inverse * dot(p, p) - mass * dot(g, x))
            linear, angular = add(linear, p), add(angular, cross(x, p))
    if structure[BODIES] > 0:
        own, moving, turning = of_bodies(y, parameters, structure)
        energy, linear, angular = energy + own, add(linear, moving), add(angular, turning)
    for block in range(structure[BLOCKS]):
        at = structure[BLOCKS_AT] + BLOCK * block
        energy = energy + add_potentials(
            structure[at + KIND], structure[at + COUNT], structure[at + NODES_AT], structure[at + NUMBERS_AT], places,
            parameters, structure,
        )  # fmt: skip
    st(out, 0, energy)
    if out.shape[0] > 2:
        store(out, 1, linear)
        store(out, 4, angular)
    elif out.shape[0] == 2:
        st(out, 1, energy - works(y, structure))


@entry(*FIELD_SIGNATURES)
def smallest_volume(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The smallest ratio J of present to reference volume, of all tetrahedra."""
    least = 0.0 * ld(y, 0) + 1e300
    places = y
    if is_owned(structure):
        places = work[0]
        place_all(t, y, parameters, structure, places)
    for block in range(structure[BLOCKS]):
        row = structure[BLOCKS_AT] + BLOCK * block
        if _FIRST_TETRAHEDRON <= structure[row + KIND] <= _LAST_TETRAHEDRON:
            for e in range(structure[row + COUNT]):
                J = volume_ratio(
                    twelve(parameters, structure[row + NUMBERS_AT] + 12 * e),
                    four_places(places, structure, structure[row + NODES_AT] + 4 * e),
                )
                least = select(less(J, least), J, least)
    st(out, 0, least)
