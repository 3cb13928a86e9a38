"""Derivatives of the dynamics of trees, exact: composite bodies, and articulated ones where ways are long."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics import dynamics
from mechanics.algorithms.derivatives.canonical import chain_era_derivatives, chain_era_derivatives_loaded, has_way
from mechanics.algorithms.derivatives.chains import chain_derivatives, chain_derivatives_loaded
from mechanics.algorithms.derivatives.columns import work_shape
from mechanics.algorithms.derivatives.forward import forward_derivatives, forward_derivatives_loaded
from mechanics.algorithms.derivatives.hamiltonian import era_derivatives, era_derivatives_loaded
from mechanics.algorithms.derivatives.inverse import inverse_derivatives, inverse_derivatives_loaded
from mechanics.algorithms.derivatives.solve import work_of_solve
from mechanics.algorithms.derivatives.sweeps import work_of_sweeps
from mechanics.evaluation import StateFunction, written
from mechanics.model.tree import Tree
from mechanics.model.workspace import Workspace
from mechanics.states import check_solution, tree_of

Array = NDArray[np.float64]


def inverse_dynamics_derivatives(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: tuple[Array, Array, Array] | None = None,
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
    out : tuple of arrays, optional
        Where to write the results: float64, of their shapes and in their units.

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
    field = _INVERSE if wrenches is None else _INVERSE_LOADED
    return written(out, _blocks(field(tree, t, q, v, a, wrenches)))


def forward_dynamics_derivatives(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: tuple[Array, Array, Array] | None = None,
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
    out : tuple of arrays, optional
        Where to write the results: float64, of their shapes and in their units.

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
    Where ways to the base are long (nine velocities in the mean), all columns go through the eliminations of
    articulated bodies instead, O(n²).

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
    field = _FORWARD[tree_of(tree, "forward_dynamics_derivatives").has_long_ways, wrenches is not None]
    found = _blocks(field(tree, t, q, v, tau, wrenches))
    _check_inverse(tree_of(tree), q, found[2], t)
    return written(out, found)


def hamiltonian_rhs_derivatives(
    tree: Tree | Workspace,
    q: ArrayLike,
    p: ArrayLike,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: Array | None = None,
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
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

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
    The derivative of ERA by composite bodies, in O(n · depth) and the products with M⁻¹.  Where ways to the base are
    long (four velocities in the mean), all columns go through the eliminations of articulated bodies instead, O(n²).

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
    field = _RHS[has_way(tree_of(tree, "hamiltonian_rhs_derivatives").structure), wrenches is not None]
    matrix = field(tree, t, q, p, None, wrenches, out)
    n = matrix.shape[-1] // 2
    _check_inverse(tree_of(tree), q, matrix[..., :n, n:], t)
    return matrix


def _work_shape(tree: Tree) -> tuple[int, int]:
    return work_shape(tree.structure)


def _square(tree: Tree) -> tuple[int, ...]:
    return 2 * tree.nv, 2 * tree.nv


def _three(tree: Tree) -> tuple[int, ...]:
    return tree.nv, 3, tree.nv


def _work_of_solve(tree: Tree) -> tuple[int, int]:
    return work_of_solve(tree.structure)


def _work_of_sweeps(tree: Tree) -> tuple[int, int]:
    return work_of_sweeps(tree.structure)


def _with_accelerations(tree: Tree) -> int:
    return 3 * tree.nv**2 + tree.nv


_INVERSE, _INVERSE_LOADED = (
    StateFunction(
        kernel,
        ("v", "a"),
        loaded,
        _three,
        work_shape=_work_shape,
        sparse=True,
        trees_only="inverse_dynamics_derivatives",
    )
    for kernel, loaded in ((inverse_derivatives, False), (inverse_derivatives_loaded, True))
)
_FORWARD = {
    (is_long, loaded): StateFunction(
        kernel,
        ("v", "(tau)"),
        loaded,
        _three,
        _with_accelerations,
        work_shape=_work_of_sweeps if is_long else _work_of_solve,
        trees_only="forward_dynamics_derivatives",
    )
    for kernel, is_long, loaded in (
        (forward_derivatives, False, False),
        (forward_derivatives_loaded, False, True),
        (chain_derivatives, True, False),
        (chain_derivatives_loaded, True, True),
    )
}
_RHS = {
    (is_long, loaded): StateFunction(
        kernel,
        ("p", "(tau)") if loaded else ("p",),
        loaded,
        _square,
        work_shape=_work_of_sweeps if is_long else _work_shape,
        trees_only="hamiltonian_rhs_derivatives",
    )
    for kernel, is_long, loaded in (
        (era_derivatives, False, False),
        (era_derivatives_loaded, False, True),
        (chain_era_derivatives, True, False),
        (chain_era_derivatives_loaded, True, True),
    )
}


def _blocks(values: Array) -> tuple[Array, Array, Array]:
    """Three matrices (…, nv, nv) that stand side by side."""
    return values[..., 0, :], values[..., 1, :], values[..., 2, :]


def _check_inverse(tree: Tree, q: ArrayLike, inverse: Array, t: float) -> None:
    """M M⁻¹ e = e for the vector e of ones, else name the joint."""
    if tree.is_doubtful or not math.isfinite(np.vdot(inverse, inverse)):
        drift = dynamics.momentum(tree, q, np.zeros(tree.nv), t) if tree.is_rheonomic else np.zeros(tree.nv)
        check_solution(tree, q, inverse.sum(axis=-1), 1.0 + drift, t)
