"""Kinematics and dynamics of trees on arrays: what most users call.

All functions take states ``(…, nq)``, ``(…, nv)`` with leading axes that broadcast, and the time of prescribed motions
`t`. Configurations are in joint order, a free joint as (x, y, z, qw, qx, qy, qz); velocities are joint rates, or twists
(linear, angular) in body axes where the configuration is a group.  SI units, radians.

Poses, twists, inertias and momenta of a mechanism are those of its tree, and may be asked of either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, shown
from liegroup.compile import Entry
from liegroup.modules import listing
from mechanics.algorithms import crba, era, forward, kinematics, rnea
from mechanics.algorithms import energy as energy_kernels
from mechanics.algorithms import momentum as momentum_kernels
from mechanics.closed_trees.packing import PackedLoops
from mechanics.evaluation import StateFunction, packed_arrays, written
from mechanics.model.tree import Tree
from mechanics.model.workspace import Workspace
from mechanics.reference import osp, osp_plan, tsp
from mechanics.reference.serial import SERIAL, serial_chain
from mechanics.reference.serial.yaskevich import bias as yaskevich_bias
from mechanics.states import (
    HasTree,
    check_solution,
    configuration,
    evaluate,
    external_wrenches,
    tree_of,
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


# --- kernels, and what they say ---------------------------------------------------------------------------------------


def _bodies(*shape: int) -> Callable[[Tree], tuple[int, ...]]:
    return lambda tree: (len(tree), *shape)


def _numbers(*shape: int) -> Callable[[Tree], tuple[int, ...]]:
    return lambda tree: shape


def _twice(tree: Tree) -> tuple[int, ...]:
    return (2 * tree.nv,)


_POSES = StateFunction(kinematics.body_poses, shape=_bodies(12))
_TWISTS = StateFunction(kinematics.body_twists, ("v",), shape=_bodies(6))
_JACOBIANS = StateFunction(kinematics.body_jacobians, shape=lambda tree: (len(tree), 6, tree.nv))
_MASS_MATRIX = StateFunction(crba.mass_matrix, shape=lambda tree: (tree.nv, tree.nv))
_MOMENTUM = StateFunction(momentum_kernels.momentum, ("v",))
_ERA = StateFunction(era.era, ("p",), shape=_twice, trees_only="hamiltonian_rhs")
_ERA_LOADED = StateFunction(era.era_loaded, ("p", "(tau)"), True, _twice, trees_only="hamiltonian_rhs")
_RNEA = StateFunction(rnea.rnea, ("v", "a"), True, trees_only="inverse_dynamics")
_BIAS = StateFunction(rnea.rnea, ("v", "(a)"), True, trees_only="bias")
_FORWARD = StateFunction(
    forward.forward_loaded, ("v", "(tau)"), True, size=lambda tree: 2 * tree.nv,
    work_shape=forward.work_shape, trees_only="forward_dynamics",
)  # fmt: skip
_KINETIC_ENERGY = StateFunction(energy_kernels.energies, ("v",), shape=_numbers(), size=lambda tree: 2)
_POTENTIAL_ENERGY = StateFunction(
    energy_kernels.potential_energy, shape=_numbers(), size=lambda tree: 4, trees_only="potential_energy"
)
_CENTRE_OF_MASS = StateFunction(energy_kernels.potential_energy, shape=_numbers(3), size=lambda tree: 4, start=1)
_ENERGY = StateFunction(forward.energy, ("v",), shape=_numbers(), trees_only="energy")
_POWER = StateFunction(energy_kernels.power, ("v", "(tau)"), True, _numbers(), trees_only="power")
_CENTROIDAL_MOMENTUM = StateFunction(energy_kernels.total_momentum, ("v",), shape=_numbers(6))
_PROJECTIONS: dict[str, Callable[[Tree], tuple[Entry, osp_plan.Plan]]] = {
    "TSP": lambda tree: (
        tsp.tsp, osp_plan.Plan(tree.parameters, tsp.tsp_structure(tree), tree.work_shape, tsp.tsp_size(tree))
    ),
    "OSP": lambda tree: (osp.osp, osp_plan.osp_plan(tree)),
}  # fmt: skip


@lru_cache(maxsize=256)
def _rates_by(field: Entry, packed: PackedLoops | None = None) -> StateFunction:
    arrays = packed_arrays if packed is None else lambda tree: packed
    return StateFunction(field, ("p",), shape=_twice, arrays=arrays)


# --- kinematics and dynamics ------------------------------------------------------------------------------------------


def body_poses(
    tree: Tree | HasTree, q: ArrayLike, t: float = 0.0, *, out: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Origins and rotations of all bodies: x_world = R x_body + r.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    out : tuple of arrays, optional
        Where to write the results: float64, of their shapes and in their units.

    Returns
    -------
    positions : array (…, N, 3)
        Body origins in the world, m.
    rotations : array (…, N, 3, 3)
        x_world = rotation·x_body + position.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> positions, rotations = mechanics.body_poses(tree, [0.0])
    >>> positions.shape, rotations.shape
    ((1, 3), (1, 3, 3))
    """
    values = _POSES(tree, t, q)
    return written(out, (values[..., :3], values[..., 3:].reshape(*values.shape[:-1], 3, 3)))


