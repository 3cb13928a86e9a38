"""Where closures and force elements stand: a further section of the two flat arrays of a packed tree.

The tree's own section (`mechanics.model.layout`) stays in front and unchanged; `extension` of its header says where the
further section of `structure` begins: the record `Closures`, equations, force elements, the group's table, the path
(the links between the closing bodies and the base, in order), the passes, the tapes.  The fields of a record stand in
the array in their order: `mechanics.closed_trees.packing` writes them so.  Frames are stored in the axes of the links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper, ld
from mechanics.constraints.body_equations import equation_numbers
from mechanics.model.layout import header_of

# --- records of `structure` -------------------------------------------------------------------------------------------


class Closures(NamedTuple):
    """What is in the section, and where.

    Equations in all, those kept, their rank; the first kept one that couples joints (all behind it do); whether
    positions are projected. Of a formulation with multipliers (`mechanics.formulations.index_one`): the place of
    its settings in `parameters`, its rounds, whether it has integral states. In `structure`: the place of the
    equations; number and place of the force elements; place of the group's table, and its rows; length and place of
    the path; place of the passes; that of the profile of Φ (`liegroup.compile.dense.profile_of`); that of the
    reaches of the kept equations; that of the blocks of the columns. In `parameters`: the starts of the null
    directions. First lines of the workspace: poses, screws, carried impulses, a line each; then, on through as many
    lines as it takes, up to the next (`joined`, `ld_on`: lines are as wide as one link asks): columns, Φ, scratch, null
    directions, multipliers λ or impulses Λ (before: minus the closing velocities), φ, places for (v, ṗ), q and a state,
    a right side; factors of H that `down` writes over; the registers of a tape. Where positions are projected the same
    lines follow once more, for poses that are to be closed. Of the force elements: how many read velocities; the rows
    they take in a variational step, of these those across the tree, and of these those that read velocities, which come
    first.
    """

    all: Any
    kept: Any
    rank: Any
    coupled: Any
    closes_positions: Any
    settings: Any
    rounds: Any
    integral: Any
    equations: Any
    forces: Any
    elements: Any
    group: Any
    factors: Any
    path_length: Any
    path: Any
    passes: Any
    starts: Any
    poses: Any
    screws: Any
    carried: Any
    columns: Any
    matrix: Any
    scratch: Any
    nulls: Any
    multipliers: Any
    gap: Any
    rates: Any
    moved: Any
    state: Any
    target: Any
    factors_kept: Any
    registers: Any
    reading: Any
    rows: Any
    across: Any
    across_reading: Any
    profile: Any
    reaches: Any
    blocks: Any


class PackedEquation(NamedTuple):
    """Kind (`mechanics.constraints.body_equations`), links of the two bodies, place of its numbers in `parameters`, and
    of its code in `structure`: a tape (`mechanics.constraints.given_equations`), or the joints that it couples and
    theirs (`mechanics.constraints.coupling_equations`); of an ALONG equation how many from this one on, kept ones or
    others, are such between the same points.
    """

    kind: Any
    first: Any
    second: Any
    numbers: Any
    code: Any
    alike: Any = 1


class PackedElement(NamedTuple):
    """A force element: its kind (a number of `mechanics.forces.registry`) and where it acts
    (`mechanics.forces.element`); links of the two bodies (on a joint: its coordinate and its velocity; on a tendon: the
    number of its joints); place of the numbers of its law in `parameters`; prescribed motion as of a link; of one that
    acts along an equation its kind, its numbers and its code, as of a `PackedEquation` (of a tendon: its coefficients,
    and link, coordinate and velocity of every joint); whether it reads velocities; its reach, and the link whose joint
    it acts along (on a joint, between neighbours); its first row in a variational step; the number
    of its input plus 1, or 0.  Of one along a screw of a body `equation` is 1 for a moment plus 2 for axes of the
    world, and `equation_numbers` the place of its direction and point.
    """

    kind: Any
    place: Any
    first: Any
    second: Any
    numbers: Any
    motion: Any = 0
    powers: Any = 0
    harmonics: Any = 0
    equation: Any = 0
    equation_numbers: Any = 0
    code: Any = 0
    reads: Any = 0
    reach: Any = 0
    link: Any = 0
    row: Any = 0
    input: Any = 0


class Reach(NamedTuple):
    """What an impulse of an equation moves: equations from `first` up to `end`, and the links that these act on and
    all between them and the base are, on the path, from `start` up to `stop`.
    """

    first: Any
    end: Any
    start: Any
    stop: Any


class Passes(NamedTuple):
    """Of a link on the path, places of the passes through it: from `start` on impulses on bodies, from `joints` on
    those along joints, up to `end`.
    """

    start: Any
    joints: Any
    end: Any


class Block(NamedTuple):
    """The columns of a link on the path: where they begin, and how many numbers stand for each of its degrees of
    freedom: Y of every pass, in their order, 1/d and u.
    """

    start: Any
    width: Any


class Pass(NamedTuple):
    """An impulse on its way: its equation, whether (1 or 0) it comes from the second body, and whether the impulses
    from both bodies meet here, to go on as one.
    """

    equation: Any
    second: Any
    meet: Any


ALONG_ONE, TO_BASE, ACROSS = range(3)
"""Reach of a force element: along the joint of one link, between a link and the base, between any two."""
CLOSURES, EQUATION, ELEMENT, REACH = (len(r._fields) for r in (Closures, PackedEquation, PackedElement, Reach))


@helper
def closures_of(structure: Any) -> Any:
    """The record of the section."""
    s, o = structure, header_of(structure).extension
    return Closures(
        ld(s, o), ld(s, o + 1), ld(s, o + 2), ld(s, o + 3), ld(s, o + 4), ld(s, o + 5), ld(s, o + 6), ld(s, o + 7),
        ld(s, o + 8), ld(s, o + 9), ld(s, o + 10), ld(s, o + 11), ld(s, o + 12), ld(s, o + 13), ld(s, o + 14),
        ld(s, o + 15), ld(s, o + 16), ld(s, o + 17), ld(s, o + 18), ld(s, o + 19), ld(s, o + 20), ld(s, o + 21),
        ld(s, o + 22), ld(s, o + 23), ld(s, o + 24), ld(s, o + 25), ld(s, o + 26), ld(s, o + 27), ld(s, o + 28),
        ld(s, o + 29), ld(s, o + 30), ld(s, o + 31), ld(s, o + 32), ld(s, o + 33), ld(s, o + 34),
        ld(s, o + 35), ld(s, o + 36), ld(s, o + 37), ld(s, o + 38),
    )  # fmt: skip


@helper
def equation_of(structure: Any, closures: Any, c: Any) -> Any:
    """Equation c: the kept ones come first."""
    s, o = structure, closures.equations + EQUATION * c
    return PackedEquation(ld(s, o), ld(s, o + 1), ld(s, o + 2), ld(s, o + 3), ld(s, o + 4), ld(s, o + 5))


@helper
def element_of(structure: Any, closures: Any, n: Any) -> Any:
    """Force element n."""
    s, o = structure, closures.elements + ELEMENT * n
    return PackedElement(
        ld(s, o), ld(s, o + 1), ld(s, o + 2), ld(s, o + 3), ld(s, o + 4), ld(s, o + 5), ld(s, o + 6), ld(s, o + 7),
        ld(s, o + 8), ld(s, o + 9), ld(s, o + 10), ld(s, o + 11), ld(s, o + 12), ld(s, o + 13), ld(s, o + 14),
        ld(s, o + 15),
    )  # fmt: skip


@helper
def reach_of(structure: Any, closures: Any, c: Any) -> Any:
    """The reach of the kept equation c."""
    s, o = structure, closures.reaches + REACH * c
    return Reach(ld(s, o), ld(s, o + 1), ld(s, o + 2), ld(s, o + 3))


@helper
def on_path(structure: Any, closures: Any, r: Any) -> Any:
    """Number r of the links on the path: parents come before children."""
    return ld(structure, closures.path + r)


@helper
def on_path_up(structure: Any, closures: Any, r: Any) -> Any:
    """Number r of the links on the path, from its end: children come before parents."""
    return ld(structure, closures.path + closures.path_length - 1 - r)


@helper
def passes_of(structure: Any, closures: Any, r: Any) -> Any:
    """The passes through link r of the path, counted from its end."""
    s, o = structure, closures.passes + 2 * r
    return Passes(ld(s, o), ld(s, o + 1), ld(s, o + 2))


@helper
def block_of(structure: Any, closures: Any, r: Any, passes: Any) -> Any:
    """The block of link r of the path, counted from its end, with these passes."""
    return Block(ld(structure, closures.blocks + r), passes.end - passes.start + 2)


@helper
def pass_at(structure: Any, e: Any) -> Any:
    """The pass at place e: `packed_pass`, read."""
    code = ld(structure, e)
    return Pass(code >> 2, code & 1, code & 2)


def packed_pass(equation: int, second: bool = False, meet: bool = False) -> int:
    """A pass as one integer."""
    return 4 * equation + 2 * meet + second


# --- records of `parameters` ------------------------------------------------------------------------------------------


@helper
def scale_of(parameters: Any, equation: Any) -> Any:
    """The factor of an equation."""
    return equation_numbers(parameters, equation.numbers).scale


# --- of a state -------------------------------------------------------------------------------------------------------

WATCHED = 4
"""Numbers that are watched: energy, greatest gap, greatest closing velocity, smallest pivot."""


def looked_at(n_v: int) -> int:
    """How many numbers straight-line code finds in one look: momenta, how open the loops are, what is told."""
    return n_v + 1 + WATCHED + 2 * n_v


# --- columns of a line of a link: where `down` leaves twist and gravity -----------------------------------------------

FACTORS = 9
"""So many from the first on, which hold factors of H before."""

# --- columns of a line of poses: R (9, by rows) and x (3) of a link in the world, then --------------------------------

ACCUMULATED, ALONG_JOINT, FROM_PARENT, GAIN = 12, 18, 19, 22
"""Accumulated momenta (linear and angular, about the origin of the link, in the axes of the world), and those along the
link's own joint, which no other link feels; the way from the parent's origin (3, world); of a TURN or SLIDE
what an impulse along it gives the link, M* a/d (6, world: `mechanics.closed_trees.field`).
"""
