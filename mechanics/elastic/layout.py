"""The flat arrays of a network, as its kernels read them.

Elements are sorted by their steps, the finest first, and so are nodes, by the finest step of their elements: at every
instant of an asynchronous step those that take part are the first of both; so are supports and bodies.  Positions and
momenta keep the order of the user; nodes are named by their first component, 3 a.

structure
    `HEADER` numbers; then the tables they point to:
    blocks of elements of one kind and one step, `BLOCK` numbers each; where the blocks of every step end;
    nodes in order, those on supports that move and those that are held or carried last; runs of those that move by
    themselves, of one step each and one after another in the state, with their first component and how many these are;
    where the runs of every step end;
    dampers, two nodes each, where those of every step end;
    supports, `DRIVEN_ROW` numbers each, where those of every step end; bodies, `BODY_ROW` numbers each, where those of
    every step end; the nodes that they carry, `CARRIED_ROW` numbers each; if there are any of these, per node
    k + 1 on support k, −k − 1 as the carried node k, else 0;
    the nodes of the elements.
parameters
    per component of the places gravity; mass; 1/mass (both 0 if the node does not move by itself); rate of its drag;
    per damper c; per support its home and the numbers of its motions; per body mass, 1/mass, inverse moments, and the
    places of its nodes; the numbers of the elements; per element and damper its step as a part of the largest.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import helper, ld
from mechanics.elastic.kind import Kind
from mechanics.elastic.registry import number_of
from mechanics.joints import Motion

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

NODES, DEPTH, BLOCKS, ELEMENTS, DAMPERS, MOVING, DRIVEN, BODIES, DRAGGED = range(9)
"""Header: how many nodes; halvings of the largest step down to the smallest; blocks; elements; dampers; nodes that move
by themselves; nodes on supports that move; bodies; 1 if a node has a drag.
"""
(
    BLOCKS_AT, LEVELS_AT, ORDER_AT, RUNS_AT, RUN_LEVELS_AT, DAMPERS_AT, DAMPER_LEVELS_AT, DRIVEN_AT, DRIVEN_LEVELS_AT,
    BODIES_AT, BODY_LEVELS_AT, CARRIED_AT, OWNERS_AT,
) = range(9, 22)  # fmt: skip
"""Header: where the tables begin."""
CS_AT, RATIOS_AT = 22, 23
"""Header: where the coefficients of dampers and the steps of the elements begin among the parameters."""
HEADER = 24
KIND, COUNT, NODES_AT, NUMBERS_AT, WIDE, SIZE, FIRST = range(7)
"""Of a block: kind, elements, where their nodes begin in structure, their numbers in parameters; nodes and numbers of
each; the number of its first element.
"""
BLOCK = 7
NODE = 12
"""Numbers per node."""
DRIVEN_ROW = 11
"""Of a support: its node; where its home is among the parameters; along x, y and z where the numbers of the motion
begin, and its sizes (`mechanics.joints.Motion.sizes`).
"""
BODY_ROW, CARRIED_ROW = 4, 4
"""Of a body: its number, the first of its nodes among those that are carried, how many, where its numbers begin; of a
carried node: its first component, where its place on the body begins, the body, where the numbers of that begin.
"""


class Packed(NamedTuple):
    """The arrays of a network, and which of the user's elements stand where."""

    structure: Integers
    parameters: Array
    order: list[tuple[int, int]]
    """(set, element) in the order of the kernels."""


class Owned(NamedTuple):
    """Nodes that do not move by themselves.

    Attributes
    ----------
    held : array (n,) of bool
        Which, those on supports and bodies included.
    homes : array (n, 3)
        Where motions of 0 have them.
    motions : mapping of node to three Motions
        Of those on supports that move.
    bodies : sequence of (numbers, nodes, places)
        Mass, 1/mass and inverse moments (5,); which nodes; where these are on the body (k, 3).
    """

    held: NDArray[np.bool_]
    homes: Array
    motions: Mapping[int, Sequence[Motion]]
    bodies: Sequence[tuple[Array, Integers, Array]]


@helper
def masses_at(structure: Any) -> Any:
    """Where the masses begin among the parameters."""
    return 3 * structure[NODES]


@helper
def inverses_at(structure: Any) -> Any:
    """Where the inverse masses do."""
    return 6 * structure[NODES]


@helper
def rates_at(structure: Any) -> Any:
    """Where the rates of drags do."""
    return 9 * structure[NODES]


@helper
def inverse_mass(parameters: Any, structure: Any, i: Any) -> Any:
    """1/mass of a node, by its first component; 0 if it does not move by itself."""
    return ld(parameters, inverses_at(structure) + i)


@helper
def runs(structure: Any, level: Any) -> Any:
    """How many runs of nodes there are up to a level; none below the first."""
    return structure[structure[RUN_LEVELS_AT] + level] if level >= 0 else 0


@helper
def run(structure: Any, r: Any) -> Any:
    """The first component of a run of nodes, and the one behind its last."""
    at = structure[RUNS_AT] + 2 * r
    return ld(structure, at), ld(structure, at) + ld(structure, at + 1)


