"""Which parts of a mechanism feel each other: trees on the base that neither closures nor force elements join move as
if the others were not there, and the derivative of the field is made of a block for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.sparsity import meeting
from mechanics.closed_trees.packing import ends_of
from mechanics.constraints.equations import LoopEquations
from mechanics.forces.element import Element
from mechanics.kernels.links import freedom
from mechanics.model.layout import header_of, link_of
from mechanics.model.tree import Tree

FEWEST = 4
"""Parts from which on a band by differences is faster than the analytic derivative of the whole."""


def connected_parts(
    tree: Tree, equations: LoopEquations | None = None, elements: Sequence[Element] = ()
) -> list[NDArray[np.int64]]:
    """The velocities of every part that moves."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    structure = tree.packed.structure
    links = [link_of(structure, i) for i in range(header_of(structure).links)]
    joined = [(i, int(link.parent)) for i, link in enumerate(links) if link.parent < len(links)]
    closed = LoopEquations(tree, ()) if equations is None else equations
    joined += [(ends[0], end) for ends in ends_of(tree, closed, elements) for end in ends]
    rows, columns = np.array(joined, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(links), len(links)))
    count, part = connected_components(graph, directed=False)
    velocities: list[list[int]] = [[] for _ in range(count)]
    for link, number in zip(links, part.tolist(), strict=True):
        velocities[number] += range(link.v, link.v + freedom(link.kind))
    return [np.array(own, dtype=np.int64) for own in velocities if own]


def derivative_sparsity(tree: Tree, equations: LoopEquations | None = None, elements: Sequence[Element] = ()) -> Any:
    """Which components of (v, ṗ) depend on which of (q, p), for `Problem.jacobian_sparsity`; None for few parts."""
    if np.count_nonzero(tree.parents < 0) < FEWEST:
        return None
    parts = connected_parts(tree, equations, elements)
    return meeting(2 * tree.nv, [np.concatenate([v, v + tree.nv]) for v in parts]) if len(parts) >= FEWEST else None
