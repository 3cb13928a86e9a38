"""The sweep up with the impedances of force elements: D of a joint gains what acts along it, N of a link what ties it
to the base.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld2
from mechanics.joints.element import BALL, SCREW
from mechanics.kernels.links import freedom
from mechanics.model.layout import FIRST, header_of, link_of, numbers_of
from mechanics.variational.dense import factorise_dense
from mechanics.variational.elements.lines import DRAG, LOAD
from mechanics.variational.elimination import (
    drag,
    factorise_ball,
    factorise_single,
    gathered_matrix,
    relieved,
    to_parent,
)
from mechanics.variational.impulses import gathered, put_defect
from mechanics.variational.matrices import add9
from mechanics.variational.workspace import G0, IMPULSE, matrix, wrench_to_parent


@kernel
def eliminate_loaded(body_map: Any, parameters: Any, structure: Any, work: Any, fresh: Any) -> None:
    """As `mechanics.variational.elimination.eliminate`."""
    tree = header_of(structure)
    for i in range(tree.links - 1, -1, -1):
        link = link_of(structure, i)
        flags, kind, parent = link.flags, link.kind, link.parent
        f, n = gathered(body_map, flags, work, i)
        put_defect(parameters, structure, work, i, link, f, n)
        if fresh:
            factorise_loaded(body_map, parameters, structure, work, i, link)
        if parent < tree.links:
            f, n = relieved(kind, work, i, f, n)
            wrench_to_parent(work, i, G0, parent, IMPULSE, flags & FIRST, f, n)


@helper
def factorise_loaded(body_map: Any, parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> None:
    """W, Y, D of a link, and what remains of N* for its parent."""
    tree = header_of(structure)
    kind = link.kind
    A, B, C, I = gathered_matrix(body_map, link.flags, work, i)
    A, B = add9(A, matrix(work, i, LOAD)), add9(B, matrix(work, i, LOAD + 9))
    C, I = add9(C, matrix(work, i, LOAD + 18)), add9(I, matrix(work, i, LOAD + 27))
    if kind <= SCREW:
        impedance = drag(parameters, structure, work, i, link) + ld2(work, i, DRAG)
        A, B, C, I = factorise_single(work, i, kind, numbers_of(parameters, link).pitch, impedance, A, B, C, I)
    elif kind == BALL:
        A, B, C, I = factorise_ball(parameters, structure, work, i, link, A, B, C, I)
    elif freedom(kind) > 0:
        A, B, C, I = factorise_dense(parameters, structure, work, i, link, A, B, C, I)
    if link.parent < tree.links:
        to_parent(work, i, link.parent, link.flags & FIRST, A, B, C, I)
