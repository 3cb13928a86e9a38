"""Elastic joints that are turned beyond what their moments hold for are doubted, by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree, forces, joints
from mechanics.constraints import prismatic, revolute, universal, weld
from mechanics.forces.turned import turning, turns

AXIS = (0.0, 1.0, 0.0)
ROD = Tree(
    [Body("rod", joints.Revolute(AXIS), inertia=Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3)))],
    gravity=(0.0, 0.0, 0.0),
)
BASE, ON_ROD = Frame(None), Frame("rod")


@pytest.mark.parametrize(("start", "said"), [(0.78, ""), (0.79, "between the base and 'rod' is turned by 45.3°")])
@pytest.mark.parametrize("way", [{"step": 0.02}, {"rtol": 1e-8}])
def test_a_bushing_turned_beyond_45_degrees_is_doubted(start, said, way):
    elements = [forces.bushing(BASE, ON_ROD, [1e3] * 3 + [10.0] * 3)]
    run = integrate(Mechanism(ROD, elements=elements).problem([start]), "RKMK_DOP853", (0.0, 1.0), **way)
    assert [(doubt.name, said in doubt.says) for doubt in run.doubts] == ([("turn", True)] if said else [])
    assert run.success is not bool(said)
    assert said in run.message


def test_trajectories_that_turn_so_far_are_told_from_others():
    problem = Mechanism(ROD, elements=[forces.bushing(BASE, ON_ROD, [0.0] * 3 + [10.0] * 3)]).problem([0.1])
    problem = problem.with_start([[0.1, 0.0], [0.1, 3.0], [0.7, 0.0]])
    run = integrate(problem, "RKMK4", (0.0, 2.0), 0.01)
    (doubt,) = run.doubts
    assert doubt.trajectory == 1
    assert doubt.time == run.t[np.argmax(np.abs(run["q"][1, :, 0]) > np.pi / 4)]
    assert np.isclose(doubt.value, np.abs((run["q"][1, :, 0] + np.pi) % (2 * np.pi) - np.pi).max())


def test_springs_of_any_turn_and_of_none_are_not_asked():
    spring = forces.torsion_spring(BASE, ON_ROD, 10.0)
    ball = forces.compliant(weld(BASE, ON_ROD), [1e3] * 3 + [0.0] * 3)
    assert Mechanism(ROD, elements=[spring, ball]).problem([2.0]).doubts is None


@pytest.mark.parametrize(
    ("closure", "angle"),
    [
        (weld, lambda R: np.linalg.norm(R.as_rotvec())),
        (prismatic, lambda R: np.linalg.norm(R.as_rotvec())),
        (revolute, lambda R: np.arccos(R.as_matrix()[2, 2])),
        (universal, lambda R: np.arcsin(abs(R.as_matrix()[2, 0]))),
    ],
)
def test_the_turn_is_that_of_the_axes_that_are_held(closure, angle):
    random = np.random.default_rng(4)
    E, H, *bodies = (Rotation.from_quat(x) for x in random.normal(size=(4, 4)))
    first, second = Frame("a", rotation=E.as_matrix()), Frame("b", rotation=H.as_matrix())
    others = forces.compliant(universal(Frame(None), second), 1.0)  # of another joint
    found = turning([*forces.bushing(first, Frame("c"), 1.0), *forces.compliant(closure(first, second), 1.0), *others])
    joint = found[1]
    relative = (bodies[0] * E).inv() * (bodies[1] * H)
    rotations = np.array([[R.as_matrix() for R in (*bodies, bodies[0])]])
    assert [len(springs) for springs in found] == [3, len(joint), 1]
    assert joint[0].second == "b"
    assert np.isclose(turns(joint, ("a", "b", "c"), rotations)[0], angle(relative), atol=1e-12)


@pytest.mark.parametrize("free", range(3))
def test_a_bushing_that_is_free_about_an_axis_may_not_be_turned_far_about_it(free):
    """Its two other products of axes belong to the two other axes for small turns about that one only."""
    axis = np.eye(3)[(2, 0, 1)[free]]  # turns about z, x, y
    stiffness = [1e3] * 3 + [0.0 if k == free else 10.0 for k in range(3)]
    (joint,) = turning(forces.bushing(Frame(None), Frame("b"), stiffness))
    assert len(joint) == 2
    for angle in (0.3, 1.2):
        R = Rotation.from_rotvec(angle * axis).as_matrix()
        assert np.isclose(turns(joint, ("b",), R[None, None])[0], angle, atol=1e-12)
    rotor = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))
    tree = Tree([Body("b", joints.Revolute(axis), inertia=rotor)], gravity=(0.0, 0.0, 0.0))
    mechanism = Mechanism(tree, elements=[forces.bushing(BASE, Frame("b"), stiffness)])
    run = integrate(mechanism.problem([0.0], [1.0]), "RKMK4", (0.0, 1.0), 0.02)
    assert [doubt.name for doubt in run.doubts] == ["turn"]
    assert "the two others become one" in run.message
    assert "compliant(revolute" in run.message
