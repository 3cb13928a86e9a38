"""A run that says itself that it cannot be trusted: two parallelograms pass singular positions.

Where all bars lie in a line the loops do not say how the motion goes on.  Variable steps shrink there; the solution
is doubtful, and says when and why.
"""

from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from mechanics.systems import SYSTEMS

linkage = SYSTEMS["double-four-bar"].problem()
run = integrate(linkage, "RKMK_DOP853", (0, 3), rtol=1e-8, atol=1e-10)
print("success:", run.success)
for doubt in run.doubts:
    print(doubt)

fig = Figure(figsize=(6.0, 3.2), layout="constrained")
ax = fig.subplots()
ax.semilogy(run.t[1:], run.t[1:] - run.t[:-1], lw=0.8)
for doubt in run.doubts:
    ax.axvline(doubt.time, color="C3", ls=":", label=doubt.name)
ax.set(xlabel="t [s]", title="size of the steps [s]")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert not run.success
