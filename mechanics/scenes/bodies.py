"""Scenes of systems that know their own shapes: bodies placed by functions of the state, and contact points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.scenes import Body, Scene, Trail

Array = NDArray[np.float64]
Place: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""States (k, n) → origins (k, 3) and rotations (k, 3, 3) of one body."""


@dataclass(frozen=True)
class Placed:
    """The poses of bodies, each from the state alone."""

    places: tuple[Place, ...]

    def __call__(self, t: Array, y: Array) -> tuple[Array, Array]:
        found = [place(y) for place in self.places]
        return np.stack([x for x, _ in found], axis=1), np.stack([R for _, R in found], axis=1)


def placed(bodies: Sequence[tuple[str, Sequence[Any], Place]], trails: Sequence[Trail] = (), **more: Any) -> Scene:
    """The scene of bodies (name, shapes, place); `more` as for `Scene`."""
    return Scene(
        [Body(name, shapes) for name, shapes, _ in bodies], Placed(tuple(p for *_, p in bodies)), trails=trails, **more
    )


@dataclass(frozen=True)
class contact_of_wheel:
    """Where a wheel, whose axis is z of `body axes` turned by `turn`, touches a plane: a point of a `Trail`.

    C = x + R c − r e − b n with e = (n − (n·a) a)/|…| up in the plane of the wheel, a its axis, n the normal of the
    plane, r the radius, b that of the section, c the hub in body axes.
    """

    radius: float
    section: float = 0.0
    hub: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)

    def __call__(self, x: Array, R: Array) -> Array:
        n, a = np.asarray(self.normal), R @ np.asarray(self.axis)
        up = n - (a @ n)[:, None] * a
        up = up / (np.linalg.norm(up, axis=-1, keepdims=True) + 1e-300)
        return np.asarray(x + R @ np.asarray(self.hub) - self.radius * up - self.section * n)


@dataclass(frozen=True)
class contact_of_ellipsoid:
    """Where an ellipsoid of half axes B = diag(…) touches the plane below: C = x + R (c − B²γ/√(γ·B²γ)), γ = Rᵀe_z."""

    half_axes: tuple[float, ...]
    centre: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __call__(self, x: Array, R: Array) -> Array:
        gamma, squares = R[:, 2], np.square(self.half_axes)
        normal = squares * gamma
        rho = np.asarray(self.centre) - normal / np.sqrt((gamma * normal).sum(axis=-1, keepdims=True))
        return np.asarray(x + np.einsum("kij,kj->ki", R, rho))


@dataclass(frozen=True)
class contact_of_ball:
    """Where a ball of this radius touches a plane of this normal."""

    radius: float
    centre: tuple[float, ...] = (0.0, 0.0, 0.0)
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)

    def __call__(self, x: Array, R: Array) -> Array:
        return np.asarray(x + R @ np.asarray(self.centre) - self.radius * np.asarray(self.normal))


def still(x: ArrayLike = (0.0, 0.0, 0.0)) -> Place:
    """A body that stays where it is."""
    return Still(tuple(np.asarray(x, dtype=float).tolist()))


@dataclass(frozen=True)
class Still:
    x: tuple[float, ...]

    def __call__(self, y: Array) -> tuple[Array, Array]:
        return np.tile(np.asarray(self.x), (len(y), 1)), np.tile(np.eye(3), (len(y), 1, 1))


@dataclass(frozen=True)
class Planar:
    """A body with (x, y, heading) in the state from component `at` on, at a height, m."""

    at: int = 0
    height: float = 0.0

    def __call__(self, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import turn_about_z

        x = np.stack([y[:, self.at], y[:, self.at + 1], np.full(len(y), self.height)], axis=-1)
        return x, turn_about_z(y[:, self.at + 2])


@dataclass(frozen=True)
class Posed:
    """A body with (x, y, z, quaternion) in the state from component `at` on, or with a quaternion about a point `x`."""

    at: int = 0
    x: tuple[float, ...] | None = None

    def __call__(self, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import unit
        from liegroup.rotations import matrix_from_quaternion_wxyz

        start = self.at + (3 if self.x is None else 0)
        R = matrix_from_quaternion_wxyz(unit(y[:, start : start + 4]))
        return (y[:, self.at : self.at + 3] if self.x is None else np.tile(self.x, (len(y), 1))), R


@dataclass(frozen=True)
class Hinged:
    """A body on another one: at a point of it, turned about z by component `angle` of the state, or shifted along a
    direction by component `shift`.
    """

    on: Place
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angle: int | None = None
    shift: int | None = None
    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def __call__(self, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import turn_about_z

        x, R = self.on(y)
        point = np.tile(np.asarray(self.position), (len(y), 1))
        if self.shift is not None:
            point = point + y[:, self.shift, None] * np.asarray(self.direction)
        turned = R if self.angle is None else R @ turn_about_z(y[:, self.angle])
        return x + np.einsum("kij,kj->ki", R, point), turned


@dataclass(frozen=True)
class Disk:
    """A rolling disk in angles: y = (x, y, ψ, θ, φ, …), R = R_z(ψ) R_x(θ) R_z(φ), its axis z, the height r sin θ."""

    radius: float

    def __call__(self, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import turn_about_z

        c, s = np.cos(y[:, 3]), np.sin(y[:, 3])
        tilt = np.zeros((len(y), 3, 3))
        tilt[:, 0, 0], tilt[:, 1, 1], tilt[:, 1, 2], tilt[:, 2, 1], tilt[:, 2, 2] = 1.0, c, -s, s, c
        x = np.stack([y[:, 0], y[:, 1], self.radius * s], axis=-1)
        return x, turn_about_z(y[:, 2]) @ tilt @ turn_about_z(y[:, 4])


@dataclass(frozen=True)
class UprightDisk:
    """A disk that stays upright: y = (x, y, heading, φ, …), its axis z to the left of the heading."""

    radius: float

    def __call__(self, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import turn_about_z

        x, R = Planar(0, self.radius)(y)
        upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # columns: ahead, down, left
        return x, R @ upright @ turn_about_z(y[:, 3])


@dataclass(frozen=True)
class Inside:
    """Where a ball touches a cylinder about the z axis around it."""

    radius: float

    def __call__(self, x: Array, R: Array) -> Array:
        outward = x * (1.0, 1.0, 0.0)
        return np.asarray(x + self.radius * outward / np.linalg.norm(outward, axis=-1, keepdims=True))
