"""Mass, centre of mass and inertia tensor of one body, and what makes them physical."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import reals
from mechanics.algebra.spatial import blocks, skew

Array = NDArray[np.float64]
LARGEST = 1e50
"""Greatest length, mass and moment of a model, SI units: products of six of them are finite."""
_ROUNDING = 1e-9
"""Relative to the trace: what a model file written with nine digits may be off by."""


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass distribution of a body, in body axes; build it by `about_origin`, `about_com`, `point` or `zero`.

    Parameters
    ----------
    mass : float
        Mass, kg.
    com : array (3,)
        Centre of mass from the body origin, m.
    tensor : array (3, 3)
        Inertia tensor **about the body origin**, kg·m².

    Raises
    ------
    ValueError
        Wrong shape, a number that is not finite or beyond `LARGEST`, or a tensor that is not symmetric.
    """

    mass: float
    com: Array
    tensor: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(_array(self.mass, (), "mass")))
        object.__setattr__(self, "com", _array(self.com, (3,), "com"))
        tensor = _array(self.tensor, (3, 3), "tensor")
        if np.abs(tensor - tensor.T).max() > _ROUNDING * max(np.abs(tensor).max(), np.finfo(float).tiny):
            raise ValueError(f"tensor: {tensor.tolist()} is not symmetric; expected Jxy = Jyx, Jxz = Jzx, Jyz = Jzy")
        object.__setattr__(self, "tensor", _frozen(0.5 * (tensor + tensor.T)))

    @staticmethod
    def about_origin(mass: float, com: ArrayLike, tensor: ArrayLike) -> Inertia:
        """From the tensor about the body origin."""
        return Inertia(mass, reals(com, "com"), reals(tensor, "tensor"))

    @staticmethod
    def about_com(mass: float, com: ArrayLike, tensor: ArrayLike) -> Inertia:
        """From the tensor about the centre of mass (axes parallel to the body's): J = J_com + m c̃ c̃ᵀ."""
        mass, c = float(_array(mass, (), "mass")), _array(com, (3,), "com")
        return Inertia(mass, c, _array(tensor, (3, 3), "tensor") + mass * skew(c) @ skew(c).T)

    @staticmethod
    def point(mass: float, com: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
        """A point mass."""
        return Inertia.about_com(mass, com, np.zeros((3, 3)))

    @staticmethod
    def zero() -> Inertia:
        """No mass at all: an intermediate link."""
        return Inertia.point(0.0)

    @property
    def tensor_about_com(self) -> Array:
        """J_com = J − m c̃ c̃ᵀ."""
        c = skew(self.com)
        return np.asarray(self.tensor - self.mass * c @ c.T)

    @property
    def is_zero(self) -> bool:
        return self.mass == 0.0 and not self.tensor.any()

    @property
    def is_full(self) -> bool:
        """Whether it resists every acceleration: positive mass and moments (not a point, not a thin rod)."""
        return bool(
            self.mass > 0.0 and np.linalg.eigvalsh(self.tensor_about_com)[0] > _ROUNDING * np.trace(self.tensor)
        )

    def matrix(self) -> Array:
        """M = [[m E, −m c̃], [m c̃, J]], the 6 × 6 mass matrix about the body origin."""
        c = self.mass * skew(self.com)
        return np.asarray(blocks(self.mass * np.eye(3), -c, c, self.tensor))

    def moved(self, position: ArrayLike, rotation: ArrayLike) -> Inertia:
        """The same matter described in other axes: origin of the present ones at `position`, x_new = rotation·x +
        position.
        """
        x, R = _array(position, (3,), "position"), _array(rotation, (3, 3), "rotation")
        return Inertia.about_com(self.mass, R @ self.com + x, R @ self.tensor_about_com @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies rigidly joined, described in the same axes."""
        mass = self.mass + other.mass
        first_moment = self.mass * self.com + other.mass * other.com
        return Inertia(mass, first_moment / mass if mass else np.zeros(3), self.tensor + other.tensor)

    def impossible(self) -> str:
        """Why kinetic energy would not be positive, or an empty string."""
        if self.mass < 0.0:
            return f"mass {self.mass:g} kg, expected a positive one (zero for a massless link)"
        moments = np.linalg.eigvalsh(self.tensor_about_com)
        if moments[0] < -_ROUNDING * np.abs(np.trace(self.tensor)):
            return f"principal moments {_list(moments)} kg·m² about the centre of mass, expected none below zero"
        return ""

    def unphysical(self) -> str:
        """Why no distribution of mass has this inertia (though equations of motion exist), or an empty string."""
        a, b, c = moments = np.linalg.eigvalsh(self.tensor_about_com)
        if c - a - b > _ROUNDING * np.abs(np.trace(self.tensor)):
            return f"principal moments {_list(moments)} kg·m², expected each at most the sum of the other two"
        if self.mass == 0.0 and self.tensor.any():
            return f"mass 0 with principal moments {_list(moments)} kg·m², expected zero moments or a positive mass"
        return ""


def _array(value: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    array = reals(value, name)
    if array.shape != shape:
        raise ValueError(f"{name}: shape {array.shape}, expected {shape}")
    if not (np.abs(array) <= LARGEST).all():
        raise ValueError(f"{name}: {array.tolist()} is not finite, or beyond {LARGEST:g}")
    return _frozen(array)


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _list(values: Any) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"
