"""Kinematics and dynamics of trees on arrays: what most users call.

All functions take states ``(…, nq)``, ``(…, nv)`` with leading axes that broadcast, and the time of prescribed motions
`t`. Configurations are in joint order, a free joint as (x, y, z, qw, qx, qy, qz); velocities are joint rates, or twists
(linear, angular) in body axes where the configuration is a group.  SI units, radians.

Poses, twists, inertias and momenta of a mechanism are those of its tree, and may be asked of either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, shown
from liegroup.compile import Entry
from liegroup.modules import listing
from mechanics.algorithms import crba, era, kinematics, rnea
from mechanics.algorithms import energy as energy_kernels
from mechanics.algorithms import momentum as momentum_kernels
from mechanics.closed_trees.packing import PackedLoops
from mechanics.model.tree import Tree
from mechanics.reference import osp, osp_plan, tsp
from mechanics.reference.serial import SERIAL, serial_chain
from mechanics.reference.serial.yaskevich import bias as yaskevich_bias
from mechanics.states import (
    check_solution,
    configuration,
    evaluate,
    external_wrenches,
    of_a_tree,
    of_its_tree,
    velocity,
)

__all__ = [
    "bias",
    "body_jacobians",
    "body_poses",
    "body_twists",
    "centre_of_mass",
    "centroidal_momentum",
    "closed_rates",
    "energy",
    "forward_dynamics",
    "hamiltonian_rhs",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "momentum",
    "potential_energy",
    "power",
    "rates",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
# --- kinematics and dynamics ------------------------------------------------------------------------------------------


@of_its_tree
def body_poses(tree: Tree, q: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
    """Origins and rotations of all bodies.

    Returns
    -------
    positions : array (…, N, 3)
        Body origins in the world, m.
    rotations : array (…, N, 3, 3)
        x_world = rotation·x_body + position.
    """
    values = evaluate(kinematics.body_poses, tree, 12 * len(tree), t, configuration(tree, q))
    values = values.reshape(*values.shape[:-1], len(tree), 12)
    return values[..., :3], values[..., 3:].reshape(*values.shape[:-1], 3, 3)


@of_its_tree
def body_twists(tree: Tree, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
    """Absolute twists of all bodies, V = B v + β.

    Returns
    -------
    array (…, N, 6)
        Velocity of the body origin and angular velocity, body axes.
    """
    values = evaluate(kinematics.body_twists, tree, 6 * len(tree), t, configuration(tree, q), velocity(tree, v))
    return values.reshape(*values.shape[:-1], len(tree), 6)


@of_its_tree
def body_jacobians(tree: Tree, q: ArrayLike, t: float = 0.0) -> Array:
    """The matrices B of the twists of all bodies, V = B v + β: what `body_twists` says of unit velocities.

    Returns
    -------
    array (…, N, 6, nv)
        Rows: velocity of the body origin and angular velocity, body axes.  Bᵀ takes a wrench on the body to generalised
        forces.
    """
    configurations = configuration(tree, q)[..., None, :]
    columns = body_twists(tree, configurations, np.eye(tree.nv), t) - body_twists(
        tree, configurations, np.zeros(tree.nv), t
    )
    return np.moveaxis(columns, -3, -1)


@of_its_tree
def mass_matrix(tree: Tree, q: ArrayLike, t: float = 0.0, algorithm: str = "crba") -> Array:
    """M(q), symmetric: kinetic energy ½ vᵀ M v, momenta p = M v.

    Parameters
    ----------
    q : array (…, nq)
        Configuration.
    t : float
        Time of prescribed motions.
    algorithm : {"crba", "yaskevich", "stepanenko", "kosynka"}
        The composite-rigid-body kernel for every tree (default), or, for comparison, one of the algorithms for serial
        chains of rotary and sliding joints: Yaskevich's recursion (corrected), Stepanenko's passes, the
        block-triangular product; all give the same matrix.

    Returns
    -------
    array (…, nv, nv)

    Raises
    ------
    ValueError
        An unknown algorithm, wrong sizes, numbers that are not finite.
    ModelError
        A branched tree or another kind of joint, for the algorithms for chains.
    """
    known = ("crba", "yaskevich", "stepanenko", "kosynka")
    if algorithm not in known:
        raise ValueError(f"algorithm: {algorithm!r}, expected one of {', '.join(known)}")
    q = configuration(tree, q)
    if algorithm == "crba":
        values = evaluate(crba.mass_matrix, tree, tree.nv**2, t, q)
        return values.reshape(*values.shape[:-1], tree.nv, tree.nv)
    rows = SERIAL[algorithm](serial_chain(tree, *body_poses(tree, q, t)))
    M = np.empty((*q.shape[:-1], tree.nv, tree.nv))
    for j, row in enumerate(rows):
        for i, entry in enumerate(row):
            M[..., i, j] = M[..., j, i] = entry
    return M


@of_its_tree
def momentum(tree: Tree, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
    """p = ∂T/∂v: M v, and with prescribed motions the momentum of their drift besides.

    Returns
    -------
    array (…, nv)
        Generalised momenta; Poisson momenta where the configuration is a group.
    """
    return evaluate(momentum_kernels.momentum, tree, tree.nv, t, configuration(tree, q), velocity(tree, v))


@of_a_tree
def hamiltonian_rhs(
    tree: Tree,
    q: ArrayLike,
    p: ArrayLike,
    wrenches: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    algorithm: str = "ERA",
) -> tuple[Array, Array]:
    """Velocities and rates of the momenta: Hamilton's equations of the tree.

        v = M⁻¹(p − …),     ṗ = (Ȧᵀ − Aᵀ Ω) P* + Q + τ − d v

    Parameters
    ----------
    q, p : array (…, nq), (…, nv)
        Configuration and momenta.
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the bodies, body axes, at the body origins.
    tau : array (…, nv), optional
        Joint forces, N or N·m.
    t : float
        Time of prescribed motions.
    algorithm : {"ERA", "TSP", "OSP"}
        The recursion, in linear time (default); or the projection on the possible motions, or on the reactions: the
        same numbers by other ways, for checks and comparisons.

    Returns
    -------
    v, p_dot : array (…, nv)
        Body velocities (q̇ where the coordinates are plain numbers) and ṗ; gravity and joint damping are included.

    Raises
    ------
    ValueError
        Wrong sizes, numbers that are not finite, quaternions that are not unit; a joint that carries no inertia; for
        OSP a body whose inertia cannot be inverted.

    Notes
    -----
    Ivanov and Shimanovsky, ERA: eq. (18) with the sign of π* corrected, TSP: (11)–(12), OSP: (13)–(16) with the missing
    Aᵀ and Q.
    """
    if not isinstance(algorithm, str) or algorithm not in ("ERA", "TSP", "OSP"):
        raise ValueError(f"algorithm: {shown(algorithm)}, expected 'ERA', 'TSP' or 'OSP'")
    loaded = wrenches is not None or tau is not None
    if algorithm == "ERA" and not loaded:
        return rates(tree, era.era, q, p, t)
    inputs = [configuration(tree, q), velocity(tree, p, "p")]
    if loaded:
        inputs += [velocity(tree, np.zeros(tree.nv) if tau is None else tau, "tau"), external_wrenches(tree, wrenches)]
    if algorithm == "ERA":
        out = evaluate(era.era_loaded, tree, 2 * tree.nv, t, *inputs)
    else:
        kernel, plan = _projection(tree, algorithm)
        out = evaluate(kernel, plan, plan.size, t, *inputs)[..., tree.nq :]
    return _solved(tree, inputs[0], inputs[1], out, t)


def rates(tree: Tree, field: Entry, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
    """`hamiltonian_rhs` by a field (q, p) → (v, ṗ) of the tree: that of `mechanics.algorithms.era`, or one made for
    this tree.
    """
    q, p = configuration(tree, q), velocity(tree, p, "p")
    return _solved(tree, q, p, evaluate(field, tree, 2 * tree.nv, t, q, p), t)


def closed_rates(
    tree: Tree, packed: PackedLoops, field: Entry, q: ArrayLike, p: ArrayLike, t: float = 0.0
) -> tuple[Array, Array]:
    """The same by a field of a tree with closed loops: that of `mechanics.closed_trees.field`, or one made for the
    mechanism.
    """
    q, p = configuration(tree, q), velocity(tree, p, "p")
    out = evaluate(field, packed, 2 * tree.nv, t, q, p)
    if not np.isfinite(out).all():
        raise ValueError(
            f"the rates of mechanism {tree.name!r} are not finite: a joint moves no inertia in this configuration, "
            "or the ends of a "
            "closing distance coincide; avoid the configuration, or give the bodies behind the joint mass"
        )
    return out[..., : tree.nv], out[..., tree.nv :]


def _solved(tree: Tree, q: Array, p: Array, out: Array, t: float) -> tuple[Array, Array]:
    v, p_dot = out[..., : tree.nv], out[..., tree.nv : 2 * tree.nv]
    check_solution(tree, q, v, p, t)
    return v, p_dot


def _projection(tree: Tree, algorithm: str) -> tuple[Entry, osp_plan.Plan]:
    """The kernel of TSP or OSP and the arrays it is called with."""
    if algorithm == "OSP":
        return osp.osp, osp_plan.osp_plan(tree)
    return tsp.tsp, osp_plan.Plan(tree.parameters, tsp.tsp_structure(tree), tree.work_shape, tsp.tsp_size(tree))


@of_a_tree
def inverse_dynamics(
    tree: Tree, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, t: float = 0.0
) -> Array:
    """τ = M a + b: joint forces that produce the accelerations a = v̇ (recursive Newton–Euler).

    Returns
    -------
    array (…, nv)
        Joint forces, besides the damping of the joints.
    """
    inputs = configuration(tree, q), velocity(tree, v), velocity(tree, a, "a"), external_wrenches(tree, wrenches)
    return evaluate(rnea.rnea, tree, tree.nv, t, *inputs)


@of_a_tree
def bias(
    tree: Tree, q: ArrayLike, v: ArrayLike, wrenches: ArrayLike | None = None, t: float = 0.0, algorithm: str = "rnea"
) -> Array:
    """b(q, v) of M v̇ + b = τ: inertial forces of the velocities, gravity, wrenches (with a minus) and joint damping.

    Parameters
    ----------
    algorithm : {"rnea", "yaskevich"}
        Newton and Euler's recursion for every tree (default), or Yaskevich's for serial chains, without wrenches.

    Returns
    -------
    array (…, nv)
    """
    if algorithm == "rnea":
        return inverse_dynamics(tree, q, v, np.zeros(tree.nv), wrenches, t)
    if algorithm != "yaskevich":
        raise ValueError(f"algorithm: {algorithm!r}, expected 'rnea' or 'yaskevich'")
    if wrenches is not None:
        raise ValueError("wrenches: not taken by algorithm='yaskevich'; use 'rnea'")
    q, v = configuration(tree, q), velocity(tree, v)
    chain = serial_chain(tree, *body_poses(tree, q, t))
    b = yaskevich_bias(chain, np.moveaxis(v, -1, 0), tuple(tree.gravity))
    return np.stack(np.broadcast_arrays(*b), axis=-1) + tree.damping * v


@of_a_tree
def forward_dynamics(
    tree: Tree,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
) -> Array:
    """v̇ = M⁻¹(τ − b): accelerations under given joint forces, in linear time.

    Returns
    -------
    array (…, nv)
    """
    force = velocity(tree, np.zeros(tree.nv) if tau is None else tau, "tau") - bias(tree, q, v, wrenches, t)
    q = configuration(tree, q)
    a = evaluate(era.mass_solve, tree, 2 * tree.nv, t, q, force)[..., : tree.nv]
    drift = momentum(tree, q, np.zeros(tree.nv), t) if tree.is_rheonomic else 0.0
    check_solution(tree, q, a, force + drift, t)
    return a


@of_its_tree
def kinetic_energy(tree: Tree, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
    """T = ½ Σ V_iᵀ M_i V_i, J; shape (…)."""
    return evaluate(energy_kernels.energies, tree, 2, t, configuration(tree, q), velocity(tree, v))[..., 0]


@of_a_tree
def potential_energy(tree: Tree, q: ArrayLike, t: float = 0.0) -> Array:
    """−g · Σ m_i x_i, J; shape (…).  Zero at the origin of the world; bodies fixed to the base do not count."""
    return evaluate(energy_kernels.potential_energy, tree, 4, t, configuration(tree, q))[..., 0]


@of_a_tree
def energy(tree: Tree, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
    """Kinetic and potential energy together, J; shape (…)."""
    return np.asarray(
        evaluate(energy_kernels.energies, tree, 2, t, configuration(tree, q), velocity(tree, v)).sum(axis=-1)
    )


@of_its_tree
def centre_of_mass(tree: Tree, q: ArrayLike, t: float = 0.0) -> Array:
    """Centre of mass of the moving bodies in the world, m; shape (…, 3)."""
    return evaluate(energy_kernels.potential_energy, tree, 4, t, configuration(tree, q))[..., 1:]


@of_a_tree
def power(
    tree: Tree,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
) -> Array:
    """Power of the joint forces, the damping and the wrenches, τᵀv − d vᵀv + Σ F_iᵀ V_i, W; shape (…).

    Gravity is left to the potential energy: without prescribed motions, d(energy)/dt = power.
    """
    of_kind(tree, Tree, "tree", "a Tree")
    q, v, t = configuration(tree, q), velocity(tree, v), real(t, "t")
    force = velocity(tree, np.zeros(tree.nv) if tau is None else tau, "tau") - tree.damping * v
    external = external_wrenches(tree, wrenches)
    total = (force * v).sum(axis=-1)
    if external.any():
        twists = body_twists(tree, q, v, t)
        total = total + (external * twists.reshape(*twists.shape[:-2], 6 * len(tree))).sum(axis=-1)
    return np.asarray(total)


@of_its_tree
def centroidal_momentum(tree: Tree, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
    """Linear momentum (3) and angular momentum about the centre of mass (3), world axes; shape (…, 6)."""
    return evaluate(energy_kernels.total_momentum, tree, 6, t, configuration(tree, q), velocity(tree, v))
