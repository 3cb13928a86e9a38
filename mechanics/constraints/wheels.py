"""Wheels, balls and blades on any body of a tree: what the velocity of a contact point must not do.

=================  ======================================  ==================================  =======================
contact            equations                               z of the frame on the body          origin of that frame
=================  ======================================  ==================================  =======================
`wheel`            "height", "roll", "side", or fewer      axis of the wheel                   hub
`ball`             "height", "roll" (two), or one of them  any                                 centre
`skate`            across the blade                        normal of the blade                 contact point
=================  ======================================  ==================================  =======================

They are closures of a `mechanics.mechanism.Mechanism` like the closing joints of `mechanics.constraints.loops`, with
the plane (z of its frame, through its origin) on another body or on the base.  "height" is a position; "roll" and
"side" hold velocities only and restrict no configuration.  A wheel that may slip sideways, or is driven over ice,
leaves equations out: with ``rows=("height",)`` a ball is a smooth caster.

Two wheels on one axle resist sideways twice, four wheels on a stiff frame carry one load too many: such equations
depend on each other, which the mechanism finds (`Mobility.redundant`).  Velocities are then still unique, forces are
not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from liegroup.arrays import of_kind, real, sequence
from mechanics.constraints.loops import Closure, Equation, point_on_plane
from mechanics.constraints.wheel_equations import EDGE, HEIGHT, ROLL, SIDE, SPHERE
from mechanics.errors import ModelError
from mechanics.model.frames import Frame

GROUND = Frame(None)
"""The plane z = 0 of the base."""
EQUATIONS = {"height": HEIGHT, "roll": ROLL, "side": SIDE}


def _check(body: Any, plane: Any, name: Any) -> None:
    of_kind(name, str, "name", "a text")
    of_kind(body, Frame, "body", "a Frame")
    of_kind(plane, Frame, "plane", "a Frame")


def wheel(
    body: Frame,
    radius: float,
    plane: Frame = GROUND,
    section: float = 0.0,
    rows: Iterable[str] = tuple(EQUATIONS),
    name: str = "",
) -> Closure:
    """A wheel that rolls without slipping.

    Parameters
    ----------
    body : Frame
        Hub and axis (z) on the body that is, or carries, the wheel.  A body that turns about the axis needs no joint of
        its own.
    radius : float
        Of the centre line of the rim, m.
    plane : Frame
        Normal (z) and a point of the plane, on another body or on the base.
    section : float
        Section radius of a round tyre, m; 0 is a sharp rim.
    rows : iterable of {"height", "roll", "side"}
        Which equations hold.
    name : str
        For messages and results; default from the body.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        A radius that is not positive, a negative section, an unknown equation, or no equation.

    Examples
    --------
    >>> wheel(Frame.with_axis("hub", axis=(0.0, 1.0, 0.0)), 0.3)
    <wheel 'wheel hub': None – hub, 3 equations>
    """
    _check(body, plane, name)
    radius = real(radius, "radius", "a positive radius in metres", lambda r: True)
    name = name or f"wheel {body.body}"
    if not (np.isfinite(radius) and radius > 0.0):
        raise ModelError(f"wheel {name!r}", f"radius {radius}", "give a positive radius in metres")
    section = real(section, "section", "a section radius of at least 0", lambda r: True)
    if not (np.isfinite(section) and section >= 0.0):
        raise ModelError(f"wheel {name!r}", f"section {section}", "give a section radius of at least 0")
    chosen = sequence(rows, "rows", "names of equations")
    if not chosen or any(row not in EQUATIONS for row in map(str, chosen)):
        raise ModelError(f"wheel {name!r}", f"rows {chosen}", f"choose among {', '.join(EQUATIONS)}")
    normal, axis = plane.rotation[:, 2], radius * body.rotation[:, 2]
    made = []
    for equation in chosen:
        point = plane.position + (section * normal if equation == "height" else 0.0)
        made.append(Equation(EQUATIONS[equation], normal, point, axis, body.position, 1.0, equation))
    return Closure("wheel", plane, body, tuple(made), (), name)


def ball(
    body: Frame, radius: float, plane: Frame = GROUND, rows: Iterable[str] = ("height", "roll"), name: str = ""
) -> Closure:
    """A ball, or a round foot, that rolls without slipping: on the ground, a turntable, a cart.

    Parameters
    ----------
    body : Frame
        Its origin is the centre of the ball.
    radius : float
        m, positive.
    plane : Frame
        Normal (z) and a point of the plane, on another body or on the base; the two equations of "roll" are its x and
        y.
    rows : iterable of {"height", "roll"}
        Which equations hold.
    name : str
        For messages and results; default from the body.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        A radius that is not positive, an unknown equation, or no equation.

    Examples
    --------
    >>> ball(Frame("ball"), 0.1)
    <ball 'ball ball': None – ball, 3 equations>
    """
    _check(body, plane, name)
    radius = real(radius, "radius", "a positive radius in metres", lambda r: True)
    name = name or f"ball {body.body}"
    if not (np.isfinite(radius) and radius > 0.0):
        raise ModelError(f"ball {name!r}", f"radius {radius}", "give a positive radius in metres")
    chosen = sequence(rows, "rows", "names of equations")
    if not chosen or any(row not in ("height", "roll") for row in map(str, chosen)):
        raise ModelError(f"ball {name!r}", f"rows {chosen}", "choose among height, roll")
    lifted = radius * plane.rotation[:, 2]
    made: list[Equation] = []
    if "height" in chosen:
        raised = Frame(plane.body, plane.position + lifted, plane.rotation)
        made += [equation._replace(label="height") for equation in point_on_plane(raised, body).equations]
    if "roll" in chosen:
        made += [
            Equation(SPHERE, plane.rotation[:, k], plane.position, lifted, body.position, 1.0, f"roll {'xy'[k]}")
            for k in range(2)
        ]
    return Closure("ball", plane, body, tuple(made), (), name)


def skate(body: Frame, plane: Frame = GROUND, name: str = "") -> Closure:
    """A blade or knife edge that slides along itself only: no velocity along the horizontal part of its normal (z of
    the frame).

    Parameters
    ----------
    body : Frame
        Contact point, and normal of the blade (z), on the body.
    plane : Frame
        Normal (z) and a point of the plane.
    name : str
        For messages and results; default from the body.

    Returns
    -------
    Closure
        For `Mechanism`.

    Examples
    --------
    >>> skate(Frame.with_axis("sleigh", axis=(0.0, 1.0, 0.0)))
    <skate 'skate sleigh': None – sleigh, 1 equation>
    """
    _check(body, plane, name)
    equation = Equation(EDGE, plane.rotation[:, 2], plane.position, body.rotation[:, 2], body.position, 1.0, "side")
    return Closure("skate", plane, body, (equation,), (), name or f"skate {body.body}")
