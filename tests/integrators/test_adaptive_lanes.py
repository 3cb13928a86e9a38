"""Variable steps in lanes: every trajectory of an ensemble has its own steps, and the bits of a run alone."""

import math

import numba
import numpy as np
import pytest

from integrators import Guard, Problem, Status, integrate
from integrators.controllers import CONTROLLERS
from integrators.engine import crew, paced_run
from integrators.engine.adaptive_run import Steering
from integrators.engine.crew import Rooms
from integrators.engine.paced_run import PacedLanes, goes_in_lanes
from integrators.engine.run import Output, Plan
from integrators.engine.start import start_runs
from integrators.events import as_events
from integrators.methods import find
from liegroup import product, rn, so2, so3
from mechanics import Body, Inertia, Tree, velocity_problem
from mechanics.joints import Motion, Revolute, Rheonomic, Slide
from mechanics.systems import SYSTEMS

METHOD, TIGHT = "RKMK_DORMAND_PRINCE54", {"rtol": 1e-8, "atol": 1e-10, "progress": False, "workers": 1}


def tops(count=18, spread=0.02):
    problem = SYSTEMS["heavy-top"].problem()
    start = np.tile(problem.y0, (count, 1))
    start[:, -1] *= 1.0 + spread * np.arange(count)
    return problem.with_start(start)


@numba.njit
def growing(t, y):
    return np.array([np.cos(t) * y[0], np.sin(3.0 * t) - y[1]])


def grown(count):
    starts = np.linspace(0.3, 40.0, count)[:, None] * [1.0, 0.1]
    return Problem(rn(2), starts, growing, invariants={"first": numba.njit(lambda t, y: np.array([y[0] + t]))})


@pytest.fixture(autouse=True)
def open_at_once(monkeypatch):
    monkeypatch.setattr(Rooms, "PATIENCE", 0.0)


@pytest.fixture
def chunks(monkeypatch):
    """Counts chunks in lanes and detours from them."""
    counted = {"lanes": 0, "detours": 0}
    go, one_by_one = PacedLanes.go, paced_run._one_by_one

    def counting(self, count, runs=()):
        counted["lanes"] += 1
        return go(self, count, runs)

    def detour(runs, count):
        counted["detours"] += 1
        return one_by_one(runs, count)

    monkeypatch.setattr(PacedLanes, "go", counting)
    monkeypatch.setattr(paced_run, "_one_by_one", detour)
    return counted


def one_by_one(*args, **given):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "goes_in_lanes", lambda *_: False)
        return integrate(*args, **given)


def same(found, alone):
    for name in ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch"):
        assert np.array_equal(getattr(found, name), getattr(alone, name), equal_nan=True), name
    for name in ("status", "message", "steps", "evaluations", "rejected", "iterations"):
        assert getattr(found, name) == getattr(alone, name), name
    assert [repr(doubt) for doubt in found.doubts] == [repr(doubt) for doubt in alone.doubts]


