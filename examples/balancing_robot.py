"""A robot on two wheels stands up, drives off and takes a push: a control loop of a hundred times a second.

The robot is a tree on wheels with two motors and a place where one can push it, all of them inputs.  Its gain is that
of the linear motion about standing; between two looks of the controller its torques are held, and `stepper` takes one
step.  The work of motors and push is what the energy gains, to the error of the steps.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import expm, solve_discrete_are

from integrators import stepper
from mechanics import Frame, Mechanism
from mechanics.forces import motor, wrench
from mechanics.systems.rolling import two_wheeled_pendulum

H, STEPS, SPEED = 0.01, 1000, 0.5
model = two_wheeled_pendulum.TwoWheeledPendulum()
bare = two_wheeled_pendulum.mechanism(model)
elements = [
    motor("left_joint"),
    motor("right_joint"),
    wrench(Frame("body", (0.0, 0.0, 0.8)), axes="world", name="push"),
]
robot = Mechanism(bare.tree, bare.equations.closures, bare.home, elements)

# what the controller knows: pitch, its rate, the forward speed, the way so far
radius, iy = model.radius, model.body_moments[1]
moment, rolling = model.body_mass * model.height, model.wheel_mass + model.axial / radius**2
M = np.array([[iy + moment * model.height, moment], [moment, model.body_mass + 2.0 * rolling]])
falls, pushes = np.linalg.solve(M, [moment * model.gravity, 0.0]), np.linalg.solve(M, [-1.0, 1.0 / radius])
A, B = np.zeros((4, 4)), np.zeros((4, 1))  # x = (pitch, pitch rate, speed, way), u the torque of both motors
A[0, 1] = A[3, 2] = 1.0
A[1, 0], A[2, 0], B[1, 0], B[2, 0] = falls[0], falls[1], pushes[0], pushes[1]
held = expm(H * np.block([[A, B], [np.zeros((1, 5))]]))  # over one period, with the torque held
A_h, B_h = held[:4, :4], held[:4, 4:]
P = solve_discrete_are(A_h, B_h, np.diag([10.0, 1.0, 1.0, 10.0]), [[0.05]])
gain = np.linalg.solve(0.05 + B_h.T @ P @ B_h, B_h.T @ P @ A_h)[0]

problem = robot.problem(*two_wheeled_pendulum.state(model, 0.2, 0.0, 0.0, 0.0)).with_work()
step = stepper(problem, "TREE_VARIATIONAL", H)
y, seen = problem.y0, []
for k in range(STEPS):
    t, v = H * k, problem.velocity(0.0, y)
    w, x, qy, z = y[3:7]
    pitch = np.arctan2(2.0 * (w * qy - x * z), 1.0 - 2.0 * (x * x + qy * qy))
    speed = v[0] * np.cos(pitch) + v[2] * np.sin(pitch)
    way = SPEED * np.clip(t - 2.0, 0.0, 2.0)  # stand up, drive a metre, stay there
    torque = -gain @ [pitch, v[4], speed - SPEED * (2.0 < t < 4.0), y[0] - way]
    push = 40.0 if 5.0 < t < 5.1 else 0.0
    energy, *_, balance = problem.invariant_values(t, y)
    seen.append([t, pitch, y[0], torque, energy, balance])
    y = step(y, [torque / 2.0, torque / 2.0, push, 0.0, 0.0, 0.0, 0.0, 0.0])
t, pitch, way, torque, energy, balance = np.transpose(seen)
print(f"stands at {way[-1]:.3f} m, pitch {pitch[-1]:.1e} rad; work {y[problem.n - 8 :].round(3).tolist()} J")
print(f"energy changes by {np.ptp(energy):.2f} J, energy less work by {np.ptp(balance):.1e} J")
assert abs(pitch[-1]) < 0.01
assert abs(way[-1] - 1.0) < 0.02
assert np.ptp(balance) < 1e-2 * np.ptp(energy)

fig = Figure(figsize=(9.0, 3.2), layout="constrained")
left, right = fig.subplots(1, 2)
left.plot(t, pitch, label="pitch [rad]")
left.plot(t, way, label="way [m]")
left.step(t, torque / 10.0, where="post", label="torque [10 N m]")
left.axvspan(5.0, 5.1, color="0.8", label="push of 40 N")
left.set(xlabel="t [s]", title="stands up, drives a metre, takes a push")
right.plot(t, energy - energy[0], label="energy")
right.plot(t, balance - balance[0], label="energy less the work of all inputs")
right.set(xlabel="t [s]", ylabel="change [J]", title="where the energy comes from")
left.legend(fontsize="small", loc="lower right")
right.legend(fontsize="small")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
