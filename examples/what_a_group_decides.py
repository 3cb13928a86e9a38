"""What a configuration group decides: between two poses SE(3) moves on a screw, SO(3) × R³ on a straight line.

Both groups describe the same poses.  Everything that is built from exp and log, integrators included, moves
differently on them.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from liegroup import product, rn, se3, so3

turn = so3.exp([0.0, 0.0, 2.5])
start, end = se3.identity(), np.array([1.0, 1.0, 0.0, *turn])
both = product(so3, rn(3))
times = np.linspace(0, 1, 9)

screw = se3.compose(start, se3.exp(times[:, None] * se3.log(se3.compose(se3.inverse(start), end))))
apart = both.exp(times[:, None] * both.log(np.concatenate([turn, [1.0, 1.0, 0.0]])))

fig = Figure(figsize=(7.0, 3.6), layout="constrained")
for ax, name, positions, rotations in zip(
    fig.subplots(1, 2),
    ("SE(3)", "SO(3) × R³"),
    (screw[:, :3], apart[:, 4:]),
    (screw[:, 3:], apart[:, :4]),
    strict=True,
):
    ax.plot(*positions[:, :2].T, "0.7")
    for axis, colour in ((0, "C3"), (1, "C2")):
        tips = so3.act(rotations, 0.2 * np.eye(3)[axis])
        ax.quiver(
            *positions[:, :2].T, *tips[:, :2].T, color=colour, angles="xy", scale_units="xy", scale=1, width=0.006
        )
    ax.set(title=name, aspect="equal", xlabel="x", ylabel="y")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
assert np.allclose(screw[-1], end)
assert np.allclose(apart[-1, 4:], end[:3])
