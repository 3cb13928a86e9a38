"""Derivatives of the generalised forces of force elements, exact.

An element between two bodies is a block of twelve: the wrenches F on either link, in link axes, by small displacements
of the links from the right (R exp(w̃), x + R v) and by their twists.  The blocks come from the element's own formula by
complex steps, without differences of large numbers; the tree adds how its links move,

    Q = Σ Bᵀ F,    ∂Q/∂v = Σ Bᵀ F_V B,    ∂Q/∂q = Σ Bᵀ (F_x B + F_V ∂V/∂q) + G,

with ∂V/∂v = B and G_jk = B_jᵀ (B_k ×* F) where joint j comes before joint k on the way to the link: a wrench that
turns with its body.  Source for complex steps: Squire and Trapp 1998.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import real, shown
from mechanics.algebra.spatial import skew
from mechanics.algorithms.derivatives.columns import work_shape
from mechanics.algorithms.derivatives.links import link_columns
from mechanics.closed_trees.forces import along_equation, along_screw, between_bodies, tendon_at, tendon_joint
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.closed_trees.packing import PackedLoops
from mechanics.closed_trees.poses import poses
from mechanics.forces import Element
from mechanics.forces.element import ON_EQUATION, ON_JOINT, ON_SCREW, ON_TENDON
from mechanics.forces.registry import law_on_joint
from mechanics.kernels.links import freedom
from mechanics.kernels.sweeps import velocities
from mechanics.model.layout import header_of, link_of
from mechanics.model.tree import Tree
from mechanics.states import configuration, evaluate, velocity

Array = NDArray[np.float64]
EPSILON = 1e-30


class HasElements(Protocol):
    """A mechanism."""

    @property
    def tree(self) -> Tree: ...

    @property
    def elements(self) -> tuple[Element, ...]: ...

    def packed(self, close_positions: bool = True) -> PackedLoops: ...


class Block(NamedTuple):
    """A force element between two links, as it stands at a state."""

    links: tuple[int, int]
    wrench: Array
    """(12,): force and moment on the first link, on the second; link axes, at the origins of the links."""
    by_pose: Array
    """(12, 12): by displacements (linear, angular) of the first link, of the second."""
    by_twist: Array
    """(12, 12): by their twists."""


class Spring(NamedTuple):
    """A force element on coordinates of joints, as it stands at a state."""

    along: Array
    """(n_v,): the rate of its one number by the velocities."""
    force: float
    by_coordinate: float
    by_rate: float


class Stand(NamedTuple):
    """All elements at a state, and how the links move."""

    blocks: list[Block]
    springs: list[Spring]
    columns: Array
    """(links + 1, 2, 6, n_v): ∂V/∂v and ∂V/∂q of all links; zero for the base."""
    joints: NDArray[np.int64]
    """(n_v,): the link of every velocity."""


class GeneralisedForces(NamedTuple):
    """Forces of all elements on the velocities of a tree, with their derivatives.

    Attributes
    ----------
    force : array (nv,)
        Q, N·m and N.
    by_configuration : array (nv, nv)
        ∂Q/∂q, by increments from the right.
    by_velocity : array (nv, nv)
        ∂Q/∂v.

    Examples
    --------
    See `generalised_forces`.
    """

    force: Array
    """Q (n_v,)."""
    by_configuration: Array
    """∂Q/∂q (n_v, n_v), by increments from the right."""
    by_velocity: Array
    """∂Q/∂v (n_v, n_v)."""


def stand(mechanism: HasElements, q: Array, v: Array, t: float = 0.0) -> Stand:
    """The elements of a mechanism at one state (q, v), with their derivatives."""
    packed, tree = mechanism.packed(), mechanism.tree
    structure, parameters = packed.structure, packed.parameters
    header, closures = header_of(structure), closures_of(structure)
    work, y = np.zeros(packed.work_shape, dtype=complex), np.concatenate([q, v]).astype(complex)
    velocities(t, y, header.n_q, parameters, structure, work)
    poses(t, y, parameters, structure, work)
    blocks, springs = [], []
    for n in range(closures.forces):
        element = element_of(structure, closures, n)
        if element.place == ON_JOINT:
            springs.append(_spring(t, parameters, element, np.eye(tree.nv)[element.second], y[element.first], v))
        elif element.place == ON_TENDON:
            x, _ = tendon_at(y, y, header.n_q, parameters, structure, element)
            springs.append(
                _spring(t, parameters, element, _along_tendon(tree.nv, parameters, structure, element), x, v)
            )
        else:
            blocks.append(_block(t, parameters, structure, closures, element, work))
    joints = np.zeros(tree.nv, dtype=np.int64)
    for i in range(header.links):
        link = link_of(structure, i)
        joints[link.v : link.v + freedom(link.kind)] = i
    size = 12 * tree.nv * (header.links + 1)
    columns = evaluate(link_columns, tree, size, t, q, v, work_shape=work_shape(structure))
    return Stand(blocks, springs, columns.reshape(-1, 2, 6, tree.nv), joints)


def generalised_forces(mechanism: HasElements, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> GeneralisedForces:
    """Q of all force elements at one state, ∂Q/∂q and ∂Q/∂v.

    Parameters
    ----------
    mechanism : Mechanism
        Its closures matter nothing.
    q : array (nq,)
        Configuration, rad and m.
    v : array (nv,)
        Velocities, rad/s and m/s.
    t : float
        Time, s, of prescribed motions and drives.

    Returns
    -------
    GeneralisedForces
        Q, ∂Q/∂q and ∂Q/∂v.

    Raises
    ------
    TypeError
        Not a mechanism.
    ValueError
        Wrong sizes, numbers that are not finite, quaternions that are not unit.

    Notes
    -----
    Some milliseconds per element.  Where a law has a corner (a contact that just touches), the derivative is that of
    one side.

    References
    ----------
    Complex steps: Squire and Trapp 1998.

    Examples
    --------
    >>> from mechanics import Body, Inertia, Mechanism, forces, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob, joint_name="hinge")])
    >>> spring = forces.joint_spring("hinge", stiffness=10.0, damping=0.5)
    >>> found = generalised_forces(Mechanism(tree, elements=[spring]), [0.3], [2.0])
    >>> found.force.tolist(), found.by_configuration.tolist(), found.by_velocity.tolist()
    ([-4.0], [[-10.0]], [[-0.5]])
    """
    return summed(stand(mechanism, *one_state(mechanism, q, v), real(t, "t")))


def one_state(mechanism: HasElements, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """A configuration and velocities of a mechanism, checked: one, not many."""
    if not callable(getattr(mechanism, "packed", None)):
        raise TypeError(f"mechanism: {shown(mechanism)}, expected a Mechanism; of a tree, Mechanism(tree)")
    q, v = configuration(mechanism.tree, q), velocity(mechanism.tree, v)
    for name, x in (("q", q), ("v", v)):
        if x.ndim != 1:
            raise ValueError(f"{name}: shape {x.shape}, expected ({x.shape[-1]},): one state")
    return q, v


def summed(at: Stand) -> GeneralisedForces:
    """The sums of the module over all elements."""
    n = len(at.joints)
    Q, by_q, by_v = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    before = at.joints[:, None] < at.joints[None, :]
    for block in at.blocks:
        B = at.columns[list(block.links), 0].reshape(12, n)
        turning = at.columns[list(block.links), 1].reshape(12, n)
        Q += B.T @ block.wrench
        by_v += B.T @ block.by_twist @ B
        by_q += B.T @ (block.by_pose @ B + block.by_twist @ turning)
        for half in (slice(0, 6), slice(6, 12)):
            by_q += before * (B[half].T @ _turned(block.wrench[half]) @ B[half])
    for spring in at.springs:
        a = spring.along
        Q += spring.force * a
        by_q += spring.by_coordinate * np.outer(a, a)
        by_v += spring.by_rate * np.outer(a, a)
    return GeneralisedForces(Q, by_q, by_v)


def _turned(F: Array) -> Array:
    """u → u ×* F, a matrix."""
    f, m = skew(F[:3]), skew(F[3:])
    return -np.block([[np.zeros((3, 3)), f], [f, m]])


def _along_tendon(n_v: int, parameters: Array, structure: Any, element: Any) -> Array:
    along = np.zeros(n_v)
    for k in range(int(element.first)):
        along[int(tendon_joint(structure, element, k).v)] += parameters[element.equation_numbers + k]
    return along


def _spring(t: float, parameters: Array, element: Any, along: Array, x: Any, v: Array) -> Spring:
    s = along @ v

    def force(dx: float, ds: float) -> Any:
        return law_on_joint(element.kind, t, parameters, element, x + 1j * dx, s + 1j * ds)[0]

    value = np.real(force(0.0, 0.0))
    by_x, by_s = (np.imag(force(*step)) / EPSILON for step in ((EPSILON, 0.0), (0.0, EPSILON)))
    return Spring(along, float(value), float(by_x), float(by_s))


def _block(t: float, parameters: Array, structure: Any, closures: Any, element: Any, work: Any) -> Block:
    """The block of an element, by twenty-four complex steps of its formula."""
    ends = int(element.first), int(element.second)

    def wrench() -> Any:
        if element.place == ON_EQUATION:
            F = along_equation(t, parameters, structure, closures, element, work)
        elif element.place == ON_SCREW:
            F = along_screw(t, parameters, closures, element, work)[0], (0.0,) * 6
        else:
            F = between_bodies(t, parameters, closures, element, work)
        return np.array([*F[0], *F[1]])

    value = wrench().real
    by_pose, by_twist = np.zeros((12, 12)), np.zeros((12, 12))
    for end, link in enumerate(ends):
        line, pose = work[closures.poses + link], work[closures.poses + link].copy()
        R = pose[:9].reshape(3, 3)
        for k in range(6):
            step = EPSILON * 1j * np.eye(6)[k]
            line[:9] = (R + R @ skew(step[3:])).ravel()
            line[9:12] = pose[9:12] + R @ step[:3]
            by_pose[:, 6 * end + k] = wrench().imag / EPSILON
            line[:] = pose
            work[link, k] += 1j * EPSILON
            by_twist[:, 6 * end + k] = wrench().imag / EPSILON
            work[link, k] = work[link, k].real
    return Block(ends, value, by_pose, by_twist)
