"""The flying spaghetti: a free rod thrown by a force and a moment at one end."""

from __future__ import annotations

from integrators.problem import Problem
from liegroup.arrays import integer
from mechanics.elastic.rods import Load, Rod, Section

SECTION = Section(1e4, 1e4, 1e4, 500.0, 500.0, 500.0, 1.0, (20.0, 10.0, 10.0))


def flying_rod(elements: int = 10) -> Rod:
    """The rod with its loads.

    Parameters
    ----------
    elements : int

    Returns
    -------
    Rod
        10 m, from (6, 0, 0) to (0, 8, 0).
    """
    load = Load(0, force=(20.0, 0.0, 0.0), moment=(0.0, -100.0, -200.0), times=(0.0, 2.5, 5.0), factors=(0.0, 1.0, 0.0))
    n = integer(elements, "elements", 1)
    return Rod.straight(10.0, n, SECTION, origin=(6.0, 0.0, 0.0), direction=(-6.0, 8.0, 0.0), loads=[load])


def flying_spaghetti(elements: int = 10) -> Problem:
    """Simo and Vu-Quoc's rod of 10 m, EA = GA = 10⁴ N, EI = GJ = 500 N·m², 1 kg/m, under T(t) = 0 … 200 … 0 at 0, 2.5
    and 5 s: a force T/10 along x and moments −T/2 about y, −T about z at the node (6, 0, 0).

    Momenta and energy are constant from 5 s on; the linear momentum is then (50, 0, 0) kg m/s.

    Parameters
    ----------
    elements : int

    Returns
    -------
    Problem
        State (poses, momenta in body axes) of elements + 1 nodes; watches energy, momenta and the greatest turn.

    Raises
    ------
    ValueError, TypeError
        No positive whole number.

    References
    ----------
    Simo and Vu-Quoc 1988.

    Examples
    --------
    >>> flying_spaghetti(3).n
    52
    """
    from dataclasses import replace

    return replace(flying_rod(elements).problem(), model="flying spaghetti")
