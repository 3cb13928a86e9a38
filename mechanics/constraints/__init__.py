"""Closures of a tree: loops, couplings, wheels; their equations, assembly and mobility."""

from liegroup.modules import listing
from mechanics.constraints.assembly import Assembly, AssemblyError, assemble
from mechanics.constraints.couplings import coupling, gear, polynomial
from mechanics.constraints.equations import LoopEquations
from mechanics.constraints.loops import (
    Closure,
    cylindrical,
    distance,
    holonomic,
    planar,
    point_on_line,
    point_on_plane,
    prismatic,
    revolute,
    spherical,
    universal,
    weld,
)
from mechanics.constraints.mobility import Mobility
from mechanics.constraints.wheels import ball, skate, wheel

__all__ = [
    "Assembly",
    "AssemblyError",
    "Closure",
    "LoopEquations",
    "Mobility",
    "assemble",
    "ball",
    "coupling",
    "cylindrical",
    "distance",
    "gear",
    "holonomic",
    "planar",
    "point_on_line",
    "point_on_plane",
    "polynomial",
    "prismatic",
    "revolute",
    "skate",
    "spherical",
    "universal",
    "weld",
    "wheel",
]
__dir__ = listing(__all__)
