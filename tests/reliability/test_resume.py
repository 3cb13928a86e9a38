"""A run killed at any moment and resumed equals the one that was never killed, bit by bit."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from integrators import Problem, Solution, Status, integrate, resume
from integrators.controllers import StepController
from integrators.controllers.clock import MEMORY, OWN, REPEAT, H, bounded
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.engine import checkpoint as checkpoint_files
from integrators.engine.checkpoint import function_fingerprint
from integrators.events import Event
from integrators.methods import find
from integrators.results.storage import Dataset, StorageError, Variable, read, versions, write
from integrators.status import OK
from integrators.steppers.rkmk import rkmk
from integrators.tableaus.butcher import ButcherTableau
from liegroup.compile import entry
from liegroup.table import RN, table_of
from mechanics.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("fixed", "lanes", "adaptive", "reversible", "dense")
TABLES = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")
LINE = table_of([(RN, 1)])


def start(*arguments):
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("long_run.py"), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},  # a process with threads must not be forked
        text=True,
    )
    assert process.stdout.readline().strip() == "ready", process.stderr.read()
    return process


def equal(a, b):
    for name in TABLES:
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name
    assert (a.steps, a.evaluations, a.iterations, a.rejected) == (b.steps, b.evaluations, b.iterations, b.rejected)


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory):
    """Results of runs that nobody killed."""
    folder, found = tmp_path_factory.mktemp("unharmed"), {}

    def of(kind):
        if kind not in found:
            process = start(kind, folder / f"{kind}.check", folder / f"{kind}.h5")
            _, err = process.communicate()
            assert process.returncode == 0, err
            found[kind] = Solution.load(folder / f"{kind}.h5")
        return found[kind]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_twice_and_resumed_is_the_run_that_was_never_killed(tmp_path, unharmed, kind):
    """Processes of their own, killed soon after their first checkpoint or a later one."""
    checkpoint, result, source = tmp_path / "run.check", tmp_path / "run.h5", random.Random(kind)
    for _ in range(2):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else None
        process = start(kind, checkpoint, result)
        while process.poll() is None and (not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before):
            time.sleep(0.01)
        time.sleep(source.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    process = start(kind, checkpoint, result)
    _, err = process.communicate()
    assert process.returncode == 0, err
    equal(Solution.load(result), unharmed(kind))


@pytest.fixture(scope="module")
def forks():
    """Runs that begin at once: processes forked from one that has loaded everything.  Says how one ended, and after how
    long.
    """
    parent = start()

    def run(kind, checkpoint, result, seconds=math.inf):
        began = time.monotonic()
        print(kind, checkpoint, result, seconds, file=parent.stdin, flush=True)
        return int(parent.stdout.readline()), time.monotonic() - began

    yield run
    parent.communicate()


@pytest.mark.parametrize("runs", [2, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment_and_resumed_is_the_run_that_was_never_killed(tmp_path, forks, kind, runs):
    """Runs each killed one to four times, at moments from their first to their last."""
    code, first = forks(kind, tmp_path / "whole.check", tmp_path / "whole.h5")
    assert code == 0
    length = min(first, forks(kind, tmp_path / "again.check", tmp_path / "again.h5")[1])  # others may have been busy
    whole, killed = Solution.load(tmp_path / "whole.h5"), 0
    for seed in range(runs):
        source, checkpoint, result = (
            random.Random(f"{kind} {seed}"),
            tmp_path / f"{seed}.check",
            tmp_path / f"{seed}.h5",
        )
        for _ in range(source.randint(1, 4)):
            killed += forks(kind, checkpoint, result, source.uniform(0.0, 0.9 * length))[0] == -signal.SIGKILL
        assert forks(kind, checkpoint, result)[0] == 0
        equal(Solution.load(result), whole)
    assert killed >= runs


# --- without killing: stopped by a callback ---------------------------------------------------------------------------


def stopped_and_resumed(problem, path, *, resumed=None, **call):
    """A run that a callback stops after its first chunks, going on from its checkpoint."""
    chunks = []
    first = integrate(
        problem, checkpoint=path, every=0.0, callback=lambda t, y: chunks.append(t) or len(chunks) == 4, **call
    )
    assert Status.STOPPED in (first.status if isinstance(first.status, tuple) else (first.status,))
    return resume(path, problem, **(resumed or {}))


def decay(t, y):
    return -y * (1 + 0.1 * np.sin(t))


@pytest.mark.parametrize(
    "call",
    [
        {"method": "RKMK4", "step": 1e-3},
        {"method": "MIDPOINT", "step": 1e-3, "save_every": 7},
        {"method": "RKMK_DORMAND_PRINCE54", "rtol": 1e-9, "max_step": 1e-3},
        {"method": "RKMK4", "step": 1e-3, "t_eval": np.linspace(0.1, 9.9, 123)},
    ],
)
def test_a_stopped_run_goes_on_as_if_nothing_had_happened(tmp_path, call):
    problem = Problem(LINE, [1.0], decay, invariants={"square": lambda t, y: y[0] ** 2})
    equal(
        stopped_and_resumed(problem, tmp_path / "run.check", t_span=(0, 10), **call),
        integrate(problem, t_span=(0, 10), **call),
    )


@pytest.mark.parametrize(("event", "end", "count"), [
    (lambda t, y: y[0], 30.0, 10),
    (lambda t, y: np.sin(2000.0 * t), 3.0, 1909),  # three times a step, which tells the next how finely to look
])  # fmt: skip
def test_events_found_before_and_after_are_both_there(tmp_path, event, end, count):
    problem = Problem(table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: np.array([y[1], -y[0]]))
    call = {"method": "RKMK4", "t_span": (0, end), "step": 5e-3, "events": {"zero": Event(event)}}
    resumed = stopped_and_resumed(problem, tmp_path / "run.check", resumed={"events": call["events"]}, **call)
    whole = integrate(problem, **call)
    equal(resumed, whole)
    assert np.array_equal(resumed.events["zero"][0], whole.events["zero"][0])
    assert np.array_equal(resumed.events["zero"][1], whole.events["zero"][1])
    assert len(whole.events["zero"][0]) == count


def test_an_interrupted_ensemble_goes_on_and_a_failed_member_stays_failed(tmp_path):
    @numba.njit
    def escaping(t, y, parameters, out):
        out[0] = y[0] * y[0]

    problem = Problem(LINE, np.array([[0.1], [2.0], [-1.0]]), escaping)
    call = {"method": "RKMK4", "t_span": (0, 2), "step": 1e-5, "save_every": 1000}
    resumed = stopped_and_resumed(problem, tmp_path / "run.check", **call)
    whole = integrate(problem, **call)
    assert [s.name for s in resumed.status] == ["OK", "NON_FINITE", "OK"] == [s.name for s in whole.status]
    for name in TABLES:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name), equal_nan=True), name


def test_a_finished_run_is_resumed_at_its_end(tmp_path):
    problem = Problem(LINE, [1.0], decay)
    whole = integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=tmp_path / "run.check")
    equal(resume(tmp_path / "run.check", problem), whole)


def halving(longest):
    """A controller of one's own: steps of a ladder, of its own numbers."""

    @entry(PROPOSE_SIGNATURE)
    def propose(remaining, clock, numbers):
        return bounded(clock[H], remaining, numbers)

    @entry(JUDGE_SIGNATURE)
    def judge(status, error, t, h, y, watched, parameters, structure, field_work, values, clock, numbers):
        clock[MEMORY] += 1.0
        good = status == OK and error <= 1.0
        clock[H] = (2.0 * h if h < numbers[OWN] else h) if good else 0.5 * h
        return OK if good else REPEAT

    class Halving(StepController):
        name = "halving"

        def __init__(self, longest):
            self.longest = longest

        def estimates(self, method):
            return 1

        def data(self, method):
            return np.array([self.longest])

        def start(self, run):
            run.clock[H] = run.forward * run.first_step()

    Halving.propose, Halving.judge = propose, judge
    return Halving(longest)


