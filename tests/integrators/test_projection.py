"""A problem's projection brings the state back after every step, in every engine, and nothing else changes."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from integrators import integrate, resume
from integrators.events import Event
from integrators.methods import find
from integrators.problem import Problem
from liegroup import rn


def turn(t, y):
    return np.array([-y[1], y[0]])


def to_circle(t, y):
    return y / np.sqrt(y[0] * y[0] + y[1] * y[1])


def problem(jitted, projection, y0=(1.0, 0.0)):
    compile_ = numba.njit if jitted else (lambda f: f)
    return Problem(
        np.array([[0, 0, 0, 2, 2]]),
        y0,
        compile_(turn),
        invariants={"radius": compile_(lambda t, y: np.array([np.sqrt(y[0] ** 2 + y[1] ** 2)]))},
        projection=compile_(projection) if projection else None,
    )


@pytest.mark.parametrize("jitted", [True, False])
def test_the_state_is_on_the_manifold_after_every_step(jitted):
    free = integrate(problem(jitted, None), "RKMK4", (0.0, 20.0), step=0.1)
    kept = integrate(problem(jitted, to_circle), "RKMK4", (0.0, 20.0), step=0.1)
    assert free.error("radius") > 1e-6
    assert kept.error("radius") < 4e-16
    assert np.abs(kept.y[-1] - [np.cos(20.0), np.sin(20.0)]).max() < 2e-5


def test_an_ensemble_is_projected_like_its_members():
    starts = np.random.default_rng(0).normal(size=(3, 2))
    pack = integrate(problem(True, to_circle, starts), "RKMK4", (0.0, 3.0), step=0.1)
    for k, start in enumerate(starts):
        one = integrate(problem(True, to_circle, start), "RKMK4", (0.0, 3.0), step=0.1)
        assert np.array_equal(pack.y[k], one.y)


COARSE, H, END = find("GAUSS8").tuned(np.inf), 0.4, 24.0
"""Whole steps that leave the curve x⁴ + y² = 1 by something that can be seen."""


@numba.njit
def along(t, y):
    return np.array([2.0 * y[1], -4.0 * y[0] ** 3])


@numba.njit
def level(t, y):
    return np.array([y[0] ** 4 + y[1] ** 2])


@numba.njit
def to_level(t, y):
    s = y[0] ** 4 + y[1] ** 2
    return np.array([y[0] / s**0.25, y[1] / np.sqrt(s)])


def curve(projection=to_level):
    return Problem(rn(2), [1.0, 0.0], along, invariants={"level": level}, projection=projection)


def off_the_curve(states):
    return max(abs(level(0.0, y)[0] - 1.0) for y in states)


def test_gauss8_projects_after_every_tenth_step_and_what_it_saves():
    assert find("GAUSS8").projection_every == 10
    assert find("RKMK4").projection_every == 1
    free = integrate(curve(None), COARSE, (0.0, END), H)
    tenth, each = (integrate(curve(), replace(COARSE, projection_every=k), (0.0, END), H) for k in (10, 1))
    assert off_the_curve(free.y) > 1e-11
    assert off_the_curve(tenth.y) < 1e-15  # what is saved
    assert tenth.error("level") > 1e-13  # the run itself, between projections
    assert each.error("level") < 1e-15
    assert not np.array_equal(tenth.y, each.y)
    assert np.array_equal(integrate(curve(), COARSE, (0.0, END), H, save_every=60).y[-1], tenth.y[-1])


def test_a_run_that_projects_now_and_then_goes_on_bit_for_bit(tmp_path):
    path, seen = tmp_path / "run.h5", []
    whole = integrate(curve(), COARSE, (0.0, END), H)

    def stop(t, y):
        seen.append(y)
        return True

    part = integrate(curve(), COARSE, (0.0, END), H, callback=stop, checkpoint=path)
    assert not part.finished
    assert off_the_curve([*seen, *part.y]) < 1e-15
    assert np.array_equal(resume(path, curve()).y, whole.y)


def test_events_between_projections_are_on_the_manifold():
    event = {"through": Event(numba.njit(lambda t, y: y[1]), terminal=3)}
    found = integrate(problem(True, to_circle), COARSE, (0.0, 120.0), step=2.0, events=event)
    times, states = found.events["through"]
    assert np.abs(np.hypot(*states.T) - 1.0).max() < 4e-16
    assert np.abs(times - np.pi * np.arange(1, 4)).max() < 1e-6
    assert np.array_equal(found.y[-1], states[-1])


def test_a_plain_projection_beside_a_jitted_field_is_refused():
    with pytest.raises(TypeError, match="projection"):
        Problem(np.array([[0, 0, 0, 2, 2]]), (1.0, 0.0), numba.njit(turn), projection=to_circle)
