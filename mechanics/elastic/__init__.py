"""Elastic elements on points: springs, cables, dampers, membranes and solids, and the networks that they form.

`Network` poses the motion, for every method; with ``"AVI"`` every element has a step of its own.
`mechanics.elastic.rods` has geometrically exact rods, whose nodes are poses in SE(3).
"""

from liegroup.modules import listing
from mechanics.elastic.bending import Bending, Hinges
from mechanics.elastic.bodies import RigidBody
from mechanics.elastic.continua import (
    Material,
    NeoHookean,
    StableNeoHookean,
    StVenantKirchhoff,
    Tetrahedra,
    Triangles,
)
from mechanics.elastic.dampers import Dampers
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind
from mechanics.elastic.levels import StepReport
from mechanics.elastic.network import Network
from mechanics.elastic.registry import register
from mechanics.elastic.springs import Cables, LogSprings, Springs

__all__ = [
    "Bending",
    "Cables",
    "Dampers",
    "Elements",
    "Hinges",
    "Kind",
    "LogSprings",
    "Material",
    "NeoHookean",
    "Network",
    "RigidBody",
    "Springs",
    "StVenantKirchhoff",
    "StableNeoHookean",
    "StepReport",
    "Tetrahedra",
    "Triangles",
    "register",
]
__dir__ = listing(__all__)
