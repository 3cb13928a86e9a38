"""What of a motion can be seen: bodies, shapes, poses frame by frame; pages, videos and files of them.

A problem carries a scene (`Problem.scene`), a solution makes a film of it (`Solution.film`), and `animate` writes what
the ending of a path says.  Nothing here knows of forces or methods.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from integrators.scenes.showing import draw, show
from liegroup.modules import listing

if TYPE_CHECKING:
    from integrators.scenes.animation import Page, animate, film_of
    from integrators.scenes.film import Curve, Film, Watched, record
    from integrators.scenes.scene import Body, Scene, Tie, Trail
    from integrators.scenes.shapes import (
        Line,
        Surface,
        along,
        bounds,
        box,
        coarser,
        cone,
        creased,
        cuboid,
        cylinder,
        ellipsoid,
        joined,
        marked_ball,
        marked_disk,
        revolved,
        rod,
        spoked_wheel,
        torus,
    )
    from integrators.scenes.standard import of_group, points

_WHERE = {
    "animation": ("Page", "animate", "film_of"),
    "film": ("Curve", "Film", "Watched", "record"),
    "scene": ("Body", "Scene", "Tie", "Trail"),
    "shapes": (
        "Line",
        "Surface",
        "along",
        "bounds",
        "box",
        "coarser",
        "cone",
        "creased",
        "cuboid",
        "cylinder",
        "ellipsoid",
        "joined",
        "marked_ball",
        "marked_disk",
        "revolved",
        "rod",
        "spoked_wheel",
        "torus",
    ),
    "standard": ("of_group", "points"),
}
"""Module → its public names, imported when they are asked for: most runs are never drawn."""
__all__ = [
    "Body",
    "Curve",
    "Film",
    "Line",
    "Page",
    "Scene",
    "Surface",
    "Tie",
    "Trail",
    "Watched",
    "along",
    "animate",
    "bounds",
    "box",
    "coarser",
    "cone",
    "creased",
    "cuboid",
    "cylinder",
    "draw",
    "ellipsoid",
    "film_of",
    "joined",
    "marked_ball",
    "marked_disk",
    "of_group",
    "points",
    "record",
    "revolved",
    "rod",
    "show",
    "spoked_wheel",
    "torus",
]
__dir__ = listing(__all__)


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
