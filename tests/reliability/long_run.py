"""Runs to be killed and resumed: ``python long_run.py KIND CHECKPOINT RESULT``; goes on from the checkpoint if there is
one.

``python long_run.py`` alone loads everything once and then forks a run for every line ``KIND CHECKPOINT RESULT
SECONDS`` it reads, kills it after so many seconds, and writes how it ended.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from integrators import Problem, integrate, resume
from integrators.controllers import IntegratingController
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sincos, sqrt
from liegroup.table import RN, SO2, table_of


@entry(*FIELD_SIGNATURES)
def pendulum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    s, _ = sincos(ld(y, 0))
    st(out, 0, ld(y, 1))
    st(out, 1, -s)


@entry(*FIELD_SIGNATURES)
def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    _, c = sincos(ld(y, 0))
    st(out, 0, 0.5 * ld(y, 1) * ld(y, 1) - c)


@entry(*FIELD_SIGNATURES)
def kepler(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    r2 = ld(y, 0) * ld(y, 0) + ld(y, 1) * ld(y, 1)
    k = 1.0 / (r2 * sqrt(r2))
    st(out, 0, ld(y, 2))
    st(out, 1, ld(y, 3))
    st(out, 2, -k * ld(y, 0))
    st(out, 3, -k * ld(y, 1))


@entry(*FIELD_SIGNATURES)
def wished_step(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    r2 = ld(y, 0) * ld(y, 0) + ld(y, 1) * ld(y, 1)
    st(out, 0, sqrt(r2 * sqrt(r2)))
    st(out, 1, -1.5 * (ld(y, 0) * ld(y, 2) + ld(y, 1) * ld(y, 3)) / r2)


PENDULUM = Problem(
    table_of([(SO2, 1), (RN, 1)]),
    [2.0, 0.0],
    pendulum,
    invariants=energy,
    invariant_names=("energy",),
    canonical=True,
    model="pendulum",
)
KEPLER = Problem(table_of([(RN, 2), (RN, 2)]), [0.2, 0.0, 0.0, 3.0], kepler, canonical=True, model="Kepler")
REVERSIBLE = IntegratingController(wished_step)
RUNS: dict[str, tuple[Problem, dict[str, Any]]] = {
    "fixed": (PENDULUM, {"method": "MIDPOINT", "t_span": (0, 3e3), "step": 0.05, "save_every": 997}),
    "lanes": (
        PENDULUM.with_start(np.linspace([0.1, 0.0], [3.0, 0.0], 11)),
        {"method": "RKMK4", "t_span": (0, 1e3), "step": 0.05},
    ),
    "adaptive": (PENDULUM, {"method": "RKMK_DORMAND_PRINCE54", "t_span": (0, 1.5e4), "rtol": 1e-8, "save_every": 100}),
    "reversible": (
        KEPLER,
        {"method": "MIDPOINT", "t_span": (0, 500), "step": 0.01, "controller": REVERSIBLE, "save_every": 100},
    ),
    "dense": (
        PENDULUM,
        {"method": "RKMK_TSITOURAS54", "t_span": (0, 1.5e4), "rtol": 1e-8, "t_eval": np.linspace(0, 1.5e4, 7919)},
    ),
}


def main(kind: str, checkpoint: str, result: str) -> None:
    problem, call = RUNS[kind]
    if Path(checkpoint).exists():
        controller = call.get("controller")
        solution = resume(checkpoint, problem, controller=controller, every=0.0)
    else:
        solution = integrate(problem, checkpoint=checkpoint, every=0.0, **call)
    assert solution.success, solution.message
    solution.save(result)


def serve() -> None:
    # no thread may run where a process is forked, and no lock be shared with one that is killed
    tqdm.monitor_interval = 0
    tqdm.set_lock(threading.RLock())
    for problem, call in RUNS.values():
        t0, t1 = call["t_span"]
        integrate(
            problem,
            **(call | {"t_span": (t0, t1 / 1e4), "save_every": 1} | ({"t_eval": [0.5]} if "t_eval" in call else {})),
        )
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                main(*line.split()[:3])
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        if (seconds := float(line.split()[3])) < math.inf:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        serve()
    else:
        print("ready", flush=True)
        main(*sys.argv[1:])
