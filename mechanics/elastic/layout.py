"""The flat arrays of a network, as its kernels read them.

Elements are sorted by their steps, the finest first, and so are nodes, by the finest step of their elements: at every
instant of an asynchronous step those that take part are the first of both.  Positions and momenta keep the order of the
user; nodes are named by their first component, 3 a.

structure
    `HEADER` numbers; then the tables they point to:
    blocks of elements of one kind and one step, `BLOCK` numbers each; where the blocks of every step end;
    nodes in order, those that are held last; where the nodes of every step end;
    dampers, two nodes each, where those of every step end; the nodes of the elements.
parameters
    gravity (3); per node `NODE` numbers: mass, 1/mass (both 0 if it is held), rate of its drag; per damper c; the
    numbers of the elements; per element and damper its step as a part of the largest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import helper
from mechanics.elastic.kind import Kind
from mechanics.elastic.registry import number_of

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

NODES, DEPTH, BLOCKS, ELEMENTS, DAMPERS, MOVING = range(6)
"""Header: how many nodes; halvings of the largest step down to the smallest; blocks; elements; dampers; nodes that are
not held.
"""
BLOCKS_AT, LEVELS_AT, ORDER_AT, NODE_LEVELS_AT, DAMPERS_AT, DAMPER_LEVELS_AT = range(6, 12)
"""Header: where the tables begin."""
CS_AT, RATIOS_AT = 12, 13
"""Header: where the coefficients of dampers and the steps of the elements begin among the parameters."""
HEADER = 14
KIND, COUNT, NODES_AT, NUMBERS_AT, WIDE, SIZE, FIRST = range(7)
"""Of a block: kind, elements, where their nodes begin in structure, their numbers in parameters; nodes and numbers of
each; the number of its first element.
"""
BLOCK = 7
NODE = 3
"""Numbers per node."""


class Packed(NamedTuple):
    """The arrays of a network, and which of the user's elements stand where."""

    structure: Integers
    parameters: Array
    order: list[tuple[int, int]]
    """(set, element) in the order of the kernels."""


@helper
def node_at(offset: Any) -> Any:
    """Where the numbers of a node begin among the parameters, by its first component in the state."""
    return 3 + offset


def pack(
    sets: list[tuple[Kind, Integers, Array, Integers, Array]],
    dampers: tuple[Integers, Array, Integers],
    masses: Array,
    held: NDArray[np.bool_],
    rates: Array,
    gravity: Array,
    depth: int,
) -> Packed:
    """Sort and lay out: sets of (kind, nodes, numbers, level of each, step of each as a part of the largest), dampers
    (nodes, c, level); level 0 is the finest.
    """
    n = len(masses)
    node_level = np.full(n, depth)
    for _, nodes, _, levels, _ in sets:
        np.minimum.at(node_level, nodes.ravel(), np.repeat(levels, nodes.shape[1]))
    damper_nodes, cs, damper_levels = dampers
    np.minimum.at(node_level, damper_nodes.ravel(), np.repeat(damper_levels, 2))
    order = np.lexsort((np.arange(n), node_level, held))
    moving = int((~held).sum())
    blocks, ends, element_nodes, numbers, ratios, places = [], [], [], [], [], []
    for level in range(depth + 1):
        for s, (kind, nodes, values, levels, parts) in enumerate(sets):
            chosen = np.flatnonzero(levels == level)
            if len(chosen):
                blocks.append((number_of(kind), len(chosen), kind.nodes, kind.size))
                element_nodes.append(3 * nodes[chosen].ravel())
                numbers.append(values[chosen].ravel())
                ratios.append(parts[chosen])
                places += [(s, int(e)) for e in chosen]
        ends.append(len(blocks))
    tables = [BLOCK * len(blocks), depth + 1, n, depth + 1, 2 * len(damper_nodes), depth + 1]
    at = HEADER + np.concatenate([[0], np.cumsum(tables)])
    nodes_at, numbers_at, first, rows = int(at[-1]), 3 + NODE * n + len(cs), 0, []
    for kind_number, count, wide, size in blocks:
        rows.append((kind_number, count, nodes_at, numbers_at, wide, size, first))
        nodes_at, numbers_at, first = nodes_at + count * wide, numbers_at + count * size, first + count
    by_level = np.argsort(damper_levels, kind="stable")
    header = [n, depth, len(blocks), first, len(damper_nodes), moving, *at[:6], 3 + NODE * n, numbers_at]
    structure = np.concatenate(
        [
            header,
            np.array(rows, dtype=np.int64).ravel(),
            ends,
            3 * order,
            [int((node_level[order[:moving]] <= level).sum()) for level in range(depth + 1)],
            3 * damper_nodes[by_level].ravel(),
            [int((damper_levels <= level).sum()) for level in range(depth + 1)],
            *element_nodes,
        ]
    ).astype(np.int64)
    inverse = np.where(held, 0.0, 1.0 / np.where(masses > 0.0, masses, 1.0))
    node_numbers = np.stack([np.where(held, 0.0, masses), inverse, np.where(held, 0.0, rates)], axis=1)
    parameters = np.concatenate([gravity, node_numbers.ravel(), cs[by_level], *numbers, *ratios])
    return Packed(structure, parameters, places)
