"""How ready-made systems look: functions of their lengths, and of a motion (t, y), that make its scene.

Only what a system says is to scale; a thickness that it does not have is a few per cent of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.scenes import (
    Scene,
    Surface,
    Trail,
    along,
    box,
    cuboid,
    cylinder,
    ellipsoid,
    joined,
    marked_ball,
    marked_disk,
    points,
    revolved,
    rod,
    spoked_wheel,
)
from mechanics.scenes.bodies import (
    Disk,
    Hinged,
    Inside,
    Planar,
    Posed,
    UprightDisk,
    contact_of_ellipsoid,
    contact_of_wheel,
    placed,
)

Array = NDArray[np.float64]
THICK = 0.05
"""Thickness of a disk that has none, relative to its radius."""
_BLADE, _TYRE, _POST = "#3c434d", "#2f343b", "#8f949c"


# --- single bodies ----------------------------------------------------------------------------------------------------


def top(com: Sequence[float], t: Array, y: Array) -> Scene:
    """A top about the origin: a spindle through its centre of mass, and a disk there."""
    c = np.asarray(com, dtype=np.float64)
    length = float(np.linalg.norm(c)) or 1.0
    turn = along(c) if c.any() else np.eye(3)
    disk = [s.moved(c, turn) for s in marked_disk(0.62 * length, 0.16 * length)]
    spindle = rod((0.0, 0.0, 0.0), c * 1.45, 0.045 * length, "#5c636e")
    return placed(
        [("top", [*disk, spindle], Posed(0, (0.0, 0.0, 0.0)))],
        [Trail("top", tuple(1.45 * c), "tip")],
        still=[rod((0.0, 0.0, 0.0), (0.0, 0.0, -1.7 * length), 0.05 * length, _POST)],
        notes=(
            "Only the direction and the distance of the centre of mass are of the problem; the shape is a picture.",
        ),
    )


def solid(tensor: Any, t: Array, y: Array) -> Scene:
    """A body about its centre of mass as the uniform cuboid of its inertia, the mass 1, with its principal axes."""
    body = cuboid(1.0, tensor, 0.02 * float(np.sqrt(np.trace(tensor))))
    axes = np.linalg.eigh(np.asarray(tensor))[1]
    reach = 0.8 * float(np.ptp(body.vertices, axis=0).max())
    pins = [
        rod(-reach * a, reach * a, 0.02 * reach, c)
        for a, c in zip(axes.T, ("#b5657f", "#4c9f70", "#c2a33a"), strict=True)
    ]
    longest = reach * axes[:, 0]
    return placed(
        [("body", [body, *pins], Posed(0, (0.0, 0.0, 0.0)))],
        [Trail("body", tuple(longest), "axis of the least moment")],
        notes=("The body is drawn as the uniform cuboid of its inertia and the mass 1 kg.",),
    )


def clusters(bodies: tuple[Any, ...], t: Array, y: Array) -> Scene:
    """Bodies of points that are joined by rods."""
    found = []
    for i, cluster in enumerate(bodies):
        rows = np.asarray(cluster, dtype=np.float64)
        size = float(np.linalg.norm(rows[:, 1:], axis=1).max())
        balls = [
            ellipsoid([0.22 * size * np.cbrt(m / rows[:, 0].max())] * 3).moved(x)
            for m, x in zip(rows[:, 0], rows[:, 1:], strict=True)
        ]
        rods = [rod((0.0, 0.0, 0.0), x, 0.05 * size) for x in rows[:, 1:]]
        found.append((f"body {i}", [*balls, *rods], Posed(7 * i)))
    return placed(found, [Trail(name, name=name) for name, *_ in found])


# --- disks and balls --------------------------------------------------------------------------------------------------


def disk(radius: float, t: Array, y: Array) -> Scene:
    """A thin disk in angles."""
    shape = marked_disk(radius, THICK * radius)
    return placed([("disk", shape, Disk(radius))], _contact("disk", contact_of_wheel(radius)), floor=0.0)


def upright_disk(radius: float, t: Array, y: Array) -> Scene:
    shape = marked_disk(radius, THICK * radius)
    return placed([("disk", shape, UprightDisk(radius))], _contact("disk", contact_of_wheel(radius)), floor=0.0)


def rolling_wheel(radius: float, section: float, t: Array, y: Array) -> Scene:
    """A disk with a sharp edge, or a wheel with a thick rim, on SE(3)."""
    shape = spoked_wheel(radius, section) if section > 0.0 else marked_disk(radius, THICK * radius)
    return placed([("wheel", shape, Posed())], _contact("wheel", contact_of_wheel(radius, section)), floor=0.0)


def rolling_ellipsoid(half_axes: tuple[float, ...], centre: tuple[float, ...], t: Array, y: Array) -> Scene:
    """An ellipsoid, or a ball, on SE(3), its centre away from the centre of mass."""
    shape = [s.moved(centre) for s in marked_ball(half_axes)]
    return placed([("body", shape, Posed())], _contact("body", contact_of_ellipsoid(half_axes, centre)), floor=0.0)


def ball_in_cylinder(radius: float, distance: float, t: Array, y: Array) -> Scene:
    """The ball and the part of the wall that it sees."""
    low, high = float(y[:, 2].min()) - 2.0 * radius, float(y[:, 2].max()) + 2.0 * radius
    wide = distance + radius
    wall = revolved([(wide, low), (wide, high)], segments=64)
    return placed(
        [("ball", marked_ball([radius] * 3), Posed())],
        [Trail("ball", Inside(radius), "contact")],
        still=[Surface(wall.vertices, wall.faces, "#9fb4c7", 0.22)],
    )


def _contact(body: str, point: Any) -> list[Trail]:
    return [Trail(body, point, "contact", contact=True)]


# --- sleighs and cars -------------------------------------------------------------------------------------------------


def _blade(length: float) -> list[Surface]:
    return [box((length, 0.06 * length, 0.16 * length), _BLADE).moved((0.0, 0.0, 0.08 * length))]


def _skate(length: float) -> list[Trail]:
    return [Trail("body", (0.0, 0.0, 0.0), "skate", contact=True)]


def sleigh(offset: float, t: Array, y: Array) -> Scene:
    """A plate from the skate to beyond the centre of mass, which is marked."""
    a = abs(offset) or 0.3
    plate = box((2.6 * a, 1.6 * a, 0.12 * a)).moved((offset, 0.0, 0.4 * a))
    mark = cylinder(0.16 * a, 0.2 * a, "#d9d7cf").moved((offset, 0.0, 0.42 * a))
    return placed([("body", [plate, mark, *_blade(0.9 * a)], Planar())], _skate(a), floor=0.0)


def knife(length: float, t: Array, y: Array) -> Scene:
    """A blade with a grip; the plane is drawn flat, x down its slope."""
    grip = rod((0.0, 0.0, 0.15 * length), (0.0, 0.0, 0.6 * length), 0.06 * length)
    note = ("The plane is drawn flat; x runs down its slope.",)
    return placed([("body", [*_blade(length), grip], Planar())], _skate(length), floor=0.0, notes=note)


def sleigh_with_mass(offset: float, track: float, t: Array, y: Array) -> Scene:
    a = max(abs(offset), 0.5 * abs(track), 0.1)
    reach = 1.2 * float(np.abs(y[:, 3]).max()) + 0.2 * a
    plate = box((2.2 * a, 1.2 * a, 0.1 * a)).moved((offset, 0.0, 0.35 * a))
    rail = box((0.12 * a, 2.0 * reach, 0.08 * a), _BLADE).moved((track, 0.0, 0.46 * a))
    mass = box((0.3 * a, 0.3 * a, 0.3 * a)).moved((0.0, 0.0, 0.62 * a))
    body = Planar()
    moving = ("mass", [mass], Hinged(body, (track, 0.0, 0.0), shift=3))
    return placed([("body", [plate, rail, *_blade(0.8 * a)], body), moving], _skate(a), floor=0.0)


def _axle(radius: float, track: float) -> Surface:
    """Two wheels on an axle along y, their contact points at z = 0."""
    turn = along((0.0, 1.0, 0.0))
    wheels = [cylinder(radius, 0.4 * radius).moved((0.0, s * track, radius), turn) for s in (-1.0, 1.0)]
    bar = rod((0.0, -track, radius), (0.0, track, radius), 0.18 * radius)
    made = joined([*wheels, bar])
    return Surface(made.vertices, made.faces, _TYRE)


def car(wheelbase: float, t: Array, y: Array) -> Scene:
    """A body on a rear axle, and two wheels that are steered together."""
    l, r, w = wheelbase, 0.17 * wheelbase, 0.3 * wheelbase
    shell = [
        box((1.5 * l, 1.7 * w, 0.7 * r)).moved((0.5 * l, 0.0, 1.7 * r)),
        box((0.75 * l, 1.5 * w, 0.8 * r)).moved((0.42 * l, 0.0, 2.4 * r)),
    ]
    body = Planar()
    front = ("front wheels", [_axle(r, w)], Hinged(body, (l, 0.0, 0.0), angle=3))
    trails = [Trail("body", name="rear axle", contact=True), Trail("front wheels", name="front axle")]
    return placed([("body", [*shell, _axle(r, w)], body), front], trails, floor=0.0)


def snakeboard(half_length: float, t: Array, y: Array) -> Scene:
    """The board, its rotor and its two trucks."""
    l, r = half_length, 0.12 * half_length
    board = box((2.2 * l, 0.34 * l, 0.07 * l)).moved((0.0, 0.0, 2.4 * r))
    rotor = joined(
        [
            rod((0.0, -0.75 * l, 5.5 * r), (0.0, 0.75 * l, 5.5 * r), 0.05 * l),
            rod((0, 0, 2.4 * r), (0, 0, 5.5 * r), 0.05 * l),
        ]
    )
    on = Planar()
    trucks = [
        (name, [_axle(r, 0.3 * l)], Hinged(on, (x, 0.0, 0.0), angle=k))
        for name, x, k in (("front truck", l, 4), ("back truck", -l, 5))
    ]
    trails = [Trail(name, name=name, contact=True) for name, *_ in trucks]
    return placed([("board", [board], on), ("rotor", [rotor], Hinged(on, angle=3)), *trucks], trails, floor=0.0)


def roller_racer(lengths: tuple[float, float], t: Array, y: Array) -> Scene:
    """Two jointed bodies, each on an axle."""
    first, second = lengths
    r = 0.12 * first
    seat = box((1.1 * first, 0.4 * first, 0.08 * first)).moved((0.45 * first, 0.0, 2.3 * r))
    pin = cylinder(0.05 * first, 4.0 * r, _BLADE).moved((first, 0.0, 2.6 * r))
    arm = rod((0.0, 0.0, 3.4 * r), (second, 0.0, 3.4 * r), 0.05 * first)
    post = rod((second, 0.0, r), (second, 0.0, 3.4 * r), 0.05 * first)
    bar = [arm, post, _axle(r, 0.35 * first).moved((second, 0.0, 0.0))]
    on, seated = Planar(), [seat, pin, _axle(r, 0.4 * first)]
    trails = [Trail("body", name="axle", contact=True), Trail("handlebar", (second, 0.0, 0.0), "second axle")]
    turned = Hinged(on, (first, 0.0, 0.0), angle=3)
    return placed([("body", seated, on), ("handlebar", bar, turned)], trails, floor=0.0)


# --- points -----------------------------------------------------------------------------------------------------------


def bob(length: float, t: Array, y: Array) -> Scene:
    """A pendulum, the angle from the downward vertical."""

    def place(y: Array) -> list[list[float]]:
        return [[length * float(np.sin(y[0])), -length * float(np.cos(y[0]))]]

    return points(place, ["bob"], anchored=True)(t, y)


def orbit(t: Array, y: Array) -> Scene:
    """The attracting centre and the body."""
    return points(lambda y: [[0.0, 0.0], [float(y[0]), float(y[1])]], ["centre", "body"])(t, y)


def particle(t: Array, y: Array) -> Scene:
    return points(lambda y: [[float(x) for x in y[:3]]], ["particle"])(t, y)
