"""Bodies, joints, trees, forces and constraints: problems of mechanics, posed for the integrators."""

from typing import TYPE_CHECKING

from liegroup.modules import found_later, listing, renamed

if TYPE_CHECKING:
    from mechanics import joints
    from mechanics.derivatives import (
        forward_dynamics_derivatives,
        hamiltonian_rhs_derivatives,
        inverse_dynamics_derivatives,
    )
    from mechanics.drives import drive_forces
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
    from mechanics.kinematics import (
        centre_of_mass_jacobian,
        centre_of_mass_jacobian_rate,
        distance,
        distance_jacobian,
        frame_acceleration,
        frame_jacobian,
        frame_jacobian_rate,
        frame_pose,
        frame_twist,
    )
    from mechanics.linear import equilibrium, linearise, modes, stability
    from mechanics.mechanism import Mechanism
    from mechanics.model.frames import Frame
    from mechanics.model.inertia import Inertia
    from mechanics.model.tree import Body, JointData, Tree
    from mechanics.models import (
        StateMap,
        from_mujoco,
        from_pinocchio,
        load_mechanism,
        load_mjcf,
        load_model,
        load_urdf,
        model_names,
        model_path,
        state_map,
        to_pinocchio,
    )
    from mechanics.problems.accounts import element_accounts
    from mechanics.problems.compiled import CompiledModel, compile_model
    from mechanics.problems.nonsmooth import Nonsmooth
    from mechanics.problems.tree import hamiltonian_problem
    from mechanics.problems.velocity import velocity_problem
    from mechanics.symbolic import from_kanes_method, from_lagranges_method, from_lagrangian

__all__ = [
    "Body",
    "CompiledModel",
    "Frame",
    "Inertia",
    "JointData",
    "Mechanism",
    "ModelError",
    "ModelWarning",
    "Nonsmooth",
    "StateMap",
    "Tree",
    "bias",
    "body_jacobians",
    "body_poses",
    "body_twists",
    "centre_of_mass",
    "centre_of_mass_jacobian",
    "centre_of_mass_jacobian_rate",
    "centroidal_momentum",
    "compile_model",
    "distance",
    "distance_jacobian",
    "drive_forces",
    "element_accounts",
    "energy",
    "equilibrium",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_pose",
    "frame_twist",
    "from_kanes_method",
    "from_lagranges_method",
    "from_lagrangian",
    "from_mujoco",
    "from_pinocchio",
    "hamiltonian_problem",
    "hamiltonian_rhs",
    "hamiltonian_rhs_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "joints",
    "kinetic_energy",
    "linearise",
    "load_mechanism",
    "load_mjcf",
    "load_model",
    "load_urdf",
    "mass_matrix",
    "model_names",
    "model_path",
    "modes",
    "momentum",
    "potential_energy",
    "power",
    "stability",
    "state_map",
    "to_pinocchio",
    "velocity_problem",
]
_HOMES = {
    "mechanics.derivatives": (
        "forward_dynamics_derivatives",
        "hamiltonian_rhs_derivatives",
        "inverse_dynamics_derivatives",
    ),
    "mechanics.drives": ("drive_forces",),
    "mechanics.dynamics": (
        "bias",
        "body_jacobians",
        "body_poses",
        "body_twists",
        "centre_of_mass",
        "centroidal_momentum",
        "energy",
        "forward_dynamics",
        "hamiltonian_rhs",
        "inverse_dynamics",
        "kinetic_energy",
        "mass_matrix",
        "momentum",
        "potential_energy",
        "power",
    ),
    "mechanics.errors": ("ModelError", "ModelWarning"),
    "mechanics.kinematics": (
        "centre_of_mass_jacobian",
        "centre_of_mass_jacobian_rate",
        "distance",
        "distance_jacobian",
        "frame_acceleration",
        "frame_jacobian",
        "frame_jacobian_rate",
        "frame_pose",
        "frame_twist",
    ),
    "mechanics.linear": ("equilibrium", "linearise", "modes", "stability"),
    "mechanics.mechanism": ("Mechanism",),
    "mechanics.model.frames": ("Frame",),
    "mechanics.model.inertia": ("Inertia",),
    "mechanics.model.tree": ("Body", "JointData", "Tree"),
    "mechanics.models": (
        "StateMap",
        "from_mujoco",
        "from_pinocchio",
        "load_mechanism",
        "load_mjcf",
        "load_model",
        "load_urdf",
        "model_names",
        "model_path",
        "state_map",
        "to_pinocchio",
    ),
    "mechanics.problems.accounts": ("element_accounts",),
    "mechanics.problems.compiled": ("CompiledModel", "compile_model"),
    "mechanics.problems.nonsmooth": ("Nonsmooth",),
    "mechanics.problems.tree": ("hamiltonian_problem",),
    "mechanics.problems.velocity": ("velocity_problem",),
    "mechanics.symbolic": ("from_kanes_method", "from_lagranges_method", "from_lagrangian"),
}
"""Where the names stand."""
__getattr__ = found_later(__name__, _HOMES)

renamed(
    {
        "mechanics.closure_file": "mechanics.adapters.closure_file",
        "mechanics.forces.elements": "mechanics.forces",
        "mechanics.frames": "mechanics.model.frames",
        "mechanics.hamiltonian": "mechanics.problems",
        "mechanics.hamiltonian.problem": "mechanics.problems.tree",
        "mechanics.hamiltonian.reference": "mechanics.reference.system",
        "mechanics.inertia": "mechanics.model.inertia",
        "mechanics.kernels.rows": "mechanics.kernels.links",
        "mechanics.tree": "mechanics.model.tree",
    }
    | {
        f"mechanics.constraints.{name}": f"mechanics.formulations.{name}"
        for name in ("body_problem", "constrained_problem", "multiplier_problem", "reactions")
    }
)
__dir__ = listing(__all__)
