"""The swinging rubber rod: held by a ball hinge at one end, let go from the horizontal."""

from __future__ import annotations

from integrators.problem import Problem
from liegroup.arrays import integer
from mechanics.elastic.rods import Rod, Section
from mechanics.systems.checks import positive


def swinging_rod(elements: int = 8, length: float = 1.0, radius: float = 0.005, young: float = 5e6) -> Rod:
    """The rod with its weight.

    Parameters
    ----------
    elements : int
    length, radius : float
        m.
    young : float
        N/m².

    Returns
    -------
    Rod
        Pinned at the origin, along x.
    """
    positive(length=length, radius=radius, young=young)
    section = Section.round(radius, young, density=1100.0, poisson=0.5, shear_factor=0.9)
    n = integer(elements, "elements", 1)
    return Rod.straight(length, n, section, supports={0: "pinned"}, gravity=(0.0, 0.0, -9.81))


def rubber_rod(elements: int = 8, length: float = 1.0, radius: float = 0.005, young: float = 5e6) -> Problem:
    """A rod of soft rubber (ρ = 1100 kg/m³, ν = ½) on a ball hinge, from rest.

    Parameters
    ----------
    elements : int
    length, radius : float
        m.
    young : float
        N/m².

    Returns
    -------
    Problem
        State (attitude of the hinge, poses of the other nodes; momenta in body axes); watches energy, momenta and the
        greatest turn.  Explicit steps must be below 1.3e-4 s (`mechanics.elastic.rods.step_limit`).

    Raises
    ------
    ValueError, TypeError
        Numbers that are not positive.

    References
    ----------
    Lang, Linn and Arnold 2011.

    Examples
    --------
    >>> rubber_rod(3).n
    46
    """
    from dataclasses import replace

    return replace(swinging_rod(elements, length, radius, young).problem(), model="rubber rod")
