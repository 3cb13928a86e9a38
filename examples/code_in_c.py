"""Code to take elsewhere: whole steps of a double pendulum as C, compiled here, to the same bits as the kernels.

The text needs nothing of this project; implicit steps have a fixed number of rounds.
"""

from pathlib import Path
from time import process_time

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import generate_code, integrate
from integrators.method import step_map
from integrators.methods import METHODS

tree = mechanics.load_model("double_pendulum", damping=False)
problem, step, steps = mechanics.hamiltonian_problem(tree, [2.0, 1.0]), 1e-3, 400_000
times: dict[str, list[float]] = {"kernels": [], "C": []}
methods = ["RKMK4", "CF4", "TREE_VARIATIONAL"]
for method in methods:
    run = integrate(problem, method, (0.0, steps * step), step, save_every=4000)  # compiled
    began = process_time()
    run = integrate(problem, method, (0.0, steps * step), step, save_every=4000)
    times["kernels"].append(1e9 * (process_time() - began) / steps)
    code = generate_code(problem, "c", method, step, samples=run.y).load()
    end, left = code.one_step(0.0, step, problem.y0)
    assert left == 0.0
    assert np.array_equal(end, step_map(problem, METHODS[method])(problem.y0, step))
    began = process_time()
    end, taken = code.many_steps(0.0, step, steps, problem.y0)
    times["C"].append(1e9 * (process_time() - began) / max(taken, 1))
    print(f"{method}: {taken} of {steps} steps in C")

fig = Figure(figsize=(5.0, 3.0), layout="constrained")
ax = fig.subplots()
for k, (name, values) in enumerate(times.items()):
    ax.bar_label(ax.barh(np.arange(len(methods)) + 0.4 * k, values, 0.38, label=name), fmt="%.0f ns", padding=3)
ax.set(title="double pendulum, time per step", yticks=np.arange(len(methods)) + 0.2, yticklabels=methods)
ax.set(xlim=(0, 1.3 * max(max(v) for v in times.values())))
fig.legend(loc="outside lower center", ncols=2)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
