"""Trees in Hamiltonian variables as matrices: the readable statement of what the kernels compute.

Everything is written as in Ivanov and Shimanovsky, "Analysis of the computational efficiency of matrix equations of
motion of rigid-body systems with a tree structure in Hamiltonian variables", on NumPy arrays of float64 or of mpmath
numbers (then to any number of digits).  Equation numbers are theirs; four printed formulas are corrected and say so.
With s = q̇ or quasi-velocities:

    V_i − C_i V_k = A_i s_i + Vᴶ_i                                                             (1)
    S V = A s + Vᴶ,    V = T(A s + Vᴶ) = B s + β,    T = S⁻¹                                    (2), (3)
    p = Bᵀ M V = Aᵀ P*,    P* = Tᵀ M V                                                         (4), (9)
    M V − Sᵀ P* = 0,   −S V + A s = −Vᴶ,   Aᵀ P* = p,   ṗ = (Ȧᵀ − Aᵀ Ω) P* + Q,   Q = Aᵀ Tᵀ F      (10)

Beyond the paper, armature a adds a s to p and to Aᵀ P* in (10), and ad_sᵀ(a s) to ṗ (zero but in planes, balls and
free joints).

`extended` solves (10) as it stands, `tsp` by projection on the possible motions (11)–(12), `osp` on the reactions
(14)–(16), `era` recursively (17)–(18).  All four return the same (s, ṗ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mechanics.algebra.sparse import (
    complement,
    forward,
    half_solve,
    in_blocks,
    inverse,
    ltdl,
    solve,
    solve_ltdl,
    tree_patterns,
)
from mechanics.algebra.spatial import Array, momentum_cross
from mechanics.model.links import Link, armature_rate, links
from mechanics.model.tree import Tree


class Rates(NamedTuple):
    """What the equations of motion give."""

    v: Array
    """(nv,): velocities s."""
    p_dot: Array
    """(nv,): rates of the momenta."""


@dataclass
class System:
    """A tree at (q, p, t) under forces: blocks, matrices and the four ways to (s, ṗ).

    Parameters
    ----------
    tree : Tree
    q, p : sequence (nq,), (nv,)
        Configuration and momenta; float64 or mpmath numbers.
    t : number
        Time, for prescribed motions.
    wrenches : sequence (N, 6), optional
        Wrenches on the bodies, body axes at the body origins.
    tau : sequence (nv,), optional
        Joint forces.
    """

    tree: Tree
    q: Any
    p: Any
    t: Any = 0.0
    wrenches: Any = None
    tau: Any = None

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _joint(self, i: int, s: Any) -> Any:
        q = self.q[self.tree.q_offsets[i] : self.tree.q_offsets[i + 1]]
        return self.tree.bodies[i].joint.state(q, s, self.t)

    @cached_property
    def zero(self) -> Any:
        """Zero of the scalar type of the state: added to float64 constants before they are divided or multiplied by one
        another.
        """
        return 0 * (sum(self.q) + sum(self.p) + self.t)

    @cached_property
    def links(self) -> list[Link]:
        return links(self.tree, self.q, self.t, self.zero)

    @cached_property
    def wrenches_on_bodies(self) -> list[Array]:
        """F_i: gravity and the given wrench, body axes."""
        found: list[Array] = []
        for i, (link, body) in enumerate(zip(self.links, self.tree.bodies, strict=True)):
            f = body.inertia.mass * (link.axes @ self.tree.gravity)
            F = np.concatenate([f, np.cross(body.inertia.com, f)])
            found.append(F if self.wrenches is None else F + np.asarray(self.wrenches[i]))
        return found

    def _joint_forces(self) -> Array:
        return np.zeros(self.tree.nv) if self.tau is None else np.asarray(self.tau)

    def _p_dot(self, i: int, s: Array, V: Array, P_star: Array, F_star: Array) -> Array:
        """(Ȧᵀ − Aᵀ Ω) P* + Aᵀ F* + τ − d s of one joint."""
        here, A = self.links[i].v, self.links[i].A
        A_dot = self._joint(i, s[here]).A_dot
        rate = (A_dot.T - A.T @ momentum_cross(V)) @ P_star + A.T @ F_star
        rate = rate + armature_rate(self.tree.bodies[i], self.q[self.tree.q_slice(i)], s[here])
        return rate + self._joint_forces()[here] - self.tree.damping[here] * s[here]

    # --- matrices -----------------------------------------------------------------------------------------------------

    @cached_property
    def S(self) -> Array:
        """(6N, 6N): E on the diagonal, −C_i in the column of the parent; eq. (2)."""
        S = np.eye(6 * len(self.links)) + self.zero
        for i, link in enumerate(self.links):
            if link.parent >= 0:
                S[6 * i : 6 * i + 6, 6 * link.parent : 6 * link.parent + 6] = -link.C
        return S

    @cached_property
    def T(self) -> Array:
        """(6N, 6N): S⁻¹, by T_ij = C_i T_kj."""
        T = np.eye(6 * len(self.links)) + self.zero
        for i, link in enumerate(self.links):
            k = link.parent
            if k >= 0:
                T[6 * i : 6 * i + 6, : 6 * i] = link.C @ T[6 * k : 6 * k + 6, : 6 * i]
        return T

    def _diagonal(self, blocks: Sequence[Array]) -> Array:
        rows, columns = sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)
        D = np.zeros((rows, columns)) + self.zero
        i = j = 0
        for b in blocks:
            D[i : i + b.shape[0], j : j + b.shape[1]] = b
            i, j = i + b.shape[0], j + b.shape[1]
        return D

    @cached_property
    def A(self) -> Array:
        """(6N, n): the joint bases."""
        return self._diagonal([link.A for link in self.links])

    @cached_property
    def M(self) -> Array:
        """(6N, 6N): the inertias."""
        return self._diagonal([link.M for link in self.links])

    @cached_property
    def B(self) -> Array:
        """(6N, n): T A, the local basis of the possible motions; eq. (3)."""
        return self.T @ self.A

    @cached_property
    def drift(self) -> Array:
        """(6N,): Vᴶ."""
        return np.concatenate([link.drift for link in self.links])

    @cached_property
    def mass_matrix(self) -> Array:
        """(n, n): Aᵀ Tᵀ M T A + a."""
        return self.B.T @ self.M @ self.B + self.armature

    @cached_property
    def armature(self) -> Array:
        """(n, n): a, diagonal."""
        return self._diagonal([link.armature for link in self.links])

    def _rates(self, s: Array, V: Array, P_star: Array) -> Rates:
        """The last line of (10), from s, V and P*."""
        F_star = self.T.T @ np.concatenate(self.wrenches_on_bodies)
        parts = [
            self._p_dot(i, s, *(x[6 * i : 6 * i + 6] for x in (V, P_star, F_star))) for i in range(len(self.links))
        ]
        return Rates(s, np.concatenate(parts))

    # --- the four ways ------------------------------------------------------------------------------------------------

    def extended(self) -> Rates:
        """(10), its three linear equations for V, P* and s solved together as one symmetric system."""
        N, n = 6 * len(self.links), self.tree.nv
        K = np.zeros((2 * N + n, 2 * N + n)) + self.zero
        K[:N, :N], K[:N, N : 2 * N], K[N : 2 * N, :N] = self.M, -self.S.T, -self.S
        K[N : 2 * N, 2 * N :], K[2 * N :, N : 2 * N] = self.A, self.A.T
        K[2 * N :, 2 * N :] = self.armature
        x = solve(K, np.concatenate([np.zeros(N) + self.zero, -self.drift, np.asarray(self.p)]))
        return self._rates(x[2 * N :], x[:N], x[N : 2 * N])

    def tsp(self) -> Rates:
        """Projection on the tangent space: (11), then (12), where the print has Γᵀ for Tᵀ."""
        H, P_drift = self.mass_matrix, self.M @ self.T @ self.drift
        pattern = in_blocks(tree_patterns(self.tree.parents)[0], [link.A.shape[1] for link in self.links])
        s = solve_ltdl(ltdl(H, pattern), np.asarray(self.p) - self.B.T @ P_drift)
        V = self.T @ (self.A @ s + self.drift)
        return self._rates(s, V, self.T.T @ (self.M @ V))

    def osp(self) -> Rates:
        """Projection on the orthogonal space: (14), (13), (15) and (16), with the missing Aᵀ in (15) and Q in (16).

        Every body needs an inertia that can be inverted, and no joint has armature.
        """
        if self.tree.armature.any():
            raise ValueError(f"tree {self.tree.name!r} has armature; the projection on the reactions knows none")
        A, p = self.A, np.asarray(self.p)
        Z = self._diagonal([complement(link.A) for link in self.links])
        K = self.S @ self._diagonal([inverse(link.M) for link in self.links]) @ self.S.T
        gram = self._diagonal([inverse(link.A.T @ link.A) for link in self.links])
        P_0 = A @ (gram @ p)
        pattern = in_blocks(tree_patterns(self.tree.parents)[1], [6 - link.A.shape[1] for link in self.links])
        reactions = solve_ltdl(ltdl(Z.T @ K @ Z, pattern), Z.T @ (self.drift - K @ P_0))
        P_star = P_0 + Z @ reactions
        s = gram @ (A.T @ (K @ P_star - self.drift))
        return self._rates(s, self.T @ (A @ s + self.drift), P_star)

    def era(self) -> Rates:
        """The recursion (18), with a plus before the last term of π* (the print has a minus)."""
        links, N = self.links, len(self.links)
        M = [link.M for link in links]
        pi = [0 * link.drift for link in links]
        F = list(self.wrenches_on_bodies)
        factors: list[Any] = [None] * N
        U: list[Any] = [None] * N
        u: list[Any] = [None] * N
        p = np.asarray(self.p)
        for i in reversed(range(N)):
            k, C, A, drift = links[i][:4]
            y = M[i] @ drift + pi[i]
            factors[i] = ltdl(A.T @ M[i] @ A + links[i].armature)
            U[i] = half_solve(factors[i], A.T @ M[i] @ C)
            u[i] = half_solve(factors[i], p[links[i].v] - A.T @ y)
            if k >= 0:
                UD = U[i].T * factors[i].D
                M[k] = M[k] + C.T @ M[i] @ C - UD @ U[i]
                pi[k] = pi[k] + C.T @ y + UD @ u[i]
                F[k] = F[k] + C.T @ F[i]
        V: list[Array] = []
        s, rates = [], []
        for i in range(N):
            k, C, A, drift = links[i][:4]
            V_k = V[k] if k >= 0 else 0 * drift
            s.append(forward(factors[i], u[i] - U[i] @ V_k))
            V.append(C @ V_k + A @ s[i] + drift)
            P_star = M[i] @ V[i] + pi[i]
            rates.append((V[i], P_star, F[i]))
        all_s = np.concatenate(s)
        return Rates(all_s, np.concatenate([self._p_dot(i, all_s, *rates[i]) for i in range(N)]))
