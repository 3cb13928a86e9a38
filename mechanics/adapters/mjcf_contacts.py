"""Geoms of MuJoCo's models that can touch → contacts between the bodies that carry them.

Which pairs: those that the file names (<pair>), and those that MuJoCo's filter lets through, where contype of one and
conaffinity of the other have a bit in common: not on one body (bodies without joints are one with their parents), not
on parent and child unless the parent is fixed, not excluded by name, not both immobile.  Planes are touched by
spheres, capsules and ellipsoids, spheres and capsules by one another; pairs of other kinds are left out.

The law is "soft" (`mechanics.forces.laws`), with k = m/(τ ζ)² and c = 2 m/τ of `solref` = (τ, ζ) beyond the width of
`solimp`, where m = 1/(w₁ + w₂) with the translational `invweight0` of both bodies: the mass that their centres of mass
show in the reference pose, as MuJoCo's `diagApprox` has it for the normal of a contact (the body's own mass where that
point is held, on the axis of its joint).  Where nothing else acts the
bodies come apart as MuJoCo's if they meet much faster than w/τ, with the width w of `solimp`; slower ones keep more of
their speed, as the force here grows from nothing over the width and MuJoCo's impedance begins at dmin.  (The law
"kelvin_voigt", which does that, too, jumps at the touch: implicit steps of springy contacts have no solution there.)
Under a load they lie deeper: a mass m at m g/k, MuJoCo's at (1 − d) m g/(d k), as its constraint takes the part d of
the load away.  Friction is that of sliding, the same in all directions (MuJoCo's usual
cone is a pyramid), with the slip speed of `mechanics.forces.contact`; it creeps under a load.

The parameters of two geoms are mixed as MuJoCo does: those of the higher priority; else the greatest friction, and
solref and solimp by the weights `solmix`.  Source: MuJoCo, "Computation": collision detection, contact parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.adapters.elements import soft
from mechanics.adapters.mjcf_model import LENGTHENED, disabled, is_lengthened, named
from mechanics.adapters.mjcf_sites import place, rotation
from mechanics.errors import ModelError
from mechanics.forces import Capsule, Element, Ellipsoid, Plane, Sphere, contact
from mechanics.forces.shapes import Shape
from mechanics.joints import Fixed
from mechanics.model.frames import Frame
from mechanics.model.inertia import LARGEST
from mechanics.model.tree import Body

KINDS = {
    0: "plane", 1: "hfield", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh", 8: "sdf",
}  # fmt: skip
"""MuJoCo's types of geoms (mjtGeom)."""
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID = range(5)
SLIDING, TURNING, ROLLING = 3, 4, 6
"""condim from which on there is friction of these."""
OVERRIDE = 1
"""The bit of the flags for parameters that are those of <option> for all contacts (mjENBL_OVERRIDE)."""
LEAST_WEIGHT = 1e-12
"""What is taken for none, 1/kg."""

Pair = tuple[int, int]


class Parameters(NamedTuple):
    """Of the contact of two geoms: condim, friction (two of sliding, of turning, two of rolling), the soft law."""

    condim: int
    friction: Any
    solref: Any
    solimp: Any


def touching(model: Any) -> list[str]:
    """Names of the geoms that can touch others."""
    if disabled(model, "mjDSBL_CONTACT") or disabled(model, "mjDSBL_CONSTRAINT"):
        return []
    can = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0)
    for several in (model.pair_geom1, model.pair_geom2):
        can[np.asarray(several, dtype=int)] = True
    return [named(model, "geom", int(g)) for g in np.flatnonzero(can)]


def candidates(model: Any) -> dict[Pair, int | None]:
    """The pairs of geoms that MuJoCo looks at, the lower number first, with the number of the <pair> that names them,
    if one does.
    """
    body = np.asarray(model.geom_bodyid)
    weld, mask, affine = np.asarray(model.body_weldid), np.asarray(model.geom_contype), model.geom_conaffinity
    i, j = np.triu_indices(len(body), 1)
    one, other = weld[body[i]], weld[body[j]]
    above_one, above_other = (weld[np.asarray(model.body_parentid)[b]] for b in (one, other))
    related = (one != 0) & (other != 0) & ((one == above_other) | (other == above_one))
    if disabled(model, "mjDSBL_FILTERPARENT"):
        related[:] = False
    excluded = [(min(s >> 16, s & 0xFFFF), max(s >> 16, s & 0xFFFF)) for s in map(int, model.exclude_signature)]
    apart = [tuple(sorted(pair)) not in excluded for pair in zip(body[i].tolist(), body[j].tolist(), strict=True)]
    seen = ((mask[i] & affine[j]) | (mask[j] & affine[i])) != 0
    moving = _moving(model)[body]
    moved = moving[i] | moving[j]
    chosen = seen & (one != other) & ~related & np.array(apart, dtype=bool) & moved
    found: dict[Pair, int | None] = {(int(a), int(b)): None for a, b in zip(i[chosen], j[chosen], strict=True)}
    for p, (a, b) in enumerate(zip(model.pair_geom1, model.pair_geom2, strict=True)):
        found[min(int(a), int(b)), max(int(a), int(b))] = p
    kinds = np.asarray(model.geom_type)
    return {(a, b): p for (a, b), p in sorted(found.items()) if max(kinds[a], kinds[b]) > HFIELD}


