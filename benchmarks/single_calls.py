"""Single calls from Python, one state at a time, beside Pinocchio's: ``python -m benchmarks.single_calls``.

Every function with all its checks, with a new array for the result, and with `tree.workspace()` and given memory
(``out=``); Pinocchio's bindings write into its `Data` and check sizes.  What Pinocchio has no single function for is
left out there: Hamilton's equations stand beside `aba`.  Best of many short chunks.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mechanics
from benchmarks.machine import best_time, circumstances, save
from mechanics import ModelWarning, Tree, load_model
from mechanics.adapters.pinocchio import to_pinocchio

ROBOTS = {"UR5": "ur5", "Panda": "panda", "Talos": "talos"}
FUNCTIONS = {
    "forward_dynamics": ("q", "v", "v"),
    "inverse_dynamics": ("q", "v", "v"),
    "hamiltonian_rhs": ("q", "v"),
    "bias": ("q", "v"),
    "mass_matrix": ("q",),
    "momentum": ("q", "v"),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "energy": ("q", "v"),
    "power": ("q", "v", "v"),
    "body_poses": ("q",),
    "body_twists": ("q", "v"),
    "body_jacobians": ("q",),
    "centre_of_mass": ("q",),
    "centroidal_momentum": ("q", "v"),
    "frame_pose": ("q", "frame"),
    "frame_twist": ("q", "v", "frame"),
    "frame_acceleration": ("q", "v", "v", "frame"),
    "frame_jacobian": ("q", "frame"),
    "frame_jacobian_rate": ("q", "v", "frame"),
    "centre_of_mass_jacobian": ("q",),
    "centre_of_mass_jacobian_rate": ("q", "v"),
    "forward_dynamics_derivatives": ("q", "v", "v"),
    "inverse_dynamics_derivatives": ("q", "v", "v"),
    "hamiltonian_rhs_derivatives": ("q", "v"),
}
"""What they are called with; frames are the last body, in its own axes."""


def theirs(tree: Tree, q: Any, v: Any) -> dict[str, Callable[[], Any]]:
    """Pinocchio's calls; nothing without Pinocchio."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    other = to_pinocchio(tree)
    model, data = other.model, other.model.createData()
    x, s = other.configuration(q), other.velocity(v)
    frame, own = len(model.frames) - 1, pin.ReferenceFrame.LOCAL
    return {
        "forward_dynamics": lambda: pin.aba(model, data, x, s, s),
        "inverse_dynamics": lambda: pin.rnea(model, data, x, s, s),
        "hamiltonian_rhs": lambda: pin.aba(model, data, x, s, s),
        "bias": lambda: pin.nonLinearEffects(model, data, x, s),
        "mass_matrix": lambda: pin.crba(model, data, x),
        "kinetic_energy": lambda: pin.computeKineticEnergy(model, data, x, s),
        "potential_energy": lambda: pin.computePotentialEnergy(model, data, x),
        "energy": lambda: pin.computeMechanicalEnergy(model, data, x, s),
        "body_poses": lambda: pin.forwardKinematics(model, data, x),
        "body_twists": lambda: pin.forwardKinematics(model, data, x, s),
        "body_jacobians": lambda: pin.computeJointJacobians(model, data, x),
        "centre_of_mass": lambda: pin.centerOfMass(model, data, x, False),
        "centroidal_momentum": lambda: pin.computeCentroidalMomentum(model, data, x, s),
        "frame_pose": lambda: pin.framesForwardKinematics(model, data, x),
        "frame_jacobian": lambda: pin.computeFrameJacobian(model, data, x, frame, own),
        "frame_jacobian_rate": lambda: pin.frameJacobianTimeVariation(model, data, x, s, frame, own),
        "centre_of_mass_jacobian": lambda: pin.jacobianCenterOfMass(model, data, x, False),
        "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(model, data, x, s, s),
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, x, s, s),
    }


def microseconds(call: Callable[[], Any]) -> float:
    """Of one call, that of the loop around it included."""

    def many(n: int) -> None:
        for _ in range(n):
            call()

    return 1e6 * best_time(many, repeats=20)


def contenders(name: str, tree: Tree) -> dict[str, Callable[[], Any]]:
    """A function with a new result, in a workspace with given memory, and Pinocchio's if it has one."""
    generator = np.random.default_rng(0)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    given = {"q": q, "v": v, "frame": tree.body_names[-1]}
    function, work = getattr(mechanics, name), tree.workspace()
    arguments = [given[letter] for letter in FUNCTIONS[name]]
    found = function(tree, *arguments)
    out = tuple(np.empty_like(x) for x in found) if isinstance(found, tuple) else np.empty_like(found)
    other = theirs(tree, q, v).get(name)
    ours = {"call": lambda: function(tree, *arguments), "out": lambda: function(work, *arguments, out=out)}
    return ours if other is None else {**ours, "pinocchio": other}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="FUNCTION", help="only these functions")
    parser.add_argument("--rounds", type=int, default=4, help="measure every number so many times, the best counts")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        trees = {name: load_model(model) for name, model in ROBOTS.items()}
    timed = {
        (name, robot): contenders(name, tree) for name in options.only or FUNCTIONS for robot, tree in trees.items()
    }
    best: dict[Any, dict[str, float]] = {}
    for _ in range(options.rounds):  # all of them each time: other work on the machine lasts longer than one of them
        for row, uses in timed.items():
            times = {use: microseconds(call) for use, call in uses.items()}
            best[row] = {use: min(time, best.get(row, times)[use]) for use, time in times.items()}
    print(f"{'microseconds per call':32s}" + "".join(f"{name:>24s}" for name in ROBOTS))
    print(f"{'':32s}" + 3 * f"{'ours':>8s}{'out=':>8s}{'pin':>8s}")
    for name in options.only or FUNCTIONS:
        line = [best[name, robot].get(use, float("nan")) for robot in ROBOTS for use in ("call", "out", "pinocchio")]
        print(f"{name:32s}" + "".join(f"{time:8.2f}" for time in line))
    rows = [
        {"function": name, "robot": robot, "nv": trees[robot].nv}
        | {f"{use}_us": round(x, 3) for use, x in times.items()}
        for (name, robot), times in best.items()
    ]
    if options.save:
        print("saved", save(options.save, {**circumstances("pin"), "rows": rows}))


if __name__ == "__main__":
    main()
