"""The derivative of Hamilton's equations of a mechanism, with its closures and force elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.table import EXP, retract
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.layout import closures_of
from mechanics.derivatives.elements import EPSILON, HasElements, generalised_forces
from mechanics.derivatives.trees import hamiltonian_rhs_derivatives
from mechanics.dynamics import closed_rates
from mechanics.states import configuration, velocity

Array = NDArray[np.float64]


def rhs_derivatives(mechanism: HasElements, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> Array:
    """The derivative of (v, ṗ) by (q, p): what `Mechanism.rhs` computes.  See `Mechanism.rhs_derivatives`."""
    tree, packed = mechanism.tree, mechanism.packed()
    q, p = configuration(tree, q), velocity(tree, p, "p")
    shape = np.broadcast_shapes(q.shape[:-1], p.shape[:-1])
    q, p = np.broadcast_to(q, (*shape, tree.nq)), np.broadcast_to(p, (*shape, tree.nv))
    v, _ = closed_rates(tree, packed, closed, q, p, t)
    out = np.empty((*shape, 2 * tree.nv, 2 * tree.nv))
    for k in np.ndindex(*shape):
        if closures_of(packed.structure).kept:
            out[k] = _by_complex_steps(mechanism, q[k], p[k], t)
        else:
            out[k] = _without_closures(mechanism, q[k], p[k], v[k], t)
    return out


def _without_closures(mechanism: HasElements, q: Array, p: Array, v: Array, t: float) -> Array:
    """That of the tree by composite bodies, and the forces of the elements: ∂Q/∂q + ∂Q/∂v ∂v/∂q, ∂Q/∂v ∂v/∂p."""
    n, D = mechanism.tree.nv, hamiltonian_rhs_derivatives(mechanism.tree, q, p, t=t)
    if mechanism.elements:
        forces = generalised_forces(mechanism, q, v, t)
        D[n:] += forces.by_velocity @ D[:n]
        D[n:, :n] += forces.by_configuration
    return D


def _by_complex_steps(mechanism: HasElements, q: Array, p: Array, t: float) -> Array:
    """The interpreted field on complex numbers, the multipliers with it; comparisons look at the real parts."""
    tree, packed = mechanism.tree, mechanism.packed()
    n, columns = tree.nv, []
    for k in range(2 * n):
        step, y = np.zeros(2 * n, dtype=complex), np.concatenate([q, p]).astype(complex)
        step[k] = 1j * EPSILON
        retract(tree.group.table, EXP, y[: tree.nq].copy(), step[:n], y[: tree.nq])
        y[tree.nq :] += step[n:]
        work, out = np.zeros(packed.work_shape, dtype=complex), np.zeros(2 * n, dtype=complex)
        closed.python(t, y, packed.parameters, packed.structure, work, out)
        columns.append(out.imag / EPSILON)
    return np.array(columns).T
