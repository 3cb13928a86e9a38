"""The block-triangular product A = Lᵀ 𝓜 L, O(N³): a reading of the algorithm known as "kosynka" (triangular kerchief).

Block (k, i), i ≤ k, of L is the twist of body k under a unit rate of joint i, (r̃_ikᵀ e_i; e_i) or (e_i; 0), and
𝓜_k = [[m_k E, c̃_kᵀ], [c̃_k, I_k]].  The original (Leskov, Yushchenko) could not be found; only that it starts from the
block form and costs O(N³) is known, from Yaskevich.
"""

from __future__ import annotations

from typing import Any

from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated
from mechanics.reference.serial.chain import Chain
from mechanics.reference.serial.yaskevich import distances


def kosynka(chain: Chain) -> list[list[Any]]:
    """Lower triangle of A by rows."""
    N, r = len(chain.m), distances(chain)
    rows: list[list[Any]] = [[None] * (j + 1) for j in range(N)]
    for k in range(N):
        twists: list[Any] = []
        for i in range(k + 1):
            e = chain.e[i]
            v = (None if i == k else cross(e, r[i, k])) if chain.rotary[i] else e
            twists.append((v, e if chain.rotary[i] else None))
        for j in range(k + 1):
            momentum = _momentum(chain, k, *twists[j])
            for i in range(j + 1):
                term = _product(twists[i], momentum)
                rows[j][i] = term if k == j else rows[j][i] + term
    return rows


def _momentum(chain: Chain, k: int, v: Any, w: Any) -> tuple[Any, Any]:
    """𝓜_k (v, ω); None is a vector that is zero."""
    if v is None:
        return cross(w, chain.c[k]), rotated(chain.inertia[k], w)
    if w is None:
        return scale(chain.m[k], v), cross(chain.c[k], v)
    l = add(scale(chain.m[k], v), cross(w, chain.c[k]))
    return l, add(cross(chain.c[k], v), rotated(chain.inertia[k], w))


def _product(twist: Any, momentum: Any) -> Any:
    v, w = twist
    if v is None:
        return dot(w, momentum[1])
    return dot(v, momentum[0]) if w is None else dot(v, momentum[0]) + dot(w, momentum[1])
