"""The composite-rigid-body algorithm for a serial chain in base axes: what the kernel `crba` does for every tree in row
axes.

From the tip on, the mass, first moment C and tensor J of the bodies beyond about O_j, with r = O_j O_{j+1}:

    X = r̃ (C + ½ m r)~ᵀ,   J ← J + X + Xᵀ + I_j,   C ← C + m r + c_j,   m ← m + m_j

and column j from the force F and the moment n of a unit acceleration, carried to the base: rotary F = e × C, n = J e;
sliding F = m e, n = C × e; n ← n + r × F, A_ij = e_i · n (or e_i · F).
"""

from __future__ import annotations

from typing import Any

from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated
from mechanics.reference.serial.chain import Chain, plus, skew_product, transposed


def composite(chain: Chain) -> list[list[Any]]:
    """Lower triangle of A by rows."""
    N, e, r = len(chain.m), chain.e, chain.r
    rows: list[list[Any]] = [[None] * (j + 1) for j in range(N)]
    m, C, J = chain.m[-1], chain.c[-1], chain.inertia[-1]
    for j in reversed(range(N)):
        if j < N - 1:
            X = skew_product(r[j + 1], add(C, scale(0.5 * m, r[j + 1])))
            J = plus(plus(plus(X, transposed(X)), J), chain.inertia[j])
            C = add(add(C, scale(m, r[j + 1])), chain.c[j])
            m = m + chain.m[j]
        F, n = (cross(e[j], C), rotated(J, e[j])) if chain.rotary[j] else (scale(m, e[j]), cross(C, e[j]))
        for i in reversed(range(j + 1)):
            if i < j:
                n = add(n, cross(r[i + 1], F))
            rows[j][i] = dot(e[i], n if chain.rotary[i] else F)
    return rows
