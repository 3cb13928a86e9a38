"""The three methods as Ivanov and Shimanovsky count them: dense blocks, a shift of a six-vector for 42 operations, Ȧᵀ −
AᵀΩ given.

Run on a counting scalar the recursion gives the ERA row of their Table 1 exactly, which settles what the table counts.
The rows of TSP and OSP hold up to a constant per body, one addition per entry of the matrix and, for OSP, the shifts of
the bases Z, which the table leaves out.  Both leave out the forces.  The numbers are random: only the operations
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mechanics.reference.counting import Counted, Tally
from mechanics.reference.operation_counts import Tree


def _shift(G: Any, rho: Any, x: Any) -> Any:
    """C x = (G (v + ω × ρ), G ω): 42 operations; Cᵀ costs the same."""
    v, w = x[:3], x[3:]
    moved = np.array(
        [
            v[0] + (w[1] * rho[2] - w[2] * rho[1]),
            v[1] + (w[2] * rho[0] - w[0] * rho[2]),
            v[2] + (w[0] * rho[1] - w[1] * rho[0]),
        ]
    )
    return np.concatenate([_times(G, moved), _times(G, w)])


def _times(a: Any, b: Any) -> Any:
    """A matrix times a vector or a matrix, every inner product of k numbers in k multiplications and k − 1
    additions.
    """
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
    """LᵀDL of the lower triangle, from the last row; plain zeros are left alone."""
    n = len(W)
    L, D = np.zeros((n, n), dtype=object), [None] * n
    for i in reversed(range(n)):
        D[i] = W[i, i]
        found = [j for j in range(i) if isinstance(W[i, j], Counted)]
        for j in found:
            L[i, j] = W[i, j] / D[i]
        for j in found:
            for l in found[: found.index(j) + 1]:
                W[j, l] = W[j, l] - L[i, j] * W[i, l]
    return L, D


def _half_solve(L: Any, D: Any, b: Any) -> Any:
    x = list(b)
    for i in reversed(range(len(x))):
        for j in range(i):
            if isinstance(L[i, j], Counted):
                x[j] = x[j] - L[i, j] * x[i]
    return np.array([x[i] / D[i] for i in range(len(x))], dtype=object)


def _solve(W: Any, b: Any) -> Any:
    """W⁻¹ b by LᵀDL."""
    L, D = _ldl(W)
    x = _half_solve(L, D, b)
    for i in range(len(x)):
        for j in range(i):
            if isinstance(L[i, j], Counted):
                x[i] = x[i] - L[i, j] * x[j]
    return x


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


def _columns(freedoms: Sequence[int]) -> list[slice]:
    ends = np.concatenate([[0], np.cumsum(freedoms)])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def tsp_count(tree: Tree, seed: int = 0) -> int:
    """Operations of the projection on the possible motions, (11) and (12), without forces; composite inertias and Ȧᵀ −
    AᵀΩ given.

    Table 1 has an addition more per entry of the matrix, 63 more for the root and 268 more, composite inertias
    included, per further body.
    """
    parents, freedoms = tree
    generator, tally = np.random.default_rng(seed), Tally()

    def some(*shape: int) -> Any:
        return tally.array(generator.normal(size=shape))

    N, own = len(parents), _columns(freedoms)
    M = [some(6, 6) for _ in range(N)]
    A, G, rho = [some(6, n) for n in freedoms], [some(3, 3) for _ in range(N)], [some(3) for _ in range(N)]
    drift, rate, p = [some(6) for _ in range(N)], [some(n, 6) for n in freedoms], [some(n) for n in freedoms]
    # down the tree: the columns of B of every body, and the motion that is prescribed
    B: list[dict[int, Any]] = []
    beta: list[Any] = []
    for i, k in enumerate(parents):
        above = {} if k < 0 else {c: _shift(G[i], rho[i], x) for c, x in B[k].items()}
        B.append(above | {c: A[i][:, a] for a, c in enumerate(range(own[i].start, own[i].stop))})
        beta.append(drift[i] if k < 0 else drift[i] + _shift(G[i], rho[i], beta[k]))
    # up the tree: rows of the matrix and the right-hand side; a structured M x costs 42
    H = np.zeros((sum(freedoms),) * 2, dtype=object)
    right = np.zeros(sum(freedoms), dtype=object)
    P: list[Any] = [_shift(M[i][:3, :3], M[i][3], beta[i]) for i in range(N)]
    for i in reversed(range(N)):
        for a, r in enumerate(range(own[i].start, own[i].stop)):
            row = _shift(M[i][:3, :3], M[i][3], A[i][:, a])
            for c in B[i]:
                if c <= r:
                    H[r, c] = _times(row[None], B[i][c])[0]
        right[own[i]] = p[i] - _times(A[i].T, P[i])
        if parents[i] >= 0:
            P[parents[i]] = P[parents[i]] + _shift(G[i], rho[i], P[i])
    s = _solve(H, right)
    V: list[Any] = []
    for i, k in enumerate(parents):
        motion = drift[i] if k < 0 else drift[i] + _shift(G[i], rho[i], V[k])
        V.append(motion + _times(A[i], s[own[i]]))
    P = [_shift(M[i][:3, :3], M[i][3], V[i]) for i in range(N)]
    for i in reversed(range(N)):
        _ = _times(rate[i], P[i])
        if parents[i] >= 0:
            P[parents[i]] = P[parents[i]] + _shift(G[i], rho[i], P[i])
    return tally.total


def osp_count(tree: Tree, seed: int = 0) -> int:
    """Operations of the projection on the reactions, (13)–(16), without forces; Z, M⁻¹, A(AᵀA)⁻¹ and Ȧᵀ − AᵀΩ given.

    Table 1 has an addition more per entry of the matrix, 37 fewer per body, and forgets the 42 operations for the shift
    of every column of Z to the parent.
    """
    parents, freedoms = tree
    generator, tally = np.random.default_rng(seed), Tally()

    def some(*shape: int) -> Any:
        return tally.array(generator.normal(size=shape))

    N, constrained = len(parents), [6 - n for n in freedoms]
    rows = _columns(constrained)
    W = [some(6, 6) for _ in range(N)]
    A, Z = [some(6, n) for n in freedoms], [some(6, m) for m in constrained]
    G, rho = [some(3, 3) for _ in range(N)], [some(3) for _ in range(N)]
    drift, rate, p = [some(6) for _ in range(N)], [some(n, 6) for n in freedoms], [some(n) for n in freedoms]
    X: list[dict[int, Any]] = [dict(zip(range(rows[i].start, rows[i].stop), Z[i].T, strict=True)) for i in range(N)]
    for i, k in enumerate(parents):
        if k >= 0:
            X[k] |= {
                r: _shift(G[i], rho[i], z) for r, z in zip(range(rows[i].start, rows[i].stop), Z[i].T, strict=True)
            }

    def velocities(P: list[Any]) -> list[Any]:
        """M⁻¹ Sᵀ P and its difference along the joints, S M⁻¹ Sᵀ P."""
        total = list(P)
        for i, k in enumerate(parents):
            if k >= 0:
                total[k] = total[k] - _shift(G[i], rho[i], P[i])
        V = [_times(W[i], total[i]) for i in range(N)]
        return [V[i] if k < 0 else V[i] - _shift(G[i], rho[i], V[k]) for i, k in enumerate(parents)]

    K = np.zeros((sum(constrained),) * 2, dtype=object)
    for i in range(N):
        for r in X[i]:
            image = _times(W[i], X[i][r])
            for c in X[i]:
                if c <= r:
                    entry = _times(image[None], X[i][c])[0]
                    K[r, c] = K[r, c] + entry if isinstance(K[r, c], Counted) else entry
    P_0 = [_times(A[i], p[i]) for i in range(N)]
    gaps = [drift[i] - v for i, v in enumerate(velocities(P_0))]
    right = np.concatenate([_times(Z[i].T, gaps[i]) for i in range(N)])
    reactions = _solve(K, right)
    P = [P_0[i] + _times(Z[i], reactions[rows[i]]) if constrained[i] else P_0[i] for i in range(N)]
    for i, v in enumerate(velocities(P)):
        _ = _times(A[i].T, v - drift[i])
        _ = _times(rate[i], P[i])
    return tally.total
