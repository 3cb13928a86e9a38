"""Stops and dry friction in joints against closed forms: restitution, the course of a slide that is braked, creep."""

import numpy as np
import pytest

from integrators import integrate
from mechanics import Body, Inertia, Mechanism, ModelWarning, Tree
from mechanics.forces import dry_friction, hunt_crossley_factor, joint_stop, motor
from mechanics.joints import Motion, Prismatic, Revolute

MASS = 2.0


def slide(*elements):
    """A bead that slides on a level rail."""
    return Mechanism(Tree([Body("bead", Prismatic((1, 0, 0)), inertia=Inertia.point(MASS))]), elements=elements)


@pytest.mark.parametrize("law", ["hunt_crossley", "hertz"])
@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "RKMK4"])
def test_a_stop_returns_the_speed_that_it_was_made_for(law, method):
    """v⁺ = e v⁻ at either end, and the energy that is lost is ½ m (1 − e²) v²."""
    speed, e = 1.5, 0.8
    damping = hunt_crossley_factor(e, speed=speed)
    rail = slide(joint_stop("bead_joint", lower=-0.1, upper=0.1, stiffness=2e4, damping=damping, law=law))
    run = integrate(rail.problem([0.0], [speed]), method, (0.0, 0.2), step=1e-4)
    assert run.success
    v = run["p"][:, 0] / MASS
    assert v[-1] == pytest.approx(-e * speed, rel=2e-4)
    assert run["q"].max() > 0.1 + 1e-3
    assert run["energy"][0] - run["energy"][-1] == pytest.approx(0.5 * MASS * (1 - e**2) * speed**2, rel=1e-3)
    other = integrate(rail.problem([0.0], [-speed]), method, (0.0, 0.2), step=1e-4)
    assert np.allclose(other["q"], -run["q"], rtol=0, atol=1e-14)


def test_a_stop_without_damping_stores_and_gives_back():
    rail = slide(joint_stop("bead_joint", upper=0.1, stiffness=2e4))
    run = integrate(rail.problem([0.0], [1.5]), "TREE_VARIATIONAL", (0.0, 0.2), step=1e-4)
    assert run["q"].max() == pytest.approx(0.1 + 1.5 * np.sqrt(MASS / 2e4), rel=1e-4)
    assert run["energy"][-1] == pytest.approx(run["energy"][0], rel=2e-5)


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "RKMK4", "MIDPOINT"])
def test_dry_friction_brakes_as_its_closed_form(method):
    """m v̇ = −F tanh(v/v_s): sinh(v/v_s) falls as exp(−F t/(m v_s))."""
    force, v_s, v_0 = 3.0, 0.2, 1.0
    rail = slide(dry_friction("bead_joint", force=force, slip_speed=v_s))
    run = integrate(rail.problem([0.0], [v_0]), method, (0.0, 1.0), step=1e-3)
    true = v_s * np.arcsinh(np.sinh(v_0 / v_s) * np.exp(-force * run.t / (MASS * v_s)))
    assert run["p"][:, 0] / MASS == pytest.approx(true, abs=2e-5)
    lost = np.trapezoid(force * true * np.tanh(true / v_s), run.t)
    assert run["energy"][0] - run["energy"][-1] == pytest.approx(lost, rel=1e-4)


def test_a_joint_that_should_stick_creeps_at_the_known_speed():
    """Steps far above v_s m/F: the variational step finds friction together with the motion."""
    load, force, v_s = 2.0, 3.0, 1e-4
    push = motor("bead_joint", Motion((load,)))
    rail = slide(push, dry_friction("bead_joint", force=force, slip_speed=v_s))
    run = integrate(rail.problem(), "TREE_VARIATIONAL", (0.0, 5.0), step=1e-2)
    assert run["q"][-1, 0] - run["q"][-101, 0] == pytest.approx(v_s * np.arctanh(load / force), rel=1e-6)
    assert slide(push).problem().velocity(0.0, np.zeros(2))[1] == load


def test_a_start_far_beyond_a_stop_is_told_of():
    """Joints whose limits exclude zero, as those of many arms, begin at zero unless somebody says where."""
    bar = Inertia.about_com(1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
    arm = Tree([Body("arm", Revolute((0.0, 1.0, 0.0)), inertia=bar, joint_name="elbow")])
    stopped = Mechanism(arm, elements=[joint_stop("elbow", lower=0.8, upper=2.0, stiffness=300.0)])
    with pytest.warns(ModelWarning, match="joint 'elbow' begins 0.8 beyond its lower stop at 0.8"):
        stopped.problem()
    with pytest.warns(ModelWarning, match="joint 'elbow' begins 0.5 beyond its upper stop at 2"):
        stopped.problem([2.5])
    stopped.problem([1.0])
    stopped.problem([0.795])  # rests on it
