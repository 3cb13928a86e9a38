"""The three Jacobians of a stiff problem: exact, of the stiff elements alone, and block-diagonal.

An implicit method solves R(q) = τ(q, q̇, q̈) − Q(q, q̇) = 0 with q̇ = β q + …, q̈ = β q̇ + …, β about 1/h
(trapezoid and midpoint 2/h, BDF2 3/(2h), Park 5/(3h)), by Newton's iteration with one of

    exact            J = β² M + β(∂τ/∂v − ∂Q/∂v) + ∂τ/∂q − ∂Q/∂q
    approximate      J̃ = β² M + Σ Bᵀ(K + β D)B                       (elements only)
    block-diagonal   Ĵ = β² M + Σ Σ_bodies B_jᵀ(K_jj + β D_jj)B_j     (elements seen from one body at a time)

K and D are the symmetric parts of a block of twelve of an element (`mechanics.derivatives.elements`), from which what
is not positive is left out.  Ĵ has the profile of the mass matrix, so that it is factorised in O(n · depth²) whatever
the elements join.

For an element between two bodies 0 ≤ K ≤ 2 K̂ (with Σ = diag(E, −E) is K + ΣKΣ = 2K̂), hence the eigenvalues of Ĵ⁻¹J̃
are in (0, 2): the iteration with Ĵ contracts, and conjugate gradients with Ĵ before J̃ need few steps.  That it
contracts fast is not said: two light bodies on a spring that is stiff against β² m move as one, and of that Ĵ knows
nothing.  Problem and the three Jacobians: Pogorelov (2007), whose proofs are not at hand; these are own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import positive
from mechanics.derivatives.elements import HasElements, Stand, one_state, stand, summed
from mechanics.derivatives.trees import inverse_dynamics_derivatives
from mechanics.states import velocity

Array = NDArray[np.float64]


class StiffJacobians(NamedTuple):
    """Three approximations of ∂R/∂q, (n_v, n_v) each; by increments from the right.

    Attributes
    ----------
    exact, approximate, block_diagonal : array (nv, nv)
        J = β² M + β(∂τ/∂v − ∂Q/∂v) + ∂τ/∂q − ∂Q/∂q; J̃ = β² M + Σ Bᵀ(K + β D)B, symmetric and positive definite; Ĵ, the
        same seen from one body at a time, with the profile of the mass matrix.

    Examples
    --------
    See `stiff_jacobians`.
    """

    exact: Array
    approximate: Array
    block_diagonal: Array


def stiff_jacobians(
    mechanism: HasElements, q: ArrayLike, v: ArrayLike, a: ArrayLike, beta: float, t: float = 0.0
) -> StiffJacobians:
    """The Jacobians of τ(q, v, a) − Q(q, v) with ∂v/∂q = β, ∂a/∂q = β²; closures are left out.

    Parameters
    ----------
    mechanism : Mechanism
        With its force elements.
    q : array (nq,)
        Configuration, rad and m.
    v : array (nv,)
        Velocities, rad/s and m/s.
    a : array (nv,)
        Accelerations, rad/s² and m/s².
    beta : float
        β > 0 of the method, 1/s.
    t : float
        Time, s, of prescribed motions and drives.

    Returns
    -------
    StiffJacobians
        Exact, approximate, block-diagonal.

    Raises
    ------
    TypeError, ValueError
        As from `generalised_forces`; β that is not positive.

    References
    ----------
    Problem and the three Jacobians: Pogorelov 2007, whose proofs are not at hand; those here are own.

    Examples
    --------
    >>> from mechanics import Body, Inertia, Mechanism, Tree, forces, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob, joint_name="hinge")], gravity=(0, 0, 0))
    >>> made = Mechanism(tree, elements=[forces.joint_spring("hinge", stiffness=10.0)])
    >>> [J.round(9).tolist() for J in stiff_jacobians(made, [0.0], [0.0], [0.0], 100.0)]
    [[[5010.0]], [[5010.0]], [[5010.0]]]
    """
    beta = positive(beta, "beta")
    q, v = one_state(mechanism, q, v)
    a = velocity(mechanism.tree, a, "a")
    tau_q, tau_v, M = inverse_dynamics_derivatives(mechanism.tree, q, v, a, t=t)
    at = stand(mechanism, q, v, t)
    Q = summed(at)
    exact = beta * beta * M + beta * (tau_v - Q.by_velocity) + tau_q - Q.by_configuration
    full, blocks = element_stiffness(at, beta)
    return StiffJacobians(exact, beta * beta * M + full, beta * beta * M + blocks)


def element_stiffness(at: Stand, beta: float) -> tuple[Array, Array]:
    """Σ Bᵀ(K + βD)B, and the same seen from one body at a time."""
    n = len(at.joints)
    full, blocks = np.zeros((n, n)), np.zeros((n, n))
    for block in at.blocks:
        B = at.columns[list(block.links), 0].reshape(12, n)
        S = positive_part(block.by_pose) + beta * positive_part(block.by_twist)
        full += B.T @ S @ B
        for half in (slice(0, 6), slice(6, 12)):
            blocks += B[half].T @ S[half, half] @ B[half]
    for spring in at.springs:
        x = max(-spring.by_coordinate, 0.0) + beta * max(-spring.by_rate, 0.0)
        full += x * np.outer(spring.along, spring.along)
        blocks += x * np.diag(spring.along**2)
    return full, blocks


def positive_part(by: Array) -> Array:
    """The symmetric part of minus a derivative of forces, without its negative eigenvalues."""
    values, vectors = np.linalg.eigh(-0.5 * (by + by.T))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def conjugate_gradients(
    A: Array, solve: Callable[[Array], Array], b: Array, tolerance: float = 1e-10, most: int = 1000
) -> tuple[Array, int]:
    """x with A x = b for a symmetric positive definite matrix, and the number of steps; `solve` applies the inverse of
    the preconditioner.  Ends where |r| is below `tolerance` |b|.

    Raises
    ------
    ArithmeticError
        Not reached within `most` steps.
    """
    x, r = np.zeros_like(b), np.array(b, dtype=np.float64)
    z = solve(r)
    d, rz = z, r @ z
    for k in range(most):
        if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
            return x, k
        Ad = A @ d
        step = rz / (d @ Ad)
        x, r = x + step * d, r - step * Ad
        z = solve(r)
        rz, before = r @ z, rz
        d = z + rz / before * d
    raise ArithmeticError(
        f"conjugate gradients: |r| is {np.linalg.norm(r):.3g} after {most} steps, |b| {np.linalg.norm(b):.3g}"
    )
