"""A force element of your own: a bead on a rubber cord that becomes stiffer as it stretches.

The law is a formula of scalars; packing, kernels and every formulation know it by themselves.  It acts in the
variational step as it does in Runge-Kutta methods.
"""

from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from integrators import integrate
from liegroup.compile import helper
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.forces import OnJoint, register
from mechanics.joints import Prismatic


@helper
def law(numbers, u, s):
    """The force −α u − β u³, the stored energy α u²/2 + β u⁴/4, nothing lost."""
    alpha, beta = numbers
    return -(alpha + beta * u * u) * u, (0.5 * alpha + 0.25 * beta * u * u) * u * u, 0.0 * s


@dataclass(frozen=True)
class Rubber(OnJoint):
    """α in N/m, β in N/m³."""

    law = staticmethod(law)
    alpha: float
    beta: float


register(Rubber)
bead = Tree([Body("bead", Prismatic((0, 0, 1)), inertia=Inertia.point(0.5))])
cord = Mechanism(bead, elements=[[Rubber("bead_joint", 40.0, 900.0)]])

fig = Figure(figsize=(5.0, 4.0), layout="constrained")
ax = fig.subplots()
for height in (-0.05, 0.05, 0.2, 0.35):
    run = integrate(cord.problem([height], [0.0]), "TREE_VARIATIONAL", (0, 2), step=2e-3)
    print(f"from {height} m: energy error {run.error('energy'):.1e}")
    ax.plot(run["q"][:, 0], run["p"][:, 0], lw=0.8)
    assert run.success
ax.set(xlabel="height [m]", ylabel="momentum [kg m/s]", title="bead on rubber under gravity")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
