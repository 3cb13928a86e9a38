"""Bodies, joints, trees, forces and constraints: problems of mechanics, posed for the integrators."""

from mechanics import joints
from mechanics.errors import ModelError, ModelWarning
from mechanics.frames import Frame
from mechanics.inertia import Inertia
from mechanics.models import load_model, load_urdf, model_names, model_path
from mechanics.tree import Body, JointData, Tree

__all__ = [
    "Body",
    "Frame",
    "Inertia",
    "JointData",
    "ModelError",
    "ModelWarning",
    "Tree",
    "joints",
    "load_model",
    "load_urdf",
    "model_names",
    "model_path",
]
