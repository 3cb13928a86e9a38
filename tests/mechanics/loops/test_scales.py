"""Mechanisms of any size: with all lengths times L at the same masses and times, energies times L², the motion is the
same, to rounding; no 1 m is hidden in what closes, starts or solves.
"""

from dataclasses import replace

import numpy as np
import pytest

from integrators import integrate
from mechanics import Body, Inertia, Tree
from mechanics.constraints import distance
from mechanics.errors import ModelError
from mechanics.forces import joint_spring, joint_stop
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.joints import Prismatic, Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
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


def bead(L):
    """A point on three slides, held on a sphere, with a stiff spring across: no coordinate is an angle."""
    inertia = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.01 * L**2 * np.eye(3))
    parents = (None, "x", "y")
    bodies = [
        Body(name, Prismatic(axis), parent, inertia=inertia)
        for name, axis, parent in zip("xyz", np.eye(3), parents, strict=True)
    ]
    rod = distance(Frame("z"), Frame(None, (0.0, -0.3 * L, 0.0)), np.hypot(1.0, 0.3) * L, "rod")
    spring = joint_spring("z_joint", STIFF, rest=0.0)
    return Mechanism(Tree(bodies, gravity=(0.0, -9.81 * L, 0.0)), [rod], [L, 0.0, 0.0], [spring])


def _motions(L):
    yield constrained_problem(bead(L), v=np.array([-0.3, 1.0, 1e-3]) * L), np.ones(6)
    yield (
        constrained_problem(slider_crank(L), rates={"crank_joint": 6.0, "tip_joint": 0.0}),
        np.concatenate([UNITS, UNITS]),
    )


RARE = [pytest.param(x, marks=pytest.mark.slow) for x in ("RADAU_INDEX3", "RADAU_INDEX2", "AUGMENTED_LAGRANGIAN")]


@pytest.mark.parametrize("method", ["RADAU_GGL", "ALPHA_INDEX3", "ALPHA_STABILISED", *RARE])
def test_the_same_motion_at_every_size(method):
    """Steps with h ω = 100: a metre in the place of the size ends ALPHA_INDEX3 2e-5 off at L = 1e-9, and says OK."""
    ends: dict[float, list[np.ndarray]] = {}
    for L in (1.0, *SCALES):
        for problem, powers in _motions(L):
            run = integrate(problem, method, (0.0, 0.3), 0.01)
            assert run.status.name == "OK", run.message
            ends.setdefault(L, []).append(run.y[-1] / L**powers)
    for L in SCALES:
        for wanted, found in zip(ends[1.0], ends[L], strict=True):
            assert np.abs(found - wanted).max() < 5e-12


def stopped(L, M):
    """A double pendulum that strikes the ends of its joints; lengths in L m, masses in M kg."""
    force, moments = M * L**2, np.diag([0.08, 0.09, 0.01]) * M * L**2
    bar = Inertia.about_com(M, (0.02 * L, 0.0, -0.5 * L), moments)
    hinge = Revolute((0.0, 1.0, 0.0))
    tree = Tree(
        [Body("upper", hinge, inertia=bar), Body("lower", hinge, "upper", (0.0, 0.0, -L), inertia=bar)],
        gravity=(0.0, 0.0, -9.81 * L),
    )
    stops = [
        joint_stop("upper_joint", lower=-0.5, upper=0.5, stiffness=2000.0 * force, damping=0.05),
        joint_stop("lower_joint", lower=-0.3, upper=1.0, stiffness=500.0 * force, damping=0.05),
    ]
    return Mechanism(tree, elements=stops).problem([0.4, 0.9], [0.5, 0.0])


@pytest.mark.parametrize("asked", [{}, {"method": "RKMK_DOP853", "rtol": 1e-9}], ids=["nothing", "rtol"])
@pytest.mark.parametrize(("L", "M"), [(1e-3, 1e-9), (1e-6, 1e-15), (1e3, 1.0), (1e3, 1e3)])
def test_the_usual_absolute_tolerance_knows_no_metre_and_no_kilogram(L, M, asked):
    """Momenta of 1e-15 kg·m²/s were left to themselves beside atol = 1e-12: 0.02 rad off, with success."""
    right = integrate(stopped(1.0, 1.0), "RKMK_DOP853", (0.0, 3.0), rtol=1e-12, atol=1e-14)["q"][-1]
    unit, made = (integrate(stopped(*units), t_span=(0.0, 3.0), **asked) for units in ((1.0, 1.0), (L, M)))
    assert unit.success
    assert made.success
    assert np.abs(made["q"][-1] - right).max() < 2e-5
    assert abs(made.steps - unit.steps) < 0.1 * unit.steps


@pytest.mark.parametrize("scales", [np.ones(3), np.zeros(6), np.full(6, np.nan)], ids=["few", "0", "nan"])
def test_wrong_scales_are_named(scales):
    with pytest.raises(ValueError, match=r"scales: .* expected 6 positive numbers"):
        replace(constrained_problem(bead(1.0)), scales=scales)


def test_what_is_said_of_a_failure_does_not_lose_the_run():
    """An explicit method far beyond its limit: where the state has left all sense, the rank cannot be looked at."""
    problem = constrained_problem(slider_crank(1e-6), rates={"crank_joint": 6.0, "tip_joint": 0.0})
    run = integrate(problem, "DLA", (0.0, 0.3), 0.01)
    assert run.status.is_failure
    assert run.message
