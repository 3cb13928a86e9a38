"""The rows that force elements take in a variational step: how far each reaches, and which row is its first.

A force on a joint, on a tendon or along an equation is one number and takes one row, a force between bodies takes
three; one between bodies that reads no velocity takes none (the step takes it at the nodes).  Rows across the tree come
first, of them those that read velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mechanics.closed_trees.layout import ACROSS, ALONG_ONE, TO_BASE, PackedElement
from mechanics.forces.element import ON_BODIES, ON_JOINT, ON_SCREW, ON_TENDON
from mechanics.joints.element import SCREW
from mechanics.model.layout import header_of, link_of
from mechanics.model.packing import Packed


class Rows(NamedTuple):
    """Rows of all force elements, of those across the tree, and of these of those that read velocities."""

    rows: int
    across: int
    across_reading: int


def with_rows(packed: Packed, elements: Sequence[PackedElement]) -> tuple[list[PackedElement], Rows]:
    """The elements with their reaches and rows, in the same order, and the numbers of rows."""
    found = [_with_reach(packed, e) for e in elements]
    order = sorted(range(len(found)), key=lambda k: (found[k].reach != ACROSS, not found[k].reads))
    at = 0
    for k in order:
        found[k] = found[k]._replace(row=at)
        at += _count(found[k])
    across = [e for e in found if e.reach == ACROSS]
    return found, Rows(at, sum(map(_count, across)), sum(_count(e) for e in across if e.reads))


def _count(e: PackedElement) -> int:
    if e.place >= ON_BODIES:
        return 3 if e.reads else 0
    return 1


def _with_reach(packed: Packed, e: PackedElement) -> PackedElement:
    """Along the joint of one link of one freedom (on it, or between the link and its parent), to the base, or across
    the tree.
    """
    structure = packed.structure
    base = int(header_of(structure).links)
    if e.place == ON_JOINT:
        return e._replace(reach=ALONG_ONE)
    if e.place == ON_TENDON:
        return e._replace(reach=ALONG_ONE if e.first == 1 else ACROSS)
    if e.place == ON_SCREW:
        return e._replace(reach=TO_BASE)
    ends = e.first, e.second
    for child, parent in (ends, ends[::-1]):
        if child < base:
            link = link_of(structure, child)
            if link.parent == parent and link.kind <= SCREW:
                return e._replace(reach=ALONG_ONE, link=child)
    return e._replace(reach=TO_BASE if base in ends and e.first != e.second else ACROSS)
