"""The motion of a tree in configurations and velocities, beside that in momenta (`mechanics.problems.tree`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from integrators.problem import Problem, Variable
from liegroup.arrays import of_kind
from liegroup.group import product, rn
from mechanics.algorithms.forward import energy, forward, work_shape
from mechanics.constraints.assembly import size_of, state_units
from mechanics.model.tree import Tree
from mechanics.problems.tree import hamiltonian_problem


def velocity_problem(tree: Tree, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Problem:
    """The motion of a tree under gravity and joint damping as y = (q, v), v̇ = M⁻¹(−b(q, v)) by forward dynamics.

    For comparison with Hamilton's equations, y = (q, p), which variational methods, symplectic ones and exact momenta
    need: in velocities a method that is symplectic on T*G is not, and momenta are not conserved exactly.  Methods that
    promise neither may be more exact so: `studies/efficiency` measures it.

    Parameters
    ----------
    tree : Tree
        For mechanisms: `mechanics.formulations.multiplier_problem`, which has closures and force elements.
    q : array (nq,) or (m, nq)
        Initial configuration, or many.
    v : array (nv,) or (m, nv), optional
        Initial velocities in the frames of the joints, rad/s, m/s; default at rest.
    t : float
        Initial time, s, for prescribed motions.

    Returns
    -------
    Problem
        State y = (q, v) on the group of the tree and R^nv.  Invariant: the energy, which damping lets fall; with
        prescribed motions none.

    Raises
    ------
    ValueError
        Wrong sizes; numbers that are not finite; quaternions that are not unit.

    Examples
    --------
    >>> import mechanics
    >>> from integrators import integrate
    >>> tree = mechanics.load_model("double_pendulum")
    >>> run = integrate(mechanics.velocity_problem(tree, [0.3, 0.1]), "RKMK4", (0.0, 1.0), 0.01)
    >>> run["v"].shape
    (101, 2)
    """
    of_kind(tree, Tree, "tree", "a Tree; for a mechanism use mechanics.formulations.multiplier_problem")
    in_momenta = hamiltonian_problem(tree, q, v, t=t)  # names what is wrong with the state
    configurations = np.asarray(in_momenta.y0)[..., : tree.nq]
    velocities = np.zeros(tree.nv) if v is None else np.asarray(v, dtype=np.float64)
    rates = np.broadcast_to(velocities, (*configurations.shape[:-1], tree.nv))
    units = ", ".join(unit for body in tree.bodies for unit in body.joint.v_units)
    place, momenta = in_momenta.variables
    has_energy = not tree.is_rheonomic
    return Problem(
        group=product(tree.group, rn(tree.nv)),
        y0=np.concatenate([configurations, rates], axis=-1),
        field=forward,
        parameters=tree.parameters,
        structure=tree.structure,
        work_shape=work_shape(tree),
        variables=(place, Variable("v", momenta.labels, units, "joint velocities, joint after joint")),
        invariants=energy if has_energy else None,
        invariant_names=("energy",) if has_energy else (),
        invariant_units=("J",) if has_energy else (),
        guards=[guard for guard in in_momenta.guards if guard.name == "energy"],
        angles=in_momenta.angles,
        autonomous=in_momenta.autonomous,
        scales=state_units(tree, size_of(tree)),
        positions=tree.nv,
        model=tree.name,
        joints=tree,
    )
