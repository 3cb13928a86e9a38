"""The linear systems of `integrators.steppers.newton_systems` where momenta, or velocities, are eliminated first.

With J in blocks of n positions and n momenta, [A B; C D], and for the block T of h R of one or two eigenvalues

    (1 − T ⊗ J) x = r:     [M − T P + T² K] x_q = M r_q + T (r_p − D M r_q),
                           T x_p = M (x_q − T A x_q − r_q),
    M = B⁻¹,     P = D M + M A,     K = D M A − C,

where T multiplies the parts of a vector, and the matrices each part.  M is the mass matrix and K the stiffness: what
is eliminated for pairs of eigenvalues is half as large in each direction, and M, P and K are made once for each J.
Real eigenvalues alone are not worth them.  Where steps are tiny beside the motion, rounding of r_q, M times as large,
stands beside T x_p; the next correction, in which r_q is nothing but rounding, removes it.  Source: Hairer and Wanner
1996, IV.8, of equations of second order; here A and D are not zero.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.matrices import add_product, decompose, invert, solve_factors, times
from liegroup.compile import absolute, any_, helper, ld, never, rare, select, st

LOOPS = "rows"

UNKNOWN, REDUCED, SINGULAR = 0.0, 1.0, 2.0
"""What is known of a J: nothing; M, P and K; that positions do not move as momenta do, as where closures hold them."""
LEAST = 16
"""Velocities from which on variable steps, which factorise often, gain by it, and steps of one size lose nothing."""
_WORST = 1e8
"""Of the numbers | |B⁻¹| |B| |, which do not know in what units momenta are, above which B counts as singular."""


@helper
def _is_singular(worst: Any, some: Any) -> Any:
    """Whether B is singular in one of the lanes in which it is not zero, or zero in all."""
    return any_((some > 0.0) & (worst > 0.0)) or not any_(some > 0.0)


@rare(never)
def reduce(J: Any, n: Any, a: Any, pivots: Any, masses: Any, known: Any) -> None:
    """M, P and K of J, and in `known` whether there are any in all lanes; those in which J was never made, or is lost,
    do not count.  a: room for n² numbers.
    """
    d, one = 2 * n, 0.0 * ld(J, 0) + 1.0
    M, P, K = masses, masses[n * n :], masses[2 * n * n :]
    worst, some = 0.0 * one, 0.0 * one
    for i in range(n):
        size = 0.0 * one
        for j in range(n):
            st(a, i * n + j, ld(J, i * d + n + j))
            size = size + absolute(ld(J, i * d + n + j))
        st(K, i, size)
        worst, some = select(size > 0.0, worst, one), some + size
    st(known, 0, SINGULAR * one)
    if _is_singular(worst, some):
        return
    decompose(a, n, pivots)
    invert(a, n, pivots, M)
    for i in range(n):
        product = 0.0 * one
        for j in range(n):
            product = product + absolute(ld(M, i * n + j)) * ld(K, j)
        worst = select(product < _WORST, worst, one)
    if _is_singular(worst, some):
        return
    st(known, 0, REDUCED * one)
    for i in range(n):
        for j in range(n):
            st(P, i * n + j, 0.0 * one)
            st(K, i * n + j, -ld(J, (n + i) * d + j))
    add_product(M, n, J, d, n, P)
    add_product(J[n * d + n :], d, P, n, n, K)
    add_product(J[n * d + n :], d, M, n, n, P)


@helper
def _times_itself(h: Any, R: Any, s: Any, width: Any, k: Any, l: Any) -> Any:
    """An entry of T²."""
    return h * h * (R[k * s] * R[l] + (R[k * s + 1] * R[s + l] if width == 2 else 0.0))


@helper
def _inverse(h: Any, R: Any, s: Any, width: Any, k: Any, l: Any) -> Any:
    """An entry of T⁻¹."""
    if width == 1:
        return 1.0 / (h * R[0])
    own, det = R[(1 - k) * s + 1 - l], R[0] * R[s + 1] - R[1] * R[s]
    return (own if k == l else -R[k * s + l]) / (h * det)


@rare(never)
def fill(h: Any, masses: Any, n: Any, R: Any, s: Any, width: Any, a: Any) -> None:
    """a <- M − T P + T² K for a block of R, from its first entry on."""
    P, K, m = masses[n * n :], masses[2 * n * n :], width * n
    for k in range(width):
        for l in range(width):
            t, square, one = h * R[k * s + l], _times_itself(h, R, s, width, k, l), 1.0 if k == l else 0.0
            for i in range(n):
                for j in range(n):
                    e = i * n + j
                    x = (square * ld(K, e) - t * ld(P, e)) + one * ld(masses, e)
                    st(a, (k * n + i) * m + l * n + j, x)


@rare(never)
def solve(
    h: Any, J: Any, masses: Any, n: Any, R: Any, s: Any, width: Any, a: Any, pivots: Any, x: Any, scratch: Any
) -> None:
    """x <- (1 − T ⊗ J)⁻¹ x, `width` vectors one behind the other; a: the factors of what `fill` makes."""
    d, m = 2 * n, width * n
    u, v, z = scratch, scratch[m:], scratch[2 * m :]
    for k in range(width):
        times(masses, n, n, x[k * d :], u[k * n :])
        times(J[n * d + n :], d, n, u[k * n :], v[k * n :])
    for k in range(width):
        for i in range(n):
            total = ld(u, k * n + i)
            for l in range(width):
                total = total + h * R[k * s + l] * (ld(x, l * d + n + i) - ld(v, l * n + i))
            st(z, k * n + i, total)
    solve_factors(a, m, pivots, z)
    for k in range(width):
        times(J, d, n, z[k * n :], v[k * n :])
    for k in range(width):
        for i in range(n):
            total = ld(z, k * n + i) - ld(x, k * d + i)
            for l in range(width):
                total = total - h * R[k * s + l] * ld(v, l * n + i)
            st(u, k * n + i, total)
    for k in range(width):
        times(masses, n, n, u[k * n :], v[k * n :])
    for k in range(width):
        for i in range(n):
            total = _inverse(h, R, s, width, k, 0) * ld(v, i)
            if width == 2:
                total = total + _inverse(h, R, s, width, k, 1) * ld(v, n + i)
            st(x, k * d + n + i, total)
            st(x, k * d + i, ld(z, k * n + i))
