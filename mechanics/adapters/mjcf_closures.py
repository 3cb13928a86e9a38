"""MJCF files with equality constraints → mechanisms: <connect> closes at a point, <weld> holds a pose, <joint> couples
two joints by a polynomial or holds one, on the tree of `load_mjcf`.

MuJoCo keeps these constraints softly, by springs and dampers (solref); here they hold exactly.  What else an <equality>
may hold (sites, tendons, flexes) is left out with a warning.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechanics.adapters.mjcf import load_mjcf, place_of
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.constraints.couplings import polynomial
from mechanics.constraints.loops import Closure, spherical, weld
from mechanics.errors import ModelWarning
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame


def load_mjcf_mechanism(
    source: str | os.PathLike[str], gravity: ArrayLike | None = None, damping: bool = True
) -> Mechanism:
    """See `mechanics.load_mechanism`."""
    import mujoco

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*equality", category=ModelWarning)
        tree = load_mjcf(source, gravity, damping=damping)
    text = str(source)
    model = (
        mujoco.MjModel.from_xml_string(text) if text.lstrip().startswith("<") else mujoco.MjModel.from_xml_path(text)
    )
    closures: list[Closure] = []
    left_out: list[str] = []
    for e in range(model.neq):
        name = model.equality(e).name or f"equality_{e}"
        closure = _closure(model, e, name, tree.frames, mujoco) if model.eq_active0[e] else None
        if closure is None:
            left_out.append(name)
        else:
            closures.append(closure)
    if left_out:
        why = "inactive, or neither of bodies nor of joints"
        warnings.warn(f"equality constraints left out ({why}): {', '.join(left_out)}", ModelWarning, 3)
    return Mechanism.assembled(tree, closures, name=tree.name)


def _closure(model: Any, e: int, name: str, frames: Any, mujoco: Any) -> Closure | None:
    """R₁ x₁ + p₁ = R₂ x₂ + p₂, and for a weld R₁ Q = R₂, with the anchors and the pose of `eq_data`; for joints q₁ = Σ
    a_k q₂ᵏ.
    """
    if model.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT:
        first, second = (place_of(model, int(j)) if j >= 0 else None for j in (model.eq_obj1id[e], model.eq_obj2id[e]))
        return None if first is None else polynomial(first, second, model.eq_data[e][:5], name)
    if model.eq_objtype[e] != mujoco.mjtObj.mjOBJ_BODY:
        return None
    bodies, data = (int(model.eq_obj1id[e]), int(model.eq_obj2id[e])), model.eq_data[e]
    if model.eq_type[e] == mujoco.mjtEq.mjEQ_CONNECT:
        return spherical(_frame(model, bodies[0], frames, data[:3]), _frame(model, bodies[1], frames, data[3:6]), name)
    if model.eq_type[e] == mujoco.mjtEq.mjEQ_WELD:
        turn = np.asarray(rotation_from_quaternion(np.asarray(data[6:10], dtype=np.float64)))
        return weld(_frame(model, bodies[0], frames, data[3:6], turn), _frame(model, bodies[1], frames, data[:3]), name)
    return None


def _frame(model: Any, body: int, frames: Any, point: Any, turn: Any = None) -> Frame:
    place = Frame(None) if body == 0 else frames[model.body(body).name or f"body_{body}"]
    R = np.asarray(place.rotation)
    return Frame(place.body, place.position + R @ point, R if turn is None else R @ turn)