def pack(
    sets: list[tuple[Kind, Integers, Array, Integers, Array]],
    dampers: tuple[Integers, Array, Integers],
    masses: Array,
    owned: Owned,
    rates: Array,
    gravity: Array,
    depth: int,
) -> Packed:
    """Sort and lay out: sets of (kind, nodes, numbers, level of each, step of each as a part of the largest), dampers
    (nodes, c, level); level 0 is the finest.
    """
    n, held = len(masses), owned.held
    node_level = np.full(n, depth)
    for _, nodes, _, levels, _ in sets:
        np.minimum.at(node_level, nodes.ravel(), np.repeat(levels, nodes.shape[1]))
    damper_nodes, cs, damper_levels = dampers
    np.minimum.at(node_level, damper_nodes.ravel(), np.repeat(damper_levels, 2))
    last = 2 * held.astype(np.int64)
    last[list(owned.motions)] = 1
    order = np.lexsort((np.arange(n), node_level, last))
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
    cs_at = NODE * n
    owners = _owners(owned, node_level, depth, cs_at + len(cs))
    run_rows, run_ends = _runs(order[:moving], node_level, depth)
    tables = [
        BLOCK * len(blocks), depth + 1, n, 2 * len(run_rows), depth + 1, 2 * len(damper_nodes), depth + 1,
        *map(len, owners.tables),
    ]  # fmt: skip
    at = HEADER + np.concatenate([[0], np.cumsum(tables)])
    nodes_at, numbers_at, first, rows = int(at[-1]), cs_at + len(cs) + len(owners.numbers), 0, []
    for kind_number, count, wide, size in blocks:
        rows.append((kind_number, count, nodes_at, numbers_at, wide, size, first))
        nodes_at, numbers_at, first = nodes_at + count * wide, numbers_at + count * size, first + count
    by_level = np.argsort(damper_levels, kind="stable")
    header = [
        n, depth, len(blocks), first, len(damper_nodes), moving, len(owned.motions), len(owned.bodies),
        rates[~held].any(), *at[:13], cs_at, numbers_at,
    ]  # fmt: skip
    structure = np.concatenate(
        [
            header,
            np.array(rows, dtype=np.int64).ravel(),
            ends,
            3 * order,
            run_rows.ravel(),
            run_ends,
            3 * damper_nodes[by_level].ravel(),
            [int((damper_levels <= level).sum()) for level in range(depth + 1)],
            *owners.tables,
            *element_nodes,
        ]
    ).astype(np.int64)
    inverse = np.where(held, 0.0, 1.0 / np.where(masses > 0.0, masses, 1.0))
    node_numbers = np.repeat([np.where(held, 0.0, masses), inverse, np.where(held, 0.0, rates)], 3, axis=1)
    parameters = np.concatenate([np.tile(gravity, n), *node_numbers, cs[by_level], owners.numbers, *numbers, *ratios])
    return Packed(structure, parameters, places)


def _runs(order: Integers, node_level: Integers, depth: int) -> tuple[Integers, list[int]]:
    """First components and lengths (r, 2) of runs of nodes; where those of every step end."""
    if not len(order):
        return np.zeros((0, 2), dtype=np.int64), [0] * (depth + 1)
    levels = node_level[order]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(order) != 1) | (np.diff(levels) != 0)]))
    found = 3 * np.stack([order[starts], np.diff([*starts, len(order)])], axis=1)
    return found, [int((levels[starts] <= level).sum()) for level in range(depth + 1)]


class _Tables(NamedTuple):
    """Of supports and bodies: six tables of the structure, and the parameters."""

    tables: list[Any]
    numbers: list[float]


def _owners(owned: Owned, node_level: Integers, depth: int, at: int) -> _Tables:
    """Sort supports and bodies by the finest steps at them; `at`: where their parameters will begin."""
    n, numbers, driven = len(node_level), list[float](), list[int]()
    owner = np.zeros(n, dtype=np.int64)
    supports = sorted(owned.motions, key=lambda a: node_level[a])
    for k, a in enumerate(supports):
        driven += [3 * a, at + len(numbers)]
        numbers += owned.homes[a].tolist()
        for motion in owned.motions[a]:
            driven += [at + len(numbers), *motion.sizes]
            numbers += motion.numbers
        owner[a] = k + 1
    body_level = [int(node_level[nodes].min()) for _, nodes, _ in owned.bodies]
    bodies, carried = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for b in sorted(range(len(owned.bodies)), key=lambda b: body_level[b]):
        own, nodes, places = owned.bodies[b]
        own_at, first = at + len(numbers), len(carried)
        numbers += own.tolist()
        bodies.append((b, first, len(nodes), own_at))
        for a, place in zip(nodes.tolist(), places.tolist(), strict=True):
            carried.append((3 * a, at + len(numbers), b, own_at))
            numbers += place
            owner[a] = -len(carried)
    levels = range(depth + 1)
    tables = [
        driven, [sum(int(node_level[a]) <= level for a in supports) for level in levels],
        list(itertools.chain(*bodies)), [sum(found <= level for found in body_level) for level in levels],
        list(itertools.chain(*carried)), owner if supports or bodies else [],
    ]  # fmt: skip
    return _Tables(tables, numbers)
