"""Backward differentiation formulas with variable steps and orders: effort beside SciPy's BDF, and on groups."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Problem, Status, integrate, resume
from integrators.adapters.scipy import lie_solver
from integrators.controllers import OrderedSteps
from integrators.steppers.bdf_variable import HIGHEST, constants
from integrators.testing import group_distance, wavy
from liegroup import product, rn, se2, so2
from liegroup.table import SE3, SO3, table_of
from mechanics.nonholonomic import nonholonomic_system

BDF = tuple(f"BDF{k}" for k in range(2, HIGHEST + 1))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7])
def test_van_der_pol_takes_the_steps_of_scipy_to_the_same_error(stiff: Any, tolerance: float) -> None:
    span = (0.0, 2000.0)
    truth = stiff.relaxed()
    peer = solve_ivp(
        stiff.relaxing, span, [2.0, 0.0], "BDF", rtol=tolerance, atol=tolerance, jac=stiff.relaxing_jacobian
    )
    ours = integrate(stiff.van_der_pol(), "BDF5", span, rtol=tolerance, atol=tolerance)
    assert ours.success
    assert ours.steps <= 1.2 * (len(peer.t) - 1)
    assert ours.evaluations <= 1.2 * peer.nfev
    assert abs(ours.y[-1, 0] - truth) < 3.0 * abs(peer.y[0, -1] - truth)


def test_robertson_takes_the_steps_of_scipy(stiff: Any) -> None:
    span, start, options = (0.0, 1e6), [1.0, 0.0, 0.0], {"rtol": 1e-6, "atol": 1e-11}
    peer = solve_ivp(stiff.robertson, span, start, "BDF", **options)
    ours = integrate(Problem(rn(3), start, stiff.robertson), "BDF5", span, **options)
    assert ours.success
    assert ours.steps <= 1.2 * (len(peer.t) - 1)
    truth = solve_ivp(stiff.robertson, span, start, "Radau", rtol=1e-10, atol=1e-15).y[:, -1]
    assert np.abs(ours.y[-1] / truth - 1.0).max() < 1e-4


@pytest.mark.parametrize("group", ["SO3", "SE3"])
@pytest.mark.parametrize("name", ["BDF2", "BDF5"])
def test_the_error_of_a_stiff_body_follows_the_tolerance(stiff: Any, name: str, group: str) -> None:
    problem, errors, tolerances = stiff.body(group), [], (1e-4, 1e-6, 1e-8)
    truth = integrate(problem, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]
    for tolerance in tolerances:
        run = integrate(problem, name, (0, 1), rtol=tolerance, atol=tolerance)
        assert run.success
        errors.append(group_distance(problem.table, truth, run.y[-1]))
    allowed = 1e3 if name == "BDF2" else 1e2
    assert all(error < allowed * tolerance for error, tolerance in zip(errors, tolerances, strict=True))
    order = int(name[-1])
    fall = 2.0 * 100.0 ** (-order / (order + 1.0))  # errors of steps that follow the estimate, of power k + 1
    assert errors[2] < fall * errors[1] < fall**2 * errors[0]


@pytest.mark.parametrize("kind", [SO3, SE3])
def test_high_orders_pay_on_groups_too(kind: int) -> None:
    """Were the past not seen from the newest chart, its differences would be wrong by brackets, of order two, and no
    order beyond that would pay.
    """
    start = [1.0, 0.0, 0.0, 0.0] if kind == SO3 else [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    problem = Problem(table_of([(kind, 1)]), start, wavy, parameters=[1.0])
    steps = [integrate(problem, name, (0, 2), rtol=1e-8, atol=1e-8).steps for name in BDF]
    assert steps[1] < 0.5 * steps[0]
    assert steps[2] < 0.8 * steps[1]
    assert steps[3] <= steps[2]


def test_a_constant_velocity_is_exact_at_every_order() -> None:
    twist = np.array([0.3, -1.0, 0.5, 0.7, 0.2, -0.4])
    problem = Problem(table_of([(SE3, 1)]), [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0], lambda t, y: twist)
    run = integrate(problem, "BDF5", (0, 10), rtol=1e-3, max_step=0.2)
    exact = integrate(problem, "RKMK4", (0, 10), step=0.1)
    assert group_distance(problem.table, exact.y[-1], run.y[-1]) < 1e-12


def test_a_past_that_turns_too_far_for_a_chart_lowers_the_order() -> None:
    """Steps of 1.2 rad: six of them are more than a chart holds."""
    problem = Problem(table_of([(SO3, 1)]), [1.0, 0.0, 0.0, 0.0], lambda t, y: np.array([0.3 * np.sin(t), 0.1, 12.0]))
    run = integrate(problem, "BDF5", (0, 10), rtol=5e-3, atol=5e-3, max_step=0.1)
    truth = integrate(problem, "RKMK_DOP853", (0, 10), rtol=1e-12, atol=1e-12)
    assert run.success
    assert group_distance(problem.table, truth.y[-1], run.y[-1]) < 0.1


def test_states_within_steps_are_as_good_as_at_their_ends(stiff: Any) -> None:
    problem, times = stiff.body("SE3", 100.0), np.linspace(0.013, 1.0, 101)
    options = {"rtol": 1e-7, "atol": 1e-7}
    exact = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-12, atol=1e-13, t_eval=times).y
    run = integrate(problem, "BDF5", (0, 1), t_eval=times, **options)
    assert np.abs(run.y - exact).max() < 1e2 * 1e-7
    assert np.array_equal(run.y[-1], integrate(problem, "BDF5", (0, 1), **options).y[-1])


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(stiff: Any, tmp_path: Any) -> None:
    problem, path, options = stiff.body("SO3"), tmp_path / "run.checkpoint", {"rtol": 1e-6, "atol": 1e-6}
    whole = integrate(problem, "BDF5", (0, 1), **options)
    for chunk in (2, 3):
        times: list[float] = []
        part = integrate(
            problem, "BDF5", (0, 1), checkpoint=path, **options,
            callback=lambda t, y, times=times, chunk=chunk: times.append(t) or len(times) == chunk,
        )  # fmt: skip
        assert not part.finished
        again = resume(path, problem)
        assert np.array_equal(again.t, whole.t)
        assert np.array_equal(again.y, whole.y)
        path.unlink()


def test_events_backward_runs_and_solve_ivp(stiff: Any) -> None:
    problem, options = stiff.body("SE3", 10.0), {"rtol": 1e-8, "atol": 1e-8}
    ends = integrate(problem, "BDF5", (0, 1), events={"x": lambda t, y: y[4] - 0.3}, **options)
    exact = integrate(problem, "RKMK_DOP853", (0, 1), events={"x": lambda t, y: y[4] - 0.3}, rtol=1e-12, atol=1e-12)
    assert ends.events["x"][0][0] == pytest.approx(exact.events["x"][0][0], abs=1e-5)
    calm = stiff.body("SE3", 1.0)
    there = integrate(calm, "BDF5", (0, 1), **options)
    back = integrate(calm.with_start(there.y[-1]), "BDF5", (1, 0), **options)
    assert group_distance(calm.table, calm.y0, back.y[-1]) < 1e-5
    run = solve_ivp(stiff.relaxing, (0.0, 2000.0), [2.0, 0.0], lie_solver("BDF5", rn(2)), rtol=1e-5, atol=1e-5)
    peer = solve_ivp(stiff.relaxing, (0.0, 2000.0), [2.0, 0.0], "BDF", rtol=1e-5, atol=1e-5)
    assert run.success
    assert len(run.t) <= 1.3 * len(peer.t)


def test_the_numbers_of_the_formulas() -> None:
    """Without Klopfenstein's numbers Σ γⱼ ∇ʲ is the formula; its error constant is 1/(k + 1)."""
    alpha, gamma, error = constants().reshape(3, -1)
    assert alpha[5] == gamma[5] == pytest.approx(137.0 / 60.0)
    assert error[5] == pytest.approx(1.0 / 6.0)
    assert alpha[1] == pytest.approx(1.185)
    assert error[1] == pytest.approx(0.5 - 0.185)


