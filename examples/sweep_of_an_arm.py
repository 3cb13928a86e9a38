"""How far does the second bar of a double pendulum swing?  256 pendulums, eight at a time in lanes.

Masses and lengths are vectors of eight numbers; every cell has the bits of a run of its own.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import integrators
from mechanics import Body, Inertia, Tree, joints


def pendulum(mass, length):
    """A bar of 1 m and 1 kg, and one of another mass and length below it."""
    hinge, bodies = joints.Revolute((0.0, 1.0, 0.0)), []
    for name, m, l, below in (("upper", 1.0, 1.0, None), ("lower", mass, length, "upper")):
        bar = Inertia.about_com(m, (0.0, 0.0, -0.5 * l), m * l**2 / 12 * np.diag([1.0, 1.0, 1e-2]))
        bodies.append(Body(name, hinge, below, (0.0, 0.0, -1.0 if below else 0.0), inertia=bar))
    return Tree(bodies).problem([1.2, 0.0])


table = integrators.sweep(
    pendulum,
    {"mass": np.geomspace(0.1, 10.0, 16), "length": np.linspace(0.3, 1.5, 16)},
    "RKMK4",
    (0.0, 10.0),
    0.005,  # in steps of 0.01 one chaotic motion of these 256 is known to a twentieth of its way, and doubtful
    quantities={
        "swing": lambda solution: np.abs(solution["q"][:, 1]).max(),
        "error": lambda solution: solution.error("energy"),
    },
    units={"mass": "kg", "length": "m", "swing": "rad"},
)
assert (table["status"] == "OK").all()
print(f"{table['swing'].size} pendulums, largest error of the energy {float(table['error'].max()):.1e}")

fig = Figure(figsize=(5.2, 3.8), layout="constrained")
ax = fig.subplots()
shown = ax.pcolormesh(table["length"], table["mass"], np.minimum(table["swing"], 2 * np.pi), cmap="viridis")
ax.set(yscale="log", xlabel="length of the second bar [m]", ylabel="its mass [kg]")
fig.colorbar(shown, label="largest angle of its hinge [rad]")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