def _moving(model: Any) -> NDArray[np.bool_]:
    """Whether there are joints between a body and the world."""
    found = np.asarray(model.body_jntnum) > 0
    for b in range(1, int(model.nbody)):  # parents come first
        found[b] |= found[model.body_parentid[b]]
    return found


def _weight(model: Any, g: int) -> float:
    """The inverse mass of the body of a geom in the reference pose, 1/kg; 0 of what does not move."""
    b = int(model.geom_bodyid[g])
    weight, mass = float(model.body_invweight0[b][0]), float(model.body_mass[b])
    if weight > LEAST_WEIGHT or not mass > 0.0 or not _moving(model)[b]:
        return weight
    return 1.0 / mass


def contacts_of(
    model: Any, bodies: list[Body], frames: Mapping[str, Frame], friction: bool, left_out: dict[str, list[str]]
) -> list[list[Element]]:
    """Contacts between the geoms of a model, without friction if so wanted; names of what is left out in `left_out`."""
    found: list[list[Element]] = []
    pairs = candidates(model)
    shapes = {g: _shape(model, g, bodies, frames) for g in sorted({g for pair in pairs for g in pair})}
    for (i, j), p in pairs.items():
        names = [named(model, "geom", g) for g in (i, j)]
        name, kinds = "–".join(names), sorted(KINDS[int(model.geom_type[g])] for g in (i, j))
        one, other = shapes[i], shapes[j]
        weight = _weight(model, i) + _weight(model, j)
        if one is None or other is None or ("ellipsoid" in kinds and "plane" not in kinds):
            left_out.setdefault(f"contacts between {kinds[0]} and {kinds[1]}: left out", []).append(name)
        elif one.frame.body == other.frame.body or not weight > LEAST_WEIGHT:
            left_out.setdefault("contacts on one body, or of what does not move: left out", []).append(name)
        else:
            given = _mixed(model, i, j) if p is None else _of_pair(model, p)
            _reservations(model, i, j, p, name, given, friction, left_out)
            with_friction = friction and given.condim >= SLIDING
            try:
                found.append(_contact(one, other, weight, given, with_friction))
            except ValueError as error:
                raise ModelError(f"contact of the geoms {name}", str(error), "correct the file or the model") from None
    return found


def _contact(one: Shape, other: Shape, weight: float, given: Parameters, with_friction: bool) -> list[Element]:
    numbers = np.concatenate([np.ravel(x) for x in (given.solref, given.solimp, given.friction)])
    stiffness, damping = soft(given.solref, 1.0 / weight)
    if not (np.abs([*numbers, stiffness, damping]) <= LARGEST).all():
        said = ", ".join(f"{name} {np.asarray(x).tolist()}" for name, x in zip(given._fields, given, strict=True))
        raise ValueError(f"numbers beyond all measure: {said}, expected numbers in SI units")
    width = float(given.solimp[2])
    law: dict[str, Any] = {"law": "soft", "width": width} if width > 0.0 else {"law": "kelvin_voigt"}
    friction = min(float(x) for x in given.friction[:2]) if with_friction else 0.0
    return contact(one, other, stiffness=stiffness, damping=damping, friction=friction, **law)


def _shape(model: Any, g: int, bodies: list[Body], frames: Mapping[str, Frame]) -> Shape | None:
    """A geom on the body that carries it, on the base where that is fixed; None for kinds without a formula."""
    frame = place(model, int(model.geom_bodyid[g]), frames, model.geom_pos[g], rotation(model.geom_quat[g]))
    if int(model.body_weldid[model.geom_bodyid[g]]) == 0:
        frame = _on_base(frame, bodies)
    size, kind = [float(x) for x in model.geom_size[g]], int(model.geom_type[g])
    try:
        if kind == PLANE:
            return Plane(frame)
        if kind == SPHERE:
            return Sphere(frame, size[0])
        if kind == CAPSULE:
            return Capsule(frame, size[0], 2.0 * size[1])
        return Ellipsoid(frame, size) if kind == ELLIPSOID else None
    except ValueError as error:
        raise ModelError(f"<geom> {named(model, 'geom', g)!r}", str(error), "correct its size") from None


