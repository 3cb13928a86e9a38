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
        b = int(model.site_bodyid[s])
        on = frames[named(model, "body", b)] if b else Frame(None)
        turn, R = np.asarray(on.rotation), np.asarray(rotation_from_quaternion(model.site_quat[s]))
        name = named(model, "site", s)
        while name in frames or name in found:
            name += "_site"
        found[name] = Frame(on.body, on.position + turn @ model.site_pos[s], turn @ R)
    return found
