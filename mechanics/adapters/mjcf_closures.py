"""MJCF files → mechanisms: equality constraints as closures, and what acts on joints and tendons as force elements, on
the tree of `load_mjcf`.

<connect> closes at a point, <weld> holds a pose, between bodies or sites; <joint> and <tendon> couple two joints or
fixed tendons by a polynomial, or hold one.  MuJoCo keeps these constraints softly, by springs and dampers (solref);
here they hold exactly.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.adapters.elements import ALL, Wanted
from mechanics.adapters.mjcf import FREE, place_of, tree_of
from mechanics.adapters.mjcf_elements import Line, elements_of, gravity_compensation, line_of_tendon
from mechanics.adapters.mjcf_model import active_equalities, compiled, named
from mechanics.adapters.mjcf_sites import place, rotation, site
from mechanics.adapters.reading import LIMITS, Limits, Report, inside
from mechanics.constraints.couplings import coupling, polynomial
from mechanics.constraints.loops import Closure, spherical, weld
from mechanics.errors import ModelError
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
CONNECT, WELD, JOINT, TENDON = range(4)
"""MuJoCo's types of equality constraints (mjtEq)."""
BODY, SITE = 1, 6
"""What a constraint is between, of MuJoCo's kinds of objects (mjtObj)."""


def load_mjcf_mechanism(
    source: str | os.PathLike[str],
    gravity: ArrayLike | None = None,
    wanted: Wanted = ALL,
    trusted: bool = False,
    limits: Limits = LIMITS,
    rank: int | None = None,
) -> Mechanism:
    """See `mechanics.load_mechanism`."""
    model, report = compiled(source, trusted, limits)
    made = mechanism_of(model, report, gravity, wanted, rank)
    report.warn(3)
    return made


def mechanism_of(
    model: Any, report: Report, gravity: ArrayLike | None = None, wanted: Wanted = ALL, rank: int | None = None
) -> Mechanism:
    """The mechanism of a model, with what is left out in the report."""
    with inside(report.path):
        elements = elements_of(model, report, wanted)
    tree = tree_of(model, report, gravity, wanted.damping, wanted.contacts)
    with inside(report.path):
        closures = _closures(model, tree, report)
        elements += gravity_compensation(model, tree)
        return Mechanism.assembled(tree, closures, _pose(model, tree), elements=elements, rank=rank, name=tree.name)


def _pose(model: Any, tree: Tree) -> Array:
    """The configuration of the tree in the pose of the file, which only free bodies do not have where all is zero."""
    q = tree.neutral()
    for j in np.flatnonzero(model.jnt_type == FREE):
        at, where = int(model.jnt_qposadr[j]), tree.q_slice(named(model, "joint", int(j)))
        q[where] = model.qpos0[at : at + 7]
        q[where][3:] /= np.linalg.norm(q[where][3:])
    return q


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
        why = "inactive, or neither of bodies, sites, joints nor fixed tendons"
        report.change(f"equality constraints left out ({why}): {', '.join(left_out)}")
    return closures


def _closure(model: Any, e: int, name: str, frames: Any) -> Closure | None:
    """R₁ x₁ + p₁ = R₂ x₂ + p₂, and for a weld R₁ Q = R₂, with the anchors and the pose of `eq_data`, or with those of
    two sites; for joints and tendons q₁ = Σ a_k q₂ᵏ.
    """
    kind, numbers, data = int(model.eq_type[e]), (int(model.eq_obj1id[e]), int(model.eq_obj2id[e])), model.eq_data[e]
    if kind == JOINT:
        one, other = (place_of(model, j) if j >= 0 else None for j in numbers)
        return None if one is None else polynomial(one, other, data[: 1 if other is None else 5], name)
    if kind == TENDON:
        lines = [line_of_tendon(model, t) for t in numbers if t >= 0]
        return _of_tendons([line for line in lines if line], data[:5], name) if all(lines) else None
    if kind not in (CONNECT, WELD) or model.eq_objtype[e] not in (BODY, SITE):
        return None
    if model.eq_objtype[e] == SITE:
        first, second = (site(model, s, frames) for s in numbers)
    elif kind == CONNECT:
        first, second = (place(model, b, frames, x) for b, x in zip(numbers, (data[:3], data[3:6]), strict=True))
    else:
        first = place(model, numbers[0], frames, data[3:6], rotation(data[6:10]))
        second = place(model, numbers[1], frames, data[:3])
    return spherical(first, second, name) if kind == CONNECT else weld(first, second, name)


def _of_tendons(lines: Sequence[Line], coefficients: Any, name: str) -> Closure:
    """x₁ = Σ a_k x₂ᵏ of the lengths of two tendons, counted from those at the reference; without a second x₁ = a₀."""
    joints = list(dict.fromkeys(joint for line in lines for joint in line.weights))
    rows = [[line.weights.get(joint, 0.0) for joint in joints] for line in lines]
    a = [float(x) for x in (coefficients if len(lines) == 2 else coefficients[:1])]

    def equation(*q: Any) -> Any:
        first, *second = (sum(w * x for w, x in zip(row, q, strict=True) if w) for row in rows)
        value = a[-1] + 0.0 * first
        for coefficient in a[-2::-1]:
            value = value * second[0] + coefficient
        return first - value

    return coupling(joints, equation, name, "tendons")