def test_steps_are_chosen_with_the_order(stiff: Any) -> None:
    with pytest.raises(ValueError, match="chooses its steps with its order"):
        integrate(stiff.van_der_pol(), "BDF5", (0, 1), rtol=1e-4, controller="PI42")
    with pytest.raises(ValueError, match="methods that choose their order"):
        integrate(stiff.van_der_pol(), "RKMK4", (0, 1), rtol=1e-4, controller="ORDERED")
    runs = [integrate(stiff.van_der_pol(), "BDF5", (0, 9), rtol=1e-4, controller=c) for c in (None, OrderedSteps())]
    assert np.array_equal(runs[0].y, runs[1].y)


def test_order_one_alone_is_for_fixed_steps(stiff: Any) -> None:
    with pytest.raises(ValueError, match="does not estimate its error"):
        integrate(stiff.van_der_pol(), "BDF1", (0, 1), rtol=1e-4)


def test_what_fails_has_a_name(stiff: Any) -> None:
    def lost(t: float, y: Any) -> Any:
        return stiff.relaxing_jacobian(t, y) if t < 100.0 else [[np.nan, 1.0], [0.0, 0.0]]

    run = integrate(Problem(rn(2), [2.0, 0.0], stiff.relaxing, jacobian=lost), "BDF5", (0, 2000), rtol=1e-6)
    assert run.status in (Status.NOT_CONVERGED, Status.STEP_UNDERFLOW)
    assert "the derivative is not finite" in run.message
    run = integrate(Problem(rn(1), [1.0], lambda t, y: [y[0] ** 2]), "BDF5", (0, 2), rtol=1e-6)
    assert run.status in (Status.STEP_UNDERFLOW, Status.NOT_CONVERGED, Status.NON_FINITE)
    assert run.t[-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("way", [{"step": 0.11}, {"rtol": 1e-5, "atol": 1e-6}, {"rtol": 1e-9, "atol": 1e-10}])
@pytest.mark.parametrize("name", ["BDF2", "BDF5"])
def test_angles_that_go_more_than_half_a_turn_in_a_step_keep_their_past(name: str, way: dict[str, float]) -> None:
    """A rotor of 40 rad/s beside a slow body: past angles are told from each other with their turns."""

    @numba.njit
    def field(t: float, y: Any) -> Any:
        return np.array([0.5, 0.2 * np.cos(t), 0.3, y[4], 0.5 * np.sin(t)])

    problem, times = Problem(product(se2, so2, rn(1)), [0.0, 0.0, 0.0, 0.3, 40.0], field), np.linspace(0.0, 4.0, 57)
    run = integrate(problem, name, (0.0, 4.0), t_eval=times, **way)
    assert np.abs(run.y[:, 3] - (0.3 + 40.5 * times - 0.5 * np.sin(times))).max() < 0.02


def test_a_projection_that_moves_every_state_by_more_than_errors_ends_the_run() -> None:
    """A skate whose three velocities are kept: thousands of steps, all of order 1, missed the tolerance."""
    skate = nonholonomic_system(
        rn(3), lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.15 * v[2] ** 2,
        lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], q0=[0.0, 0.0, 0.3],
        v0=[0.7 * np.cos(0.3), 0.7 * np.sin(0.3), 1.1], potential=lambda q: -0.5 * q[0],
    ).problem()  # fmt: skip
    for method in ("BDF2", "BDF5"):
        run = integrate(skate, method, (0.0, 5.0), rtol=1e-8, atol=1e-11)
        assert run.status.is_failure
        assert "the projection after a step moves states by more than errors may be" in run.message
        assert run.steps < 1000
    fixed = integrate(skate, "BDF5", (0.0, 5.0), 0.01)
    true = integrate(skate, "RKMK_DOP853", (0.0, 5.0), rtol=1e-12, atol=1e-13)
    assert fixed.success
    assert fixed.y[-1] == pytest.approx(true.y[-1], abs=1e-7)
