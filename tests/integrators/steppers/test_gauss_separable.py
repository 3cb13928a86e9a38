"""The Gauss method in lanes where H = ½ pᵀK p + V(t, q): momenta first, half the sweeps, the same motion."""

from __future__ import annotations

import math
from dataclasses import replace

import numba
import numpy as np
import pytest

from benchmarks.planets import planets
from integrators import Problem, integrate
from integrators.analysis.canonical import canonical_defect
from integrators.analysis.reversibility import symmetry_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.gauss_in_lanes import GAUSS_IN_LANES, gauss_in_lanes_method, prepare
from integrators.steppers.gauss_workspace import FLAT, SEPARABLE
from integrators.steppers.kinetic import constant_inverse_inertia
from liegroup import rn
from liegroup.compile import ld, st
from mechanics.joints import Revolute
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree


def _all_at_once(problem, t):
    numbers, options = prepare(problem, t)
    options[SEPARABLE - FLAT] = 0
    return numbers, options


ALL_AT_ONCE = replace(find("GAUSS8"), stepper=replace(GAUSS_IN_LANES, prepare=_all_at_once))
"""The same method with positions and momenta from the same L."""


@pytest.mark.parametrize(("name", "h", "most"), [("kepler", 0.1, 0.72), ("planets", 200.0, 0.68)])
def test_the_same_motion_takes_fewer_sweeps(name, h, most):
    problem = planets() if name == "planets" else SYSTEMS[name].problem()
    both, in_turn = (integrate(problem, m, (0, 1000 * h), h) for m in (ALL_AT_ONCE, find("GAUSS8")))
    assert in_turn.sweeps < most * both.sweeps
    assert in_turn.levels == both.levels
    assert in_turn.error("energy") < 5e-15
    size = np.abs(both.y).max(axis=0)
    assert (np.abs(in_turn.y - both.y) / size).max() < 1e-12  # rounding of thousands of sweeps


def test_the_energy_of_the_planets_stays_at_rounding():
    solution = integrate(planets(), "GAUSS8", (0, 4e6), 400.0, save_every=10_000)
    assert solution.error("energy") < 2e-14


def test_one_step_preserves_the_canonical_two_form():
    problem = SYSTEMS["kepler"].problem()
    assert len(constant_inverse_inertia(problem)) == 2
    assert canonical_defect(problem, gauss_in_lanes_method(energy_tolerance=np.inf), "0.1", digits=45) < 2e-14


def test_a_step_forward_and_a_step_back_return():
    step = step_map(SYSTEMS["kepler"].problem(), gauss_in_lanes_method(energy_tolerance=np.inf))
    assert symmetry_defect(step, np.array(SYSTEMS["kepler"].problem().y0), 0.1) < 1e-14


def test_a_wrong_mass_slows_the_iteration_and_changes_nothing_else():
    def heavier(problem, t):
        numbers, options = prepare(problem, t)
        numbers[1:] *= 1.1
        return numbers, options

    spoiled = replace(find("GAUSS8"), stepper=replace(GAUSS_IN_LANES, prepare=heavier))
    right, wrong = (integrate(planets(), m, (0, 20_000), 200.0) for m in (find("GAUSS8"), spoiled))
    assert wrong.sweeps > 1.1 * right.sweeps
    assert (np.abs(right.y - wrong.y) / np.abs(right.y).max(axis=0)).max() < 3e-14


@numba.njit
def coupled(t, y, parameters, structure, work, out):
    """Three carts that carry one another: K is full, V = Σ qᵢ⁴/4 and a force that follows the time."""
    for i in range(3):
        v = ld(y, 3) * 0.0
        for j in range(3):
            v = v + parameters[3 * i + j] * ld(y, 3 + j)
        q = ld(y, i)
        st(out, i, v)
        st(out, 3 + i, 0.1 * math.sin(t) - q * q * q)


def test_coupled_masses_and_forces_that_follow_the_time():
    mass = np.array([[3.0, 2.0, 0.0], [2.0, 4.0, 1.0], [0.0, 1.0, 2.0]])
    problem = Problem(rn(6), [0.5, -0.3, 0.8, 0.1, 0.0, -0.4], coupled, parameters=np.linalg.inv(mass).ravel(),
                      canonical=True)  # fmt: skip
    assert np.abs(constant_inverse_inertia(problem) - np.linalg.inv(mass)).max() < 1e-15
    both, in_turn = (integrate(problem, m, (0, 20), 0.5) for m in (ALL_AT_ONCE, find("GAUSS8")))
    assert in_turn.sweeps < 0.8 * both.sweeps
    assert np.abs(in_turn.y - both.y).max() < 1e-13
    true = integrate(problem, "RKMK_DOP853", (0, 20), rtol=1e-13, atol=1e-14).y[-1]
    assert np.abs(in_turn.y[-1] - true).max() < 1e-10


def test_what_is_not_separable_is_not_taken_for_it():
    def raises(t, y):
        if y[0] > 1.0:
            raise ArithmeticError("outside")
        return np.array([y[1], -y[0]])

    def magnetic(t, y):
        return np.array([y[2] + y[1], y[3] - y[0], -(y[1] - y[3] - y[0]), y[0] + y[2] + y[1]])

    tree = random_tree("chain", 3, np.random.default_rng(5), (Revolute,))
    for problem in (
        Problem(rn(2), [1.0, 0.0], raises, canonical=True),
        Problem(rn(4), [1.0, 0.0, 0.0, 1.0], magnetic, canonical=True),
        tree.problem(tree.neutral(), np.zeros(3)),
    ):
        assert constant_inverse_inertia(problem).shape == (0, 0)
    bar = random_tree("chain", 1, np.random.default_rng(5), (Revolute,))
    assert constant_inverse_inertia(bar.problem(bar.neutral(), np.zeros(1))).shape == (1, 1)
