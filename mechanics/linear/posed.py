"""A tree or a mechanism with joint forces: its forces at rest, its accelerations and their derivatives, one door for
both.

Trees are differentiated by composite bodies (`mechanics.derivatives`).  Force elements, closures and the accelerations
under them are differentiated by complex steps through the interpreted kernels and the readable equations, exact but for
rounding; `elastic` and `Posed.acceleration` are the only places that do so.  A force is asked along the joints that
move it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real
from liegroup.table import bracket
from mechanics import dynamics
from mechanics.closed_trees.forces import force_of
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.closed_trees.packing import PackedLoops, Settings, Solved, pack_loops
from mechanics.closed_trees.poses import gather, poses
from mechanics.constraints.assembly import moved_by, size_of, units_of, velocity_units
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.mobility import nearness
from mechanics.constraints.wheel_equations import EDGE, ROLL, SIDE, SPHERE
from mechanics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from mechanics.errors import ModelError
from mechanics.forces import motor
from mechanics.forces.element import ON_JOINT, ON_TENDON
from mechanics.formulations.index_one import index_one
from mechanics.joints import Motion
from mechanics.kernels.links import freedom
from mechanics.kernels.sweeps import velocities
from mechanics.linear.spectrum import apart
from mechanics.mechanism import Mechanism
from mechanics.model.layout import header_of, link_of
from mechanics.model.tree import Tree
from mechanics.states import configuration, velocity

Array = NDArray[np.float64]
EPSILON = 1e-30
"""Of complex steps."""
ASYMMETRIC = 1e-8
"""Part of what a stiffness is of by which one that is symmetric may differ from its transpose at rest."""
ROUNDING = 1e-14
"""The same of the largest part of what acts on each other: what is zero but for rounding."""
SINGULAR = 1e-6
"""Part of its usual singular value that the closures' smallest has at least where something is linearised: positions
are closed to 1e-12 of the size and better.
"""
NAMED = 0.1
"""Joints with more than this part of the largest are named."""


@dataclass(frozen=True)
class Rest:
    """Forces at rest and their derivative, columns by right increments: τ that would hold the tree alone against
    gravity, elements and joint forces, Gᵀλ if closures do; `size` are forces, `parts` stiffnesses before they cancel.
    """

    force: Array
    stiffness: Array
    size: Array
    parts: Array


class Posed:
    """A model, checked, with the joint forces `tau` (constant in the coordinates of the velocities) at the time `t`."""

    def __init__(self, model: Tree | Mechanism, tau: ArrayLike | None = None, t: float = 0.0) -> None:
        of_kind(model, (Tree, Mechanism), "model", "a Tree or a Mechanism")
        self.tree = model if isinstance(model, Tree) else model.tree
        self.mechanism = model if isinstance(model, Mechanism) else None
        self.tau = np.zeros(self.tree.nv) if tau is None else velocity(self.tree, tau, "tau")
        if self.tau.ndim != 1:
            raise ValueError(f"tau: shape {self.tau.shape}, expected ({self.tree.nv},): one state, not many")
        self.t = real(t, "t")
        self.model, self.name = model, model.name

    @property
    def is_driven(self) -> bool:
        """Whether something depends on time."""
        elements = self.mechanism.elements if self.mechanism else ()
        driven = [element for element in elements if element.is_driven() and not element.is_input]
        motions = [getattr(element, "motion") for element in driven]  # noqa: B009
        return self.tree.is_rheonomic or not all(motion.is_constant for motion in motions)

    # --- names --------------------------------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """One name per velocity: that of its joint, with its number where the joint has several."""
        return tuple(
            body.joint_name if body.joint.n_v == 1 else f"{body.joint_name}.{k}"
            for body in self.tree.bodies
            for k in range(body.joint.n_v)
        )

    @cached_property
    def units(self) -> tuple[str, ...]:
        """rad or m, one per velocity."""
        return tuple(unit for body in self.tree.bodies for unit in velocity_units(body.joint))

    @cached_property
    def size(self) -> float:
        """Of the mechanism, m."""
        return size_of(self.tree, () if self.equations is None else self.equations.closures)

    @cached_property
    def lengths(self) -> Array:
        """What counts as one in each velocity, (nv,): 1 rad, or the size."""
        return units_of(self.tree, self.size)

    def moving(self, shape: NDArray, mass: Array) -> str:
        """The joints that move most in a motion, in kinetic energy."""
        parts = np.abs(shape.conj() * (mass @ shape))
        joints = {
            b.joint_name: float(parts[self.tree.v_slice(b.joint_name)].sum()) for b in self.tree.bodies if b.joint.n_v
        }
        first = sorted(joints, key=lambda name: -joints[name])[:3]
        return ", ".join(repr(name) for name in first if joints[name] > NAMED * joints[first[0]])

    # --- what restricts it --------------------------------------------------------------------------------------------

    @property
    def equations(self) -> LoopEquations | None:
        """The closures, if there are any."""
        return self.mechanism.equations if self.mechanism is not None and len(self.mechanism.equations) else None

    @cached_property
    def positional(self) -> NDArray[np.bool_]:
        """Which closure equations restrict positions; wheels and blades restrict velocities only."""
        kinds = [e.kind for e in self.equations.equations] if self.equations else []
        return np.array([kind not in (ROLL, SIDE, EDGE, SPHERE) for kind in kinds], dtype=bool)

    def closing_matrix(self, q: Array) -> Array:
        """G, (m, nv)."""
        return np.asarray(self.equations.matrix(q, self.t)) if self.equations else np.zeros((0, self.tree.nv))

    def free_velocities(self, q: Array) -> Array:
        """Velocities that the closures leave free, one per column, orthonormal: (nv, dof).

        Raises
        ------
        ModelError
            A singular position: closures have a smaller rank there than elsewhere.
        """
        G, rank = self.closing_matrix(q), 0 if self.mechanism is None else self.mechanism.mobility.rank
        return _null(G, rank, self.name)

    def refuse_singular(self, q: Array) -> None:
        """Raise where the closures are about to lose rank: which directions they leave free there, and what they hold
        them with, is rounding of the closed position over the little that is left.
        """
        made = self.mechanism
        if made is not None and made.mobility.rank:
            left, where = nearness(made.equations, made.mobility, q, self.t)
            if left < SINGULAR:
                raise _singular(self.name, f"{where!r} holds {left:.1g} of what it usually does")

    def free_shifts(self, q: Array) -> Array:
        """Shifts of the configuration that the closures leave free, (nv, …): with wheels more than velocities."""
        G = self.closing_matrix(q)
        if self.positional.all():
            return self.free_velocities(q)
        s = np.linalg.svd(G[self.positional], compute_uv=False)
        return _null(G[self.positional], int((s > 1e-9 * s.max(initial=0.0)).sum()), self.name)

    # --- rest ---------------------------------------------------------------------------------------------------------

    def rest(self, q: Array) -> Rest:
        """b(q, 0) − tau − forces of the elements, and its derivative."""
        none = np.zeros(self.tree.nv)
        force, size = self.loads(q)
        slope = inverse_dynamics_derivatives(self.tree, q, none, none, t=self.t)[0]
        pull_slope = elastic(self, q)
        parts = np.diag(self._heaviness / self.lengths) + np.abs(slope) + np.abs(pull_slope)
        return Rest(force, slope - pull_slope, size, parts)

    def loads(self, q: Array) -> tuple[Array, Array]:
        """The force of `rest`, and the size of what it is the sum of."""
        size = self._heaviness + np.abs(self._weight(q)) + np.abs(self.tau) + np.abs(pulls(self, q)).sum(axis=0)
        return self.force(q), size

    def force(self, q: Array) -> Array:
        """The force of `rest`."""
        return np.asarray(self._weight(q) - self.tau - pull(self, q))

    def _weight(self, q: Array) -> Array:
        return np.asarray(dynamics.bias(self.tree, q, np.zeros(self.tree.nv), t=self.t))

    @cached_property
    def _heaviness(self) -> Array:
        """m g of what each joint carries, or m g times a length where velocities turn: what weights are of, where they
        cancel.
        """
        carried = np.array([b.inertia.mass for b in self.tree.bodies])
        for i in range(len(carried) - 1, -1, -1):
            if (parent := self.tree.parents[i]) >= 0:
                carried[parent] += carried[i]
        return np.repeat(carried, np.diff(self.tree.v_offsets)) * self._weighed

    @cached_property
    def beside(self) -> Array:
        """The same of what each joint does not carry."""
        return self.tree.mass * self._weighed - self._heaviness

    @cached_property
    def _weighed(self) -> Array:
        """g, or g times a length where velocities turn."""
        length, g = size_of(self.tree), float(np.linalg.norm(self.tree.gravity))
        return np.array([g * (length if unit == "rad" else 1.0) for unit in self.units])

    def reactions(self, q: Array, force: Array) -> Array:
        """λ of least norm with Gᵀλ nearest to the forces, (m,); forces count times sizes of the mechanism, moments as
        they are.
        """
        G, lengths = self.closing_matrix(q), self.lengths
        return np.asarray(np.linalg.lstsq((G * lengths).T, lengths * force, rcond=1e-10)[0])

    def closing_slope(self, q: Array, reactions: Array) -> Array:
        """The derivative of Gᵀλ at fixed λ, (nv, nv)."""
        if self.equations is None or not reactions.any():
            return np.zeros((self.tree.nv, self.tree.nv))
        moved = self._increments(q)
        return np.stack([(self.equations.matrix(x, self.t).T @ reactions).imag / EPSILON for x in moved], axis=1)

    def _increments(self, q: Array) -> list[NDArray]:
        return [self._nudged(q, e) for e in np.eye(self.tree.nv)]

    # --- motion -------------------------------------------------------------------------------------------------------

    def closing_rate_slope(self, q: Array, v: Array, directions: Array) -> Array:
        """∂φ̇(q, v)/∂q along shifts of the configuration, (m, k)."""
        if self.equations is None:
            return np.zeros((0, directions.shape[1]))
        columns = [
            self.equations.rate(geometry(self.tree, self._nudged(q, d), v.astype(complex), self.t)).imag / EPSILON
            for d in directions.T
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.equations), 0))

    def _nudged(self, q: NDArray, d: NDArray) -> NDArray:
        nudged: NDArray = 1j * EPSILON * d
        return moved_by(self.tree, q.astype(complex), nudged)

    def acceleration(self, q: Array, v: Array, shifts: Array, changes: Array) -> tuple[Array, Array]:
        """v̇, (nv,), and its derivative along the directions (δq, δv) in the columns of `shifts` and `changes`."""
        if self.mechanism is None:
            a = dynamics.forward_dynamics(self.tree, q, v, self.tau, t=self.t)
            a_q, a_v, _ = forward_dynamics_derivatives(self.tree, q, v, self.tau, t=self.t)
            return a, a_q @ shifts + a_v @ changes
        if self.equations is None:
            pulled, by_q, by_v = self._pulls(q, v)
            a = dynamics.forward_dynamics(self.tree, q, v, pulled, t=self.t)
            a_q, a_v, by_force = forward_dynamics_derivatives(self.tree, q, v, pulled, t=self.t)
            return a, (a_q + by_force @ by_q) @ shifts + (a_v + by_force @ by_v) @ changes
        packed, n = self._pushed, self.tree.nv
        a = np.zeros(2 * n)
        state = np.concatenate([q, v])
        work = np.zeros(packed.work_shape)
        index_one.python(self.t, state, packed.parameters, packed.structure, work, a)
        columns = []
        for d, e in zip(shifts.T, changes.T, strict=True):
            y, out = np.concatenate([self._nudged(q, d), v + 1j * EPSILON * e]), np.zeros(2 * n, dtype=complex)
            index_one.python(self.t, y, packed.parameters, packed.structure, work.astype(complex), out)
            columns.append(out[n:].imag / EPSILON)
        return a[n:], np.stack(columns, axis=1) if columns else np.zeros((n, 0))

    def _pulls(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Forces of the elements and the joint forces, and their derivatives by q and v."""
        packed, carried = self._pushed, _carried(self._pushed.structure, self.tree.nv)

        def slopes(states: Iterable[tuple[NDArray, NDArray]]) -> Array:
            columns = [pulled(self, packed, *y, which).imag / EPSILON for y, which in zip(states, carried, strict=True)]
            return np.stack(columns, axis=1)

        along_q = ((x, v.astype(complex)) for x in self._increments(q))
        along_v = ((q.astype(complex), v + 1j * EPSILON * e) for e in np.eye(self.tree.nv))
        return pulled(self, packed, q, v), slopes(along_q), slopes(along_v)

    @cached_property
    def elements(self) -> PackedLoops:
        """The arrays of the tree with force elements, whose drives stand still where they are, and no closures."""
        none = LoopEquations(self.tree, ()), Solved([], 0, np.zeros(0), np.zeros((0, 0)))
        given: list[Any] = list(self.mechanism.elements) if self.mechanism else []
        still = [replace(e, motion=Motion((e.motion.value(self.t),))) if e.reads_time else e for e in given]
        return pack_loops(self.tree, *none, still)

    @cached_property
    def _pushed(self) -> PackedLoops:
        """The arrays of the mechanism with motors that give the joint forces."""
        made = self.mechanism
        assert made is not None
        added = [
            e for k in np.flatnonzero(self.tau) for e in motor(self._single(int(k)), Motion((float(self.tau[k]),)))
        ]
        settings = Settings((0.0, 0.0, 0.0, 0.0))
        elements = (*made.elements, *added)
        return pack_loops(self.tree, made.equations, made.solved, elements, made.tolerances, False, settings)

    def _single(self, k: int) -> str:
        """The joint of one freedom that has the velocity k."""
        body = self.tree.bodies[int(np.searchsorted(self.tree.v_offsets, k, side="right")) - 1]
        if body.joint.n_q != 1 or body.joint.n_v != 1:
            raise ModelError(
                f"tau of {self.name!r}",
                f"acts on joint {body.joint_name!r}, which has {body.joint.n_v} degrees of freedom",
                "in a mechanism give joint forces to joints of one freedom",
            )
        return body.joint_name

    def turned(self, v: Array, shifts: Array) -> Array:
        """[v, δq] of every column: δq̇ = δv − [v, δq] for increments from the right."""
        columns = []
        for d in shifts.T:
            out = np.zeros(self.tree.nv)
            bracket(self.tree.group.table, v, np.ascontiguousarray(d), out)
            columns.append(out)
        return np.stack(columns, axis=1) if columns else np.zeros((self.tree.nv, 0))

    def start(self, q: ArrayLike, v: ArrayLike | None) -> tuple[Array, Array]:
        """A checked state."""
        if self.mechanism is not None:
            return self.mechanism.start(configuration(self.tree, q), v, None, self.t)
        q, v = configuration(self.tree, q), velocity(self.tree, np.zeros(self.tree.nv) if v is None else v)
        if q.ndim != 1 or v.ndim != 1:
            raise ValueError(f"state: shapes {q.shape} and {v.shape}, expected one configuration and its velocities")
        return q, v


