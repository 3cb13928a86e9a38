"""The heavy top: a rigid body turning about a fixed point in a uniform field; with the tops of Lagrange and
Kovalevskaya.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem
from integrators.problem.energy import with_energy_guard
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, st
from liegroup.formulas import so3
from liegroup.formulas.vectors import cross, dot
from mechanics.scenes import system_scene
from mechanics.systems.bodies import rigid_body
from mechanics.systems.bodies.rigid_body import angular_velocity, attitude, momentum, store_motion
from mechanics.systems.checks import finite, positive, vector

Array = NDArray[np.float64]


def heavy_top(
    inertia: ArrayLike = (15.234375, 0.46875, 15.234375),
    mass: float = 15.0,
    com: ArrayLike = (0.0, 1.0, 0.0),
    gravity: float = 9.81,
    angular_velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
) -> Problem:
    """A heavy top: q' = q·ω^, p' = p × ω + m g Γ × r, Γ = Rᵀ e₃, on SO(3) × R³ = T*SO(3); weight along −e₃ of space.

    Invariants are the energy ½ p·ω + m g r·Γ and the vertical momentum p·Γ.  The default is the fast top of Arnold,
    Brüls and Cardona (2015), ω = (0, 150, −4.61538): it nutates with the period 0.74520694761676906 s and passes
    straight down.

    Parameters
    ----------
    inertia : array (3,) or (3, 3)
        Principal moments or tensor about the *fixed point*, body axes, kg·m².
    mass : float
        kg.
    com : array (3,)
        Centre of mass r from the fixed point, body axes, m.
    gravity : float
        m/s².
    angular_velocity : array (3,), optional
        ω at the start, body axes, rad/s.
    momentum : array (3,), optional
        p at the start instead, body axes, kg·m²/s.
    orientation : array (4,)
        Attitude at the start, unit quaternion (w, x, y, z).

    Returns
    -------
    Problem
        State (q, p) on T*SO(3); watches energy and vertical momentum.

    Raises
    ------
    ValueError
        Wrong shapes, moments that are not positive, a quaternion that is not of unit norm.

    Examples
    --------
    >>> heavy_top()
    <Problem 'heavy top': canonical on SO(3) × R^3, watching energy, vertical_momentum>
    """
    J = rigid_body.tensor(inertia)
    if angular_velocity is None and momentum is None:
        angular_velocity = (0.0, 150.0, -4.61538)
    parameters = np.concatenate([rigid_body.inverse_tensor(J), _weight(mass, com, gravity)])
    y0 = rigid_body.start(J, angular_velocity, momentum, orientation)
    place = tuple(np.asarray(com, dtype=float).tolist())
    return _problem(y0, parameters, "heavy top", place, invariants, "energy J", "vertical_momentum kg m^2/s")


def lagrange_top(
    transverse: float = 1.0,
    axial: float = 0.5,
    weight_moment: float = 1.0,
    angular_velocity: ArrayLike = (0.0, 0.3, 5.0),
    orientation: ArrayLike = (0.8775825618903728, 0.479425538604203, 0.0, 0.0),
) -> Problem:
    """Lagrange's top: J₁ = J₂, centre of mass on the third axis; a third invariant is the axial momentum p₃.

    Parameters
    ----------
    transverse, axial : float
        Moments of inertia about the fixed point, kg·m².
    weight_moment : float
        m g l, N·m.
    angular_velocity : array (3,)
        ω at the start, body axes, rad/s.
    orientation : array (4,)
        Attitude at the start, unit quaternion (w, x, y, z) (dimensionless); the default is tilted by 1 rad.

    Returns
    -------
    Problem
        As `heavy_top`, and the axial momentum p₃.

    Raises
    ------
    ValueError
        Wrong shapes, moments that are not positive, a quaternion that is not of unit norm.

    Examples
    --------
    >>> lagrange_top(angular_velocity=(0.0, 0.0, 10.0))
    <Problem 'Lagrange top': canonical on SO(3) × R^3, watching energy, vertical_momentum, axial_momentum>
    """
    positive(transverse=transverse, axial=axial)
    finite(weight_moment=weight_moment)
    J = np.diag([transverse, transverse, axial])
    parameters = np.concatenate([rigid_body.inverse_tensor(J), [0.0, 0.0, weight_moment]])
    y0 = rigid_body.start(J, angular_velocity, None, orientation)
    third = "axial_momentum kg m^2/s"
    return _problem(
        y0,
        parameters,
        "Lagrange top",
        (0.0, 0.0, 1.0),
        lagrange_invariants,
        "energy J",
        "vertical_momentum kg m^2/s",
        third,
    )


def kovalevskaya_top(
    axial: float = 1.0,
    weight_moment: float = 1.0,
    angular_velocity: ArrayLike = (0.7, -0.4, 1.2),
    orientation: ArrayLike = (0.8775825618903728, 0.479425538604203, 0.0, 0.0),
) -> Problem:
    """Kovalevskaya's top: J₁ = J₂ = 2 J₃, centre of mass on the first axis.

    With μ = m g l/J₃ the third invariant is K = (ω₁² − ω₂² − μΓ₁)² + (2 ω₁ω₂ − μΓ₂)² (Kovalevskaya 1889).

    Parameters
    ----------
    axial : float
        J₃, kg·m².
    weight_moment : float
        m g l, N·m.
    angular_velocity : array (3,)
        ω at the start, body axes, rad/s.
    orientation : array (4,)
        Attitude at the start, unit quaternion (w, x, y, z) (dimensionless); the default is tilted by 1 rad.

    Returns
    -------
    Problem
        As `heavy_top`, and K.

    Raises
    ------
    ValueError
        Wrong shapes, moments that are not positive, a quaternion that is not of unit norm.

    Examples
    --------
    >>> kovalevskaya_top()
    <Problem 'Kovalevskaya top': canonical on SO(3) × R^3, watching energy, vertical_momentum, kovalevskaya>
    """
    positive(axial=axial)
    finite(weight_moment=weight_moment)
    J = axial * np.diag([2.0, 2.0, 1.0])
    parameters = np.concatenate([rigid_body.inverse_tensor(J), [weight_moment, 0.0, 0.0]])
    y0 = rigid_body.start(J, angular_velocity, None, orientation)
    third = "kovalevskaya 1/s^4"
    return _problem(
        y0,
        parameters,
        "Kovalevskaya top",
        (1.0, 0.0, 0.0),
        kovalevskaya_invariants,
        "energy J",
        "vertical_momentum kg m^2/s",
        third,
    )


def _problem(y0: Array, parameters: Array, model: str, com: tuple[float, ...], invariants: Any, *names: str) -> Problem:
    return with_energy_guard(
        Problem(
            rigid_body.TABLE,
            y0,
            field,
            parameters=parameters,
            variables=rigid_body.VARIABLES,
            invariants=invariants,
            invariant_names=tuple(name.split(maxsplit=1)[0] for name in names),
            invariant_units=tuple(name.split(maxsplit=1)[1] for name in names),
            canonical=True,
            model=model,
            scene=system_scene("top", com),
        ),
        momenta=("vertical_momentum",),
    )


def _weight(mass: float, com: ArrayLike, gravity: float) -> Array:
    r = vector(com, 3, "com", "the centre of mass from the fixed point, in body axes")
    positive(mass=mass)
    finite(gravity=gravity)
    return np.asarray(mass * gravity * r)


# --- kernels: parameters are J⁻¹ (6) and m g r (3) -------------------------------------------------------------------


@helper
def upward(y: Any) -> Any:
    """Γ = Rᵀ e₃, the upward vertical in body axes: the third row of R."""
    return so3.matrix(attitude(y))[2]


@helper
def _weight_moment(parameters: Any) -> Any:
    return parameters[6], parameters[7], parameters[8]


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(ω, p × ω + Γ × m g r)."""
    p = momentum(y)
    w = angular_velocity(p, parameters)
    store_motion(out, w, p, cross(upward(y), _weight_moment(parameters)))


@helper
def _store_energy_and_vertical(y: Any, parameters: Any, out: Any) -> None:
    p, up = momentum(y), upward(y)
    st(out, 0, 0.5 * dot(p, angular_velocity(p, parameters)) + dot(up, _weight_moment(parameters)))
    st(out, 1, dot(p, up))


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """½ p·ω + m g r·Γ and p·Γ."""
    _store_energy_and_vertical(y, parameters, out)


@entry(*FIELD_SIGNATURES)
def lagrange_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Those of every top, and p₃."""
    _store_energy_and_vertical(y, parameters, out)
    st(out, 2, momentum(y)[2])


@entry(*FIELD_SIGNATURES)
def kovalevskaya_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Those of every top, and K, μ = m g l J₃⁻¹."""
    _store_energy_and_vertical(y, parameters, out)
    w, up, mu = angular_velocity(momentum(y), parameters), upward(y), parameters[6] * parameters[2]
    a = w[0] * w[0] - w[1] * w[1] - mu * up[0]
    b = 2.0 * w[0] * w[1] - mu * up[1]
    st(out, 2, a * a + b * b)
