"""TSP, the projection on the possible motions, as a kernel: (11) by the composite-body mass matrix and LᵀDL without
fill-in, (12).

Row i of the matrix differs from zero only at the degrees of freedom between i and the base, all coupled with one
another, so that elimination from the last row to the first leaves every zero a zero.  `reference.py` is the readable
statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, st
from mechanics.algorithms.crba import mass_matrix_into
from mechanics.algorithms.momentum import momenta
from mechanics.joints.element import MOVED_TURN
from mechanics.kernels.sweeps import apply_wrenches, velocities
from mechanics.model.layout import end_of_tree, header_of, link_of
from mechanics.reference.rates import momentum_rates

if TYPE_CHECKING:
    from mechanics.model.tree import Tree


def tsp_structure(tree: Tree) -> NDArray[np.int64]:
    """The structure of the tree, and two numbers per degree of freedom d on its way to the base.

    First all starts of the unbroken run of numbers that ends at d, then for all the degree of freedom before that run
    (−1: none): a path is a few runs, and inside a run neighbours are neighbours in memory.
    """
    before: list[int] = []
    last = np.full(len(tree), -1)
    for i, k in enumerate(tree.parents):
        previous = last[k] if k >= 0 else -1
        for d in range(tree.v_offsets[i], tree.v_offsets[i + 1]):
            before.append(previous)
            previous = d
        last[i] = previous
    start = list(range(len(before)))
    for d, k in enumerate(before):
        if k == d - 1 and k >= 0:
            start[d] = start[k]
    return np.concatenate([tree.structure, np.array(start + [before[s] for s in start], dtype=np.int64)])


def tsp_size(tree: Tree) -> int:
    """Numbers in `out`."""
    return tree.nq + 2 * tree.nv + tree.nv**2


@helper
def moves(structure: Any) -> Any:
    """Whether some row has a prescribed motion."""
    moved = 0
    for i in range(header_of(structure).links):
        moved = moved + (1 if link_of(structure, i).kind >= MOVED_TURN else 0)
    return moved > 0


@helper
def begin(y: Any, p_at: Any, structure: Any, out: Any) -> None:
    """out <- (q, 0, …): what the sweeps read as (q, s)."""
    tree = header_of(structure)
    for k in range(tree.n_q):
        st(out, k, ld(y, k))
    for k in range(tree.n_v):
        st(out, tree.n_q + k, ld(y, p_at + k) - ld(y, p_at + k))


@helper
def _subtract(structure: Any, out: Any, to: Any, row: Any, a: Any, last: Any, runs: Any) -> None:
    """out[to + j] −= a out[row + j] for j = `last` and everything before it on its way to the base."""
    while last >= 0:
        for j in range(structure[runs + last], last + 1):
            st(out, to + j, ld(out, to + j) - a * ld(out, row + j))
        last = structure[runs + header_of(structure).n_v + last]


@helper
def factorise(structure: Any, out: Any, M: Any, runs: Any) -> None:
    """LᵀDL in place, D on the diagonal."""
    n = header_of(structure).n_v
    for k in range(n - 1, -1, -1):
        row, end = M + k * n, k
        reciprocal = 1.0 / ld(out, row + k)
        while end >= 0:
            for i in range(end if end < k else k - 1, structure[runs + end] - 1, -1):
                a = ld(out, row + i) * reciprocal
                _subtract(structure, out, M + i * n, row, a, i, runs)
                st(out, row + i, a)
            end = structure[runs + n + end]


@helper
def solve(structure: Any, out: Any, M: Any, runs: Any, x: Any) -> None:
    """out[x … x + n_v] <- (LᵀDL)⁻¹ of itself."""
    n = header_of(structure).n_v
    for k in range(n - 1, -1, -1):
        b = ld(out, x + k)
        _subtract(structure, out, x, M + k * n, b, k, runs)
        st(out, x + k, b)
    for k in range(n):
        total, end = ld(out, x + k) / ld(out, M + k * n + k), k
        while end >= 0:
            for i in range(structure[runs + end], end + 1 if end < k else k):
                total = total - ld(out, M + k * n + i) * ld(out, x + i)
            end = structure[runs + n + end]
        st(out, x + k, total)


@entry(*FIELD_SIGNATURES)
def tsp(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) or (q, p, τ, wrenches of all bodies) → out = (q, v, ṗ, scratch); `structure` by `tsp_structure`."""
    tree = header_of(structure)
    n_q, n_v, runs = tree.n_q, tree.n_v, end_of_tree(structure)
    M, rate = n_q + 2 * n_v, n_q + n_v
    begin(y, n_q, structure, out)
    for k in range(n_v):
        st(out, rate + k, ld(out, n_q + k))
    if moves(structure):
        velocities(t, out, n_q, parameters, structure, work)
        momenta(t, out, parameters, structure, work, out, rate)
    mass_matrix_into(t, y, parameters, structure, work, out, M)
    factorise(structure, out, M, runs)
    for k in range(n_v):
        st(out, n_q + k, ld(y, n_q + k) - ld(out, rate + k))
    solve(structure, out, M, runs, n_q)
    loaded = y.shape[0] > n_q + n_v
    if loaded:
        apply_wrenches(y, n_q + 2 * n_v, parameters, structure, work)
    velocities(t, out, n_q, parameters, structure, work)
    momentum_rates(t, out, parameters, structure, work, out, rate, loaded)
    if loaded:
        for k in range(n_v):
            st(out, rate + k, ld(out, rate + k) + ld(y, n_q + n_v + k))
