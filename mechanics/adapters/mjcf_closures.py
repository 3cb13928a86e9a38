"""MJCF files with equality constraints → mechanisms: <connect> closes at a point, <weld> holds a pose, <joint> couples
two joints by a polynomial or holds one, on the tree of `load_mjcf`.

MuJoCo keeps these constraints softly, by springs and dampers (solref); here they hold exactly.  What else an <equality>
may hold (sites, tendons, flexes) is left out with a warning.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechanics.adapters.mjcf import HINGE, SLIDE, place_of, tree_of
from mechanics.adapters.mjcf_model import active_equalities, compiled, named, stiff_joints
from mechanics.adapters.reading import LIMITS, Limits, Report, inside, some
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.constraints.couplings import polynomial
from mechanics.constraints.loops import Closure, spherical, weld
from mechanics.errors import ModelError
from mechanics.forces import Element, joint_spring
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.tree import Tree

CONNECT, WELD, JOINT = range(3)
"""MuJoCo's types of equality constraints (mjtEq)."""
BODY = 1
"""What a constraint is between: bodies, of MuJoCo's kinds of objects (mjtObj)."""


def load_mjcf_mechanism(
    source: str | os.PathLike[str],
    gravity: ArrayLike | None = None,
    damping: bool = True,
    springs: bool = True,
    trusted: bool = False,
    limits: Limits = LIMITS,
) -> Mechanism:
    """See `mechanics.load_mechanism`."""
    model, report = compiled(source, trusted, limits)
    with inside(report.path):
        elements = _springs(model, report) if springs else []
    tree = tree_of(model, report, gravity, damping)
    with inside(report.path):
        closures = _closures(model, tree, report)
        made = Mechanism.assembled(tree, closures, elements=elements, name=tree.name)
    report.warn(3)
    return made


def _closures(model: Any, tree: Tree, report: Report) -> list[Closure]:
    """The equality constraints that act; the names of the others in the report."""
    active = active_equalities(model)
    closures: list[Closure] = []
    left_out: list[str] = []
    for e in range(model.neq):
        name = named(model, "equality", e)
        try:
            closure = _closure(model, e, name, tree.frames) if e in active else None
        except ModelError as error:
            raise report.error(f"<equality> {name!r}", error.problem, error.remedy) from None
        if closure is None:
            left_out.append(name)
        else:
            closures.append(closure)
    if left_out:
        why = "inactive, or neither of bodies nor of joints"
        report.change(f"equality constraints left out ({why}): {', '.join(left_out)}")
    return closures


def _springs(model: Any, report: Report) -> list[list[Element]]:
    """τ = −k (q − q_spring) of hinges and slides that are joints of their own in the tree; q counts from `qpos0`."""
    found, left_out = [], []
    for j in stiff_joints(model):
        name = named(model, "joint", j)
        if model.jnt_type[j] in (SLIDE, HINGE) and place_of(model, j)[0] == name:
            at = model.jnt_qposadr[j]
            rest = float(model.qpos_spring[at] - model.qpos0[at])
            if not np.isfinite(rest):
                raise ModelError(f"<joint> {name!r}", f"springref is {rest}", "give a finite number")
            found.append(joint_spring(name, float(model.jnt_stiffness[j]), rest=rest))
        else:
            left_out.append(name)
    if left_out:
        report.change(f"springs of balls and of several joints on one body: left out: {some(left_out)}")
    return found


def _closure(model: Any, e: int, name: str, frames: Any) -> Closure | None:
    """R₁ x₁ + p₁ = R₂ x₂ + p₂, and for a weld R₁ Q = R₂, with the anchors and the pose of `eq_data`; for joints q₁ = Σ
    a_k q₂ᵏ.
    """
    if model.eq_type[e] == JOINT:
        first, second = (place_of(model, int(j)) if j >= 0 else None for j in (model.eq_obj1id[e], model.eq_obj2id[e]))
        return None if first is None else polynomial(first, second, model.eq_data[e][:5], name)
    if model.eq_objtype[e] != BODY:
        return None
    bodies, data = (int(model.eq_obj1id[e]), int(model.eq_obj2id[e])), model.eq_data[e]
    if model.eq_type[e] == CONNECT:
        return spherical(_frame(model, bodies[0], frames, data[:3]), _frame(model, bodies[1], frames, data[3:6]), name)
    if model.eq_type[e] == WELD:
        turn = np.asarray(rotation_from_quaternion(np.asarray(data[6:10], dtype=np.float64)))
        return weld(_frame(model, bodies[0], frames, data[3:6], turn), _frame(model, bodies[1], frames, data[:3]), name)
    return None


def _frame(model: Any, body: int, frames: Any, point: Any, turn: Any = None) -> Frame:
    place = Frame(None) if body == 0 else frames[named(model, "body", body)]
    R = np.asarray(place.rotation)
    return Frame(place.body, place.position + R @ point, R if turn is None else R @ turn)
