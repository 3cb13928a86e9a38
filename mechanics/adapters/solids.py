"""Solids as model files state them → surfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.scenes import Surface, box, cylinder, ellipsoid, rod
from mechanics.adapters.reading import LARGEST, number

SIZES = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "ellipsoid": {"radii": 3},
}
"""Kinds of solids, with the names of their sizes and how many numbers each has."""
_MAKERS: Mapping[str, Callable[..., Surface]] = {
    "box": box,
    "sphere": lambda r, colour: ellipsoid(np.repeat(r, 3), colour),
    "cylinder": lambda r, length, colour: cylinder(r[0], length[0], colour),
    "capsule": lambda r, length, colour: rod((0.0, 0.0, -0.5 * length[0]), (0.0, 0.0, 0.5 * length[0]), r[0], colour),
    "ellipsoid": ellipsoid,
}


def solid(kind: str, text: Callable[[str], Any], colour: str | None) -> Surface | str:
    """The surface of a solid whose sizes `text` gives by their names; or what is wrong."""
    if kind not in SIZES:
        return f"<{kind}> is not known"
    sizes = [numbers(text(name) or "", count) for name, count in SIZES[kind].items()]
    if any(size is None for size in sizes):
        return f"the numbers of <{kind}> are wrong"
    return _MAKERS[kind](*sizes, colour=colour)


def numbers(text: str, count: int) -> NDArray[np.float64] | None:
    """So many finite numbers of ordinary size, or None."""
    values = [number(word) for word in text.split()]
    if len(values) != count or any(x is None or not abs(x) <= LARGEST for x in values):
        return None
    return np.array(values, dtype=np.float64)
