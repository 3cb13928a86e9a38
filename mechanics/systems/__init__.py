"""Systems with known invariants, and known solutions where there are any.

`SYSTEMS` holds them all by name: ``SYSTEMS["four-bar"].problem()``, ``integrate(SYSTEMS["rolling-disk"], …)``.  A
system can also be imported as ``mechanics.systems.<name>``, whichever room it stands in.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING

from liegroup.modules import found_later, listing, renamed
from mechanics.systems import bodies, elastic, loops, rolling
from mechanics.systems.bodies.free_rigid_body import free_rigid_body
from mechanics.systems.bodies.full_body import full_body
from mechanics.systems.bodies.heavy_top import heavy_top, kovalevskaya_top, lagrange_top
from mechanics.systems.bodies.kepler import kepler
from mechanics.systems.bodies.pendulum import pendulum

if TYPE_CHECKING:
    from mechanics.systems.registry import MECHANISMS, NONHOLONOMIC, SYSTEMS, WHEELED
    from mechanics.systems.system import System

_HOMES = {
    "mechanics.systems.registry": ("MECHANISMS", "NONHOLONOMIC", "SYSTEMS", "WHEELED"),
    "mechanics.systems.system": ("System",),
}
"""Where the names stand that are imported when they are asked for."""
__getattr__ = found_later(__name__, _HOMES)

for _room in (bodies, elastic, loops, rolling):
    renamed({f"{__name__}.{m.name}": f"{_room.__name__}.{m.name}" for m in pkgutil.iter_modules(_room.__path__)})
renamed(
    {
        f"mechanics.systems.{name}": "mechanics.systems.registry"
        for name in (
            "loops.mechanisms",
            "rolling.nonholonomic",
            "rolling.wheeled",
            "mechanisms",
            "nonholonomic",
            "wheeled",
        )
    }
)

__all__ = [
    "MECHANISMS",
    "NONHOLONOMIC",
    "SYSTEMS",
    "WHEELED",
    "System",
    "free_rigid_body",
    "full_body",
    "heavy_top",
    "kepler",
    "kovalevskaya_top",
    "lagrange_top",
    "pendulum",
]
__dir__ = listing(__all__)
