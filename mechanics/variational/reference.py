"""The variational step of a tree as it is defined: by its discrete Lagrangian.  The specification of the fast kernels.

    L_d(q₀, q₁) = Σ bodies Xᵀ M X/(2h) + Σ joints xᵀ a x/(2h) − (h/2) (V(q₀) + V(q₁)),    p₀ = −D₁ L_d,    p₁ = D₂ L_d

X are the coordinates of the motion of the mass centre frame from (R₀, x₀) to (R₁, x₁), M = diag(m E, J_com); x are the
increments of a joint's coordinates, of planes, balls and free joints X of its own motion by the Cayley map, and a its
armature. D₁, D₂ are derivatives along the joint velocities (quasi-velocities in child axes for balls, planes and free
joints). Everything runs on any scalar type: complex numbers (derivatives by complex steps) and mpmath numbers
(derivatives by differences, as many digits as wanted).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liegroup.compile.scalars import arctan2, sqrt
from liegroup.formulas.series import tangent
from mechanics.algebra.spatial import Array
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Tree


def poses(tree: Tree, q: Any, t: Any) -> list[tuple[Array, Array]]:
    """(R, x) of every body: body → absolute components, origin in absolute axes."""
    found: list[tuple[Array, Array]] = []
    for i, body in enumerate(tree.bodies):
        R, x = found[tree.parents[i]] if tree.parents[i] >= 0 else (np.eye(3), np.zeros(3))
        joint = body.joint.state(q[tree.q_slice(i)], np.zeros(body.joint.n_v), t)
        x = x + R @ (np.asarray(body.position) + body.rotation @ joint.rho)
        found.append((R @ body.rotation @ joint.G.T, x))
    return found


def rigid_bodies(tree: Tree) -> dict[int, Inertia]:
    """Inertias of the bodies that move, each with the bodies fixed to it, by number."""
    places: list[tuple[int, Array, Array]] = []
    found: dict[int, Inertia] = {}
    for i, body in enumerate(tree.bodies):
        place = (i, np.eye(3), np.zeros(3))
        if not body.joint.elements:
            k, R, x = places[tree.parents[i]] if tree.parents[i] >= 0 else (-1, np.eye(3), np.zeros(3))
            place = (k, R @ body.rotation, x + R @ np.asarray(body.position))
        places.append(place)
        if place[0] >= 0:
            found[place[0]] = found.get(place[0], Inertia.zero()) + body.inertia.moved(place[2], place[1])
    return found


def gibbs_vector(R: Array) -> Array:
    """a with R = cay(a): 2 vee(R − Rᵀ)/(1 + tr R)."""
    a = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    return np.asarray(2 * a / np.asarray(1 + R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2])[..., None])


def _rotation_vector(a: Array) -> Array:
    n = sqrt(a @ a)
    return a if n == 0 else a * (2 * arctan2(n / 2, 1 + 0 * n) / n)


def coordinates(body_map: str, R: Array, shift: Array, R0: Array) -> tuple[Array, Array]:
    """X of a motion by the rotation R (body axes) and the displacement `shift` of the mass centre (absolute axes)."""
    a = gibbs_vector(R)
    w = a if body_map in ("split", "cayley") else _rotation_vector(a)
    if body_map in ("split", "splitexp"):
        return shift, w
    d = R0.T @ shift
    if body_map == "cayley":
        return d - np.cross(a, d) / 2, w
    return d - np.cross(w, d) / 2 + tangent(w @ w) * np.cross(w, np.cross(w, d)), w


def discrete_lagrangian(tree: Tree, body_map: str, t: Any, h: Any, q0: Any, q1: Any) -> Any:
    """L_d(q₀, q₁) for the step from t to t + h."""
    total, start, end = 0 * h, poses(tree, q0, t), poses(tree, q1, t + h)
    for i, inertia in rigid_bodies(tree).items():
        (R0, x0), (R1, x1), m, J = start[i], end[i], inertia.mass, inertia.tensor_about_com
        c0, c1 = x0 + R0 @ inertia.com, x1 + R1 @ inertia.com
        v, w = coordinates(body_map, R0.T @ R1, c1 - c0, R0)
        total = total + (m * (v @ v) + w @ J @ w) / (2 * h) + h / 2 * m * (tree.gravity @ (c0 + c1))
    return total + armature_action(tree, h, q0, q1)


def armature_action(tree: Tree, h: Any, q0: Any, q1: Any) -> Any:
    """Σ joints xᵀ a x/(2h)."""
    total = 0 * h
    for i, body in enumerate(tree.bodies):
        where, none = tree.q_slice(i), np.zeros(body.joint.n_v)
        k = int(tree.v_offsets[i])
        for (e, start, s), (_, end, _) in zip(
            body.joint.split(q0[where], none), body.joint.split(q1[where], none), strict=True
        ):
            a = tree.armature[k : k + len(s)]
            if len(s) == 1:
                x = end - start
            elif len(s):
                (R0, x0), (R1, x1) = e.pose(start, 0.0), e.pose(end, 0.0)
                x = e.basis(start).T @ np.concatenate(coordinates("cayley", R0.T @ R1, x1 - x0, R0))
            if len(s):
                total = total + (a * x) @ x / (2 * h)
            k += len(s)
    return total


def nudged(tree: Tree, q: Any, v: Any, step: Any) -> Any:
    """q moved by step·v to first order, v the joint velocities."""
    moved = np.array(q) + 0 * step
    for i, body in enumerate(tree.bodies):
        where = tree.q_slice(i)
        parts = [_nudged(e.factor, x, s, step) for e, x, s in body.joint.split(q[where], v[tree.v_slice(i)]) if e.n_q]
        moved[where] = np.concatenate([np.zeros(0), *parts])
    return moved


def _nudged(factor: Any, q: Any, s: Any, step: Any) -> Array:
    """q exp(step·s) in one group."""
    return np.array(q) + np.array(factor.displace(tuple(q), factor.exp_difference(tuple(step * x for x in s))))


def derivative(function: Callable[[Any], Any], tree: Tree, q: Any, step: Any) -> Array:
    """Derivatives of a function of q along the joint velocities: by complex steps if `step` is complex, else by
    differences.
    """
    basis = np.eye(tree.nv)
    if isinstance(step, complex):
        return np.array([function(nudged(tree, q, e, step)).imag / step.imag for e in basis])
    return np.array(
        [(function(nudged(tree, q, e, step)) - function(nudged(tree, q, e, -step))) / (2 * step) for e in basis]
    )


def momenta(tree: Tree, body_map: str, t: Any, h: Any, q0: Any, q1: Any, step: Any = 1e-30j) -> tuple[Array, Array]:
    """(p₀, p₁) = (−D₁ L_d, D₂ L_d) of the step from q₀ to q₁."""
    p0 = -derivative(lambda q: discrete_lagrangian(tree, body_map, t, h, q, q1), tree, q0, step)
    return p0, derivative(lambda q: discrete_lagrangian(tree, body_map, t, h, q0, q), tree, q1, step)
