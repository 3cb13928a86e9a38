"""The Kepler problem in the plane: an ellipse with the attracting centre in a focus."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable
from integrators.problem.energy import with_energy_guard
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.table import RN, table_of
from mechanics.scenes import system_scene
from mechanics.systems.checks import positive

Array = NDArray[np.float64]


def kepler(eccentricity: float = 0.6, semi_major_axis: float = 1.0, mu: float = 1.0) -> Problem:
    """q'' = −μ q/|q|³ for a unit mass, from the pericentre on the positive x axis, counter-clockwise.

    Invariants are the energy ½|p|² − μ/|q|, the angular momentum x p_y − y p_x and the eccentricity vector (p_y L/μ −
    x/r, −p_x L/μ − y/r).

    Parameters
    ----------
    eccentricity : float
        In [0, 1), dimensionless.
    semi_major_axis : float
        m.
    mu : float
        Gravitational parameter, m³/s², positive; times the unit mass.

    Returns
    -------
    Problem
        With `exact`, the solution at any time (`KeplerOrbit`).

    Raises
    ------
    ValueError
        An eccentricity outside [0, 1), an axis or a parameter that is not positive.

    Examples
    --------
    >>> kepler(eccentricity=0.2).y0.round(4).tolist()
    [0.8, 0.0, -0.0, 1.2247]
    """
    if not 0.0 <= eccentricity < 1.0:
        raise ValueError(f"eccentricity: {eccentricity}, expected a number in [0, 1), an ellipse")
    positive(semi_major_axis=semi_major_axis, mu=mu)
    orbit = KeplerOrbit(eccentricity, float(semi_major_axis), float(mu))
    return with_energy_guard(
        Problem(
            table_of([(RN, 2), (RN, 2)]),
            orbit(0.0),
            field,
            parameters=np.array([mu]),
            variables=(
                Variable("position", ("x", "y"), "m"),
                Variable("momentum", ("px", "py"), "m/s", "per unit mass"),
            ),
            invariants=invariants,
            invariant_names=("energy", "angular_momentum", "eccentricity_x", "eccentricity_y"),
            invariant_units=("m^2/s^2", "m^2/s", "1", "1"),
            canonical=True,
            exact=orbit,
            model="Kepler",
            scene=system_scene("orbit"),
        ),
        momenta=("angular_momentum",),
    )


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(p, −μ q/|q|³)."""
    x, y_, px, py = ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)
    r2 = x * x + y_ * y_
    k = -parameters[0] / (r2 * sqrt(r2))
    st(out, 0, px)
    st(out, 1, py)
    st(out, 2, k * x)
    st(out, 3, k * y_)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Energy, angular momentum, eccentricity vector."""
    x, y_, px, py = ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)
    r = sqrt(x * x + y_ * y_)
    momentum, mu = x * py - y_ * px, parameters[0]
    st(out, 0, 0.5 * (px * px + py * py) - mu / r)
    st(out, 1, momentum)
    st(out, 2, py * momentum / mu - x / r)
    st(out, 3, -(px * momentum / mu) - y_ / r)


class KeplerOrbit:
    """(x, y, px, py) at any time, by Kepler's equation E − e sin E = n t, n² a³ = μ."""

    def __init__(self, eccentricity: float, semi_major_axis: float, mu: float) -> None:
        self._e, self._a = eccentricity, semi_major_axis
        self._n = np.sqrt(mu / semi_major_axis**3)

    @property
    def period(self) -> float:
        """2π/n."""
        return float(2 * np.pi / self._n)

    def __call__(self, t: ArrayLike) -> Array:
        e, a, b = self._e, self._a, self._a * np.sqrt((1 - self._e) * (1 + self._e))
        E = _eccentric_anomaly(np.remainder(self._n * np.asarray(t, dtype=np.float64) + np.pi, 2 * np.pi) - np.pi, e)
        s, c = np.sin(E), np.cos(E)
        rate = self._n / (1 - e * c)
        return np.stack([a * (c - e), b * s, -a * s * rate, b * c * rate], axis=-1)


def _eccentric_anomaly(M: Any, e: float) -> Any:
    """Solution of E − e sin E = M for |M| ≤ π, by Newton's method from a start beyond which it converges
    monotonically.
    """
    E = np.where(M < 0, -np.pi, np.pi) * np.ones_like(M) if e > 0.8 else M + e * np.sin(M)
    for _ in range(100):
        step = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - step
        if np.max(np.abs(step), initial=0.0) < 1e-15 * np.pi:
            break
    return E