def body_twists(tree: Tree | HasTree, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """Absolute twists of all bodies, V = B v + β.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, N, 6)
        Velocity of the body origin, m/s, and angular velocity, rad/s, in body axes; β is what prescribed motions add.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.body_twists(tree, [0.3], [2.0]).tolist()
    [[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]]
    """
    return _TWISTS(tree, t, q, v, out=out)


def body_jacobians(tree: Tree | HasTree, q: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """The matrices B of the twists of all bodies, V = B v + β: what `body_twists` says of unit velocities.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, N, 6, nv)
        Rows: velocity of the body origin and angular velocity, body axes.  Bᵀ takes a wrench on the body to generalised
        forces.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> (mechanics.body_jacobians(tree, [0.3])[0, :, 0] + 0.0).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    return _JACOBIANS(tree, t, q, out=out)


def mass_matrix(
    tree: Tree | HasTree, q: ArrayLike, t: float = 0.0, algorithm: str = "crba", *, out: Array | None = None
) -> Array:
    """M(q), symmetric: kinetic energy ½ vᵀ M v, momenta p = M v.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    algorithm : {"crba", "yaskevich", "stepanenko", "kosynka"}
        The composite-rigid-body kernel for every tree (default), or, for comparison, one of the algorithms for serial
        chains of rotary and sliding joints: Yaskevich's recursion (corrected), Stepanenko's passes, the
        block-triangular product; all give the same matrix.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv, nv)
        kg·m², kg·m and kg; positive definite unless a joint moves no inertia.

    Raises
    ------
    ValueError
        An unknown algorithm, wrong sizes, numbers that are not finite.
    ModelError
        A branched tree or another kind of joint, for the algorithms for chains.

    Notes
    -----
    Composite bodies: M_ij = A_iᵀ X M^c_j A_j, j behind i, where M^c_j is the inertia of all that joint j carries and X
    takes its wrench to joint i.

    References
    ----------
    Featherstone 2008, composite-rigid-body algorithm; Yaskevich, eqs. (12)–(16) and (20), with (14b) corrected.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.mass_matrix(tree, [0.3]).tolist()
    [[0.5]]
    """
    if algorithm == "crba":
        return _MASS_MATRIX(tree, t, q, out=out)
    known = ("crba", "yaskevich", "stepanenko", "kosynka")
    if algorithm not in known:
        raise ValueError(f"algorithm: {algorithm!r}, expected one of {', '.join(known)}")
    tree = tree_of(tree)
    q = configuration(tree, q)
    rows = SERIAL[algorithm](serial_chain(tree, *body_poses(tree, q, t)))
    M = np.empty((*q.shape[:-1], tree.nv, tree.nv))
    for j, row in enumerate(rows):
        for i, entry in enumerate(row):
            M[..., i, j] = M[..., j, i] = entry
    return written(out, M + np.diag(tree.armature))


def momentum(tree: Tree | HasTree, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """p = ∂T/∂v: M v, and with prescribed motions the momentum of their drift besides.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv)
        Generalised momenta, kg·m²/s and kg·m/s; Poisson momenta where the configuration is a group.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.momentum(tree, [0.3], [2.0]).tolist()
    [1.0]
    """
    return _MOMENTUM(tree, t, q, v, out=out)


def hamiltonian_rhs(
    tree: Tree | Workspace,
    q: ArrayLike,
    p: ArrayLike,
    wrenches: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    algorithm: str = "ERA",
    *,
    out: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Velocities and rates of the momenta: Hamilton's equations of the tree.

        v = M⁻¹(p − …),     ṗ = (Ȧᵀ − Aᵀ Ω) P* + Q + τ − d v

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    p : array (…, nv)
        Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; default none.
    tau : array (…, nv), optional
        Joint forces, N·m and N; default none.
    t : float
        Time, s: it matters with prescribed motions only.
    algorithm : {"ERA", "TSP", "OSP"}
        The recursion, in linear time (default); or the projection on the possible motions, or on the reactions: the
        same numbers by other ways, for checks and comparisons.
    out : tuple of arrays, optional
        Where to write the results: float64, of their shapes and in their units.

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
    P*_i is the momentum of all that joint i carries, A_i the basis of its twists, V_i = C_i V_k + A_i v_i + Vᴶ_i, Ω_i
    the momentum cross operator of V_i, Q gravity and wrenches along the joints, d their damping.

    References
    ----------
    Ivanov and Shimanovsky: ERA is eq. (18) with the sign of π* corrected, TSP (11)–(12), OSP (13)–(16) with the missing
    Aᵀ and Q.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> v, p_dot = mechanics.hamiltonian_rhs(tree, [0.3], [1.0])
    >>> v.tolist(), p_dot.round(6).tolist()
    ([2.0], [-2.899053])
    """
    if isinstance(algorithm, str) and algorithm == "ERA":
        if wrenches is None and tau is None:
            return _solved(tree, q, p, _ERA(tree, t, q, p), t, out)
        return _solved(tree, q, p, _ERA_LOADED(tree, t, q, p, tau, wrenches), t, out)
    if not isinstance(algorithm, str) or algorithm not in _PROJECTIONS:
        raise ValueError(f"algorithm: {shown(algorithm)}, expected 'ERA', 'TSP' or 'OSP'")
    tree = tree_of(tree, "hamiltonian_rhs")
    kernel, plan = _PROJECTIONS[algorithm](tree)
    inputs = [configuration(tree, q), velocity(tree, p, "p")]
    if wrenches is not None or tau is not None:
        inputs += [velocity(tree, np.zeros(tree.nv) if tau is None else tau, "tau"), external_wrenches(tree, wrenches)]
    return _solved(tree, q, p, evaluate(kernel, plan, plan.size, t, *inputs)[..., tree.nq :], t, out)


