"""Where everything stands in the two flat arrays of a packed tree, `structure` (int64) and `parameters` (float64).

`structure` is a header, the links, the links of the bodies, and the ways of the velocities; a *link* is one elementary
motion with what it carries. `parameters` are gravity, axes with z against it, damping, armature (of trees that have
any), the numbers of the links, the places of the bodies, the coefficients of prescribed motions. The fields of a record
stand in the arrays in their order: `mechanics.model.packing` writes them so, and kernels read them by one accessor
each, of which only the fields in use are loaded: with `ld`, which tests no index for its sign.

A line of the workspace belongs to every link, and one to the base, behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import helper, ld, mark
from liegroup.table import load_components
from mechanics.joints.element import TURN

two, three, four = load_components(2), load_components(3), load_components(4)
"""So many numbers of an array, from a place on: for (array, at)."""

# --- records of `structure` -------------------------------------------------------------------------------------------


class Header(NamedTuple):
    """Numbers of links, coordinates, velocities and bodies; in `parameters` the place of the damping; in `structure`
    that of the links of the bodies; in `parameters` that of the places of the bodies; in `structure` that of a further
    section (`mechanics.closed_trees.layout`), 0 without one; which kinds of links there are (`ONLY_TURNS` …); how many
    velocities there are on the way of one to the base, in the mean, rounded down.
    """

    links: Any
    n_q: Any
    n_v: Any
    bodies: Any
    damping: Any
    body_links: Any
    body_places: Any
    extension: Any
    kinds: Any
    depth: Any


class Link(NamedTuple):
    """One elementary motion: its kind (`mechanics.joints.element`), its parent (the number of links: the base), where
    its coordinates and velocities begin, where its `Numbers` and its prescribed motion stand in `parameters`, how many
    powers and harmonics that has, or −(coefficients of a piece) and how many pieces.
    """

    kind: Any
    parent: Any
    q: Any
    v: Any
    numbers: Any
    flags: Any
    motion: Any
    powers: Any
    harmonics: Any


HEADER, LINK = len(Header._fields), len(Link._fields)
LEAF, FIRST, SIDE, SHIFT, HEAVY, GEARED = 1, 2, 4, 8, 16, 32
"""Flags: has no children; is the first to add to its parent; γ ≠ 0; ρ ≠ 0; has own inertia; its motion has armature."""


@helper
def header_of(structure: Any) -> Any:
    """The header of a tree."""
    s = structure
    return Header(*three(s, 0), *three(s, 3), *four(s, 6))


@helper
def link_of(structure: Any, i: Any) -> Any:
    """Link i."""
    s, o = structure, HEADER + LINK * i
    kind, parent, q = three(s, o)
    return Link(TURN if has_only_turns(s) else kind, parent, q, *three(s, o + 3), *three(s, o + 6))


with_only_turns, has_only_turns = mark("only turns")
"""Say of the structure of a tree, where it is `ONLY_TURNS`, that it is that; whether this has been said."""


def has_links(*kinds: int) -> Callable[[NDArray[np.int64], int], bool]:
    """Whether `structure` begins with a tree that has links of some kinds."""

    def among(structure: NDArray[np.int64], tau: int) -> bool:
        if len(structure) < HEADER:
            return False
        found = structure[HEADER : HEADER + LINK * int(structure[0]) : LINK]
        return bool(np.isin(found, kinds).any())

    return among


ONLY_TURNS, NO_BALLS, ANY_KINDS, WITH_ARMATURE = 0, 1, 2, 3
"""Kinds of links of a tree: turns about an axis; neither balls nor floats; any; any, and some have armature."""


def has_kinds(kinds: int) -> Callable[[NDArray[np.int64], int], bool]:
    """Whether `structure` begins with a tree of such links."""
    at = Header._fields.index("kinds")
    return lambda structure, tau: len(structure) > at and structure[at] == kinds


@helper
def end_of_tree(structure: Any) -> Any:
    """Where the tree ends in `structure`."""
    tree = header_of(structure)
    return tree.body_links + tree.bodies + WAY * tree.n_v


class Way(NamedTuple):
    """Of a velocity: the one before it on the way to the base (of its own joint, or the last of the nearest link that
    has any), −1 if there is none; the first of those that follow each other on this way without a gap, up to itself;
    the last one that it moves.
    """

    above: Any
    run: Any
    last: Any


WAY = len(Way._fields)


@helper
def ways_of(structure: Any) -> Any:
    """Where the ways of the velocities begin."""
    tree = header_of(structure)
    return tree.body_links + tree.bodies


@helper
def way_at(structure: Any, ways: Any, v: Any) -> Any:
    """The way of velocity v."""
    return Way(*three(structure, ways + WAY * v))


@helper
def above(structure: Any, ways: Any, v: Any) -> Any:
    """The velocity before v on the way to the base, −1 behind the base."""
    return ld(structure, ways + WAY * v) if v >= 0 else v


# --- records of `parameters` ------------------------------------------------------------------------------------------


class Numbers(NamedTuple):
    """Of a link, in its own axes: mass, first moment (3) and inertia tensor (6) about its origin; mass of its subtree;
    θ₀; (cos, sin) of θ₀, α and γ; ρ (3); pitch; for BALL and FLOAT all constant turns as one unit quaternion
    (w, x, y, z), and ρ turned by them.
    """

    mass: Any
    moment: Any
    tensor: Any
    tree_mass: Any
    theta: Any
    turn: Any
    alpha: Any
    gamma: Any
    rho: Any
    pitch: Any
    quaternion: Any
    place: Any


NUMBERS = 29
"""How many there are of a link."""


class Place(NamedTuple):
    """Of a body: its link, the rotation from its axes to those of the link (9, by rows), its origin there (3)."""

    link: Any
    rotation: Any
    position: Any


AXES, DAMPING = 3, 12
"""Where the upright axes begin, and the damping behind them."""
PLACE = 12
"""Numbers of the place of a body."""


@helper
def numbers_of(parameters: Any, link: Any) -> Any:
    """The numbers of a link."""
    p, o = parameters, link.numbers
    tensor = (*three(p, o + 4), *three(p, o + 7))
    return Numbers(
        ld(p, o), three(p, o + 1), tensor, ld(p, o + 10), ld(p, o + 11), two(p, o + 12), two(p, o + 14), two(p, o + 16),
        three(p, o + 18), ld(p, o + 21), four(p, o + 22), three(p, o + 26),
    )  # fmt: skip


@helper
def gravity_of(parameters: Any) -> Any:
    """The acceleration of gravity in the world (3)."""
    return three(parameters, 0)


@helper
def upright_axis(parameters: Any, r: Any) -> Any:
    """Axis r of the axes whose z is against gravity, in the world."""
    return three(parameters, AXES + 3 * r)


@helper
def damping_of(parameters: Any, structure: Any, v: Any) -> Any:
    """The damping of velocity v."""
    return ld(parameters, header_of(structure).damping + v)


@helper
def has_armature(structure: Any) -> Any:
    """Whether any joint of the tree has armature."""
    return False if has_only_turns(structure) else header_of(structure).kinds == WITH_ARMATURE


@helper
def armature_of(parameters: Any, structure: Any, v: Any) -> Any:
    """The armature of velocity v, of a tree that has any."""
    tree = header_of(structure)
    return ld(parameters, tree.damping + tree.n_v + v)


@helper
def place_of(parameters: Any, structure: Any, b: Any) -> Any:
    """Where body b is."""
    tree = header_of(structure)
    o = tree.body_places + PLACE * b
    R = (*three(parameters, o), *three(parameters, o + 3), *three(parameters, o + 6))
    return Place(ld(structure, tree.body_links + b), R, three(parameters, o + 9))


# --- columns of a line of the workspace -------------------------------------------------------------------------------

A, H, J, L, K, C, COS, SIN, F = 0, 6, 15, 21, 24, 27, 30, 31, 32
"""Inertia blocks A, H, J (6, 9, 6), momentum (linear 3, angular 3), first moment (3), cos and sin of the angle, wrench
(6).
"""
COLUMNS = 38
