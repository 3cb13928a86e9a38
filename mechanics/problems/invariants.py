"""What the motion of a tree conserves, from (q, p), for every step of a run.

The energy comes out of the eliminations of `era.up`, without velocities: T = ½ pᵀ M⁻¹ p = ½ Σ ξ²/d over the degrees of
freedom. A tree that nothing holds conserves its momentum about the origin of the world, under gravity the components
that gravity does not reach.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st
from liegroup.formulas.vectors import dot
from mechanics.algorithms.era import up
from mechanics.algorithms.momentum import momentum_of_free
from mechanics.joints.element import BALL, FLOAT, PLANE, SLIDE
from mechanics.kernels.links import moment_up, vector
from mechanics.model.layout import A, C, J, K, L, gravity_of, header_of, link_of, numbers_of


@helper
def _kinetic(kind: Any, work: Any, i: Any, zero: Any) -> Any:
    """Σ ξ²/d of the degrees of freedom of a link."""
    a = vector(work, i, A), vector(work, i, A + 3)
    xx, yy, zz = a[0][0], a[1][0], a[1][2]
    l = vector(work, i, L)
    total = zero
    if kind == SLIDE:
        total = l[2] * l[2] * zz
    elif kind in (PLANE, FLOAT):
        total = l[0] * l[0] * xx + l[1] * l[1] * yy
        if kind == FLOAT:
            total = total + l[2] * l[2] * zz
    if kind <= FLOAT and kind != SLIDE:
        k = vector(work, i, K)
        total = total + k[2] * k[2] * ld2(work, i, J + 5)
        if kind in (BALL, FLOAT):
            total = total + (k[0] * k[0] * ld2(work, i, J) + k[1] * k[1] * ld2(work, i, J + 3))
    return total


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → energy; for a free tree also its momentum (`momentum_of_free`)."""
    tree = header_of(structure)
    up(t, y, parameters, structure, work, False)
    n, g = tree.links, gravity_of(parameters)
    zero = ld(y, 0) - ld(y, 0)
    energy = zero
    for i in range(n):
        link = link_of(structure, i)
        energy = energy + 0.5 * _kinetic(link.kind, work, i, zero)
        if link.parent == n:
            c = moment_up(t, y, parameters, work, i, link, vector(work, i, C), numbers_of(parameters, link).tree_mass)
            energy = energy - dot(g, c)
    st(out, 0, energy)
    if out.shape[0] > 1:
        momentum_of_free(t, y, parameters, structure, work, out, 1)
