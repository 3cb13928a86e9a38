"""The midpoint rule on T*G: order, symmetry, symplecticity, momenta, energy."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis import energy_drift, symmetry_defect, symplectic_defect
from integrators.analysis.symplecticity import cotangent_form
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.midpoint import midpoint
from liegroup import rn
from liegroup.table import EXP, bracket, increment, retract

MAPS = ("exp", "cayley")
PROBLEMS = ("pendulum", "heavy_top", "floating_body")


def many_digits(problem):
    """The start in mpmath numbers, with quaternions of unit norm to all digits (retract corrects the norm
    quadratically).
    """
    y = np.array([mpmath.mpf(float(x)) for x in problem.y0], dtype=object)
    for _ in range(3):
        moved = y * 0
        retract(problem.table, EXP, y, y[: problem.dimension] * 0, moved)
        y = moved
    return y


def jacobian(problem, step, h):
    """Derivative of one step in left-trivialised coordinates, by differences in 60 digits."""
    delta = mpmath.mpf(10) ** -25
    y = many_digits(problem)
    columns = []
    for k in range(problem.dimension):
        x, moved, out = y[: problem.dimension] * 0, y * 0, y[: problem.dimension] * 0
        x[k] = delta
        retract(problem.table, EXP, y, x, moved)
        increment(problem.table, EXP, step(y, h), step(moved, h), out)
        columns.append([float(value / delta) for value in out])
    return np.array(columns).T


def form(problem, y):
    n = problem.dimension // 2
    group = problem.table[:-1]

    def lie(a, b):
        out = np.zeros(n)
        bracket(group, np.array(a), np.array(b), out)
        return out

    return cotangent_form(np.array(y[-n:], dtype=float), lie)


@pytest.mark.parametrize("map_name", MAPS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_one_step_preserves_the_canonical_two_form(problems, name, map_name):
    problem = getattr(problems, name)()
    with mpmath.workdps(60):
        step = step_map(problem, find("MIDPOINT").with_map(map_name), interpreted=True)
        h = mpmath.mpf("0.05")
        y = many_digits(problem)
        J = jacobian(problem, step, h)
        after = step(y, h)
    assert symplectic_defect(J, form(problem, problem.y0), form(problem, after)) < 1e-13


def test_the_symplectic_ruler_sees_a_method_that_is_not(problems):
    problem = problems.heavy_top()
    with mpmath.workdps(60):
        step = step_map(problem, find("RKMK4"), interpreted=True)
        J, after = jacobian(problem, step, mpmath.mpf("0.05")), step(many_digits(problem), mpmath.mpf("0.05"))
    assert symplectic_defect(J, form(problem, problem.y0), form(problem, after)) > 1e-8


@pytest.mark.parametrize("map_name", MAPS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_step_forward_and_a_step_back_return(problems, name, map_name):
    problem = getattr(problems, name)()
    step = step_map(problem, find("MIDPOINT").with_map(map_name))
    assert symmetry_defect(step, problem.y0, 0.05) < 1e-14 * np.abs(problem.y0).max()


@pytest.mark.parametrize("map_name", MAPS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_order_two(problems, name, map_name):
    problem, method = getattr(problems, name)(), find("MIDPOINT").with_map(map_name)
    reference = integrate(problem, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]

    def error(h):
        return np.abs(integrate(problem, method, (0, 1), h).y[-1] - reference).max()

    steps = [0.02, 0.01, 0.005]
    slopes = np.diff(np.log([error(h) for h in steps])) / np.diff(np.log(steps))
    assert np.abs(slopes - 2).max() < 0.05


def test_on_commutative_groups_it_is_the_implicit_midpoint_rule(problems):
    problem, h = problems.pendulum(), 0.1
    q0, p0 = problem.y0
    q1, p1 = step_map(problem, find("MIDPOINT"))(problem.y0, h)
    assert abs(q1 - (q0 + h * (p0 + p1) / 2)) < 1e-15
    assert abs(p1 - (p0 - h * np.sin((q0 + q1) / 2))) < 1e-15


@pytest.mark.parametrize("map_name", MAPS)
def test_spatial_momentum_of_a_free_body_is_exact(problems, map_name):
    solution = integrate(problems.free_body(), find("MIDPOINT").with_map(map_name), (0, 1000), 0.05)
    for name in ("momentum_x", "momentum_y", "momentum_z"):
        assert solution.error(name, relative=False) < 1e-14


def test_vertical_momentum_of_a_top_is_exact_and_its_other_momenta_are_not(problems):
    solution = integrate(problems.heavy_top(), "MIDPOINT", (0, 200), 0.05)
    assert solution.error("momentum_z", relative=False) < 2e-14
    assert solution.error("momentum_x", relative=False) > 0.1


@pytest.mark.parametrize("name", PROBLEMS)
def test_energy_is_bounded_without_slope_where_that_of_rk4_drifts(problems, name):
    """At steps where one step of RKMK4 is the more accurate one, its energy leaves linearly; that of the midpoint rule
    does not.
    """
    problem = getattr(problems, name)()
    h, end = {"pendulum": (0.4, 4000), "heavy_top": (0.1, 2000), "floating_body": (0.05, 1000)}[name]
    midpoint, rk4 = (integrate(problem, method, (0, end), h, save_every=1) for method in ("MIDPOINT", "RKMK4"))
    drift = [energy_drift(s.t, s["energy"]) for s in (midpoint, rk4)]
    assert abs(drift[0].slope) * end < 0.05 * drift[0].band
    assert abs(drift[1].slope) * end > 0.5 * drift[1].band
    assert abs(drift[1].slope) > 20 * drift[1].sigma


def test_a_step_without_a_solution_is_a_status_not_a_loop():
    """x' = x²: the middle of a step of 2 from 1 would be a root of m² − m + 1."""
    solution = integrate(Problem(rn(1), [1.0], lambda t, y: y * y), "MIDPOINT", (0, 4), 2.0)
    assert solution.status.name in ("NOT_CONVERGED", "NON_FINITE")
    assert not solution.success
    assert "smaller step" in solution.message


def test_a_step_that_does_not_resolve_the_motion_is_solved_and_doubtful(problems):
    solution = integrate(problems.pendulum(), "MIDPOINT", (0, 100), 5.0)
    assert solution.status.name == "OK"
    assert not solution.success
    assert "do not resolve the motion" in solution.message


@pytest.mark.parametrize("past", [1, 2, 4, 6])
def test_the_start_of_the_iteration_does_not_change_the_result_beyond_rounding(problems, past):
    method = find("MIDPOINT")
    other = midpoint("other", past=past)
    a, b = (integrate(problems.heavy_top(), m, (0, 5), 0.01).y[-1] for m in (method, other))
    assert np.abs(a - b).max() < 1e-13


def spring(t, y, parameters, structure, work, out):
    out[0], out[1] = y[1], -y[0]


@pytest.mark.parametrize("turn", [1e3, 3e3, 1e4, 3e4, 1e5, 1e6])
def test_a_canonical_spring_has_no_limit(turn):
    """Whatever h ω: the iteration runs out of numbers before Newton's method takes over, and must say so."""
    problem = Problem(rn(1).cotangent, [1.0, 0.0], spring, canonical=True)
    for start in np.eye(2):
        run = integrate(problem.with_start(start), "MIDPOINT", (0.0, 20 * turn), turn)
        assert run.status.name == "OK", run.message
        assert np.abs(np.hypot(*run.y.T) - 1.0).max() < 1e-13
