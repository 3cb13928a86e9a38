"""The derivative of the field of a mechanism without closures, whose force elements act on joints and are linear in
coordinate and rate.

To the derivative of the tree every element τ = τ₀ + k x + c s on the joint of velocity j adds

    ∂ṗ_j/∂q_j += k,     ∂ṗ_j/∂(q, p) += c ∂v_j/∂(q, p),

and on a tendon of coefficients a every pair of its joints has a_i a_j times that.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, never, rare, st
from mechanics.algorithms.derivatives.hamiltonian import derivatives_without_wrenches
from mechanics.closed_trees.forces import tendon_joint
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.forces.element import ON_JOINT
from mechanics.forces.registry import law_on_joint
from mechanics.model.layout import header_of


@helper
def _slopes(t: Any, parameters: Any, element: Any, zero: Any) -> Any:
    """k and c of a linear law."""
    kind = element.kind
    at_rest, _, _ = law_on_joint(kind, t, parameters, element, zero, zero)
    moved, _, _ = law_on_joint(kind, t, parameters, element, zero + 1.0, zero)
    moving, _, _ = law_on_joint(kind, t, parameters, element, zero, zero + 1.0)
    return moved - at_rest, moving - at_rest


@rare(never)
def derivatives_with_springs(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = the derivative of (v, ṗ) by (q, p), by rows; the last lines of the workspace are those for the derivatives
    of the tree (`mechanics.algorithms.derivatives.columns.work_shape`).
    """
    tree, closures = header_of(structure), closures_of(structure)
    n = tree.n_v
    derivatives_without_wrenches(
        t, y, parameters, structure, work[work.shape[0] - (tree.links + 1 + 3 * n) :], out
    )  # fmt: skip
    for e in range(closures.forces):
        element = element_of(structure, closures, e)
        k, c = _slopes(t, parameters, element, 0.0 * ld(y, 0))
        if element.place == ON_JOINT:
            _add(out, n, element.second, element.second, k, c)
        else:
            for first in range(element.first):
                a = ld(parameters, element.equation_numbers + first)
                for second in range(element.first):
                    b = a * ld(parameters, element.equation_numbers + second)
                    i, j = tendon_joint(structure, element, first).v, tendon_joint(structure, element, second).v
                    _add(out, n, i, j, b * k, b * c)


@helper
def _add(out: Any, n: Any, i: Any, j: Any, k: Any, c: Any) -> None:
    """Force i gets k by the coordinate of velocity j, and c by velocity j, of n."""
    width = 2 * n
    row = (n + i) * width
    for m in range(width):
        st(out, row + m, ld(out, row + m) + c * ld(out, j * width + m))
    st(out, row + j, ld(out, row + j) + k)