def pulled(posed: Posed, packed: PackedLoops, q: NDArray, v: NDArray, which: Iterable[int] | None = None) -> NDArray:
    """Forces of packed elements, or of some of them, (nv,), on numbers of the kind of q."""
    n, work = posed.tree.nv, np.zeros(packed.work_shape, q.dtype)
    y, out = np.concatenate([q, v]), np.concatenate([v, np.zeros(n)]).astype(q.dtype)
    p, structure, t = packed.parameters, packed.structure, posed.t
    closures = closures_of(structure)
    velocities(t, y, posed.tree.nq, p, structure, work)
    poses(t, y, p, structure, work)
    for k in range(closures.forces) if which is None else which:
        force_of(t, y, p, structure, work, out, n, element_of(structure, closures, k))
    gather(p, structure, work, out, n)
    return out[n:]


def _carried(structure: NDArray[np.int64], n_v: int) -> list[list[int]]:
    """The elements, by their numbers, that each velocity moves an end of, and those on joints: the forces of others do
    not know of it.
    """
    header, closures = header_of(structure), closures_of(structure)
    found: list[list[int]] = [[] for _ in range(n_v)]
    for n in range(closures.forces):
        element, moving = element_of(structure, closures, n), set[int]()
        for i in (element.first, element.second):
            while element.place not in (ON_JOINT, ON_TENDON) and i < header.links:
                link = link_of(structure, i)
                moving |= set(range(link.v, link.v + freedom(link.kind)))
                i = link.parent
        for k in range(n_v) if element.place in (ON_JOINT, ON_TENDON) else moving:
            found[k].append(n)
    return found


