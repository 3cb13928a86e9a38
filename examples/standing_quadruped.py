"""A quadruped on compliant feet takes a push: servos hold its legs, contacts with friction its feet.

Every force element says what it stores and what it loses, so that the energy of the whole is accounted for.  Afterwards
it stands still for minutes.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mechanics
from integrators import integrate
from mechanics import Frame, Mechanism
from mechanics.forces import Sphere, contact, servo
from mechanics.joints import Motion

LEGS, STANCE, SHIN, FOOT = ("FL", "FR", "RL", "RR"), {"hip": 0.0, "thigh": 0.9, "calf": -1.8}, 0.213, 0.022
tree = mechanics.load_model("go2")

elements, q, v = [], tree.neutral(), np.zeros(tree.nv)
for leg in LEGS:
    foot = Sphere(Frame(f"{leg}_calf", (0.0, 0.0, -SHIN)), FOOT)
    elements.append(contact(foot, Frame(None), law="hertz", stiffness=8e5, damping=0.3, friction=0.8, slip_speed=0.05))
    for name, angle in STANCE.items():
        joint = f"{leg}_{name}_joint"
        elements.append(servo(joint, stiffness=150.0, damping=5.0, target=Motion((angle,))))
        q[tree.q_slice(joint)] = angle
q[2] = 2.0 * SHIN * np.cos(STANCE["thigh"]) + FOOT
v[1] = 0.8  # a push of 12.9 N·s from the side
dog = Mechanism(tree, elements=elements)
run = integrate(dog.problem(q, v), "TREE_VARIATIONAL", (0.0, 2.0), step=5e-4, save_every=2)
print(f"{run.message}; energy from {run['energy'][0]:.2f} J to {run['energy'][-1]:.2f} J")

accounts = mechanics.element_accounts(dog, run.t, run["q"], run["p"])
feet = [a for a in accounts if a.element.startswith("Contact")]
work = {"feet": sum(a.work for a in feet), "servos": sum(a.work for a in accounts if a not in feet)}
push_and_weight = tree.mass * (np.array([0.0, -v[1], 9.81 * run.t[-1]]))
print(
    "impulse of the feet",
    sum(a.impulse[-1] for a in feet).round(3),
    "N s; of push and weight",
    push_and_weight.round(3),
)

rest = integrate(dog.problem(run["q"][-1]), "TREE_VARIATIONAL", (0.0, 60.0), step=1e-3, save_every=10_000)
drift = np.abs(rest["q"][-1] - rest["q"][-2]).max()
print(f"drift of the stance in the last ten of sixty seconds: {drift:.1e} m or rad")
assert drift < 1e-5

fig = Figure(figsize=(11.0, 3.4), layout="constrained")
look, forces, energy = fig.subplots(1, 3)
for time, tone in ((0.0, "0.75"), (0.15, "tab:red"), (2.0, "k")):
    k = int(np.searchsorted(run.t, time))
    x, R = mechanics.body_poses(tree, run["q"][k])
    for leg in LEGS:
        chain = [x[tree.body_index(name)] for name in ("base", f"{leg}_hip", f"{leg}_thigh", f"{leg}_calf")]
        knee = tree.body_index(f"{leg}_calf")
        chain.append(x[knee] + R[knee] @ (0.0, 0.0, -SHIN))
        look.plot(*np.array(chain)[:, 1:].T, "o-", ms=3, color=tone, label=f"{time:g} s" if leg == "FL" else None)
look.axhline(0.0, color="0.6", lw=0.8)
look.set(aspect="equal", xlabel="y [m]", ylabel="z [m]", title="seen from the front")
look.legend(fontsize=7, loc="center")
for leg, account in zip(LEGS, feet, strict=True):
    forces.plot(run.t, account.force[:, 2], lw=0.9, label=leg)
forces.set(xlim=(0.0, 1.0), xlabel="t [s]", ylabel="load [N]", title="loads of the feet")
forces.legend(fontsize=7)
energy.plot(run.t, run["energy"] - run["energy"][0], "k", label="change of energy")
energy.plot(run.t, work["servos"], label="work of the servos")
energy.plot(run.t, work["feet"], label="work of the feet")
energy.plot(run.t, work["servos"] + work["feet"], "--", color="tab:green", label="sum of work")
energy.set(xlim=(0.0, 1.0), xlabel="t [s]", ylabel="[J]", title="energy and work")
energy.legend(fontsize=7)
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
gap = np.abs(run["energy"] - run["energy"][0] - work["feet"] - work["servos"]).max()
print(f"the account closes to {gap:.1e} J")
assert gap < 0.02
