"""Ensembles on several cores: the same bits by any number of hands, and nothing lost when they are stopped."""

import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from integrators import Problem, Status, integrate, resume
from integrators.engine.run import Output, Plan
from integrators.engine.start import start_runs
from integrators.methods import find
from integrators.problem.importable import check_importable
from liegroup.table import RN, table_of
from mechanics import Body, Inertia, Mechanism, Tree, forces, joints
from mechanics.systems import SYSTEMS

WAYS = {
    "lanes": ("MIDPOINT", {"step": 0.01}),
    "variable steps": ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6}),
}


def pendulum(t, y):
    return np.array([y[1], -np.sin(y[0])])


def slow_pendulum(t, y):
    time.sleep(1e-4)  # or longer: no machine is so fast that a process is done before the interrupt
    return pendulum(t, y)


def tops(count):
    problem = SYSTEMS["heavy-top"].problem()
    start = np.tile(problem.y0, (count, 1))
    start[:, -1] *= 1.0 + 0.02 * np.arange(count)
    return problem.with_start(start)


def swings(field=pendulum):
    return Problem(table_of([(RN, 2)]), np.linspace(0.5, 1.5, 3)[:, None] * [1.0, 0.2], field)


@pytest.mark.parametrize("name", WAYS)
def test_any_number_of_threads_gives_the_bits_of_one_by_one(name):
    method, given = WAYS[name]
    problem = tops(18)
    found = [integrate(problem, method, (0.0, 1.0), workers=n, progress=False, **given) for n in (1, 2, 3, None)]
    for other in found[1:]:
        assert np.array_equal(other.y, found[0].y, equal_nan=True)
        assert np.array_equal(other.t, found[0].t, equal_nan=True)
        assert other.status == found[0].status
        assert other.evaluations == found[0].evaluations
    alone = integrate(problem.with_start(problem.y0[11]), method, (0.0, 1.0), progress=False, **given)
    assert np.array_equal(alone.y, found[0].trajectory(11).y)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"step": 0.01}, {"rtol": 1e-6}])
def test_plain_functions_go_to_processes(given):
    method = "RKMK_DORMAND_PRINCE54"
    one, two = (integrate(swings(), method, (0.0, 2.0), workers=n, progress=False, **given) for n in (1, 2))
    assert np.array_equal(two.y, one.y, equal_nan=True)
    assert (two.steps, two.evaluations, two.message) == (one.steps, one.evaluations, one.message)


@pytest.mark.slow
def test_processes_put_their_rows_into_one_stream(tmp_path):
    """A run is sent with its window, which is handed over before it goes out again."""
    span, step = (0.0, 20.0), 1e-3
    plain = integrate(swings(), "RKMK4", span, step, save_every=1, workers=1, progress=False)
    into = integrate(swings(), "RKMK4", span, step, save_every=1, workers=2, progress=False, into=tmp_path / "run.h5")
    assert into.message == plain.message
    assert np.array_equal(np.asarray(into.y), plain.y)


def test_inputs_in_plain_python_are_told_to_the_thread_that_asks():
    """Two threads with one problem, whose input is a function of the state; the loops run without Python's lock."""
    hinge = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=Inertia.point(1.0, (0.5, 0.0, 0.0)))])
    made = Mechanism(hinge, elements=[forces.motor("arm_joint")]).problem([0.3], [0.0])
    driven = made.with_inputs(lambda t, q, v: -q - v)
    starts = made.y0 + 0.01 * np.arange(6)[:, None]

    def ends(rows):
        return integrate(driven.with_start(starts[rows]), "RKMK4", (0.0, 1.0), 1e-3, save_every=10**6).y[:, -1]

    alone = ends(slice(None))
    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            assert np.array_equal(np.concatenate(list(pool.map(ends, [[0, 1], [2, 3], [4, 5]]))), alone)
    with pytest.raises(TypeError, match=r"workers: 2 processes.*lambda.*or take workers=1"):
        integrate(driven.with_start(np.tile(starts, (2, 1))), "RKMK4", (0.0, 0.1), 1e-3, workers=2)


def test_a_callback_sees_one_trajectory_after_the_other():
    seen = []
    problem = tops(10)
    integrate(problem, "MIDPOINT", (0.0, 0.2), 0.01, callback=lambda t, y: seen.append(y), progress=False)
    assert {y.shape for y in seen} == {(problem.n,)}
    stopped = integrate(problem, "MIDPOINT", (0.0, 5e3), 0.01, callback=lambda t, y: y[0] == y[0], progress=False)
    assert set(stopped.status) == {Status.STOPPED}


def test_one_failing_trajectory_does_not_stop_the_others():
    start = tops(3).y0
    start[1, 4:] *= 100.0
    given = {"rtol": 1e-6, "max_steps": 500, "progress": False}
    problem, method = tops(3).with_start(start), "RKMK_DORMAND_PRINCE54"
    one, two = (integrate(problem, method, (0.0, 0.1), workers=n, **given) for n in (1, 2))
    assert [status is Status.OK for status in two.status] == [True, False, True]
    assert two.status == one.status
    assert np.array_equal(two.y, one.y, equal_nan=True)


def test_a_function_without_a_name_is_named(monkeypatch):
    with pytest.raises(TypeError, match=r"workers: 2 processes.*lambda.*or take workers=1"):
        integrate(swings(lambda t, y: -y), "RKMK4", (0.0, 1.0), 0.1, workers=2)
    for name in [name for name in sys.modules if name.endswith(("cloudpickle", "dill"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(TypeError, match=r"<lambda>.*test_workers.py, line \d+.*`def` at the top of a module"):
        check_importable(lambda t, y: -y)
    check_importable(pendulum)


def test_loops_leave_python_to_other_threads():
    (run,) = start_runs(tops(1), find("MIDPOINT"), Output(save_every=10**9), Plan(0.0, 1e-3, 10**9))
    run.go(10)
    thread, ticks = threading.Thread(target=run.go, args=(20_000,)), 0
    thread.start()
    while thread.is_alive():
        ticks += 1
    assert run.steps_done == 20_010
    assert ticks > 100


@pytest.mark.parametrize(
    ("problem", "method", "end", "save_every"),
    [
        pytest.param(tops(18), "MIDPOINT", 60.0, 1500, id="threads"),
        pytest.param(swings(slow_pendulum), "RKMK4", 12.0, 500, id="processes", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_ensemble_keeps_what_it_has_and_goes_on(tmp_path, problem, method, end, save_every):
    path, span, given = tmp_path / "run.checkpoint", (0.0, end), {"step": 0.004, "save_every": save_every}
    calls = []

    def interrupt(t, y):
        calls.append(threading.current_thread() is threading.main_thread())
        if len(calls) == (2 if method == "MIDPOINT" else 1):
            signal.raise_signal(signal.SIGINT)

    cut = integrate(problem, method, span, workers=2, callback=interrupt, checkpoint=path, every=0.0, **given)
    assert all(calls)
    assert Status.INTERRUPTED in cut.status
    assert "SIGINT" in cut.message
    whole = integrate(problem, method, span, workers=1, progress=False, **given)
    again = resume(path, problem, workers=2, progress=False)
    assert np.array_equal(again.y, whole.y)
    reached = ~np.isnan(cut.y).all(axis=(0, 2))
    assert np.array_equal(cut.y[:, reached][:, :1], whole.y[:, :1])


@pytest.mark.parametrize("workers", [0, 1.5, "two"])
def test_a_number_of_workers_that_is_none(workers):
    with pytest.raises((TypeError, ValueError), match="workers"):
        integrate(swings(), "RKMK4", (0.0, 1.0), 0.1, workers=workers)
