"""The Gauss method of eight stages in lanes: its numbers, order, structure, division of steps, and what it reports."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import mpmath
import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Guard, Problem, Status, integrate, resume, suggest_step
from integrators.analysis.canonical import canonical_defect
from integrators.analysis.reversibility import symmetry_defect
from integrators.engine.fixed_run import FixedRun, StagesRun
from integrators.engine.run import Output, Plan
from integrators.engine.start import start_runs
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem import lagrangian_problem
from integrators.steppers.gauss_in_lanes import gauss_in_lanes_method
from integrators.steppers.gauss_workspace import NU
from integrators.tableaus import GAUSS
from integrators.tableaus.gauss_in_lanes import gauss_in_lanes
from integrators.tableaus.numbers import decimal
from liegroup import rn, so3
from liegroup.compile import ld, st
from liegroup.compile.scalars import sincos
from mechanics import Body, Inertia, Tree
from mechanics.forces import servo
from mechanics.joints import Free, Motion, Revolute, Rheonomic, Slide, Spherical, Turn
from mechanics.mechanism import Mechanism
from mechanics.systems import SYSTEMS
from mechanics.testing import random_inertia, random_tree

WHOLE = gauss_in_lanes_method(energy_tolerance=np.inf)


@numba.njit
def swing(t, y):
    return np.array([y[1], -np.sin(y[0])])


@numba.njit
def swing_energy(t, y):
    return np.array([0.5 * y[1] * y[1] - np.cos(y[0])])


@numba.njit
def driven(t, y):
    return np.array([y[1], -np.sin(y[0]) + np.cos(2.0 * t)])


def pendulum(y0=(2.0, 0.3), field=swing, **known):
    return Problem(
        rn(2), list(y0), field, invariants=swing_energy, invariant_names=("energy",), canonical=False, **known
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_the_matrix_is_antisymmetric_and_centrally_odd_to_the_last_bit():
    nu = gauss_in_lanes().nu.T
    exact = GAUSS(8)
    assert (nu == -nu.T).all()
    assert (nu == -nu[::-1, ::-1]).all()
    with localcontext() as context:
        context.prec = 50
        a, b = [[decimal(x) for x in r] for r in exact.A], [decimal(x) for x in exact.b]
        wanted = [[a[i][j] / b[j] - Decimal("0.5") for j in range(8)] for i in range(8)]
    assert max(abs(float(Decimal(nu[i, j]) - wanted[i][j])) for i in range(8) for j in range(8)) < 2e-16


def test_first_guesses_reproduce_polynomials_of_degree_seven():
    """For f = t⁷ the L of another step follow exactly from those of the last one."""
    g = gauss_in_lanes()
    for columns, first, size, new_first, new_size in (
        (g.same, 0.0, 1.0, 1.0, 1.0),
        (g.down, 0.0, 1.0, 1.0, 0.5),
        (g.up, 0.0, 1.0, 1.0, 2.0),
        (g.again, 0.0, 1.0, 0.0, 0.5),
    ):
        old = size * g.b * (first + size * g.c) ** 7
        new = new_size * g.b * (new_first + new_size * g.c) ** 7
        assert np.allclose(columns.T @ old, new, rtol=1e-9, atol=1e-13)


def test_the_ends_are_those_of_polynomials_of_degree_seven():
    g = gauss_in_lanes()
    for degree in range(8):
        start, end, below, highest = (g.ends.T @ (g.b * g.c**degree))[:4]
        assert start == pytest.approx(0.0**degree, abs=1e-13)
        assert end == pytest.approx(1.0, abs=1e-13)
        assert (abs(below) > 1e-15) == (degree >= 6)
        assert (abs(highest) > 1e-15) == (degree >= 7)


def test_the_highest_coefficient_vanishes_for_lower_degrees():
    g = gauss_in_lanes()
    assert (g.highest == -g.highest[::-1]).all()
    for degree in range(7):
        assert abs(g.highest @ (g.b * g.c**degree)) < 1e-15
    assert g.highest @ (g.b * g.c**7) == pytest.approx(math.sqrt(15) / math.comb(14, 7) / 15, rel=1e-10)


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["R", "SO3"])
def test_order_sixteen_in_many_digits(in_many_digits, group):
    """One step against two halves, whose difference falls like h¹⁷."""
    with mpmath.workdps(60):
        method = in_many_digits(WHOLE)
        if group == "R":
            problem = Problem(rn(1), [1.0], lambda t, y: np.array([y[0] * mpmath.cos(t)]))
        else:

            def field(t, y):
                w, x = y[0], y[1]
                return np.array([w * x + mpmath.cos(3 * t), y[2] - mpmath.sin(2 * t), y[3] + mpmath.mpf(1) / 2])

            problem = Problem(so3, [1.0, 0.0, 0.0, 0.0], field)
        y = np.array([mpmath.mpf(x) for x in problem.y0], dtype=object)
        differences = []
        for h in (mpmath.mpf(1) / 4, mpmath.mpf(1) / 8):
            one = step_map(problem, method, interpreted=True)(y, h)
            half = step_map(problem, method, interpreted=True)(y, h / 2)
            two = step_map(problem, method, t=h / 2, interpreted=True)(half, h / 2)
            differences.append(max(abs(a - b) for a, b in zip(one, two, strict=True)))
        assert float(mpmath.log(differences[0] / differences[1], 2)) - 1 == pytest.approx(16, abs=0.5)


def test_order_in_double_precision():
    """Larger steps are not solved, smaller ones right to rounding."""
    tree, counts = random_tree("chain", 3, np.random.default_rng(5), (Revolute,)), (4, 5, 6)
    problem = tree.problem(tree.neutral(), np.array([1.0, -0.5, 0.7]))
    exact = integrate(problem, "RKMK_GAUSS6", (0, 1), 1 / 400).y[-1]
    errors = [np.abs(integrate(problem, WHOLE, (0, 1), 1 / n).y[-1] - exact).max() for n in counts]
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(16, abs=2.5), errors


@pytest.mark.parametrize("name", ["lagrange-top", "pendulum"])
def test_the_coordinate_map_makes_no_difference(name):
    problem = SYSTEMS[name].problem()
    exp, cayley = (integrate(problem, WHOLE.with_map(m), (0, 5), 0.1).y for m in ("exp", "cayley"))
    assert np.abs(exp - cayley).max() < 1e-13


@pytest.mark.parametrize("wrong", [NU + 9, 66])
def test_a_wrong_digit_shows(wrong):
    numbers = WHOLE.coefficients.copy()
    numbers[wrong] += 1e-9
    spoiled = replace(WHOLE, coefficients=numbers)
    exact = integrate(pendulum(), WHOLE, (0, 4), 0.05).y[-1]
    assert np.abs(integrate(pendulum(), WHOLE, (0, 4), 0.1).y[-1] - exact).max() < 1e-14
    assert np.abs(integrate(pendulum(), spoiled, (0, 4), 0.1).y[-1] - exact).max() > 1e-12


# --- structure --------------------------------------------------------------------------------------------------------


def test_one_step_on_a_vector_space_preserves_the_canonical_two_form():
    tree = random_tree("chain", 2, np.random.default_rng(3), (Revolute,))
    problem = tree.problem(tree.neutral(), np.array([1.0, -2.0]))
    assert canonical_defect(problem, WHOLE, "0.1", digits=45) < 2e-14


def test_one_step_of_a_top_preserves_the_canonical_two_form_to_its_truncation_error():
    problem = SYSTEMS["lagrange-top"].problem()
    assert canonical_defect(problem, WHOLE, "0.1", digits=40) < 1e-13


def test_a_step_forward_and_a_step_back_return():
    for name, h in (("lagrange-top", 0.1), ("kepler", 0.1), ("pendulum", 0.2)):
        problem = SYSTEMS[name].problem()
        assert symmetry_defect(step_map(problem, WHOLE), problem.y0, h) < 3e-14 * max(1, np.abs(problem.y0).max()), name


def test_momenta_of_a_free_chain_stay():
    tree = random_tree("chain", 3, np.random.default_rng(2), (Spherical,), root=Free()).with_gravity((0, 0, 0))
    solution = integrate(
        tree.problem(tree.neutral(), np.random.default_rng(1).normal(size=tree.nv)), "GAUSS8", (0, 20), 0.05
    )
    assert solution.success
    for name in solution.invariant_names:
        assert solution.error(name, relative=False) < 1e-11, name


# --- one trajectory by three ways -------------------------------------------------------------------------------------


def runs_of(problem, steps=60, h=0.1, method=None):
    method = method or find("GAUSS8")
    for kind in (StagesRun, FixedRun):
        run = kind(problem, method, Output(), Plan(0.0, h, steps), np.atleast_2d(problem.y0)[0])
        run.go(steps)
        yield run


@pytest.mark.parametrize("name", ["lagrange-top", "kepler"])
def test_stages_in_lanes_and_one_by_one_agree_to_the_last_bit(name):
    lanes, single = runs_of(SYSTEMS[name].problem())
    assert (lanes.saved == single.saved).all()
    assert (lanes.work[:8] == single.work[:8]).all()


def test_the_interpreted_step_agrees_to_the_last_bit():
    problem = pendulum()
    compiled, plain = (step_map(problem, WHOLE, interpreted=i)(problem.y0, 0.3) for i in (False, True))
    assert np.abs(compiled - plain).max() < 2e-16


def test_a_single_step_follows_the_time():
    problem = Problem(rn(2), [1.0, 0.5], lambda t, y: [y[1] + t * t, -t * y[0]])
    compiled, plain = (step_map(problem, WHOLE, 0.4, i)(problem.y0, 0.3) for i in (False, True))
    assert np.abs(compiled - plain).max() < 2e-16
    assert np.abs(compiled - integrate(problem, WHOLE, (0.4, 0.7), 0.3).y[-1]).max() < 2e-16


def test_an_ensemble_is_its_trajectories():
    starts = np.array([[2.0, 0.3], [0.1, 0.0], [3.1, 0.2]])
    together = integrate(pendulum().with_start(starts), "GAUSS8", (0, 5), 0.25)
    assert together.success
    for k, start in enumerate(starts):
        assert (together.y[k] == integrate(pendulum(start), "GAUSS8", (0, 5), 0.25).y).all()


def test_trajectories_of_an_ensemble_have_tolerances_of_their_own():
    """Each of its own energy at play."""
    starts = np.array([[1.0, 0.0, 0.0, 1.1], [2.0, 0.0, 0.0, 0.3]])
    problem = SYSTEMS["kepler"].problem()
    together = integrate(problem.with_start(starts), "GAUSS8", (0, 5), 0.25)
    for k, start in enumerate(starts):
        assert (together.y[k] == integrate(problem.with_start(start), "GAUSS8", (0, 5), 0.25).y).all()


def test_fields_that_read_the_time_are_evaluated_at_the_times_of_the_stages():
    problem = pendulum(field=driven)
    assert pendulum().is_autonomous
    assert not problem.is_autonomous
    assert all(isinstance(run, StagesRun) for run in start_runs(problem, WHOLE, Output(), Plan(0.0, 0.1, 1)))
    exact = solve_ivp(driven, (0, 3), problem.y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert np.abs(integrate(problem, "GAUSS8", (0, 3), 0.25).y[-1] - exact).max() < 2e-12


@numba.njit
def driven_in_registers(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, sincos(2.0 * t)[1] - sincos(ld(y, 0))[0])


@numba.njit
def driven_by_branches(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, (1.0 if t > 1.0 else t) - sincos(ld(y, 0))[0])


@pytest.mark.parametrize("field", [driven, driven_in_registers])
def test_times_in_lanes_and_one_by_one_agree_to_the_last_bit(field):
    lanes, single = runs_of(pendulum(field=field))
    assert (lanes.saved == single.saved).all()


def test_what_takes_no_times_in_lanes_is_evaluated_one_by_one():
    """The compiler refuses a question about eight times."""
    problem = pendulum(field=driven_by_branches)
    (run,) = start_runs(problem, WHOLE, Output(), Plan(0.0, 0.1, 10))
    assert not isinstance(run, StagesRun)
    run.go(10)

    def equation(t, y):
        return y[1], t - np.sin(y[0])

    exact = solve_ivp(equation, (0, 1), problem.y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert np.abs(run.y - exact).max() < 1e-12


def test_plain_python_fields_give_the_same_numbers():
    def plain(t, y):
        return np.array([y[1], -np.sin(y[0])])

    jitted, python = (integrate(Problem(rn(2), [2.0, 0.3], f), "GAUSS8", (0, 3), 0.25) for f in (swing, plain))
    assert np.abs(jitted.y - python.y).max() < 1e-14


def test_a_lagrangian_is_followed_to_rounding():
    def lagrangian(t, q, v, parameters):
        return v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + 2 * np.cos(q[0]) + np.cos(q[1])

    problem = lagrangian_problem(lagrangian, [1.0, 0.5])
    found = integrate(problem, "GAUSS8", (0, 10), 0.05)
    true = integrate(problem, "RKMK_DOP853", (0, 10), rtol=1e-13, atol=1e-13)
    assert np.abs(found.y[-1] - true.y[-1]).max() < 2e-12
    assert np.ptp(found.invariants) < 1e-14


def test_trees_with_prescribed_joints_are_evaluated_at_the_times_of_the_stages():
    """A pivot that goes up and down, z = a sin wt: l θ″ = −(g + z″) sin θ."""
    a, w, length = 0.3, 4.0, 0.8
    moved = Rheonomic((Slide((0, 0, 1), Motion(harmonics=((a, w, 0.0),))), Turn((1, 0, 0))))
    tree = Tree([Body("bob", moved, inertia=Inertia.about_com(2.0, (0, 0, -length), 1e-9 * np.eye(3)))])
    problem = tree.problem([0.5], [0.2])
    assert not problem.is_autonomous
    assert problem.field.compiled_timed is not None
    lanes, single = runs_of(problem)
    assert (lanes.saved == single.saved).all()
    assert random_tree("chain", 2, np.random.default_rng(3), (Revolute,)).problem(np.zeros(2)).is_autonomous

    def equation(t, x):
        return x[1], -(9.81 - a * w**2 * np.sin(w * t)) * np.sin(x[0]) / length

    true = solve_ivp(equation, (0, 2), (0.5, 0.2), method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]
    assert abs(integrate(problem, "GAUSS8", (0, 2), 0.1).y[-1, 0] - true) < 1e-8  # the bob has a little inertia


@pytest.mark.slow
def test_driven_mechanisms_are_evaluated_at_the_times_of_the_stages():
    """A moved joint and a servo."""
    generator = np.random.default_rng(3)
    moved = Rheonomic((Turn((0, 0, 1), Motion((0.2, 0.5), ((0.3, 2.0, 0.1),))), Turn((1, 0, 0))))
    base = Body("base", moved, inertia=random_inertia(generator))
    arm = Body("arm", Revolute((0.6, 0, 0.8)), "base", (0.3, 0.1, 0), inertia=random_inertia(generator))
    tree = Tree([base, arm], "driven arm", gravity=(0, 0, -9.81))
    target = Motion((0.1, 0.4), ((0.2, 3.0, 0.3),))
    problem = Mechanism(tree, [], elements=[servo("arm_joint", stiffness=20.0, damping=0.7, target=target)]).problem(
        tree.neutral(), [0.5, -0.3]
    )
    (run,) = start_runs(problem, WHOLE, Output(), Plan(0.0, 0.02, 50))
    assert isinstance(run, StagesRun)
    lanes, single = runs_of(problem, 50, 0.02)
    assert (lanes.saved == single.saved).all()
    exact = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-12, atol=1e-13).y[-1]
    assert np.abs(lanes.y - exact).max() < 1e-11


# --- division of steps ------------------------------------------------------------------------------------------------


def test_a_comet_is_followed_by_smaller_steps_where_it_is_fast():
    problem = SYSTEMS["kepler"].problem()
    solution = integrate(problem, "GAUSS8", (0, 20 * math.pi), math.pi / 8)
    assert solution.success
    assert solution.error("energy") < 1e-14
    assert len(solution.levels) > 1
    assert solution.smallest_substep < math.pi / 8
    assert solution.rejected > 0
    assert solution.largest_estimate <= 1e-16
    assert 0 < solution.recommended_step < math.pi / 8
    whole = integrate(problem, WHOLE, (0, 20 * math.pi), math.pi / 8)
    assert whole.levels[1:] == ()
    assert whole.error("energy") > 100 * solution.error("energy")


def test_the_estimate_is_the_error_of_the_energy():
    """Median |dE| of a step over its estimate, where steps are coarse enough for both to be seen."""
    tree = random_tree("chain", 3, np.random.default_rng(5), (Revolute,))
    ratios = []
    for v in np.random.default_rng(1).uniform(-12, 12, (30, 3)):
        problem, before = tree.problem(tree.neutral(), v), 0.0
        run = StagesRun(problem, WHOLE, Output(), Plan(0.0, 0.1, 40), np.asarray(problem.y0))
        for k in range(40):
            run.go(1)
            total = run.method.report(run.work).estimate_sum
            change = abs(run.saved_values[k + 1, 0] - run.saved_values[k, 0])
            if run.status is Status.OK and change > 1e-11:
                ratios.append(change / (total - before))
            before = total
    assert len(ratios) > 100
    assert 0.2 < np.median(ratios) < 1.5


def test_a_tolerance_of_joules_is_kept_and_its_cost_is_reported():
    tree = random_tree("chain", 3, np.random.default_rng(5), (Revolute,))
    problem = tree.problem(tree.neutral(), np.array([3.0, -2.5, 2.7]))
    costs = []
    for tolerance in (1e-6, 1e-9, 1e-12):
        solution = integrate(problem, "GAUSS8", (0, 10), 0.1, energy_tolerance=tolerance)
        assert solution.success
        assert solution.largest_estimate <= tolerance
        assert solution.error("energy", relative=False) < 200 * tolerance
        costs.append(solution.evaluations)
    assert costs == sorted(costs)


def test_what_is_not_smooth_is_divided_to_the_end_and_doubted():
    @numba.njit
    def wall(t, y):
        return np.array([y[1], -1.0 if y[0] > 0.0 else 1.0])

    solution = integrate(Problem(rn(2), [1.1, 0.0], wall), "GAUSS8", (0, 4), 0.25)
    assert not solution.success
    assert solution.doubts[0].name in ("estimate", "jump")
    assert solution.doubts[0].time == pytest.approx(math.sqrt(2.2), abs=0.25)


@numba.njit
def between_walls(t, y):
    return np.array([y[1], -1.0 if y[0] > 0.0 else 1.0])


def test_a_jump_is_noticed_wherever_it_falls_between_the_stages():
    """Also before the first stage of a substep and after the last, where no stage sees it."""
    problem = Problem(rn(2), [1.0, 0.0], between_walls)  # compiled once
    for start in np.linspace(0.7, 1.5, 41):
        solution = integrate(problem.with_start([start, 0.0]), "GAUSS8", (0, 4), 0.25)
        assert not solution.success, start
        assert solution.doubts[0].name in ("estimate", "jump")


def test_a_field_that_ends_ends_the_run_with_a_status():
    @numba.njit
    def root(t, y):
        return np.array([-1.0 / y[0]])

    solution = integrate(Problem(rn(1), [1.0], root), "GAUSS8", (0, 1), 0.05)
    assert not solution.finished
    assert solution.t[-1] == pytest.approx(0.45, abs=0.06)


def test_the_tolerance_has_to_make_sense():
    with pytest.raises(ValueError, match="energy_tolerance: -1"):
        integrate(pendulum(), "GAUSS8", (0, 1), 0.1, energy_tolerance=-1)
    with pytest.raises(TypeError, match="energy_tolerance, fast: of fixed steps"):
        integrate(pendulum(), "GAUSS8", (0, 1), 0.1, energy_tolerance=1e-9, rtol=1e-6)
    with pytest.raises(TypeError, match="energy_tolerance, fast: RKMK4"):
        integrate(pendulum(), "RKMK4", (0, 1), 0.1, energy_tolerance=1e-9)


def test_the_fast_stop_takes_fewer_sweeps():
    problem = SYSTEMS["lagrange-top"].problem()
    slow, fast = (integrate(problem, "GAUSS8", (0, 10), 0.1, fast=f) for f in (False, True))
    assert fast.sweeps < slow.sweeps
    assert np.abs(fast.y - slow.y).max() < 1e-11


# --- long runs --------------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_bit_for_bit(tmp_path):
    problem, path = SYSTEMS["kepler"].problem(), tmp_path / "run.h5"
    whole = integrate(problem, "GAUSS8", (0, 30), math.pi / 8)
    seen = []

    def stop(t, y):
        seen.append(t)
        return True

    part = integrate(problem, "GAUSS8", (0, 30), math.pi / 8, callback=stop, checkpoint=path)
    assert not part.finished
    assert 0 < seen[0] < 30
    rest = resume(path, problem)
    assert (rest.y == whole.y).all()
    assert rest.levels == whole.levels
    assert rest.recommended_step == whole.recommended_step


def test_reports_are_kept_in_files(tmp_path):
    solution = integrate(SYSTEMS["kepler"].problem(), "GAUSS8", (0, 5), 0.4)
    loaded = type(solution).load(solution.save(tmp_path / "s.h5"))
    assert loaded.levels == solution.levels != ()
    assert loaded.recommended_step == solution.recommended_step


def test_states_within_steps_are_as_good_as_at_their_ends():
    problem, times = pendulum(), np.linspace(0.05, 2.95, 17)
    exact = np.array([integrate(problem, "GAUSS8", (0, t), t / 8).y[-1] for t in times])
    assert np.abs(integrate(problem, "GAUSS8", (0, 3), 0.25, t_eval=times).y - exact).max() < 3e-14


def test_states_within_a_step_serve_each_other_and_leave_the_run_alone():
    """Further states of a step take the polynomial of the first as their guess; the grid is not moved by a bit."""
    problem, steps = pendulum(), 12
    plain = integrate(problem, "GAUSS8", (0, 3), 0.25)
    one, many = (integrate(problem, "GAUSS8", (0, 3), 0.25, t_eval=np.linspace(0, 3, 12 * k + 1)) for k in (2, 16))
    first = (one.evaluations - plain.evaluations) / steps
    further = (many.evaluations - one.evaluations) / (14 * steps)
    assert 0 < further < 0.7 * first
    assert np.array_equal(many.y[::16], plain.y)
    assert np.abs(many.y[::8] - one.y).max() < 1e-14


def test_events_are_found_to_rounding():
    def through(t, y):
        return y[0]

    jitted = numba.njit(through)
    solution = integrate(pendulum((0.5, 0.0)), "GAUSS8", (0, 10), 0.25, events={"through": jitted})
    times = solution.events["through"][0]
    half = np.diff(times)
    quarter = mpmath.ellipk(mpmath.sin(mpmath.mpf("0.25")) ** 2)
    assert np.abs(half - 2 * float(quarter)).max() < 1e-13


def test_guards_are_watched():
    problem = pendulum(guards=[Guard("energy", greatest=0.0, says="the pendulum turns over")])
    assert integrate(problem, "GAUSS8", (0, 3), 0.25).doubts


@pytest.mark.parametrize("size", [1e-300, 1e-307, 1e-310, 1e-320])
def test_forces_that_are_next_to_nothing_end_no_run(size):
    """One over such a size has no number: a bell pulse far before its time."""
    pushed = Problem(rn(2), [0.0, 0.0], lambda t, y: [y[1], size * np.cos(t) - y[0]])
    run = integrate(pushed, "GAUSS8", (0.0, 10.0), 0.1)
    assert run.success
    assert run.y[-1, 0] == pytest.approx(
        0.5 * 10.0 * np.sin(10.0) * size, rel=1e-9 if size > 1e-305 else 0.1, abs=1e-321
    )
    bell = Problem(rn(2), [0.0, 0.0], lambda t, y: [y[1], np.exp(-((t - 37.0) ** 2)) - y[0] - 0.1 * y[1]])
    assert integrate(bell, (0.0, 40.0)).success


# --- the choice for people --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kepler", pytest.param("four-bar", marks=pytest.mark.slow), "rolling-disk"])
def test_without_a_method_and_a_step_the_energy_stays_and_the_message_says_what_was_taken(name):
    problem = SYSTEMS[name].problem()
    solution = integrate(problem, (0, 5))
    assert solution.success
    assert solution.error("energy") < 1e-14
    assert "GAUSS8, chosen for want of a method, with steps of" in solution.message
    assert solution.steps < 400


def test_without_a_method_a_tolerance_asks_for_variable_steps():
    solution = integrate(pendulum(), (0, 5), rtol=1e-9)
    assert solution.method == "RKMK_DOP853"
    assert "RKMK_DOP853, chosen for want of a method" in solution.message


def test_the_interval_cannot_be_left_out():
    with pytest.raises(TypeError, match="t_span: missing"):
        integrate(pendulum(), "GAUSS8")


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_a_suggested_step_meets_its_tolerance_for_other_methods(tolerance):
    problem = SYSTEMS["lagrange-top"].problem()
    h = suggest_step(problem, "RKMK4", tolerance)
    whole, halves = (integrate(problem, "RKMK4", (0, h), h / k).y[-1] for k in (1, 2))
    assert tolerance / 10 < np.abs(whole - halves).max() < 10 * tolerance


def test_a_suggested_step_is_not_divided_at_the_start():
    problem = SYSTEMS["kepler"].problem()
    h = suggest_step(problem)
    assert integrate(problem, "GAUSS8", (0, 10 * h), h).levels == (10,)
    assert suggest_step(problem, tolerance=1e-6) > h


def test_a_tuned_method_is_known_by_its_name():
    assert (find("GAUSS8[energy_tolerance=1e-09, fast]").options == find("GAUSS8").tuned(1e-9, True).options).all()
    assert find("gauss8[fast]").name == "GAUSS8[fast]"
    with pytest.raises(ValueError, match="no method"):
        find("GAUSS8[quick]")


# --- what is light beside the rest ------------------------------------------------------------------------------------


def sun_jupiter_and_comet(mass):
    """In astronomical units, years and solar masses; the comet (e = 0.97) from its perihelion."""
    G, M = 4.0 * np.pi**2, np.array([1.0, 9.5e-4, mass])
    v = np.array([0.0, 0.0, 0.0, np.sqrt(G / 5.2), 0.0, -np.sqrt(G * 1.97 / 0.3)])
    v[1] = -(M[1] * v[3] + M[2] * v[5])

    def lagrangian(t, q, v, p):
        L = 0.0
        for i in range(3):
            L = L + 0.5 * M[i] * (v[2 * i] ** 2 + v[2 * i + 1] ** 2)
            for j in range(i):
                L = L + G * M[i] * M[j] / np.sqrt((q[2 * i] - q[2 * j]) ** 2 + (q[2 * i + 1] - q[2 * j + 1]) ** 2)
        return L

    return lagrangian_problem(lagrangian, [0.0, 0.0, 5.2, 0.0, -0.3, 0.0], v)


@pytest.mark.parametrize("step", [None, 0.5, 2.0])
def test_a_comet_beside_the_sun_moves_as_one_of_any_small_mass(step):
    """Its energy is nothing beside that of Jupiter, and its motion does not depend on its mass."""
    ends = []
    for mass in (1e-11, 1e-17, 1e-20):
        posed = sun_jupiter_and_comet(mass)
        run = integrate(posed, (0.0, 10.0)) if step is None else integrate(posed, "GAUSS8", (0.0, 10.0), step)
        assert run.success
        ends.append(run.y[-1, 4:6])
    assert np.abs(np.array(ends) - ends[0]).max() < 1e-7


def test_the_energy_says_nothing_of_a_motion_with_one_constant_rate():
    """A relativistic particle under a constant force: p = t, so that the estimate of the energy vanishes."""
    posed = lagrangian_problem(lambda t, q, v, p: q[0] - np.sqrt(1.0 - v[0] ** 2), [0.0], [0.0])
    for run in (integrate(posed, (0.0, 100.0)), integrate(posed, "GAUSS8", (0.0, 100.0), 20.0)):
        assert run.success
        assert run.y[-1, 0] == pytest.approx(np.sqrt(1e4 + 1.0) - 1.0, rel=1e-11)


@pytest.mark.parametrize("step", [None, 2.5, 10.0])
@pytest.mark.parametrize("base", [Revolute((0, 0, 1)), Spherical(), Free()])
def test_what_moves_as_it_is_told_without_any_momentum_is_resolved(base, step):
    """A satellite at rest turns back as its wheel turns by φ = 2 sin² 2t: by −J φ/(I + J), and no energy is at play."""
    told = Motion.from_function(lambda t: 2.0 * np.sin(2.0 * t) ** 2, (0.0, 10.0))
    hub, wheel = (Inertia.about_com(1.0, (0, 0, 0), np.diag([a, a, b])) for a, b in ((1.2, 0.6), (0.3, 0.4)))
    bodies = [Body("hub", base, inertia=hub), Body("wheel", Rheonomic((Turn((0, 0, 1), told),)), "hub", inertia=wheel)]
    tree = Tree(bodies, gravity=(0, 0, 0))
    run = integrate(tree.problem(tree.neutral(), p=np.zeros(tree.nv)), "GAUSS8" if step else None, (0.0, 10.0), step)
    turned = -0.4 * 2.0 * np.sin(2.0 * run.t) ** 2
    q = run["q"]
    angle = q[:, 0] if tree.nq == 1 else 2.0 * np.arctan2(q[:, -1], q[:, -4])
    assert np.abs(angle - turned).max() < 1e-11
    assert run.success, run.message
    assert run.recommended_step < 2.0


@pytest.mark.parametrize("k", [4, 5, 6, 12])
def test_what_is_even_about_the_middle_of_each_step_is_seen(k):
    """x' = 1 + cos(2 π k t / h): the highest coefficient of every step is zero, that below it is not."""
    problem = Problem(rn(1), [0.0], lambda t, y: [1.0 + np.cos(20.0 * np.pi * k * t)])
    run = integrate(problem, "GAUSS8", (0.0, 10.0), 0.1)
    assert run.success
    assert run.y[-1, 0] == pytest.approx(10.0, rel=1e-12)
    assert run.levels[0] < 100


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("step", [0.3, 1.0])
def test_a_force_that_changes_its_sign_in_the_middle_of_a_step_is_a_doubt(step, canonical):
    """q'' = -sign q: of q' the coefficient of degree 7 is zero there, and with it its product with that of p'."""
    problem = Problem(rn(1).cotangent, [1.0, 0.0], lambda t, y: [y[1], -np.sign(y[0])], canonical=canonical)
    run = integrate(problem, "GAUSS8", (0.0, 200.0), step)
    assert {doubt.name for doubt in run.doubts} & {"jump", "estimate"}


def test_a_passage_that_is_only_fast_takes_a_smaller_step():
    """A comet that passes at 3e-4: 4096 parts of a long step do not do, those of a shorter one do."""
    perihelion = 3e-4

    @numba.njit
    def pulled(t, y):
        r = np.sqrt(y[0] ** 2 + y[1] ** 2)
        return np.array([y[2], y[3], -y[0] / r**3, -y[1] / r**3])

    start = [2.0 - perihelion, 0.0, 0.0, np.sqrt(perihelion / (2.0 - perihelion))]
    comet = Problem(rn(4), start, pulled, canonical=True)
    long, short = (integrate(comet, "GAUSS8", (0.0, 6.0), step=h) for h in (1.0, 2e-3))
    assert [doubt.name for doubt in long.doubts] == ["estimate"]
    assert "take a smaller step where the motion is only fast there" in long.doubts[0].remedy
    assert short.success