def pull(posed: Posed, q: NDArray, which: Iterable[int] | None = None) -> NDArray:
    """Forces of the elements at rest, or of some of them, (nv,), on numbers of the kind of q."""
    if posed.mechanism is None or not posed.mechanism.elements:
        return np.zeros(posed.tree.nv, q.dtype)
    return pulled(posed, posed.elements, q, np.zeros(posed.tree.nv), which)


def pulls(posed: Posed, q: Array) -> Array:
    """Those of each, (elements, nv): together they may cancel."""
    n = posed.tree.nv
    if posed.mechanism is None or not posed.mechanism.elements:
        return np.zeros((0, n))
    return np.array([pull(posed, q, [k]) for k in range(closures_of(posed.elements.structure).forces)])


def elastic(posed: Posed, q: Array) -> Array:
    """Their derivative, (nv, nv), by complex steps."""
    n, made = posed.tree.nv, posed.mechanism
    if made is None or not made.elements:
        return np.zeros((n, n))
    nudged = zip(posed._increments(q), _carried(posed.elements.structure, n), strict=True)
    return np.stack([pull(posed, x, which).imag / EPSILON for x, which in nudged], axis=1)


def along(directions: Array, parts: Array) -> Array:
    """Σ |d| parts |d| of every direction, in columns: what stiffnesses along it are of, before they cancel."""
    return np.asarray(np.einsum("ik,ij,jk->k", np.abs(directions), parts, np.abs(directions)))


def is_symmetric(K: Array, sizes: Array) -> bool:
    """Whether a stiffness at rest is that of a potential; `sizes`: of its parts along the directions (`along`)."""
    for own in apart(K):
        k, size = K[np.ix_(own, own)], sizes[own]
        if (np.abs(k - k.T) > ASYMMETRIC * np.sqrt(np.outer(size, size)) + ROUNDING * size.max()).any():
            return False
    return True


def _null(G: Array, rank: int, name: str) -> Array:
    """An orthonormal basis of the null space of a matrix of known rank."""
    if not len(G):
        return np.eye(G.shape[1])
    _, s, w = np.linalg.svd(G)
    if rank and not s[rank - 1] > 1e-11 * s[0]:
        raise _singular(name, f"the closures have a rank below {rank}, which they have elsewhere")
    return np.asarray(w[rank:].T)


def _singular(name: str, why: str) -> ModelError:
    return ModelError(
        f"state of {name!r}",
        f"is a singular position: {why}",
        "linearise at another position, or make the mechanism with the rank of this one",
    )
