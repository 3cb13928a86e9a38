"""A step that turns too far names what turns, how far, and a step that does not; nearer to the limit nothing is wrong
without a doubt.
"""

import re

import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.steppers.tree_variational import tree_variational
from liegroup import se3, so3
from mechanics import Body, Inertia, Tree
from mechanics.joints import Revolute, Spherical
from mechanics.systems import SYSTEMS

THIGH = Inertia.about_com(1.0, (0.0, 0.0, -0.2), np.diag([0.02, 0.02, 0.005]))


def leg(rate):
    """A ball joint and a hinge; the leg starts with this rate about its hip."""
    tree = Tree([Body("thigh", Spherical(), None, inertia=THIGH), Body("shank", Revolute((0, 1, 0)), "thigh",
                 (0.0, 0.0, -0.4), inertia=THIGH)])  # fmt: skip
    return tree.problem(tree.neutral(), [rate, 0.3 * rate, 0.0, 0.0])


def suggested(message):
    return float(re.search(r"use a step of ([0-9.e+-]+)", message).group(1))


SPIN = Problem(so3, [1.0, 0, 0, 0], lambda t, y: [0.0, 20.0, 21.0])
SCREW = Problem(se3, [0, 0, 0, 1.0, 0, 0, 0], lambda t, y: [1.0, 0.0, 0.0, 0.0, 20.0, 21.0])


@pytest.mark.parametrize(
    ("problem", "method", "named"),
    [
        (leg(30.0), "RKMK4", "'thigh_joint' on SO(3)"),
        (SPIN, "RKMK4", "'q' on SO(3)"),
        (SPIN, "RKMK_GAUSS2", "'q' on SO(3)"),
        (SCREW, "RKMK4", "'q' on SE(3)"),
    ],
)
def test_what_turns_too_far_is_named_with_a_step_that_does_not(problem, method, named):
    step = 0.2 if method == "RKMK4" else 0.4  # centred charts reach twice as far
    run = integrate(problem, method, (0, 0.4), step)
    assert run.status is Status.CHART_LEFT
    assert f"{named} turns by" in run.message
    v = problem.velocity(0.0, problem.y0)
    turn = np.linalg.norm(step * (v[3:] if "SE(3)" in named else v[:3]))
    assert f"by {turn:.3g} rad in the step" in run.message
    assert "π from the centre of its chart is the limit" in run.message
    assert integrate(problem, method, (0, suggested(run.message)), suggested(run.message)).status is Status.OK


def test_a_variational_step_that_may_not_be_divided_says_what_step_would_do():
    problem, method = leg(30.0), tree_variational(divisions=0)
    run = integrate(problem, method, (0, 0.2), 0.05)
    assert run.status is Status.CHART_LEFT
    assert "most in joint 'thigh_joint', of 0.75 allowed" in run.message
    shorter = suggested(run.message)
    assert 0.0 < shorter < 0.05
    assert integrate(problem, method, (0, shorter), shorter).status is Status.OK


@pytest.mark.parametrize("name", ["free-rigid-body", "lagrange-top", "kovalevskaya-top"])
def test_steps_of_nearly_half_a_turn_need_no_doubt_of_their_own(name):
    """GAUSS8 is right to 1e-7 there; where RKMK4 is wrong, energy and momenta say so."""
    problem = SYSTEMS[name].problem()
    rate = np.linalg.norm(problem.velocity(0.0, problem.y0)[:3])
    for part in (0.8, 0.99):
        step = part * np.pi / rate
        right = integrate(problem, "RKMK_DOP853", (0, 40 * step), rtol=1e-12, atol=1e-13)
        good = integrate(problem, "GAUSS8", (0, 40 * step), step)
        assert good.success
        assert np.abs(good.y[-1] - right.y[-1]).max() < 1e-7
        bad = integrate(problem, "RKMK4", (0, 40 * step), step)
        assert not bad.success