def test_a_controller_of_ones_own_is_given_again(tmp_path):
    problem, path = Problem(LINE, [1.0], decay), tmp_path / "run.check"
    call = {"method": "RKMK_DORMAND_PRINCE54", "t_span": (0, 10), "rtol": 1e-9, "step": 2.0**-10}
    whole = integrate(problem, controller=halving(2.0**-8), **call)
    again = {"controller": halving(2.0**-8)}
    equal(stopped_and_resumed(problem, path, controller=halving(2.0**-8), resumed=again, **call), whole)
    with pytest.raises(StorageError, match=r"steered by the halving; give it again \(`controller=`\)"):
        resume(path, problem)
    with pytest.raises(StorageError, match="another function or other numbers than the halving given"):
        resume(path, problem, controller=halving(2.0**-7))


def test_a_method_that_is_not_in_the_catalogue_is_given_again(tmp_path):
    problem, path = Problem(LINE, [1.0], decay), tmp_path / "run.check"
    tableau = {"A": [[0, 0], ["2/3", 0]], "b": ["1/4", "3/4"]}
    mine = rkmk(ButcherTableau(name="mine", **tableau), name="MINE")
    call = {"method": mine, "t_span": (0, 10), "step": 1e-3}
    equal(stopped_and_resumed(problem, path, resumed={"method": mine}, **call), integrate(problem, **call))
    with pytest.raises(StorageError, match=r"method 'MINE' of the run is not in the catalogue; give it again"):
        resume(path, problem)


def test_checkpoints_have_as_many_arrays_for_any_number_of_runs(tmp_path):
    """One for each array of every run made them, and `resume`, grow with the square of the trajectories."""

    def arrays(count):
        path = tmp_path / f"{count}.check"
        problem = Problem(LINE, np.linspace(1.0, 2.0, count)[:, None], decay)
        whole = integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
        equal(resume(path, problem), whole)
        return len(read(path).variables)

    assert arrays(3) == arrays(20)


