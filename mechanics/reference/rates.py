"""Rates of the momenta from the velocities: the last line of (10), for the kernels that find the velocities first."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, st
from liegroup.formulas.vectors import add, cross
from mechanics.kernels.armature import add_rates
from mechanics.kernels.links import direction_down, put, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, project
from mechanics.model.layout import F, damping_of, gravity_of, has_armature, header_of, link_of, numbers_of

MOMENTUM, WRENCH, GRAVITY = 6, 12, 18
"""Columns of P*, of F* and of gravity in link axes."""


@helper
def momentum_rates(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any, loaded: Any) -> None:
    """out[o … o + n_v] <- (Ȧᵀ − Aᵀ Ω) P* + Aᵀ F* − d s + ad_sᵀ(a s); y begins with (q, s), the links have their twists
    (and wrenches in F).
    """
    tree = header_of(structure)
    n = tree.links
    put(work, n, GRAVITY, gravity_of(parameters))
    for i in range(n):
        link = link_of(structure, i)
        g = vector(work, link.parent, GRAVITY)
        put(work, i, GRAVITY, direction_down(y, parameters, work, i, link, g))
    clear(structure, work, MOMENTUM, 12)
    for i in range(n - 1, -1, -1):
        link = link_of(structure, i)
        parent, own = link.parent, numbers_of(parameters, link)
        v, w, g = vector(work, i, TWIST), vector(work, i, TWIST + 3), vector(work, i, GRAVITY)
        l, k = own_momentum(parameters, link, v, w)
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        f, m = (own.mass * g[0], own.mass * g[1], own.mass * g[2]), cross(own.moment, g)
        f, m = add(f, vector(work, i, WRENCH)), add(m, vector(work, i, WRENCH + 3))
        if loaded:
            f, m = add(f, vector(work, i, F)), add(m, vector(work, i, F + 3))
        force, moment = add(f, cross(l, w)), add(m, add(cross(l, v), cross(k, w)))
        project(parameters, link, force, moment, out, o + link.v, 1)
        l, k = wrench_up(t, y, parameters, work, i, link, l, k)
        f, m = wrench_up(t, y, parameters, work, i, link, f, m)
        add_to(work, parent, MOMENTUM, l, k)
        add_to(work, parent, WRENCH, f, m)
    for k in range(tree.n_v):
        st(out, o + k, ld(out, o + k) - damping_of(parameters, structure, k) * ld(y, tree.n_q + k))
    if has_armature(structure):
        add_rates(parameters, structure, y, tree.n_q, out, o, 1.0)
