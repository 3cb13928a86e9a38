"""Quasi-velocities where their frame could end: they go on as the form with multipliers does, or the run says so."""

import numpy as np
import pytest

from integrators import integrate
from liegroup import rn
from mechanics.nonholonomic import nonholonomic_system
from mechanics.systems import SYSTEMS
from mechanics.systems.rolling.car import car
from mechanics.systems.rolling.roller_racer import roller_racer
from mechanics.systems.rolling.snakeboard import snakeboard


def truth(system, horizon):
    """The configuration at the end, by the form with multipliers."""
    run = integrate(system.constrained_problem(), "RKMK_DOP853", (0, horizon), rtol=1e-13, atol=1e-14)
    return run.y[:, : system.n_q]


@pytest.mark.parametrize(
    ("system", "angle", "horizon"),
    [
        (SYSTEMS["snakeboard-driven"].make(), 4, 2.0),
        (car(steering_angle=1.2, steering_rate=2.0, steering_spring=0.0), 3, 1.0),
    ],
    ids=["snakeboard", "car"],
)
def test_wheels_may_be_steered_through_90_degrees(system, angle, horizon):
    right = truth(system, horizon)
    assert np.cos(right[:, angle]).min() < -0.5
    errors = []
    for n in (100, 200, 400):
        run = integrate(system.problem(), "RKMK4", (0, horizon), horizon / n)
        assert run.success
        errors.append(np.abs(run.y[-1, : system.n_q] - right[-1]).max())
    assert errors[2] < 1e-8
    assert min(errors[0] / errors[1], errors[1] / errors[2]) > 10.0  # order 4


def test_where_the_axles_of_a_roller_racer_meet_a_run_is_doubtful():
    system = roller_racer(angle=2.0, angle_rate=3.2, v=1.2, spring=0.0)
    right = truth(system, 0.2)
    run = integrate(system.problem(), "RKMK4", (0, 0.2), 1.25e-4)
    assert np.abs(run.y[-1, :4] - right[-1]).max() > 1e-4
    assert not run.success
    doubt = next(found for found in run.doubts if found.name == "arm")
    arm = 0.5 * np.cos(run.y[:, 3]) + 0.3
    assert doubt.time == run.t[np.argmax(arm < 1e-3 * arm[0])]
    assert doubt.value == pytest.approx(arm.min())
    assert "constrained_problem" in doubt.remedy


def test_a_roller_racer_whose_axles_do_not_meet_is_trusted():
    run = integrate(roller_racer(angle=1.5, angle_rate=3.0).problem(), "RKMK4", (0, 2), 0.005)
    assert run.success
    assert run["arm"].min() > 0.1


CRAB = (("RKMK_DOP853", {"rtol": 1e-8}), ("GAUSS8", {"step": 0.02}), ("ENERGY_EXACT", {"step": 0.003}))


@pytest.mark.parametrize(("method", "options"), CRAB)
def test_a_snakeboard_both_of_whose_trucks_come_to_stand_across(method, options):
    """Both at the angle 0.3 + t: the centre moves along it, at constant speed s, without a turn, in closed form."""
    board = snakeboard(truck_spring=0.0, angles=(0.0, 0.3, 0.3), rates=(0.5, 1.0, 1.0))
    s, end = 0.5 / np.cos(0.3), 0.5 * np.pi - 0.3

    def true(t):
        return s * (np.sin(0.3 + t) - np.sin(0.3)), s * (np.cos(0.3) - np.cos(0.3 + t)), 0.0

    run = integrate(board.problem(), method, (0, 1.2), **options)
    assert run.success
    np.testing.assert_allclose(run.y[-1, :3], true(1.2), atol=1e-5)
    run = integrate(board.problem(), method, (0, 3), **options)
    assert np.abs(run.y[-1, :3] - true(3.0)).max() > 1.0  # it turned round where both stood across
    (doubt,) = (doubt for doubt in run.doubts if doubt.name == "apart")
    assert doubt.time == pytest.approx(end, abs=0.15)
    assert "constrained_problem" in doubt.remedy
    on = integrate(board.constrained_problem(), "RKMK_DOP853", (0, 3), rtol=1e-8)
    assert on.success
    np.testing.assert_allclose(on.y[-1, :3], true(3.0), atol=1e-6)


def test_a_snakeboard_whose_trucks_pass_90_degrees_one_after_the_other_is_trusted():
    board = snakeboard(truck_spring=0.0, angles=(0.0, 0.3, 0.0), rates=(0.5, 1.0, 1.0))
    run = integrate(board.problem(), "RKMK_DOP853", (0, 3), rtol=1e-9)
    assert run.success
    assert (run["angles"][0, 1:] < 0.5 * np.pi).all()
    assert (run["angles"][-1, 1:] > 0.5 * np.pi).all()
    other = integrate(board.constrained_problem(), "RKMK_DOP853", (0, 3), rtol=1e-9)
    np.testing.assert_allclose(run.y[-1, :6], other.y[-1, :6], atol=1e-6)


def test_edges_of_a_frame_of_your_own_are_watched():
    skate = {
        "mass": lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2),
        "rows": lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
        "q0": [0.0, 0.0, 0.0],
        "v0": [0.3, 0.0, 1.0],
    }
    upright = {"edges": {"ahead": lambda q: np.cos(q[2])}}
    frame = {"frame": lambda q: [[1.0, 0.0], [np.sin(q[2]) / np.cos(q[2]), 0.0], [0.0, 1.0]]}
    system = nonholonomic_system(rn(3), **skate, **frame, **upright)
    assert integrate(system.problem(), "RKMK4", (0, 1.5), 0.01).success
    run = integrate(system.problem(), "RKMK4", (0, 2), 0.01)
    assert next(doubt for doubt in run.doubts if doubt.name == "ahead").time == pytest.approx(1.57)
    with pytest.raises(ValueError, match="edges: given without a frame"):
        nonholonomic_system(rn(3), **skate, **upright)
