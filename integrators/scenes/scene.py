"""What of a system can be seen: bodies with their shapes, and where a state puts them.

A scene knows nothing of how a motion was computed.  A problem carries one (`Problem.scene`), or a function
``(t, y) → Scene`` that makes it once the motion is known, from all times (k,) and states (k, n) that will be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from integrators.scenes.shapes import Shape
from liegroup.arrays import of_kind, sequence

Array = NDArray[np.float64]
Poses: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]
"""Times (k,) and states (k, n) → origins (k, N, 3) in the world, m, and rotations (k, N, 3, 3), body → world."""


@dataclass(frozen=True, eq=False)
class Body:
    """One rigid body.

    Parameters
    ----------
    name : str
        Unique in the scene.
    shapes : sequence of Surface and Line
        In body axes.
    colour : str, optional
        ``"#rrggbb"`` of the shapes that have none of their own; default one after the other from a palette.
    """

    name: str
    shapes: Sequence[Shape] = ()
    colour: str | None = None


@dataclass(frozen=True, eq=False)
class Tie:
    """A straight line between points of two bodies (None: the world): a spring, a massless rod.

    `at` and `on` are the points (3,) in the axes of `first` and of `second`, m.
    """

    first: str | None
    second: str | None
    at: Any = (0.0, 0.0, 0.0)
    on: Any = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Trail:
    """The path that a point draws.

    Parameters
    ----------
    body : str
    point : array (3,), or callable
        Fixed in the body, in its axes, m; or ``point(x, R)`` → world coordinates (k, 3) from the origins (k, 3) and
        rotations (k, 3, 3) of the body: where a wheel touches the ground.
    name : str
        For the legend.
    contact : bool
        Whether it is the path of a contact: always shown.
    """

    body: str
    point: Any = (0.0, 0.0, 0.0)
    name: str = ""
    contact: bool = False


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies, and where they are in a state.

    Parameters
    ----------
    bodies : sequence of Body
    poses : callable
        ``poses(t, y)`` for times (k,) and states (k, n), components last: origins (k, N, 3) in the world, m, and
        rotations (k, N, 3, 3) with x_world = rotation·x_body + origin.
    still : sequence of Surface and Line
        What does not move, in the axes of the world.
    ties : sequence of Tie
    trails : sequence of Trail
    up : array (3,)
        Direction against gravity.
    floor : float, optional
        Height of the floor along `up`, m; default below the whole motion.
    view : array (3,), optional
        From the middle of the motion towards the eye; default from the side, or across the plane of a plane motion.
    notes : sequence of str
        What the reader has to know of the drawing.

    Raises
    ------
    ValueError, TypeError
        No bodies, repeated names, ties and trails of bodies that are not there.
    """

    bodies: Sequence[Body]
    poses: Poses
    still: Sequence[Shape] = ()
    ties: Sequence[Tie] = ()
    trails: Sequence[Trail] = ()
    up: Any = (0.0, 0.0, 1.0)
    floor: float | None = None
    view: Any = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        bodies = sequence(self.bodies, "bodies", "a sequence of bodies (integrators.scenes.Body)")
        for body in bodies:
            of_kind(body, Body, "bodies", "bodies (integrators.scenes.Body)")
        names = [body.name for body in bodies]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"bodies: names {names}, expected at least one body, each with a name of its own")
        used = [name for tie in self.ties for name in (tie.first, tie.second)] + [trail.body for trail in self.trails]
        if unknown := [name for name in used if name is not None and name not in names]:
            raise ValueError(f"ties, trails: {unknown[0]!r}, expected one of the bodies {', '.join(names)}")

    def number(self, body: str | None) -> int:
        """Place of a body in `bodies`; −1 is the world."""
        return -1 if body is None else [b.name for b in self.bodies].index(body)


SceneMaker: TypeAlias = Callable[[Array, Array], Scene]
EXPECTED = "expected a Scene, or a function (t, y) → Scene; integrators.scenes.points(f) makes one of points f(y)"


def made(scene: Any, t: Array, y: Array) -> Scene:
    """The scene itself, or what its maker makes of a motion; TypeError for anything else."""
    found = scene(t, y) if callable(scene) and not isinstance(scene, Scene) else scene
    if not isinstance(found, Scene):
        raise TypeError(f"scene: {type(found).__qualname__}, {EXPECTED}")
    return found
