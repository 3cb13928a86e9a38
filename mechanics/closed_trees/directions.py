"""Which way the closing equations of a mechanism point.

Where links come to lie in a line two ways of closing a loop come near each other, as x y = ε does to its axes.  A step
longer than what is between them goes on along the other: no gap opens, and little energy is lost.  What shows it are
the directions G = (y, x) of the equations: along either way they turn by what the motion turns, across they point the
other way at once.  With H the mass matrix and Φ = G H⁻¹ Gᵀ, orthonormal on the equations that count:

    Ĝ = Φ^(−1/2) G H^(−1/2)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanics.closed_trees.layout import WATCHED, block_of, closures_of, on_path_up, pass_at, passes_of
from mechanics.closed_trees.packing import PackedLoops
from mechanics.closed_trees.projection import closed_invariants
from mechanics.kernels.links import freedom
from mechanics.model.layout import header_of, link_of

Array = NDArray[np.float64]


def directions_of(packed: PackedLoops, t: Array, q: Array) -> Array:
    """Ĝ (k, m, n) at times t (k,) and positions q (k, nq), from what the kernel of the invariants leaves in the
    workspace; not numbers where it is not determined.
    """
    structure, closures = packed.structure, closures_of(packed.structure)
    tree, work, watched = header_of(structure), np.zeros(packed.work_shape), np.zeros(WATCHED)
    row, column, entry, pivot = _places(packed)
    whitened = np.zeros((len(t), closures.kept, int(column.max(initial=-1)) + 1))
    state, flat = np.zeros(tree.n_q + tree.n_v), work.reshape(-1)
    for G, time, position in zip(whitened, t.tolist(), q, strict=True):
        state[: tree.n_q] = position
        closed_invariants(time, state, packed.parameters, structure, work, watched)
        G[row, column] = flat[entry] * np.sqrt(flat[pivot])
    known = np.isfinite(whitened).all(axis=(1, 2))
    found = np.full(whitened.shape, np.nan)
    u, _, v = np.linalg.svd(whitened[known], full_matrices=False)
    found[known] = u[:, :, : closures.rank] @ v[:, : closures.rank]
    return found


def _places(packed: PackedLoops) -> NDArray[np.int64]:
    """Of every entry of Y: its equation, its velocity, where it stands in the workspace, and where 1/d of it does."""
    structure, closures = packed.structure, closures_of(packed.structure)
    begin, column, places = closures.columns * packed.work_shape[1], 0, []
    for r in range(closures.path_length):
        passes = passes_of(structure, closures, r)
        block = block_of(structure, closures, r, passes)
        for d in range(freedom(link_of(structure, on_path_up(structure, closures, r)).kind)):
            first = begin + block.start + d * block.width
            for k, e in enumerate(range(passes.start, passes.end)):
                places.append((pass_at(structure, e).equation, column, first + k, first + block.width - 2))
            column += 1
    return np.array(places, dtype=np.int64).reshape(-1, 4).T
