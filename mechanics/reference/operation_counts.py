"""Operation counts as the papers print them, with their misprints corrected.

For a tree with parents k_i (−1: the base) and n_i degrees of freedom in joint i, m_i = 6 − n_i:

    eta_i = Σ n_j over the path from the base to i (inclusive),   mu_i = m_i + Σ m_j over the children j of i

Floating-point operations (additions and multiplications) of one evaluation of (q̇, ṗ), Ivanov and Shimanovsky, Table 1:

    TSP = Σ_i (eta_i³/3 + 17/2 eta_i² + 235/6 eta_i + 42 tau_i + 147) − Σ_{i≥2} (eta_k³/3 + 17/2 eta_k² + 235/6 eta_k −
    397) OSP = Σ_i (mu_i³/3 + 17/2 mu_i² + 421/6 mu_i + 11 n_i + 239) − Σ_{i≥2} (m_i³/3 + 5/2 m_i² − 11/6 m_i − 192) ERA
    = Σ_i (n_i³/3 + 39/2 n_i² + 1537/6 n_i + 828) − (6 n_1² + 145 n_1 + 684)

with k the parent of i and body 1 the only root.  Two things differ from the print: the second sum of TSP has eta of the
parent (the print has eta_i in its linear term), and tau_i, printed with the formula of eta_i, is the number of
six-vectors carried along the path of i, which is eta_i.  OSP and TSP are printed without the forces Q, ERA with them
(about 5 %).

Mass matrix of a serial chain of N revolute joints, (multiplications, additions), Yaskevich, Table 1 and text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Tree = tuple[Sequence[int], Sequence[int]]
"""Parents (−1: base, parents first) and degrees of freedom of the joints."""


def path_freedoms(parents: Sequence[int], n: Sequence[int]) -> list[int]:
    """eta_i: degrees of freedom on the path from the base to body i, its own joint included."""
    eta: list[int] = []
    for i, k in enumerate(parents):
        eta.append(n[i] + (eta[k] if k >= 0 else 0))
    return eta


def clique_sizes(parents: Sequence[int], n: Sequence[int]) -> list[int]:
    """mu_i: constrained directions of joint i and of the joints of its children."""
    mu = [6 - n_i for n_i in n]
    for i, k in enumerate(parents):
        if k >= 0:
            mu[k] += 6 - n[i]
    return mu


def tsp_operations(parents: Sequence[int], n: Sequence[int]) -> float:
    """Operations of the method of tangential projections (TSP), corrected Table 1."""
    eta = path_freedoms(parents, n)

    def common(e: float) -> float:
        return e**3 / 3 + 17 / 2 * e**2 + 235 / 6 * e

    total = sum(common(e) + 42 * e + 147 for e in eta)
    return total - sum(common(eta[k]) - 397 for k in parents if k >= 0)


def osp_operations(parents: Sequence[int], n: Sequence[int]) -> float:
    """Operations of the method of orthogonal projections (OSP), Table 1."""
    mu = clique_sizes(parents, n)
    total = sum(c**3 / 3 + 17 / 2 * c**2 + 421 / 6 * c + 11 * n_i + 239 for c, n_i in zip(mu, n, strict=True))
    constrained = [6 - n_i for n_i, k in zip(n, parents, strict=True) if k >= 0]
    return total - sum(m**3 / 3 + 5 / 2 * m**2 - 11 / 6 * m - 192 for m in constrained)


def era_operations(parents: Sequence[int], n: Sequence[int]) -> float:
    """Operations of the recursive algorithm (ERA), Table 1."""
    total = sum(n_i**3 / 3 + 39 / 2 * n_i**2 + 1537 / 6 * n_i + 828 for n_i in n)
    return total - sum(6 * n_i**2 + 145 * n_i + 684 for n_i, k in zip(n, parents, strict=True) if k < 0)


OPERATIONS: Mapping[str, Callable[[Sequence[int], Sequence[int]], float]] = {
    "TSP": tsp_operations,
    "OSP": osp_operations,
    "ERA": era_operations,
}


def star(branches: int, length: int, freedoms: int, root_freedoms: int | None = None) -> Tree:
    """`branches` chains of `length` bodies on one root body; every joint has `freedoms`, the root `root_freedoms`
    (default the same).
    """
    parents = [-1]
    for _ in range(branches):
        parents += [0, *range(len(parents), len(parents) + length - 1)]
    root = freedoms if root_freedoms is None else root_freedoms
    return parents, [root] + [freedoms] * (branches * length)


def best_method(tree: Tree) -> str:
    """The method with the fewest operations."""
    return min(OPERATIONS, key=lambda name: OPERATIONS[name](*tree))


def regions(freedoms: int, branches: int = 30, length: int = 30, root_freedoms: int | None = None) -> NDArray[np.str_]:
    """The cheapest method for 1…`branches` chains (rows) of 1…`length` bodies (columns) on one root (Fig. 1 of the
    paper).
    """
    return np.array(
        [
            [best_method(star(c, l, freedoms, root_freedoms)) for l in range(1, length + 1)]
            for c in range(1, branches + 1)
        ]
    )


Polynomial = tuple[float, ...]
"""Coefficients, highest power of N first."""

MASS_MATRIX_OPERATIONS: Mapping[str, tuple[Polynomial, Polynomial]] = {
    "Yaskevich, printed": ((36, -39, 9), (55.5, -97.5, 30)),
    "kosynka, printed": ((3, 24, -9, 0), (11, 105, -50, 0)),
    "Stepanenko, printed": ((38, 38, 0), (31, 31, 0)),
    "Yaskevich, arithmetic repaired": ((36, -30, 0), (55.5, -52.5, 3)),
    "Yaskevich corrected, counted": ((16.5, -4.5, 0), (32.5, -30.5, 6)),
    "Stepanenko, counted": ((19.5, -1.5, 0), (19, -11, 3)),
    "composite rigid body, counted": ((4.5, 29.5, -16), (4, 47, -40)),
    "kosynka (block-triangular), counted": ((1, 18, -1, 0), (1, 14.5, -7.5, 3)),
}
"""(multiplications, additions) for a chain of N revolute joints.

*printed*: as in the paper; *counted*: the functions of `mechanics.reference.serial` run on a counting scalar,
kinematics left out as in the paper (exact for N ≥ 3; an inner product of 3 costs 3 multiplications and 2 additions).
"""


def mass_matrix_operations(algorithm: str, N: int) -> tuple[float, float]:
    """(multiplications, additions) of one of the rows of `MASS_MATRIX_OPERATIONS` for N joints."""
    multiplications, additions = MASS_MATRIX_OPERATIONS[algorithm]
    return float(np.polyval(multiplications, N)), float(np.polyval(additions, N))
