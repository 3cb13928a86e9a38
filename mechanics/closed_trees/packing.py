"""Closures and forces of a tree as a further section of its two flat arrays, for the kernels.

The tree's own section (`mechanics.model.packing`) stays in front and unchanged; entry `EXTENSION` of its header says
where the further section of `structure` begins.  Frames are stored in the axes of the tree's rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.formulas import so2
from mechanics.constraints.coupling_rows import WAY, way
from mechanics.constraints.equations import LoopEquations
from mechanics.constraints.given_rows import code_of
from mechanics.constraints.loops import Row, row_numbers
from mechanics.constraints.rows import COUPLING
from mechanics.constraints.wheel_rows import SPHERE
from mechanics.errors import ModelError
from mechanics.forces.elements import COMPLIANT, CONTACT, Element, OnJoint, OnPlane, OnRow
from mechanics.joints.element import SCREW
from mechanics.model.packing import (
    BODY_NUMBERS,
    BODY_PLACES,
    BODY_ROWS,
    EXTENSION,
    HEADER,
    KIND,
    PARENT,
    ROW,
    ROWS,
    Packed,
    V,
    pack,
)
from mechanics.model.tree import Tree

Array = NDArray[np.float64]

(
    ALL, KEPT, RANK, PATHS, PATH, EQUATIONS, STARTS, FORCES, ELEMENTS, GROUP, FACTORS, POSITIONS, SETTINGS, ROUNDS,
    INTEGRAL,
    COUPLED, PASSES, POSES, SCREWS, COLUMNS, MATRIX, CARRIED, SCRATCH, NULLS, VECTORS,
) = range(25)  # fmt: skip
"""Header of the section: equations in all, those kept, their rank; length and place of the list of path rows; place of
the equations, and in `parameters` of the starts of the null directions; number and place of the force elements; place
and length of the group's table; whether positions are projected; place in `parameters` of the settings of a
formulation, its rounds, whether it has integral states; the first kept equation that couples joints (all behind it do);
place of the passes (see `_passes`); first rows of the workspace for poses, screws, columns, Φ, carried impulses,
scratch, null directions and vectors.
"""
SECTION = 25
EQUATION, ELEMENT = 5, 10
"""An equation: kind, row of the first body, row of the second, place in `parameters`, and in `structure` of its tape,
if it has one, with the joints before it if it couples joints (`mechanics.constraints.coupling_rows`). An element: see
`mechanics.closed_trees.forces`.
"""
ETA, GAP, RATES, MOVED, STATE, TARGET, REGISTERS = range(7)
"""Rows of the vectors: multipliers (before: minus the closing velocities), φ, and places for (v, ṗ), q, a state, a
right-hand side, the registers of a tape.
"""
OWN_VECTORS = 7
BOTH, SECOND, PASS = 2, 1, 4
"""A pass: PASS times the equation, plus SECOND for the impulse on the second body, BOTH where the two meet and go on as
one.
"""
ACCUMULATED, ALONG_JOINT = 12, 18
"""Columns of a pose row where momenta are accumulated, and those along the row's own joint, which no other row feels;
the pose is in 0 … 11.
"""


@dataclass(frozen=True)
class PackedLoops:
    """The arrays of a tree with closures."""

    parameters: Array
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Solved:
    """Which equations the kernels solve: see `mechanics.constraints.mobility.Mobility`."""

    kept: list[int]
    rank: int
    scales: Array
    starts: Array


@dataclass(frozen=True)
class Settings:
    """Of a formulation with multipliers: see `mechanics.formulations.index_one`."""

    numbers: tuple[float, ...] = ()
    rounds: int = 0
    integral: bool = False


def pack_loops(
    tree: Tree,
    equations: LoopEquations,
    solved: Solved,
    elements: Sequence[Element] = (),
    tolerances: Array | None = None,
    close_positions: bool = True,
    settings: Settings = Settings(),
) -> PackedLoops:
    """Append closures and force elements to a packed tree; `tolerances` say which |φ| count as closed."""
    base = pack(tree)
    n = int(base.structure[ROWS])
    writer = _Writer(base, tree)
    order = solved.kept + [c for c in range(len(equations)) if c not in solved.kept]
    closed = np.zeros(len(equations)) if tolerances is None else tolerances
    table = [writer.equation(equations, c, float(solved.scales[c]), float(closed[c])) for c in order]
    starts = writer.put(np.asarray(solved.starts).ravel())
    records = [writer.element(e) for e in elements]
    settings_at = writer.put(settings.numbers)
    path, group = _path(base, writer.ends), np.asarray(tree.group.table)
    passes = _passes(base, path, table[: len(solved.kept)], writer.codes)
    m, d = len(solved.kept), len(solved.kept) - solved.rank
    at = len(base.structure) + SECTION
    places = np.cumsum([at, EQUATION * len(order), ELEMENT * len(records), group.size])
    work = np.cumsum([base.work_shape[0], n + 1, len(order), tree.nv, m, m, m if d else 0, d])
    header = np.zeros(SECTION, dtype=np.int64)
    header[: VECTORS + 1] = [
        len(order), m, solved.rank, len(path), places[3], places[0], starts, len(records), places[1], places[2],
        len(group), close_positions, settings_at, settings.rounds, settings.integral,
        sum(e[0] != COUPLING for e in table[: len(solved.kept)]), places[3] + len(path), *work,
    ]  # fmt: skip
    tail = [x for record in (*table, *records) for x in record] + group.ravel().tolist() + path
    tail += [places[3] + len(path) + len(passes) + 1 + x for x in np.cumsum([0, *map(len, passes)])] + [
        x for row in passes for x in row
    ]
    for c in range(len(order)):
        tail[EQUATION * c + EQUATION - 1] += at + len(tail)
    structure = np.concatenate([base.structure, header, np.array(tail + writer.codes, dtype=np.int64)])
    structure[EXTENSION] = len(base.structure)
    registers = max((row.tape.registers for row in equations.rows if row.tape is not None), default=0)
    columns = max(base.work_shape[1], m + 2, len(order), registers)
    return PackedLoops(
        np.concatenate(writer.numbers), structure, (int(work[-1]) + OWN_VECTORS, max(columns, tree.nq + 2 * tree.nv))
    )


class _Writer:
    """Collects numbers behind those of the tree, and the rows of the tree that something acts on."""

    def __init__(self, packed: Packed, tree: Tree) -> None:
        self.packed, self.tree = packed, tree
        self.numbers: list[Array] = [packed.parameters]
        self.ends: set[int] = set()
        self.codes: list[int] = []

    def put(self, numbers: ArrayLike) -> int:
        """Append numbers; returns where they begin."""
        at = sum(len(x) for x in self.numbers)
        self.numbers.append(np.asarray(numbers, dtype=np.float64))
        return at

    def place(self, body: int) -> tuple[int, Array, Array]:
        """The row that carries a body, and the body's frame in the axes of that row; the base is row n."""
        n, structure = int(self.packed.structure[ROWS]), self.packed.structure
        row, R, x = n, np.eye(3), np.zeros(3)
        if body >= 0:
            at = int(structure[BODY_PLACES]) + body * BODY_NUMBERS
            numbers = self.packed.parameters[at : at + BODY_NUMBERS]
            row, R, x = int(structure[int(structure[BODY_ROWS]) + body]), numbers[:9].reshape(3, 3), numbers[9:]
        self.ends.add(row)
        return row, R, x

    def row(self, row: Row, first: int, second: int) -> tuple[int, int, Row]:
        """A closure row in the axes of the tree's rows."""
        (i, R_i, x_i), (j, R_j, x_j) = self.place(first), self.place(second)
        turn = R_i if row.kind == SPHERE else R_j
        return i, j, row._replace(a=R_i @ row.a, p=R_i @ row.p + x_i, b=turn @ row.b, q=R_j @ row.q + x_j)

    def equation(self, equations: LoopEquations, c: int, scale: float, tolerance: float) -> list[int]:
        i, j, row = self.row(equations.rows[c], int(equations.bodies[c, 0]), int(equations.bodies[c, 1]))
        at = len(self.codes)
        if row.tape is not None:
            self.codes += (
                [*self.joints(equations.joints[c]), *code_of(row.tape)] if row.kind == COUPLING else code_of(row.tape)
            )
        return [row.kind, i, j, self.put(row_numbers(row, scale, tolerance)), at]

    def joints(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """What stands before the tape of an equation that couples joints."""
        rows = [self.row_of_velocity(v) for _, v in places]
        self.ends.update(rows)
        way = sorted({row for i in rows for row in _to_base(self.packed, i)}, reverse=True)
        return [len(rows), len(way), *(x for i, (q, v) in zip(rows, places, strict=True) for x in (i, q, v)), *way]

    def row_of_velocity(self, v: int) -> int:
        """The row of one freedom that has the velocity v."""
        kinds = self.packed.structure[HEADER + KIND : HEADER + ROW * int(self.packed.structure[ROWS]) : ROW]
        velocities = self.packed.structure[HEADER + V : HEADER + ROW * int(self.packed.structure[ROWS]) : ROW]
        return int(np.flatnonzero((velocities == v) & (kinds <= SCREW))[0])

    def body(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self.tree.body_names:
            known = ", ".join(self.tree.body_names[:12])
            raise ModelError(
                "force element", f"acts on an unknown body {name!r}", f"name one of {known}, or None for the base"
            )
        return self.tree.body_index(name)

    def element(self, e: Element) -> list[int]:
        if isinstance(e, OnRow):
            i, j, row = self.row(e.row, self.body(e.first), self.body(e.second))
            at = self.put([*row_numbers(row), e.stiffness, e.damping])
            return [COMPLIANT, row.kind, i, j, at, 0, 0, 0, 0, 0]
        if isinstance(e, OnPlane):
            i, R_i, x_i = self.place(self.body(e.center.body))
            j, R_j, x_j = self.place(self.body(e.plane.body))
            numbers = [
                *(R_i @ e.center.position + x_i),
                *(R_j @ e.plane.rotation[:, 2]),
                *(R_j @ e.plane.position + x_j),
                e.radius,
            ]
            at = self.put([*numbers, e.stiffness, e.damping, e.static, e.dynamic, e.slip_speed])
            return [CONTACT, e.law, i, j, at, e.friction, 0, 0, 0, 0]
        return self._on_joint(e)

    def _on_joint(self, e: OnJoint) -> list[int]:
        joint = self.tree.joint(e.joint)
        if joint.n_q != 1 or joint.n_v != 1:
            raise ModelError(
                f"force element on joint {e.joint!r}",
                f"the joint has {joint.n_v} degrees of freedom",
                "name a joint of one",
            )
        if e.stiffness and joint.elements[0].factor is so2:
            what = "a spring acts on its angle, and turns do not count on a circle"
            raise ModelError(f"force element on joint {e.joint!r}", what, "make the joint Revolute")
        i, k = self.tree.q_slice(e.joint).start, self.tree.v_slice(e.joint).start
        at = self.put([e.stiffness, e.damping, e.rest])
        motion = self.put([*e.motion.polynomial, *(x for harmonic in e.motion.harmonics for x in harmonic)])
        return [e.kind, 0, i, k, at, 0, motion, len(e.motion.polynomial), len(e.motion.harmonics), 0]


def _to_base(tree: Packed, i: int) -> Iterator[int]:
    """The rows from row i to the base."""
    while i < int(tree.structure[ROWS]):
        yield i
        i = int(tree.structure[HEADER + i * ROW + PARENT])


def _path(tree: Packed, ends: set[int]) -> list[int]:
    """The rows between the ends and the base, in order."""
    return sorted({row for i in ends for row in _to_base(tree, i)})


def _passes(
    tree: Packed, path: Sequence[int], equations: Sequence[Sequence[int]], codes_of_joints: Sequence[int]
) -> list[list[int]]:
    """Which impulses of the equations pass the rows of the path, from the last row to the first: for every row those of
    bodies, then those of joints.  Unit impulses of an equation that come from both of its bodies meet at the first row
    that is on both ways.
    """
    ways = [[set(_to_base(tree, e[1 + side])) for side in range(2)] for e in equations]
    met = [max(first & second, default=-1) for first, second in ways]
    passes = []
    for i in reversed(path):
        codes = [(i in first) + 2 * (i in second) for first, second in ways]
        kinds = {1: 0, 2: SECOND}
        passes.append(
            [
                PASS * c + (kinds[code] if code < 3 else BOTH if i == met[c] else 0)
                for c, code in enumerate(codes)
                if code
            ]
        )
        passes.append([PASS * c for c, e in enumerate(equations) if e[0] == COUPLING and i in _way(codes_of_joints, e)])
    return passes


def _way(codes: Sequence[int], equation: Sequence[int]) -> Sequence[int]:
    """The rows between the joints of an equation and the base."""
    at = way(codes, equation[-1])
    return codes[at : at + codes[equation[-1] + WAY]]
