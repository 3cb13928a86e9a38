"""The variational step of a tree in the engine: the same numbers in every form, iterations, divisions, failures."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import integrate
from integrators.engine import crew
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem import Problem
from integrators.status import Status
from integrators.steppers.tree_variational import tree_variational
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import Plane, Sphere, contact
from mechanics.joints import Free, Revolute
from mechanics.problems.tree import hamiltonian_problem


@pytest.mark.parametrize("which", ["violent", "drifting"])
@pytest.mark.parametrize("map_name", ["split", "splitexp", "cayley", "exp"])
def test_compiled_and_interpreted_agree_bitwise(trees, which, map_name):
    problem, method = (trees.violent(4) if which == "violent" else trees.drifting()), tree_variational(map=map_name)
    a, b = (step_map(problem, method, interpreted=form) for form in (False, True))
    y = problem.y0
    for _ in range(2):
        y, z = a(y, 0.02), b(y, 0.02)
        assert np.abs(y - z).max() < 1e-16 * np.abs(y).max()


@pytest.mark.parametrize("which", ["violent", "drifting"])
def test_lanes_agree_bitwise_with_one_trajectory(trees, which):
    problem = trees.violent(6, 8) if which == "violent" else trees.drifting(8)
    together = integrate(problem, "TREE_VARIATIONAL", (0, 0.5), 0.01, save_every=50)
    for k in (0, 3, 7):
        alone = integrate(problem.with_start(problem.y0[k]), "TREE_VARIATIONAL", (0, 0.5), 0.01, save_every=50)
        assert np.array_equal(together.y[k], alone.y)


def test_lanes_that_must_divide_a_step_still_agree(trees):
    problem = trees.violent(20, 8)
    together, alone = (
        integrate(p, tree_variational(turn=0.2), (0, 1.2), 0.01, save_every=120)
        for p in (problem, problem.with_start(problem.y0[2]))
    )
    assert together.success
    assert alone.attributes["divided_steps"] > 0
    assert np.array_equal(together.y[2], alone.y)


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_into_which_chunks_a_run_is_cut_changes_no_bit(monkeypatch, seconds):
    """Two balls that rub on the ground and on each other: a lane whose step was divided has forgotten its past, others
    go on from theirs.
    """
    monkeypatch.setattr(crew, "CHUNK_SECONDS", seconds)
    ball = Inertia.about_com(0.5, (0.0, 0.0, 0.0), 0.002 * np.eye(3))
    first, second = (Sphere(Frame(name), 0.1) for name in "ab")
    pairs = (first, Plane(Frame(None))), (second, Plane(Frame(None))), (second, first)
    law = {"stiffness": 5e3, "damping": 0.3, "friction": 0.8, "slip_speed": 0.01}
    tree = Tree([Body("a", Free(), inertia=ball), Body("b", Free(), inertia=ball)])
    rubbing = Mechanism(tree, elements=[contact(*pair, **law) for pair in pairs])
    q = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 0.35, 0.01, 0.25, 1.0, 0.0, 0.0, 0.0]
    problem = rubbing.problem(q, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, -1.5, 0.0, 0.0, 3.0, -2.0, 1.0])
    starts = np.repeat(problem.y0[None], 3, axis=0)
    starts[:, 14:] += np.random.default_rng(0).normal(size=(8, 12))[[1, 3, 5]] * 0.05
    each = [integrate(problem.with_start(y), "TREE_VARIATIONAL", (0.0, 0.6), 5e-3) for y in starts]
    assert any("divided_steps" in alone.attributes for alone in each)
    together = integrate(problem.with_start(starts), "TREE_VARIATIONAL", (0.0, 0.6), 5e-3)
    for k, alone in enumerate(each):
        assert np.array_equal(together.y[k], alone.y)


def test_the_first_guess_does_not_matter_beyond_rounding(trees):
    """Ten steps in one run, which extrapolates the increments, and step by step without memory."""
    problem = trees.violent(10)
    step, y = step_map(problem, find("TREE_VARIATIONAL").plain()), problem.y0
    for _ in range(10):
        y = step(y, 1e-3)
    run = integrate(problem, find("TREE_VARIATIONAL").plain(), (0, 0.01), 1e-3)
    assert np.abs(run.y[-1] - y).max() < 1e-13 * np.abs(y).max()


@pytest.mark.parametrize("n", [5, 20, 100])
def test_iterations_do_not_grow_with_the_number_of_bodies(trees, n):
    solution = integrate(trees.violent(n), "TREE_VARIATIONAL", (0, 0.1), 1e-3)
    assert solution.iterations / solution.steps < 3.1


@pytest.mark.parametrize("n", [1000, pytest.param(10000, marks=pytest.mark.slow)])
def test_a_long_chain_takes_its_steps(trees, n):
    problem = hamiltonian_problem(trees.chain(n), 0.1 * np.sin(np.arange(n)))
    solution = integrate(problem, "TREE_VARIATIONAL", (0, 0.003), 1e-3, save_every=3)
    assert solution.success, solution.message
    assert solution.iterations <= 8 * solution.steps


def test_the_inertia_matrix_finds_the_same_step_in_more_iterations(trees):
    problem = trees.violent(10)
    exact, inertia = (
        integrate(problem, tree_variational(newton=name), (0, 0.1), 1e-3) for name in ("exact", "inertia")
    )
    assert np.abs(exact.y - inertia.y).max() < 1e-11 * np.abs(exact.y).max()
    assert inertia.iterations > 1.2 * exact.iterations


def test_forty_whirling_links_complete_at_a_large_step_and_report_what_it_took(trees):
    solution = integrate(trees.violent(40), "TREE_VARIATIONAL", (0, 5), 0.01, save_every=100)
    assert solution.status == Status.OK, solution.message  # within two seconds some are elsewhere, as it says
    assert solution.attributes["divided_steps"] > 10
    assert "steps were divided" in solution.message
    assert "smaller step" in solution.message


def test_a_step_that_may_not_be_divided_fails_with_joint_turn_and_time(trees):
    solution = integrate(trees.violent(40), tree_variational(divisions=0), (0, 5), 0.01, save_every=100)
    assert solution.status in (Status.CHART_LEFT, Status.NOT_CONVERGED)
    assert "link" in solution.message
    assert "joints turn by up to" in solution.message
    assert "t = " in solution.message
    assert 0 < solution.steps < 500


def test_what_was_computed_before_a_failure_is_kept(trees):
    solution = integrate(trees.violent(40), tree_variational(divisions=0), (0, 5), 0.01, save_every=10)
    assert np.isfinite(solution.y).all()
    assert solution.t[-1] == pytest.approx(0.01 * solution.steps)


def test_a_problem_without_the_step_is_refused():
    problem = Problem(
        [[0, 0, 0, 1, 1], [0, 1, 1, 1, 1]], [1.0, 0.0], lambda t, y: (y[1], -y[0]), canonical=True, model="oscillator"
    )
    with pytest.raises(ValueError, match="trees and mechanisms: variational"):
        integrate(problem, "TREE_VARIATIONAL", (0, 1), 0.1)


@pytest.mark.parametrize(
    ("option", "value"),
    [("turn", 0.0), ("turn", 3.2), ("turn", np.nan), ("divisions", -1), ("divisions", 31), ("newton", "fast")],
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=option):
        tree_variational(**{option: value})


def test_an_unknown_map_is_refused():
    with pytest.raises(ValueError, match="split"):
        tree_variational(map="ccsk")


def test_a_joint_without_inertia_is_a_failure_not_a_number():
    with pytest.raises(ValueError, match="inertia"):
        hamiltonian_problem(Tree([Body("a", Revolute((0, 0, 1)), inertia=Inertia.point(1.0, (0.0, 0.0, 1.0)))]), [0.1])
