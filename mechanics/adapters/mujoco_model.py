"""Models of MuJoCo in the memory of the caller: where their joints keep their numbers.

MuJoCo's hinges and slides count from the model's own zero, a tree's from the reference (``qpos0``); quaternions are
(w, x, y, z) of any norm; the velocity of a free joint is (v in world axes, ω in body axes).
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from mechanics.adapters.mjcf import BALL, FREE, SIZES, joint_of
from mechanics.adapters.mjcf_model import named
from mechanics.adapters.reading import of_project
from mechanics.adapters.state_map import NUMBER, POSE, QUATERNION, Place, Side

PROJECT = "MuJoCo"
_KINDS = {FREE: POSE, BALL: QUATERNION}


def checked(model: Any) -> Any:
    """MuJoCo's module, if this is a model of it; else TypeError with what to give."""
    return of_project(model, "mujoco", "MjModel", "load_mjcf", {"MjSpec": "give what its method compile returns"})


def side_of(model: Any, joints: Container[str] = ()) -> Side:
    """What a map of states has to know of a model; joints that share a body have the name of the one joint that
    `mechanics.load_mjcf` makes of them, but for names among `joints`.
    """
    checked(model)
    places: dict[str, Place] = {}
    for j in range(int(model.njnt)):
        kind, own = int(model.jnt_type[j]), named(model, "joint", j)
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        offset = -float(model.qpos0[q]) if SIZES[kind] == (1, 1) else 0.0
        name = own if own in joints else joint_of(model, j)
        places[name] = Place(_KINDS.get(kind, NUMBER), q, v, offset=offset)
    return Side(PROJECT, np.array(model.qpos0), int(model.nv), scalar_first=True, world=True, places=places)
