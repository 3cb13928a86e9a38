"""Closed chains in Hamiltonian variables: the equations and algorithms of Ivanov (2022), readable and corrected.

The system is a tree of bodies in which one body of every loop is split into two halves; ε (L × N) has +1 at the first
and −1 at the second half of each.  With v the absolute twists, μ the accumulated momenta, η the time integrals of the
closing reactions (absolute axes) and p* = p − Bᵀ G_a εᵀ η:

    M v − Sᵀ μ = 0,    −S v + A q̇ = −vʳ,    Aᵀ μ = p* + Bᵀ G_a εᵀ η,    ε G_aᵀ v = 0                   (5)
    ṗ* = (Ȧᵀ − Aᵀ Ω)(μ − η*) + Q,    η* = Tᵀ G_a εᵀ η,    Q = Aᵀ Tᵀ F                                    (6, corrected)

Corrections to the printed text, each with a test: (6) has μ for μ − η*, which is wrong by O(1); the mass matrix of the
halves in the closing remark must be taken in absolute axes; (11) gives a solution, not the shortest one; Σ⁻¹ needs a
threshold; and the positions stay closed only if p* is re-based, p* := Aᵀ μ and η := 0, after every step (otherwise the
gap grows like t²).

Lists run over the bodies; everything is a NumPy array of any scalar type.  This is the tested specification of the
kernel in `mechanics.closed_trees.field`; nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.algebra.spatial import Array, blocks, momentum_cross, shift
from mechanics.model.links import armature_rate
from mechanics.model.tree import Tree


@dataclass(frozen=True, eq=False)
class ClosedChain:
    """What the paper's algorithms need to know of a system at one (q, q̇, t).

    Attributes
    ----------
    parents : sequence of int
        k_i, numbered from 0; −1 is the fixed base.
    epsilon : int array (L, N)
        ε: +1 and −1 at the two halves of the split body of each loop.
    C, A, A_dot, drift : lists of arrays (6, 6), (6, n_i), (6, n_i), (6,)
        Shift, joint basis, its rate (needed for ṗ* only) and vʳ.
    M, G0 : lists of arrays (6, 6), (3, 3)
        Mass matrices, and rotations absolute → body axes.
    F : list of arrays (6,)
        Wrenches on the bodies, body axes.
    armature, armature_rate : lists of arrays (n_i, n_i), (n_i,)
        Diagonal a, and ad_sᵀ(a s) at the given s; not in the paper.
    """

    parents: Sequence[int]
    epsilon: NDArray[np.int64]
    C: list[Array]
    A: list[Array]
    A_dot: list[Array]
    drift: list[Array]
    M: list[Array]
    G0: list[Array]
    F: list[Array]
    armature: list[Array]
    armature_rate: list[Array]

    @property
    def children(self) -> list[list[int]]:
        """U_i."""
        return [[j for j, k in enumerate(self.parents) if k == i] for i in range(len(self.parents))]

    def axes(self, i: int) -> Array:
        """G_i^a: absolute → body axes for six-vectors."""
        return blocks(self.G0[i], 0 * self.G0[i], 0 * self.G0[i], self.G0[i])

    def split(self, p: Array) -> list[Array]:
        """A vector of all joints as a list over the bodies."""
        return list(np.split(p, np.cumsum([a.shape[1] for a in self.A])[:-1]))


def chain_of(
    tree: Tree, epsilon: Any, q: Any, s: Any, t: Any = 0.0, wrenches: Sequence[Array] | None = None
) -> ClosedChain:
    """The chain of a tree at (q, s, t), gravity and further `wrenches` acting on its bodies; s matters for rates of the
    momenta only.
    """
    chain = ClosedChain([int(k) for k in tree.parents], np.asarray(epsilon), *([] for _ in range(9)))
    for i, body in enumerate(tree.bodies):
        q_i, s_i = q[tree.q_slice(i)], s[tree.v_slice(i)]
        state = body.joint.state(q_i, s_i, t)
        G = state.G @ np.asarray(body.rotation).T
        k = tree.parents[i]
        G0 = G @ chain.G0[k] if k >= 0 else G
        weight = body.inertia.mass * (G0 @ tree.gravity)
        gravity = np.concatenate([weight, np.cross(body.inertia.com, weight)])
        chain.C.append(shift(G, np.asarray(body.position) + body.rotation @ state.rho))
        chain.armature.append(np.diag(body.data.armature))
        chain.armature_rate.append(armature_rate(body, q_i, s_i))
        chain.A.append(state.A)
        chain.A_dot.append(state.A_dot)
        chain.drift.append(state.drift)
        chain.M.append(body.inertia.matrix())
        chain.G0.append(G0)
        chain.F.append(gravity if wrenches is None else gravity + wrenches[i])
    return chain


class Factors(NamedTuple):
    """The preparatory block: M*_i, D_i, H_i."""

    M: list[Array]
    D: list[Array]
    H: list[Array]


class Motion(NamedTuple):
    """q̇, v, μ and η* of the algorithms, lists over the bodies."""

    rates: list[Array]
    v: list[Array]
    mu: list[Array]
    eta: list[Array]


def inverse(matrix: Array) -> Array:
    """Inverse of a small matrix of any scalar type, by Gauss and Jordan."""
    n = len(matrix)
    work = np.concatenate([matrix + 0 * matrix, np.eye(n) + 0 * matrix], axis=1)
    for i in range(n):
        work[i] = work[i] / work[i, i]
        for j in range(n):
            if j != i:
                work[j] = work[j] - work[i] * work[j, i]
    return np.asarray(work[:, n:])


# --- the algorithm of section 3 ---------------------------------------------------------------------------------------


def prepare(chain: ClosedChain) -> Factors:
    """M*_i = M_i + Σ C_jᵀ H_j M*_j C_j,  D_i = (A_iᵀ M*_i A_i + a_i)⁻¹,  H_i = E − M*_i A_i D_i A_iᵀ."""
    n = len(chain.parents)
    M, D, H = [None] * n, [None] * n, [None] * n
    for i in reversed(range(n)):
        A = chain.A[i]
        M[i] = chain.M[i] + sum((chain.C[j].T @ H[j] @ M[j] @ chain.C[j] for j in chain.children[i]), 0)
        D[i] = inverse(A.T @ M[i] @ A + chain.armature[i])
        H[i] = np.eye(6) - M[i] @ A @ D[i] @ A.T
    return Factors(M, D, H)


def npf(
    chain: ClosedChain, factors: Factors, p_star: list[Array], eta: Array
) -> tuple[list[Array], list[Array], list[Array]]:
    """NPF: η*_i, p_i, φ_i from the leaves to the base, for given multipliers η (6 L,)."""
    n, loops = len(chain.parents), eta.reshape(-1, 6)
    eta_star, p, phi = [None] * n, [None] * n, [None] * n
    for i in reversed(range(n)):
        own = chain.axes(i) @ sum((chain.epsilon[c, i] * loops[c] for c in range(len(loops))), np.zeros(6))
        eta_star[i] = own + sum((chain.C[j].T @ eta_star[j] for j in chain.children[i]), 0)
        p[i] = p_star[i] + chain.A[i].T @ eta_star[i]
        phi[i] = np.zeros(6) + sum(
            (
                chain.C[j].T
                @ (
                    factors.M[j] @ chain.A[j] @ factors.D[j] @ p[j]
                    + factors.H[j] @ (factors.M[j] @ chain.drift[j] + phi[j])
                )
                for j in chain.children[i]
            ),
            0,
        )
    return eta_star, p, phi


def qv(
    chain: ClosedChain, factors: Factors, p: list[Array], phi: list[Array]
) -> tuple[list[Array], list[Array], list[Array]]:
    """QV: q̇_i, v_i, μ_i from the base to the leaves."""
    rates: list[Array] = []
    v: list[Array] = []
    mu: list[Array] = []
    for i, k in enumerate(chain.parents):
        w = chain.drift[i] + (chain.C[i] @ v[k] if k >= 0 else 0)
        rates.append(factors.D[i] @ (p[i] - chain.A[i].T @ (phi[i] + factors.M[i] @ w)))
        v.append(w + chain.A[i] @ rates[i])
        mu.append(factors.M[i] @ v[i] + phi[i])
    return rates, v, mu


def motion(chain: ClosedChain, factors: Factors, p_star: Array, eta: Array) -> Motion:
    """The solution of the first three equations (5) for given η."""
    eta_star, p, phi = npf(chain, factors, chain.split(p_star), eta)
    rates, v, mu = qv(chain, factors, p, phi)
    return Motion(rates, v, mu, eta_star)


def closing_velocity(chain: ClosedChain, v: list[Array]) -> Array:
    """ε G_aᵀ v (6 L,): velocities of the halves against each other, absolute axes (the gradient ∇f of section 3)."""
    parts = [
        sum((row[i] * (chain.axes(i).T @ v[i]) for i in map(int, np.flatnonzero(row))), np.zeros(6))
        for row in chain.epsilon
    ]
    return np.concatenate(parts)


# --- finding η --------------------------------------------------------------------------------------------------------


def loop_matrix(chain: ClosedChain) -> Array:
    """Φ = ε G_aᵀ B (Bᵀ M B)⁻¹ Bᵀ G_a εᵀ by columns (7): the closing velocities that unit multipliers cause."""
    factors = prepare(chain)
    still = replace(chain, drift=[0 * d for d in chain.drift])
    zero = np.zeros(sum(a.shape[1] for a in chain.A))
    size = 6 * len(chain.epsilon)
    return np.stack([closing_velocity(chain, motion(still, factors, zero, e).v) for e in np.eye(size)], axis=1)


def split_mass(chain: ClosedChain) -> Array:
    """W = (ε M_a⁻¹ εᵀ)⁻¹, M_a⁻¹ = G_aᵀ M⁻¹ G_a (10)."""
    L = len(chain.epsilon)
    inverse_mass = np.zeros((6 * L, 6 * L))
    for i in range(len(chain.parents)):
        e = chain.epsilon[:, i]
        if e.any():
            block = chain.axes(i).T @ inverse(chain.M[i]) @ chain.axes(i)
            inverse_mass = inverse_mass + np.kron(np.outer(e, e), block)
    return inverse(inverse_mass)


def split_mass_remark(chain: ClosedChain, absolute: bool = True) -> Array:
    """¼ ε M_a εᵀ, equal to W for equal halves; in body axes (absolute=False), as printed, the iteration diverges."""
    L = len(chain.epsilon)
    mass = np.zeros((6 * L, 6 * L))
    for i in range(len(chain.parents)):
        e = chain.epsilon[:, i]
        block = chain.axes(i).T @ chain.M[i] @ chain.axes(i) if absolute else chain.M[i]
        mass = mass + np.kron(np.outer(e, e), 0.25 * block)
    return mass


def simple_iteration(
    chain: ClosedChain, p_star: Array, count: int, W: Array | None = None
) -> tuple[Array, list[float]]:
    """(10): η ← η − W ε G_aᵀ v, `count` times from zero; returns η and the greatest closing velocity at every step."""
    factors, W = prepare(chain), split_mass(chain) if W is None else W
    eta, residuals = np.zeros(len(W)), []
    for _ in range(count):
        gradient = closing_velocity(chain, motion(chain, factors, p_star, eta).v)
        residuals.append(float(np.abs(gradient).max()))
        eta = eta - W @ gradient
    return eta, residuals


def finite_algorithm(chain: ClosedChain, p_star: Array, threshold: float = 1e-13) -> Array:
    """(11)–(12): 6 L simple iterations make X and ΔF = Φ X; η = −X ΔF⁺ ∇f(0), singular values below `threshold` cut.

    X is an ill-conditioned basis of powers of W Φ: the result is a solution, but neither exact nor the shortest one.
    """
    factors, W = prepare(chain), split_mass(chain)
    first = closing_velocity(chain, motion(chain, factors, p_star, np.zeros(len(W))).v)
    eta, gradient, X, dF = np.zeros(len(W)), first, [], []
    for _ in range(len(W)):
        eta = eta - W @ gradient
        gradient = closing_velocity(chain, motion(chain, factors, p_star, eta).v)
        X.append(eta)
        dF.append(gradient - first)
    return np.asarray(-np.stack(X, axis=1) @ np.linalg.pinv(np.stack(dF, axis=1), rcond=threshold) @ first)


def direct(chain: ClosedChain, p_star: Array, rank: int) -> Array:
    """The recommended form: X = E, so that ΔF = Φ; η = −Φ⁺ ∇f(0) with the `rank` largest eigenvalues kept."""
    Phi = loop_matrix(chain)
    first = closing_velocity(chain, motion(chain, prepare(chain), p_star, np.zeros(len(Phi))).v)
    eigenvalues, basis = np.linalg.eigh(0.5 * (Phi + Phi.T))
    kept, vectors = eigenvalues[len(Phi) - rank :], basis[:, len(Phi) - rank :]
    return np.asarray(-vectors @ ((vectors.T @ first) / kept))


def coupled(chain: ClosedChain, p_star: Array, G: Array) -> Array:
    """η of equations between the rates of the joints, G q̇ = 0 (`mechanics.constraints.couplings`), of a chain without
    loops.

    They are momenta along the joints, p = p* + Gᵀ η, so that no η* reaches other bodies; in (6) −Ġᵀ η is added to ṗ*.
    """
    factors, none = prepare(chain), np.zeros(0)
    still = replace(chain, drift=[0 * d for d in chain.drift])
    first = G @ np.concatenate(motion(chain, factors, p_star, none).rates)
    Phi = np.stack([G @ np.concatenate(motion(still, factors, row, none).rates) for row in G], axis=1)
    return -inverse(Phi) @ first


# --- equation (6) -----------------------------------------------------------------------------------------------------


def accumulated(chain: ClosedChain, wrenches: list[Array]) -> list[Array]:
    """Tᵀ F: F*_i = F_i + Σ C_jᵀ F*_j."""
    total: list[Any] = [None] * len(wrenches)
    for i in reversed(range(len(wrenches))):
        total[i] = wrenches[i] + sum((chain.C[j].T @ total[j] for j in chain.children[i]), 0)
    return total


def momentum_rate(chain: ClosedChain, now: Motion, printed: bool = False) -> Array:
    """ṗ*_i = (Ȧ_iᵀ − A_iᵀ Ω_i)(μ_i − η*_i) + A_iᵀ F*_i (6, corrected), and ad_sᵀ(a s) of armature; `printed` leaves out
    η*, as the paper does.
    """
    F = accumulated(chain, chain.F)
    parts = []
    for i, A in enumerate(chain.A):
        mu = now.mu[i] if printed else now.mu[i] - now.eta[i]
        rate = (chain.A_dot[i].T - A.T @ momentum_cross(now.v[i])) @ mu + A.T @ F[i]
        parts.append(rate + chain.armature_rate[i])
    return np.concatenate(parts)


def rebased(chain: ClosedChain, now: Motion) -> Array:
    """p* := Aᵀ μ + a s, with η := 0 from here on: exact at any instant."""
    parts = zip(chain.A, now.mu, chain.armature, now.rates, strict=True)
    return np.concatenate([A.T @ mu + a @ s for A, mu, a, s in parts])
