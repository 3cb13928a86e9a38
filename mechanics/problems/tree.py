"""The motion of a tree as a problem for the integrators."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable, pose
from integrators.problem.fields import differentiating
from integrators.problem.times import begins_at
from liegroup.arrays import of_kind, reals
from mechanics import dynamics
from mechanics.algorithms.batch import once
from mechanics.algorithms.derivatives.canonical import room
from mechanics.algorithms.era import era
from mechanics.algorithms.momentum import free_momentum
from mechanics.closed_trees.connected import derivative_sparsity
from mechanics.constraints.assembly import canonical_units
from mechanics.guards import tree_guards
from mechanics.mechanism.momenta import conserved_momenta, kept_momenta
from mechanics.model.tree import Tree
from mechanics.problems.invariants import invariants
from mechanics.scenes import tree_scene
from mechanics.variational.own_step import variational_steps

_MOMENTUM_UNITS = {"rad/s": "kg m^2/s", "m/s": "kg m/s"}


def hamiltonian_problem(
    tree: Tree, q: ArrayLike, v: ArrayLike | None = None, p: ArrayLike | None = None, t: float = 0.0
) -> Problem:
    """Hamilton's equations of a tree under gravity and joint damping, from (q, v) or (q, p).

    Parameters
    ----------
    tree : Tree
        The model; a mechanism has a method `problem`.
    q : array (nq,) or (m, nq)
        Initial configuration, rad and m, or many.
    v : array (nv,) or (m, nv), optional
        Initial velocities, rad/s and m/s; default at rest.
    p : array (nv,) or (m, nv), optional
        Initial momenta instead of velocities, kg·m²/s and kg·m/s.
    t : float
        Initial time, s, for the drift of prescribed motions: a run from velocities whose momenta are others at other
        times begins there.

    Returns
    -------
    Problem
        State y = (q, p) on T*G, canonical.  Invariants: the energy; for a tree on free joints also its momentum about
        the origin of the world (without gravity), or the components that gravity leaves alone, unless the free joints
        themselves are damped.  Damping lets the energy fall; with prescribed motions it is not watched.

    Raises
    ------
    ValueError
        Both v and p; wrong sizes; numbers that are not finite; quaternions that are not unit.

    References
    ----------
    Ivanov and Shimanovsky, eq. (18), for the field; its own step, for TREE_VARIATIONAL: Lee, Liu, Park and Srinivasa
    2016.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> from integrators import integrate
    >>> problem = mechanics.hamiltonian_problem(tree, [0.5])
    >>> problem
    <Problem 'tree': canonical on R^1 × R^1, watching energy>
    >>> bool(integrate(problem, "RKMK4", (0.0, 1.0), 0.01).error("energy") < 1e-6)
    True
    """
    of_kind(tree, Tree, "tree", "a Tree; a Mechanism has a method problem")
    tree.check_moves()
    if v is not None and p is not None:
        raise ValueError("v and p: give one of them")
    q, by_velocities = reals(q, "q"), p is None
    with once():
        if p is None:
            p = dynamics.momentum(tree, q, np.zeros(tree.nv) if v is None else v, t)
        velocities, _ = dynamics.hamiltonian_rhs(tree, q, p, t=t)  # names what is wrong with the state
        potential = float(np.max(np.abs(dynamics.potential_energy(tree, q, t))))
    shape = np.broadcast_shapes(q.shape[:-1], np.shape(p)[:-1])
    y0 = np.concatenate(
        [np.broadcast_to(x, (*shape, np.shape(x)[-1])) for x in (q, np.asarray(p, dtype=np.float64))], axis=-1
    )
    begins = None
    if by_velocities and tree.is_rheonomic:
        begins = begins_at(lambda s: dynamics.momentum(tree, q, np.zeros(tree.nv) if v is None else v, s), t)
    kinetic = float(np.max(0.5 * np.sum(velocities * np.asarray(p), axis=-1)))
    names, units = conserved_momenta(tree)
    has_energy = not tree.is_rheonomic
    shape = room(tree.structure)
    return Problem(
        group=tree.group.cotangent,
        y0=y0,
        field=differentiating(era, (shape, tree.work_shape)),
        jacobian_sparsity=derivative_sparsity(tree),
        parameters=tree.parameters,
        structure=tree.structure,
        work_shape=shape,
        variables=_variables(tree),
        invariants=invariants if has_energy else free_momentum if names else None,
        invariant_names=("energy", *names) if has_energy else names,
        invariant_units=("J", *units) if has_energy else units,
        guards=(
            *tree_guards(tree, kinetic, potential),
            *kept_momenta(tree, np.asarray(p), names, tree.is_rheonomic),
        ),
        canonical=True,
        angles=[k for k, unit in enumerate(u for b in tree.bodies for u in b.joint.q_units) if unit == "rad"],
        autonomous=not tree.is_rheonomic,
        begins=begins,
        scales=canonical_units(tree),
        own_steps=variational_steps(tree),
        model=tree.name,
        scene=tree_scene(tree),
        joints=tree,
        explain=partial(_unknown_motion, tree) if tree.is_rheonomic else None,
    )


def _unknown_motion(tree: Tree, t: float, y: NDArray[np.float64]) -> str:
    return tree.unknown_motion(t)


@pose.register(Tree)
def _posed(
    tree: Tree, q: ArrayLike | None = None, v: ArrayLike | None = None, p: ArrayLike | None = None, t: float = 0.0
) -> Problem:
    """A tree poses its Hamiltonian problem, once it has a start."""
    if q is None:
        raise TypeError(
            f"problem: the tree {tree.name!r} has no start; give it one, tree.problem(q, v), "
            "for example with q = tree.neutral()"
        )
    return hamiltonian_problem(tree, q, v, p, t)


def _variables(tree: Tree) -> tuple[Variable, Variable]:
    def labels(which: str) -> tuple[str, ...]:
        parts = ((b.joint_name, getattr(b.joint, which)) for b in tree.bodies)
        return tuple(name if len(found) == 1 else f"{name}.{label}" for name, found in parts for label in found)

    q_units = [unit for b in tree.bodies for unit in b.joint.q_units]
    p_units = [_MOMENTUM_UNITS[unit] for b in tree.bodies for unit in b.joint.v_units]
    return (
        Variable("q", labels("q_labels"), _common(q_units), "configuration, joint after joint"),
        Variable("p", labels("v_labels"), _common(p_units), "generalised momenta, joint after joint"),
    )


def _common(units: list[str]) -> str:
    return units[0] if len(set(units)) == 1 else ", ".join(units)
