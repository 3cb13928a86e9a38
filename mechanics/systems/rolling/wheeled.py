"""Mechanisms on wheels by name, in their default form; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from mechanics.mechanism import Mechanism
from mechanics.systems.rolling import (
    ball_on_table,
    mobile_manipulator,
    two_wheeled_pendulum,
    wheeled_car,
    whipple_bicycle,
)

WHEELED: dict[str, Callable[[], Mechanism]] = {
    "two-wheeled-pendulum": two_wheeled_pendulum.mechanism,
    "mobile-manipulator": mobile_manipulator.mechanism,
    "wheeled-car": wheeled_car.mechanism,
    "whipple-bicycle": whipple_bicycle.mechanism,
    "ball-on-a-table": ball_on_table.mechanism,
}