def test_checkpoints_of_the_version_before_go_on(tmp_path):
    """They had arrays for every run."""
    path, problem, seen = tmp_path / "run.check", Problem(LINE, [[1.0], [2.0], [3.0]], decay), []
    call = {"method": "RKMK4", "t_span": (0, 20), "step": 1e-3, "save_every": 100}
    integrate(problem, **call, checkpoint=path, callback=lambda t, y: seen.append(t) or len(seen) > 4)
    found = read(path)
    count = int(found.attributes["runs"])
    arrays = {name: variable.values for name, variable in found.variables.items()}
    kept = {name: a for name, a in arrays.items() if not name.startswith("runs_") and name != "shapes"}
    for k, state in enumerate(checkpoint_files._apart(arrays, count)):
        kept |= {f"run{k}_{name}": a for name, a in state.items()}
    variables = {name: Variable(tuple(f"{name}_{axis}" for axis in range(np.ndim(a))), a) for name, a in kept.items()}
    attributes = {k: v for k, v in found.attributes.items() if k not in versions()}
    write(path, Dataset(variables, attributes | {"checkpoint_version": checkpoint_files.BEFORE}))
    assert count > 1
    equal(resume(path, problem), integrate(problem, **call))


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "run.check"
    integrate(Problem(LINE, [1.0], decay, parameters=[1.0], model="decay"), "RKMK4", (0, 1), 0.1, checkpoint=path)
    return path


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem(LINE, [1.0], lambda t, y: -y, parameters=[1.0]), "other field"),
        (Problem(LINE, [1.0], decay, parameters=[2.0]), "other parameters"),
        (Problem(table_of([(1, 1)]), [1.0], decay, parameters=[1.0]), "other group"),
        (Problem(LINE, [1.0], decay, parameters=[1.0], invariants={"a": lambda t, y: y[0]}), "invariants"),
    ],
)
def test_another_problem_is_refused(checkpoint, problem, words):
    with pytest.raises(StorageError, match=words):
        resume(checkpoint, problem)


def test_another_start_is_refused_where_guards_come_from_it(checkpoint, tmp_path):
    """The run goes on from the file; limits of a mechanism's guards come from the start it was posed with."""
    equal(*(resume(checkpoint, Problem(LINE, [y0], decay, parameters=[1.0])) for y0 in (1.0, 7.0)))
    made = SYSTEMS["four-bar"].mechanism()
    starts = [
        made.problem(v=0.1 * speed * made.velocities(made.home, {made.tree.joint_names[0]: 1.0}).v) for speed in (1, 3)
    ]
    whole = integrate(starts[0], "RKMK4", (0, 0.1), 0.01, checkpoint=tmp_path / "four-bar.check")
    equal(resume(tmp_path / "four-bar.check", starts[0]), whole)
    with pytest.raises(StorageError, match=r"guards, whose limits come from its start: y0\[3\] is .*, that of the run"):
        resume(tmp_path / "four-bar.check", starts[1])


def test_another_method_is_refused(checkpoint):
    problem = Problem(LINE, [1.0], decay, parameters=[1.0])
    with pytest.raises(StorageError, match="method 'RKMK4' has changed"):
        resume(checkpoint, problem, method=replace(find("RKMK4"), coefficients=find("RKMK4").coefficients * 1.01))
    with pytest.raises(StorageError, match="events"):
        resume(checkpoint, problem, events={"a": lambda t, y: y[0]})


def test_another_controller_is_refused(tmp_path):
    problem = Problem(LINE, [1.0], decay, parameters=[1.0])
    path = tmp_path / "run.check"
    whole = integrate(problem, "RKMK_DORMAND_PRINCE54", (0, 1), controller="H211b", checkpoint=path)
    equal(resume(path, problem, controller="H211b"), whole)
    with pytest.raises(StorageError, match=r"was steered by .*, given is .*leave it out"):
        resume(path, problem, controller="I")
    with pytest.raises(ValueError, match="controller: 'nonsense', expected one of"):
        resume(path, problem, controller="nonsense")
    integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path)
    with pytest.raises(StorageError, match="fixed steps, and has no controller"):
        resume(path, problem, controller="I")
    with pytest.raises(TypeError, match="overwrite: 'no'"):
        integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=path, overwrite="no")


def test_a_number_enclosed_in_a_function_belongs_to_it():
    def spring(k):
        return lambda t, y: -k * y

    assert function_fingerprint(spring(1.0)) != function_fingerprint(spring(2.0))
    assert function_fingerprint(spring(1.0)) == function_fingerprint(spring(1.0))


def test_other_files_are_refused(tmp_path):
    problem = Problem(LINE, [1.0], decay)
    integrate(problem, "RKMK4", (0, 1), 0.1).save(tmp_path / "solution.h5")
    with pytest.raises(StorageError, match="expected a checkpoint"):
        resume(tmp_path / "solution.h5", problem)
    with pytest.raises(StorageError, match="no such file"):
        resume(tmp_path / "nothing", problem)
    with pytest.raises(ValueError, match="not a folder"):
        integrate(problem, "RKMK4", (0, 1), 0.1, checkpoint=tmp_path / "nowhere" / "run.check")
