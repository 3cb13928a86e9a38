"""The derivative of the field of a mechanism without closures, whose force elements act on joints.

To the derivative of the tree every element τ(x, s) on the joint of velocity j adds, with k = ∂τ/∂x and c = ∂τ/∂s,

    ∂ṗ_j/∂q_j += k,     ∂ṗ_j/∂(q, p) += c ∂v_j/∂(q, p).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import ld, never, rare, st
from mechanics.algorithms.derivatives.hamiltonian import derivatives_without_wrenches
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.forces.registry import slopes_on_joint
from mechanics.model.layout import header_of


@rare(never)
def derivatives_with_springs(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, rates: Any, out: Any
) -> None:  # fmt: skip
    """out = the derivative of (v, ṗ) by (q, p), by rows; `rates` begins with v; the last lines of the workspace are
    those for the derivatives of the tree (`mechanics.algorithms.derivatives.columns.work_shape`).
    """
    tree, closures = header_of(structure), closures_of(structure)
    n, width = tree.n_v, 2 * tree.n_v
    derivatives_without_wrenches(
        t, y, parameters, structure, work[work.shape[0] - (tree.links + 1 + 3 * n) :], out
    )  # fmt: skip
    for e in range(closures.forces):
        element = element_of(structure, closures, e)
        j = element.second
        k, c = slopes_on_joint(element.kind, t, parameters, element, ld(y, element.first), ld(rates, j))
        row = (n + j) * width
        for i in range(width):
            st(out, row + i, ld(out, row + i) + c * ld(out, j * width + i))
        st(out, row + j, ld(out, row + j) + k)
