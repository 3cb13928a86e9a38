"""Which joint makes a mass matrix singular: the eliminations of ERA, watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechanics.algebra.sparse import half_solve, ltdl
from mechanics.model.links import links

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

SMALL = 1e-12
"""A pivot below this part of the inertia that the joint would feel with everything beyond it held is zero."""


def singular_joint(tree: Tree, q: Any, t: float = 0.0) -> str:
    """Name of the first joint, from the leaves, that moves no inertia at the configuration q, or an empty string."""
    bodies = links(tree, q, t)
    articulated, composite = [link.M for link in bodies], [link.M for link in bodies]
    for i in reversed(range(len(bodies))):
        k, C, A = bodies[i][:3]
        held = A.T @ composite[i] @ A + bodies[i].armature
        scale = np.diag(held).copy()
        free = A.T @ articulated[i] @ A + bodies[i].armature
        factors = ltdl(free)
        least = SMALL * np.maximum(scale, SMALL * np.trace(composite[i]))
        if not all(d > limit for d, limit in zip(factors.D, least, strict=True)):
            return tree.bodies[i].joint_name
        if k >= 0:
            U = half_solve(factors, A.T @ articulated[i] @ C)
            articulated[k] = articulated[k] + C.T @ articulated[i] @ C - (U.T * factors.D) @ U
            composite[k] = composite[k] + C.T @ composite[i] @ C
    return ""
