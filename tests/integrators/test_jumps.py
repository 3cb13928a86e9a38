"""A field that jumps inside fixed steps is a doubt; one that jumps at their ends, or is smooth, is none."""

from types import SimpleNamespace

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.engine import jumps
from integrators.engine.jumps import jump_within, steepest
from integrators.engine.run import Plan
from liegroup import rn
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import Sphere, contact, hunt_crossley_factor
from mechanics.joints import Free

QUARTER = np.sqrt(2.0)
"""From the height 1 down to the edge of the valley."""


@numba.njit
def valley(t, y):
    """ÿ = −sign y."""
    return np.array([y[1], -1.0 if y[0] > 0.0 else 1.0])


@numba.njit
def switched(t, y):
    """A control that changes its sign every second."""
    return np.array([y[1], 1.0 if int(np.floor(t)) % 2 == 0 else -1.0])


@numba.njit
def pendulum(t, y):
    return np.array([y[1], -np.sin(y[0])])


def made(field, start=(1.0, 0.0)):
    return Problem(rn(2), list(start), field)


def height(t):
    """The exact motion in the valley."""
    phase = t % (4 * QUARTER)
    if phase < QUARTER or phase > 3 * QUARTER:
        return 1.0 - 0.5 * min(phase, 4 * QUARTER - phase) ** 2
    return -1.0 + 0.5 * (phase - 2 * QUARTER) ** 2


@pytest.mark.parametrize("method", ["RKMK4", "RKMK_GAUSS3"])
@pytest.mark.parametrize("steps", [25, 100, 1000, 16_000])
def test_a_field_that_jumps_within_a_step_is_doubtful(method, steps):
    run = integrate(made(valley), method, (0, 10), 10 / steps)
    assert abs(run.y[-1, 0] - height(10.0)) > 3e-4
    (doubt,) = run.doubts
    assert doubt.name == "jump"
    off = (doubt.time - QUARTER) % (2 * QUARTER)
    assert min(off, 2 * QUARTER - off) < max(20 / steps, 0.2)  # at one of the crossings, which are not exact either
    assert doubt.value > doubt.limit
    assert doubt.value == pytest.approx(2 * run.step / np.ptp(run.y[:, 1]), rel=0.7)
    assert "not smooth" in run.message
    assert "by an event" in doubt.remedy
    given = integrate(made(valley), method, (0, 10), 10 / steps, t_eval=np.linspace(0, 10, 11))
    assert [doubt.name for doubt in given.doubts] == ["jump"]


def test_a_field_that_jumps_where_steps_end_is_none():
    run = integrate(made(switched, (0.0, 0.0)), "RKMK_GAUSS2", (0, 6), 0.125)
    assert run.y[-1, 0] == pytest.approx(3.0, abs=1e-12)
    assert run.success
    assert not integrate(made(switched, (0.0, 0.0)), "RKMK_GAUSS2", (0, 6), 6 / 47).success


def test_divided_steps_may_end_where_the_field_jumps_too():
    run = integrate(made(switched, (0.0, 0.0)), "GAUSS8", (0, 6), 0.125)
    assert run.y[-1, 0] == pytest.approx(3.0, abs=1e-12)
    assert run.success
    (doubt,) = integrate(made(switched, (0.0, 0.0)), "GAUSS8", (0, 6), 6 / 47).doubts
    assert doubt.name in ("jump", "estimate")


@pytest.mark.parametrize("steps", [6, 12, 25, 100, 1000])
@pytest.mark.parametrize("speed", [0.5, 2.1])
def test_a_smooth_field_does_not_jump(steps, speed):
    run = integrate(made(pendulum, (0.0, speed)), "RKMK4", (0, 10), 10 / steps)
    assert "jump" not in {doubt.name for doubt in run.doubts}


def test_a_kink_shows_in_the_second_differences_at_both_ends_of_its_step():
    t = np.linspace(0, 1, 41)
    y = np.stack([np.sin(t) + 2.0 * np.maximum(0.0, t - 0.51), np.cos(t)], axis=1)
    rows, sizes = steepest(y, np.ones(2))
    assert rows.tolist() == [20]
    assert sizes[0] == pytest.approx(2.0 * 0.025, rel=0.02)
    assert steepest(y[:, 1:], np.ones(1))[0].tolist() == []


def test_where_the_look_from_the_state_before_fails_nothing_is_said(monkeypatch):
    """The first smaller step is alone in being wrong, and those that would say why lead to no numbers."""
    run, one = SimpleNamespace(plan=Plan(0.0, 0.1, 10)), np.ones(1)

    def after(run, t, h, y):
        return y * np.nan if before_fails and t < 0.45 else y + h * (t < 0.505)

    monkeypatch.setattr(jumps, "stepped", after)
    before_fails = False
    assert jump_within(run, 1, 0.5, one, one, one, 1e-6) == pytest.approx(0.5, abs=0.02)
    before_fails = True
    assert jump_within(run, 1, 0.5, one, one, one, 1e-6) is None


def test_every_long_trajectory_of_an_ensemble_is_looked_at():
    """Also those far behind the first ones, with few saved states."""
    starts = np.stack([np.linspace(0.9, 1.1, 16), np.zeros(16)], axis=1)
    run = integrate(made(valley), "RKMK4", (0, 10), 10 / 16_000, save_every=100, y0=starts)
    assert {doubt.trajectory for doubt in run.doubts if doubt.name == "jump"} == set(range(16))


@pytest.mark.parametrize("every", [1, 2, 3])
def test_friction_that_turns_within_an_impact_is_no_jump(every):
    """tanh(u/v_s) of a ball that bounces and begins to roll: it is smooth, over a time of about a step."""
    ball = Body("ball", Free(), inertia=Inertia.about_com(0.5, (0, 0, 0), 0.002 * np.eye(3)))
    damping = hunt_crossley_factor(0.8, speed=2.0)
    law = {"stiffness": 2e4, "damping": damping, "friction": 0.3, "slip_speed": 0.01}
    ground = contact(Sphere(Frame("ball"), 0.1), Frame(None), **law)
    problem = Mechanism(Tree([ball]), elements=[ground]).problem([0, 0, 0.3, 1, 0, 0, 0], [1.0, 0, 0, 0, 0, 0])
    run = integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 2.5e-4, save_every=every)
    assert run.success, run.message
