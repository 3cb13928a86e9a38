"""What methods keep: the group, constant and zero fields, symmetry, and the same numbers in lanes and without
compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from integrators import Status, integrate
from integrators.analysis import symmetry_defect
from integrators.method import Method
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.problem import Problem
from integrators.steppers.implicit import implicit_rkmk
from integrators.tableaus import EXPLICIT, FAMILIES, GAUSS
from integrators.testing import end_state, group_distance, linear, order_problem, wavy
from liegroup import rn
from liegroup.table import EXP, retract

GENERAL = [n for n, m in METHODS.items() if isinstance(m, Method) and m.needs in ("field", "time")]
WEIGHTS = {f"RKMK_{n}".upper(): float(np.abs(EXPLICIT[n].rounded.b).sum()) for n in EXPLICIT}
"""Σ|bᵢ|: how much a sum of weights 1 amplifies rounding (354 for Verner's 6(5) pair)."""
ONE_OF_EACH = (
    "RKMK_DORMAND_PRINCE54",
    "CG3",
    "CF4",
    "CF4_2N_CARPENTER_KENNEDY",
    "RKMK4_2C",
    "MAGNUS6",
    "RKMK_GAUSS2",
    "RKMK_RADAU_IIA3",
)


def constant(problem: Problem, velocity: Any) -> Problem:
    return Problem(problem.table, problem.y0, lambda t, y: velocity, model="constant field")


@pytest.mark.parametrize("name", GENERAL)
def test_a_constant_field_gives_the_exponential_and_no_field_no_motion(name: str) -> None:
    problem = order_problem("product")
    velocity = 0.4 * np.cos(np.arange(problem.dimension))
    expected = np.zeros(problem.n)
    retract(problem.table, EXP, problem.y0, velocity, expected)
    moved = end_state(constant(problem, velocity), METHODS[name], 2)
    assert group_distance(problem.table, expected, moved) < 1e-14 * max(1.0, WEIGHTS.get(name, 1.0) / 4.0)
    assert np.array_equal(end_state(constant(problem, 0.0 * velocity), METHODS[name], 2), problem.y0)


def autonomous(group: str) -> Problem:
    problem = order_problem(group)
    return Problem(problem.table, problem.y0, lambda t, y: _frozen(problem, y), model="autonomous")


def _frozen(problem: Problem, y: Any) -> Any:
    out = np.zeros(problem.dimension)
    wavy.python(0.3, y, problem.parameters, problem.structure, np.zeros((2, 4)), out)
    return out


@pytest.mark.parametrize("group", ["SO3", "SE3", "product"])
@pytest.mark.parametrize("map_name", ["exp", "cayley"])
@pytest.mark.parametrize("family", ["GAUSS", "LOBATTO_IIIA", "LOBATTO_IIIB", "LOBATTO_IIID", "LOBATTO_IIIE"])
def test_symmetric_tableaus_with_the_chart_in_the_middle_lead_back(family: str, map_name: str, group: str) -> None:
    problem = autonomous(group)
    for s in (2, 3):
        method = implicit_rkmk(FAMILIES[family](s)).with_map(map_name)
        assert method.symmetric
        step = step_map(problem, method)
        assert symmetry_defect(step, problem.y0, 0.1, distance=lambda y, z: group_distance(problem.table, y, z)) < 3e-15


def test_with_the_chart_at_the_start_they_do_not() -> None:
    problem = autonomous("SO3")
    method = implicit_rkmk(GAUSS(2), centred=False)
    assert not method.symmetric
    defect = symmetry_defect(
        step_map(problem, method), problem.y0, 0.2, distance=lambda y, z: group_distance(problem.table, y, z)
    )
    assert defect > 1e-10


def test_one_gauss_stage_is_the_midpoint_rule_in_either_chart() -> None:
    problem = order_problem("product")
    states = [
        end_state(problem, m, 16)
        for m in (METHODS["MIDPOINT"], implicit_rkmk(GAUSS(1)), implicit_rkmk(GAUSS(1), centred=False))
    ]
    assert group_distance(problem.table, states[0], states[1]) < 1e-14
    assert group_distance(problem.table, states[0], states[2]) < 1e-14


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_lanes_and_the_interpreted_source_give_the_same_bits(name: str) -> None:
    method = METHODS[name]
    problem = order_problem("product", linear if method.needs == "time" else wavy)
    rng = np.random.default_rng(4)
    starts = np.array([problem.y0] * 8)
    for y in starts:
        retract(problem.table, EXP, problem.y0, 0.2 * rng.normal(size=problem.dimension), y)
    together = integrate(problem, method, (0, 0.5), step=0.05, y0=starts).y[:, -1]
    one_by_one = np.array([integrate(problem, method, (0, 0.5), step=0.05, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, one_by_one)
    interpreted = step_map(problem, method, interpreted=True)(starts[0], 0.05)
    compiled = step_map(problem, method)(starts[0], 0.05)
    assert np.abs(interpreted - compiled).max() < 1e-16


@pytest.mark.parametrize("name", ["CF4", "RKMK_GAUSS3", "CF4_2N_CARPENTER_KENNEDY"])
def test_states_stay_on_the_group(name: str) -> None:
    problem = order_problem("SO3")
    y = integrate(problem, METHODS[name], (0, 50), step=0.02).y
    assert np.abs(np.linalg.norm(y, axis=-1) - 1).max() < 4e-16


def test_a_step_that_turns_too_far_is_refused_by_name() -> None:
    problem = order_problem("SO3")
    fast = constant(problem, np.array([0.0, 0.0, 40.0]))
    for name in ("CF4", "CG3", "CF3_2N_LUSCHER", "RKMK_GAUSS2", "RKMK4_2C"):
        solution = integrate(fast, METHODS[name], (0, 1), step=0.5)
        assert solution.status.name == "CHART_LEFT", name


@pytest.mark.parametrize("name", ["RKMK_GAUSS2", "RKMK_RADAU_IIA3", "BDF2", "MIDPOINT"])
@pytest.mark.parametrize("field", [lambda t, y: y * y, lambda t, y: np.array([y[1], y[0] * y[0], -y[2]])])
def test_an_implicit_step_that_cannot_be_solved_is_reported(name: str, field: Any) -> None:
    """x' = x² and x'' = x² have left for infinity within the steps; solutions of the equations of a step, where there
    are any, lie behind it.
    """
    problem = Problem(order_problem("R3").table, [1.0, 0.5, -0.3], field, model="blows up")
    for step in (4.0, 2.0):
        solution = integrate(problem, METHODS[name], (0, 16), step=step)
        assert solution.status.name in ("NOT_CONVERGED", "NON_FINITE")
        assert not solution.success


@pytest.mark.parametrize("name", ["RKMK_GAUSS2", "RKMK_GAUSS4", "RKMK_RADAU_IIA5", "RKMK_LOBATTO_IIIC4", "BDF1"])
@pytest.mark.parametrize("step", [1.0, 3.0])
def test_solutions_of_implicit_steps_behind_an_infinity_are_no_success(name: str, step: float) -> None:
    """x' = x³ has left for infinity at t = 1/2; where the equations of a step have real solutions, smaller steps give
    others, or none.
    """
    problem = Problem(order_problem("R3").table, [1.0, 1.0, 1.0], lambda t, y: y * y * y, model="blows up")
    assert not integrate(problem, METHODS[name], (0.0, 4.0 * step), step=step).success


def test_what_steps_over_an_infinity_is_no_success() -> None:
    """y₀' = y₀² + y₁, y₁' = y₁ y₀ has left for infinity before t = 1: the equations of a step have solutions behind."""
    problem = Problem(rn(2), [1.0, 1.0], lambda t, y: np.array([y[0] * y[0] + y[1], y[1] * y[0]]), model="blows up")
    for name, step in (("RKMK_GAUSS1", 1.0), ("RKMK_LOBATTO_IIIC2", 2.0), ("RKMK_LOBATTO_IIIC4", 1.0)):
        (doubt,) = integrate(problem, METHODS[name], (0.0, 8.0 * step), step=step).doubts
        assert doubt.name == "escape", name
        assert doubt.time == 0.0
        assert doubt.value > doubt.limit


@pytest.mark.parametrize(
    ("name", "field", "start", "step", "count", "says"),
    [
        ("RKMK_GAUSS1", lambda t, y: y * y * y, 1.0, 1.5, 4, "over an infinity"),  # the run goes on at 1e28
        ("RKMK_GAUSS3", lambda t, y: np.exp(y), 0.0, 3.0, 4, "come to an end at t = 0.99"),  # slowly: x = −log(1 − t)
        ("ROS3P", lambda t, y: y * y * y, 1.0, 0.275, 6, "lead elsewhere"),  # just before
    ],
)
def test_steps_over_an_infinity_are_found_by_what_they_leave(
    name: str, field: Any, start: float, step: float, count: int, says: str
) -> None:
    problem = Problem(rn(1), [start], field, model="blows up")
    (doubt,) = integrate(problem, METHODS[name], (0.0, count * step), step=step).doubts
    assert doubt.name == "escape"
    assert says in doubt.says


@pytest.mark.parametrize("step", [0.3, 0.305, 0.31])
def test_steps_over_an_infinity_that_stand_behind_it_are_found(step: float) -> None:
    """x' = exp(x), x = −log(1 − t): which root of its equations the step over t = 1 ends at, or none, is rounding's
    choice; one at which the field is nothing is none of the motion.
    """
    problem = Problem(rn(1), [0.0], lambda t, y: np.exp(y), model="blows up")
    run = integrate(problem, METHODS["RKMK_GAUSS4"], (0.0, 10.0 * step), step=step)
    if run.status is Status.OK:
        (doubt,) = run.doubts
        assert doubt.name == "escape"
        assert "come to an end at t = " in doubt.says
    else:
        assert run.status in (Status.NOT_CONVERGED, Status.NON_FINITE, Status.CHART_LEFT)
        assert run.t[-1] < 1.0 + step


def test_what_is_not_resolved_at_the_start_alone_has_left_for_nowhere() -> None:
    """x' = −1000 (x − cos t) by long steps, from beside its slow motion; and an oscillator by one step a turn."""
    settling = Problem(rn(1), [3.0], lambda t, y: np.array([-1000.0 * (y[0] - np.cos(t))]))
    assert integrate(settling, METHODS["RKMK_LOBATTO_IIIC2"], (0.0, 2.0), step=0.1).success
    damped = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -1e8 * y[0] - 2e4 * y[1]]))  # speeds up and stops
    assert integrate(damped, METHODS["RKMK_RADAU_IIA3"], (0.0, 2.0), step=0.1).success
    turning = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -y[0]]))
    run = integrate(turning, METHODS["RKMK_GAUSS1"], (0.0, 50.0), step=6.0)
    assert "escape" not in [doubt.name for doubt in run.doubts]


def test_a_symmetric_method_that_leaves_its_motion_is_asked_where_no_energy_is_watched() -> None:
    """x' = x³ has left for infinity at t = 1/2: half the steps end without numbers."""
    problem = Problem(rn(1), [1.0], lambda t, y: y * y * y)
    (doubt,) = integrate(problem, METHODS["RKMK_LOBATTO_IIIB3"], (0.0, 2.0), step=0.5).doubts
    assert doubt.name == "escape"


@pytest.mark.parametrize("steps", [6, 10, 14])
def test_steps_that_grow_are_all_of_the_motion(steps):
    """What has come to rest after the motion is none of it; what was small before an instability is."""
    oscillator = Problem(rn(2), [1e-6, 0.0], lambda t, y: [y[1], -y[0]])
    run = integrate(oscillator, "RKMK4", (0.0, 4.0 * steps), 4.0, save_every=1)
    assert np.abs(run.y[-1]).max() > 1e4 * np.abs(run.y[0]).max()
    assert "resolution" in [doubt.name for doubt in run.doubts]
