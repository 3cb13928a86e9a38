"""Cross-sections of rods: stiffness and inertia per length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import positive, real

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Section:
    """Stiffness and inertia of a cross-section: e₁ along the rod, e₂ and e₃ the principal axes of the section.

    Parameters
    ----------
    EA : float
        Against extension, N.
    GA2, GA3 : float
        Against shear along e₂ and e₃, N, shear factors included.
    GJ : float
        Against torsion, N·m².
    EI2, EI3 : float
        Against bending about e₂ and e₃, N·m².
    mass : float
        Per length, ρA, kg/m.
    inertia : tuple of three floats
        Moments of inertia per length about e₁, e₂, e₃, ρI, kg·m.

    Raises
    ------
    ValueError, TypeError
        A number that is not positive and finite; moments of inertia that no body has.

    Examples
    --------
    >>> from mechanics.elastic.rods import Section
    >>> steel = Section.round(0.01, 2.1e11, density=7850.0)
    >>> round(steel.EA), round(steel.EI2, 1), round(steel.mass, 3)
    (65973446, 1649.3, 2.466)
    """

    EA: float
    GA2: float
    GA3: float
    GJ: float
    EI2: float
    EI3: float
    mass: float
    inertia: tuple[float, float, float]

    def __post_init__(self) -> None:
        for name in ("EA", "GA2", "GA3", "GJ", "EI2", "EI3", "mass"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        try:
            moments = tuple(self.inertia)
        except TypeError:
            raise TypeError(f"inertia: {self.inertia!r}, expected three moments per length, kg·m") from None
        if len(moments) != 3:
            raise ValueError(f"inertia: {moments!r}, expected three moments per length, about e1, e2, e3, kg·m")
        object.__setattr__(self, "inertia", tuple(positive(j, "inertia") for j in moments))

    @property
    def stiffness(self) -> Array:
        """(EA, GA₂, GA₃, GJ, EI₂, EI₃)."""
        return np.array([self.EA, self.GA2, self.GA3, self.GJ, self.EI2, self.EI3])

    @classmethod
    def round(
        cls,
        radius: float,
        young: float,
        *,
        density: float,
        poisson: float = 0.3,
        shear_factor: float | None = None,
        inner: float = 0.0,
    ) -> Section:
        """A full circle or, with an inner radius, a tube.

        Parameters
        ----------
        radius : float
            Outer radius, m.
        young : float
            E, N/m².
        density : float
            ρ, kg/m³.
        poisson : float
            ν, above −1 and up to ½ (dimensionless); G = E/(2 + 2ν).
        shear_factor : float, optional
            k of the shear stiffness k G A (dimensionless); default Cowper's.
        inner : float
            Inner radius, m.

        Returns
        -------
        Section

        Raises
        ------
        ValueError, TypeError
            Numbers that are not positive, an inner radius that is not below the outer, ν out of range.

        References
        ----------
        Cowper 1966 (shear factor).

        Examples
        --------
        >>> from mechanics.elastic.rods import Section
        >>> tube = Section.round(0.02, 7e10, density=2700.0, inner=0.018)
        >>> round(tube.GJ / tube.EI2, 4)
        0.7692
        """
        R, G = positive(radius, "radius"), _shear_modulus(young, poisson)
        r = real(inner, "inner", f"a radius of at least 0 and below {R:g}", lambda x: 0.0 <= x < R)
        m = (r / R) ** 2
        cowper = 6 * (1 + poisson) * (1 + m) ** 2 / ((7 + 6 * poisson) * (1 + m) ** 2 + (20 + 12 * poisson) * m)
        k = cowper if shear_factor is None else positive(shear_factor, "shear_factor")
        A, moment = math.pi * (R * R - r * r), 0.25 * math.pi * (R**4 - r**4)
        return cls._uniform(young, G, positive(density, "density"), A, (k, k), 2 * moment, moment, moment)

    @classmethod
    def rectangle(
        cls,
        width: float,
        height: float,
        young: float,
        *,
        density: float,
        poisson: float = 0.3,
        shear_factor: float | None = None,
        torsion: float | None = None,
    ) -> Section:
        """A full rectangle.

        Parameters
        ----------
        width, height : float
            Along e₂ and e₃, m.
        young : float
            E, N/m².
        density : float
            ρ, kg/m³.
        poisson : float
            ν, above −1 and up to ½ (dimensionless); G = E/(2 + 2ν).
        shear_factor : float, optional
            k of the shear stiffness k G A (dimensionless); default Cowper's.
        torsion : float, optional
            Torsion constant J, m⁴; default Saint-Venant's series.

        Returns
        -------
        Section

        Raises
        ------
        ValueError, TypeError
            Numbers that are not positive, ν out of range.

        References
        ----------
        Cowper 1966 (shear factor); Timoshenko and Goodier 1951 (torsion).

        Examples
        --------
        >>> from mechanics.elastic.rods import Section
        >>> square = Section.rectangle(1.0, 1.0, 2.0, density=1.0, poisson=0.0)
        >>> round(square.GJ, 4)  # 0.1406 G
        0.1406
        """
        b, h, G = positive(width, "width"), positive(height, "height"), _shear_modulus(young, poisson)
        cowper = 10 * (1 + poisson) / (12 + 11 * poisson)
        k = cowper if shear_factor is None else positive(shear_factor, "shear_factor")
        J = _saint_venant(b, h) if torsion is None else positive(torsion, "torsion")
        return cls._uniform(young, G, positive(density, "density"), b * h, (k, k), J, b * h**3 / 12, h * b**3 / 12)

    @classmethod
    def _uniform(
        cls, E: float, G: float, rho: float, A: float, k: tuple[float, float], J: float, I2: float, I3: float
    ) -> Section:
        inertia = (rho * (I2 + I3), rho * I2, rho * I3)
        return cls(E * A, k[0] * G * A, k[1] * G * A, G * J, E * I2, E * I3, rho * A, inertia)


def _shear_modulus(young: Any, poisson: Any) -> float:
    nu = real(poisson, "poisson", "Poisson's ratio, above -1 and up to 0.5", lambda x: -1.0 < x <= 0.5)
    return positive(young, "young") / (2.0 + 2.0 * nu)


_ODD = 31 / 32 * 1.0369277551433699
"""Σ 1/n⁵ over odd n, 31/32 ζ(5)."""


def _saint_venant(b: float, h: float) -> float:
    """a c³/3 (1 − 192 c/(π⁵ a) Σ tanh(nπa/2c)/n⁵) over odd n, for the sides a ≥ c; tanh x = 1 − 2/(e²ˣ + 1)."""
    a, c = max(b, h), min(b, h)
    n = np.arange(1, 20, 2)
    rest = float((2.0 / (np.exp(np.minimum(n * np.pi * a / c, 700.0)) + 1.0) / n.astype(float) ** 5).sum())
    return a * c**3 / 3 * (1 - 192 / math.pi**5 * (c / a) * (_ODD - rest))
