"""The discrete Lagrangian of the variational step of a tree, for many steps at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroup.tau import CAYLEY, EXP, SPLIT, SPLITEXP
from mechanics.algebra.spatial import Array
from mechanics.dynamics import body_poses, potential_energy
from mechanics.model.tree import Tree
from mechanics.variational.body_maps import _coordinates, rotation_vector
from mechanics.variational.reference import gibbs_vector, rigid_bodies

CODES = {"exp": EXP, "cayley": CAYLEY, "split": SPLIT, "splitexp": SPLITEXP}


def discrete_action(tree: Tree, q0: Array, q1: Array, h: float, body_map: str) -> Array:
    """L_d(q₀, q₁) = Σ bodies Xᵀ M X/(2h) + Σ joints xᵀ a x/(2h) − (h/2) (V(q₀) + V(q₁)) of steps of size h between
    configurations (k, n_q); J·s.

    X are the coordinates of the motion of the mass centre frame, as in `mechanics.variational.reference`.
    """
    (x0, R0), (x1, R1) = body_poses(tree, q0), body_poses(tree, q1)
    total = -h / 2 * (potential_energy(tree, q0) + potential_energy(tree, q1))
    for i, inertia in rigid_bodies(tree).items():
        (A, B), c = (R0[:, i], R1[:, i]), inertia.com
        shift = x1[:, i] - x0[:, i] + (B - A) @ c
        turn = gibbs_vector(np.swapaxes(A, -1, -2) @ B)
        v, w = _motion(CODES[body_map], tuple(turn.T), tuple(np.einsum("kji,kj->ik", A, shift)))
        total = total + (
            inertia.mass * np.sum(v * v, axis=0) + np.einsum("ik,ij,jk->k", w, inertia.tensor_about_com, w)
        ) / (2 * h)
    return total + _armature_action(tree, q0, q1, h)


def _armature_action(tree: Tree, q0: Array, q1: Array, h: float) -> Any:
    """Σ joints xᵀ a x/(2h), as in `mechanics.variational.reference`."""
    if not tree.armature.any():
        return 0.0
    motion = tree.group.between(q0, q1)
    several = [len(e.v_labels) > 1 for body in tree.bodies for e in body.joint.elements for _ in range(e.n_v)]
    x = np.where(several, tree.group.cay_inverse(motion), tree.group.log(motion))
    return (x * x) @ tree.armature / (2 * h)


def _motion(code: int, a: Any, d: Any) -> tuple[Array, Array]:
    """X of a turn with the Gibbs vector a and a displacement d of the mass centre in axes of the start: linear,
    angular.
    """
    if code >= SPLIT:
        return np.array(d), np.array(a if code == SPLIT else rotation_vector(a))
    X = np.array(_coordinates(code, a, d))
    return X[:3], X[3:]
