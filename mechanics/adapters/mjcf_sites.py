"""Sites of MuJoCo's models → frames of the tree: tools, sensors, points where tendons pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mechanics.adapters.mjcf_model import named
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.model.frames import Frame


def sites(model: Any, frames: Mapping[str, Frame]) -> dict[str, Frame]:
    """The sites by their names, of the frames of the bodies; ``NAME_site`` where a body has the name, too."""
    found: dict[str, Frame] = {}
    for s in range(int(model.nsite)):
        name = named(model, "site", s)
        while name in frames or name in found:
            name += "_site"
        found[name] = site(model, s, frames)
    return found


def site(model: Any, s: int, frames: Mapping[str, Frame]) -> Frame:
    """Site s on the body that carries it."""
    return place(model, int(model.site_bodyid[s]), frames, model.site_pos[s], rotation(model.site_quat[s]))


def place(model: Any, b: int, frames: Mapping[str, Frame], point: Any, turn: Any = None) -> Frame:
    """A point of body b of the model, and axes turned from those of the body."""
    on = frames[named(model, "body", b)] if b else Frame(None)
    R = np.asarray(on.rotation)
    return Frame(on.body, on.position + R @ point, R if turn is None else R @ turn)


def rotation(quaternion_wxyz: Any) -> Any:
    """The matrix of a quaternion of any length."""
    return np.asarray(rotation_from_quaternion(np.asarray(quaternion_wxyz, dtype=np.float64)))
