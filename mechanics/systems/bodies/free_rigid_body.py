"""The free rigid body (Euler's top): no torque, solved by Jacobi's elliptic functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem
from integrators.problem.energy import with_energy_guard
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, st
from liegroup.formulas import so3
from liegroup.formulas.vectors import dot
from mechanics.scenes import system_scene
from mechanics.systems.bodies import rigid_body
from mechanics.systems.bodies.euler_top import EulerTop
from mechanics.systems.bodies.rigid_body import angular_velocity, attitude, momentum, store_motion

Array = NDArray[np.float64]


def free_rigid_body(
    inertia: ArrayLike = (2.0, 1.0, 2.0 / 3.0),
    angular_velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
) -> Problem:
    """A rigid body without torque: q' = q·ω^, p' = p × ω, ω = J⁻¹ p, on SO(3) × R³ = T*SO(3).

    Invariants are the energy ½ p·ω and the momentum in space R p.  The default, J = (2, 1, 2/3) and p = (cos 1.1, 0,
    sin 1.1), returns to its momentum after 10.731465234882804 s.

    Parameters
    ----------
    inertia : array (3,) or (3, 3)
        Principal moments, or the tensor about the centre of mass in body axes, kg·m².
    angular_velocity : array (3,), optional
        ω at the start, body axes, rad/s.
    momentum : array (3,), optional
        p at the start instead, body axes, kg·m²/s.
    orientation : array (4,)
        Attitude at the start, unit quaternion (w, x, y, z).

    Returns
    -------
    Problem
        With `exact`, the solution at any time (`EulerTop`).

    Raises
    ------
    ValueError
        Wrong shapes, moments that are not positive, a quaternion that is not of unit norm; both ω and p.

    Examples
    --------
    >>> free_rigid_body((3.0, 2.0, 1.0), angular_velocity=(0.1, 1.0, 0.1))
    <Problem 'free rigid body': canonical on SO(3) × R^3, watching energy, momentum_x, momentum_y, momentum_z>
    """
    J = rigid_body.tensor(inertia)
    if angular_velocity is None and momentum is None:
        momentum = (np.cos(1.1), 0.0, np.sin(1.1))
    y0 = rigid_body.start(J, angular_velocity, momentum, orientation)
    return with_energy_guard(
        Problem(
            rigid_body.TABLE,
            y0,
            field,
            parameters=rigid_body.inverse_tensor(J),
            variables=rigid_body.VARIABLES,
            invariants=invariants,
            invariant_names=("energy", "momentum_x", "momentum_y", "momentum_z"),
            invariant_units=("J", "kg m^2/s", "kg m^2/s", "kg m^2/s"),
            canonical=True,
            exact=EulerTop(J, y0[:4], y0[4:]),
            model="free rigid body",
            scene=system_scene("solid", J),
        ),
        momenta=("momentum_x", "momentum_y", "momentum_z"),
    )


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(ω, p × ω)."""
    p = momentum(y)
    w = angular_velocity(p, parameters)
    store_motion(out, w, p, (0.0, 0.0, 0.0))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """½ p·ω and R p."""
    p = momentum(y)
    in_space = so3.act(attitude(y), p)
    st(out, 0, 0.5 * dot(p, angular_velocity(p, parameters)))
    st(out, 1, in_space[0])
    st(out, 2, in_space[1])
    st(out, 3, in_space[2])
