"""Time and memory of a step against the number of bodies, with force elements: ``python -m benchmarks.many_elements``.

Free balls in contact with the ground, a chain of hinges with a spring and a damper in each, and four-bars side by side
with a spring between the crank and the rocker of each: RKMK4 at 1 ms.  The time of a step is the slope between runs of
two lengths, the least of several rounds; in every round all sizes of a system take their turns, so that another load of
the machine meets them alike.  What shows whether time grows in proportion to the bodies is `relative`: the time per
body and step in units of that of the smallest size.  `workspace` are the bytes that a run by a method without
derivatives takes for the field, `with_derivatives` those of one that asks for derivatives (a matrix of all velocities,
up to 1000 of them).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.machine import circumstances, save
from integrators import integrate
from integrators.problem import Problem
from mechanics import Body, Frame, Inertia, Mechanism, Tree, joints
from mechanics.forces import Sphere, contact, joint_spring, spring_damper
from mechanics.systems.loops import four_bar
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, pin, point, rod

SIZES = {"balls": (20, 40, 80, 160, 320), "chain": (20, 40, 80, 160, 320), "four-bars": (5, 10, 20, 40)}
"""Balls, links, linkages of three bodies."""
STEP, RADIUS, STIFFNESS = 1e-3, 0.1, 1e4
BODY_STEPS = 20_000
"""Steps times bodies of the shorter of two runs."""
DOUBLES = 8


def balls(count: int) -> Problem:
    """Free balls that touch the ground, one beside the other."""
    inertia = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.4 * RADIUS**2 * np.eye(3))
    names = [f"ball{k}" for k in range(count)]
    tree = Tree([Body(name, joints.Free(), inertia=inertia) for name in names], "balls", (0.0, 0.0, -9.81))
    spheres = [Sphere(Frame(name), RADIUS) for name in names]
    elements = [contact(ball, Frame(None), stiffness=STIFFNESS, damping=0.5, friction=0.3) for ball in spheres]
    q = tree.neutral().reshape(count, -1)
    q[:, 0], q[:, 2] = 3.0 * RADIUS * np.arange(count), 0.99 * RADIUS
    return Mechanism(tree, elements=elements).problem(q.ravel(), np.full(tree.nv, 0.1))


def chain(count: int) -> Problem:
    """A hanging chain of hinges, each with a spring and a damper."""
    link = Inertia.about_com(0.1, (0.0, 0.0, -0.05), 1e-4 * np.eye(3))
    bodies = [
        Body(
            f"link{k}", joints.Revolute((0, 1, 0)), f"link{k - 1}" if k else None, (0, 0, -0.1 * (k > 0)), inertia=link
        )
        for k in range(count)
    ]
    springs = [joint_spring(f"link{k}_joint", 1.0, damping=1e-3) for k in range(count)]
    tree = Tree(bodies, "chain", (0.0, 0.0, -9.81))
    return Mechanism(tree, elements=springs).problem(np.full(count, 0.02))


def four_bars(count: int) -> Problem:
    """Four-bars side by side, with a spring between crank and rocker."""
    bodies, closures, springs = [], [], []
    for k in range(count):
        crank, coupler, rocker = (f"{name}{k}" for name in ("crank", "coupler", "rocker"))
        masses, place = four_bar.MASSES, 3.0 * k
        bodies += [
            Body(crank, HINGE, None, point(place, 0), inertia=rod(masses[0], four_bar.CRANK)),
            Body(coupler, HINGE, crank, point(four_bar.CRANK, 0), inertia=rod(masses[1], four_bar.COUPLER)),
            Body(rocker, HINGE, None, point(place + four_bar.GROUND, 0), inertia=rod(masses[2], four_bar.ROCKER)),
        ]
        closures.append(pin(coupler, (four_bar.COUPLER, 0), rocker, (four_bar.ROCKER, 0), f"C{k}"))
        springs.append(spring_damper(Frame(crank), Frame(rocker), 5.0, length=1.0, damping=0.1))
    home = np.tile(four_bar.configuration(four_bar.START), count)
    return Mechanism(Tree(bodies, "four-bars", GRAVITY), closures, home, elements=springs).problem()


SYSTEMS: dict[str, tuple[Callable[[int], Problem], int]] = {
    "balls": (balls, 1),
    "chain": (chain, 1),
    "four-bars": (four_bars, 3),
}
"""What poses the problem, and how many bodies one of its parts has."""


def elapsed(problem: Problem, steps: int) -> float:
    """Seconds of the steps of a run, without what looks at it afterwards."""
    run = integrate(problem, "RKMK4", (0.0, steps * STEP), step=STEP, save_every=steps, progress=False)
    if not run.finished:
        raise RuntimeError(f"{problem.model}: {run.message}")
    return float(run.seconds)


def measure(name: str, sizes: tuple[int, ...], rounds: int, body_steps: int = BODY_STEPS) -> list[dict[str, Any]]:
    """A row per size of one system."""
    pose, bodies = SYSTEMS[name]
    problems = {count: pose(count) for count in sizes}
    lengths = {count: max(4, body_steps // (bodies * count)) for count in sizes}
    short, long = (dict.fromkeys(sizes, np.inf) for _ in range(2))
    for _ in range(rounds):
        for count, problem in problems.items():
            short[count] = min(short[count], elapsed(problem, lengths[count]))
            long[count] = min(long[count], elapsed(problem, 4 * lengths[count]))
    rows = []
    for count, problem in problems.items():
        each = (long[count] - short[count]) / (3 * lengths[count] * bodies * count)
        rows.append(
            {
                "system": name,
                "bodies": bodies * count,
                "workspace": DOUBLES * int(np.prod(problem.work_shape_for("field"))),
                "with_derivatives": DOUBLES * int(np.prod(problem.work_shape)),
                "us_per_body_and_step": 1e6 * each,
            }
        )
    for row in rows:
        row["relative"] = row["us_per_body_and_step"] / rows[0]["us_per_body_and_step"]
        print(
            "{system:10s} {bodies:5d} bodies {workspace:10d} B  {us_per_body_and_step:7.3f} µs".format(**row),
            flush=True,
        )
    return rows


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    rows = [row for name, sizes in SIZES.items() for row in measure(name, sizes, rounds)]
    print(save("many_elements", {**circumstances(), "step": STEP, "rounds": rounds, "rows": rows}))


if __name__ == "__main__":
    main()
