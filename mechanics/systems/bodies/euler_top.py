"""Euler's top in closed form: momentum and attitude at any time, by Jacobi's elliptic functions.

In principal axes, turned so that the moments are monotonic and the momentum circles the third axis with p₁ ≥ 0, p₃ > 0
at the start,

    p(t) = (A₁ cn u, s A₂ sn u, A₃ dn u),   u = u₀ + λ t,   s = sign a₂
    R(t) = R(0) P(0) R_z(φ) P(t)ᵀ,   P = R_z(α) R_y(β),   φ = G t/J₃ + (G a₂/λ) ∫ dv/(1 + ν sn² v) from u₀ to u

with G = |p|, α and β the azimuth and the polar angle of p, a₁ = 1/J₃ − 1/J₂ and cyclic, ν = a₃/a₁.  Written with k'
instead of k, nothing is lost next to the separatrix; quaternions are continuous in t.  Source: Jacobi 1850.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import elliprf, elliprj

from liegroup.formulas import so3
from mechanics.systems.bodies.elliptic import amplitude, first_kind, quarter_period

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
        p = a1 * (a3 * m[1] ** 2 - a2 * m[2] ** 2)
        self._axes, self._to_axes = axes, _quaternion(axes)
        self._rate = np.sqrt(p)
        self._kc = float(np.sqrt(np.clip(a2 * (a3 * m[0] ** 2 - a1 * m[2] ** 2) / p, 0.0, 1.0)))
        first, third = np.sqrt(m[0] ** 2 - a1 / a2 * m[1] ** 2), np.sqrt(m[2] ** 2 - a3 / a2 * m[1] ** 2)
        self._amplitudes = np.array([first, np.sign(a2) * first * np.sqrt(-a2 / a1), third])
        self._nu = a3 / a1
        self._am0 = np.arctan2(m[1] / self._amplitudes[1], m[0] / first)
        self._u0 = float(first_kind(self._am0, self._kc))
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
        am = amplitude(self._u0 + self._rate * t, self._kc)
        phi = self._spin * t + self._wobble * (self._third_kind(am) - self._third_kind(self._am0))
        q = tuple(self._q0)
        for factor in (self._to_axes, self._tilt(self._am0), (np.cos(phi / 2), 0.0, 0.0, np.sin(phi / 2))):
            q = so3.multiply(q, factor)
        for factor in (self._tilt(am), self._to_axes):
            q = so3.multiply(q, so3.inverse(factor))
        p = self._axes @ np.stack(self._momentum(am), axis=-1)[..., None]
        return np.concatenate([np.stack(np.broadcast_arrays(*q), axis=-1), p[..., 0]], axis=-1)

    def _squares(self, am: Any) -> tuple[Any, Any]:
        """cn² and dn² at an amplitude."""
        cn2 = np.cos(am) ** 2
        return cn2, self._kc**2 + (1.0 - self._kc**2) * cn2

    def _momentum(self, am: Any) -> tuple[Any, Any, Any]:
        a, b, c = self._amplitudes
        return a * np.cos(am), b * np.sin(am), c * np.sqrt(self._squares(am)[1])

    def _tilt(self, am: Any) -> Any:
        """Quaternion of P = R_z(α) R_y(β), continuous in the amplitude."""
        x, y, z = self._momentum(am)
        first, second, _ = self._amplitudes
        sign, ratio = np.sign(second), abs(second / first)
        s, c = np.sin(am), np.cos(am)
        alpha = sign * (am + np.arctan2((ratio - 1.0) * s * c, c * c + ratio * s * s))
        beta = np.arctan2(np.hypot(x, y), z)
        return so3.multiply(
            (np.cos(alpha / 2), 0.0, 0.0, np.sin(alpha / 2)), (np.cos(beta / 2), 0.0, np.sin(beta / 2), 0.0)
        )

    def _third_kind(self, am: Any) -> Any:
        """∫ dv/(1 + ν sn² v) from 0 to the argument whose amplitude is `am`."""
        turns = np.round(am / np.pi)
        whole = 2.0 * turns * self._part(np.pi / 2) if np.any(turns) else 0.0
        return self._part(am - turns * np.pi) + whole

    def _part(self, am: Any) -> Any:
        s, (cn2, dn2) = np.sin(am), self._squares(am)
        return s * elliprf(cn2, dn2, 1.0) - self._nu / 3.0 * s**3 * elliprj(cn2, dn2, 1.0, 1.0 + self._nu * s * s)


def _differences(J: Array) -> tuple[float, float, float]:
    """a₁ = 1/J₃ − 1/J₂ and cyclic, without cancellation."""
    return (J[1] - J[2]) / (J[1] * J[2]), (J[2] - J[0]) / (J[2] * J[0]), (J[0] - J[1]) / (J[0] * J[1])


def _quaternion(R: Array) -> Any:
    return so3.from_matrix(tuple(map(tuple, R)))
