"""Stiff springs and dampers in the methods for constrained motion: Newton's method takes over, no step is limited."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanics
from integrators import integrate
from integrators.steppers.augmented_lagrangian import augmented_lagrangian
from integrators.steppers.dae import radau
from integrators.steppers.generalized_alpha import generalized_alpha
from mechanics import Body, Inertia, Tree
from mechanics.forces import joint_spring, spring_damper
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.joints import Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.systems.loops import four_bar, n_four_bar

RARE = [pytest.param(name, marks=pytest.mark.slow) for name in ("ALPHA_INDEX3", "AUGMENTED_LAGRANGIAN")]
METHODS = ["ALPHA_STABILISED", "RADAU_GGL", *RARE]
CLOSE = {"ALPHA_STABILISED": 3e-5, "RADAU_GGL": 1e-9}
"""rad, of an angle of 0.3."""


def chain(links, stiffness, damping=0.0):
    """Rods in a row, joined by springs, the first one free to turn."""
    inertia, bodies = Inertia.about_com(1.0, (0.25, 0.0, 0.0), np.diag([1e-3, 0.02, 0.02])), []
    for i in range(links):
        place = (f"link{i - 1}", (0.5, 0.0, 0.0)) if i else ()
        bodies.append(Body(f"link{i}", Revolute((0.0, 1.0, 0.0)), *place, inertia=inertia))
    start = np.zeros(links)
    start[0] = 0.3
    springs = [joint_spring(f"link{i}_joint", stiffness, rest=0.0, damping=damping) for i in range(1, links)]
    return Mechanism(Tree(bodies), [], start, springs)


def rod(links):
    """The angle of the same rods in one piece after 0.2 s: a physical pendulum, by SciPy."""
    mass, arm = float(links), 0.25 * links
    moment = sum(0.02 + (0.25 + 0.5 * k) ** 2 for k in range(links))
    rate = mass * 9.81 * arm / moment
    run = solve_ivp(lambda t, y: [y[1], rate * np.cos(y[0])], (0.0, 0.2), [0.3, 0.0], "DOP853", rtol=1e-12, atol=1e-13)
    return run.y[0, -1]


@pytest.mark.parametrize("method", METHODS)
def test_stiff_springs_move_as_one_piece_with_steps_that_do_not_see_them(method):
    """The fastest spring swings with h ω of 1e5; six links turn as a rod does, up to the order of the method."""
    made = chain(6, 1e12)
    rate = made.fastest_spring(made.home).rate
    wanted = rod(6)
    errors = []
    for h in (0.02, 0.01):
        assert h * rate > 1e5
        run = integrate(constrained_problem(made), method, (0.0, 0.2), h)
        assert run.status.name == "OK", run.message
        errors.append(abs(run.y[-1, 0] - wanted))
    assert errors[-1] < CLOSE.get(method, 2e-4)
    assert method != "ALPHA_STABILISED" or 3.5 < errors[0] / errors[1] < 4.5  # order 2; Radau is at rounding


@pytest.mark.parametrize("method", METHODS)
def test_strong_dampers_limit_no_step(method):
    made = chain(3, 1e3, 1e6)
    run = integrate(constrained_problem(made), method, (0.0, 0.2), 0.01)
    assert run.status.name == "OK", run.message
    assert abs(run.y[-1, 0] - rod(3)) < 2e-4


@pytest.mark.parametrize("method", METHODS)
def test_dampers_end_a_motion_far_from_what_is_slow_within_a_step(method):
    """Two four-bars that turn with 1 rad/s against dampers of 1e6 N m s/rad stop where they are: the acceleration at
    the start, 1e6 rad/s², would turn them by 50 rad in a step, and is over after a microsecond.
    """
    base = n_four_bar.mechanism(2)
    dampers = [joint_spring(f"{body.name}_joint", 0.0, rest=0.0, damping=1e6) for body in base.tree.bodies]
    made = Mechanism(base.tree, base.equations.closures, base.home, dampers)
    h = 0.01
    run = integrate(constrained_problem(made, rates={"V0_joint": -1.0}), method, (0.0, 5 * h), h)
    assert run.status.name == "OK", run.message
    assert "accuracy" not in {doubt.name for doubt in run.doubts}  # all of the way is gone within a step
    assert np.abs(run["q"] - base.home).max() < 0.6 * h  # less than it moves freely in a step
    assert np.abs(run["v"][1:]).max() < 1e-3
    damped = 1.0 if method == "AUGMENTED_LAGRANGIAN" else 0.9  # what the trapezoidal rule leaves it keeps
    assert np.abs(run["v"][-1]).max() < damped * np.abs(run["v"][1]).max()


FEW = {
    "generalised-alpha": (partial(generalized_alpha, "x", 0.8, True), 3e-13),
    "augmented Lagrangian": (partial(augmented_lagrangian, "x"), 3e-13),
    "Radau": (partial(radau, "x"), 3e-13),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_newton_and_the_iteration_end_in_the_same_state(name):
    """With one round for the iteration, Newton's method takes every step."""
    build, close = FEW[name]
    problem = constrained_problem(four_bar.mechanism(), rates={"crank_joint": 4.0})
    ends = [integrate(problem, build(iterations=n), (0.0, 0.1), 0.005).y[-1] for n in (1, 80)]
    assert np.abs(ends[0] - ends[1]).max() < close
    assert np.array_equal(ends[0], ends[1]) is False


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ALPHA_STABILISED", "RADAU_GGL"])
def test_lanes_with_stiff_springs_give_the_bits_of_one_trajectory(method):
    problem = constrained_problem(chain(3, 1e9))
    starts = problem.y0 + np.zeros((3, 1))
    starts[1, 0], starts[2, 0] = -0.2, 1.5
    together = integrate(problem.with_start(starts), method, (0.0, 0.05), 0.005)
    for k in range(3):
        alone = integrate(problem.with_start(starts[k]), method, (0.0, 0.05), 0.005)
        assert np.array_equal(together.y[k], alone.y)


def test_a_closed_loop_held_by_a_stiff_spring_stays():
    """A four-bar at rest whose coupler hangs on a spring of 1e9 N/m: h ω = 1e2 … 1e4, and nothing moves."""
    base = four_bar.mechanism()
    x, R = mechanics.body_poses(base.tree, base.home)
    wall, point = np.array([3.0, 2.0, 0.0]), (0.1, 0.1, 0.0)
    length = float(np.linalg.norm(wall - x[1] - R[1] @ np.array(point)))
    spring = spring_damper(Frame(base.tree.bodies[1].name, point), Frame(None, wall), 1e9, damping=0.0, length=length)
    made = Mechanism(base.tree, base.equations.closures, base.home, [spring])
    for method in ("ALPHA_STABILISED", "RADAU_GGL"):
        run = integrate(constrained_problem(made), method, (0.0, 0.5), 0.01)
        assert run.status.name == "OK", run.message
        assert np.abs(run["q"] - base.home).max() < 1e-6
