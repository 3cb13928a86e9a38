"""A heavy top for a million steps: what an explicit method of order 4 and a variational one of order 2 keep.

The top of Lagrange spins at 5 rad/s, tilted by 1 rad, for 20 000 s.  The variational method solves one small equation a
step: its energy stays in a band, its momenta are exact.  RK4 on the group loses energy and vertical momentum, slowly
and for ever.
"""

from pathlib import Path

from integrators import integrate
from integrators.analysis.figures import invariant_figure
from mechanics.systems import lagrange_top

top, span, step = lagrange_top(), (0.0, 2e4), 0.02
runs = [integrate(top, method, span, step=step) for method in ("LGVI_CAYLEY", "RKMK4")]
for run in runs:
    errors = ", ".join(f"{name} {run.error(name):.1e}" for name in run.invariant_names)
    print(f"{run.method}: {1e9 * run.seconds / run.steps:.0f} ns a step; relative errors: {errors}")

invariant_figure(runs, ("energy", "vertical_momentum"), relative=True).savefig(
    Path(__file__).with_suffix(".png"), dpi=110
)
assert runs[0].error("axial_momentum") < 1e-11
