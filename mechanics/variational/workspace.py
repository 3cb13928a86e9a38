"""The workspace of the variational step: one line per link of a packed tree (`mechanics.model.packing`), and one for
the base.

Node k is the start of the step, node k + 1 its end; "old axes" are those of the link at k, "new axes" those at k + 1.
Links, numbers and flags are read as in `mechanics.model.layout`.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, st2
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.vectors import rotated_back
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import put, vector

# columns of the workspace
G0, RHO0, G1, RHO1 = (
    0,
    9,
    12,
    21,
)  # placement at k and k + 1: parent → link components, origin in the axes of the parent
TURN_BODY, SHIFT_BODY = 24, 27  # motion of the link: Gibbs vector a and displacement d of its origin, old axes
TURN_JOINT, SHIFT_JOINT = 30, 33  # the same of the joint: the unknowns
IMPULSE = 36  # P*
MATRIX = 42  # N*, four blocks of nine; the factors of the elimination
TARGET, DEFECT = 78, 84  # p̂, and u = p̂ − A₀ᵀ P*
FORCE = 90  # Q at k; Q at k + 1 comes in `DEFECT`
ETA = 96  # η
COM, TENSOR, MASS = 102, 105, 111  # mass centre; tensor about it and mass, divided by h
COS0, SIN0, COS1, SIN1 = 112, 113, 114, 115  # of the whole angle of a turn, at k and k + 1
PAST = 116  # backward differences of the unknowns over past steps, 6 numbers each
REMEMBERED = 4
"""Past steps from which the unknowns are extrapolated."""
ALONG_JOINT = PAST + 6 * REMEMBERED  # impulse along the joint of the link, which no other link feels
COLUMNS = ALONG_JOINT + 1
DENSE = COLUMNS  # for planes and free elements: D = L U, D⁻¹ W, Y (36 each), scratch (18), D⁻¹ u (6)
COLUMNS_DENSE = DENSE + 132


# --- matrices of nine -------------------------------------------------------------------------------------------------


@helper
def matrix(work: Any, i: Any, column: Any) -> Any:
    """Nine numbers of a line."""
    return vector(work, i, column) + vector(work, i, column + 3) + vector(work, i, column + 6)


@helper
def put_matrix(work: Any, i: Any, column: Any, A: Any) -> None:
    """Write nine numbers."""
    put(work, i, column, (A[0], A[1], A[2]))
    put(work, i, column + 3, (A[3], A[4], A[5]))
    put(work, i, column + 6, (A[6], A[7], A[8]))


# --- the joints' bases A: unit vectors in link axes -------------------------------------------------------------------


@helper
def component(kind: Any, j: Any) -> Any:
    """Component of a six-vector along which freedom j of a plane (x, y, turn) or of a free element goes."""
    return 5 if kind == PLANE and j == 2 else j


@helper
def unknown(kind: Any, j: Any) -> Any:
    """Column of the increment of freedom j of an element."""
    if kind == SLIDE:
        return SHIFT_JOINT + 2
    if kind in (TURN, SCREW):
        return TURN_JOINT + 2
    if kind == PLANE:
        return TURN_JOINT + 2 if j == 2 else SHIFT_JOINT + j
    return TURN_JOINT + j if kind == BALL else (SHIFT_JOINT + j if j < 3 else TURN_JOINT + j - 3)


@helper
def put_along(work: Any, i: Any, column: Any, kind: Any, pitch: Any, f: Any, n: Any) -> None:
    """Write Aᵀ (f, n)."""
    if kind == TURN:
        st2(work, i, column, n[2])
    elif kind == SLIDE:
        st2(work, i, column, f[2])
    elif kind == SCREW:
        st2(work, i, column, pitch * f[2] + n[2])
    elif kind == PLANE:
        put(work, i, column, (f[0], f[1], n[2]))
    elif kind == BALL:
        put(work, i, column, n)
    elif kind == FLOAT:
        put(work, i, column, f)
        put(work, i, column + 3, n)


# --- from a link to its parent ----------------------------------------------------------------------------------------


@helper
def wrench_to_parent(work: Any, i: Any, at: Any, parent: Any, column: Any, first: Any, f: Any, n: Any) -> None:
    """Cᵀ (f, n) for the parent (placement from column `at`): written by the first link that comes, added by the
    others.
    """
    G = matrix(work, i, at)
    f = rotated_back(G, f)
    n = add(rotated_back(G, n), cross(vector(work, i, at + 9), f))
    if first:
        put(work, parent, column, f)
        put(work, parent, column + 3, n)
    else:
        put(work, parent, column, add(vector(work, parent, column), f))
        put(work, parent, column + 3, add(vector(work, parent, column + 3), n))
