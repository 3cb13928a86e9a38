"""Mechanisms with closed loops at equal error against MuJoCo: ``python -m benchmarks.loops_at_equal_error``.

For each mechanism the shortest time in which `HORIZON` seconds of motion under gravity end within an error of the
positions (the greatest of all joints, over the greatest way of one), over a ladder of steps, coarse to fine, until the
smallest error is reached or a run takes longer than `LIMIT`.  Ours close their loops to rounding at every step, by the
kernel for all mechanisms and by straight-line code for one.  MuJoCo has each of its integrators, with the hardest
constraints that it takes (impedance 0.9999) and two rates of their stabilisation: the fastest that it allows at a
step, and a fifth of that.  Its bodies have 1e-9 kg m² more, which it needs of slender rods.  Timed are the steps alone,
in one call for the whole run (`mj_step(model, data, n)`, `Solution.seconds`), the best of some; the reference is a
method of order 8 with small steps, with which one of order 16 agrees.  Cassie is left out: light rods pass near
singular positions, where a small error soon is all.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.closed_loops import mechanisms, velocity
from benchmarks.machine import circumstances, save
from benchmarks.peers import mjcf
from benchmarks.stiff import ROUNDS, Point, ladder
from integrators import Problem, integrate
from mechanics import compile_model
from mechanics.mechanism import Mechanism

HORIZON, FINE = 5.0, 1e-3
ERRORS = (1e-3, 1e-5, 1e-7, 1e-9)
STEPS = (0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5)
OURS = ("ADAMS_BASHFORTH2", "RKMK4", "RKMK_DORMAND_PRINCE54", "RKMK_DOP853", "TREE_VARIATIONAL", "GAUSS8")
COMPILED = ("ADAMS_BASHFORTH2", "RKMK4", "RKMK_DOP853")
INTEGRATORS, RATES = ("Euler", "implicitfast", "RK4"), (0.5, 0.1)
"""Of MuJoCo, and rates of stabilisation times the step: it takes no more than 0.5."""
LIMIT = 3.0
"""Seconds; a solver that takes longer for one run is not asked for more."""
MOST, ENOUGH = 30, 0.3
"""Short runs are repeated so often, or until they have taken so many seconds: other programs run beside them."""


def goes_on(seconds: list[float]) -> bool:
    """Whether a run that has taken these times is taken once more."""
    return len(seconds) < ROUNDS or (len(seconds) < MOST and sum(seconds) < ENOUGH)


def of_ours(problem: Problem, method: str, n_q: int, step: float) -> Point:
    """The positions at the end; not numbers where it is not reached."""
    seconds: list[float] = []
    while goes_on(seconds):
        run = integrate(problem, method, (0.0, HORIZON), step, save_every=2**40, progress=False, workers=1)
        seconds.append(run.seconds)
    return Point(step, min(seconds), run.y[-1, :n_q] if run.finished else np.full(n_q, np.nan))


def of_mujoco(made: Mechanism, integrator: str, rate: float, step: float) -> Point:
    """The positions at the end, in our order."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(made, step, rate / step, integrator))
    tree, data = made.tree, mujoco.MjData(model)
    seconds: list[float] = []
    bodies = dict.fromkeys(tree.body_index(model.body(int(b)).name) for b in model.jnt_bodyid)
    joints = [tree.joint_names[i] for i in bodies]
    q_order = np.concatenate([np.arange(tree.nq)[tree.q_slice(joint)] for joint in joints])
    v_order = np.concatenate([np.arange(tree.nv)[tree.v_slice(joint)] for joint in joints])
    while goes_on(seconds):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = made.home[q_order], velocity(made)[v_order]
        began = time.perf_counter()
        mujoco.mj_step(model, data, round(HORIZON / step))
        seconds.append(time.perf_counter() - began)
        if seconds[-1] > 1.0:
            break
    q = np.empty(tree.nq)
    q[q_order] = data.qpos
    return Point(step, min(seconds), q)


def measured(name: str, made: Mechanism) -> list[dict[str, Any]]:
    """The rows of a mechanism."""
    problem, n_q = made.problem(v=velocity(made)), made.tree.nq
    path = integrate(problem, "RKMK_DOP853", (0.0, HORIZON), FINE, progress=False).y[:, :n_q]
    other = of_ours(problem, "GAUSS8", n_q, 5.0 * FINE).state
    way = float(np.abs(path - path[0]).max())

    def error(q: Any) -> float:
        return float(np.abs(q - path[-1]).max() / way)

    print(f"{name} (references agree to {error(other):.1e} of a way of {way:.3g}); ms to an error of {ERRORS}")
    rows: list[dict[str, Any]] = []

    def add(whose: str, method: str, run: Any) -> None:
        found = ladder(run, STEPS, error, ERRORS, LIMIT)
        rows.append({"system": name, "of": whose, "method": method} | found)
        said = [f"{1e3 * x:10.3f}" if x else "         -" for x in found["seconds"]]
        print(
            f"  {whose:24s} {method:28s}",
            *said,
            f"{min(e for *_, e in found['runs'] if e is not None):.1e}",
            flush=True,
        )

    compiled = compile_model(made).problem(v=velocity(made))
    for whose, posed, methods in (("liemech", problem, OURS), ("liemech, straight-line", compiled, COMPILED)):
        for method in methods:
            add(whose, method, partial(of_ours, posed, method, n_q))
    for integrator in INTEGRATORS:
        for rate in RATES:
            add("MuJoCo", f"{integrator}, rate {rate}/h", partial(of_mujoco, made, integrator, rate))
    return [*rows, {"system": name, "of": "references", "agreement": error(other), "horizon": HORIZON}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args()
    rows = [row for name, made in mechanisms(with_cassie=False).items() for row in measured(name, made)]
    if options.save:
        print("saved", save(options.save, {**circumstances("mujoco"), "errors": list(ERRORS), "rows": rows}))


if __name__ == "__main__":
    main()
