"""Derivatives of the dynamics of trees, exact, in O(n · depth): composite bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.compile import Entry
from mechanics import dynamics
from mechanics.algorithms.derivatives.columns import work_shape
from mechanics.algorithms.derivatives.forward import forward_derivatives
from mechanics.algorithms.derivatives.hamiltonian import era_derivatives, era_derivatives_loaded
from mechanics.algorithms.derivatives.inverse import inverse_derivatives
from mechanics.model.tree import Tree
from mechanics.states import check_solution, configuration, evaluate, external_wrenches, of_a_tree, velocity

Array = NDArray[np.float64]


@of_a_tree
def inverse_dynamics_derivatives(
    tree: Tree, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, t: float = 0.0
) -> tuple[Array, Array, Array]:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + b(q, v), which `mechanics.inverse_dynamics` computes.

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    a : array (…, nv)
        Accelerations v̇, rad/s² and m/s².
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the bodies, N and N·m, body axes, at the body origins: they turn with their
        bodies.
    t : float
        Time, s: it matters with prescribed motions only.

    Returns
    -------
    tau_q, tau_v, tau_a : array (…, nv, nv)
        Row i is joint force i.  Column k of `tau_q` is the derivative along q·exp(ε e_k): where the configuration is a
        group, by an increment from the right, in body axes (any other map with the same tangent gives the same).
        Joint damping is on the diagonal of `tau_v`.

    Raises
    ------
    ValueError
        Wrong sizes, numbers that are not finite, quaternions that are not unit.

    Notes
    -----
    Composite bodies, O(n · depth), for every kind of joint; exact but for rounding.  The problem is that of Pogorelov
    (2007), sections 1 and 2; the sums over subtrees replace his sums over bodies.

    Examples
    --------
    >>> import numpy as np, mechanics
    >>> tree = mechanics.load_model("double_pendulum")
    >>> tau_q, tau_v, tau_a = mechanics.inverse_dynamics_derivatives(tree, [0.3, -0.2], [1.0, 0.5], [0.0, 0.0])
    >>> bool(np.allclose(tau_a, mechanics.mass_matrix(tree, [0.3, -0.2])))
    True
    """
    inputs = configuration(tree, q), velocity(tree, v), velocity(tree, a, "a"), external_wrenches(tree, wrenches)
    return _blocks(inverse_derivatives, tree, 3 * tree.nv**2, t, *inputs)


@of_a_tree
def forward_dynamics_derivatives(
    tree: Tree,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
) -> tuple[Array, Array, Array]:
    """∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹ of v̇ = M⁻¹(τ − b(q, v)), which `mechanics.forward_dynamics` computes.

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    tau : array (…, nv), optional
        Joint forces, N·m and N; default none.
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the bodies, N and N·m, body axes, at the body origins: they turn with their
        bodies.
    t : float
        Time, s: it matters with prescribed motions only.

    Returns
    -------
    a_q, a_v, a_tau : array (…, nv, nv)
        Row i is acceleration i; columns as in `inverse_dynamics_derivatives`.

    Raises
    ------
    ValueError
        As there, and a joint that moves no inertia.

    Notes
    -----
    ∂v̇/∂q = −M⁻¹ ∂τ/∂q and ∂v̇/∂v = −M⁻¹ ∂τ/∂v at the accelerations that belong to τ, with M = LᵀDL without fill-in.

    References
    ----------
    Pogorelov (2007), sections 1 and 2, for the derivatives of τ.

    Examples
    --------
    >>> import numpy as np, mechanics
    >>> tree = mechanics.load_model("double_pendulum")
    >>> a_q, a_v, a_tau = mechanics.forward_dynamics_derivatives(tree, [0.3, -0.2], [1.0, 0.5])
    >>> bool(np.allclose(a_tau @ mechanics.mass_matrix(tree, [0.3, -0.2]), np.eye(2)))
    True
    """
    force = velocity(tree, np.zeros(tree.nv) if tau is None else tau, "tau")
    q = configuration(tree, q)
    n = tree.nv**2
    found = _blocks(
        forward_derivatives, tree, 3 * n + tree.nv, t, q, velocity(tree, v), force, external_wrenches(tree, wrenches)
    )
    _check_inverse(tree, q, found[2], t)
    return found


@of_a_tree
def hamiltonian_rhs_derivatives(
    tree: Tree, q: ArrayLike, p: ArrayLike, wrenches: ArrayLike | None = None, t: float = 0.0
) -> Array:
    """The derivative of (v, ṗ) by (q, p), of Hamilton's equations of a tree (`mechanics.hamiltonian_rhs`).

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    p : array (…, nv)
        Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the bodies, N and N·m, body axes, at the body origins: they turn with their
        bodies. Joint forces τ do not change the derivative.
    t : float
        Time, s: it matters with prescribed motions only.

    Returns
    -------
    array (…, 2 nv, 2 nv)
        Rows v, then ṗ; columns q (increments q·exp(ε e_k) from the right), then p.  Without groups, damping and
        wrenches it is a Hamiltonian matrix, J⁻¹ times a symmetric one.

    Raises
    ------
    ValueError
        Wrong sizes, numbers that are not finite, quaternions that are not unit; a joint that moves no inertia.

    Notes
    -----
    The derivative of ERA by composite bodies, in O(n · depth) and the products with M⁻¹.

    References
    ----------
    Ivanov and Shimanovsky, eq. (18), differentiated; sums over subtrees in the place of those of Pogorelov (2007),
    sections 1 and 2.

    Examples
    --------
    >>> import numpy as np, mechanics
    >>> tree = mechanics.load_model("double_pendulum")
    >>> D = mechanics.hamiltonian_rhs_derivatives(tree, [0.3, -0.2], [1.0, 0.5])
    >>> bool(np.allclose(D[:2, 2:] @ mechanics.mass_matrix(tree, [0.3, -0.2]), np.eye(2)))
    True
    """
    q, n = configuration(tree, q), 2 * tree.nv
    inputs = [q, velocity(tree, p, "p")]
    kernel = era_derivatives
    if wrenches is not None:
        kernel, inputs = era_derivatives_loaded, [*inputs, np.zeros(tree.nv), external_wrenches(tree, wrenches)]
    out = _evaluate(kernel, tree, n * n, t, *inputs)
    matrix = out.reshape(*out.shape[:-1], n, n)
    _check_inverse(tree, q, matrix[..., : tree.nv, tree.nv :], t)
    return matrix


def _evaluate(kernel: Entry, tree: Tree, size: int, t: float, *inputs: Array) -> Array:
    return evaluate(kernel, tree, size, t, *inputs, work_shape=work_shape(tree.structure))


def _blocks(kernel: Entry, tree: Tree, size: int, t: float, *inputs: Array) -> tuple[Array, Array, Array]:
    """Three matrices (…, nv, nv) side by side, at the beginning of what a kernel gives."""
    n, out = tree.nv, _evaluate(kernel, tree, size, t, *inputs)
    blocks = out[..., : 3 * n * n].reshape(*out.shape[:-1], n, 3, n)
    return blocks[..., 0, :], blocks[..., 1, :], blocks[..., 2, :]


def _check_inverse(tree: Tree, q: Array, inverse: Array, t: float) -> None:
    """M M⁻¹ e = e for the vector e of ones, else name the joint."""
    drift = dynamics.momentum(tree, q, np.zeros(tree.nv), t) if tree.is_rheonomic else np.zeros(tree.nv)
    check_solution(tree, q, inverse.sum(axis=-1), 1.0 + drift, t)
