"""Eigenvalues of a linear motion: zeros taken off before, and how far the others are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NULL = 1e-11
"""Singular values of the balanced matrix, relative to what they are made of before it cancels, that count as zero."""
EPS = float(np.finfo(np.float64).eps)
KNOWN = 1e-13
"""Part of its norm by which a balanced matrix may be wrong."""


class Spectrum(NamedTuple):
    """Eigenvalues that are not zero, their vectors in columns, how many are, and what rounding may make of each."""

    values: NDArray[np.complex128]
    vectors: NDArray
    zeros: int
    noise: Array


def eigenvalues(A: Array, positions: int) -> Spectrum:
    """The spectrum of ẋ = A x, whose first coordinates are `positions`; the others, speeds, are counted in units of a
    frequency times them.  Parts that do not act on each other are looked at one by one: what is slow in one of them is
    not rounding beside what is fast in another.
    """
    values, vectors, noise, zeros = [np.zeros(0, dtype=np.complex128)], [np.zeros((len(A), 0))], [np.zeros(0)], 0
    for own in apart(A):
        inner = A[np.ix_(own, own)]
        units = frequencies(inner, int((own < positions).sum()))
        found = staircase(inner * units / units[:, None])
        shapes = np.zeros((len(A), len(found.values)), dtype=found.vectors.dtype)
        shapes[own] = units[:, None] * found.vectors
        values, vectors, noise = [*values, found.values], [*vectors, shapes], [*noise, found.noise]
        zeros += found.zeros
    return Spectrum(np.concatenate(values), np.hstack(vectors), zeros, np.concatenate(noise))


def apart(A: Array) -> list[NDArray[np.int64]]:
    """Numbers of the coordinates of each part of a matrix that no entry joins to the others."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    count, part = connected_components(A != 0.0, directed=False)
    return [np.flatnonzero(part == k) for k in range(count)]


def frequencies(A: Array, positions: int) -> Array:
    """1 for positions, a frequency of the motion for speeds."""
    pulled = float(np.linalg.norm(A[positions:, :positions], 2)) if 0 < positions < len(A) else 0.0
    return np.where(np.arange(len(A)) < positions, 1.0, np.sqrt(pulled) if pulled > 0.0 else 1.0)


def staircase(A: Array) -> Spectrum:
    """The spectrum of a balanced matrix.

    With N a basis of the null space and Q of what is orthogonal to it, the others are those of Qᵀ A Q, and
    x = Q y + N (Nᵀ A Q y)/λ: blocks of zeros, whose eigenvalues rounding would scatter, are taken off step by step.
    What is left moves by ‖δA‖/|zᴴ y| where A does by δA, with the eigenvectors from both sides, of length one; those
    that meet by the root of ‖A‖ ‖δA‖.
    """
    import scipy.linalg  # slow to import

    n = len(A)
    if n == 0:
        return Spectrum(np.zeros(0, dtype=np.complex128), np.zeros((0, 0)), 0, np.zeros(0))
    u, s, w = np.linalg.svd(A)
    parts = np.einsum("ik,ij,kj->k", np.abs(u), np.abs(A), np.abs(w), optimize=True)  # a soft mode is of little of A
    rank = int((s > np.maximum(NULL * parts, n * EPS * s[0])).sum())
    if rank == n:
        values, left, vectors = scipy.linalg.eig(A, left=True)
        cosines = np.abs(np.einsum("ik,ik->k", left.conj(), vectors))
        return Spectrum(values, vectors, 0, KNOWN * s[0] / np.maximum(cosines, np.sqrt(KNOWN)))
    Q, N = w[:rank].T, w[rank:].T
    values, y, zeros, noise = staircase(Q.T @ A @ Q)
    return Spectrum(values, Q @ y + N @ ((N.T @ A @ Q @ y) / values), zeros + n - rank, noise)
