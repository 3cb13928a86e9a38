"""Mechanisms with loops against Pinocchio, MuJoCo and Exudyn: ``python -m benchmarks.closed_loops``.

One evaluation is the rates of a closed state under gravity: (q, p) → (v, ṗ) here, by the kernel for all mechanisms
(`closed`) and by straight-line code for one (`mechanics.compile_model`; Cassie is too large for it),
`constraintDynamics` of Pinocchio on the same tree with the closing points as contacts, `mj_forward` of MuJoCo on the
same bodies with <connect>.  Both peers are called from Python, in a loop over eight states; what that costs is measured
with an empty call of theirs (`forwardKinematics` of one joint, `mj_energyPos`) and not taken off.

Ours are measured once more with products and sums fused (`benchmarks.fused`).

One step is the classical Runge–Kutta step with closed positions here, and the one of MuJoCo with the same four stages
(RK4).  What a step costs at least is that of Adams and Bashforth's method here, of order two, and `mj_step` of MuJoCo
by its integrator implicitfast, of order one: both evaluate once.  Besides there is Heun's method, of order two without
a past, and the index-2 trapezoidal step in redundant coordinates of Exudyn.  `gap` is what remains open after one
second; MuJoCo is unstable with these stiff equality constraints on Cassie and starts again, so that its gap says
nothing there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.fused import fused
from benchmarks.loops import seconds, seconds_in_lanes
from benchmarks.machine import best_time, circumstances, save
from benchmarks.peers import mjcf, pinocchio_model
from integrators import integrate
from integrators.problem import Problem
from liegroup.compile import WIDTH, Entry
from mechanics import CompiledModel, compile_model, load_mechanism
from mechanics.closed_trees.field import closed
from mechanics.constraints.loops import weld
from mechanics.constraints.mobility import mass_matrix
from mechanics.joints import Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.tree import Body, Tree
from mechanics.systems.loops import bricard, four_bar, walking_mechanism

STATES = 16
STEP = 1e-3
LONG, RUNS = 1.0, 200
"""s, for the time of a step, the least of so many runs: shorter ones would count the start of a run.  Longer ones of
Cassie do not follow its motion.
"""
CHEAPEST = "ADAMS_BASHFORTH2"


def mechanisms(with_cassie: bool) -> dict[str, Mechanism]:
    found = {"four-bar": four_bar.mechanism(), "walker": walker(), "Bricard": bricard.mechanism()}
    return found | {"Cassie": load_mechanism("cassie", damping=False, springs=False)} if with_cassie else found


def walker() -> Mechanism:
    """The walking mechanism without feet and drive, its pins fixed in the disc: what peers can have, too."""
    x_axis, pin = (1.0, 0.0, 0.0), np.array([0.0, 0.0, walking_mechanism.PIN])
    bodies = [
        Body(b.name, Revolute(x_axis), b.parent, b.position, inertia=b.inertia.moved(pin, np.eye(3)))
        if b.name.endswith("image")
        else b
        for b in walking_mechanism.tree().bodies
    ]
    closures = [weld(Frame(f"leg{k}"), Frame(f"leg{k}_image", pin), f"leg{k}") for k in (1, 2)]
    tree = Tree(bodies, "walker", (0.0, 0.0, -walking_mechanism.GRAVITY))
    return Mechanism(tree, closures, walking_mechanism.closed_configuration(0.0, 0.0, 0.0, 0.3))


def velocity(made: Mechanism) -> Any:
    """A velocity that keeps the loops closed."""
    return made.projected_velocity(made.home, np.random.default_rng(0).normal(size=made.tree.nv))[0]


# --- ours -------------------------------------------------------------------------------------------------------------


def our_times(made: Mechanism, model: Mechanism | CompiledModel, field: Entry) -> dict[str, float]:
    """Of the kernels for all mechanisms, or of the code for one; the gap is the same, bit by bit."""
    problem = model.problem(v=velocity(made))
    evaluation, in_lanes = our_evaluation(made, problem, field), our_evaluation_in_lanes(made, problem, field)
    gap = float(integrate(problem, "RKMK4", (0.0, 1.0), step=STEP).maximum("gap"))
    methods = {"step_us": "RKMK4", "cheap_step_us": CHEAPEST, "heun_step_us": "RKMK_HEUN2"}
    times = {key: our_step(problem, method) for key, method in methods.items()}
    return {"evaluation_us": evaluation, "evaluation_in_lanes_us": in_lanes, **times, "gap": gap}


def compiled_times(made: Mechanism) -> dict[str, float]:
    """The same of its straight-line code; nothing for a mechanism that is too large for it."""
    try:
        model = compile_model(made)
    except ValueError:
        return {}
    times = {f"compiled_{key}": value for key, value in our_times(made, model, model.field).items() if key != "gap"}
    return times | {"operations": model.operations}


def our_evaluation(made: Mechanism, problem: Problem, field: Entry) -> float:
    """Microseconds."""
    packed, states = made.packed(), np.tile(problem.y0, (STATES, 1))
    return 1e6 * seconds(field, states, packed.parameters, packed.structure, packed.work_shape, 2 * made.tree.nv)


def our_evaluation_in_lanes(made: Mechanism, problem: Problem, field: Entry) -> float:
    """Microseconds per trajectory, eight at a time."""
    packed, states = made.packed(), np.tile(problem.y0, (WIDTH, STATES, 1))
    return 1e6 * seconds_in_lanes(
        field, states, packed.parameters, packed.structure, packed.work_shape, 2 * made.tree.nv
    )


def our_step(problem: Problem, method: str) -> float:
    """Microseconds per step."""
    runs = [integrate(problem, method, (0.0, LONG), step=STEP, save_every=1000, progress=False) for _ in range(RUNS)]
    return min(1e6 * r.seconds / r.steps for r in runs)


# --- Pinocchio --------------------------------------------------------------------------------------------------------


def pinocchio_evaluation(made: Mechanism) -> float:
    """Microseconds per `constraintDynamics`, from Python."""
    import pinocchio as pin

    other, constraints, datas = pinocchio_model(made)
    model, data = other.model, other.model.createData()
    pin.initConstraintDynamics(model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    q, v, tau = other.configuration(made.home), other.velocity(velocity(made)), np.zeros(model.nv)

    def call(calls: int) -> None:
        for _ in range(calls):
            pin.constraintDynamics(model, data, q, v, tau, constraints, datas, settings)

    return 1e6 * best_time(call)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------


def mujoco_times(made: Mechanism, integrator: str) -> tuple[float, float, float]:
    """Microseconds per `mj_forward` and per `mj_step`, from Python, and the gap after a second."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(made, STEP, 0.5 / STEP, integrator))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = made.home, velocity(made)

    def forward(calls: int) -> None:
        for _ in range(calls):
            mujoco.mj_forward(model, data)

    evaluation = 1e6 * best_time(forward)
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = made.home, velocity(made)
    mujoco.mj_step(model, data, round(1.0 / STEP))
    gap = float(np.abs(data.efc_pos[: data.ne]).max())

    def step(calls: int) -> None:
        if calls:
            mujoco.mj_step(model, data, calls)

    return evaluation, 1e6 * best_time(step), gap


