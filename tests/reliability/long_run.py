"""A run to be killed and resumed: ``python long_run.py KIND CHECKPOINT RESULT``; goes on from the checkpoint if there is one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from integrators import Problem, integrate, resume
from integrators.controllers import IntegratingController
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.scalars import sincos, sqrt
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
    table_of([(SO2, 1), (RN, 1)]), [2.0, 0.0], pendulum, invariants=energy, invariant_names=("energy",), canonical=True, model="pendulum"
)
KEPLER = Problem(table_of([(RN, 2), (RN, 2)]), [0.2, 0.0, 0.0, 3.0], kepler, canonical=True, model="Kepler")
REVERSIBLE = IntegratingController(wished_step)
RUNS: dict[str, tuple[Problem, dict[str, Any]]] = {
    "fixed": (PENDULUM, {"method": "MIDPOINT", "t_span": (0, 3e4), "step": 0.05, "save_every": 997}),
    "lanes": (PENDULUM.with_start(np.linspace([0.1, 0.0], [3.0, 0.0], 11)), {"method": "RKMK4", "t_span": (0, 1.5e4), "step": 0.05}),
    "adaptive": (PENDULUM, {"method": "RKMK_DORMAND_PRINCE54", "t_span": (0, 6e4), "rtol": 1e-8, "save_every": 100}),
    "reversible": (KEPLER, {"method": "MIDPOINT", "t_span": (0, 2e3), "step": 0.01, "controller": REVERSIBLE, "save_every": 100}),
    "dense": (PENDULUM, {"method": "RKMK_TSITOURAS54", "t_span": (0, 6e4), "rtol": 1e-8, "t_eval": np.linspace(0, 6e4, 7919)}),
}


def main(kind: str, checkpoint: str, result: str) -> None:
    problem, call = RUNS[kind]
    print("ready", flush=True)
    if Path(checkpoint).exists():
        controller = call.get("controller")
        solution = resume(checkpoint, problem, controller=controller, every=0.0)
    else:
        solution = integrate(problem, checkpoint=checkpoint, every=0.0, **call)
    assert solution.success, solution.message
    solution.save(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
