"""Momenta p = Bᵀ M V + a v of given velocities: the sum of the momenta of the subtree, projected on the joint; eqs.
(4), (9).
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper
from liegroup.formulas.vectors import add
from mechanics.kernels.armature import add_momenta
from mechanics.kernels.links import vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, project, velocities
from mechanics.model.layout import header_of, link_of

MOMENTUM = 6
"""Column of P*, the momentum of the subtree."""


@helper
def momenta(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any = 0) -> None:
    """From the twists of the links and y = (q, v): P* of all links, that of the whole tree in the line of the base, and
    out[o … o + n_v] <- p.
    """
    n = header_of(structure).links
    clear(structure, work, MOMENTUM, 6)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        parent = link.parent
        l, k = own_momentum(parameters, link, vector(work, i, TWIST), vector(work, i, TWIST + 3))
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        project(parameters, link, l, k, out, o + link.v, 1)
        l, k = wrench_up(t, y, parameters, work, i, link, l, k)
        add_to(work, parent, MOMENTUM, l, k)
    add_momenta(parameters, structure, y, header_of(structure).n_q, out, o)


@entry(*FIELD_SIGNATURES)
def momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → p."""
    velocities(t, y, header_of(structure).n_q, parameters, structure, work)
    momenta(t, y, parameters, structure, work, out)
