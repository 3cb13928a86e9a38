"""Closures and forces of a tree as a further section of its two flat arrays, for the kernels.

The tree's own section (`mechanics.packing`) stays in front and unchanged; entry `EXTENSION` of its header says where the
further section of `structure` begins.  Frames are stored in the axes of the tree's rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.equations import LoopEquations
from mechanics.constraints.loops import row_numbers
from mechanics.packing import BODY_NUMBERS, BODY_PLACES, BODY_ROWS, EXTENSION, HEADER, PARENT, ROW, ROWS, Packed

Array = NDArray[np.float64]

ALL, KEPT, RANK, PATHS, PATH, EQUATIONS, STARTS, POSES, SCREWS, COLUMNS, MATRIX, SCRATCH, NULLS, VECTORS = range(14)
"""Header of the section: equations in all, those kept, their rank, length and place of the list of path rows, place of the
equations, place in `parameters` of the starts of the null directions; first rows of the workspace for poses, screws, columns,
Φ, scratch, null directions and vectors."""
SECTION = 20
EQUATION = 4
"""An equation: kind, row of the first body, row of the second, place in `parameters`."""
ETA, GAP = 0, 1
"""Rows of the vectors: multipliers (before: minus the closing velocities), and φ."""
ACCUMULATED = 12
"""Column of a pose row where momenta are accumulated; the pose is in 0 … 11."""


@dataclass(frozen=True)
class PackedLoops:
    """The arrays of a tree with closures."""

    parameters: Array
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]


def pack_loops(tree: Packed, equations: LoopEquations, kept: list[int], rank: int, scales: Array, starts: Array) -> PackedLoops:
    """Append closures to a packed tree.

    Parameters
    ----------
    tree : Packed
    equations : LoopEquations
    kept : list of int
        Equations that are solved, in order; the others only count in the gap.
    rank : int
        Rank of the kept ones, decided once.
    scales : array (m,)
        Positive factor of every equation.
    starts : array (kept − rank, kept)
        Where inverse iteration for the null directions starts.
    """
    n, n_v = int(tree.structure[ROWS]), int(tree.structure[2])
    order = kept + [c for c in range(len(equations)) if c not in kept]
    at = len(tree.structure)
    table_at = at + SECTION
    path_at = table_at + EQUATION * len(order)
    numbers, table, ends = [], [], set()
    parameters_at = len(tree.parameters)
    for c in order:
        rows, frames = zip(*(_placed(tree, int(b)) for b in equations.bodies[c]), strict=True)
        (R_i, x_i), (R_j, x_j) = frames
        row = equations.rows[c]
        moved = row._replace(a=R_i @ row.a, p=R_i @ row.p + x_i, b=R_j @ row.b, q=R_j @ row.q + x_j)
        numbers.append(row_numbers(moved, float(scales[c])))
        table += [row.kind, rows[0], rows[1], parameters_at]
        parameters_at += len(numbers[-1])
        ends |= set(rows)
    path = _path(tree, ends)
    m, d = len(kept), len(kept) - rank
    work = np.cumsum([tree.work_shape[0], n + 1, len(order), n_v, m, m if d else 0, d])
    header = np.zeros(SECTION, dtype=np.int64)
    header[: VECTORS + 1] = [len(order), m, rank, len(path), path_at, table_at, parameters_at, *work]
    structure = np.concatenate([tree.structure, header, np.array([*table, *path], dtype=np.int64)])
    structure[EXTENSION] = at
    parameters = np.concatenate([tree.parameters, *numbers, np.asarray(starts, dtype=np.float64).ravel()])
    columns = max(tree.work_shape[1], m + 2, len(order))
    return PackedLoops(parameters, structure, (int(work[-1]) + 2, columns))


def _placed(tree: Packed, body: int) -> tuple[int, tuple[Array, Array]]:
    """The row that carries a body, and the body's frame in the axes of that row; the base is row n."""
    n = int(tree.structure[ROWS])
    if body < 0:
        return n, (np.eye(3), np.zeros(3))
    at = int(tree.structure[BODY_PLACES]) + body * BODY_NUMBERS
    place = tree.parameters[at : at + BODY_NUMBERS]
    return int(tree.structure[int(tree.structure[BODY_ROWS]) + body]), (place[:9].reshape(3, 3), place[9:])


def _path(tree: Packed, ends: set[int]) -> list[int]:
    """The rows between the ends and the base, in order."""
    n, found = int(tree.structure[ROWS]), set[int]()
    for i in ends:
        while i < n:
            found.add(i)
            i = int(tree.structure[HEADER + i * ROW + PARENT])
    return sorted(found)
