"""What the kernel of OSP needs to know of a tree: its links, their inverse inertias and the places of the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.algebra.spatial import blocks, skew
from mechanics.joints.element import BALL, FLOAT, MOVED_TURN, PLANE, SLIDE, TURN
from mechanics.model.layout import COLUMNS, header_of, link_of, numbers_of

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

LINKS, LINKS_AT = 0, 1
"""Behind the structure of the tree: the number of links, then the links."""
(
    FIRST_ROW,
    LAST_ROW,
    UPPER,
    SIBLING,
    FREEDOMS,
    VELOCITY,
    INVERSE,
    ROW_START,
    LENGTH,
    OWN,
    BASE,
    UNKNOWN,
    DRIFT,
    ALONG,
    ORDER,
) = range(15)
LINK = 20
"""Of a link: its rows; place in the structure of its parent and of the sibling before it (−1: none); degrees of freedom
and where they are in v; where M⁻¹ is in the parameters; where its rows of the matrix are in `out`, how long they are
and where its own block starts in them; tables: for every column the row of the matrix it belongs to, and the place of
its unknown in `out`; whether it has prescribed motions; whether its joint moves along axes of its row, and then which:
the coordinates of A, then the others.
"""
_COORDINATES = {TURN: (5,), SLIDE: (2,), PLANE: (0, 1, 5), BALL: (3, 4, 5), FLOAT: (0, 1, 2, 3, 4, 5)}
"""Coordinates of the basis A of an element in row axes."""
LINK_COLUMNS = COLUMNS + 168


class Plan(NamedTuple):
    """What the kernel is called with."""

    parameters: NDArray[np.float64]
    structure: NDArray[np.int64]
    work_shape: tuple[int, int]
    size: int
    """Numbers in `out`."""


def osp_plan(tree: Tree) -> Plan:
    """Extended arrays of a tree.

    Raises
    ------
    ValueError
        A moving body whose inertia cannot be inverted, by name; armature.
    """
    if tree.armature.any():
        raise ValueError(f"algorithm='OSP': tree {tree.name!r} has joints with armature; use 'ERA' or 'TSP'")
    links = _links(tree)
    structure, parameters = tree.structure, tree.parameters
    start = len(structure) + LINKS_AT
    table = start + LINK * len(links)
    unknowns = tree.nq + 2 * tree.nv
    matrix = unknowns + sum(6 - link["n"] for link in links)
    inverses, numbers, tables = len(parameters), [], []
    columns: list[tuple[list[int], list[int]]] = []
    described: list[int] = []
    lower: dict[int, int] = {}
    at_unknown = unknowns
    for k, link in enumerate(links):
        m, parent = 6 - link["n"], link["parent"]
        base: list[int] = []
        unknown: list[int] = []
        sibling = lower.get(parent, -1) if parent >= 0 else -1
        if sibling >= 0:  # the sibling's columns: the parent, its lower siblings and itself
            base, unknown = (list(x) for x in columns[sibling])
        elif parent >= 0:
            above = 6 - links[parent]["n"]
            own = len(columns[parent][0]) - above
            # a row of the parent's own block starts `own` columns in
            base, unknown = [x + own for x in columns[parent][0][own:]], columns[parent][1][own:]
        own, length = len(base), len(base) + m
        base += [matrix + r * length for r in range(m)]
        unknown += list(range(at_unknown, at_unknown + m))
        columns.append((base, unknown))
        lower[parent] = k
        described += [link["first"], link["last"], start + LINK * parent if parent >= 0 else -1]
        described += [
            start + LINK * sibling if sibling >= 0 else -1,
            link["n"],
            link["v"],
            inverses + 36 * k,
            matrix,
            length,
            own,
        ]
        described += [table, table + length, link["drift"], int(bool(link["order"])), *(link["order"] or range(6))]
        tables += base + unknown
        numbers.append(np.linalg.inv(link["M"]).ravel())
        table += 2 * length
        matrix += m * length
        at_unknown += m
    return Plan(
        np.concatenate([parameters, *numbers]),
        np.concatenate([structure, np.array([len(links), *described, *tables], dtype=np.int64)]),
        (tree.work_shape[0], LINK_COLUMNS),
        matrix,
    )


def _links(tree: Tree) -> list[dict[str, Any]]:
    """Rows of the same joint, one after another, are a link; its inertia is on the last of them."""
    structure, parameters = tree.structure, tree.parameters
    names = tree.packed.link_names
    carrier = {body.joint_name: body for body in tree.bodies}
    links: list[dict[str, Any]] = []
    of_row: dict[int, int] = {}
    for i in range(header_of(structure).links):
        row = link_of(structure, i)
        if i == 0 or names[i] != names[i - 1]:
            parent = int(row.parent)
            joint = carrier[names[i]]
            where = tree.v_slice(joint.joint_name)
            links.append(
                {"first": i, "parent": of_row.get(parent, -1), "n": joint.joint.n_v, "v": where.start, "drift": 0}
            )
        links[-1]["last"] = i
        links[-1]["drift"] |= int(row.kind >= MOVED_TURN)
        of_row[i] = len(links) - 1
    for link in links:
        kind = int(link_of(structure, link["first"]).kind)
        along = _COORDINATES.get(kind, ()) if link["first"] == link["last"] else ()
        link["order"] = [*along, *(c for c in range(6) if c not in along)] if along else []
        own = numbers_of(parameters, link_of(structure, link["last"]))
        c = skew(np.array(own.moment))
        xx, xy, xz, yy, yz, zz = own.tensor
        link["M"] = blocks(own.mass * np.eye(3), -c, c, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        if not np.linalg.cond(link["M"]) < 1e14:
            name = carrier[names[link["last"]]].name
            raise ValueError(f"algorithm='OSP': the inertia of body {name!r} cannot be inverted; use 'ERA' or 'TSP'")
    return links
