"""Momenta p = Bᵀ M V + a v of given velocities: the sum of the momenta of the subtree, projected on the joint; eqs.
(4), (9).  The momentum of a whole that nothing holds is that of its free joints.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.formulas.vectors import add, dot
from mechanics.joints.element import FLOAT
from mechanics.kernels.armature import add_momenta
from mechanics.kernels.links import set_angle, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, project, velocities
from mechanics.model.layout import header_of, link_of, upright_axis

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


@kernel
def momentum_of_free(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any) -> None:
    """From a state (q, p) of a tree on free joints: out[o …] = its momentum about the origin of the world, as much as
    there is room for: (P, L), or (Px, Py, Lz) in axes whose z is against gravity.  The links have their angles.
    """
    tree = header_of(structure)
    n, zero = tree.links, ld(y, 0) - ld(y, 0)
    P, L = (zero, zero, zero), (zero, zero, zero)
    for i in range(n):
        link = link_of(structure, i)
        if link.parent == n and link.kind == FLOAT:
            p = tree.n_q + link.v
            l, k = (ld(y, p), ld(y, p + 1), ld(y, p + 2)), (ld(y, p + 3), ld(y, p + 4), ld(y, p + 5))
            l, k = wrench_up(t, y, parameters, work, i, link, l, k)
            P, L = add(P, l), add(L, k)
    if out.shape[0] == o + 3:
        st(out, o, dot(upright_axis(parameters, 0), P))
        st(out, o + 1, dot(upright_axis(parameters, 1), P))
        st(out, o + 2, dot(upright_axis(parameters, 2), L))
    elif out.shape[0] == o + 6:
        for r in range(3):
            st(out, o + r, P[r])
            st(out, o + 3 + r, L[r])


@entry(*FIELD_SIGNATURES)
def free_momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → what `momentum_of_free` says."""
    for i in range(header_of(structure).links):
        set_angle(t, y, parameters, work, i, link_of(structure, i))
    momentum_of_free(t, y, parameters, structure, work, out, 0)
