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

    Examples
    --------
    >>> import numpy as np
    >>> from mechanics import Inertia
    >>> bar = Inertia.about_com(2.0, (0.0, 0.0, -0.5), np.diag([0.2, 0.2, 0.01]))
    >>> bar.tensor.diagonal().tolist(), bar.tensor_about_com.diagonal().round(12).tolist()
    ([0.7, 0.7, 0.01], [0.2, 0.2, 0.01])
    >>> bar.matrix().shape, (bar + Inertia.point(1.0, (0.0, 0.0, -1.0))).mass
    ((6, 6), 3.0)
    >>> bar.moved((0.0, 0.0, 0.5), np.eye(3)).com.tolist(), Inertia.zero().is_zero, bar.is_full
    ([0.0, 0.0, 0.0], True, True)
    >>> Inertia.about_origin(1.0, (0.0, 0.0, 1.0), np.diag([1.0, 1.0, 0.0])).unphysical()
    ''
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
        """Inertia from the tensor about the body origin.

        Parameters
        ----------
        mass : float
            kg.
        com : array (3,)
            Centre of mass from the body origin, m.
        tensor : array (3, 3)
            J about the body origin, body axes, kg·m².

        Returns
        -------
        Inertia
            Checked for symmetry and size; `Tree` checks that it is physical.
        """
        return Inertia(mass, reals(com, "com"), reals(tensor, "tensor"))

    @staticmethod
    def about_com(mass: float, com: ArrayLike, tensor: ArrayLike) -> Inertia:
        """Inertia from the tensor about the centre of mass (axes parallel to the body's): J = J_com + m c̃ c̃ᵀ.

        Parameters
        ----------
        mass : float
            kg.
        com : array (3,)
            Centre of mass c from the body origin, m.
        tensor : array (3, 3)
            J_com about the centre of mass, axes parallel to the body's, kg·m².

        Returns
        -------
        Inertia
            Checked for symmetry and size; `Tree` checks that it is physical.
        """
        mass, c = float(_array(mass, (), "mass")), _array(com, (3,), "com")
        return Inertia(mass, c, _array(tensor, (3, 3), "tensor") + mass * skew(c) @ skew(c).T)

    @staticmethod
    def point(mass: float, com: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
        """Inertia of a point mass: J = m c̃ c̃ᵀ.

        Parameters
        ----------
        mass : float
            kg.
        com : array (3,)
            Where it is from the body origin, m.

        Returns
        -------
        Inertia
            Singular: it resists no rotation about its own place.
        """
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
        """Whether it has neither mass nor moments."""
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

        Parameters
        ----------
        position : array (3,)
            Origin of the present axes in the new ones, m.
        rotation : array (3, 3)
            x_new = rotation·x + position (dimensionless).

        Returns
        -------
        Inertia
            In the new axes, about their origin.
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
