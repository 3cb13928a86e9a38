"""Bodies of a tree at a configuration as blocks of its equations: V_i = C_i V_k + A_i s_i + Vᴶ_i, k the parent of i."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mechanics.algebra.spatial import Array, momentum_cross, shift

if TYPE_CHECKING:
    from mechanics.model.tree import Body, Tree


class Link(NamedTuple):
    """One body, in the notation of Ivanov and Shimanovsky, eq. (1); all in the axes of the body."""

    parent: int
    C: Array
    """(6, 6): the twist of the parent's origin as that of the body's."""
    A: Array
    """(6, n): the motions that the joint allows."""
    drift: Array
    """(6,): Vᴶ, of prescribed motions."""
    M: Array
    """(6, 6): the inertia."""
    axes: Array
    """(3, 3): the rotation from world components to those of the body."""
    v: slice
    """Its joint's place among the velocities."""
    armature: Array
    """(n, n): diagonal, of its joint."""


def links(tree: Tree, q: Any, t: Any = 0.0, zero: Any = 0.0) -> list[Link]:
    """All bodies at the configuration q (nq,); `zero` is the zero of the scalar type: float64, mpmath, complex."""
    found: list[Link] = []
    for i, body in enumerate(tree.bodies):
        k = int(tree.parents[i])
        joint = body.joint.state(q[tree.q_offsets[i] : tree.q_offsets[i + 1]], np.zeros(body.joint.n_v), t)
        R = body.rotation + zero
        G, rho = joint.G @ R.T, body.position + R @ joint.rho
        axes = G @ (found[k].axes if k >= 0 else np.eye(3))
        C, M = shift(G, rho) + zero, body.inertia.matrix() + zero
        armature = np.diag(body.data.armature) + zero
        found.append(Link(k, C, joint.A + zero, joint.drift + zero, M, axes, tree.v_slice(i), armature))
    return found


def armature_rate(body: Body, q: Any, s: Any) -> Array:
    """ad_sᵀ(a s) of a joint at its coordinates q and velocity s: how the momenta of its armature a turn with it."""
    parts, k = [np.zeros(0)], 0
    for e, q_e, s_e in body.joint.split(q, s):
        if e.n_v:
            A = e.basis(q_e)
            parts.append(-A.T @ momentum_cross(A @ s_e) @ A @ (body.data.armature[k : k + e.n_v] * s_e))
        k += e.n_v
    return np.concatenate(parts)
