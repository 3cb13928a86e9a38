"""Ranks that need care: rows that hold nothing, and positions where closures depend on each other."""

import numpy as np
import pytest

from integrators import integrate
from mechanics import Body, Frame, Inertia, ModelError, ModelWarning, Tree
from mechanics.constraints.loops import revolute, spherical
from mechanics.constraints.wheels import skate
from mechanics.joints import Planar, Revolute
from mechanics.mechanism import Mechanism

SOLID = Inertia.about_com(2.0, (0.4, 0.0, 0.1), np.diag([0.2, 0.3, 0.4]))


def door(axis):
    """A door on one hinge of the tree and one of a closure, on one line."""
    a, foot = np.array(axis) / np.linalg.norm(axis), np.array([0.1, 0.2, 0.3])
    tree = Tree([Body("door", Revolute(axis), None, foot, inertia=SOLID)], "door")
    upper = revolute(Frame.with_axis(None, foot + 1.1 * a, axis), Frame.with_axis("door", 1.1 * a, axis), "upper")
    return Mechanism(tree, [upper])


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.3, -0.5, 0.7)])
def test_a_door_on_two_hinges_turns_as_on_one(axis):
    """Every row of the second hinge is zero in exact arithmetic: rank 0, whatever the rounding."""
    made = door(axis)
    m = made.mobility
    assert (m.rank, m.dof, m.redundant, m.kept) == (0, 1, 5, [])
    assert np.isfinite([m.smallest, m.next]).all()
    assert not m.is_doubtful
    assert made.velocities(made.home, {"door_joint": 2.0}).v == pytest.approx([2.0], abs=1e-15)
    run = integrate(made.problem(v=[2.0]), "RKMK4", (0.0, 1.0), step=0.01)
    alone = integrate(made.tree.problem([0.0], [2.0]), "RKMK4", (0.0, 1.0), step=0.01)
    assert run.success
    assert run.y[-1] == pytest.approx(alone.y[-1], abs=1e-13)


def test_rounding_of_one_kind_of_rows_has_no_say_beside_rows_that_hold():
    """A door with a pin at its tip: rows of shifts hold it, those of turns are zero but for rounding."""
    axis = np.array([0.3, -0.5, 0.7])
    made = door(tuple(axis))
    tip = np.array([0.6, 0.1, 0.2])
    pin = spherical(Frame(None, made.tree.bodies[0].position + tip), Frame("door", tip), "pin")
    m = Mechanism(made.tree, [*made.equations.closures, pin]).mobility
    assert (m.rank, m.dof) == (1, 0)
    assert m.scales.max() < 1e3


LENGTH, HALF = 2.0, 0.7


def car(left, right, rank=None):
    """A car in the plane: blades across the rear axle and under each front wheel, which steer by themselves."""
    wheel = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.2, 0.3, 0.4]))
    bodies = [
        Body("chassis", Planar(), inertia=SOLID),
        Body("left", Revolute(), "chassis", (LENGTH, HALF, 0.0), inertia=wheel),
        Body("right", Revolute(), "chassis", (LENGTH, -HALF, 0.0), inertia=wheel),
    ]
    blades = [
        skate(Frame.with_axis(name, axis=(0, 1, 0)), name=f"blade {name}") for name in ("chassis", "left", "right")
    ]
    return Mechanism(Tree(bodies, "car"), blades, home=[0.0, 0.0, 0.0, left, right], rank=rank)


RADIUS = 5.0
ACKERMANN = (np.arctan(LENGTH / (RADIUS - HALF)), np.arctan(LENGTH / (RADIUS + HALF)))
AROUND = {"chassis_joint": (1.0, 0.0, 1.0 / RADIUS)}


def test_a_position_where_wheels_lose_rank_is_named():
    """The normals of all wheels meet in one point: three rows of rank 2, and the car can go round that point."""
    with pytest.warns(
        ModelWarning, match=r"singular position.*rank 2 there and 3 elsewhere \(blade chassis, blade left"
    ):
        made = car(*ACKERMANN)
    assert (made.mobility.rank, made.mobility.at_home) == (3, 2)
    assert made.mobility.is_singular_at_home
    assert "home is a singular position" in made.mobility.report()
    with pytest.raises(ModelError, match=r"singular position.*rank 2 here and 3 elsewhere.*rank=2"):
        made.velocities(made.home, AROUND)
    v = car(*ACKERMANN, rank=2)
    assert np.allclose(v.velocities(v.home, AROUND).v, (1.0, 0.0, 1.0 / RADIUS, 0.0, 0.0), atol=1e-14)


@pytest.mark.parametrize(("rate", "slips"), [(0.0, False), (1e-4, True), (0.3, True)])
def test_wheels_that_slip_because_the_rank_was_given_too_small_are_doubtful(rate, slips):
    """With rank 2 the car goes round its point; where a wheel is steered, the third blade slips."""
    made = car(*ACKERMANN, rank=2)
    v = made.velocities(made.home, AROUND).v + rate * np.eye(made.tree.nv)[3]
    run = integrate(made.problem(v=v), "RKMK4", (0, 1), 1e-3)
    assert (run.maximum("velocity_gap") > 1e-5) == slips
    assert [doubt.name for doubt in run.doubts] == ["velocity_gap"] * slips
    assert run.success != slips


def test_velocities_at_a_singular_position_are_numbers_or_refused():
    """Wheels straight: the front blades depend on each other exactly, which gave NaN."""
    with pytest.warns(ModelWarning, match=r"\(blade left, blade right\)"):
        made = car(0.0, 0.0)
    with pytest.raises(ModelError, match="singular position"):
        made.velocities(made.home, {"chassis_joint": (1.0, 0.0, 0.0)})


def test_a_position_like_others_says_nothing():
    m = car(0.1, 0.3).mobility
    assert m.at_home == m.rank == 3
    assert m.at_stake == ()
