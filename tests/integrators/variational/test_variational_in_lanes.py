"""The variational Gauss method of eight stages in lanes: symplectic with any step, the same map as stage by stage."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis import symmetry_defect
from integrators.analysis.canonical import canonical_defect
from integrators.engine.fixed_run import FixedRun, StagesRun
from integrators.engine.run import Output, Plan
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.lie_variational import gauss
from liegroup import so3
from mechanics.joints import Free, Revolute, Spherical
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

METHOD = find("VARIATIONAL_GAUSS8")
SEQUENTIAL = gauss(8)
EVERY_MAP = pytest.mark.parametrize("map_name", ["exp", "cayley"])


def floating_chain():
    """A free body, a ball joint, a hinge."""
    tree = random_tree("chain", 3, np.random.default_rng(2), (Spherical, Revolute), root=Free())
    return tree.problem(tree.neutral(), np.random.default_rng(1).normal(size=tree.nv))


@EVERY_MAP
@pytest.mark.parametrize("name", ["heavy_top", "floating_body"])
def test_it_is_the_method_stage_by_stage(problems, name, map_name):
    problem = getattr(problems, name)()
    lanes, one_by_one = (integrate(problem, m.with_map(map_name), (0, 2), 0.1).y for m in (METHOD, SEQUENTIAL))
    assert np.abs(lanes - one_by_one).max() < 1e-13 * max(1, np.abs(lanes).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heavy_top", "floating_chain"])
def test_stages_in_lanes_and_one_by_one_agree_to_the_last_bit(problems, name):
    problem = floating_chain() if name == "floating_chain" else getattr(problems, name)()
    runs = [
        kind(problem, METHOD, Output(), Plan(0.0, 0.05, 20), np.array(problem.y0)) for kind in (StagesRun, FixedRun)
    ]
    for run in runs:
        run.go(20)
    assert runs[0].steps_done == 20
    assert (runs[0].saved == runs[1].saved).all()


@pytest.mark.parametrize(
    ("name", "map_name"),
    [("pendulum", "exp"), *(pytest.param("heavy_top", m, marks=pytest.mark.slow) for m in ("exp", "cayley"))],
)
def test_one_coarse_step_preserves_the_canonical_two_form(problems, name, map_name):
    """The top turns by 1.2 rad per step."""
    assert canonical_defect(getattr(problems, name)(), METHOD.with_map(map_name), "0.3", digits=35) < 1e-14


@EVERY_MAP
@pytest.mark.parametrize("name", ["heavy_top", "floating_body"])
def test_a_step_forward_and_a_step_back_return(problems, name, map_name):
    """By the compiled form that runs take, with the stages in lanes."""
    problem, method = getattr(problems, name)(), METHOD.with_map(map_name)

    def step(y, h):
        return integrate(problem.with_start(y), method, (0.0, h), abs(h)).y[-1]

    assert symmetry_defect(step, problem.y0, 0.1) < 1e-14 * max(1.0, np.abs(problem.y0).max())


@pytest.mark.parametrize("name", ["VARIATIONAL_GAUSS8"])
@pytest.mark.parametrize("system", ["pendulum", pytest.param("heavy_top", marks=pytest.mark.slow)])
def test_order_in_forty_digits(problems, in_many_digits, system, name):
    """One step against two halves, whose difference falls like h¹⁷: above the rounding of doubles there are too few
    steps.
    """
    problem, steps = getattr(problems, system)(), ("0.35", "0.3")
    with mpmath.workdps(40):
        method, differences = in_many_digits(find(name)), []
        y = np.array([mpmath.mpf(x) for x in problem.y0], dtype=object)
        for h in (mpmath.mpf(h) for h in steps):
            one, half = (step_map(problem, method, interpreted=True)(y, x) for x in (h, h / 2))
            two = step_map(problem, method, t=h / 2, interpreted=True)(half, h / 2)
            differences.append(float(max(abs(a - b) for a, b in zip(one, two, strict=True))))
    slope = np.log(differences[0] / differences[1]) / np.log(float(steps[0]) / float(steps[1])) - 1
    assert slope == pytest.approx(16, abs=1.5)


@EVERY_MAP
def test_momenta_are_exact(problems, map_name):
    free = integrate(problems.free_body(), METHOD.with_map(map_name), (0, 500), 0.1)
    for name in ("momentum_x", "momentum_y", "momentum_z"):
        assert free.error(name, relative=False) < 3e-14
    top = integrate(problems.heavy_top(), METHOD.with_map(map_name), (0, 200), 0.1)
    assert top.error("momentum_z", relative=False) < 2e-14


def test_with_coarse_steps_the_energy_stays_where_that_of_the_centred_method_drifts(problems):
    """h = 0.35, 1.4 radians: rms errors of five fifths of 20 000 steps."""

    def fifths(method):
        solution = integrate(problems.heavy_top(), method, (0, 7000), 0.35, save_every=4)
        error = (solution["energy"] - solution["energy"][0])[: 5 * (len(solution.t) // 5)]
        return np.sqrt(np.mean(error.reshape(5, -1) ** 2, axis=1))

    drifts, stays = fifths(find("GAUSS8[energy_tolerance=inf]")), fifths(METHOD)
    assert drifts[4] > 4 * drifts[0]
    assert drifts[4] > 2 * stays[4]
    assert stays[4] < 2.5 * stays[0]


def test_it_finds_its_stages_with_coarse_steps(problems):
    """1.9 radians per step."""
    solution = integrate(problems.heavy_top(), METHOD, (0, 450), 0.45)
    assert solution.success
    assert solution.sweeps < 25


def test_steps_are_whole_and_their_estimate_is_reported(problems):
    solution = integrate(problems.heavy_top(), METHOD, (0, 25), 0.25)
    assert solution.success
    assert solution.levels == (100,)
    assert 1e-16 < solution.largest_estimate < 1e-12
    assert 0.1 < solution.recommended_step < 0.25
    assert integrate(problems.heavy_top(), METHOD, (0, 1)).success, "the step is suggested"


def test_steps_are_divided_by_a_tolerance(problems):
    whole, divided = (
        integrate(problems.heavy_top(), "VARIATIONAL_GAUSS8", (0, 50), 0.4, energy_tolerance=e) for e in (None, 1e-15)
    )
    assert whole.levels == (125,)
    assert sum(divided.levels[1:]) > 0
    assert divided.largest_estimate <= 1e-15
    assert divided.error("energy") < 0.2 * whole.error("energy")
    assert divided.method == "VARIATIONAL_GAUSS8[energy_tolerance=1e-15]"


def test_on_a_tree_of_hinges_balls_and_a_free_body():
    problem = floating_chain()
    solution, other = (integrate(problem, m, (0, 5), 0.02) for m in (METHOD, "GAUSS8"))
    assert solution.error("energy") < 1e-12
    assert np.abs(solution.y[-1] - other.y[-1]).max() < 1e-8


def test_on_commutative_groups_it_is_gauss8():
    problem = SYSTEMS["kepler"].problem()
    a, b = (integrate(problem, m, (0, 10), math.pi / 32).y for m in (METHOD, "GAUSS8[energy_tolerance=inf]"))
    assert (a == b).all()


def test_fields_that_follow_the_time_are_evaluated_at_the_times_of_the_stages():
    def shaken(t, y):
        w = y[4:] / np.array([1.0, 1.4, 0.6])
        return np.concatenate([w, np.cross(y[4:], w) + np.array([0.0, np.cos(3 * t), 0.2 * np.sin(t)])])

    table = SYSTEMS["lagrange-top"].problem().table
    problem = Problem(table, [1.0, 0.0, 0.0, 0.0, 0.5, -0.8, 2.0], shaken, canonical=True)
    assert not problem.is_autonomous
    exact = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-12, atol=1e-13).y[-1]
    assert np.abs(integrate(problem, METHOD, (0, 1), 0.1).y[-1] - exact).max() < 1e-11


def test_what_is_not_canonical_is_refused():
    with pytest.raises(ValueError, match=r"VARIATIONAL_GAUSS8.*canonical"):
        integrate(Problem(so3, [1.0, 0.0, 0.0, 0.0], lambda t, y: np.ones(3)), METHOD, (0, 1), 0.1)
