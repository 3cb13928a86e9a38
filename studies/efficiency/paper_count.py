"""ERA as Ivanov and Shimanovsky count it: dense blocks, a shift of a six-vector for 42 operations, A, C, Vᴶ and Ȧᵀ − AᵀΩ given.

Run on a counting scalar it gives the ERA row of their Table 1 exactly, which settles what the table counts.  The numbers are
random: only the operations matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanics.hamiltonian.counting import Tally
from mechanics.hamiltonian.operation_counts import Tree


def _shift(G: Any, rho: Any, x: Any) -> Any:
    """C x = (G (v + ω × ρ), G ω): 42 operations; Cᵀ costs the same."""
    v, w = x[:3], x[3:]
    moved = np.array(
        [v[0] + (w[1] * rho[2] - w[2] * rho[1]), v[1] + (w[2] * rho[0] - w[0] * rho[2]), v[2] + (w[0] * rho[1] - w[1] * rho[0])]
    )
    return np.concatenate([_times(G, moved), _times(G, w)])


def _times(a: Any, b: Any) -> Any:
    """A matrix times a vector or a matrix, every inner product of k numbers in k multiplications and k − 1 additions."""
    if b.ndim == 2:
        return np.stack([_times(a, column) for column in b.T], axis=1)
    rows = []
    for row in a:
        total = row[0] * b[0]
        for x, y in zip(row[1:], b[1:], strict=True):
            total = total + x * y
        rows.append(total)
    return np.array(rows, dtype=object)


def _ldl(W: Any) -> tuple[Any, Any]:
    """LᵀDL of the lower triangle, from the last row."""
    n = len(W)
    L, D = np.zeros((n, n), dtype=object), [None] * n
    for i in reversed(range(n)):
        D[i] = W[i, i]
        for j in range(i):
            L[i, j] = W[i, j] / D[i]
        for j in range(i):
            for l in range(j + 1):
                W[j, l] = W[j, l] - L[i, j] * W[i, l]
    return L, D


def _half_solve(L: Any, D: Any, b: Any) -> Any:
    x = list(b)
    for i in reversed(range(len(x))):
        for j in range(i):
            x[j] = x[j] - L[i, j] * x[i]
    return np.array([x[i] / D[i] for i in range(len(x))], dtype=object)


def era_count(tree: Tree, seed: int = 0) -> int:
    """Operations of the recursion (18) for parents and degrees of freedom."""
    parents, freedoms = tree
    generator, tally = np.random.default_rng(seed), Tally()

    def some(*shape: int) -> Any:
        return tally.array(generator.normal(size=shape))

    N = len(parents)
    X = generator.normal(size=(N, 6, 6))
    M = [tally.array(x @ x.T + 6 * np.eye(6)) for x in X]
    pi, F = [some(6) for _ in range(N)], [some(6) for _ in range(N)]
    A, G, rho = [some(6, n) for n in freedoms], [some(3, 3) for _ in range(N)], [some(3) for _ in range(N)]
    drift, rate, p = [some(6) for _ in range(N)], [some(n, 6) for n in freedoms], [some(n) for n in freedoms]
    kept: list[Any] = [None] * N
    for i in reversed(range(N)):
        k = parents[i]
        W = _times(A[i].T, M[i])
        L, D = _ldl(_times(W, A[i]))
        y = _times(M[i], drift[i]) + pi[i]
        u = _half_solve(L, D, p[i] - _times(A[i].T, y))
        U = None
        if k >= 0:
            WC = np.stack([_shift(G[i].T, rho[i], row) for row in W])
            U = np.stack([_half_solve(L, D, column) for column in WC.T], axis=1)
            MC = np.stack([_shift(G[i], rho[i], row) for row in M[i]])
            CMC = np.stack([_shift(G[i], rho[i], column) for column in MC.T], axis=1)
            DU = np.array([U[a] * D[a] for a in range(len(D))], dtype=object)
            M[k] = M[k] + (CMC - _times(U.T, DU))
            Du = np.array([D[a] * u[a] for a in range(len(D))], dtype=object)
            pi[k] = pi[k] + (_shift(G[i], rho[i], y) + _times(U.T, Du))
            F[k] = F[k] + _shift(G[i], rho[i], F[i])
        kept[i] = L, U, u
    V: list[Any] = []
    for i in range(N):
        k, (L, U, u) = parents[i], kept[i]
        s = list(u if k < 0 else u - _times(U, V[k]))
        for a in range(len(s)):
            for b in range(a):
                s[a] = s[a] - L[a, b] * s[b]
        own = _times(A[i], np.array(s, dtype=object))
        V.append((own if k < 0 else _shift(G[i], rho[i], V[k]) + own) + drift[i])
        momentum = _times(M[i], V[i]) + pi[i]
        _ = _times(rate[i], momentum) + _times(A[i].T, F[i])
    return tally.total
