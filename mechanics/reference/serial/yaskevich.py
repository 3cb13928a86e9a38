"""Yaskevich's recursion for the mass matrix of a serial chain, corrected.

With r_ij = O_i O_j, c_j the first moment and I_j the tensor about O_j, all in base axes, and i ≤ j:

    A_ij = e_iᵀ M_ij e_j,     M_ij = Σ_{k≥j} (I_k + m_k r̃_ik r̃_jkᵀ + r̃_ik c̃_kᵀ + c̃_k r̃_jkᵀ)    rotary joints, (20)

by the recursions (numbers as in the paper)

    r_ij = r_{i,i+1} + r_{i+1,j}                                                                          (12)
    M1_j = I_j + M1_{j+1}                                                                                 (13)
    s_ij = m_j r_ij + s_{i,j+1}                                                          missing in the print
    M2_ij = s̃_{i,j+1} r̃ᵀ_{j,j+1} + M2_{i,j+1}                                                             (14)
    M3_ij = c̃_{j+1} r̃ᵀ_{i,j+1} + M3_{i,j+1}                                                               (15)
    M_ij = M1_j + M2_ij + M3_jj + M3ᵀ_{i,j−1}   (i < j),     M_ii = M1_i + M2_ii + M3_ii + M3_iiᵀ           (16)

The print of (14b) has m_{j+1} r_{i,j+1} where the accumulated moment s_{i,j+1} belongs: with it the matrix is wrong by
a quarter at three joints and by nine tenths at twenty.  With a sliding joint (i rotary, j sliding; μ = max(i, j)):

    A_ij = e_i · (Σ_{k≥μ} (m_k r_ik + c_k) × e_j),     both sliding: A_ij = (Σ_{k≥μ} m_k) e_i · e_j.
"""

from __future__ import annotations

from typing import Any

from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated
from mechanics.reference.serial.chain import Chain, Matrix, Vector, plus, skew_product, transposed

Pairs = dict[tuple[int, int], Any]


def distances(chain: Chain) -> Pairs:
    """r_ij for i < j; eq. (12)."""
    N = len(chain.m)
    r: Pairs = {}
    for j in range(1, N):
        r[j - 1, j] = chain.r[j]
        for i in reversed(range(j - 1)):
            r[i, j] = add(r[i, i + 1], r[i + 1, j])
    return r


def _moments(chain: Chain, r: Pairs) -> Pairs:
    """s_ij = Σ_{k≥j} m_k r_ik for i < j."""
    N = len(chain.m)
    s: Pairs = {}
    for i in range(N - 1):
        for j in reversed(range(i + 1, N)):
            own = scale(chain.m[j], r[i, j])
            s[i, j] = own if j == N - 1 else add(own, s[i, j + 1])
    return s


def _matrices(chain: Chain) -> Pairs:
    """M_ij for i ≤ j; eqs. (13)–(16)."""
    N, r = len(chain.m), distances(chain)
    s = _moments(chain, r)
    M1: list[Matrix] = list(chain.inertia)
    for j in reversed(range(N - 1)):
        M1[j] = plus(chain.inertia[j], M1[j + 1])
    M2: Pairs = {}
    M3: Pairs = {}
    for j in reversed(range(N - 1)):
        for i in range(j + 1):
            second = skew_product(s[i, j + 1], r[j, j + 1])
            third = skew_product(chain.c[j + 1], r[i, j + 1])
            M2[i, j] = second if j == N - 2 else plus(second, M2[i, j + 1])
            M3[i, j] = third if j == N - 2 else plus(third, M3[i, j + 1])
    M: Pairs = {}
    for j in range(N):
        for i in range(j + 1):
            total = M1[j]
            if j < N - 1:
                total = plus(plus(total, M2[i, j]), M3[j, j])
            if i < j:
                total = plus(total, transposed(M3[i, j - 1]))
            elif j < N - 1:
                total = plus(total, transposed(M3[j, j]))
            M[i, j] = total
    return M


def _slides(chain: Chain) -> tuple[list[Any], Pairs]:
    """Σ_{k≥j} m_k, and Σ_{k≥j} (m_k r_ik + c_k) for i ≤ j, whatever moves there; eq. (12a, b)."""
    N, r = len(chain.m), distances(chain)
    mass: list[Any] = list(chain.m)
    first: Pairs = {}
    for j in reversed(range(N - 1)):
        mass[j] = chain.m[j] + mass[j + 1]
    for i in range(N):
        for j in reversed(range(i, N)):
            own: Vector = chain.c[j] if i == j else add(scale(chain.m[j], r[i, j]), chain.c[j])
            first[i, j] = own if j == N - 1 else add(own, first[i, j + 1])
    return mass, first


def yaskevich(chain: Chain) -> list[list[Any]]:
    """Lower triangle of A by rows."""
    N, e = len(chain.m), chain.e
    M = _matrices(chain) if any(chain.rotary) else {}
    mass, first = ([], {}) if all(chain.rotary) else _slides(chain)

    def entry(i: int, j: int) -> Any:
        if chain.rotary[i] and chain.rotary[j]:
            return dot(e[i], rotated(M[i, j], e[j]))
        if not chain.rotary[i] and not chain.rotary[j]:
            return mass[j] * dot(e[i], e[j])
        turn, slide = (i, j) if chain.rotary[i] else (j, i)
        return dot(e[turn], cross(first[turn, j], e[slide]))

    return [[entry(i, j) for i in range(j + 1)] for j in range(N)]


def bias(chain: Chain, v: Any, gravity: Vector) -> list[Any]:
    """b of A q̈ + b = τ; eqs. (3)–(5), (11), (17)–(19), (21) with the sign turned to the usual side.

    ε, w: angular acceleration and acceleration of the origin without q̈; gravity enters as w_0 = −g; f, n: inertial
    force and moment.
    """
    zero = v[0] - v[0]
    spin = angular = zero, zero, zero
    w = -gravity[0] + zero, -gravity[1] + zero, -gravity[2] + zero
    forces, moments = [], []
    for k, rotary in enumerate(chain.rotary):
        w = add(w, add(cross(angular, chain.r[k]), cross(spin, cross(spin, chain.r[k]))))
        along = scale(v[k], chain.e[k])
        if rotary:
            angular, spin = add(angular, cross(spin, along)), add(spin, along)
        else:
            w = add(w, scale(2.0, cross(spin, along)))
        c, J = chain.c[k], chain.inertia[k]
        forces.append(add(scale(chain.m[k], w), add(cross(angular, c), cross(spin, cross(spin, c)))))
        moments.append(add(cross(c, w), add(rotated(J, angular), cross(spin, rotated(J, spin)))))
    b = []
    f, n = (zero, zero, zero), (zero, zero, zero)
    for k in reversed(range(len(chain.m))):
        if k + 1 < len(chain.m):
            n = add(n, cross(chain.r[k + 1], f))
        f, n = add(forces[k], f), add(moments[k], n)
        b.append(dot(chain.e[k], n if chain.rotary[k] else f))
    return b[::-1]
