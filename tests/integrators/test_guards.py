"""Guards: a run that leaves what its result depends on says so, since when and what to do."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import integrators
from integrators import Doubt, Guard, Problem, Solution, Status, integrate, resume
from integrators.methods import METHODS
from integrators.problem import OwnStep
from liegroup import rn


@numba.njit
def oscillator(t, y):
    return np.array([y[1], -y[0]])


@numba.njit
def energy(t, y):
    return 0.5 * (y[0] ** 2 + y[1] ** 2)


@numba.njit
def left(t, y):
    return y[0]


def plain(t, y):
    return [y[1], -y[0]]


def problem(*guards, field=oscillator, watched=energy):
    return Problem(rn(2), [1.0, 0.0], field, invariants={"energy": watched}, guards=guards)


def test_a_limit_that_is_passed_is_a_doubt_with_time_value_and_remedy():
    guard = Guard("energy", "the energy is lost", "use a smaller step", change=0.01)
    run = integrate(problem(guard), "RKMK4", (0, 20), 1.0)
    assert run.status is Status.OK
    assert not run.success
    (doubt,) = run.doubts
    first = np.flatnonzero(np.abs(run["energy"] - 0.5) > 0.01)[0]
    assert doubt.time == run.t[first]
    assert doubt.value == run.minimum("energy")
    assert doubt.limit == 0.49
    assert doubt.says == "the energy is lost"
    assert "smaller step" in doubt.remedy
    assert "doubtful" in repr(run)
    assert "the energy is lost" in run.message


def test_nothing_is_doubtful_within_the_limits():
    run = integrate(problem(Guard("energy", change=0.01)), "RKMK4", (0, 20), 0.01)
    assert run.success
    assert run.doubts == ()
    assert "doubtful" not in repr(run)


@pytest.mark.parametrize(
    ("field", "function"), [(oscillator, left), (plain, lambda t, y: y[0])], ids=["jitted", "plain"]
)
def test_a_guard_with_a_function_of_its_own_is_watched_under_its_name(field, function):
    watched = energy if field is oscillator else lambda t, y: 0.5 * (y[0] ** 2 + y[1] ** 2)
    run = integrate(
        problem(Guard("left", least=-0.5, function=function), field=field, watched=watched), "RKMK4", (0, 4), 0.1
    )
    assert run["left"] == pytest.approx(run.y[:, 0], abs=0)
    assert run.doubts[0].name == "left"
    assert run.doubts[0].time == pytest.approx(2.1)


def test_a_guard_can_stop_the_run():
    run = integrate(problem(Guard("energy", "the energy is lost", change=0.01, stops=True)), "RKMK4", (0, 20), 1.0)
    assert run.status is Status.DOUBTFUL
    assert run.status.is_failure
    assert not run.success
    assert run.t[-1] == run.doubts[0].time < 20
    assert "the energy is lost" in run.message


def test_variable_steps_are_guarded():
    made = problem(Guard("left", least=-0.5, function=left, stops=True))
    run = integrate(made, "RKMK_DOP853", (0, 20), max_step=0.1)
    assert run.status is Status.DOUBTFUL
    assert run.t[-1] == pytest.approx(2.1, abs=0.1)


def test_a_number_that_is_none_is_beyond_every_limit():
    root = numba.njit(lambda t, y: np.sqrt(y[0] + 0.5))
    run = integrate(problem(Guard("root", greatest=10.0, function=root)), "RKMK4", (0, 4), 0.1)
    assert run.doubts
    assert np.isnan(run.doubts[0].value)
    assert run.doubts[0].time == pytest.approx(2.1)


def test_an_invariant_that_is_no_number_at_some_step_is_a_doubt():
    """Extremes pass over it, and the states that are saved need not show it."""
    root = numba.njit(lambda t, y: np.sqrt(y[0] + 0.5))
    made = Problem(rn(2), [1.0, 0.0], oscillator, invariants={"energy": energy, "root": root})
    run = integrate(made, "RKMK4", (0, 2 * np.pi), np.pi / 50, save_every=100)
    assert np.isfinite(run["root"]).all()
    (doubt,) = run.doubts
    assert doubt.name == "root"
    assert doubt.time == run.t[-1]
    assert not run.success
    assert "not a number" in run.message


def test_every_trajectory_of_an_ensemble_has_its_own_limits():
    guard = Guard("energy", change=0.01)
    made = problem(guard).with_start([[1.0, 0.0], [0.1, 0.0], [2.0, 0.0]])
    many = integrate(made, "RKMK4", (0, 20), 1.0)
    assert [doubt.trajectory for doubt in many.doubts] == [0, 2]
    for k in (0, 1, 2):
        alone = integrate(made.with_start(made.y0[k]), "RKMK4", (0, 20), 1.0)
        assert many.trajectory(k).doubts == alone.doubts
        assert many.trajectory(k).success == alone.success


def test_a_guard_that_stops_one_trajectory_leaves_the_others():
    made = problem(Guard("energy", greatest=1.0, stops=True)).with_start([[1.0, 0.0], [2.0, 0.0]])
    many = integrate(made, "RKMK4", (0, 2), 0.1)
    assert many.status == (Status.OK, Status.DOUBTFUL)


def test_what_is_said_of_a_run_never_loses_it():
    """Neither an explanation nor a check of hypotheses that fails."""

    def fails(*anything):
        return np.linalg.inv(np.zeros((2, 2)))

    made = replace(problem(Guard("energy", "the energy is lost", change=0.01)), explain=fails)
    run = integrate(made, "RKMK4", (0, 20), 1.0)
    assert len(run.t) == 21
    assert "the energy is lost" in run.doubts[0].says
    assert "Singular matrix" in run.doubts[0].says
    method = METHODS["RKMK4"]
    own = replace(method.stepper, step=None, own="mine")
    step = OwnStep(method.stepper.step, method.work_shape(made), doubts=fails)
    checked = replace(made, own_steps={"mine": step}, guards=(), explain=None)
    run = integrate(checked, replace(method, stepper=own), (0, 20), 0.5)
    assert len(run.t) == 41
    assert run.doubts[0].name == "hypotheses"
    assert "could not be checked" in run.message


def test_doubts_are_saved_and_loaded(tmp_path):
    run = integrate(problem(Guard("energy", "it is lost", "do better", change=0.01)), "RKMK4", (0, 20), 1.0)
    assert Solution.load(run.save(tmp_path / "run.h5")).doubts == run.doubts != ()


def test_doubts_survive_a_checkpoint(tmp_path):
    made = problem(Guard("energy", change=0.01))
    whole = integrate(made, "RKMK4", (0, 2000), 0.5)
    stopped = integrate(
        made, "RKMK4", (0, 2000), 0.5, callback=lambda t, y: t >= 0.5, checkpoint=tmp_path / "run", every=0.0
    )
    assert stopped.status is Status.STOPPED
    assert stopped.t[-1] < 2000
    assert resume(tmp_path / "run", made).doubts == whole.doubts != ()


def test_guards_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="guard 'height': no invariant"):
        problem(Guard("height", least=0.0))
    with pytest.raises(ValueError, match="least ≤ greatest"):
        Guard("energy", least=1.0, greatest=0.0)
    with pytest.raises(TypeError, match=r"integrators\.Guard"):
        problem("energy")


def test_the_energy_of_a_lagrangian_system_is_guarded_where_it_is_kept():
    def pendulum(t, q, v, p):
        return 0.5 * v[0] ** 2 + np.cos(q[0])

    def driven(t, q, v, p):
        return 0.5 * v[0] ** 2 + np.cos(q[0] - np.sin(t))

    made = integrators.problem.lagrangian_problem
    assert [guard.name for guard in made(pendulum, [2.0]).guards] == ["energy"]
    assert made(driven, [2.0]).guards == ()
    assert made(pendulum, [2.0], force=lambda t, q, v, p: [-0.1 * v[0]]).guards == ()
    assert isinstance(integrate(made(pendulum, [2.0]), "RKMK4", (0, 100), 1.0).doubts[0], Doubt)
