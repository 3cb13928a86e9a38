"""The Gauss method in lanes where H = ½ pᵀK p + V(t, q): momenta first, half the sweeps, the same motion."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis.canonical import canonical_defect
from integrators.analysis.reversibility import symmetry_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.signatures import FIELD_SIGNATURES
from integrators.steppers.gauss_in_lanes import GAUSS_IN_LANES, gauss_in_lanes_method, prepare
from integrators.steppers.gauss_stages import FLAT, SEPARABLE
from integrators.steppers.kinetic import constant_inverse_inertia
from liegroup import rn
from liegroup.compile import entry, helper, ld, st
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import subtract
from liegroup.table import load_components
from mechanics.joints import Revolute
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

GRAVITATION = 2.95912208286e-4
MASSES = (1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1 / 1.3e8)
PLACES = (
    (0, 0, 0), (-3.5023653, -3.8169847, -1.5507963), (9.0755314, -3.0458353, -1.6483708),
    (8.3101420, -16.2901086, -7.2521278), (11.4707666, -25.7294829, -10.8169456),
    (-15.5387357, -25.2225594, -3.1902382),
)  # fmt: skip
VELOCITIES = (
    (0, 0, 0), (0.00565429, -0.00412490, -0.00190589), (0.00168318, 0.00483525, 0.00192462),
    (0.00354178, 0.00137102, 0.00055029), (0.00288930, 0.00114527, 0.00039677),
    (0.00276725, -0.00170702, -0.00136504),
)  # fmt: skip
"""Hairer, Lubich and Wanner 2006, table I.2.2: the outer solar system, astronomical units and days."""


three = load_components(3)


@helper
def apart(y: Any, i: Any, j: Any) -> Any:
    """qᵢ − qⱼ."""
    return subtract(three(y, 3 * i), three(y, 3 * j))


@entry(*FIELD_SIGNATURES)
def planets_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(pᵢ/mᵢ, −G Σ mᵢmⱼ (qᵢ − qⱼ)/|qᵢ − qⱼ|³); parameters G, m."""
    n = structure[0]
    for i in range(3 * n):
        st(out, i, ld(y, 3 * n + i) / parameters[1 + i // 3])
        st(out, 3 * n + i, ld(y, 0) * 0.0)
    for i in range(n):
        for j in range(i):
            x, y_, z = apart(y, i, j)
            square = x * x + (y_ * y_ + z * z)
            k = parameters[0] * parameters[1 + i] * parameters[1 + j] / (square * sqrt(square))
            a, b = 3 * (n + i), 3 * (n + j)
            st(out, a, ld(out, a) - k * x)
            st(out, a + 1, ld(out, a + 1) - k * y_)
            st(out, a + 2, ld(out, a + 2) - k * z)
            st(out, b, ld(out, b) + k * x)
            st(out, b + 1, ld(out, b + 1) + k * y_)
            st(out, b + 2, ld(out, b + 2) + k * z)


@entry(*FIELD_SIGNATURES)
def planets_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """½ Σ |pᵢ|²/mᵢ − G Σ mᵢmⱼ/|qᵢ − qⱼ|."""
    n = structure[0]
    energy = ld(y, 0) * 0.0
    for i in range(3 * n):
        energy = energy + 0.5 * ld(y, 3 * n + i) * ld(y, 3 * n + i) / parameters[1 + i // 3]
    for i in range(n):
        for j in range(i):
            x, y_, z = apart(y, i, j)
            energy = energy - parameters[0] * parameters[1 + i] * parameters[1 + j] / sqrt(x * x + (y_ * y_ + z * z))
    st(out, 0, energy)


def planets() -> Problem:
    """The outer solar system about its mass centre."""
    m, v = np.array(MASSES), np.array(VELOCITIES)
    v = v - m @ v / m.sum()
    start = np.concatenate([np.ravel(PLACES).astype(float), (m[:, None] * v).ravel()])
    return Problem(
        rn(36), start, planets_field, parameters=[GRAVITATION, *m], structure=[len(m)], invariants=planets_energy,
        invariant_names=("energy",), canonical=True, model="outer solar system",
    )  # fmt: skip


def _all_at_once(problem):
    numbers, options = prepare(problem)
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
    assert (np.abs(in_turn.y - both.y) / size).max() < 3e-13


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
    def heavier(problem):
        numbers, options = prepare(problem)
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