# --- Exudyn -----------------------------------------------------------------------------------------------------------


def exudyn_four_bar() -> tuple[float, float]:
    """Microseconds per step of the four-bar in redundant coordinates (index 2, trapezoidal), and the gap after a
    second.
    """
    import time

    import exudyn as exu
    from exudyn.itemInterface import (
        MarkerBodyPosition,
        NodeRigidBody2D,
        ObjectGround,
        ObjectJointRevolute2D,
        ObjectRigidBody2D,
    )

    made = four_bar.mechanism()
    rates = made.velocities(made.home, {"crank_joint": four_bar.SPEED}).v
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    angles = [made.home[0], made.home[0] + made.home[1], made.home[2]]
    turns = [rates[0], rates[0] + rates[1], rates[2]]
    lengths = (four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER)
    hinges = [
        np.zeros(2),
        four_bar.CRANK * np.array([np.cos(angles[0]), np.sin(angles[0])]),
        np.array([four_bar.GROUND, 0.0]),
    ]
    speeds = [np.zeros(2), four_bar.CRANK * turns[0] * np.array([-np.sin(angles[0]), np.cos(angles[0])]), np.zeros(2)]
    ends = []

    for mass, length, angle, turn, x, v in zip(four_bar.MASSES, lengths, angles, turns, hinges, speeds, strict=True):
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        center, velocity_ = x + 0.5 * length * along, v + 0.5 * length * turn * across
        node = mbs.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[*center, angle],
                initialCoordinates=[0.0, 0.0, 0.0],
                initialVelocities=[*velocity_, turn],
            )
        )
        rod = mbs.AddObject(ObjectRigidBody2D(mass=mass, inertia=mass * length**2 / 12.0, nodeNumber=node))
        marker = mbs.AddMarker({"markerType": "BodyPosition", "bodyNumber": rod})
        mbs.AddLoad({"loadType": "ForceVector", "markerNumber": marker,
                     "loadVector": [0.0, -9.81 * mass, 0.0]})  # fmt: skip
        ends.append(
            [
                mbs.AddMarker(MarkerBodyPosition(bodyNumber=rod, localPosition=[s * 0.5 * length, 0.0, 0.0]))
                for s in (-1.0, 1.0)
            ]
        )
    ground = mbs.AddObject(ObjectGround())
    fixed = [
        mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[x, 0.0, 0.0]))
        for x in (0.0, four_bar.GROUND)
    ]
    pairs = [(fixed[0], ends[0][0]), (ends[0][1], ends[1][0]), (fixed[1], ends[2][0]), (ends[1][1], ends[2][1])]
    for pair in pairs:
        mbs.AddObject(ObjectJointRevolute2D(markerNumbers=list(pair)))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(1.0 / STEP)
    settings.timeIntegration.endTime = 1.0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    times = []
    for _ in range(5):
        start = time.perf_counter()
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2, updateInitialValues=False)
        times.append(time.perf_counter() - start)
    a, b = (np.array(mbs.GetMarkerOutput(m, exu.OutputVariableType.Position)) for m in pairs[3])
    return 1e6 * min(times) * STEP, float(np.abs(a - b).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-cassie", action="store_true")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    parser.add_argument("--ours", metavar="MECHANISM", help="only our times of one, as JSON")
    options = parser.parse_args()
    if options.ours:
        made = mechanisms(options.ours == "Cassie")[options.ours]
        print(json.dumps(our_times(made, made, closed)))
        return
    rows = []
    for name, made in mechanisms(not options.no_cassie).items():
        row: dict[str, Any] = {
            "mechanism": name,
            "nv": made.tree.nv,
            "rows": len(made.equations),
            "rank": made.mobility.rank,
        }
        row |= our_times(made, made, closed) | compiled_times(made) | fused("benchmarks.closed_loops", name)
        row["condition_of_mass"] = float(np.linalg.cond(mass_matrix(made.tree, made.home)))
        for peer, measure in PEERS.items():
            found = measure(made)
            row |= {f"{peer}_{key}": value for key, value in found.items()}
        print(name, {k: (round(v, 3) if isinstance(v, float) and v > 1e-2 else v) for k, v in row.items()}, flush=True)
        rows.append(row)
    if options.save:
        print("saved", save(options.save, {**circumstances("pin", "mujoco", "exudyn"), "rows": rows}))


def _mujoco(made: Mechanism) -> dict[str, float]:
    evaluation, cheap, gap = mujoco_times(made, "implicitfast")
    return {"evaluation_us": evaluation, "step_us": mujoco_times(made, "RK4")[1], "cheap_step_us": cheap, "gap": gap}


def _exudyn(made: Mechanism) -> dict[str, float]:
    return dict(zip(("step_us", "gap"), exudyn_four_bar(), strict=True)) if made.name == "four-bar" else {}


PEERS: dict[str, Callable[[Mechanism], dict[str, float]]] = {
    "pinocchio": lambda made: {"evaluation_us": pinocchio_evaluation(made)},
    "mujoco": _mujoco,
    "exudyn": _exudyn,
}


if __name__ == "__main__":
    main()
