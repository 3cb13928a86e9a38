"""A bicycle without a rider balances itself between 4.3 and 6.0 m/s: eigenvalues from a tree on two wheels.

The mechanism is the benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab 2007.  `mechanics.stability`
linearises its rolling motion at every speed.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from mechanics.systems.rolling import whipple_bicycle

bicycle = whipple_bicycle.mechanism()
radius = whipple_bicycle.Bicycle().rear_radius
speeds, found = np.linspace(0.5, 9.0, 18), []
for speed in speeds:
    v = bicycle.velocities(bicycle.home, {"rear wheel_joint": -speed / radius}).v
    found.append(mechanics.stability(bicycle, (bicycle.home, v)))
weave, capsize = (f(whipple_bicycle.Bicycle()) for f in (whipple_bicycle.weave_speed, whipple_bicycle.capsize_speed))
print(f"stable between {weave:.3f} and {capsize:.3f} m/s")

fig = Figure(figsize=(6.0, 3.6), layout="constrained")
ax = fig.subplots()
for speed, motion in zip(speeds, found, strict=True):
    ax.plot(np.full(motion.eigenvalues.shape, speed), motion.eigenvalues.real, "C0.", ms=4)
ax.axvspan(weave, capsize, color="C2", alpha=0.2, label="balances itself")
ax.axhline(0, color="0.5", lw=0.8)
ax.set(xlabel="speed [m/s]", ylabel="Re λ [1/s]", ylim=(-12, 7), title="benchmark bicycle")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert [m.verdict for m, s in zip(found, speeds, strict=True) if weave < s < capsize] == ["stable"] * sum(
    (weave < speeds) & (speeds < capsize)
)
