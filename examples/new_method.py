"""A method of your own is a row of numbers: England's tableau on Lagrange's top, and its measured order.

The tableau checks itself and finds its order; the stepper makes a Lie-group method of it.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate
from integrators.steppers.rkmk import rkmk
from integrators.tableaus.butcher import ButcherTableau
from mechanics.systems import lagrange_top

england = ButcherTableau(
    A=[[0, 0, 0, 0], ["1/4", 0, 0, 0], [0, "1/2", 0, 0], [1, -2, 2, 0]],
    b=["1/6", 0, "2/3", "1/6"],
    name="england",
    source="England 1969",
)
top, counts = lagrange_top(), np.array([25, 50, 100, 200])
exact = integrate(top, "GAUSS8", (0, 0.5), step=0.01).y[-1]

fig = Figure(figsize=(4.6, 3.6), layout="constrained")
ax = fig.subplots()
for method in (rkmk(england, name="RKMK_ENGLAND"), "RKMK4", "CF4"):
    errors = [np.abs(integrate(top, method, (0, 0.5), step=0.5 / n).y[-1] - exact).max() for n in counts]
    order = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    name = getattr(method, "name", method)
    print(f"{name}: order {-order:.2f}")
    ax.loglog(0.5 / counts, errors, "o-", ms=4, label=name)
    assert abs(order + 4) < 0.3
ax.set(xlabel="step [s]", title="largest error after 0.5 s, Lagrange's top")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
