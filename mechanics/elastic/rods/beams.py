"""An element of a rod between two bodies of a tree, as a force element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liegroup.arrays import numbers, of_kind, positive
from liegroup.formulas import so3
from liegroup.maps import maps_of
from mechanics.constraints.loops import holonomic
from mechanics.elastic.rods.section import Section
from mechanics.forces import Element, compliant, not_negative
from mechanics.forces.compliant import rotation_vector
from mechanics.model.frames import Frame

_dexpinv_left = maps_of(so3)[0].dtau_inverse_left
STRAIGHT = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def beam(
    first: Frame,
    second: Frame,
    section: Section,
    length: float,
    *,
    strain: ArrayLike = STRAIGHT,
    damping: float = 0.0,
) -> list[Element]:
    """An element of a geometrically exact rod that joins two bodies: a massless elastic link, for large turns too.

    With X = log of the pose of the second frame in the first, e = X/l − e₀ and C the stiffness of the section it stores
    ½ l eᵀ C e, and loses τ l ėᵀ C ė (Kelvin and Voigt).

    Parameters
    ----------
    first, second : Frame
        Its ends, with their first axes along it; ``Frame(None, …)`` is fixed in space.
    section : Section
        Its stiffness; its mass is not looked at.
    length : float
        l, m.
    strain : array (6,)
        e₀ of the link without stress: stretch along the three axes (dimensionless) and curvature, 1/m; default
        straight, (1, 0, 0, 0, 0, 0).  A link bent about its third axis has (1, 0, 0, 0, 0, κ).
    damping : float
        τ, s: the stress is C (e + τ ė).

    Returns
    -------
    list of Element
        Six, one for every component of the strain, for `Mechanism`.

    Raises
    ------
    ModelError, ValueError
        Negative numbers, a length that is not positive; TypeError for what is no frame or section.

    Notes
    -----
    Holds while the ends are turned by less than π against each other; the strain jumps there.  Between the ends the
    link is a helix: a pure bending is exact.  Of a rod with mass the nodes are bodies: `Rod.attached_to`.

    References
    ----------
    Sonneville, Cardona and Brüls 2014.

    Examples
    --------
    >>> from mechanics import Frame
    >>> from mechanics.elastic.rods import Section, beam
    >>> spring_steel = Section.round(0.002, 2.1e11, density=7850.0)
    >>> len(beam(Frame("hull"), Frame("antenna"), spring_steel, 0.3, damping=1e-4))
    6
    """
    of_kind(section, Section, "section", "a mechanics.elastic.rods.Section")
    l, tau = positive(length, "length"), not_negative(damping, "damping")
    e0 = numbers(strain, "strain", (6,)).tolist()

    def excess(x: Any, R: Any) -> list[Any]:
        """X/l − e₀."""
        theta = rotation_vector(x, R)
        X = [*_dexpinv_left(tuple(-a for a in theta), tuple(x)), *theta]  # log of (x, R)
        return [a * (1.0 / l) - rest for a, rest in zip(X, e0, strict=True)]

    C = l * np.asarray(section.stiffness)
    return compliant(holonomic(first, second, excess, "beam"), C, damping=tau * C)
