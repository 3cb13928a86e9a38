"""Bodies, joints, trees, forces and constraints: problems of mechanics, posed for the integrators."""

from mechanics import joints
from mechanics.errors import ModelError, ModelWarning
from mechanics.inertia import Inertia
from mechanics.tree import Body, JointData, Tree

__all__ = ["Body", "Inertia", "JointData", "ModelError", "ModelWarning", "Tree", "joints"]
