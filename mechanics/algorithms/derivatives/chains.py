"""Derivatives of forward dynamics in O(n²): all columns at a time through the eliminations of articulated bodies.

`mechanics.algorithms.derivatives.forward` takes O(n · depth) for ∂τ/∂(q, v) and O(n² · depth) for what M⁻¹ makes of
them, which is less where ways to the base are short (`mechanics.Tree.has_long_ways`).
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, kernel, ld, lines_from, st
from mechanics.algorithms.derivatives.articulated import accelerate_links, articulate
from mechanics.algorithms.derivatives.bodies import add_forces
from mechanics.algorithms.derivatives.factor import fill
from mechanics.algorithms.derivatives.inverse import move_links
from mechanics.algorithms.derivatives.sweeps import back, towards_base
from mechanics.kernels.armature import add_rates
from mechanics.model.layout import damping_of, has_armature, header_of

LOOPS = "short"


@kernel
def _derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any) -> None:
    tree = header_of(structure)
    n_q, n_v = tree.n_q, tree.n_v
    a = 3 * n_v * n_v
    fill(out, a, n_v, 0.0 * ld(y, n_q))
    move_links(t, y, parameters, structure, work, out, a, loaded)
    for k in range(n_v):
        st(out, a + k, ld(y, n_q + n_v + k) - damping_of(parameters, structure, k) * ld(y, n_q + k))
    if has_armature(structure):
        add_rates(parameters, structure, y, n_q, out, a, 1.0)
    lines = lines_from(work, tree.links + 1)
    articulate(parameters, structure, work, lines, out, a, True)
    accelerate_links(parameters, structure, work, lines, out, a)
    add_forces(structure, work)
    towards_base(parameters, structure, y, work, out)
    back(parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def chain_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ) → rows of ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹ side by side, then v̇; `work` of `work_of_sweeps`."""
    _derivatives(t, y, parameters, structure, work, out, False)


@entry(*FIELD_SIGNATURES)
def chain_derivatives_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ, wrenches of all bodies) → the same with the wrenches."""
    _derivatives(t, y, parameters, structure, work, out, True)
