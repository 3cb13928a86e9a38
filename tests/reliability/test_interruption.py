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

from integrators import Solution

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
