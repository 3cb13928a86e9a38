"""The plane pendulum on T*SO(2): swinging, turning over, or on the separatrix, solved by Jacobi's elliptic
functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable
from integrators.problem.energy import with_energy_guard
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sincos
from liegroup.table import RN, SO2, table_of
from mechanics.scenes import system_scene
from mechanics.systems.bodies.elliptic import argument, phase, phase_at, quarter_period
from mechanics.systems.checks import finite, positive

Array = NDArray[np.float64]


def pendulum(
    mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    angle: float = 1.0,
    angular_velocity: float = 0.0,
) -> Problem:
    """A point mass on a rod: θ' = p/(m l²), p' = −m g l sin θ; θ = 0 hangs down.

    The invariant is the energy p²/(2 m l²) − m g l cos θ.

    Parameters
    ----------
    mass, length : float
        kg and m.
    gravity : float
        m/s².
    angle, angular_velocity : float
        θ in rad and its rate in rad/s at the start.

    Returns
    -------
    Problem
        With `exact`, the solution at any time (`PendulumMotion`); its angle is continuous, it counts turns.

    Examples
    --------
    >>> swing = pendulum(angle=1.0)
    >>> swing.exact(0.0).tolist()
    [1.0, 1.7208692016106774e-16]
    """
    positive(mass=mass, length=length, gravity=gravity)
    finite(angle=angle, angular_velocity=angular_velocity)
    inertia = mass * length**2
    return with_energy_guard(
        Problem(
            table_of([(SO2, 1), (RN, 1)]),
            np.array([angle, inertia * angular_velocity], dtype=float),
            field,
            parameters=np.array([1.0 / inertia, mass * gravity * length]),
            variables=(
                Variable("angle", ("angle",), "rad", "from the downward vertical"),
                Variable("momentum", ("p",), "kg m^2/s"),
            ),
            invariants=invariants,
            invariant_names=("energy",),
            invariant_units=("J",),
            canonical=True,
            exact=PendulumMotion(inertia, np.sqrt(gravity / length), angle, angular_velocity),
            model="pendulum",
            scene=system_scene("bob", float(length)),
        )
    )


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(p/(m l²), −m g l sin θ)."""
    s, _ = sincos(ld(y, 0))
    p = ld(y, 1)
    st(out, 0, parameters[0] * p)
    st(out, 1, -parameters[1] * s)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """p²/(2 m l²) − m g l cos θ."""
    _, c = sincos(ld(y, 0))
    p = ld(y, 1)
    st(out, 0, 0.5 * parameters[0] * (p * p) - parameters[1] * c)


class PendulumMotion:
    """θ(t) and p(t) of the plane pendulum.

    With ω₀ = √(g/l) and E = (θ'/2ω₀)² + sin²(θ/2):

        E < 1:  sin θ/2 = k sn u, θ' = 2 k ω₀ cn u,         u = u₀ + ω₀ t,       k² = E
        E ≥ 1:  θ/2 = ± am u,     θ' = ± 2 ω₀ dn u/k,       u = u₀ + ω₀ t/k,     k² = 1/E
    """

    def __init__(self, inertia: float, frequency: float, angle: float, angular_velocity: float) -> None:
        self._inertia, self._omega = inertia, frequency
        turns = np.round(angle / (2 * np.pi))
        half, rate = 0.5 * angle - turns * np.pi, angular_velocity / (2 * frequency)
        energy = np.sin(half) ** 2 + rate**2
        deficit = (np.cos(half) - abs(rate)) * (np.cos(half) + abs(rate))  # 1 − E
        self._offset = 2 * np.pi * turns
        self._over = energy >= 1.0
        self._sign = -1.0 if self._over and rate < 0 else 1.0
        if self._over:
            self._k, self._kc = 1 / np.sqrt(energy), np.sqrt(max(-deficit, 0.0) / energy)
            start = phase_at(self._sign * np.sin(half), np.cos(half), self._kc)
        else:
            self._k, self._kc = np.sqrt(energy), np.sqrt(max(deficit, 0.0))
            back = float(rate < 0)
            start = phase_at((1.0 - 2.0 * back) * np.sin(half), abs(rate), self._kc)._replace(half_turns=np.array(back))
        self._u0 = float(argument(start, self._kc))

    @property
    def period(self) -> float:
        """Time to swing to and fro, or to turn once around; infinite on the separatrix."""
        return float(quarter_period(self._kc) * (2 * self._k if self._over else 4) / self._omega)

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=np.float64)
        now = phase(self._u0 + self._omega * t / (self._k if self._over else 1.0), self._kc)
        if self._over:
            angle = 2 * self._sign * now.amplitude
            rate = 2 * self._sign * self._omega / self._k * now.dn
        else:
            angle = 2 * np.arctan2(self._k * now.sign * now.sn, now.dn)
            rate = 2 * self._k * self._omega * now.sign * now.cn
        return np.stack([self._offset + angle, self._inertia * rate], axis=-1)
