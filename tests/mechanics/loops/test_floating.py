"""What floats conserves its momenta, whatever its own joints, loops, motors and prescribed motions do."""

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import Body, Frame, Inertia, JointData, Mechanism, Tree, forces, joints
from mechanics.constraints import distance, gear
from mechanics.joints import Motion, Rheonomic, Turn

ALL = tuple(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz")
UPRIGHT = ("horizontal_momentum_1", "horizontal_momentum_2", "angular_momentum_vertical")
WATCHED = ("energy", "gap", "velocity_gap", "pivot")
PITCH, YAW = joints.Revolute((0.0, 1.0, 0.0)), joints.Revolute((0.0, 0.0, 1.0))


def satellite(gravity=(0.0, 0.0, 0.0), pitch=PITCH, damping=0.0):
    hub = Inertia(20.0, (0.1, -0.05, 0.02), np.diag([3.0, 4.0, 5.0]))
    arm, fore = Inertia.point(3.0, (0.6, 0.0, 0.1)), Inertia.point(2.0, (0.3, 0.05, 0.0))
    bodies = [
        Body("hub", joints.Free(), inertia=hub, joint_name="flight", data=JointData(damping=damping)),
        Body("arm", pitch, "hub", (0.5, 0.0, 0.0), inertia=arm, joint_name="pitch"),
        Body("fore", YAW, "arm", (0.8, 0.0, 0.0), inertia=fore, joint_name="yaw"),
    ]
    return Tree(bodies, "satellite", gravity)


def start(tree):
    generator = np.random.default_rng(1)
    return tree.random_configuration(generator), generator.normal(size=tree.nv)


def by_bodies(tree, q, v, t=0.0):
    """Linear momentum, and the angular one about the origin of the world, body by body."""
    linear, spin = np.split(mechanics.centroidal_momentum(tree, q, v, t), 2)
    return np.concatenate([linear, spin + np.cross(mechanics.centre_of_mass(tree, q, t), linear)])


SPRING = forces.joint_spring("yaw", stiffness=30.0, damping=0.4)
DRIVE = forces.actuator("pitch", gain=5.0, bias=(0.0, -2.0, -1.0), command=Motion((0.0, 2.0)))
ROD = forces.spring_damper(Frame("hub"), Frame("fore"), 20.0, damping=1.0, length=0.5)


@pytest.mark.parametrize("elements", [[SPRING, ROD], [DRIVE]], ids=["springs", "drive"])
def test_the_watched_momenta_are_those_of_the_bodies_and_methods_that_promise_it_keep_them(elements):
    tree = satellite()
    q, v = start(tree)
    problem = Mechanism(tree, elements=elements).problem(q, v)
    assert problem.invariant_names == (*WATCHED, *ALL)
    assert {g.name for g in problem.guards} >= set(ALL)
    true = by_bodies(tree, q, v)
    np.testing.assert_allclose(problem.invariant_values(0.0, problem.y0)[4:], true, rtol=0, atol=1e-13 * tree.mass)
    run = integrate(problem, "TREE_VARIATIONAL", (0.0, 2.0), 0.01)
    assert run.success
    for name, value in zip(ALL, true, strict=True):
        assert np.abs(run[name] - value).max() < 1e-11
    assert integrate(problem, "RKMK4", (0.0, 2.0), 0.01).success


def test_loops_between_the_bodies_and_their_multipliers_change_nothing():
    tree = satellite()
    rod = distance(Frame("hub", (0.0, 0.2, 0.0)), Frame("fore", (0.3, 0.0, 0.0)), 1.5)
    made = Mechanism.assembled(tree, [rod], start(tree)[0])
    problem = made.problem(rates={"flight": [0.1, 0.2, -0.3, 1.0, -0.5, 0.4], "pitch": 1.5})
    assert problem.invariant_names == (*WATCHED, *ALL)
    run = integrate(problem, "RKMK4", (0.0, 1.0), 0.005)
    v, _ = made.rhs(run["q"][-1], run["p"][-1])
    assert run.success
    for name, value in zip(ALL, by_bodies(tree, run["q"][-1], v), strict=True):
        assert np.ptp(run[name]) < 1e-6
        assert np.isclose(run[name][-1], value, rtol=0, atol=1e-11)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, -3.0, -8.0)])
def test_prescribed_joints_do_work_and_change_no_momentum(gravity):
    tree = satellite(gravity, Rheonomic((Turn((0.0, 1.0, 0.0), Motion((0.1, 0.7), ((0.3, 5.0, 0.2),))),)))
    q, v = start(tree)
    problem = mechanics.hamiltonian_problem(tree, q, v, t=0.4)
    names = UPRIGHT if gravity[2] else ALL
    assert problem.invariant_names == names
    if names == ALL:
        true = by_bodies(tree, q, v, 0.4)
        np.testing.assert_allclose(problem.invariant_values(0.4, problem.y0), true, rtol=0, atol=1e-12)
    run = integrate(problem, "RKMK4", (0.4, 1.4), 0.005)
    assert run.success
    assert all(np.ptp(run[name]) < 1e-5 for name in names)
    of_mechanism = Mechanism(tree).problem(q, v, t=0.4)
    assert of_mechanism.invariant_names == (*WATCHED, *names)
    at_start = of_mechanism.invariant_values(0.4, of_mechanism.y0)[4:]
    np.testing.assert_allclose(at_start, problem.invariant_values(0.4, problem.y0), rtol=0, atol=1e-12)


def from_outside():
    yield "spring to the base", [], [forces.spring_damper(Frame("fore"), Frame(None), 20.0)]
    yield "thruster", [], [forces.thruster(Frame("arm"), force=(1.0, 0.0, 0.0))]
    yield "rod to the base", [distance(Frame(None), Frame("fore"), 1.5)], []


@pytest.mark.parametrize(("closures", "elements"), [c[1:] for c in from_outside()], ids=[c[0] for c in from_outside()])
def test_what_acts_from_outside_leaves_no_momentum(closures, elements):
    tree = satellite()
    made = Mechanism.assembled(tree, closures, tree.neutral(), elements=elements)
    assert made.problem().invariant_names == WATCHED


def test_a_hub_that_is_damped_conserves_nothing_and_gears_inside_everything():
    assert Mechanism(satellite(damping=0.1)).problem().invariant_names == WATCHED
    assert Mechanism(satellite(), [gear("pitch", "yaw", 2.0)]).problem().invariant_names == (*WATCHED, *ALL)


def test_a_drive_from_rest_is_no_doubt_and_momentum_that_steps_make_is_one():
    """RKMK4 with steps far too long turns the whole: from zero, by what the joints' momenta then are."""
    drive = forces.actuator("pitch", gain=60.0, command=1.0)
    tree = satellite()
    posed = Mechanism(tree, elements=[drive]).problem(tree.neutral())
    assert integrate(posed, "RKMK4", (0.0, 2.0), 0.01).success
    moving = posed.with_start(np.concatenate([tree.neutral(), 3.0 * start(tree)[1]]))
    fine, coarse = (integrate(moving, "RKMK4", (0.0, 4.0), h) for h in (0.005, 0.2))
    assert fine.success
    assert {doubt.name for doubt in coarse.doubts} & set(ALL)
