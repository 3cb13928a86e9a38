"""The derivative of Hamilton's equations of a mechanism, with its closures and force elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.closed_trees.derivatives import with_derivatives
from mechanics.closed_trees.field import closed
from mechanics.derivatives.elements import HasElements
from mechanics.dynamics import closed_rates
from mechanics.states import configuration, evaluate, velocity

Array = NDArray[np.float64]


def rhs_derivatives(mechanism: HasElements, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> Array:
    """The derivative of (v, ṗ) by (q, p): what `Mechanism.rhs` computes.  See `Mechanism.rhs_derivatives`."""
    tree, packed = mechanism.tree, mechanism.packed()
    q, p = configuration(tree, q), velocity(tree, p, "p")
    closed_rates(tree, packed, closed, q, p, t)  # names what is wrong with the state
    d, room = 2 * tree.nv, with_derivatives(packed.structure, len(packed.parameters), *packed.work_shape)
    both = evaluate(closed, packed, d + d * d, t, q, p, work_shape=room)
    return both[..., d:].reshape(*both.shape[:-1], d, d)
