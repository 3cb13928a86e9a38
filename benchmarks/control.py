"""What a step with inputs costs beside the step itself: ``python -m benchmarks.control``.

Of every robot and method the time of a step by its kernel alone, in a compiled loop; by `integrators.stepper` in a
compiled loop, and from Python; with its derivatives; and of a step whose torques are a function of (t, q, v), traced,
jitted or plain Python.  The inputs are torques of all joints of one coordinate.  For comparison a step of RKMK4 by the
interpreted field, four evaluations: what torques cost that make a field of Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import mechanics
from benchmarks.machine import best_time, circumstances, save
from integrators import Problem, StepFunction, stepper, traced
from integrators.signatures import FIELD, STEP
from integrators.step_function import MEMORY
from liegroup.compile import compile_field, function_at, integer, real, vector
from mechanics import Mechanism
from mechanics.forces import motor

STEP_SIZE, METHODS = 1e-3, ("RKMK4", "TREE_VARIATIONAL")
LOOP = real(MEMORY, vector, vector, integer)
_step_at, _field_at = function_at(STEP), function_at(FIELD)


def bare(memory: Any, start: Any, u: Any, count: Any) -> Any:
    """So many steps by the kernel alone, each from the same state."""
    step, field, y = _step_at(memory.functions[0]), _field_at(memory.functions[1]), memory.before
    for _ in range(count):
        for i in range(y.shape[0]):
            y[i], memory.low[i] = start[i], 0.0
        for i in range(memory.counters.shape[0]):
            memory.counters[i] = 0
        step(
            field, 0.0, memory.size[0], y, memory.low, memory.table, memory.coefficients, memory.options,
            memory.parameters, memory.structure, memory.step_work, memory.work, memory.counters,
        )  # fmt: skip
        if memory.projected.shape[0]:
            project = _field_at(memory.functions[2])
            project(0.0, y, memory.parameters, memory.structure, memory.field_work, memory.projected)
    return y[0]


def taken(step: StepFunction) -> Any:
    """The same by what `StepFunction.compiled` gives."""
    take, _ = step.compiled

    def loop(memory: Any, start: Any, u: Any, count: Any) -> Any:
        y = np.empty_like(start)
        for _ in range(count):
            for i in range(y.shape[0]):
                y[i] = start[i]
            take(memory, 0.0, y, u)
        return y[0]

    return compile_field(loop, LOOP)


def many(call: Callable[[], Any]) -> Callable[[int], None]:
    """So many calls from Python."""

    def calls(count: int) -> None:
        for _ in range(count):
            call()

    return calls


def robot(name: str) -> Problem:
    """A robot from its file with motors on all joints of one coordinate, in some motion."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = mechanics.load_model(name, damping=False)
    motors = [motor(body.joint_name) for body in tree.bodies if body.joint.n_v == 1]
    generator = np.random.default_rng(0)
    return Mechanism(tree, elements=motors).problem(
        tree.random_configuration(generator), generator.normal(size=tree.nv)
    )


def row(name: str, method: str) -> dict[str, Any]:
    """The times of one robot and method, µs."""
    problem = robot(name)
    step = stepper(problem, method, STEP_SIZE)
    (_, memory), y = step.compiled, np.array(problem.y0)
    m, held = len(problem.inputs), compile_field(bare, LOOP)
    u, n = np.full(m, 0.1), problem.variables[1].size
    through = taken(step)
    found: dict[str, Any] = {"robot": name, "nv": n, "inputs": m, "method": method}
    found["kernel_us"] = 1e6 * best_time(lambda count: held(memory, y, u, count))
    found["compiled_us"] = 1e6 * best_time(lambda count: through(memory, y, u, count))
    found["python_us"] = 1e6 * best_time(many(lambda: step(y, u)))
    if method == "TREE_VARIATIONAL":
        found["linearised_us"] = 1e6 * best_time(many(lambda: step.linearised(y, u)), repeats=20)

    def damped(t: Any, q: Any, v: Any) -> Any:
        return -0.1 * v[n - m :]

    for kind, function in (("traced", traced(damped)), ("jitted", numba.njit(damped)), ("plain", damped)):
        driven = stepper(problem.with_inputs(function), method, STEP_SIZE)
        found[f"{kind}_us"] = 1e6 * best_time(many(lambda: driven(y, t=0.0)))
    if method == "RKMK4":
        work, out = np.zeros(problem.work_shape), np.zeros(problem.dimension)
        call = lambda: problem.field.python(0.0, y, problem.parameters, problem.structure, work, out)  # noqa: E731
        found["interpreted_us"] = 4e6 * best_time(many(call), repeats=5)
    return found


def main() -> None:
    record = circumstances() | {"rows": [row(name, method) for name in ("ur5", "anymal") for method in METHODS]}
    for found in record["rows"]:
        print({key: round(x, 2) if isinstance(x, float) else x for key, x in found.items()})
    print(save("control", record))


if __name__ == "__main__":
    main()
