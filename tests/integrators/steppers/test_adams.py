"""Adams and Bashforth's method: one evaluation per step, what it remembers, what it does not hold."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from integrators import integrate, resume
from integrators.events import Event
from integrators.methods import find
from integrators.problem import Problem
from integrators.steppers import adams
from liegroup import rn
from mechanics.systems import heavy_top
from mechanics.systems.loops import bricard, four_bar, slider_crank

METHOD = find("ADAMS_BASHFORTH2")
BLIND = replace(
    METHOD, name="blind", stepper=replace(METHOD.stepper, prepare=lambda problem: (np.zeros(0), np.zeros(1, np.int64)))
)
"""To what a projection has done."""


def order(problem, method, horizon, counts=(40, 80, 160)):
    end = integrate(problem, "RKMK_DOP853", (0.0, horizon), horizon / 1000).y[-1]
    errors = [np.abs(integrate(problem, method, (0.0, horizon), horizon / n).y[-1] - end).max() for n in counts]
    return np.log2(errors[-2] / errors[-1])


def test_a_step_evaluates_once_and_the_first_two_twice():
    assert integrate(heavy_top(), METHOD, (0.0, 0.1), 1e-3).evaluations == 102


LOOPS = {
    "four-bar": lambda **options: four_bar.mechanism().problem(rates={"crank_joint": 4.0}, **options),
    "slider-crank": lambda **options: slider_crank.mechanism().problem(
        v=slider_crank.mechanism().projected_velocity(slider_crank.mechanism().home, np.ones(3))[0], **options
    ),
    "bricard": lambda **options: bricard.mechanism().problem(**options),
}


@pytest.mark.parametrize("name", LOOPS)
def test_with_closed_loops_the_order_is_two_by_the_jumps_of_the_momenta(name):
    for projection in ("positions", "momenta", "none"):
        assert order(LOOPS[name](projection=projection), METHOD, 0.2) == pytest.approx(2.0, abs=0.15)
    assert order(LOOPS[name](), BLIND, 0.2) < 1.4


def test_loops_stay_closed_and_the_field_is_told():
    run = integrate(LOOPS["four-bar"](), METHOD, (0.0, 2.0), 2e-3)
    assert run.success
    assert run.maximum("gap") < 1e-13
    assert run.maximum("velocity_gap") < 1e-11
    assert run.evaluations <= run.steps + 4


def test_lanes_have_the_bits_of_single_runs():
    problem = LOOPS["four-bar"]()
    starts = np.tile(problem.y0, (3, 1))
    starts[:, 3:] *= [[1.0], [0.5], [0.25]]  # closed, whatever the speed
    pack = integrate(problem.with_start(starts), METHOD, (0.0, 0.2), 2e-3)
    for start, y in zip(starts, pack.y, strict=True):
        assert np.array_equal(integrate(problem.with_start(start), METHOD, (0.0, 0.2), 2e-3).y, y)


def test_what_is_stopped_goes_on_with_the_same_bits(tmp_path):
    problem, call, chunks = LOOPS["four-bar"](), {"method": METHOD, "step": 1e-4}, []
    whole = integrate(problem, t_span=(0.0, 4.0), **call)
    path = tmp_path / "run.check"

    def stops(t, y):
        chunks.append(t)
        return len(chunks) == 2

    part = integrate(problem, t_span=(0.0, 4.0), checkpoint=path, every=0.0, callback=stops, **call)
    assert len(part.t) < len(whole.t)
    assert np.array_equal(resume(path, problem).y, whole.y)


def test_an_event_does_not_end_what_is_remembered_of_a_smooth_motion():
    problem = LOOPS["four-bar"]()
    passes = Event(lambda t, y: np.sin(y[0] - 2.0), "pass")
    seen = integrate(problem, METHOD, (0.0, 2.0), 2e-3, events=[passes])
    assert len(seen.events["pass"][0]) > 1
    assert np.abs(seen.y[-1] - integrate(problem, METHOD, (0.0, 2.0), 2e-3).y[-1]).max() < 1e-12


@numba.njit
def swing(t, y):
    return np.array([y[1], 1.0 - np.sin(y[0])])


@numba.njit
def same(t, y):
    return np.array([y[0], y[1]])


def test_whole_turns_that_a_run_takes_off_are_no_jumps():
    plain = Problem(rn(2), [0.0, 3.0], swing)
    run = integrate(plain, METHOD, (0.0, 30.0), 1e-2)
    assert run.y[-1, 0] > 100.0
    for angles in ((), (0,)):
        projected = Problem(rn(2), [0.0, 3.0], swing, projection=same, angles=angles)
        assert np.abs(integrate(projected, METHOD, (0.0, 30.0), 1e-2).y[-1] - run.y[-1]).max() < 1e-9


def test_swings_that_grow_are_doubted_and_its_growth_is_that_of_its_steps():
    spring = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    assert integrate(spring, METHOD, (0.0, 5.0), 0.02).success
    run = integrate(spring, METHOD, (0.0, 100.0), 0.6)
    assert "stability" in [doubt.name for doubt in run.doubts]
    assert not run.success
    sizes = np.linalg.norm(run.y, axis=1)
    factor = (sizes[-1] / sizes[-41]) ** (1.0 / 40.0)
    assert adams.growth(METHOD.coefficients, 0.6j) == pytest.approx(factor, rel=2e-3)


def test_variable_steps_are_refused_by_name():
    with pytest.raises(ValueError, match="ADAMS_BASHFORTH2"):
        integrate(heavy_top(), METHOD, (0.0, 1.0), rtol=1e-6)


def test_formulas_that_do_not_know_of_jumps_lose_their_order_and_are_refused():
    """A known limit: the day BDF counts them, it need not be."""
    for name, claimed in (("BDF2", 2.0), ("BDF3", 3.0)):
        assert order(LOOPS["four-bar"](projection="none"), find(name), 0.2) == pytest.approx(claimed, abs=0.2)
        for projection in ("positions", "momenta"):
            problem = LOOPS["four-bar"](projection=projection)
            with pytest.raises(ValueError, match=rf"{name} remembers steps.*order 1.*RADAU.*projection=\"none\""):
                integrate(problem, name, (0.0, 0.2), 1e-3)
            assert order(replace(problem, re_bases=False), find(name), 0.2) < 1.4
