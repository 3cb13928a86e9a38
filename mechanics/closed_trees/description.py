"""Mechanisms as plain dictionaries (JSON): closures, force elements, what was decided about them; back to the last bit.

Equations that were given as functions are there as their tapes: lists of additions, multiplications, sines, … on
numbered registers (`liegroup.compile.tape`), which are checked before they are played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import of_kind, reals
from liegroup.compile.tape import INSTRUCTION, Tape
from mechanics.constraints.body_equations import COUPLING, GIVEN
from mechanics.constraints.given_equations import INPUTS, RESULTS
from mechanics.constraints.loops import Closure, Equation
from mechanics.constraints.mobility import Mobility
from mechanics.constraints.wheel_equations import SPHERE
from mechanics.forces import shapes
from mechanics.forces.registry import KINDS
from mechanics.forces.tendon import Tendon
from mechanics.joints import Motion
from mechanics.model.frames import Frame
from mechanics.model.words import Words, checked

Array = NDArray[np.float64]
_SHAPES = (shapes.Plane, shapes.Sphere, shapes.Point, shapes.Capsule, shapes.Ellipsoid, shapes.Wheel)
_OTHERS = (Closure, Equation, Tape, Frame, Tendon, Motion, Mobility, *_SHAPES)


def _tape(*, instructions: Any, constants: Any, stages: Any, results: Any, registers: Any) -> Tape:
    rows = _wholes(instructions, "instructions").reshape(-1 if len(instructions) else 0, INSTRUCTION)
    numbers = _numbers(constants, "constants", (len(constants),))
    return Tape(rows, numbers, _row(stages, "stages"), _row(results, "results"), int(_wholes(registers, "registers")))


def _equation(
    *, kind: Any, a: Any, p: Any, b: Any, q: Any, length: Any, label: Any, tape: Any, joints: Any
) -> Equation:
    if not isinstance(kind, int) or not COUPLING <= kind <= SPHERE:
        raise ValueError(f"kind: {kind!r}, expected a whole number from {COUPLING} to {SPHERE}")
    of_kind(label, str, "label", "a text")
    of_kind(tape, (Tape, type(None)), "tape", "a tape, or nothing")
    of_kind(joints, tuple, "joints", "a list of joints")
    if (tape is not None) != (kind in (GIVEN, COUPLING)) or bool(joints) != (kind == COUPLING):
        raise ValueError(f"kind: {kind}, with joints {joints!r}, a tape: {tape is not None}; these are not of one kind")
    if kind == GIVEN:
        tape.check(INPUTS, RESULTS)
    if kind == COUPLING:
        tape.check(2 * len(joints), 1 + 2 * len(joints))
    axes = (3, 3) if kind == GIVEN else (3,)
    ends = _numbers(a, "a", axes), _numbers(p, "p", (3,)), _numbers(b, "b", axes), _numbers(q, "q", (3,))
    return Equation(kind, *ends, float(_numbers(length, "length", ())), label, tape, joints)


def _closure(*, kind: Any, first: Any, second: Any, equations: Any, aligned: Any, name: Any) -> Closure:
    of_kind(kind, str, "kind", "a text")
    of_kind(name, str, "name", "a text")
    for equation in equations:
        of_kind(equation, Equation, "equations", "equations")
    if len({equation.kind == COUPLING for equation in equations}) != 1:
        raise ValueError("equations: none, or such of joints beside such of bodies")
    pairs = tuple((_numbers(a, "aligned", (3,)), _numbers(b, "aligned", (3,))) for a, b in aligned)
    return Closure(kind, first, second, equations, pairs, name)


def _tendon(*, joints: Any, coefficients: Any, name: Any) -> Tendon:
    return Tendon(dict(zip(joints, coefficients, strict=True)), name)


def _mobility(*, scales: Any, starts: Any, spectra: Any, kept: Any, independent: Any, **fields: Any) -> Mobility:
    given = fields | {
        "kept": list(_row(kept, "kept")),
        "independent": list(_row(independent, "independent")),
        "scales": _numbers(scales, "scales", (len(scales),)),
        "starts": _numbers(starts, "starts", (len(starts), len(kept))),
        "spectra": [_numbers(s, "spectra", (len(s),)) for s in spectra],
    }
    for name, kind in (("rank", int), ("dof", int), ("redundant", int), ("at_home", int), ("at_stake", tuple)):
        of_kind(given[name], kind, name, "what a mobility has")
    for name in ("smallest", "next"):
        given[name] = float(_numbers(given[name], name, ()))
    return Mobility(**given)


def _numbers(values: Any, name: str, shape: tuple[int, ...]) -> Array:
    x = reals(values, name)
    if not x.size and 0 in shape:
        return np.zeros(shape)
    if x.shape != shape or not np.isfinite(x).all():
        raise ValueError(f"{name}: shape {x.shape}, expected {shape} finite numbers")
    return x


def _wholes(values: Any, name: str) -> NDArray[np.int64]:
    x = np.asarray(values)
    if x.size and x.dtype.kind != "i":
        raise TypeError(f"{name}: expected whole numbers")
    return x.astype(np.int64)


def _row(values: Any, name: str) -> tuple[int, ...]:
    x = _wholes(values, name)
    if x.ndim != 1:
        raise ValueError(f"{name}: shape {x.shape}, expected a list of whole numbers")
    return tuple(x.tolist())


_MAKERS: dict[type, Callable[..., Any]] = {
    Tape: _tape,
    Equation: _equation,
    Closure: _closure,
    Tendon: _tendon,
    Mobility: _mobility,
    Frame: Frame,
    Motion: Motion,
}


def _made(kind: type, fields: dict[str, Any]) -> Any:
    return _MAKERS[kind](**fields) if kind in _MAKERS else checked(kind, fields)


def _kinds() -> Mapping[str, type]:
    return {kind.__name__: kind for kind in (*_OTHERS, *KINDS)}


PARTS = Words("part", _kinds, "register its kind (mechanics.forces.register), its fields are numbers and texts", _made)
"""Closures and force elements with all they consist of, and the mobility of a mechanism."""


def checked_mobility(found: Any, equations: int, velocities: int) -> Mobility:
    """A mobility of so many equations between so many velocities; TypeError or ValueError for anything else."""
    of_kind(found, Mobility, "mobility", "a mobility")
    m, r, kept = equations, found.rank, found.kept
    wanted = {
        "rank": 0 <= r <= min(m, velocities) and 0 <= found.at_home <= min(m, velocities),
        "dof": found.dof == velocities - r,
        "redundant": found.redundant == m - r,
        "kept": kept == sorted({*kept}) and all(0 <= c < m for c in kept) and r <= len(kept),
        "independent": {*found.independent} <= {*kept} and len(found.independent) in (0, r),
        "scales": found.scales.shape == (m,) and bool((found.scales > 0.0).all()),
        "starts": found.starts.shape == (len(kept) - r, len(kept)),
        "spectra": not m or (bool(found.spectra) and len(found.spectra[0]) >= r),
    }
    if wrong := [name for name, holds in wanted.items() if not holds]:
        raise ValueError(f"mobility: {', '.join(wrong)}: not of {m} equations between {velocities} velocities")
    mobility: Mobility = found
    return mobility
