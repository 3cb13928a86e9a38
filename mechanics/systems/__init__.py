"""Systems with known invariants, and known solutions where there are any: functions that return a `Problem`."""

from __future__ import annotations

from collections.abc import Callable

from integrators.problem import Problem
from mechanics.systems.free_rigid_body import free_rigid_body
from mechanics.systems.full_body import full_body
from mechanics.systems.heavy_top import heavy_top, kovalevskaya_top, lagrange_top
from mechanics.systems.kepler import kepler
from mechanics.systems.pendulum import pendulum

SYSTEMS: dict[str, Callable[..., Problem]] = {
    f.__name__: f for f in (free_rigid_body, full_body, heavy_top, kepler, kovalevskaya_top, lagrange_top, pendulum)
}
"""All systems of this package by name."""

__all__ = ["SYSTEMS", "free_rigid_body", "full_body", "heavy_top", "kepler", "kovalevskaya_top", "lagrange_top", "pendulum"]
