"""Forward dynamics as a field, (q, v) → (v, v̇): M v̇ = −b(q, v), in linear time.

The bias b by Newton and Euler's recursion (`rnea`), the solution by the eliminations of the articulated bodies (`era`).
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, st
from mechanics.algorithms.energy import first_moments, kinetic, potential
from mechanics.algorithms.era import down, up
from mechanics.algorithms.rnea import accelerations, joint_forces
from mechanics.kernels.sweeps import apply_wrenches, clear, velocities
from mechanics.model.layout import F, header_of
from mechanics.model.tree import Tree


def work_shape(tree: Tree) -> tuple[int, int]:
    """That of the tree, and two lines: (q, v, 0) and (q, −b)."""
    rows, columns = tree.work_shape
    return rows + 2, max(columns, tree.nq + 2 * tree.nv)


@helper
def _accelerations(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, under_forces: Any) -> None:
    """out[: n_v] <- v̇ of y = (q, v), or of (q, v, τ) with wrenches in the columns F."""
    tree = header_of(structure)
    n_q, n_v, last = tree.n_q, tree.n_v, work.shape[0] - 1
    still, loaded = work[last - 1][: n_q + 2 * n_v], work[last][: n_q + n_v]
    for i in range(n_q + n_v):
        st(still, i, ld(y, i))
    for i in range(n_q + n_v, n_q + 2 * n_v):
        st(still, i, 0.0)
    for i in range(n_q):
        st(loaded, i, ld(y, i))
    accelerations(t, still, parameters, structure, work)
    joint_forces(t, still, parameters, structure, work, loaded[n_q:])
    for k in range(n_q, n_q + n_v):
        if under_forces:
            st(loaded, k, ld(y, n_v + k) - ld(loaded, k))
        else:
            st(loaded, k, -ld(loaded, k))
    up(t, loaded, parameters, structure, work, False, 0.0)
    down(t, loaded, parameters, structure, work, out, False, 0.0)


@entry(*FIELD_SIGNATURES)
def forward(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → out = (v, v̇); `work` of `work_shape`."""
    tree = header_of(structure)
    clear(structure, work, F, 6)
    _accelerations(t, y, parameters, structure, work, out, False)
    for k in range(tree.n_v):
        st(out, tree.n_v + k, ld(out, k))
        st(out, k, ld(y, tree.n_q + k))


@entry(*FIELD_SIGNATURES)
def forward_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, τ, wrenches of all bodies) → out = (v̇, scratch); `work` of `work_shape`."""
    tree = header_of(structure)
    apply_wrenches(y, tree.n_q + 2 * tree.n_v, parameters, structure, work)
    _accelerations(t, y, parameters, structure, work, out, True)


@entry(*FIELD_SIGNATURES)
def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → kinetic and potential energy together."""
    velocities(t, y, header_of(structure).n_q, parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    st(
        out,
        0,
        kinetic(parameters, structure, work, y, header_of(structure).n_q) + potential(parameters, structure, work),
    )
