"""Calls that are right, of what users call first: which arguments take which other values is for the tests to see."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import liegroup
import mechanics
from integrators import Guard, Problem, Solution, integrate
from integrators.adapters.scipy import lie_solver
from integrators.events import Event
from integrators.problem import holonomic_problem, lagrangian_problem
from liegroup.table import RN, table_of
from mechanics import Body, Frame, Inertia, Mechanism, Tree, constraints, forces, joints
from mechanics.models import Limits
from mechanics.nonholonomic import nonholonomic_system

Call = tuple[Callable[..., Any], dict[str, Any]]
MJCF = """<mujoco><worldbody><body><joint axis="0 1 0"/>
 <geom size="0.1" pos="0 0 -1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
LINE = table_of([(RN, 2)])


def decay(t: float, y: Any) -> Any:
    return -y


def posed(**changes: Any) -> Problem:
    given = {"group": LINE, "y0": [1.0, 2.0], "field": decay} | changes
    return Problem(**given)


def pendulum() -> Tree:
    """Two bars, hinged."""
    bar = Inertia.about_com(1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
    first = Body("first", joints.Revolute((0.0, 1.0, 0.0)), inertia=bar, joint_name="upper")
    second = Body(
        "second", joints.Revolute((0.0, 1.0, 0.0)), "first", (0.0, 0.0, -1.0), inertia=bar, joint_name="lower"
    )
    return Tree([first, second])


def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
    return 0.5 * (v[0] ** 2 + v[1] ** 2) - q[1]


def on_circle(t: Any, q: Any, p: Any) -> Any:
    return [q[0] ** 2 + q[1] ** 2 - 1.0]


@cache
def solution() -> Solution:
    """A short run."""
    return integrate(posed(invariants={"sum": lambda t, y: y[0] + y[1]}), "RKMK4", (0.0, 0.1), 0.05)


def calls() -> dict[str, Call]:
    """Name → function and arguments that are right."""
    tree, two = pendulum(), {"q": [0.1, 0.2], "v": [0.3, 0.4]}
    free, frame, world = Mechanism(tree), Frame("second", (0.0, 0.0, -1.0)), Frame(None, (0.0, 0.0, -2.0))
    turn = joints.Motion((0.0, 1.0))
    so3, so3_q, x = liegroup.so3, [1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3]
    found: dict[str, Call] = {
        "so3.exp": (so3.exp, {"x": x}),
        "so3.log": (so3.log, {"g": so3_q}),
        "so3.compose": (so3.compose, {"g": so3_q, "h": so3_q}),
        "so3.act": (so3.act, {"g": so3_q, "point": x}),
        "so3.interpolate": (so3.interpolate, {"g": so3_q, "h": so3_q, "s": 0.5}),
        "so3.from_matrix": (so3.from_matrix, {"m": np.eye(3)}),
        "rn": (liegroup.rn, {"n": 3}),
        "Event": (Event, {"function": decay, "name": "a", "direction": 1, "terminal": True}),
        "Guard": (Guard, {"name": "a", "says": "b", "least": 0.0, "greatest": 1.0}),
        "lagrangian_problem": (
            lagrangian_problem,
            {"lagrangian": lagrangian, "q": [0.0, 1.0], "v": [1.0, 0.0], "parameters": [1.0], "group": liegroup.rn(2)},
        ),
        "holonomic_problem": (
            holonomic_problem,
            {
                "lagrangian": lagrangian,
                "constraints": on_circle,
                "q": [1.0, 0.0],
                "v": [0.0, 1.0],
                "group": liegroup.rn(2),
            },
        ),
        "nonholonomic_system": (
            nonholonomic_system,
            {
                "group": liegroup.rn(2),
                "mass": lambda q: np.eye(2),
                "rows": lambda q: [[1.0, -1.0]],
                "q0": [0.0, 0.0],
                "v0": [1.0, 1.0],
            },
        ),
        "lie_solver": (lie_solver, {"method": "RKMK_DORMAND_PRINCE54", "groups": 2}),
        "Inertia.about_com": (Inertia.about_com, {"mass": 1.0, "com": x, "tensor": np.eye(3)}),
        "Inertia.about_origin": (Inertia.about_origin, {"mass": 1.0, "com": (0.0, 0.0, 0.0), "tensor": np.eye(3)}),
        "Inertia.point": (Inertia.point, {"mass": 1.0, "com": x}),
        "Revolute": (joints.Revolute, {"axis": (0.0, 0.0, 1.0)}),
        "Prismatic": (joints.Prismatic, {"axis": (0.0, 0.0, 1.0)}),
        "Helical": (joints.Helical, {"axis": (0.0, 0.0, 1.0), "pitch": 0.1}),
        "Universal": (joints.Universal, {"first": (1.0, 0.0, 0.0), "second": (0.0, 1.0, 0.0)}),
        "Planar": (joints.Planar, {"x_axis": (1.0, 0.0, 0.0), "y_axis": (0.0, 1.0, 0.0)}),
        "Gimbal": (joints.Gimbal, {"axes": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))}),
        "Compound": (joints.Compound, {"parts": (joints.Turn(), joints.Slide())}),
        "Turn": (joints.Turn, {"axis": (0.0, 0.0, 1.0), "motion": turn}),
        "Motion": (joints.Motion, {"polynomial": (0.0, 1.0), "harmonics": ((1.0, 2.0, 0.0),)}),
        "JointData": (
            mechanics.JointData,
            {"damping": 0.1, "friction": 0.0, "armature": 0.1, "lower": -1.0, "upper": 1.0},
        ),
        "Frame": (Frame, {"body": "first", "position": x, "rotation": np.eye(3)}),
        "Body": (
            Body,
            {
                "name": "a",
                "joint": joints.Revolute(),
                "parent": None,
                "position": x,
                "rotation": np.eye(3),
                "inertia": Inertia.zero(),
                "joint_name": "b",
                "data": mechanics.JointData(),
            },
        ),
        "Body with JointData": (
            lambda damping, lower, armature: Body(
                "a", joints.Revolute(), data=mechanics.JointData(damping, lower=lower, armature=armature)
            ),
            {"damping": 0.1, "lower": -1.0, "armature": 0.1},
        ),
        "Tree": (Tree, {"bodies": tree.bodies, "name": "a", "gravity": x, "notes": (), "frames": {}}),
        "Tree.problem": (tree.problem, two | {"t": 0.0}),
        "Tree.with_gravity": (tree.with_gravity, {"gravity": x}),
        "Tree.with_locked": (tree.with_locked, {"joints": ["lower"], "q": [0.1, 0.2]}),
        "Tree.body_index": (tree.body_index, {"body": "first"}),
        "Tree.joint_index": (tree.joint_index, {"joint": "upper"}),
        "Mechanism": (Mechanism, {"tree": tree, "closures": (), "home": [0.1, 0.2], "elements": (), "rank": 0}),
        "Mechanism.gap": (free.gap, {"q": [0.1, 0.2]}),
        "Mechanism.problem": (free.problem, two),
        "distance": (constraints.distance, {"first": frame, "second": world, "length": 1.0, "name": "a"}),
        "spherical": (constraints.spherical, {"first": frame, "second": world, "name": "a"}),
        "revolute": (constraints.revolute, {"first": frame, "second": world, "name": "a"}),
        "gear": (constraints.gear, {"first": "upper", "second": "lower", "ratio": 2.0, "offset": 0.0, "name": "a"}),
        "polynomial": (constraints.polynomial, {"first": "upper", "second": "lower", "coefficients": [0.0, 1.0]}),
        "coupling": (constraints.coupling, {"joints": ["upper", "lower"], "function": lambda x, y: x - y, "name": "a"}),
        "holonomic": (constraints.holonomic, {"first": frame, "second": world, "function": lambda x, R: x[0]}),
        "wheel": (constraints.wheel, {"body": frame, "radius": 0.1, "plane": world, "section": 0.0}),
        "skate": (constraints.skate, {"body": frame, "plane": world, "name": "a"}),
        "joint_spring": (forces.joint_spring, {"joint": "upper", "stiffness": 1.0, "rest": 0.0, "damping": 0.1}),
        "Tendon": (forces.Tendon, {"coefficients": {"upper": 1.0, "lower": 2.0}, "name": "a"}),
        "actuator": (
            forces.actuator,
            {
                "joint": "upper",
                "gain": (1.0, 0.0, 0.0),
                "bias": 0.1,
                "command": 0.3,
                "command_range": (-1.0, 1.0),
                "force_range": (-2.0, 2.0),
                "name": "a",
            },
        ),
        "polynomial_spring": (
            forces.polynomial_spring,
            {"joint": "upper", "stiffness": (1.0, 2.0), "rest": 0.0, "damping": 0.1},
        ),
        "joint_stop": (
            forces.joint_stop,
            {
                "joint": "upper",
                "lower": -1.0,
                "upper": 1.0,
                "stiffness": 1e3,
                "damping": 0.1,
                "law": "soft",
                "width": 0.1,
            },
        ),
        "dry_friction": (
            forces.dry_friction,
            {"joint": "upper", "force": 1.0, "slip_speed": 0.1, "static_force": 1.5},
        ),
        "servo": (forces.servo, {"joint": "upper", "stiffness": 1.0, "damping": 0.1, "target": turn}),
        "motor": (forces.motor, {"joint": "upper", "force": turn}),
        "spring_damper": (
            forces.spring_damper,
            {"first": frame, "second": world, "stiffness": 1.0, "damping": 0.1, "length": 1.0},
        ),
        "bushing": (forces.bushing, {"first": frame, "second": world, "stiffness": [1.0] * 6, "damping": 0.0}),
        "contact": (
            forces.contact,
            {
                "first": forces.Sphere(frame, 0.1),
                "second": world,
                "stiffness": 1e3,
                "damping": 1.0,
                "law": "soft",
                "width": 0.01,
                "friction": 0.1,
                "static_friction": 0.2,
                "slip_speed": 0.01,
            },
        ),
        "Sphere": (forces.Sphere, {"frame": frame, "radius": 0.1}),
        "Capsule": (forces.Capsule, {"frame": frame, "radius": 0.1, "length": 1.0}),
        "Ellipsoid": (forces.Ellipsoid, {"frame": frame, "semi_axes": [0.1, 0.2, 0.3]}),
        "Wheel": (forces.Wheel, {"frame": frame, "radius": 0.1, "section": 0.01}),
        "Plane": (forces.Plane, {"frame": frame}),
        "soft_numbers": (forces.soft_numbers, {"mass": 1.0, "time_constant": 0.02, "damping_ratio": 1.0}),
        "Nonsmooth": (
            mechanics.Nonsmooth,
            {
                "model": free,
                "stops": {"upper": (-1.0, 1.0)},
                "restitution": 0.5,
                "friction": {"lower": 1.0},
                "shortest": 1e-6,
            },
        ),
        "Solution.error": (lambda name, relative: solution().error(name, relative), {"name": "sum", "relative": True}),
        "Solution.minimum": (lambda name: solution().minimum(name), {"name": "sum"}),
        "Solution[]": (lambda name: solution()[name], {"name": "sum"}),
        "Solution.save": (lambda path: solution().save(path), {"path": "run.h5"}),
    }
    file = mechanics.model_path("double_pendulum")
    limits, flags = Limits(), {"damping": True, "allow_massless": False}
    found["Limits"] = (Limits, {"bytes": 100, "depth": 10, "elements": 10, "seconds": 1.0, "assets": 10})
    found["load_urdf"] = (
        mechanics.load_urdf,
        {"path": file, "floating_base": False, "gravity": x, "strict": False, "limits": limits} | flags,
    )
    found["load_mjcf"] = (
        mechanics.load_mjcf,
        {"source": MJCF, "gravity": x, "damping": True, "trusted": False, "limits": limits},
    )
    found["load_mechanism"] = (
        mechanics.load_mechanism,
        {
            "source": MJCF,
            "springs": True,
            "contacts": False,
            "trusted": False,
            "floating_base": None,
            "closures": None,
            "limits": limits,
        }
        | flags,
    )
    for name in ("kinetic_energy", "energy", "momentum", "body_twists", "centroidal_momentum", "bias", "power"):
        found[name] = (getattr(mechanics, name), {"tree": tree} | two | {"t": 0.0})
    for name in ("mass_matrix", "potential_energy", "body_poses", "body_jacobians", "centre_of_mass"):
        found[name] = (getattr(mechanics, name), {"tree": tree, "q": two["q"], "t": 0.0})
    more = {"tau": [0.0, 0.0], "wrenches": np.zeros((2, 6)), "t": 0.0}
    found["forward_dynamics"] = (mechanics.forward_dynamics, {"tree": tree} | two | more)
    found["inverse_dynamics"] = (mechanics.inverse_dynamics, {"tree": tree, "a": [0.0, 0.0]} | two | {"t": 0.0})
    found["hamiltonian_rhs"] = (
        mechanics.hamiltonian_rhs,
        {"tree": tree, "q": two["q"], "p": [0.1, 0.2], "algorithm": "ERA", "t": 0.0},
    )
    return found
