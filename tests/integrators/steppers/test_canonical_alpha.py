"""Generalised-α and Newmark's method on canonical problems: rods, networks, bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.methods import METHODS
from integrators.steppers.canonical_alpha import canonical_alpha, newmark
from liegroup import product, rn
from mechanics.elastic import Network, Springs
from mechanics.elastic.rods import Rod, Section
from mechanics.joints import Motion

RUBBER = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.06, 0.03, 0.03))


@pytest.fixture(scope="module")
def rod() -> Problem:
    """A free rod of five elements with velocities at random: its derivative is a band."""
    v = np.random.default_rng(1).normal(size=(6, 6)) * [0.1, 0.1, 0.1, 0.5, 0.5, 0.5]
    return Rod.arc(1.0, 1.0, 5, RUBBER).problem(velocities=v)


def end(problem: Problem, method: Any, time: float, steps: int) -> Any:
    run = integrate(problem, method, (0.0, time), time / steps, save_every=steps)
    assert not run.status.is_failure
    return run.y[-1]


@pytest.mark.parametrize("name", ["ALPHA", "ALPHA_0", "NEWMARK"])
def test_orders_on_a_rod(rod: Problem, name: str) -> None:
    exact = end(rod, "SPLIT_SRKN6_11B", 1.0, 200)
    errors = [np.abs(end(rod, name, 1.0, n) - exact).max() for n in (400, 800)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.2)


def oscillator(w: float) -> Problem:
    return Problem(product(rn(1), rn(1)), [1.0, 0.0], lambda t, y: [y[1], -w * w * y[0]], canonical=True)


@pytest.mark.parametrize("radius", [0.0, 0.3, 0.8, 1.0])
def test_what_a_step_does_not_follow_is_damped_by_the_radius(radius: float) -> None:
    """A stiff oscillator: energies fall by ρ² a step; Newmark's rule takes none."""
    run = integrate(oscillator(1e4), canonical_alpha(radius), (0.0, 40.0), 1.0)
    size = np.hypot(1e4 * run.y[:, 0], run.y[:, 1])
    assert run.finished
    assert [doubt.name for doubt in run.doubts] == ["resolution"]
    factor = (size[16] / size[10]) ** (1 / 6) if size[10] > 0.0 else 0.0
    assert factor == pytest.approx(radius, abs=0.07)  # a double root: k ρᵏ


def test_newmarks_rule_keeps_the_energy_of_an_oscillator() -> None:
    run = integrate(oscillator(3.0), "NEWMARK", (0.0, 100.0), 0.1)
    energy = 4.5 * run.y[:, 0] ** 2 + 0.5 * run.y[:, 1] ** 2
    assert np.ptp(energy) < 1e-11


def test_its_steps_are_those_of_the_recursion_by_hand() -> None:
    """A linear oscillator against the formulas written out, ρ = 0.5."""
    w, h, rho = 3.0, 0.1, 0.5
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    q, p, f = 1.0, 0.0, -w * w
    a = f + (am - af) * h * (-w * w * p)
    for _ in range(20):
        # ṗ₁ = −w² q₁, q₁ linear in ṗ₁
        known = (af * f - am * a) / (1 - am)
        fixed = q + h * p + h * h * ((0.5 - beta) * a + beta * known)
        new = -w * w * fixed / (1 + w * w * h * h * beta * (1 - af) / (1 - am))
        a1 = known + (1 - af) / (1 - am) * new
        q, p = q + h * (p + h * ((0.5 - beta) * a + beta * a1)), p + h * ((1 - gamma) * a + gamma * a1)
        a, f = a1, new
    run = integrate(oscillator(w), canonical_alpha(rho), (0.0, 2.0), h)
    assert np.abs(run.y[-1] - [q, p]).max() < 1e-13


