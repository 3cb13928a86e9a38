"""Closures and forces of a tree as a further section of its two flat arrays, for the kernels.

The tree's own section (`mechanics.model.packing`) stays in front and unchanged; entry `EXTENSION` of its header says
where the further section of `structure` begins.  Frames are stored in the axes of the tree's links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Inputs
from liegroup.compile.dense import PROFILE, profile_of, room_within
from liegroup.formulas import so2
from mechanics.closed_trees.element_rows import with_rows
from mechanics.closed_trees.layout import (
    CLOSURES,
    ELEMENT,
    EQUATION,
    FACTORS,
    REACH,
    Closures,
    PackedElement,
    PackedEquation,
    Reach,
    looked_at,
    packed_pass,
    pass_at,
)
from mechanics.constraints.body_equations import ALONG, COUPLING, HOW_SOLVED, equation_numbers
from mechanics.constraints.coupling_equations import coupling_of
from mechanics.constraints.equations import LoopEquations, freedom_of
from mechanics.constraints.given_equations import code_of
from mechanics.constraints.loops import Equation, JointFreedom, numbers_of_equation
from mechanics.constraints.wheel_equations import SPHERE
from mechanics.errors import ModelError
from mechanics.forces.account import check_account
from mechanics.forces.element import IN_BODY, IN_WORLD, ON_TENDON, Element, OnBodies, OnEquation, OnJoint, OnScrew
from mechanics.forces.motor import Motor
from mechanics.forces.registry import is_added, number_of
from mechanics.forces.tendon import Tendon
from mechanics.joints import Motion
from mechanics.joints.element import SCREW
from mechanics.kernels.links import freedom
from mechanics.model.frames import Frame
from mechanics.model.layout import Header, header_of, link_of, place_of
from mechanics.model.packing import Packed
from mechanics.model.tree import Tree

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedLoops:
    """The arrays of a tree with closures; `numerical`: which parameters say how closures are solved, and nothing of
    them.
    """

    parameters: Array
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]
    inputs: Inputs = field(default_factory=Inputs)
    numerical: tuple[int, ...] = ()


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
    base = tree.packed
    writer = _Writer(base, tree)
    order = solved.kept + [c for c in range(len(equations)) if c not in solved.kept]
    closed = np.zeros(len(equations)) if tolerances is None else tolerances
    table = [writer.equation(equations, c, float(solved.scales[c]), float(closed[c])) for c in order]
    starts = writer.put(np.asarray(solved.starts).ravel())
    records, rows = with_rows(base, [writer.element(e) for e in elements])
    settings_at = writer.put(settings.numbers)
    path, group = _path(base, writer.ends), np.asarray(tree.group.table)
    table = [*_counted(table[: len(solved.kept)], writer), *_counted(table[len(solved.kept) :], writer)]
    kept = table[: len(solved.kept)]
    passes = _passes(base, path, kept, writer.codes)
    places = _Places(len(base.structure) + CLOSURES)
    equations_at, elements_at = places.take(EQUATION * len(table)), places.take(ELEMENT * len(records))
    group_at, path_at, passes_at = places.take(group.size), places.take(len(path)), places.take(len(passes) + 1)
    passed_at, profile = places.take(sum(map(len, passes))), _profile(passes, len(kept), solved.rank)
    reaches = _reaches(profile, passes)
    blocks, columns_room = _blocks(base, path, kept, passes, writer.codes)
    profile_at, reaches_at, blocks_at = (
        places.take(n) for n in (len(profile), REACH * len(reaches), len(blocks))
    )  # fmt: skip
    codes_at, m, d, lines = places.end, len(kept), len(kept) - solved.rank, _Places(base.work_shape[0])
    every = (*equations.equations, *(e.equation for e in elements if isinstance(e, OnEquation)))
    registers = max((equation.tape.registers for equation in every if equation.tape is not None), default=0)
    columns = max(base.work_shape[1], registers)
    n_q, n_v = tree.nq, tree.nv

    def long(size: int) -> int:
        """Where so many numbers begin that stand in several lines."""
        return lines.take(-(-size // columns))

    closures = Closures(
        all=len(order), kept=m, rank=solved.rank, coupled=sum(e.kind != COUPLING for e in kept),
        closes_positions=close_positions, settings=settings_at, rounds=settings.rounds, integral=settings.integral,
        equations=equations_at, forces=len(records), elements=elements_at, group=group_at, factors=len(group),
        path_length=len(path), path=path_at, passes=passes_at, starts=starts,
        poses=lines.take(len(base.link_names) + 1), screws=lines.take(len(order)), carried=lines.take(m),
        columns=long(columns_room), matrix=long(room_within(profile)), scratch=long(room_within(profile) if d else 0),
        nulls=long(d * m), multipliers=long(max(m, 1)), gap=long(max(len(order), 1)), rates=long(2 * n_v),
        moved=long(max(n_q, n_v)), state=long(max(n_q + 2 * n_v, looked_at(n_v))), target=long(max(m, 1)),
        factors_kept=long(FACTORS * len(base.link_names)), registers=lines.take(1),
        reading=sum(e.reads for e in records), **rows._asdict(), profile=profile_at, reaches=reaches_at,
        blocks=blocks_at,
    )  # fmt: skip
    placed: list[PackedEquation | PackedElement] = [e._replace(code=codes_at + e.code) for e in table]
    placed += [e._replace(code=codes_at + e.code) for e in records]
    tail = [x for record in placed for x in record] + group.ravel().tolist() + path
    tail += (
        [passed_at + int(x) for x in np.cumsum([0, *map(len, passes)])]
        + [x for codes in passes for x in codes]
        + profile
        + [x for reach in reaches for x in reach]
        + blocks
    )
    structure = np.concatenate(
        [base.structure, np.array([*closures, *tail, *writer.codes, *writer.choices], dtype=np.int64)]
    )
    structure[Header._fields.index("extension")] = len(base.structure)
    height = 2 * lines.end if close_positions else lines.end
    numerical = [e.numbers + k for e in table for k in HOW_SOLVED] + [*range(starts, starts + np.size(solved.starts))]
    return PackedLoops(np.concatenate(writer.numbers), structure, (height, columns), writer.inputs(), tuple(numerical))


def ends_of(tree: Tree, equations: LoopEquations, elements: Sequence[Element]) -> Iterator[list[int]]:
    """The links that every equation and every force element joins, without the base."""
    base = int(header_of(tree.packed.structure).links)
    for c in range(len(equations)):
        writer = _Writer(tree.packed, tree)
        writer.equation(equations, c, 1.0, 0.0)
        yield sorted(writer.ends - {base})
    for element in elements:
        writer = _Writer(tree.packed, tree)
        writer.element(element)
        yield sorted(writer.ends - {base})


class _Places:
    """One thing after another: where each begins."""

    def __init__(self, start: int) -> None:
        self.end = start

    def take(self, count: int) -> int:
        """Where the next `count` begin."""
        self.end += count
        return self.end - count


class _Writer:
    """Collects numbers behind those of the tree, and the links of the tree that something acts on."""

    def __init__(self, packed: Packed, tree: Tree) -> None:
        self.packed, self.tree = packed, tree
        self.numbers: list[Array] = [packed.parameters]
        self.ends: set[int] = set()
        self.codes: list[int] = []
        self.commands: list[tuple[str, int, str, int]] = []
        self.choices: list[int] = []  # read by no kernel: structures are alike where the same formulas are taken

    def inputs(self) -> Inputs:
        """The elements' inputs: names, places, units, the velocities that they push along."""
        names, places, units, velocities = zip(*self.commands, strict=True) if self.commands else ((),) * 4
        twice = [name for k, name in enumerate(names) if name in names[:k]]
        if twice:
            raise ModelError("inputs", f"two are called {twice[0]!r}", "give one of the elements another name=")
        return Inputs(names, places, units, velocities=velocities)

    def put(self, numbers: ArrayLike) -> int:
        """Append numbers; returns where they begin."""
        at = sum(len(x) for x in self.numbers)
        self.numbers.append(np.asarray(numbers, dtype=np.float64))
        return at

    def place(self, body: int) -> tuple[int, Array, Array]:
        """The link that carries a body, and the body's frame in the axes of that link; the base is link n."""
        structure = self.packed.structure
        link, R, x = int(header_of(structure).links), np.eye(3), np.zeros(3)
        if body >= 0:
            found = place_of(self.packed.parameters, structure, body)
            link, R, x = int(found.link), np.reshape(found.rotation, (3, 3)), np.array(found.position)
        self.ends.add(link)
        return link, R, x

    def in_links(self, equation: Equation, first: int, second: int) -> tuple[int, int, Equation]:
        """An equation of a closure in the axes of the tree's links."""
        (i, R_i, x_i), (j, R_j, x_j) = self.place(first), self.place(second)
        turn = R_i if equation.kind == SPHERE else R_j
        return (
            i,
            j,
            equation._replace(
                a=R_i @ equation.a, p=R_i @ equation.p + x_i, b=turn @ equation.b, q=R_j @ equation.q + x_j
            ),
        )

    def equation(self, equations: LoopEquations, c: int, scale: float, tolerance: float) -> PackedEquation:
        i, j, equation = self.in_links(equations.equations[c], int(equations.bodies[c, 0]), int(equations.bodies[c, 1]))
        at = len(self.codes)
        if equation.tape is not None:
            self.codes += (
                [*self.joints(equations.joints[c]), *code_of(equation.tape)]
                if equation.kind == COUPLING
                else code_of(equation.tape)
            )
        return PackedEquation(equation.kind, i, j, self.put(numbers_of_equation(equation, scale, tolerance)), at)

    def joints(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """What stands before the tape of an equation that couples joints."""
        links = [self.link_of_velocity(v) for _, v in places]
        self.ends.update(links)
        way = sorted({k for i in links for k in _to_base(self.packed, i)}, reverse=True)
        ends = (x for i, (q, v) in zip(links, places, strict=True) for x in (i, q, v))
        return [len(links), len(way), *ends, *way, *([0, 0] * len(way))]  # where the columns are, `_blocks` says

    def link_of_velocity(self, v: int) -> int:
        """The link of one freedom that has the velocity v."""
        structure = self.packed.structure
        links = [link_of(structure, i) for i in range(header_of(structure).links)]
        return next(i for i, link in enumerate(links) if link.v == v and link.kind <= SCREW)

    def body(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self.tree.body_names:
            known = ", ".join(self.tree.body_names[:12])
            raise ModelError(
                "force element", f"acts on an unknown body {name!r}", f"name one of {known}, or None for the base"
            )
        return self.tree.body_index(name)

    def element(self, e: Element) -> PackedElement:
        """The record of a force element, by where it acts."""
        self.choices += e.choices
        record = self._element(e)
        if is_added(type(e)):
            starts = accumulate((len(x) for x in self.numbers), initial=0)
            numbers = zip(starts, self.numbers, strict=False)
            check_account(e, next(x for at, x in numbers if at == record.numbers and len(x) == e.size()))
        return record

    def _element(self, e: Element) -> PackedElement:
        if isinstance(e, OnEquation):
            return self._on_equation(e)
        if isinstance(e, OnBodies):
            return self._on_bodies(e)
        if isinstance(e, OnScrew):
            return self._on_screw(e)
        assert isinstance(e, OnJoint)
        return self._on_joint(e)

    def _on_equation(self, e: OnEquation) -> PackedElement:
        i, j, equation = self.in_links(e.equation, self.body(e.first), self.body(e.second))
        at, code = self.put(e.numbers), len(self.codes)
        self.codes += [] if equation.tape is None else code_of(equation.tape)
        where = {"equation": equation.kind, "equation_numbers": self.put(numbers_of_equation(equation)), "code": code}
        return PackedElement(number_of(e), e.place, i, j, at, **self.motion(e), **where, reads=e.reads_velocities)

    def _on_bodies(self, e: OnBodies) -> PackedElement:
        (i, first), (j, second) = self.frame(e.first), self.frame(e.second)
        numbers = self.put(e.numbers_of(first, second))
        return PackedElement(number_of(e), e.place, i, j, numbers, **self.motion(e), reads=e.reads_velocities)

    def _on_screw(self, e: OnScrew) -> PackedElement:
        link, frame = self.frame(e.frame)
        screw = replace(e, frame=frame).screw
        where = {"equation": IN_WORLD if e.in_world else IN_BODY, "equation_numbers": self.put(screw)}
        base = int(header_of(self.packed.structure).links)
        return PackedElement(number_of(e), e.place, link, base, self.put(e.numbers), **self.motion(e), **where)

    def frame(self, frame: Frame) -> tuple[int, Frame]:
        """A frame in the axes of the link that carries its body."""
        link, R, x = self.place(self.body(frame.body))
        return link, Frame(frame.body, R @ frame.position + x, np.column_stack([R @ a for a in frame.rotation.T]))

    def motion(self, e: Element, turns: bool = False, velocity: int = -1) -> dict[str, int]:
        """Where the motion of a driven element stands; of an input a constant, which is held."""
        if not e.is_driven():
            return {}
        if e.is_input:
            at = self.put([0.0])
            self.commands.append((e.input_name, at, e.input_unit(turns), velocity))
            return {"motion": at, "powers": 1, "input": len(self.commands)}
        motion: Motion = getattr(e, "motion")  # noqa: B009
        powers, harmonics = motion.sizes
        return {"motion": self.put(motion.numbers), "powers": powers, "harmonics": harmonics}

    def _on_joint(self, e: OnJoint) -> PackedElement:
        tendon = e.joint if isinstance(e.joint, Tendon) else Tendon({e.joint: 1.0})
        places = [self.freedom(e, joint) for joint in tendon.joints]
        links = [self.link_of_velocity(v) for _, v in places]
        name = tendon.joints[0] if isinstance(tendon.joints[0], str) else tendon.joints[0][0]
        turns = self.tree.joint(name).v_units[places[0][1] - self.tree.v_slice(name).start] == "rad/s"
        alone = isinstance(e, Motor) and tendon is not e.joint
        motion = self.motion(e, turns, places[0][1] if alone else -1)
        more = {**motion, "reads": e.reads_velocities, "link": links[0]}
        if tendon is not e.joint:
            return PackedElement(number_of(e), e.place, *places[0], self.put(e.numbers), **more)
        self.ends.update(links)
        numbers, coefficients, code = self.put(e.numbers), self.put(tendon.coefficients), len(self.codes)
        self.codes += [x for i, (q, v) in zip(links, places, strict=True) for x in (i, q, v)]
        more |= {"equation_numbers": coefficients, "code": code}
        return PackedElement(number_of(e), ON_TENDON, len(links), 0, numbers, **more)

    def freedom(self, e: OnJoint, joint: JointFreedom) -> tuple[int, int]:
        """Where q and v have the freedom of a joint that an element acts on."""
        q, v = freedom_of(self.tree, f"force element on joint {joint!r}", "acts on", joint)
        name = joint if isinstance(joint, str) else joint[0]
        if e.counts_turns and any(element.factor is so2 for element in self.tree.joint(name).elements):
            what = "a spring acts on its angle, and turns do not count on a circle"
            raise ModelError(f"force element on joint {joint!r}", what, "make the joint Revolute")
        return q, v


def _counted(equations: Sequence[PackedEquation], writer: _Writer) -> list[PackedEquation]:
    """The equations with the numbers of those that are alike."""
    numbers, found = np.concatenate(writer.numbers), list(equations)
    for c in range(len(found) - 2, -1, -1):
        e, following = found[c], found[c + 1]
        x, y = equation_numbers(numbers, e.numbers), equation_numbers(numbers, following.numbers)
        if e.kind == ALONG and (*e[:3], x.p, x.q) == (*following[:3], y.p, y.q):
            found[c] = e._replace(alike=following.alike + 1)
    return found


def _to_base(tree: Packed, i: int) -> Iterator[int]:
    """The links from link i to the base."""
    while i < header_of(tree.structure).links:
        yield i
        i = int(link_of(tree.structure, i).parent)


def _path(tree: Packed, ends: set[int]) -> list[int]:
    """The links between the ends and the base, in order."""
    return sorted({link for i in ends for link in _to_base(tree, i)})


def _passes(
    tree: Packed, path: Sequence[int], equations: Sequence[PackedEquation], codes: Sequence[int]
) -> list[list[int]]:
    """Which impulses of the equations pass the links of the path, from the last link to the first: for every link those
    of bodies, then those of joints.  Unit impulses of an equation that come from both of its bodies meet at the first
    link that is on both ways.
    """
    ways = [[set(_to_base(tree, end)) for end in (e.first, e.second)] for e in equations]
    met = [max(first & second, default=-1) for first, second in ways]
    passes = []
    for i in reversed(path):
        passes.append(
            [
                packed_pass(c, second=i not in first, meet=i == met[c])
                for c, (first, second) in enumerate(ways)
                if i in first or i in second
            ]
        )
        passes.append([packed_pass(c) for c, e in enumerate(equations) if e.kind == COUPLING and i in _way(codes, e)])
    return passes


def _blocks(
    tree: Packed, path: Sequence[int], equations: Sequence[PackedEquation], passes: Sequence[Sequence[int]],
    codes: list[int],
) -> tuple[list[int], int]:  # fmt: skip
    """Where the columns of the links of the path begin, from the last link to the first, and their end; to `codes` of
    couplings, where theirs are.
    """
    blocks, end = [], 0
    where: dict[tuple[int, int], tuple[int, int]] = {}
    for i, bodies, joints in zip(reversed(path), passes[::2], passes[1::2], strict=True):
        width = len(bodies) + len(joints) + 2
        for k, code in enumerate(joints, len(bodies)):
            where[i, pass_at((code,), 0).equation] = end + k, width
        blocks.append(end)
        end += freedom(link_of(tree.structure, i).kind) * width
    for c, e in enumerate(equations):
        if e.kind == COUPLING:
            coupling = coupling_of(codes, e.code)
            codes[coupling.columns : coupling.tape] = [x for i in _way(codes, e) for x in where[i, c]]
    return blocks, end


def _profile(passes: Sequence[Sequence[int]], kept: int, rank: int) -> list[int]:
    """The profile of Φ: two equations meet where impulses of both pass a link; a full one where null directions are
    found.
    """
    firsts = list(range(kept)) if rank == kept else [0] * kept
    for bodies, joints in zip(passes[::2], passes[1::2], strict=True):
        here = {pass_at((code,), 0).equation for code in (*bodies, *joints)}
        for c in here:
            firsts[c] = min(firsts[c], *here)
    return profile_of(firsts)


def _reaches(profile: Sequence[int], passes: Sequence[Sequence[int]]) -> list[Reach]:
    """What an impulse of each kept equation moves."""
    kept = len(profile) // PROFILE
    firsts = list(accumulate(profile[:kept][::-1], min))[::-1]
    ways: list[list[int]] = [[] for _ in range(kept)]
    for r, (bodies, joints) in enumerate(zip(passes[-2::-2], passes[-1::-2], strict=True)):
        for code in (*bodies, *joints):
            ways[pass_at((code,), 0).equation].append(r)
    reaches = []
    for first, end in zip(firsts, profile[kept : 2 * kept], strict=True):
        moved = [r for way in ways[first:end] for r in (min(way, default=0), max(way, default=-1) + 1)]
        reaches.append(Reach(first, end, min(moved), max(moved)))
    return reaches


def _way(codes: Sequence[int], equation: PackedEquation) -> Sequence[int]:
    """The links between the joints of an equation and the base."""
    coupling = coupling_of(codes, equation.code)
    return codes[coupling.way : coupling.columns]
