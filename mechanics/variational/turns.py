"""Elimination of an undamped turn about z, straight through: what is left of N* has no third component of any moment or
turn.

X = N* − Y D⁻¹ W = [[A, B], [C, I]],  A 3 × 3, B 3 × 2, C 2 × 3, I 2 × 2 (zero elsewhere)
parent += Q ([[E, 0], [ρ̃, E]] [Z₀ X Z₁ᵀ] [[E, −ρ̃], [0, E]]) Qᵀ,   Z = Rz(θ₀ + q) at k and k + 1,  Q = Rz(γ) Rx(α)
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld2, st2
from mechanics.algebra.screws import backward_full, forward_full, turn_full
from mechanics.kernels.links import put
from mechanics.model.layout import SHIFT, SIDE, numbers_of
from mechanics.variational.workspace import COS0, COS1, MATRIX, SIN0, SIN1


@helper
def factorise_turn(work: Any, i: Any, A: Any, B: Any, C: Any, I: Any) -> Any:
    """Keep W, Y, 1/D; return what is left: A, B, C, I without their zeros."""
    k = 1.0 / I[8]
    put(work, i, MATRIX, (C[6], C[7], C[8]))
    put(work, i, MATRIX + 3, (I[6], I[7], I[8]))
    put(work, i, MATRIX + 6, (B[2], B[5], B[8]))
    put(work, i, MATRIX + 9, (I[2], I[5], I[8]))
    st2(work, i, MATRIX + 12, k)
    x, y, z, u, v = k * B[2], k * B[5], k * B[8], k * I[2], k * I[5]
    return (
        (
            A[0] - x * C[6], A[1] - x * C[7], A[2] - x * C[8],
            A[3] - y * C[6], A[4] - y * C[7], A[5] - y * C[8],
            A[6] - z * C[6], A[7] - z * C[7], A[8] - z * C[8],
        ),
        (B[0] - x * I[6], B[1] - x * I[7], B[3] - y * I[6], B[4] - y * I[7], B[6] - z * I[6], B[7] - z * I[7]),
        (C[0] - u * C[6], C[1] - u * C[7], C[2] - u * C[8], C[3] - v * C[6], C[4] - v * C[7], C[5] - v * C[8]),
        (I[0] - u * I[6], I[1] - u * I[7], I[3] - v * I[6], I[4] - v * I[7]),
    )  # fmt: skip


@helper
def turned_both(a: Any, b: Any, d: Any, e: Any, c0: Any, s0: Any, c1: Any, s1: Any) -> Any:
    """Z₀ [[a, b], [d, e]] Z₁ᵀ of plane turns."""
    a, b, d, e = c0 * a - s0 * d, c0 * b - s0 * e, s0 * a + c0 * d, s0 * b + c0 * e
    return c1 * a - s1 * b, s1 * a + c1 * b, c1 * d - s1 * e, s1 * d + c1 * e


@helper
def about_x(M: Any, c: Any, s: Any) -> Any:
    """Rx M Rxᵀ."""
    return backward_full(turn_full(forward_full(M), c, s, c * s, s * s))


@helper
def turn_to_parent(parameters: Any, link: Any, work: Any, i: Any, A: Any, B: Any, C: Any, I: Any) -> Any:
    """What is left of N*, about the origin and in the axes of the parent: four blocks of nine."""
    own = numbers_of(parameters, link)
    c0, s0, c1, s1 = ld2(work, i, COS0), ld2(work, i, SIN0), ld2(work, i, COS1), ld2(work, i, SIN1)
    zero = 0.0 * c0
    a, b, d, e = turned_both(A[0], A[1], A[3], A[4], c0, s0, c1, s1)
    A = (a, b, c0 * A[2] - s0 * A[5], d, e, s0 * A[2] + c0 * A[5], c1 * A[6] - s1 * A[7], s1 * A[6] + c1 * A[7], A[8])
    a, b, d, e = turned_both(B[0], B[1], B[2], B[3], c0, s0, c1, s1)
    B = (a, b, zero, d, e, zero, c1 * B[4] - s1 * B[5], s1 * B[4] + c1 * B[5], zero)
    a, b, d, e = turned_both(C[0], C[1], C[3], C[4], c0, s0, c1, s1)
    C = (a, b, c0 * C[2] - s0 * C[5], d, e, s0 * C[2] + c0 * C[5], zero, zero, zero)
    a, b, d, e = turned_both(I[0], I[1], I[2], I[3], c0, s0, c1, s1)
    I = (a, b, zero, d, e, zero, zero, zero, zero)
    if link.flags & SHIFT:
        A, B, C, I = shifted_in_plane(A, B, C, I, own.rho[0], own.rho[1])
    c, s = own.alpha
    A, B, C, I = about_x(A, c, s), about_x(B, c, s), about_x(C, c, s), about_x(I, c, s)
    if link.flags & SIDE:
        c, s = own.gamma
        A, B = turn_full(A, c, s, c * s, s * s), turn_full(B, c, s, c * s, s * s)
        C, I = turn_full(C, c, s, c * s, s * s), turn_full(I, c, s, c * s, s * s)
    return A, B, C, I


@helper
def shifted_in_plane(A: Any, B: Any, C: Any, I: Any, x: Any, y: Any) -> Any:
    """[[E, 0], [ρ̃, E]] [[A, B], [C, I]] [[E, −ρ̃], [0, E]] for ρ = (x, y, 0), where B, C, I have the zeros of
    `turn_to_parent`.
    """
    B = (
        B[0] + y * A[2], B[1] - x * A[2], x * A[1] - y * A[0],
        B[3] + y * A[5], B[4] - x * A[5], x * A[4] - y * A[3],
        B[6] + y * A[8], B[7] - x * A[8], x * A[7] - y * A[6],
    )  # fmt: skip
    I = (
        I[0] + y * C[2] + y * B[6], I[1] - x * C[2] + y * B[7], x * C[1] - y * C[0] + y * B[8],
        I[3] + y * C[5] - x * B[6], I[4] - x * C[5] - x * B[7], x * C[4] - y * C[3] - x * B[8],
        x * B[3] - y * B[0], x * B[4] - y * B[1], x * B[5] - y * B[2],
    )  # fmt: skip
    C = (
        C[0] + y * A[6], C[1] + y * A[7], C[2] + y * A[8],
        C[3] - x * A[6], C[4] - x * A[7], C[5] - x * A[8],
        x * A[3] - y * A[0], x * A[4] - y * A[1], x * A[5] - y * A[2],
    )  # fmt: skip
    return A, B, C, I
