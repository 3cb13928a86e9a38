"""Systems with known invariants, and known solutions where there are any.

A system can be imported as ``mechanics.systems.<name>``, whichever room it stands in.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable

from integrators.problem import Problem
from liegroup.modules import listing, renamed
from mechanics.systems import bodies, loops, rolling
from mechanics.systems.bodies.free_rigid_body import free_rigid_body
from mechanics.systems.bodies.full_body import full_body
from mechanics.systems.bodies.heavy_top import heavy_top, kovalevskaya_top, lagrange_top
from mechanics.systems.bodies.kepler import kepler
from mechanics.systems.bodies.pendulum import pendulum

for _room in (bodies, loops, rolling):
    renamed({f"{__name__}.{m.name}": f"{_room.__name__}.{m.name}" for m in pkgutil.iter_modules(_room.__path__)})

SYSTEMS: dict[str, Callable[..., Problem]] = {
    f.__name__: f for f in (free_rigid_body, full_body, heavy_top, kepler, kovalevskaya_top, lagrange_top, pendulum)
}
"""All systems of this package by name."""

__all__ = [
    "SYSTEMS",
    "free_rigid_body",
    "full_body",
    "heavy_top",
    "kepler",
    "kovalevskaya_top",
    "lagrange_top",
    "pendulum",
]
__dir__ = listing(__all__)
