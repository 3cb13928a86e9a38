"""Compile ahead of time: a step of every common kind fills the cache, so that no first run has to wait."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Annotated, Any

import tyro

MOST = 61
"""Processes that Windows lets one wait for."""
ROBOT = ("GAUSS8", "RKMK4", "MIDPOINT", "TREE_VARIATIONAL", "RKMK_DOP853")
BODY = ("GAUSS8", "RKMK4", "MIDPOINT", "RKMK_DOP853", "SPLIT_SRKN4_6B", "VARIATIONAL_GAUSS2")
LOOPS = ("GAUSS8", "RKMK4", "TREE_VARIATIONAL")
ROLLING = ("GAUSS8", "RKMK4", "DLA")


def _run(problem: Any, method: str, lanes: bool) -> None:
    """A few steps, of variable size where the method estimates its error; of eight trajectories, too, if asked for."""
    import numpy as np

    from integrators import integrate
    from integrators.methods import find
    from liegroup.compile import WIDTH

    if getattr(find(method), "is_adaptive", False):
        integrate(problem, method, (0.0, 2e-3), rtol=1e-6, atol=1e-6, progress=False)
    else:
        integrate(problem, method, (0.0, 2e-3), step=1e-3, progress=False)
    if lanes:
        together = np.tile(np.asarray(problem.y0), (WIDTH, 1))
        integrate(problem.with_start(together), method, (0.0, 2e-3), step=1e-3, progress=False)


def _system(name: str, formulation: str, method: str, lanes: bool) -> None:
    from mechanics.systems import SYSTEMS

    _run(SYSTEMS[name].problem(formulation) if formulation else SYSTEMS[name].problem(), method, lanes)


def _arm(method: str, lanes: bool) -> None:
    """A chain with turning, sliding and ball joints and a floating base: every kind of link."""
    import numpy as np

    import mechanics
    from mechanics import Body, Inertia, Tree, joints

    box = Inertia.about_com(1.0, (0.0, 0.0, 0.1), np.diag([0.2, 0.3, 0.4]))
    kinds = (joints.Free(), joints.Revolute(), joints.Prismatic(), joints.Spherical())
    names = [f"body{k}" for k in range(len(kinds))]
    above = [None, *names[:-1]]
    bodies = [Body(n, kind, k, (0.1, 0.0, 0.2), inertia=box) for n, kind, k in zip(names, kinds, above, strict=True)]
    tree = Tree(bodies, "warm-up")
    _run(mechanics.hamiltonian_problem(tree, tree.neutral()), method, lanes)


def _scipy(lanes: bool) -> None:
    """`solve_ivp` by a method of ours, on a function in plain Python."""
    from scipy.integrate import solve_ivp

    from integrators.adapters.scipy import LieRK45

    solve_ivp(lambda t, y: [y[1], -y[0]], (0.0, 0.1), [1.0, 0.0], method=LieRK45(groups=[2]))


TASKS: dict[str, list[tuple[Callable[..., None], tuple[Any, ...]]]] = {
    "bodies": [(_system, ("heavy-top", "", method)) for method in BODY],
    "robots": [(_arm, (method,)) for method in ROBOT],
    "loops": [(_system, ("four-bar", "", method)) for method in LOOPS],
    "rolling": [
        (_system, ("rolling-disk", "constrained" if method == "DLA" else "reduced", method)) for method in ROLLING
    ],
    "scipy": [(_scipy, ())],
}
"""What is compiled, by the name of the task: functions and their arguments but the last, whether in lanes, too."""


def warm_up(
    tasks: tyro.conf.Positional[tuple[str, ...]] = ("all",),
    lanes: bool = False,
    workers: Annotated[int, tyro.conf.arg(help="Processes; default as many as there are processors for it.")] = 0,
) -> None:
    """Compile the kernels of common tasks now, once.

    Args:
        tasks: Some of bodies, robots, loops, rolling, scipy; or all.
        lanes: The kernels for ensembles, eight trajectories at a time, too.
    """
    from liegroup.compile import cache_directory

    chosen = list(TASKS) if "all" in tasks else list(tasks)
    if unknown := sorted(set(chosen) - set(TASKS)):
        raise SystemExit(f"warm-up: no task {', '.join(unknown)}; expected some of {', '.join(TASKS)}, or all")
    if workers < 0:
        raise SystemExit(f"warm-up: --workers {workers}, expected 1 or more, or 0 for as many as there are processors")
    began = time.perf_counter()
    work = [(function, (*arguments, lanes)) for name in chosen for function, arguments in TASKS[name]]
    failed = _all(work, workers or _processors())
    seconds = time.perf_counter() - began
    print(f"{len(work) - len(failed)} of {len(work)} compiled in {seconds:.0f} s, kept in {cache_directory()}")
    if failed:
        raise SystemExit("\n".join(failed))


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _all(work: Sequence[tuple[Callable[..., None], tuple[Any, ...]]], workers: int) -> list[str]:
    """Do all of it in processes of their own; what failed, in words."""
    from liegroup.display import bar

    failed = []
    with ProcessPoolExecutor(min(workers, MOST), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            running = {pool.submit(function, *arguments): arguments for function, arguments in work}
            for done in bar(as_completed(running), total=len(running), desc="compiling"):
                if error := done.exception():
                    failed.append(f"{running[done]}: {type(error).__name__}: {error}")
        except KeyboardInterrupt:  # a pool would do all the rest first
            pool.shutdown(cancel_futures=True)
            print("warm-up: interrupted; what has been compiled is kept", file=sys.stderr)
            raise SystemExit(130) from None
    return failed
