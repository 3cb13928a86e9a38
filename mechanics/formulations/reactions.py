"""Forces of closures and contacts at one state: Gᵀ λ = M (v̇ − v̇_free).

v̇ is the acceleration of the mechanism, v̇_free that of the same tree and force elements without any closure.  λ is in
newtons where the equation holds a point (loads, side and drive forces of wheels), in newton metres where it holds a
direction.  Of a coupling c(q) = 0 joint j feels λ ∂c/∂q_j, a moment or force.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind
from mechanics.constraints.mobility import mass_matrix
from mechanics.formulations.index_one import index_one
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]


def reactions(
    mechanism: Mechanism, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0
) -> dict[str, float]:
    """λ of every equation by name, at the configuration q and velocities v that keep the closures: Gᵀ λ = M (v̇ −
    v̇_free).

    Parameters
    ----------
    mechanism : Mechanism
        With loops, couplings, wheels or none.
    q : array (nq,), optional
        Closed configuration, rad and m; default that of `Mechanism.start`.
    v : array (nv,), optional
        Velocities, rad/s and m/s, that keep it closed; default those of `Mechanism.start`.
    t : float
        Time, s.

    Returns
    -------
    dict of str to float
        Name of the equation → λ, N or N·m.  Equations that depend on each other (the wheels of one axle sideways, four
        wheels on a stiff frame) share a force in more than one way: then this is the λ of least norm.

    Raises
    ------
    ModelError
        q is open, or v opens the loops; TypeError for what is no Mechanism.

    Examples
    --------
    A mass that rests on a plane presses with its weight:

    >>> from mechanics import Body, Frame, Inertia, Tree, constraints, joints
    >>> block = Body("block", joints.Prismatic((0.0, 0.0, 1.0)), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))
    >>> resting = Mechanism(Tree([block]), [constraints.point_on_plane(Frame(None), Frame("block"), "floor")])
    >>> {name: round(force, 9) for name, force in reactions(resting).items()}
    {'floor: shift z': 19.62}
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    q0, v0 = mechanism.start(q, v, None)
    free = Mechanism(mechanism.tree, (), q0, [mechanism.elements])
    difference = _acceleration(mechanism, q0, v0, t) - _acceleration(free, q0, v0, t)
    G = mechanism.equations.matrix(q0, t)
    forces = np.linalg.lstsq(G.T, mass_matrix(mechanism.tree, q0) @ difference, rcond=1e-10)[0]
    return dict(zip(mechanism.equations.names, forces.tolist(), strict=True))


def _acceleration(mechanism: Mechanism, q: Array, v: Array, t: float) -> Array:
    problem, n = multiplier_problem(mechanism, q, v), mechanism.tree.nv
    out = np.zeros(2 * n)
    index_one.python(t, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out[n:]
