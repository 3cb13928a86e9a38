"""Problems: a group, a field or a Lagrangian, what is conserved, and what else a method may ask for."""

from integrators.problem.guards import Doubt, Guard
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.inputs import Inputs, Sampled, traced
from integrators.problem.lagrangian import lagrangian_problem
from integrators.problem.posing import Poses, pose
from integrators.problem.problem import OwnStep, Problem, Variable
from integrators.problem.velocities import in_velocities
from liegroup.modules import listing

__all__ = [
    "Doubt",
    "Guard",
    "Inputs",
    "OwnStep",
    "Poses",
    "Problem",
    "Sampled",
    "Variable",
    "holonomic_problem",
    "in_velocities",
    "lagrangian_problem",
    "pose",
    "traced",
]
__dir__ = listing(__all__)
