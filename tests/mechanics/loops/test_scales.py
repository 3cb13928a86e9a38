"""Mechanisms of any size: with all lengths times L at the same masses and times, energies times L², the motion is the
same, to rounding; no 1 m is hidden in what closes, starts or solves.
"""

import numpy as np
import pytest

from mechanics import Body, Inertia, Tree
from mechanics.errors import ModelError
from mechanics.forces import joint_spring
from mechanics.joints import Prismatic, Revolute
from mechanics.mechanism import Mechanism
from mechanics.systems.loops.planar_rods import pin

SCALES = [1e-9, 1e-6, 1e-3, 1e3, 1e6]
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
STIFF = 1e8
"""N/m at 0.8 kg: h ω of 100."""


def slider_crank(L):
    """Crank, a rod that a stiff spring lets stretch, and a block on a line; lengths in L m."""

    def piece(mass, length):
        moments = np.diag([1e-3, mass * length**2 / 12.0, mass * length**2 / 12.0])
        return Inertia.about_com(mass, (0.5 * length * L, 0.0, 0.0), moments * L**2)

    bodies = [
        Body("crank", Revolute(Z), inertia=piece(1.0, 0.3)),
        Body("rod", Revolute(Z), "crank", (0.3 * L, 0.0, 0.0), inertia=piece(0.8, 0.4)),
        Body("tip", Prismatic(X), "rod", (0.4 * L, 0.0, 0.0), inertia=piece(0.8, 0.4)),
        Body("block", Prismatic(X), None, (0.0, 0.05 * L, 0.0), inertia=piece(2.0, 0.1)),
    ]
    turn = float(np.arcsin((0.05 - 0.3 * np.sin(0.8)) / 0.8))
    guess = [0.8, turn - 0.8, 0.0, (0.3 * np.cos(0.8) + 0.8 * np.cos(turn)) * L]
    spring = joint_spring("tip_joint", STIFF, rest=0.0)
    return Mechanism(
        Tree(bodies, gravity=(0.0, -9.81 * L, 0.0)), [pin("tip", (0.4 * L, 0), "block", (0, 0), "pin")], guess, [spring]
    )


UNITS = np.array([0.0, 0.0, 1.0, 1.0])
"""Powers of L in its coordinates."""


@pytest.mark.parametrize("L", SCALES)
@pytest.mark.parametrize("rates", [{"crank_joint": 6.0}, {"crank_joint": 6.0, "tip_joint": 0.0}], ids=["least", "all"])
def test_starts_do_not_depend_on_the_unit_of_length(L, rates):
    unit, made = slider_crank(1.0), slider_crank(L)
    _, wanted = unit.start(None, None, rates)
    q, v = made.start(None, None, rates)
    assert np.abs(v / L**UNITS - wanted).max() < 3e-14 * np.abs(wanted).max()
    rough = np.array([0.0, 0.02, 0.01, 0.03])
    found = made.assemble(q + rough * L**UNITS).q / L**UNITS
    assert np.abs(found - unit.assemble(unit.home + rough).q).max() < 1e-13


@pytest.mark.parametrize("L", SCALES)
def test_what_opens_a_loop_is_refused_at_every_size(L):
    """The tolerances are parts of the size, also those of velocities: a micron per second opens what is a nanometre."""
    made = slider_crank(L)
    q, v = made.start(None, None, {"crank_joint": 6.0})
    with pytest.raises(ModelError, match="opens"):
        made.start(None, v + 1e-6 * L**UNITS * np.array([0.0, 0.0, 0.0, 1.0]) * 6.0, None)
    with pytest.raises(ModelError, match="is open"):
        made.start(q + np.array([0.0, 0.0, 0.0, 1e-6 * L]), None, None)
