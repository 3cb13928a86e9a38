"""3 × 3 matrices as tuples of nine scalars by rows, for kernels; `mechanics.algebra.vectors` applies them to
vectors.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper


@helper
def apply_symmetric(J: Any, x: Any) -> Any:
    """J x for the symmetric J = (xx, xy, xz, yy, yz, zz)."""
    return (
        J[0] * x[0] + J[1] * x[1] + J[2] * x[2],
        J[1] * x[0] + J[3] * x[1] + J[4] * x[2],
        J[2] * x[0] + J[4] * x[1] + J[5] * x[2],
    )


@helper
def add9(A: Any, B: Any) -> Any:
    """A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@helper
def subtract9(A: Any, B: Any) -> Any:
    """A − B."""
    return (
        A[0] - B[0], A[1] - B[1], A[2] - B[2],
        A[3] - B[3], A[4] - B[4], A[5] - B[5],
        A[6] - B[6], A[7] - B[7], A[8] - B[8],
    )  # fmt: skip


@helper
def scale9(k: Any, A: Any) -> Any:
    """k A."""
    return k * A[0], k * A[1], k * A[2], k * A[3], k * A[4], k * A[5], k * A[6], k * A[7], k * A[8]


@helper
def product(A: Any, B: Any) -> Any:
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6], A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6], A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6], A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )  # fmt: skip


@helper
def transpose(A: Any) -> Any:
    """Aᵀ."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@helper
def cross_columns(a: Any, A: Any) -> Any:
    """ã A: a × every column."""
    x, y, z = a
    return (
        y * A[6] - z * A[3], y * A[7] - z * A[4], y * A[8] - z * A[5],
        z * A[0] - x * A[6], z * A[1] - x * A[7], z * A[2] - x * A[8],
        x * A[3] - y * A[0], x * A[4] - y * A[1], x * A[5] - y * A[2],
    )  # fmt: skip


@helper
def cross_rows(A: Any, a: Any) -> Any:
    """A ã: every row × a."""
    x, y, z = a
    return (
        A[1] * z - A[2] * y, A[2] * x - A[0] * z, A[0] * y - A[1] * x,
        A[4] * z - A[5] * y, A[5] * x - A[3] * z, A[3] * y - A[4] * x,
        A[7] * z - A[8] * y, A[8] * x - A[6] * z, A[6] * y - A[7] * x,
    )  # fmt: skip


@helper
def between(R: Any, X: Any, S: Any) -> Any:
    """Rᵀ X S."""
    return product(transpose(R), product(X, S))


@helper
def outer(a: Any, b: Any) -> Any:
    """a bᵀ."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@helper
def inverse(A: Any) -> Any:
    """A⁻¹ by cofactors."""
    a = A[4] * A[8] - A[5] * A[7]
    b = A[5] * A[6] - A[3] * A[8]
    c = A[3] * A[7] - A[4] * A[6]
    k = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (
        k * a, k * (A[2] * A[7] - A[1] * A[8]), k * (A[1] * A[5] - A[2] * A[4]),
        k * b, k * (A[0] * A[8] - A[2] * A[6]), k * (A[2] * A[3] - A[0] * A[5]),
        k * c, k * (A[1] * A[6] - A[0] * A[7]), k * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@helper
def turn_about_z(s: Any, c: Any, G: Any) -> Any:
    """Rz(θ)ᵀ G."""
    return (
        c * G[0] + s * G[3], c * G[1] + s * G[4], c * G[2] + s * G[5],
        c * G[3] - s * G[0], c * G[4] - s * G[1], c * G[5] - s * G[2],
        G[6], G[7], G[8],
    )  # fmt: skip


@helper
def shifted(A: Any, B: Any, C: Any, I: Any, r0: Any, r1: Any) -> Any:
    """[[E, 0], [r̃₀, E]] [[A, B], [C, I]] [[E, −r̃₁], [0, E]]."""
    B = subtract9(B, cross_rows(A, r1))
    I = subtract9(I, cross_rows(C, r1))
    C = add9(C, cross_columns(r0, A))
    return A, B, C, add9(I, cross_columns(r0, B))
