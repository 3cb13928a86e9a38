"""What a first run costs: ``python -m benchmarks.cold_start``.

Each task runs in a fresh process with an empty cache, then in another one with the cache that the first has left.
Processor seconds, imports included, to the end of a run of a hundred steps; functions compiled; size of the cache; the
most memory that the first process took.  Methods "after RKMK4" run in a process that has run that: seconds and
functions are what they add.  What the same took before anything was done about it stands beside it; the record says
where that comes from.  On a busy machine processor seconds grow, too: compare only what was measured by turns
(`--repeats`; the least counts).
Python may keep its bytecode, as installers do: an import before the first task writes what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import circumstances, save

STEPS = """
solution = integrate(problem, method, (0.0, 0.1), step=1e-3, progress=False)
assert solution.status == 0, solution.message
"""
TREE = "import mechanics\nproblem = mechanics.hamiltonian_problem(tree := mechanics.load_model({!r}), tree.neutral())\n"
TASKS = {
    "import mechanics": "import mechanics",
    "heavy top MIDPOINT": "from mechanics.systems import heavy_top\nproblem, method = heavy_top(), 'MIDPOINT'" + STEPS,
    "heavy top RKMK4": "from mechanics.systems import heavy_top\nproblem, method = heavy_top(), 'RKMK4'" + STEPS,
    "LieRK45 in solve_ivp": """
import numpy as np
from scipy.integrate import solve_ivp
from integrators.adapters.scipy import LieRK45

def tumble(t, y):
    (s, *u), w, inertia = y[:4], y[4:], np.array([1.0, 2.0, 3.0])
    return np.concatenate([[-np.dot(u, w) / 2], (s * w + np.cross(u, w)) / 2, np.cross(inertia * w, w) / inertia])

assert solve_ivp(tumble, (0, 10), [1, 0, 0, 0, 0.1, 2, 0.3], method=LieRK45(groups=["SO3", 3])).success
""",
    "UR5 RKMK4": TREE.format("ur5") + "method = 'RKMK4'" + STEPS,
    "Panda TREE_VARIATIONAL": TREE.format("panda") + "method = 'TREE_VARIATIONAL'" + STEPS,
    "four-bar TREE_VARIATIONAL": "from mechanics.systems import four_bar\nproblem = four_bar.problem()\n"
    "method = 'TREE_VARIATIONAL'" + STEPS,
    "Lagrangian double pendulum DEL_GAUSS2": """
from numpy import cos
from integrators.lagrangian import lagrangian_problem

def lagrangian(t, q, v, parameters):
    return v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * cos(q[0] - q[1]) + 2 * cos(q[0]) + cos(q[1])

problem, method = lagrangian_problem(lagrangian, [1.0, 0.5]), 'DEL_GAUSS2'
"""
    + STEPS,
}
"""What is run, in a fresh process each; `integrate` is there."""
SECOND = """
method = "RKMK4"
{steps}
began = time.process_time()
compiled.clear()
method = {method!r}
{steps}
"""
SECOND_METHODS = {
    "Lagrangian double pendulum DEL_GAUSS2": ("RKMK_RADAU_IIA3", "BDF2", "RODAS4", "GAUSS8", "VARIATIONAL_GAUSS2"),
    "heavy top RKMK4": ("RKMK_RADAU_IIA3", "BDF2", "RODAS4", "GAUSS8", "VARIATIONAL_GAUSS2", "ALPHA"),
    "UR5 RKMK4": ("RKMK_RADAU_IIA3", "BDF2", "RODAS4", "GAUSS8", "TREE_VARIATIONAL"),
}
"""Methods for the problem of a task that are run after RKMK4, in its process."""
TASKS |= {
    f"{task.rsplit(' ', 1)[0]} {method} after RKMK4": TASKS[task].removesuffix(STEPS)
    + SECOND.format(steps=STEPS, method=method)
    for task, methods in SECOND_METHODS.items()
    for method in methods
}
BEFORE = {
    "import mechanics": 1.0,
    "heavy top MIDPOINT": 25.3,
    "LieRK45 in solve_ivp": 18.9,
    "UR5 RKMK4": 25.9,
    "Panda TREE_VARIATIONAL": 39.4,
    "four-bar TREE_VARIATIONAL": 90.4,
    "Lagrangian double pendulum DEL_GAUSS2": 9.0,
}
"""Processor seconds with an empty cache when every function was compiled by itself, as far as measured."""
BEFORE_FROM = (
    "measured once, when each function was compiled by itself, not by this program: numba 0.68, Python 3.11, an x86-64 "
    "processor with AVX-512 that was not noted; imports, 1.0 s, are left out except in their own row; ratios to the "
    "seconds of this record are rough"
)
"""Where `before_s` comes from; it is written into the record."""
TIMED = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
began = 0.0
if {integrates}:
    from integrators import integrate
if {counts}:
    from liegroup.compile.stages import KernelCompiler
    compiled, original = [], KernelCompiler._compile_bytecode
    KernelCompiler._compile_bytecode = lambda self: compiled.append(self) or original(self)
{task}
seconds = time.process_time() - began
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (2**20 if sys.platform == "darwin" else 2**10)
except ImportError:
    peak = 0
print(json.dumps({{"seconds": seconds, "functions": len(compiled) if {counts} else 0, "peak": peak}}))
"""


def measure(task: str, cache: Path) -> dict[str, Any]:
    """Processor seconds and functions compiled of one process."""
    integrates = "integrate(" in TASKS[task]
    code = TIMED.format(task=TASKS[task], integrates=integrates, counts=task != "import mechanics")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
        "LIEMECH_CACHE": str(cache)
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def cold_and_warm(task: str, repeats: int) -> dict[str, Any]:
    """The least of some repeats, each with an empty cache of its own."""
    cold, warm, size = [], [], 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(measure(task, Path(folder)))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            warm.append(measure(task, Path(folder)))
    return {
        "before_s": BEFORE.get(task),
        "cold_s": round(min(run["seconds"] for run in cold), 2),
        "warm_s": round(min(run["seconds"] for run in warm), 2),
        "functions": cold[0]["functions"],
        "functions_warm": warm[0]["functions"],
        "cache_kB": size // 1000,
        "peak_MiB": min(run["peak"] for run in cold),
    }


def main() -> None:
    """Measure the chosen tasks, print a table, write a record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), help="some of: " + ", ".join(TASKS))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--save", default="cold_start", help="name of the record")
    options = parser.parse_args()
    measure("import mechanics", Path(tempfile.gettempdir()))
    record = circumstances() | {"load": os.getloadavg()[0], "before_s_from": BEFORE_FROM, "tasks": {}}
    for task in options.tasks:
        found = record["tasks"][task] = cold_and_warm(task, options.repeats)
        print(f"{task:40s}", *(f"{name} {value}" for name, value in found.items()), flush=True)
    save(options.save, record)


if __name__ == "__main__":
    main()