OUTPUTS = {
    "every step": {},
    "every seventh": {"save_every": 7},
    "given times": {"t_eval": np.linspace(0.0, 2.0, 41)},
    "few times": {"t_eval": [0.1, 1.9], "max_step": 0.1},
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_lanes_have_the_bits_of_one_by_one(chunks, name):
    """18 trajectories in eight lanes: a lane that is free is taken by the next, and the last ones stay alone."""
    given = (tops(), METHOD, (0.0, 2.0))
    found = integrate(*given, **TIGHT, **OUTPUTS[name])
    assert chunks["lanes"]
    assert not chunks["detours"]
    same(found, one_by_one(*given, **TIGHT, **OUTPUTS[name]))
    assert found.success
    assert len(set(np.sum(np.isfinite(found.y[..., 0]), axis=1))) > 1 or name != "every step"


def test_means_between_given_times_are_over_the_steps_of_each(chunks):
    """As many steps as each trajectory took, not as many as the first one."""
    problem, given = tops(9, 0.2), (METHOD, (0.0, 2.0))
    found = integrate(problem, *given, **TIGHT, **OUTPUTS["few times"])
    assert np.ptp(found.stretch, axis=0).min() > 0
    for k in (0, 8):
        alone = integrate(problem, *given, **TIGHT, **OUTPUTS["few times"], y0=problem.y0[k])
        for name in ("mean_since", "stretch"):
            assert np.array_equal(getattr(found, name)[k], getattr(alone, name)), (k, name)
        assert found.mean("energy")[k] == pytest.approx(alone.mean("energy"), rel=1e-15)


@pytest.mark.parametrize("method", ["CF4", "RKMK_DOP853", "RKMK_BOGACKI_SHAMPINE32", "CG3"])
def test_lanes_of_other_methods(chunks, method):
    """Products of exponentials; two estimates of the error; fields at the ends of steps that are passed on, or not."""
    given = (tops(9), method, (1.0, 0.6))
    found = integrate(*given, controller="H211b", **TIGHT)
    assert chunks["lanes"]
    same(found, one_by_one(*given, controller="H211b", **TIGHT))
    assert found.success


@pytest.mark.parametrize("count", [8, 11])
def test_every_lane_has_its_own_time(chunks, count):
    """y = y₀ exp(sin t), of fields and invariants that read the time."""
    problem = grown(count)
    found = integrate(problem, METHOD, (0.0, 5.0), **TIGHT)
    assert chunks["lanes"]
    same(found, one_by_one(problem, METHOD, (0.0, 5.0), **TIGHT))
    for k, start in enumerate(problem.y0):
        one = found.trajectory(k)
        assert np.abs(one.y[:, 0] / (start[0] * np.exp(np.sin(one.t))) - 1.0).max() < 1e-6


def test_a_driven_tree_by_its_velocities_has_its_own_time_in_lanes(chunks):
    """Its field keeps what it needs in the last lines of its workspace, behind which the lanes' times lie."""
    pivot = Body(
        "pivot", Rheonomic((Slide((1, 0, 0), Motion(harmonics=[(0.1, 3.0, 0.0)])),)), inertia=Inertia.point(0.2)
    )
    bob = Body("bob", Revolute((0, 1, 0)), "pivot", inertia=Inertia.point(1.0, (0.0, 0.0, -0.5)))
    problem = velocity_problem(Tree([pivot, bob]), np.linspace(0.1, 2.0, 9)[:, None])
    found = integrate(problem, METHOD, (0.0, 2.0), **TIGHT)
    assert chunks["lanes"]
    same(found, one_by_one(problem, METHOD, (0.0, 2.0), **TIGHT))


def test_a_trajectory_that_fails_leaves_its_lane(chunks):
    """Too many steps of one, a pole that another runs into, and a stop by a guard."""
    start = tops(10).y0
    start[1, 4:] *= 100.0
    given = (tops(10).with_start(start), METHOD, (0.0, 0.1))
    found = integrate(*given, max_steps=500, **TIGHT)
    assert [status is Status.OK for status in found.status] == [k != 1 for k in range(10)]
    same(found, one_by_one(*given, max_steps=500, **TIGHT))

    @numba.njit
    def pole(t, y):
        return np.array([y[0] * y[0]])

    watched = {"x": numba.njit(lambda t, y: y.copy())}
    guard = Guard("x", greatest=3.0, stops=True)
    problem = Problem(rn(1), [[0.1], [2.0], [0.5], [-1.0], [0.7], [0.2], [0.3], [0.4]], pole, invariants=watched)
    stopped = Problem(rn(1), problem.y0, pole, invariants=watched, guards=(guard,))
    for made in (problem, stopped):
        found = integrate(made, METHOD, (0.0, 1.2), **TIGHT)
        assert found.status[0] is found.status[3] is Status.OK
        assert found.status[1] is not Status.OK
        same(found, one_by_one(made, METHOD, (0.0, 1.2), **TIGHT))


def test_a_step_that_leaves_its_chart_is_taken_one_by_one(chunks):
    given = (tops(9), METHOD, (0.0, 0.5))
    found = integrate(*given, step=5.0, **TIGHT)
    assert chunks["detours"]
    same(found, one_by_one(*given, step=5.0, **TIGHT))


def test_a_function_that_raises_is_named_as_one_by_one(chunks):
    @numba.njit
    def refuses(t, y):
        if y[0] > 2.0:
            raise ValueError("too far")
        return np.array([1.0])

    problem, errors = Problem(rn(1), [[0.0], [1.5], [0.5], [0.2]] * 2, refuses), []
    for run in (integrate, one_by_one):
        with pytest.raises(ValueError, match="too far") as caught:
            run(problem, METHOD, (0.0, 1.0), **TIGHT)
        errors.append(caught.value)
    assert errors[0].__notes__[0] == errors[1].__notes__[0]
    assert chunks["lanes"]
    assert chunks["detours"]


def test_projected_states_are_the_same_in_lanes(chunks):
    @numba.njit
    def turn(t, y):
        return np.array([-y[1], y[0]])

    @numba.njit
    def to_circle(t, y):
        return y / np.sqrt(y[0] * y[0] + y[1] * y[1])

    problem = Problem(rn(2), np.random.default_rng(0).normal(size=(9, 2)), turn, projection=to_circle)
    found = integrate(problem, METHOD, (0.0, 20.0), **TIGHT)
    assert chunks["lanes"]
    same(found, one_by_one(problem, METHOD, (0.0, 20.0), **TIGHT))
    assert np.nanmax(np.abs(np.linalg.norm(found.y[:, 1:], axis=-1) - 1.0)) < 1e-15


def test_a_run_goes_on_in_lanes_or_alone():
    """Between two chunks it is as if it had been alone: what a checkpoint keeps, and what resumes."""
    problem, output = tops(10), Output()
    steering = integrate_way(problem)
    together, alone = (start_runs(problem, find(METHOD), output, steering) for _ in range(2))
    rooms = Rooms(together[0])
    for count in (1, 7, 40):
        rooms.advance(together, count)
    assert any(run.counters[0] != together[0].counters[0] for run in together)
    for run in together[:8]:
        kept = run.state()
        other = start_runs(problem, find(METHOD), output, steering)[0]
        other.restore(kept)
        while not other.done:
            other.go(10**6)
        again = start_runs(problem, find(METHOD), output, steering)[0]
        again.restore(kept)
        while not again.done:
            Rooms(again).advance([again], 100)
        first, second = other.state(), again.state()
        assert first.keys() == second.keys()
        for name, value in first.items():
            if value.dtype.kind != "U":
                assert np.array_equal(value, second[name], equal_nan=True), name
    for run, other in zip(together, alone, strict=True):
        while not run.done:
            rooms.advance([run], 1000)
        while not other.done:
            other.go(1000)
        assert np.array_equal(run.y, other.y)
        assert run.steps_done == other.steps_done


def integrate_way(problem):
    return Steering((0.0, 2.0), CONTROLLERS["PI42"], 1e-8, 1e-10, None, np.inf, 10**9)


def test_what_goes_one_by_one():
    problem, output, way = tops(4), Output(), integrate_way(tops(4))
    assert goes_in_lanes(problem, find(METHOD), output, way)
    assert not goes_in_lanes(problem, find("RKMK_KVAERNO43"), output, way)
    assert not goes_in_lanes(problem, find("RODAS4"), output, way)
    assert not goes_in_lanes(problem.with_start(problem.y0[0]), find(METHOD), output, way)
    assert not goes_in_lanes(problem, find(METHOD), output, Plan(0.0, 0.1, 10))
    assert not goes_in_lanes(problem, find(METHOD), Output(events=as_events(lambda t, y: y[0])), way)
    assert not goes_in_lanes(tops(3), find(METHOD), output, way)
    plain = Problem(rn(1), [[1.0]] * 8, lambda t, y: -y)
    assert not goes_in_lanes(plain, find(METHOD), output, way)


def test_lanes_open_where_their_code_is_at_hand_or_pays(chunks, monkeypatch):
    problem = tops(8)
    expected = integrate(problem, METHOD, (0.0, 0.3), **TIGHT)  # compiles the code
    assert chunks["lanes"] > 0
    monkeypatch.setattr(Rooms, "PATIENCE", np.inf)
    chunks["lanes"] = 0
    assert np.array_equal(integrate(problem, METHOD, (0.0, 0.3), **TIGHT).y, expected.y, equal_nan=True)
    assert chunks["lanes"] > 0
    chunks["lanes"] = 0
    with monkeypatch.context() as patch:
        patch.setattr(type(find(METHOD).stepper.paced), "is_at_hand", False)
        found = integrate(problem, METHOD, (0.0, 0.3), **TIGHT)
    assert chunks["lanes"] == 0
    assert np.array_equal(found.y, expected.y, equal_nan=True)


@numba.njit
def spinning(t, y):
    return np.array([1.3 + 0.2 * np.sin(y[4]), 0.4, -0.7 * y[1], 2.0 + y[0]])


@numba.njit
def strict(t, y):
    if t < 1.0:
        raise ValueError("before the start")
    return np.array([y[1], -y[0]])


def test_lanes_without_a_run_are_nowhere_else():
    problem = Problem(rn(2), np.linspace(0.5, 1.5, 9)[:, None] * [1.0, 0.2], strict)
    found = integrate(problem, METHOD, (1.0, 3.0), **TIGHT)
    assert found.success
    same(found, one_by_one(problem, METHOD, (1.0, 3.0), **TIGHT))


def test_functions_that_lanes_refuse_go_one_by_one(chunks):
    @numba.njit
    def alone(t, y, parameters, structure, work, out):
        out[0] = math.cos(y[0])

    problem = Problem(rn(1), np.linspace(0.0, 1.0, 8)[:, None], alone)
    assert integrate(problem, METHOD, (0.0, 1.0), **TIGHT).success
    assert chunks["lanes"] == 0


def test_a_step_that_leaves_the_chart_winds_angles_once(chunks):
    starts = np.tile([1.0, 0.0, 0.0, 0.0, 100.0], (8, 1))
    starts[:, 4] += np.arange(8)
    given = (Problem(product(so3, so2), starts, spinning), METHOD, (0.0, 6.0))
    found = integrate(*given, step=3.0, **TIGHT)
    assert chunks["detours"] > 0
    same(found, one_by_one(*given, step=3.0, **TIGHT))
