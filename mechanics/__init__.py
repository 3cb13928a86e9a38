"""Bodies, joints, trees, forces and constraints: problems of mechanics, posed for the integrators."""

from mechanics import joints
from mechanics.dynamics import (
    bias,
    body_jacobians,
    body_poses,
    body_twists,
    centre_of_mass,
    centroidal_momentum,
    energy,
    forward_dynamics,
    hamiltonian_rhs,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    momentum,
    potential_energy,
    power,
)
from mechanics.errors import ModelError, ModelWarning
from mechanics.frames import Frame
from mechanics.hamiltonian.compiled import CompiledModel, compile_model
from mechanics.hamiltonian.problem import hamiltonian_problem
from mechanics.inertia import Inertia
from mechanics.mechanism import Mechanism
from mechanics.models import load_mechanism, load_mjcf, load_model, load_urdf, model_names, model_path
from mechanics.tree import Body, JointData, Tree

__all__ = [
    "Body",
    "CompiledModel",
    "Frame",
    "Inertia",
    "JointData",
    "Mechanism",
    "ModelError",
    "ModelWarning",
    "Tree",
    "bias",
    "body_jacobians",
    "body_poses",
    "body_twists",
    "centre_of_mass",
    "centroidal_momentum",
    "compile_model",
    "energy",
    "forward_dynamics",
    "hamiltonian_problem",
    "hamiltonian_rhs",
    "inverse_dynamics",
    "joints",
    "kinetic_energy",
    "load_mechanism",
    "load_mjcf",
    "load_model",
    "load_urdf",
    "mass_matrix",
    "model_names",
    "model_path",
    "momentum",
    "potential_energy",
    "power",
]
