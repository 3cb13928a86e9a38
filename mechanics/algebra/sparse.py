"""LᵀDL factorisation of symmetric matrices on any scalar type, without fill-in for matrices with the structure of a
tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mechanics.algebra.spatial import Array


class Factors(NamedTuple):
    """W = Lᵀ D L with L unit lower triangular."""

    L: Array
    D: Array
    """(n,): the diagonal."""
    pattern: tuple[tuple[int, ...], ...]
    """Columns j < i where row i of L may differ from zero."""


def ltdl(W: Array, pattern: Sequence[Sequence[int]] | None = None) -> Factors:
    """Factorise, from the last row to the first.

        D_i = W_ii,   L_ij = W_ij/D_i,   W_jl −= L_ij W_il   (l ≤ j < i)

    If every two columns of the pattern of a row are coupled in W themselves (the ancestors of a body; its parent and
    its lower siblings), nothing outside the pattern becomes different from zero.
    """
    n = len(W)
    full = tuple(tuple(range(i)) for i in range(n))
    pattern = full if pattern is None else tuple(tuple(row) for row in pattern)
    W, L = W.copy(), np.eye(n) + 0 * W
    D = np.diag(W).copy()
    for i in reversed(range(n)):
        D[i] = W[i, i]
        for j in pattern[i]:
            L[i, j] = W[i, j] / D[i]
        for j in pattern[i]:
            for l in pattern[i]:
                if l <= j:
                    W[j, l] -= L[i, j] * W[i, l]
    return Factors(L, D, pattern)


def backward(factors: Factors, b: Array) -> Array:
    """x with Lᵀ x = b."""
    x = b.copy()
    for i in reversed(range(len(x))):
        for j in factors.pattern[i]:
            x[j] = x[j] - factors.L[i, j] * x[i]
    return x


def forward(factors: Factors, b: Array) -> Array:
    """x with L x = b."""
    x = b.copy()
    for i in range(len(x)):
        for j in factors.pattern[i]:
            x[i] = x[i] - factors.L[i, j] * x[j]
    return x


def half_solve(factors: Factors, b: Array) -> Array:
    """x with Lᵀ D x = b; b (n,) or (n, m)."""
    x = backward(factors, b)
    for i in range(len(x)):
        x[i] = x[i] / factors.D[i]
    return x


def solve_ltdl(factors: Factors, b: Array) -> Array:
    """x with W x = b."""
    return forward(factors, half_solve(factors, b))


def tree_patterns(parents: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Numbers j < i that row i is coupled to: its ancestors (matrix of TSP); its parent and lower siblings (matrix of
    OSP).
    """
    ancestors: list[list[int]] = []
    for k in parents:
        ancestors.append([] if k < 0 else [*ancestors[k], int(k)])
    cliques = [[j for j in range(i) if j == k or (k >= 0 and parents[j] == k)] for i, k in enumerate(parents)]
    return ancestors, cliques


def in_blocks(pattern: Sequence[Sequence[int]], sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The pattern of rows and columns from that of blocks of given sizes; a block is coupled in itself."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    rows: list[tuple[int, ...]] = []
    for i, blocks in enumerate(pattern):
        before = [c for j in blocks for c in range(starts[j], starts[j + 1])]
        rows += [(*before, *range(starts[i], starts[i] + r)) for r in range(sizes[i])]
    return tuple(rows)


def complement(A: Array) -> Array:
    """Z (m, m − n) with AᵀZ = 0: linearly independent columns of E − A (AᵀA)⁻¹ Aᵀ, chosen by pivoting."""
    m, n = A.shape
    X = np.eye(m) + 0 * sum(A.ravel())
    if n:
        X = X - A @ solve_ltdl(ltdl(A.T @ A), A.T + 0 * A.T)
    Z: list[Array] = []
    while len(Z) < m - n:
        sizes = [column @ column for column in X.T]
        z = X[:, int(np.argmax(sizes))].copy()
        Z.append(z)
        X = X - np.outer(z, z @ X) / (z @ z)
    return np.stack(Z, axis=1) if Z else np.zeros((m, 0))


def solve(K: Array, b: Array) -> Array:
    """x with K x = b by elimination with row pivoting, on any scalar type."""
    K, x = K.copy(), b.copy()
    n = len(x)
    for i in range(n):
        r = i + int(np.argmax([abs(e) for e in K[i:, i]]))
        K[[i, r]], x[[i, r]] = K[[r, i]], x[[r, i]]
        for j in range(i + 1, n):
            if K[j, i] != 0:
                f = K[j, i] / K[i, i]
                K[j, i:] = K[j, i:] - f * K[i, i:]
                x[j] = x[j] - f * x[i]
    for i in reversed(range(n)):
        x[i] = (x[i] - K[i, i + 1 :] @ x[i + 1 :]) / K[i, i]
    return x


def inverse(W: Array) -> Array:
    """W⁻¹ of a symmetric positive definite matrix."""
    return solve_ltdl(ltdl(W), np.eye(len(W)) + 0 * W) if len(W) else W
