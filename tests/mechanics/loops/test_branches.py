"""A step past links that lie nearly in a line must not end on another way of closing a loop and be called right."""

from dataclasses import replace

import numpy as np
import pytest

from integrators import integrate
from mechanics import Body, Tree
from mechanics.forces import motor
from mechanics.mechanism import Mechanism
from mechanics.systems.loops import bricard, four_bar, n_four_bar
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, pin, point, rod

SIDE, GROUND = 0.35, 1.0


def nearly_a_parallelogram(excess, crank, gravity=GRAVITY):
    """Crank and rocker of one length; the coupler is longer than the ground by `excess`.  Of the two ways to close it
    that on which rocker and crank are nearly parallel.
    """
    coupler = GROUND + excess
    tree = Tree(
        [
            Body("crank", HINGE, inertia=rod(1.0, SIDE)),
            Body("coupler", HINGE, "crank", point(SIDE, 0), inertia=rod(2.0, coupler)),
            Body("rocker", HINGE, None, point(GROUND, 0), inertia=rod(1.5, SIDE)),
        ],
        "parallelogram",
        gravity,
    )
    x, y = SIDE * np.cos(crank), SIDE * np.sin(crank)
    distance = np.hypot(GROUND - x, y)
    turn = np.arccos((coupler**2 + distance**2 - SIDE**2) / (2.0 * coupler * distance))
    ways = []
    for angle in (np.arctan2(-y, GROUND - x) + s * turn for s in (1.0, -1.0)):
        rocker = np.arctan2(y + coupler * np.sin(angle), x + coupler * np.cos(angle) - GROUND)
        ways.append((abs(rocker - crank), [crank, angle - crank, rocker]))
    return Mechanism(tree, [pin("coupler", (coupler, 0), "rocker", (SIDE, 0), "C")], min(ways)[1])


def driven(excess, speed, gravity=GRAVITY):
    made = nearly_a_parallelogram(excess, 0.3, gravity)
    return made.problem(v=made.velocities(made.home, {"crank_joint": speed}).v)


def least(directions):
    return np.linalg.eigvals(directions[1] @ directions[0].T).real.min()


def test_directions_are_orthonormal_on_the_equations_that_count():
    for made, rank in ((nearly_a_parallelogram(0.01, 0.3), 2), (bricard.mechanism(), 4), (n_four_bar.mechanism(3), 6)):
        (found,) = made.directions([0.0], made.home[None])
        values = np.linalg.svd(found, compute_uv=False)
        np.testing.assert_allclose(values[:rank], 1.0, atol=1e-12)
        np.testing.assert_allclose(values[rank:], 0.0, atol=1e-12)


def test_they_turn_over_across_the_line_and_nowhere_else():
    """An exact parallelogram on its straight way through θ = π: both rods pass the line."""
    made = nearly_a_parallelogram(0.0, 0.3)
    t, theta = np.zeros(2), np.pi + np.array([-0.02, 0.02])

    def at(angles):
        return made.directions(t, np.column_stack([angles, -angles, angles]))

    assert least(at(theta)) == pytest.approx(-1.0, abs=1e-3)
    assert least(at(theta + 0.1)) > 0.99
    assert least(at(theta - 0.1)) > 0.99


def test_equations_that_depend_on_each_other_turn_nothing_over():
    """Bricard's linkage keeps five equations of rank four; a short run is looked at once."""
    looks, problem = [], bricard.problem()

    def directions(t, y):
        looks.append(len(t))
        return problem.directions(t, y)

    found = integrate(replace(problem, directions=directions), "RKMK4", (0.0, 0.1), 1e-3)
    assert found.success
    assert looks == [33]


@pytest.mark.parametrize("given", [None, np.zeros(3)])
def test_what_fails_in_the_look_loses_no_run(given):
    """Directions of one's own that are none, or of another shape."""

    def directions(t, y):
        return given

    found = integrate(replace(bricard.problem(), directions=directions), "RKMK4", (0.0, 0.1), 1e-3)
    assert found.finished
    assert len(found.t) == 101
    (doubt,) = found.doubts
    assert doubt.name == "branch"
    assert "could not be checked" in doubt.says


@pytest.mark.parametrize("save_every", [1, 5])
@pytest.mark.parametrize(
    ("method", "excess", "speed", "gravity", "step"),
    [
        ("TREE_VARIATIONAL", 1e-4, 5.0, GRAVITY, 0.02),
        ("RKMK4", 1e-5, 3.0, (0.0, 0.0, 0.0), 0.05),
        ("MIDPOINT", 1e-5, 3.0, (0.0, 0.0, 0.0), 0.05),
    ],
)
def test_a_step_to_the_other_way_of_closing_is_doubtful(method, excess, speed, gravity, step, save_every):
    """No gap opens, and the energy is kept: without the doubt these were successes."""
    problem = driven(excess, speed, gravity)
    right = integrate(problem, "GAUSS8", (0.0, 2.0), 0.01)
    assert right.success, right.message
    found = integrate(problem, method, (0.0, 2.0), step, save_every=save_every)
    assert np.abs(found["q"][-1] - right["q"][-1]).max() > 1.0
    assert "branch" in {doubt.name for doubt in found.doubts}
    (doubt,) = (doubt for doubt in found.doubts if doubt.name == "branch")
    before, after = (int(np.argmin(np.abs(right.t - time))) for time in (doubt.time - step * save_every, doubt.time))
    assert least(problem.directions(right.t[[before, after]], right.y[[before, after]])) > -0.5


@pytest.mark.parametrize("excess", [1e-2, 1e-3])
def test_steps_that_follow_the_motion_are_trusted(excess):
    problem = driven(excess, 5.0)
    right = integrate(problem, "GAUSS8", (0.0, 2.0), 0.01)
    for method in ("RKMK4", "TREE_VARIATIONAL"):
        found = integrate(problem, method, (0.0, 2.0), 5e-4)
        assert found.success, found.message
        np.testing.assert_allclose(found["q"][-1], right["q"][-1], atol=1e-3)


def test_through_an_exact_line_both_ways_are_open():
    """There smaller steps turn over as well: what goes on straight is right."""
    found = integrate(n_four_bar.problem(2), "RKMK4", (0.0, 3.0), 1e-2)
    assert found.success, found.message


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "RKMK4", "GAUSS8"])
@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_multipliers_that_accumulate_in_momenta_are_no_motion_that_escapes(method, step):
    """They differ between a step and its halves, where positions do not."""
    run = integrate(four_bar.problem(projection="none"), method, (0.0, 0.3), step)
    assert run.success, run.message


def test_they_are_none_where_works_stand_behind_the_momenta():
    made = four_bar.mechanism()
    pushed = Mechanism(made.tree, made.equations.closures, made.home, [motor("crank_joint")])
    problem = pushed.problem(rates={"crank_joint": 3.0}, projection="none").with_inputs([0.1]).with_work()
    run = integrate(problem, "TREE_VARIATIONAL", (0.0, 0.3), 1e-3)
    assert run.error("balance") < 1e-4
    assert run.success, run.message
