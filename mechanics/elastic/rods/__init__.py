"""Geometrically exact rods on SE(3): shear, extension, bending and torsion, turns and displacements of any size.

==================  ===================================================================================================
`Section`           stiffness and mass per length: `Section.round`, `Section.rectangle`, or numbers
`Rod`               nodes, sections, supports, loads: `Rod.straight`, `Rod.arc`, or poses
`Load`              a force and a moment at a node, fixed in the world or in the section, with a course in time
`Stroke`            a prescribed motion of a support
`Rod.problem`       the motion, for every canonical method
`Rod.admissible`    velocities with which a rod keeps its length, its shear: rods with ``rigid=``, ``"RATTLE_DRIFT"``
`Rod.steps`         what steps of their own for the elements gain, with the method ``"AVI"``
`beam`              an element of a rod between two bodies of a tree; whole rods: `Rod.attached_to`
`equilibrium`       where a rod rests under its loads
`vibrations`        frequencies and shapes of small vibrations about a state of rest
`step_limit`        the longest stable step of explicit methods, and the element that limits it
==================  ===================================================================================================
"""

from liegroup.modules import listing
from mechanics.elastic.rods.beams import beam
from mechanics.elastic.rods.rod import Load, Rod, Stroke
from mechanics.elastic.rods.section import Section
from mechanics.elastic.rods.statics import RodEquilibrium, RodError, equilibrium
from mechanics.elastic.rods.vibrations import StepLimit, Vibrations, step_limit, vibrations

__all__ = [
    "Load",
    "Rod",
    "RodEquilibrium",
    "RodError",
    "Section",
    "StepLimit",
    "Stroke",
    "Vibrations",
    "beam",
    "equilibrium",
    "step_limit",
    "vibrations",
]
__dir__ = listing(__all__)
