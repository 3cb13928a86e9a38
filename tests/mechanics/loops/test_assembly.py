"""Assembling moves what opens a loop, and nothing else."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mechanics import Body, Frame, Inertia, Mechanism, ModelError, Tree, frame_pose
from mechanics.constraints import assemble
from mechanics.constraints.couplings import gear, polynomial
from mechanics.constraints.loops import point_on_plane, revolute
from mechanics.joints import Fixed, Motion, Prismatic, Revolute, Rheonomic, Turn

BAR = Inertia.about_com(1.0, (0.3, 0.0, 0.0), np.diag([0.01, 0.02, 0.02]))
HINGE = Revolute((0.0, 0.0, 1.0))


@pytest.mark.parametrize("rounding", [0.0, 1e-12, 1e-9])
def test_a_guide_that_holds_nothing_moves_nothing(rounding):
    """A double pendulum in a tilted plane, its end guided in that plane: closed as it is, but for rounding."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        R, foot, q = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3), rng.uniform(-1.0, 1.0, 2)
        upper = Body("upper", HINGE, None, foot, R, inertia=BAR)
        tree = Tree([upper, Body("lower", HINGE, "upper", (0.6, 0.0, 0.0), inertia=BAR)])
        end = Frame("lower", (0.5, 0.0, 0.0))
        axis = R[:, 2] + rounding * rng.normal(size=3)
        guide = point_on_plane(Frame.with_axis(None, frame_pose(tree, q, end)[0], axis), end, "guide")
        assert np.abs(assemble(tree, [guide], q).q - q).max() < 1e-15


def test_joints_that_a_loop_does_not_feel_stay_where_they_are():
    """A four-bar on an arm, closed and held: the shoulder turns the loop as a whole."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        R = Rotation.random(random_state=seed).as_matrix()
        arm = Body("arm", Revolute(rng.normal(size=3)), None, rng.normal(size=3), R, inertia=BAR)
        bars = [("a", "arm", 0.3), ("b", "a", 0.4), ("c", "b", 1.0)]
        tree = Tree([arm, *(Body(name, HINGE, before, (x, 0.0, 0.0), inertia=BAR) for name, before, x in bars)])
        pin = revolute(Frame("arm", (1.3, 0.0, 0.0)), Frame("c", (0.4, 0.0, 0.0)), "pin")
        closed = assemble(tree, [pin], [0.5, 0.9, -0.9, -1.5], ["arm_joint", "a_joint"]).q
        again = Mechanism.assembled(tree, [pin], closed, ["a_joint", "b_joint", "c_joint"]).home
        assert np.abs(again - closed).max() < 1e-12


@pytest.mark.parametrize(
    ("laws", "guess", "hold", "closed"),
    [
        ({"b": ("a", 2.0, 0.0), "c": ("b", -1.0, 0.1)}, [0.0, 0.0, 0.0], [], [0.0, 0.0, 0.1]),
        ({"a": ("b", 2.0, 0.1), "b": ("c", 1.0, 5.0)}, [0.0, 0.0, 0.0], [], [10.1, 5.0, 0.0]),
        ({"b": ("a", 1.0, 0.3)}, [0.2, 0.0, 0.7], [], [0.2, 0.5, 0.7]),
        ({"b": ("a", 1.0, 0.3)}, [0.0, 0.0, 0.0], ["b_joint"], [-0.3, 0.0, 0.0]),  # what is held leads
        ({"b": ("a", 1.0, 0.3)}, [0.0, 0.1, 0.0], [], [-0.1, 0.2, 0.0]),  # what is guessed moves least
        ({"a": ("b", 2.0, 0.1), "b": ("a", 1.0, 0.0)}, [0.0, 0.0, 0.0], [], [-0.1, -0.1, 0.0]),  # in a circle
    ],
)
def test_joints_that_mimic_begin_where_their_leader_says(laws, guess, hold, closed):
    tree = Tree([Body(name, HINGE, inertia=BAR) for name in "abc"])
    mimics = [
        polynomial(f"{name}_joint", f"{leader}_joint", (offset, factor), kind="mimic")
        for name, (leader, factor, offset) in laws.items()
    ]
    assert assemble(tree, mimics, guess, hold).q == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("speed", [0.3, 3e-7, 3e-15])
def test_rates_that_contradict_each_other_are_named_however_slow(speed):
    bodies = [Body(name, Prismatic((1, 0, 0)), inertia=Inertia.point(1.0)) for name in "ab"]
    geared = Mechanism(Tree(bodies), [gear("b_joint", "a_joint", 2.0)])
    np.testing.assert_allclose(geared.velocities(geared.home, {"a_joint": speed, "b_joint": 2 * speed}).v[0], speed)
    with pytest.raises(ModelError, match="rates of a_joint, b_joint: cannot all be met"):
        geared.velocities(geared.home, {"a_joint": speed, "b_joint": 0.0})


def test_rates_of_joints_that_move_as_told_are_those_they_are_told():
    told = Rheonomic((Turn((0.0, 0.0, 1.0), Motion((0.0, 2.0, 0.5))),))
    bodies = [Body("a", told, inertia=BAR), Body("b", HINGE, "a", inertia=BAR), Body("c", Fixed(), "b", inertia=BAR)]
    made = Mechanism(Tree(bodies))
    assert made.velocities(made.home, {"a_joint": 3.0, "b_joint": 1.0, "c_joint": 0.0}, 1.0).v.tolist() == [1.0]
    with pytest.raises(ModelError, match=r"rates of 'a_joint': are 3.0, but it moves as told, at 2 at t = 0; leave it"):
        made.velocities(made.home, {"a_joint": 3.0})
    with pytest.raises(ModelError, match=r"rates of 'c_joint': are 0.1, but it does not move"):
        made.velocities(made.home, {"c_joint": 0.1})


def test_many_starts_of_a_mechanism_are_states_of_its_problem():
    made = Mechanism(Tree([Body("a", HINGE, inertia=BAR)]))
    starts = [([0.1 * k], [0.2 * k]) for k in range(3)]
    q, v = np.array([q for q, _ in starts]), np.array([v for _, v in starts])
    for given in ((q, v), (q[0], v)):
        with pytest.raises(ValueError, match=r"shape \(3, 1\), expected 1 .*one at a time.*with_start"):
            made.problem(*given)
    problem = made.problem().with_start([made.problem(q, v).y0 for q, v in starts])
    for k, one in enumerate(starts):
        assert (problem.y0[k] == made.problem(*one).y0).all()
    with pytest.raises(ValueError, match=r"shape \(2,\), expected 1 finite numbers in the order of the joints$"):
        made.problem([0.0, 1.0])
