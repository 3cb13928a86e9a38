"""Stepanenko's passes: column i of the mass matrix is the inverse dynamics of a unit acceleration of joint i, bodies k
≥ i only.

rotary:  ε = e_i,  w_i = 0,  w_k = w_{k−1} + ε × r_{k−1,k}        sliding:  ε = 0,  w_k = e_i
f_k = m_k w_k + ε × c_k,   n_k = c_k × w_k + I_k ε,   summed from the tip to joint i,   A_ik = e_k · n_k (or e_k · f_k)
"""

from __future__ import annotations

from typing import Any

from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated
from mechanics.reference.serial.chain import Chain


def _efforts(chain: Chain, i: int) -> list[tuple[Any, Any]]:
    """Inertial forces and moments (f_k, n_k) of the bodies from i on."""
    e, found = chain.e[i], []
    w = None if chain.rotary[i] else e
    for k in range(i, len(chain.m)):
        if not chain.rotary[i]:
            found.append((scale(chain.m[k], e), cross(chain.c[k], e)))
            continue
        if k > i:
            step = cross(e, chain.r[k])
            w = step if w is None else add(w, step)
        f, n = cross(e, chain.c[k]), rotated(chain.inertia[k], e)
        if w is not None:
            f, n = add(scale(chain.m[k], w), f), add(cross(chain.c[k], w), n)
        found.append((f, n))
    return found


def stepanenko(chain: Chain) -> list[list[Any]]:
    """Lower triangle of A by rows."""
    N = len(chain.m)
    rows: list[list[Any]] = [[None] * (j + 1) for j in range(N)]
    for i in range(N):
        efforts = _efforts(chain, i)
        f, n = efforts[-1]
        for k in reversed(range(i, N)):
            if k < N - 1:
                n = add(efforts[k - i][1], add(n, cross(chain.r[k + 1], f)))
                f = add(efforts[k - i][0], f)
            rows[k][i] = dot(chain.e[k], n if chain.rotary[k] else f)
    return rows
