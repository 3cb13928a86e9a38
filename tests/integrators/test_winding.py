"""Whole turns beside the state: angles that turn for ever are not rounded coarsely, and results count their turns."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numba
import numpy as np
import pytest

from integrators import Problem, integrate, resume
from integrators.engine.winding import angles, circles, wind
from liegroup import rn
from liegroup.table import RN, SE2, SO2, table_of
from mechanics import Body, Inertia, Tree, hamiltonian_problem
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.joints import Continuous, Helical, Revolute
from mechanics.systems import SYSTEMS
from mechanics.systems.bodies.pendulum import pendulum
from mechanics.systems.loops import four_bar

SPAN, STEP = (0.0, 40.0), 0.02
LINE = table_of([(RN, 1), (RN, 1)])


def spinning():
    """About a hundred and twenty turns in the span."""
    return pendulum(angular_velocity=20.0)


def test_a_turn_is_taken_off_exactly():
    """y + low + 2π turns is the same number, to 1e-30; the line R, positions and angles within half a turn are left
    alone.
    """
    table = table_of([(RN, 1), (SE2, 2), (SO2, 3)])
    y = np.array([9.0, 9.0, -9.0, 3.5, 8.0, 8.0, -3.2, 3.0, -40.0, 3.2])
    low = np.where(np.arange(10) % 2, 1e-17, -2e-16)
    before, turns = [Fraction(a) + Fraction(b) for a, b in zip(y, low, strict=True)], np.zeros(10)
    original = y.copy()
    wind(angles(table), y, low, turns, 1)
    assert turns.tolist() == [0, 0, 0, 1, 0, 0, -1, 0, -1, 1]
    assert (y[turns == 0] == original[turns == 0]).all()
    with mpmath.workdps(50):
        for a, b, k, whole in zip(y, low, turns, before, strict=True):
            after = mpmath.mpf(float(a)) + mpmath.mpf(float(b)) + 2 * mpmath.pi * float(k)
            assert abs(after - mpmath.mpf(whole.numerator) / whole.denominator) < 1e-30


@pytest.mark.parametrize("method", ["RKMK4", "SPLIT_STRANG", "RKMK_GAUSS2", "MIDPOINT"])
def test_turns_are_counted_as_on_the_line(method):
    """The same motion with the angle on R: equal to rounding, continuous over hundreds of turns."""
    circle = integrate(spinning(), method, SPAN, STEP)
    line = integrate(replace(spinning(), group=LINE), method, SPAN, STEP)
    assert circle.y[-1, 0] > 700.0
    assert np.abs(circle.y - line.y).max() < 1e-9
    assert np.abs(np.diff(circle.y[:, 0])).max() < 1.0


def test_variable_steps_times_and_events_count_turns():
    """States within steps and event functions see the angle with its turns."""

    @numba.njit
    def hundred(t, y):
        return y[0] - 100.0

    times = np.linspace(0.0, 40.0, 37)
    ways = ("RKMK4", 1e-9, {"step": STEP}), ("RKMK_DORMAND_PRINCE54", 1e-4, {"rtol": 1e-10, "atol": 1e-12})
    for method, tolerance, way in ways:  # tolerances are relative to the angle on the line, to one on the circle
        circle = integrate(spinning(), method, SPAN, t_eval=times, events={"hundred": hundred}, **way)
        line = integrate(
            replace(spinning(), group=LINE), method, SPAN, t_eval=times, events={"hundred": hundred}, **way
        )
        assert np.abs(circle.y - line.y).max() < tolerance
        (t, y), (same, _) = circle.events["hundred"], line.events["hundred"]
        assert len(t) == len(same) == 1
        assert abs(t[0] - same[0]) < tolerance
        assert abs(y[0, 0] - 100.0) < 1e-10


def test_lanes_and_resumed_runs_have_the_same_bits(tmp_path):
    """Lanes whose angles pass half a turn at different times, and a run stopped after some turns."""
    starts = np.array([[0.3 * k, 20.0 - 3.0 * k] for k in range(8)])
    together = integrate(spinning().with_start(starts), "RKMK4", SPAN, STEP)
    for k in (0, 3, 7):
        alone = integrate(spinning().with_start(starts[k]), "RKMK4", SPAN, STEP)
        assert np.array_equal(alone.y, together.y[k])
    path = tmp_path / "run.check"
    stopped = integrate(spinning(), "RKMK4", SPAN, STEP, callback=lambda t, y: t > 1.0, checkpoint=path, every=0.0)
    assert stopped.t[-1] < SPAN[1]
    assert np.array_equal(resume(path, spinning()).y, integrate(spinning(), "RKMK4", SPAN, STEP).y)


def test_a_linkage_that_has_turned_for_hours_is_closed_to_rounding():
    """A crank of 3·10⁴ rad is rounded to 4·10⁻¹² rad; the gap is that of the first turn."""
    made = four_bar.mechanism()
    problem = constrained_problem(made, rates={"crank_joint": four_bar.SPEED})
    turned = problem.y0 + 2.0 * math.pi * 100.0 * np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    solution = integrate(problem, "DLA", (0.0, 3.0), 0.01, y0=turned)
    assert np.nanmax(solution.greatest[150:, 1]) < 2e-14
    assert solution.y[-1, 0] > 630.0


def test_functions_that_count_turns_keep_their_angles_on_the_line():
    def spring(t, y):
        return np.array([y[1], -0.5 * y[0]])

    start, options = [0.3, 20.0], {"method": "RKMK4", "t_span": (0, 10), "step": 0.01}  # about five turns either way
    circle, line = (integrate(Problem(table_of([(kind, 1), (RN, 1)]), start, spring), **options) for kind in (SO2, RN))
    assert np.abs(line.y[:, 0]).max() > 20.0
    assert np.array_equal(circle.y, line.y)
    counted = Problem(
        table_of([(SO2, 1), (RN, 1)]),
        start,
        lambda t, y: np.array([y[1], 0.0]),
        invariants={"angle": lambda t, y: y[0]},
    )
    assert integrate(counted, **options).error("angle", relative=False) == pytest.approx(200.0)
    assert list(circles(spinning(), 0.0)) == [0]
    assert list(circles(Problem(table_of([(SE2, 2)]), np.zeros(6), lambda t, y: np.cos(y)), 0.0)) == [2, 5]
    assert list(circles(Problem(table_of([(SE2, 2)]), np.zeros(6), lambda t, y: y[[0, 1, 2, 3, 4, 2]]), 0.0)) == [5]


def hinges(joint):
    bodies = [
        Body(f"link {i}", joint((float(i % 2), float(1 - i % 2), 0.0)), f"link {i - 1}" if i else None, inertia=LINK)
        for i in range(2)
    ]
    return hamiltonian_problem(Tree(bodies, "two hinges"), [0.3, 0.2], [12.0, 3.0])


LINK = Inertia.about_com(1.0, (0.02, 0.03, 0.15), np.diag([0.02, 0.025, 0.015]))


@pytest.mark.parametrize("method", ["GAUSS8", "RKMK4", "TREE_VARIATIONAL_SUZUKI4"])
def test_hinges_on_the_line_are_wound_like_those_on_the_circle(method):
    line, circle = (
        integrate(hinges(joint), method, (0.0, 4.0), 4e-3, progress=False) for joint in (Revolute, Continuous)
    )
    assert line.y[-1, 0] > 12 * np.pi
    assert np.allclose(line.y, circle.y, rtol=0.0, atol=1e-13)


def test_a_hinge_whose_turns_count_is_left_alone_and_the_others_are_wound():
    """Problems name angles on the line; each is tried by itself."""

    def field(t, y):
        return np.array([3.0, 2.0 - 1e-3 * y[1]])

    problem = Problem(table_of([(RN, 2)]), [0.0, 0.0], field, angles=(0, 1))
    assert circles(problem, 0.0).tolist() == [0]
    with pytest.raises(ValueError, match="angles: 2, expected components of the state, 0 to 1"):
        replace(problem, angles=(2,))


@numba.njit
def with_a_stop(t, y):
    """A pendulum, and a spring that acts from 30 rad on."""
    return np.array([y[1], -np.sin(y[0]) - (100.0 * (y[0] - 30.0) if y[0] > 30.0 else 0.0)])


@numba.njit
def with_a_late_spring(t, y):
    return np.array([y[1], -np.sin(y[0]) - (y[0] if t > 5.0 else 0.0)])


@pytest.mark.parametrize("field", [with_a_stop, with_a_late_spring])
def test_a_stop_beyond_many_turns_or_a_later_spring_is_not_lost(field):
    found, plain = (
        integrate(Problem(table_of([(RN, 2)]), [0.0, 4.0], field, angles=named), "RKMK4", (0, 12), 1e-3, progress=False)
        for named in ((0,), ())
    )
    assert found.y[:, 0].max() > 15.0
    assert np.array_equal(found.y, plain.y)


def test_an_angle_is_tried_around_the_circle():
    """A bump on the second turn, which the start does not see: a declared angle would lose it."""

    def bumped(t, y):
        return [y[1], -8.0 * (y[0] - 9.0) * np.exp(-(((y[0] - 9.0) / 0.5) ** 2)) - 0.1 * y[1]]

    ends = [
        integrate(Problem(rn(2), [0.0, 2.5], bumped, angles=places), "RKMK4", (0.0, 30.0), 0.01).y[-1]
        for places in ((0,), ())
    ]
    assert np.array_equal(*ends)


def test_what_a_turn_changes_is_not_excused_by_larger_numbers_beside_it():
    """A slow swing in seconds; and a nut on a screw of 5 mm, on a light arm on a boom of 20 t: its travel counts."""
    slow = Problem(rn(2), [5.0, 0.0], lambda t, y: [y[1], -1e-10 * y[0]], angles=(0,))
    assert circles(slow, 0.0).tolist() == []
    assert integrate(slow, "RKMK4", (0.0, 3e5), 1e3).y[-1, 0] == pytest.approx(5.0 * math.cos(3.0), rel=1e-6)
    lead, small = 5e-3 / (2.0 * math.pi), Inertia.about_com(0.3, (0.0, 0.0, 0.0), 1e-4 * np.eye(3))
    tree = Tree(
        [
            Body("boom", Revolute((0, 1, 0)), inertia=Inertia.about_com(2e4, (0, 0, -6.0), 1e4 * np.eye(3))),
            Body("arm", Revolute((0, 1, 0)), "boom", inertia=Inertia.about_com(0.1, (0, 0, -0.3), 1e-3 * np.eye(3))),
            Body("nut", Helical((0, 0, -1), lead), "arm", (0, 0, -0.1), inertia=small),
        ]
    )
    assert circles(tree.problem([0.5, 0.5, 0.0], [0.0, 0.0, 300.0]), 0.0).tolist() == [0, 1]


@pytest.mark.parametrize("name", ["swinging-four-bar", "ten-four-bar", "squeezer", "bricard", "peaucellier"])
def test_hinges_of_loops_are_wound(name):
    """Their equations have large multipliers, and noise, where the loop is open."""
    mechanism = SYSTEMS[name].make()
    problem = mechanism.problem()
    assert len(circles(problem, 0.0)) == len(angles(problem.table)) + len(problem.angles)
