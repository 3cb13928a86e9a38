"""What a double pendulum weighs, from its angles alone: masses and lengths by Gauss and Newton, with the exact
derivatives of a whole run.

A known torque at the first joint moves it; the angles are measured with noise at every step.  The derivative of all
angles by masses and lengths is that of the run as it was computed (`DifferentiableRun.jvp`), so that the iteration
converges in a few rounds, and the estimates are as far from the truth as the noise lets them be.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators.adjoint import DifferentiableRun, parameter_directions
from integrators.problem.lagrangian import lagrangian_problem

H, STEPS, NOISE, G = 0.02, 100, 2e-3, 9.81
NAMES = ("m1", "m2", "l1", "l2")
TRUE = np.array([1.2, 0.7, 0.9, 0.6])  # kg, kg, m, m


def lagrangian(t, q, v, p):
    """T − V with p = (torque, (m₁ + m₂) l₁², m₂ l₂², m₂ l₁ l₂, g (m₁ + m₂) l₁, g m₂ l₂)."""
    kinetic = 0.5 * p[1] * v[0] ** 2 + 0.5 * p[2] * v[1] ** 2 + p[3] * np.cos(q[0] - q[1]) * v[0] * v[1]
    return kinetic + p[4] * np.cos(q[0]) + p[5] * np.cos(q[1])


plain = lagrangian_problem(lagrangian, [0.8, -0.4], parameters=np.ones(6), force=lambda t, q, v, p: [p[0], 0.0])


def make(x):
    """The pendulum with masses and lengths x, at rest; its torque is an input."""
    m1, m2, l1, l2 = x
    numbers = [0.0, (m1 + m2) * l1**2, m2 * l2**2, m2 * l1 * l2, G * (m1 + m2) * l1, G * m2 * l2]
    return replace(plain, parameters=numbers, inputs={"torque": 0})


torque = 3.0 * np.sin(4.0 * H * np.arange(STEPS))[:, None]
start = np.array([0.8, -0.4, 0.0, 0.0])


def predicted(x):
    """The angles (STEPS + 1, 2) and their derivatives by x (4, STEPS + 1, 2)."""
    run = DifferentiableRun(make(x), "DEL_MIDPOINT", H, STEPS, parameters=parameter_directions(make, x))
    states, slopes = run.jvp(start, np.zeros((4, 4)), u=torque, dx=np.eye(4))
    return states[:, :2], slopes[:, :, :2]


rng = np.random.default_rng(0)
exact = DifferentiableRun(make(TRUE), "DEL_MIDPOINT", H, STEPS).states(start, torque)[:, :2]
measured = exact + NOISE * rng.normal(size=exact.shape)

x, errors = np.array([1.0, 1.0, 1.0, 0.5]), []
for iteration in range(20):
    angles, slopes = predicted(x)
    J, miss = slopes.reshape(4, -1).T, (measured - angles).ravel()
    change = np.linalg.lstsq(J, miss)[0]
    x = x + min(1.0, 0.3 / np.abs(change / x).max()) * change  # no more than 30 % at once
    errors.append(np.sqrt(np.mean(miss**2)))
    print(f"iteration {iteration}: misses by {errors[-1]:.2e} rad, next {x.round(4)}")
    if np.abs(change).max() < 1e-9:
        break
assert np.abs(change).max() < 1e-9

deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
for name, found, true, sigma in zip(NAMES, x, TRUE, deviation, strict=True):
    print(f"{name}: {found:.4f} ± {sigma:.4f}, true {true}")
assert (np.abs(x - TRUE) < 4.0 * deviation).all()

t = H * np.arange(STEPS + 1)
fig = Figure(figsize=(7.0, 3.2), layout="constrained")
left, right = fig.subplots(1, 2, width_ratios=(3, 2))
for k, colour in enumerate(("C0", "C1")):
    left.plot(t, measured[:, k], ".", color=colour, markersize=2.5)
    left.plot(t, angles[:, k], color=colour, label=f"angle {k + 1}")
left.set(xlabel="t [s]", ylabel="[rad]", title="measured and predicted")
left.legend()
right.semilogy(errors, "o-")
right.axhline(NOISE, color="k", linewidth=0.8, label="noise")
right.set(xlabel="iteration", ylabel="miss [rad]", title="Gauss and Newton")
right.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