def _on_base(frame: Frame, bodies: list[Body]) -> Frame:
    """A frame on a body that is fixed, on the base."""
    known = {body.name: body for body in bodies}
    while frame.body is not None:
        body = known[frame.body]
        assert isinstance(body.joint, Fixed)
        R = np.asarray(body.rotation)
        frame = Frame(body.parent, np.asarray(body.position) + R @ frame.position, R @ frame.rotation)
    return frame


# --- parameters -------------------------------------------------------------------------------------------------------


def _overridden(model: Any, given: Parameters) -> Parameters:
    """Those of <option>, if they are for all contacts."""
    if not int(getattr(model, "enableflags", 0)) & OVERRIDE:
        return given
    return Parameters(given.condim, model.o_friction, model.o_solref, model.o_solimp)


def _of_pair(model: Any, p: int) -> Parameters:
    of_pair = (model.pair_friction[p], model.pair_solref[p], model.pair_solimp[p])
    return _overridden(model, Parameters(int(model.pair_dim[p]), *of_pair))


def _mixed(model: Any, i: int, j: int) -> Parameters:
    """Of two geoms that no <pair> names."""
    one, other = (_of_geom(model, g) for g in (i, j))
    priority = int(model.geom_priority[i]) - int(model.geom_priority[j])
    if priority:
        return _overridden(model, one if priority > 0 else other)
    mix = _mix(*(float(model.geom_solmix[g]) for g in (i, j)))
    are_times = one.solref[0] > 0.0 and other.solref[0] > 0.0
    solref = mix * one.solref + (1.0 - mix) * other.solref if are_times else np.minimum(one.solref, other.solref)
    solimp = mix * one.solimp + (1.0 - mix) * other.solimp
    friction = np.maximum(one.friction, other.friction)
    return _overridden(model, Parameters(max(one.condim, other.condim), friction, solref, solimp))


def _of_geom(model: Any, g: int) -> Parameters:
    slide, turn, roll = model.geom_friction[g]
    friction = np.array([slide, slide, turn, roll, roll], dtype=float)
    return Parameters(int(model.geom_condim[g]), friction, model.geom_solref[g], model.geom_solimp[g])


def _mix(one: float, other: float) -> float:
    """The share of the first of two weights, of which those below 1e-15 are none."""
    least = 1e-15
    if one >= least and other >= least:
        return one / (one + other)
    return 0.5 if one < least and other < least else float(one >= least)


def _reservations(
    model: Any, i: int, j: int, p: int | None, name: str, given: Parameters, friction: bool, left_out: dict[str, Any]
) -> None:
    """What a contact has in the file and not here."""

    def say(text: str) -> None:
        left_out.setdefault(text, []).append(name)

    def of_either(what: str, in_pairs: bool = True) -> bool:
        """Whether the pair, or one of its geoms, has some."""
        kind, numbers = ("geom", [i, j]) if p is None or not in_pairs else ("pair", [p])
        values = getattr(model, f"{kind}_{what}", None)
        return values is not None and bool(np.any(np.asarray(values)[numbers]))

    of_all = bool(int(getattr(model, "enableflags", 0)) & OVERRIDE and np.any(getattr(model, "o_margin", 0.0)))
    if of_either("margin") or of_either("gap") or of_all:
        say("contacts with a margin or a gap, which is left out: they begin where the geoms touch")
    if is_lengthened(model, given.solref):
        say(f"contacts {LENGTHENED}")
    if of_either("adhesion"):
        say("contacts with adhesion, which is left out")
    if of_either("surfacevel", in_pairs=False):
        say("contacts of surfaces that run (surfacevel), which are at rest here")
    if not friction:
        return
    if p is not None and given.condim >= SLIDING and np.any(np.asarray(getattr(model, "pair_solreffriction", 0.0))[p]):
        say("contacts whose friction has a solref of its own, which is left out")
    if given.condim >= TURNING and given.friction[2]:
        say("contacts with torsional friction, which is left out")
    if given.condim >= ROLLING and np.any(given.friction[3:]):
        say("contacts with rolling friction, which is left out")
    if given.condim >= SLIDING and given.friction[0] != given.friction[1]:
        say("contacts with two coefficients of sliding: the smaller one acts in all directions")
