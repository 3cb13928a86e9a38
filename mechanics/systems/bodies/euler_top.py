"""Euler's top in closed form: momentum and attitude at any time, by Jacobi's elliptic functions.

In principal axes, turned so that the moments are monotonic and the momentum circles the third axis with p₁ ≥ 0, p₃ > 0
at the start,

    p(t) = (A₁ cn u, s A₂ sn u, A₃ dn u),   u = u₀ + λ t,   s = sign a₂
    R(t) = R(0) P(0) R_z(φ) P(t)ᵀ,   P = R_z(α) R_y(β),   φ = G t/J₃ + (G a₂/λ) ∫ dv/(1 + ν sn² v) from u₀ to u

with G = |p|, α and β the azimuth and the polar angle of p, a₁ = 1/J₃ − 1/J₂ and cyclic, ν = a₃/a₁.  Written with k'
instead of k, nothing is lost next to the separatrix; quaternions are continuous in t.  Source: Jacobi 1850.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.formulas import so3
from mechanics.systems.bodies.elliptic import Phase, argument, phase, phase_at, quarter_period

Array = NDArray[np.float64]

_REVERSED = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
_HALF_TURNS = {True: np.eye(3), False: np.diag([1.0, -1.0, -1.0])}, {True: np.eye(3), False: np.diag([-1.0, -1.0, 1.0])}


class EulerTop:
    """``EulerTop(J, q0, p0)(t)`` → (orientation wxyz, body momentum) of shape ``(*t.shape, 7)``.

    Parameters
    ----------
    J : array (3, 3)
        Inertia tensor, body axes.
    q0 : array (4,)
        Attitude at t = 0, unit quaternion (w, x, y, z).
    p0 : array (3,)
        Body momentum at t = 0.
    """

    def __init__(self, J: ArrayLike, q0: ArrayLike, p0: ArrayLike) -> None:
        moments, axes = np.linalg.eigh(np.asarray(J, dtype=np.float64))
        axes = axes * np.sign(np.linalg.det(axes))
        m = axes.T @ p0
        self._q0, self._p0, self._w0 = (
            np.asarray(q0, dtype=np.float64),
            np.asarray(p0, dtype=np.float64),
            axes @ (m / moments),
        )
        self.permanent = not np.cross(m, m / moments).any()
        if not self.permanent:
            self._prepare(moments, axes, m)

    def _prepare(self, J: Array, axes: Array, m: Array) -> None:
        a1, a2, a3 = _differences(J)
        if a1 * m[2] ** 2 * a2 + a3 * m[0] ** 2 * -a2 > 0:  # it circles the first axis
            J, axes, m = J[::-1], axes @ _REVERSED.T, _REVERSED @ m
        for turn in (_HALF_TURNS[0][bool(m[2] > 0)], _HALF_TURNS[1][bool(m[0] >= 0)]):
            axes, m = axes @ turn.T, turn @ m
        a1, a2, a3 = _differences(J)
        p, kc2 = _rate_and_modulus(J, m)
        self._axes, self._to_axes = axes, _quaternion(axes)
        self._rate = np.sqrt(p)
        self._kc = float(np.sqrt(np.clip(kc2, 0.0, 1.0)))
        first, third = np.sqrt(m[0] ** 2 - a1 / a2 * m[1] ** 2), np.sqrt(m[2] ** 2 - a3 / a2 * m[1] ** 2)
        self._amplitudes = np.array([first, np.sign(a2) * first * np.sqrt(-a2 / a1), third])
        self._nu = a3 / a1
        self._start = phase_at(m[1] / self._amplitudes[1], m[0] / first, self._kc)
        self._u0 = float(argument(self._start, self._kc))
        self._spin, self._wobble = np.linalg.norm(m) / J[2], np.linalg.norm(m) * a2 / self._rate

    @property
    def period(self) -> float:
        """Period of the body momentum; infinite on the separatrix, 0 in a permanent rotation."""
        return 0.0 if self.permanent else float(4.0 * quarter_period(self._kc) / self._rate)

    def __call__(self, t: ArrayLike) -> Array:
        t = np.asarray(t, dtype=np.float64)
        if self.permanent:
            q = so3.multiply(tuple(self._q0), so3.exp(tuple(w * t for w in self._w0)))
            return np.stack(np.broadcast_arrays(*q, *(p + 0.0 * t for p in self._p0)), axis=-1)
        now = phase(self._u0 + self._rate * t, self._kc)
        phi = self._spin * t + self._wobble * (self._third_kind(now) - self._third_kind(self._start))
        q = tuple(self._q0)
        for factor in (self._to_axes, self._tilt(self._start), (np.cos(phi / 2), 0.0, 0.0, np.sin(phi / 2))):
            q = so3.multiply(q, factor)
        for factor in (self._tilt(now), self._to_axes):
            q = so3.multiply(q, so3.inverse(factor))
        p = self._axes @ np.stack(self._momentum(now), axis=-1)[..., None]
        return np.concatenate([np.stack(np.broadcast_arrays(*q), axis=-1), p[..., 0]], axis=-1)

    def _momentum(self, at: Phase) -> tuple[Any, Any, Any]:
        a, b, c = self._amplitudes
        return a * at.sign * at.cn, b * at.sign * at.sn, c * at.dn

    def _tilt(self, at: Phase) -> Any:
        """Quaternion of P = R_z(α) R_y(β), continuous in the amplitude."""
        x, y, z = self._momentum(at)
        first, second, _ = self._amplitudes
        sign, ratio = np.sign(second), abs(second / first)
        alpha = sign * (np.arctan2(ratio * at.sn, at.cn) + np.pi * at.half_turns)
        beta = np.arctan2(np.hypot(x, y), z)
        return so3.multiply(
            (np.cos(alpha / 2), 0.0, 0.0, np.sin(alpha / 2)), (np.cos(beta / 2), 0.0, np.sin(beta / 2), 0.0)
        )

    def _third_kind(self, at: Phase) -> Any:
        """∫ dv/(1 + ν sn² v) from 0 to the argument of a phase."""
        quarter = phase_at(1.0, 0.0, self._kc)
        whole = 2.0 * at.half_turns * self._part(quarter) if np.any(at.half_turns) else 0.0
        return self._part(at) + whole

    def _part(self, at: Phase) -> Any:
        from scipy.special import elliprf, elliprj  # slow to import

        s, cn2, dn2 = at.sn, at.cn**2, at.dn**2
        return s * elliprf(cn2, dn2, 1.0) - self._nu / 3.0 * s**3 * elliprj(cn2, dn2, 1.0, 1.0 + self._nu * s * s)


def _rate_and_modulus(J: Array, m: Array) -> tuple[float, float]:
    """λ² = a₁ (a₃ m₂² − a₂ m₃²) and k'² = a₂ (a₃ m₁² − a₁ m₃²)/λ², exactly up to the last rounding: next to the
    separatrix the difference is all that is known of the distance from it.
    """
    (j1, j2, j3), (m1, m2, m3) = ([Fraction(float(x)) for x in numbers] for numbers in (J, m))
    a1, a2, a3 = (j2 - j3) / (j2 * j3), (j3 - j1) / (j3 * j1), (j1 - j2) / (j1 * j2)
    rate = a1 * (a3 * m2**2 - a2 * m3**2)
    return float(rate), float(a2 * (a3 * m1**2 - a1 * m3**2) / rate)


def _differences(J: Array) -> tuple[float, float, float]:
    """a₁ = 1/J₃ − 1/J₂ and cyclic, without cancellation."""
    return (J[1] - J[2]) / (J[1] * J[2]), (J[2] - J[0]) / (J[2] * J[0]), (J[0] - J[1]) / (J[0] * J[1])


def _quaternion(R: Array) -> Any:
    return so3.from_matrix(tuple(map(tuple, R)))
