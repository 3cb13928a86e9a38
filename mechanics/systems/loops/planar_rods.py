"""Planar mechanisms of rods in the plane x-y, with turns about z and gravity along −y; and the exact time of a turning
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.constraints.loops import Closure, revolute
from mechanics.joints import Continuous
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia

Array = NDArray[np.float64]
HINGE = Continuous((0.0, 0.0, 1.0))
GRAVITY = (0.0, -9.81, 0.0)


def rod(mass: float, length: float) -> Inertia:
    """A slender uniform rod along x from the body origin: m l²/12 about its centre."""
    return Inertia.about_com(mass, (0.5 * length, 0.0, 0.0), mass * length**2 / 12.0 * np.diag([0.0, 1.0, 1.0]))


def flat(mass: float, center: ArrayLike, moment: float) -> Inertia:
    """A body moving in the plane, with the moment of inertia about its centre of mass (x, y)."""
    x, y = np.asarray(center, dtype=float)
    return Inertia.about_com(mass, (x, y, 0.0), moment * np.diag([0.5, 0.5, 1.0]))


def direction(angle: Any) -> Any:
    """(cos, sin) of angles, along a last axis."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def angle(v: Any) -> Any:
    """The angle of a vector of the plane."""
    return np.arctan2(v[..., 1], v[..., 0])


def point(x: float, y: float) -> tuple[float, float, float]:
    """A point of the plane."""
    return float(x), float(y), 0.0


def pin(first: str | None, at_first: ArrayLike, second: str | None, at_second: ArrayLike, name: str) -> Closure:
    """A hinge between two bodies, at points (x, y) of either; three of its five equations hold by themselves in the
    plane.
    """
    return revolute(Frame(first, point(*np.asarray(at_first))), Frame(second, point(*np.asarray(at_second))), name)


class Turning:
    """Exact time of a mechanism of one degree of freedom that turns for ever: θ̇ = rate(θ) > 0, of period 2π.

    t(θ) = ∫ dθ/rate by a Fourier series (spectral accuracy for smooth rates).
    """

    def __init__(self, rate: Callable[[Array], Array], start: float, count: int = 4096) -> None:
        theta = 2.0 * np.pi * np.arange(count) / count
        values = rate(theta)
        if not (values > 0.0).all():
            raise ValueError("rate: not positive everywhere; the mechanism does not turn over")
        c = np.fft.rfft(1.0 / values) / count
        self._mean = c[0].real
        k = np.arange(1, len(c) - 1)
        keep = np.abs(c[1:-1]) > 1e-17 * abs(c[0])
        self._k, self._c = k[keep], c[1:-1][keep]
        self._rate, self._start = rate, start
        self._offset = self._time(np.asarray(start))

    @staticmethod
    def of_one_freedom(
        inertia: Callable[[Array], Array], potential: Callable[[Array], Array], start: float, speed: float
    ) -> Turning:
        """From the kinetic energy ½ m(θ) θ̇² and the potential V(θ), with θ(0) and θ̇(0)."""
        at = np.asarray(start)
        energy = 0.5 * inertia(at) * speed**2 + potential(at)
        return Turning(lambda theta: np.sqrt(2.0 * (energy - potential(theta)) / inertia(theta)), start)

    def _time(self, theta: Array) -> Array:
        waves = np.exp(1j * np.multiply.outer(np.asarray(theta), self._k))
        return np.asarray(self._mean * theta + 2.0 * (waves @ (self._c / (1j * self._k))).real)

    @property
    def period(self) -> float:
        """Time of one turn, s."""
        return float(2.0 * np.pi * self._mean)

    def time(self, theta: ArrayLike) -> Array:
        """When the angle θ (turns counted) is reached, from the start."""
        return self._time(np.asarray(theta, dtype=float)) - self._offset

    def angle(self, t: ArrayLike) -> Array:
        """θ at time t, by Newton's method."""
        t = np.asarray(t, dtype=float)
        theta = self._start + 2.0 * np.pi * t / self.period
        for _ in range(60):
            step = (t - self.time(theta)) * self._rate(theta)
            theta = theta + np.clip(step, -0.3, 0.3)
            if np.abs(step).max() < 1e-14 * (1.0 + np.abs(theta).max()):
                break
        return theta
