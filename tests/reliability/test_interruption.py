"""Killed or interrupted at any moment: files stay whole, Ctrl-C returns what was computed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from integrators import Problem, Solution, Status, integrate
from integrators.engine.interrupts import hearing, interruptible
from liegroup import rn

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = """
import numpy as np
from integrators import Problem, Solution, integrate
from liegroup.table import RN, table_of
"""
SAVING = (
    PROBLEM
    + """
import sys
path, size = sys.argv[1], 200_000
runs = [
    Solution(t=np.arange(size) * 1.0, y=np.full((size, 2), value), invariants=np.zeros((size, 0)), least=np.zeros((size,
    0)),
             greatest=np.zeros((size, 0)), mean_since=np.zeros((size, 0)), stretch=np.ones(size, dtype=np.int64),
             variables=Problem(table_of([(RN, 2)]), [0.0, 0.0], lambda t, y: y).variables, invariant_names=(),
             invariant_units=(), model=f"model {value}", method="none", step=1.0,
             status=__import__("integrators").Status.OK, message="")
    for value in (1.0, 2.0)
]
runs[0].save(path)
print("ready", flush=True)
while True:
    for run in runs:
        run.save(path)
"""
)
ENDLESS = (
    PROBLEM
    + """
def slow(t, y):
    return -y
problem = Problem(table_of([(RN, 1)]), [1.0], slow, invariants={"square": lambda t, y: y[0] ** 2})
integrate(problem, "RKMK4", (0, 1e-2), 1e-3)  # loads what is compiled
print("ready", flush=True)
solution = integrate(problem, "RKMK4", (0, 1e6), 1e-3, save_every=100)
print(solution.status.name, len(solution.t), solution.steps, solution.message, sep="|", flush=True)
assert np.isfinite(solution.y).all() and solution.maximum("square") == 1.0
"""
)


def start(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert process.stdout.readline().strip() == "ready", process.stderr.read()
    return process


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
def test_a_kill_during_a_save_leaves_the_old_file_whole(tmp_path, seed):
    path = tmp_path / "run.h5"
    process = start(SAVING, path)
    time.sleep(random.Random(seed).uniform(0.0, 0.3))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    solution = Solution.load(path)
    assert solution.model in ("model 1.0", "model 2.0")
    assert np.array_equal(solution.y, np.full((200_000, 2), float(solution.model.split()[1])))


def test_ctrl_c_returns_what_was_computed():
    process = start(ENDLESS)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    status, rows, steps, message = out.strip().split("|")
    assert status == "INTERRUPTED"
    assert int(steps) > 0
    assert int(rows) >= 1 + int(steps) // 100
    assert "interrupted" in message
    assert f"step {steps}" in message


def decay(interrupt_at=None):
    """A damped spring in plain Python that presses Ctrl-C at one of its calls, and a list of these."""
    calls = []

    def field(t, y):
        calls.append(t)
        if len(calls) == interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)
        return [y[1], -y[0] - 0.1 * y[1]]

    return Problem(rn(2), [1.0, 0.0], field), calls


def test_ctrl_c_in_a_look_is_no_doubt_and_no_loss():
    """The exception was lost in compiled steps that failed by it, and these became doubts of a right run."""
    problem, calls = decay()
    run = integrate(problem, "RKMK4", (0.0, 1.0), 0.1)
    for at in np.linspace(run.evaluations + 8, len(calls) - 1, 12).astype(int).tolist():
        problem, _ = decay(at)
        with pytest.warns(RuntimeWarning, match=r"the run is over, but .* \(interrupted\)"):
            found = integrate(problem, "RKMK4", (0.0, 1.0), 0.1)
        assert found.status is Status.OK
        assert found.doubts == ()
        assert np.array_equal(found.y, run.y)


def test_ctrl_c_between_two_looks_ends_them_and_keeps_what_the_run_has_noted(monkeypatch):
    """It raised KeyboardInterrupt, and an ensemble that had reached its end was lost."""
    asked = []

    def pressed(*arguments):
        asked.append(arguments)
        os.kill(os.getpid(), signal.SIGINT)
        return []

    monkeypatch.setattr("integrators.engine.collect.unresolved", pressed)
    problem, _ = decay()
    problem = problem.with_start([[1.0, 0.0], [0.5, 0.0]])
    with pytest.warns(RuntimeWarning, match="was not looked at to the end"):
        found = integrate(problem, "RKMK4", (0.0, 1.0), 0.1)
    assert len(asked) == 1
    assert set(found.status) == {Status.OK}


def test_what_an_outer_context_has_heard_the_inner_one_says():
    with interruptible() as outer:
        os.kill(os.getpid(), signal.SIGINT)
        with interruptible() as inner:
            assert inner() == outer() == "SIGINT"
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)


def test_a_program_of_many_runs_hears_of_those_that_end_early():
    with hearing() as interrupted:
        with interruptible() as run:
            os.kill(os.getpid(), signal.SIGINT)
            assert run() == "SIGINT"
            assert not interrupted()
        assert interrupted()
        with interruptible() as another:
            assert not another()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
