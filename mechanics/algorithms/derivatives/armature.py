"""What armature adds to the derivatives: its inertia, and the derivative by s of how its momenta turn with the joint,

g(s) = ad_sᵀ(a s),     ∂g/∂s δ = ad_δᵀ(a s) + ad_sᵀ(a δ).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, ld, ld2, rare, st, st2
from liegroup.formulas.vectors import add
from mechanics.algorithms.crba import unit_twist
from mechanics.kernels.armature import add_in_places, armature_in_places, in_places, times, turned_momentum
from mechanics.kernels.links import freedom
from mechanics.model.layout import GEARED, WITH_ARMATURE, armature_of, has_armature, has_kinds, header_of, link_of


@helper
def add_to_rows(parameters: Any, structure: Any, work: Any, first: Any) -> None:
    """M += diag(a), row r in line `first` + r of the workspace."""
    if has_armature(structure):
        for r in range(header_of(structure).n_v):
            st2(work, first + r, r, ld2(work, first + r, r) + armature_of(parameters, structure, r))


@helper
def add_to_diagonal(parameters: Any, structure: Any, out: Any, o: Any, width: Any) -> None:
    """The same in `out`, rows of a width from `o` on."""
    if has_armature(structure):
        for r in range(header_of(structure).n_v):
            at = o + r * width + r
            st(out, at, ld(out, at) + armature_of(parameters, structure, r))


@rare(has_kinds(WITH_ARMATURE))
def add_rate_derivatives(
    parameters: Any, structure: Any, s: Any, at: Any, out: Any, o: Any, width: Any, sign: Any
) -> None:
    """out += sign·∂g/∂s, rows of a width from `o` on, with the velocities s[at …]; called for trees with armature."""
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        kind = link.kind
        if link.flags & GEARED and freedom(kind) > 1:
            zero = 0.0 * ld(s, at + link.v)
            v, w = in_places(kind, s, at + link.v, zero)
            x, y = armature_in_places(parameters, structure, link)
            for d in range(freedom(kind)):
                dv, dw = unit_twist(kind, d, 0.0, zero)
                f, m = turned_momentum(times(x, v), times(y, w), dv, dw)
                g, n = turned_momentum(times(x, dv), times(y, dw), v, w)
                add_in_places(kind, out, o + link.v * width + link.v + d, width, add(f, g), add(m, n), sign)
