"""Models of MuJoCo in the memory of the caller → trees and mechanisms, and where their joints keep their numbers.

The readers of MJCF files read arrays with MuJoCo's names for them; here they are those of the caller's model as it is
now, with whatever was changed since it was compiled.

MuJoCo's hinges and slides count from the model's own zero, a tree's from the reference (``qpos0``); quaternions are
(w, x, y, z) of any norm; the velocity of a free joint is (v in world axes, ω in body axes).
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from mechanics.adapters.elements import ALL, Wanted
from mechanics.adapters.mjcf import BALL, FREE, HINGE, SIZES, SLIDE, joint_of
from mechanics.adapters.mjcf_closures import mechanism_of
from mechanics.adapters.mjcf_compiler import arrays
from mechanics.adapters.mjcf_model import as_model, named
from mechanics.adapters.reading import Report, of_project
from mechanics.adapters.state_map import NUMBER, POSE, QUATERNION, Place, Side, StateMap
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

PROJECT = "MuJoCo"
_KINDS = {FREE: POSE, BALL: QUATERNION}
_MOVES = {SLIDE: "Slide", HINGE: "Turn"}


def checked(model: Any) -> Any:
    """MuJoCo's module, if this is a model of it; else TypeError with what to give."""
    return of_project(model, "mujoco", "MjModel", "load_mjcf", {"MjSpec": "give what its method compile returns"})


def from_mujoco(model: Any, contacts: bool = False) -> tuple[Tree | Mechanism, StateMap]:
    """See `mechanics.from_mujoco`."""
    made, report = mechanism_now(model, ALL._replace(contacts=contacts))
    report.warn(3)
    found = made if made.elements or len(made.equations) else made.tree
    return found, StateMap(made.tree, side_of(model))


def mechanism_now(model: Any, wanted: Wanted = ALL) -> tuple[Mechanism, Report]:
    """The mechanism of a model, and what is left out of it besides what is not wanted."""
    mujoco = checked(model)
    held = as_model(arrays(model, mujoco.mjtDisableBit))
    report = Report(f"mujoco model {held.names[: held.names.index(0)].decode()!r}", kind="model")
    return mechanism_of(held, report, wanted=wanted), report


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
        places[name] = Place(_KINDS.get(kind, NUMBER), q, v, offset=offset, moves=_MOVES.get(kind, ""))
    return Side(PROJECT, np.array(model.qpos0), int(model.nv), scalar_first=True, world=True, places=places)
