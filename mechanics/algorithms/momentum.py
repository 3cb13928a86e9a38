"""Momenta p = Bᵀ M V of given velocities: the sum of the momenta of the subtree, projected on the joint; eqs. (4),
(9).
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper
from liegroup.formulas.vectors import add
from mechanics.kernels.rows import vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, clear, own_momentum, project, velocities
from mechanics.model.packing import HEADER, N_Q, PARAMETERS, PARENT, ROW, ROWS, V

MOMENTUM = 6
"""Column of P*, the momentum of the subtree."""


@helper
def momenta(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, o: Any = 0) -> None:
    """From the twists of the rows: P* of all rows, that of the whole tree in the base's row, and out[o … o + n_v]
    <- p.
    """
    n = structure[ROWS]
    clear(structure, work, MOMENTUM, 6)
    for i in range(n - 1, -1, -1):
        row = HEADER + i * ROW
        at, parent = structure[row + PARAMETERS], structure[row + PARENT]
        l, k = own_momentum(parameters, at, vector(work, i, TWIST), vector(work, i, TWIST + 3))
        l, k = add(l, vector(work, i, MOMENTUM)), add(k, vector(work, i, MOMENTUM + 3))
        project(parameters, structure, row, at, l, k, out, o + structure[row + V], 1)
        l, k = wrench_up(t, y, parameters, structure, work, i, row, at, l, k)
        add_to(work, parent, MOMENTUM, l, k)


@entry(*FIELD_SIGNATURES)
def momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → p."""
    velocities(t, y, structure[N_Q], parameters, structure, work)
    momenta(t, y, parameters, structure, work, out)
