"""Forces of closures and contacts at one state: Gᵀ λ = M (v̇ − v̇_free).

v̇ is the acceleration of the mechanism, v̇_free that of the same tree and force elements without any closure.  λ is in
newtons where the equation holds a point (loads, side and drive forces of wheels), in newton metres where it holds a
direction.  Of a coupling c(q) = 0 joint j feels λ ∂c/∂q_j, a moment or force.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, shown
from mechanics.constraints.assembly import _of_rank, check_regular
from mechanics.constraints.equations import geometry
from mechanics.formulations.index_one import index_one
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.joints import Motion
from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]


def reactions(
    mechanism: Mechanism, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0, u: Any = None
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
    u : array (m,), or mapping of str to float, optional
        Inputs of the mechanism's problem at that time; default 0.

    Returns
    -------
    dict of str to float
        Name of the equation → λ, N or N·m.  Equations that depend on each other (the wheels of one axle sideways, four
        wheels on a stiff frame) share a force in more than one way: then this is the λ of least norm.

    Raises
    ------
    ModelError
        q is open at that time, or v opens the loops, or q is a singular position, where they are not determined;
        TypeError for what is no Mechanism.

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
    now, held = real(t, "t"), with_held_inputs(mechanism, u)
    q0, v0 = mechanism.start(q, v, None, now)
    check_regular(held.equations, q0, held.mobility.rank, now)
    free = Mechanism(held.tree, (), q0, [held.elements])
    difference = acceleration(held, q0, v0, now) - acceleration(free, q0, v0, now)
    at = geometry(held.tree, q0, None, now)
    G, M = held.equations.matrix(q0, now, at), at.mass_matrix(held.tree)
    forces = _of_rank(G, held.mobility.rank).T @ M @ difference
    return dict(zip(held.equations.names, forces.tolist(), strict=True))


def with_held_inputs(mechanism: Mechanism, u: Any) -> Mechanism:
    """The mechanism with its inputs held at numbers u, (m,) or by name; None: as it is, its inputs 0."""
    if u is None:
        return mechanism
    held = multiplier_problem(mechanism).with_inputs(u)
    if held.inputs.signal is not None:
        raise TypeError(f"u: {shown(u)}, expected numbers: what the functions of the inputs give at that time")
    numbers = iter(np.asarray(held.parameters)[list(held.inputs.places)].tolist())
    given: list[Any] = list(mechanism.elements)
    elements = [replace(e, motion=Motion((next(numbers),))) if e.is_input else e for e in given]
    parts = mechanism.tree, mechanism.equations.closures, mechanism.home, [elements]
    return Mechanism(*parts, mechanism.mobility.rank, mechanism.name)


def acceleration(mechanism: Mechanism, q: Array, v: Array, t: float) -> Array:
    """v̇ (nv,) of a mechanism at a closed state."""
    if not mechanism.tree.nv:  # every joint moves as told
        return np.zeros(0)
    problem, n = multiplier_problem(mechanism), mechanism.tree.nv
    out, work = np.zeros(2 * n), np.zeros(problem.work_shape)
    index_one.python(t, np.concatenate([q, v]), problem.parameters, problem.structure, work, out)
    return out[n:]
