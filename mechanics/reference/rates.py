"""Rates of the momenta from the velocities: the last line of (10), for the kernels that find the velocities first."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, st, st2
from liegroup.formulas.vectors import add, cross
from mechanics.kernels.rows import direction_down, put, three, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, project
from mechanics.model.packing import DAMPING, HEADER, MASS, MOMENT, N_Q, N_V, PARAMETERS, PARENT, ROW, ROWS, F, V

MOMENTUM, WRENCH, GRAVITY = 6, 12, 18
"""Columns of P*, of F* and of gravity in row axes."""


@helper
def momentum_rates(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any, loaded: Any) -> None:
    """out[o … o + n_v] <- (Ȧᵀ − Aᵀ Ω) P* + Aᵀ F* − d s; y begins with (q, s), the rows have their twists (and wrenches
    in F).
    """
    n = structure[ROWS]
    for column in range(3):
        st2(work, n, GRAVITY + column, parameters[column])
    for i in range(n):
        row = HEADER + i * ROW
        g = vector(work, structure[row + PARENT], GRAVITY)
        put(work, i, GRAVITY, direction_down(y, parameters, structure, work, i, row, structure[row + PARAMETERS], g))
    clear(structure, work, MOMENTUM, 12)
    for i in range(n - 1, -1, -1):
        row = HEADER + i * ROW
        at, parent = structure[row + PARAMETERS], structure[row + PARENT]
        v, w, g = vector(work, i, TWIST), vector(work, i, TWIST + 3), vector(work, i, GRAVITY)
        l, k = own_momentum(parameters, at, v, w)
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        f = parameters[at + MASS] * g[0], parameters[at + MASS] * g[1], parameters[at + MASS] * g[2]
        m = cross(three(parameters, at + MOMENT), g)
        f, m = add(f, vector(work, i, WRENCH)), add(m, vector(work, i, WRENCH + 3))
        if loaded:
            f, m = add(f, vector(work, i, F)), add(m, vector(work, i, F + 3))
        force, moment = add(f, cross(l, w)), add(m, add(cross(l, v), cross(k, w)))
        project(parameters, structure, row, at, force, moment, out, o + structure[row + V], 1)
        l, k = wrench_up(t, y, parameters, structure, work, i, row, at, l, k)
        f, m = wrench_up(t, y, parameters, structure, work, i, row, at, f, m)
        add_to(work, parent, MOMENTUM, l, k)
        add_to(work, parent, WRENCH, f, m)
    for k in range(structure[N_V]):
        st(out, o + k, ld(out, o + k) - parameters[structure[DAMPING] + k] * ld(y, structure[N_Q] + k))
