"""How the twists of links depend on velocities and configuration: with every column S on the way of a link to the base,

    ∂V/∂v = S,     ∂V/∂q = V_parent × S     (V_parent of the column's own link),

both of the origin and in the axes of the link.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld2, st
from liegroup.formulas.vectors import add, cross
from mechanics.algebra.vectors import rotated_back
from mechanics.algorithms.derivatives.columns import OFFSET, TWIST, carried, column, motion_cross, rows_of
from mechanics.algorithms.derivatives.factor import fill
from mechanics.algorithms.derivatives.motion import twists
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import header_of, link_of, numbers_of

LOOPS = "short"


@helper
def _put_column(out: Any, at: Any, n_v: Any, R: Any, r: Any, u: Any) -> None:
    """A twist of the point at r in link axes, one number per row."""
    v, w = rotated_back(R, add(u[0], cross(u[1], r))), rotated_back(R, u[1])
    st(out, at, v[0])
    st(out, at + n_v, v[1])
    st(out, at + 2 * n_v, v[2])
    st(out, at + 3 * n_v, w[0])
    st(out, at + 4 * n_v, w[1])
    st(out, at + 5 * n_v, w[2])


@entry(*FIELD_SIGNATURES)
def link_columns(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → for every link and the base ∂V/∂v and ∂V/∂q by rows, 6 n_v numbers each; `work` of `work_shape`."""
    tree = header_of(structure)
    n, n_v = tree.links, tree.n_v
    twists(t, y, parameters, structure, work, y, tree.n_q)
    zero = ld2(work, n, TWIST)
    fill(out, 0, 12 * n_v * (n + 1), zero)
    for i in range(n):
        R, r, j = rows_of(work, i), (zero, zero, zero), i
        at = 12 * n_v * i
        while j < n:
            link = link_of(structure, j)
            before = carried(work, link.parent, TWIST, vector(work, j, OFFSET))
            for d in range(freedom(link.kind)):
                S = column(work, j, link.kind, d, numbers_of(parameters, link).pitch)
                _put_column(out, at + link.v + d, n_v, R, r, S)
                _put_column(out, at + 6 * n_v + link.v + d, n_v, R, r, motion_cross(before, S))
            r, j = add(r, vector(work, j, OFFSET)), link.parent