def test_dampers_are_part_of_it() -> None:
    """ẍ = −9 x − 0.5 ẋ."""
    damped = Problem(product(rn(1), rn(1)), [1.0, 0.0], lambda t, y: [y[1], -9.0 * y[0] - 0.5 * y[1]], canonical=True)
    root = np.sqrt(9.0 - 0.0625)
    exact = np.exp(-0.25 * 4.0) * (np.cos(root * 4.0) + 0.25 / root * np.sin(root * 4.0))
    errors = [abs(end(damped, "ALPHA", 4.0, n)[0] - exact) for n in (100, 200)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


def test_a_dense_derivative_and_a_band_give_the_same(rod: Problem) -> None:
    from dataclasses import replace

    dense = replace(rod, jacobian_sparsity=None)
    assert np.abs(end(dense, "ALPHA", 0.2, 10) - end(rod, "ALPHA", 0.2, 10)).max() < 1e-11


def test_momenta_of_a_free_rod_fall_with_the_step(rod: Problem) -> None:
    """They are not exact, as those of variational methods: of order 2."""
    errors = [integrate(rod, "ALPHA", (0.0, 1.0), h).error("angular_momentum_z", relative=False) for h in (0.01, 0.005)]
    assert errors[0] / errors[1] > 3.0


@pytest.mark.slow
def test_thin_rods_take_long_steps() -> None:
    """A steel wire that swings far: steps of ten thousand explicit ones, near those of Radau IIA."""
    wire = Section.round(0.001, 2.1e11, density=7850.0)
    made = Rod.straight(1.0, 6, wire, supports={0: "pinned"}, gravity=(0.0, 0.0, -9.81))
    runs = [integrate(made.problem(), name, (0.0, 0.3), 2e-3) for name in ("ALPHA_0", "RKMK_RADAU_IIA3")]
    assert all(run.success and not run.doubts for run in runs)
    places = [made.node_poses(0.3, run.y[-1])[:, :3] for run in runs]
    assert np.abs(places[0] - places[1]).max() < 2e-3


def test_what_it_does_not_take_is_said() -> None:
    with pytest.raises(ValueError, match=r"radius: 1\.5, expected a spectral radius"):
        canonical_alpha(1.5)
    with pytest.raises(ValueError, match=r"gamma: 0\.6, expected 0\.5"):
        newmark(0.6)
    with pytest.raises(ValueError, match="canonical"):
        integrate(Problem(rn(1), [1.0], lambda t, y: [-y[0]]), "ALPHA", (0.0, 0.1), 0.01)
    uneven = Problem(
        product(rn(1), rn(1)), [1.0, 0.0], lambda t, y: [y[1] * (1.0 + y[0] ** 2), -y[0] * (1.0 + y[1] ** 2)],
        canonical=True,
    )  # fmt: skip
    with pytest.raises(ValueError, match="the inertia depends"):
        integrate(uneven, "ALPHA", (0.0, 0.1), 0.01)


@pytest.mark.parametrize("radius", ["a", None, 1 + 1j, [0.5]])
def test_a_radius_that_is_no_number_is_named(radius: Any) -> None:
    with pytest.raises(TypeError, match=r"radius: .*expected a spectral radius"):
        canonical_alpha(radius)


def test_a_support_whose_motion_is_known_from_the_start_on_only() -> None:
    """The start asks for no time before it."""
    pull = Motion.from_function(lambda t: 0.1 * np.sin(3.0 * t + 0.5), (0.0, 1.0))
    links = [Springs([[0, 1], [1, 2]], 100.0)]
    problem = Network([[0, 0, 0], [1, 0, 0], [2, 0, 0]], 1.0, links, motions={0: (pull, 0.0, 0.0)}).problem()
    exact = integrate(problem, "RKMK_DOP853", (0.0, 0.5), rtol=1e-11, atol=1e-12).y[-1]
    errors = [np.abs(end(problem, "ALPHA", 0.5, n) - exact).max() for n in (200, 400)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("phase", [-0.05, -1e-3, 0.0, 1e-3])
def test_a_first_step_at_whose_end_a_smooth_force_is_nothing_is_one_like_others(phase: float) -> None:
    """An oscillator that comes through zero: the trapezoidal rule is Cayley's map of its matrix.  Such a step was taken
    for one at whose start the motion is not smooth, and was of order 1.
    """
    w, h = 2.0, 0.05
    q, p = -np.sin(w * h + phase), w * np.cos(w * h + phase)
    problem = replace(oscillator(w), y0=[q, p])
    A = np.array([[0.0, 1.0], [-w * w, 0.0]])
    cayley = np.linalg.solve(np.eye(2) - 0.5 * h * A, (np.eye(2) + 0.5 * h * A) @ [q, p])
    np.testing.assert_allclose(end(problem, "NEWMARK", h, 1), cayley, rtol=0, atol=1e-14)
    exact = [-np.sin(phase), w * np.cos(phase)]
    assert np.abs(end(problem, "ALPHA", h, 1) - exact).max() < 0.5 * (w * h) ** 3


def test_a_smooth_field_whose_steps_are_too_long_is_not_said_to_jump() -> None:
    """A spring pendulum about its resonance."""

    @numba.njit
    def field(t: float, y: Any) -> Any:
        return np.array([y[2], y[3], -y[0] + y[0] * y[1], -4.0 * y[1] + 0.5 * y[0] * y[0]])

    problem = Problem(rn(4), [0.02, 0.3, 0.0, 0.0], field, canonical=True)
    for method in ("NEWMARK", "ALPHA"):
        assert [doubt.name for doubt in integrate(problem, method, (0.0, 200.0), 0.5).doubts] == ["accuracy"]
