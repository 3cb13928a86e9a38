"""What of a motion can be seen: bodies, shapes, poses frame by frame; pages, videos and files of them.

A problem carries a scene (`Problem.scene`), a solution makes a film of it (`Solution.film`), and `animate` writes what
the ending of a path says.  Nothing here knows of forces or methods.
"""

from integrators.scenes.animation import Page, animate, film_of, show
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
from liegroup.modules import listing

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
