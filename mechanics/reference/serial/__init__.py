"""Mass matrices of serial chains in base axes: Yaskevich's recursion and its rivals, readable, on any scalar type.

They are there to be compared (with one another, with the composite-rigid-body kernel, and by their operation counts);
the kernel of `mechanics.mass_matrix` is `mechanics.algorithms.crba`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liegroup.modules import listing
from mechanics.reference.serial.chain import Chain, serial_chain
from mechanics.reference.serial.composite import composite
from mechanics.reference.serial.kosynka import kosynka
from mechanics.reference.serial.stepanenko import stepanenko
from mechanics.reference.serial.yaskevich import yaskevich

SERIAL: dict[str, Callable[[Chain], Any]] = {
    "yaskevich": yaskevich,
    "stepanenko": stepanenko,
    "kosynka": kosynka,
    "composite": composite,
}
"""Name → the lower triangle of the mass matrix, a list of rows."""

__all__ = ["SERIAL", "Chain", "composite", "kosynka", "serial_chain", "stepanenko", "yaskevich"]
__dir__ = listing(__all__)