def rates(tree: Tree, field: Entry, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
    """`hamiltonian_rhs` by a field (q, p) → (v, ṗ) of the tree: that of `mechanics.algorithms.era`, or one made for
    this tree.

    Parameters
    ----------
    tree : Tree
        The model.
    field : Entry
        Kernel of the field, with `integrators.signatures.FIELD_SIGNATURES`.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    p : array (…, nv)
        Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
    t : float
        Time, s: it matters with prescribed motions only.

    Returns
    -------
    v, p_dot : array (…, nv)
        As from `hamiltonian_rhs`.

    Raises
    ------
    ValueError
        As from `hamiltonian_rhs`.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> from mechanics.algorithms.era import era
    >>> from mechanics.dynamics import rates
    >>> rates(tree, era, [0.3], [1.0])[0].tolist()
    [2.0]
    """
    of_kind(field, Entry, "field", "a kernel of a field (liegroup.compile.entry)")
    return _solved(tree, q, p, _rates_by(field)(tree, t, q, p), t)


def closed_rates(
    tree: Tree, packed: PackedLoops, field: Entry, q: ArrayLike, p: ArrayLike, t: float = 0.0
) -> tuple[Array, Array]:
    """Velocities that keep the loops closed, and ṗ*, by a field of a tree with closed loops: that of
    `mechanics.closed_trees.field`, or one made for the mechanism.

    Parameters
    ----------
    tree : Tree
        The tree of the mechanism.
    packed : PackedLoops
        Its arrays, `Mechanism.packed`.
    field : Entry
        Kernel of the field.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    p : array (…, nv)
        Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
    t : float
        Time, s: it matters with prescribed motions only.

    Returns
    -------
    v, p_dot : array (…, nv)
        As from `Mechanism.rhs`.

    Raises
    ------
    ValueError
        As from `hamiltonian_rhs`; rates that are not finite: a joint moves no inertia, or the ends of a closing
        distance coincide.

    Examples
    --------
    What `Mechanism` calls in its method `rhs`.
    """
    of_kind(field, Entry, "field", "a kernel of a field (liegroup.compile.entry)")
    values = _rates_by(field, packed)(tree, t, q, p)
    if not math.isfinite(np.vdot(values, values)) and not np.isfinite(values).all():
        raise ValueError(
            f"the rates of mechanism {tree.name!r} are not finite: a joint moves no inertia in this configuration, "
            "or the ends of a "
            "closing distance coincide; avoid the configuration, or give the bodies behind the joint mass"
        )
    return values[..., : tree.nv], values[..., tree.nv :]


def _solved(
    tree: Tree | HasTree, q: ArrayLike, p: ArrayLike, values: Array, t: float, out: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    n = tree.nv if isinstance(tree, Tree) else tree.tree.nv
    v, p_dot = values[..., :n], values[..., n : 2 * n]
    check_solution(tree_of(tree), q, v, p, t)
    return written(out, (v, p_dot))


def inverse_dynamics(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: Array | None = None,
) -> Array:
    """τ = M a + b: joint forces that produce the accelerations a = v̇ (recursive Newton–Euler).

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
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; default none.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv)
        Joint forces, N·m and N, besides the damping of the joints, which counts in b.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    References
    ----------
    Luh, Walker, Paul 1980; in spatial vectors Featherstone 2008.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.inverse_dynamics(tree, [0.3], [0.0], [1.0]).round(6).tolist()
    [3.399053]
    """
    return _RNEA(tree, t, q, v, a, wrenches, out)


def bias(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    algorithm: str = "rnea",
    *,
    out: Array | None = None,
) -> Array:
    """b(q, v) of M v̇ + b = τ: inertial forces of the velocities, gravity, wrenches (with a minus) and joint damping.

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    wrenches : array (…, N, 6), optional
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; default none.
    t : float
        Time, s: it matters with prescribed motions only.
    algorithm : {"rnea", "yaskevich"}
        Newton and Euler's recursion for every tree (default), or Yaskevich's for serial chains, without wrenches.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv)
        N·m and N.

    Raises
    ------
    ValueError
        Another algorithm; wrenches for Yaskevich's; wrong shapes, numbers that are not finite.

    References
    ----------
    Luh, Walker, Paul 1980; Yaskevich, eqs. (17)–(21).

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.bias(tree, [0.3], [2.0]).round(6).tolist()
    [2.899053]
    """
    if algorithm == "rnea":
        return _BIAS(tree, t, q, v, None, wrenches, out)
    if algorithm != "yaskevich":
        raise ValueError(f"algorithm: {algorithm!r}, expected 'rnea' or 'yaskevich'")
    if wrenches is not None:
        raise ValueError("wrenches: not taken by algorithm='yaskevich'; use 'rnea'")
    tree = tree_of(tree, "bias")
    q, v = configuration(tree, q), velocity(tree, v)
    chain = serial_chain(tree, *body_poses(tree, q, t))
    b = yaskevich_bias(chain, np.moveaxis(v, -1, 0), tuple(tree.gravity))
    return written(out, np.stack(np.broadcast_arrays(*b), axis=-1) + tree.damping * v)


def forward_dynamics(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: Array | None = None,
) -> Array:
    """v̇ = M⁻¹(τ − b): accelerations under given joint forces, in linear time.

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
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; default none.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, nv)
        Accelerations v̇, rad/s² and m/s².

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm; a joint that carries no
        inertia.

    Notes
    -----
    b is that of `bias`; M⁻¹ is applied by the elimination of joint after joint, as in `hamiltonian_rhs`.

    References
    ----------
    Featherstone 2008, articulated-body algorithm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.forward_dynamics(tree, [0.3], [0.0]).round(6).tolist()
    [-5.798106]
    """
    a = _FORWARD(tree, t, q, v, tau, wrenches, out)
    tree = tree_of(tree)
    if tree.is_doubtful or not math.isfinite(np.vdot(a, a)):
        force = (0.0 if tau is None else np.asarray(tau)) - bias(tree, q, v, wrenches, t)
        drift = momentum(tree, q, np.zeros(tree.nv), t) if tree.is_rheonomic else 0.0
        check_solution(tree, q, a, force + drift, t)
    return a


def kinetic_energy(
    tree: Tree | HasTree, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None
) -> Array:
    """Kinetic energy T = ½ Σ V_iᵀ M_i V_i = ½ vᵀ M v (without prescribed motions).

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…)
        J.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> float(mechanics.kinetic_energy(tree, [0.3], [2.0]))
    1.0
    """
    return _KINETIC_ENERGY(tree, t, q, v, out=out)


def potential_energy(tree: Tree | Workspace, q: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """Potential energy of gravity, U = −g · Σ m_i x_i.

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…)
        J.  Zero at the origin of the world; bodies fixed to the base do not count.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> float(mechanics.potential_energy(tree, [0.0]))
    -9.81
    """
    return _POTENTIAL_ENERGY(tree, t, q, out=out)


def energy(tree: Tree | Workspace, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """Kinetic and potential energy together, T + U.

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has methods of its own.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…)
        J.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> float(mechanics.energy(tree, [0.0], [2.0]))
    -8.81
    """
    return _ENERGY(tree, t, q, v, out=out)


def centre_of_mass(tree: Tree | HasTree, q: ArrayLike, t: float = 0.0, *, out: Array | None = None) -> Array:
    """Centre of mass of the moving bodies, Σ m_i x_i / Σ m_i.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 3)
        In world axes, m; not a number where nothing that moves has a mass.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.centre_of_mass(tree, [0.0]).round(12).tolist()
    [0.0, 0.0, -0.5]
    """
    return _CENTRE_OF_MASS(tree, t, q, out=out)


def power(
    tree: Tree | Workspace,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: ArrayLike | None = None,
    t: float = 0.0,
    *,
    out: Array | None = None,
) -> Array:
    """Power of the joint forces, the damping and the wrenches, τᵀv − d vᵀv + Σ F_iᵀ V_i, W; shape (…).

    Gravity is left to the potential energy: without prescribed motions, d(energy)/dt = power.

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
        External wrenches (force, moment) on the N bodies, body axes, at the body origins, N and N·m; default none.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…)
        W.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> float(mechanics.power(tree, [0.3], [2.0], tau=[5.0]))
    10.0
    """
    return _POWER(tree, t, q, v, tau, wrenches, out)


def centroidal_momentum(
    tree: Tree | HasTree, q: ArrayLike, v: ArrayLike, t: float = 0.0, *, out: Array | None = None
) -> Array:
    """Linear momentum, and angular momentum about the centre of mass, of all moving bodies.

    Parameters
    ----------
    tree : Tree or Mechanism
        The model; of a mechanism, its tree.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    t : float
        Time, s: it matters with prescribed motions only.
    out : array, optional
        Where to write the result: float64, of its shape and in its units.

    Returns
    -------
    array (…, 6)
        (l, k): Σ m_i ẋ_i, kg·m/s, and Σ (momentum of body i about the centre of mass), kg·m²/s, both in world axes.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a quaternion that is not of unit norm.

    References
    ----------
    Orin, Goswami, Lee 2013.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> mechanics.centroidal_momentum(tree, [0.0], [2.0]).round(12).tolist()
    [-2.0, 0.0, -0.0, 0.0, 0.0, 0.0]
    """
    return _CENTROIDAL_MOMENTUM(tree, t, q, v, out=out)
