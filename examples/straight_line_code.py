"""Code for one model: the equations of an arm as a list of operations, to the same bits as the general kernel.

What does not depend on the state is done when the code is written.
"""

from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate

tree = mechanics.load_model("double_pendulum", damping=False)
model = mechanics.compile_model(tree)
print(model)
start, options = [2.0, 1.0], {"t_span": (0, 60), "step": 1e-3}
problems = {"general kernel": mechanics.hamiltonian_problem(tree, start), "code of this model": model.problem(start)}
runs, times = {}, []
for name, problem in problems.items():
    integrate(problem, "RKMK4", (0, 0.1), step=1e-3)  # compiled
    began = perf_counter()
    runs[name] = integrate(problem, "RKMK4", **options)
    times.append(1e9 * (perf_counter() - began) / runs[name].steps)
first, second = runs.values()
assert np.array_equal(first.y, second.y)

fig = Figure(figsize=(5.0, 2.6), layout="constrained")
ax = fig.subplots()
ax.bar_label(ax.barh(list(runs), times, color=["C0", "C1"]), fmt="%.0f ns", padding=3)
ax.set(title="RKMK4 on a double pendulum, time per step", xlim=(0, 1.25 * max(times)))
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
