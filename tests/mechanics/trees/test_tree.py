"""Trees refuse what cannot move, and say what to do."""

from dataclasses import dataclass

import numpy as np
import pytest

import mechanics
from liegroup import table
from mechanics import Body, Inertia, JointData, Mechanism, ModelError, ModelWarning, Tree
from mechanics.algorithms import era
from mechanics.closed_trees.field import closed
from mechanics.joints import (
    JOINTS,
    Ball,
    Continuous,
    Cylindrical,
    Element,
    Fixed,
    Free,
    Gimbal,
    Helical,
    Joint,
    Motion,
    Planar,
    Prismatic,
    Revolute,
    Rheonomic,
    Spherical,
    Turn,
    Universal,
)
from mechanics.testing import EXAMPLES, random_inertia, random_tree

SOLID = Inertia.about_com(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.25]))


def chain(*parts, **more):
    """A joint of one's own, with these elements and whatever else its class says."""
    return type("Own", (Joint,), {"elements": property(lambda self: parts), **more})()


class Geared(Turn):
    """Turns by half its coordinate."""

    def pose(self, q, t):
        return super().pose([0.5 * q[0]], t)

    def basis(self, q):
        return 0.5 * super().basis(q)


class Cam(Element):
    """An elementary motion that no kernel has a branch for."""

    code = 1


class Late(Motion):
    """A motion of one's own."""

    def value(self, t):
        return super().value(t - 1.0)


@dataclass(frozen=True)
class Knee(Turn):
    """A turn that is one: another default, other labels, and a word of its own."""

    axis: tuple = (0.0, 1.0, 0.0)
    q_labels = ("bend",)

    def bent(self, q):
        return q[0] > 0.1


def arm(*bodies, **options):
    return Tree([Body("base", Revolute(), inertia=SOLID), *bodies], **options)


def test_a_tree_knows_its_sizes_names_and_slices():
    tree = arm(
        Body("slider", Prismatic((1, 0, 0)), "base", inertia=SOLID, joint_name="rail"),
        Body("plate", Fixed(), "slider", inertia=SOLID),
        Body("float", Free(), "plate", inertia=SOLID),
        Body("wheel", Continuous(), "float", inertia=SOLID),
    )
    assert (len(tree), tree.nq, tree.nv) == (5, 10, 9)
    assert tree.joint_names == ("base_joint", "rail", "float_joint", "wheel_joint")
    assert tree.q_slice("float_joint") == slice(2, 9)
    assert tree.v_slice("float_joint") == slice(2, 8)
    assert tree.q_slice("plate_joint") == slice(2, 2)
    assert tree.roots == (0,)
    assert tree.children[1] == (2,)
    assert tree.mass == 5.0
    assert tree.neutral()[5] == 1.0
    assert list(tree.group.table[:, table.KIND]) == [table.RN, table.SE3, table.SO2]
    assert tree.group.n_q == tree.nq
    assert tree.group.n_v == tree.nv


@pytest.mark.parametrize("kind", JOINTS)
def test_the_group_of_a_joint_has_its_sizes(kind):
    joint = EXAMPLES[kind](np.random.default_rng(0))
    assert len(joint.neutral()) == len(joint.q_labels) == len(joint.q_units) == joint.n_q
    assert len(joint.v_labels) == len(joint.v_units) == joint.n_v
    assert len(set(joint.q_labels)) == joint.n_q
    if joint.n_q:
        tree = Tree([Body("body", joint, inertia=SOLID)])
        assert (tree.group.n_q, tree.group.n_v) == (joint.n_q, joint.n_v)
        assert tree.group.is_element(tree.random_configuration(np.random.default_rng(1)))


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind is not Fixed])
def test_the_basis_of_a_joint_is_the_derivative_of_its_pose_and_its_rate_is_its_own(kind):
    """A, Vᴶ and Ȧ against differences of G and ρ along a motion."""
    generator = np.random.default_rng(2)
    joint, t, h = EXAMPLES[kind](generator), 0.4, 1e-4
    tree = Tree([Body("body", joint, inertia=SOLID)], gravity=(0, 0, 0))
    q, s = tree.random_configuration(generator), generator.normal(size=joint.n_v)
    state = joint.state(q, s, t)
    moved = [joint.state(tree.group.compose(q, tree.group.exp(k * h * s)), s, t + k * h) for k in (-1, 1)]
    twist = state.A @ s + state.drift
    rho_rate = (moved[1].rho - moved[0].rho) / (2 * h)
    G_rate = (moved[1].G - moved[0].G) / (2 * h)
    spin = -G_rate @ state.G.T  # Ġ = −ω̃ G
    assert np.abs(state.G @ rho_rate - twist[:3]).max() < 1e-6
    assert np.abs(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) - twist[3:]).max() < 1e-6
    assert np.abs((moved[1].A - moved[0].A) / (2 * h) - state.A_dot).max() < 1e-6


def test_configurations_of_equal_angle_on_the_circle_are_one():
    tree = Tree([Body("wheel", Continuous(), inertia=SOLID)])
    assert tree.group.distance([0.1], [0.1 + 2 * np.pi]) < 1e-12


BAD = {
    "unknown parent": (lambda: arm(Body("a", Revolute(), "bse", inertia=SOLID)), "'bse' is unknown"),
    "two bodies of one name": (lambda: arm(Body("base", Revolute(), inertia=SOLID)), "another body of this name"),
    "a model twice": (
        lambda: Tree(2 * arm(Body("hand", Revolute(), "base", inertia=SOLID)).bodies),
        "another body of this name",
    ),
    "two joints of one name": (
        lambda: arm(Body("a", Revolute(), inertia=SOLID, joint_name="base_joint")),
        "another joint of this name",
    ),
    "cycle": (
        lambda: Tree([Body("a", Revolute(), "b", inertia=SOLID), Body("b", Revolute(), "a", inertia=SOLID)]),
        "cycle a → b → a",
    ),
    "child first": (
        lambda: Tree([Body("a", Revolute(), "b", inertia=SOLID), Body("b", Revolute(), inertia=SOLID)]),
        "before its parent 'b'",
    ),
    "no bodies": (lambda: Tree([]), "no bodies"),
    "negative mass": (lambda: arm(Body("a", Revolute(), inertia=Inertia.point(-1.0))), "mass -1 kg"),
    "negative moments": (
        lambda: arm(Body("a", Revolute(), inertia=Inertia.about_com(1, (0, 0, 0), -np.eye(3)))),
        "none below zero",
    ),
    "origin for centre": (
        lambda: arm(Body("a", Revolute(), inertia=Inertia.about_origin(1, (1, 0, 0), 0.1 * np.eye(3)))),
        "about the origin or the centre of mass",
    ),
    "not a triangle": (
        lambda: arm(Body("a", Revolute(), inertia=Inertia.about_com(1, (0, 0, 0), np.diag([1, 1, 3])))),
        "strict=False",
    ),
    "not a rotation": (lambda: Body("a", Revolute(), rotation=2 * np.eye(3), inertia=SOLID), "not a rotation matrix"),
    "mirrored": (lambda: Body("a", Revolute(), rotation=-np.eye(3), inertia=SOLID), "not a rotation matrix"),
    "position not finite": (lambda: Body("a", Revolute(), position=(0, np.nan, 0), inertia=SOLID), "position is .*nan"),
    "gravity of two numbers": (lambda: arm(gravity=(0, 9.81)), r"gravity has shape \(2,\)"),
    "joint is a part of joints": (
        lambda: Body("a", Ball(), inertia=SOLID),
        "it is a part of joints",
    ),
    "a joint of a joint": (lambda: Body("a", chain(Revolute())), "an element of its joint is Revolute"),
    "a pose of its own": (
        lambda: Body("a", chain(Turn(), Geared())),
        "body 'a': an element of its joint, Geared, brings `basis`, `pose` of its own.*move it as a Turn",
    ),
    "an element without kernel": (lambda: Body("a", chain(Cam())), "of the class Cam.*compose the motion of Turn, "),
    "a motion of its own": (lambda: Body("a", chain(Turn(motion=Late((0, 1))))), "`value` of its own.*as a Motion"),
    "a state of its own": (lambda: Body("a", chain(Turn(), state=lambda self, q, s, t: 0)), "brings a `state`"),
    "no elements": (lambda: Body("a", Joint()), "its joint, Joint, has no `elements`"),
    "one element": (lambda: Body("a", chain(elements=property(lambda self: Turn()))), r"is Turn\(.*give a tuple"),
    "elements as a method": (lambda: Body("a", chain(elements=lambda self: (Turn(),))), "is a method; make it a prop"),
    "joint is a string": (lambda: Body("a", "revolute", inertia=SOLID), "joint is 'revolute'"),
    "negative damping": (lambda: Body("a", Revolute(), inertia=SOLID, data=JointData(damping=-1)), "damping is"),
    "damping of two numbers": (
        lambda: Body("a", Revolute(), inertia=SOLID, data=JointData(damping=(1, 2))),
        "give one number, or 1",
    ),
    "negative armature": (
        lambda: Body("a", Revolute(), inertia=SOLID, joint_name="j", data=JointData(armature=-0.5)),
        r"joint 'j'.*armature is \[-0.5\].*from 0 to 1e\+50",
    ),
    "armature not finite": (
        lambda: Body("a", Revolute(), inertia=SOLID, data=JointData(armature=np.inf)),
        "armature is",
    ),
    "armature of two numbers": (
        lambda: Body("a", Revolute(), inertia=SOLID, data=JointData(armature=(1, 2))),
        "armature has shape .*give one number, or 1",
    ),
    "limits in the wrong order": (
        lambda: Body("a", Revolute(), inertia=SOLID, joint_name="j", data=JointData(lower=1, upper=-1)),
        "joint 'j'.*lower 1 is above upper -1.*exchange them",
    ),
    "massless leaf": (lambda: arm(Body("a", Revolute(), "base", joint_name="loose")), "'loose'.*moves no inertia"),
    "point mass on its axis": (
        lambda: arm(Body("a", Revolute(), "base", inertia=Inertia.point(1.0))),
        "moves no inertia",
    ),
    "two turns about one axis": (
        lambda: arm(Body("a", Revolute(), "base", joint_name="first"), Body("b", Revolute(), "a", inertia=SOLID)),
        "'first'.*moves no inertia",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_a_tree_is_refused_by_name(name):
    make, message = BAD[name]
    with pytest.raises(ModelError, match=message):
        make()


def test_a_class_derived_from_an_element_that_moves_as_it_does_is_served():
    tree = arm(Body("shin", chain(Knee(motion=None)), "base", inertia=SOLID))
    plain = arm(Body("shin", Revolute((0, 1, 0)), "base", inertia=SOLID))
    assert tree.bodies[1].joint.q_labels == ("bend",)
    assert np.array_equal(mechanics.mass_matrix(tree, [0.3, 0.4]), mechanics.mass_matrix(plain, [0.3, 0.4]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Revolute((0, 0, 0)), "axis"),
        (lambda: Prismatic((0, np.inf, 0)), "axis"),
        (lambda: Helical((0, 0, 1), np.nan), "pitch"),
        (lambda: Planar((1, 0, 0), (1, 1, 0)), "y_axis"),
        (lambda: Universal((1, 0, 0), (2, 0, 0)), "parallel"),
        (lambda: Gimbal(((1, 0, 0), (0, 1, 0))), "three"),
        (lambda: Cylindrical((1, 2)), "axis"),
        (lambda: Inertia.about_com(np.nan, (0, 0, 0), np.eye(3)), "mass"),
        (lambda: Inertia.about_com(1, (0, 0), np.eye(3)), "com"),
        (lambda: Inertia.about_com(1, (0, 0, 0), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
    ],
)
def test_joints_and_inertias_check_their_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_unphysical_inertia_is_used_with_a_warning_that_names_the_body():
    body = Body("odd", Revolute(), inertia=Inertia.about_com(1, (0, 0, 0), np.diag([1, 1, 3])))
    with pytest.warns(ModelWarning, match="'odd'.*sum of the other two"):
        Tree([body], strict=False)


def test_states_of_the_wrong_kind_are_refused_by_name():
    tree = Tree([Body("top", Spherical(), inertia=SOLID), Body("arm", Revolute(), "top", inertia=SOLID)], name="toy")
    q, v = tree.neutral(), np.ones(4)
    for call, message in (
        (lambda: mechanics.hamiltonian_rhs(tree, q[:-1], v), r"q: shape \(4,\), expected \(…, 5\)"),
        (lambda: mechanics.hamiltonian_rhs(tree, q, np.ones(5)), r"p: shape \(5,\), expected \(…, 4\)"),
        (lambda: mechanics.hamiltonian_rhs(tree, q, v * np.nan), r"p: element \(0,\) is nan"),
        (lambda: mechanics.hamiltonian_rhs(tree, 2 * q, v), "quaternion of joint 'top_joint'"),
        (
            lambda: mechanics.hamiltonian_rhs(tree, q, v, wrenches=np.ones((3, 6))),
            r"wrenches: shape \(3, 6\), expected \(…, 2, 6\)",
        ),
        (lambda: mechanics.hamiltonian_rhs(tree, np.tile(q, (3, 1)), np.ones((2, 4))), "do not broadcast"),
        (lambda: mechanics.inverse_dynamics(tree, q, v, np.ones(2)), "a: shape"),
        (lambda: mechanics.mass_matrix(tree, q + np.inf), "q: element"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(KeyError, match="no joint 'elbow'; there are top_joint, arm_joint"):
        tree.q_slice("elbow")


def test_a_locked_gimbal_is_named_and_a_ball_joint_does_not_lock():
    solid = random_inertia(np.random.default_rng(0))
    gimbal = Tree(
        [Body("a", Revolute(), inertia=SOLID), Body("top", Gimbal(), "a", inertia=solid, joint_name="gimbal")]
    )
    q = np.array([0.2, 0.3, np.pi / 2, -0.4])
    with pytest.raises(ValueError, match="'gimbal' moves no inertia"):
        mechanics.hamiltonian_rhs(gimbal, q, np.ones(4))
    with pytest.raises(ValueError, match="'gimbal' moves no inertia"):
        mechanics.forward_dynamics(gimbal, q, np.ones(4))
    assert np.isfinite(mechanics.hamiltonian_rhs(gimbal, q - [0, 0, 0.1, 0], np.ones(4))).all()


def test_massless_links_between_joints_are_fine():
    wrist = [
        Body("yaw", Revolute((0, 0, 1)), "base"),
        Body("pitch", Revolute((0, 1, 0)), "yaw"),
        Body("hand", Revolute((1, 0, 0)), "pitch", inertia=SOLID),
    ]
    one = arm(*wrist)
    other = arm(Body("hand", Gimbal(), "base", inertia=SOLID))
    q, p = np.array([0.1, 0.4, -0.7, 0.3]), np.array([0.3, -0.2, 0.5, 0.9])
    assert np.allclose(mechanics.hamiltonian_rhs(one, q, p), mechanics.hamiltonian_rhs(other, q, p), rtol=0, atol=1e-12)


def test_bodies_on_fixed_joints_are_joined_and_still_addressed():
    plate = Body("plate", Fixed(), "base", (0.3, 0.0, 0.1), inertia=SOLID)
    joined = Tree([Body("base", Revolute(), inertia=SOLID + SOLID.moved((0.3, 0.0, 0.1), np.eye(3)))])
    tree, q, p, wrench = arm(plate), [0.4], [0.7], np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    assert np.allclose(mechanics.hamiltonian_rhs(tree, q, p), mechanics.hamiltonian_rhs(joined, q, p), rtol=1e-14)
    twists = mechanics.body_twists(tree, q, [2.0])
    assert np.allclose(twists[1], [0, 0.6, 0, 0, 0, 2.0], rtol=0, atol=1e-14)
    power = (
        mechanics.hamiltonian_rhs(tree, q, p, np.array([0 * wrench, wrench]))[1]
        - mechanics.hamiltonian_rhs(tree, q, p)[1]
    )
    assert np.allclose(power * 2.0, wrench @ twists[1], rtol=1e-13)


@pytest.mark.parametrize("told", [False, True])
def test_trees_without_coordinates_write_nothing_behind_their_workspace(told):
    """Where nothing can move, the places for rates and those for rates with derivatives are both none."""
    joint = Rheonomic((Turn((0, 0, 1), Motion((0.0, 2.0))),)) if told else Fixed()
    body = Body("still", joint, position=(0.0, 0.0, 1.0), inertia=SOLID)
    tree, none = Tree([body], gravity=(0, 0, -9.81)), np.zeros(0)
    for kernel, packed in ((era.era, tree.packed), (closed, Mechanism(tree).packed())):
        kernel.python(0.0, none, packed.parameters, packed.structure, np.zeros(packed.work_shape), none)
    assert all(x.shape == (0,) for x in mechanics.hamiltonian_rhs(tree, none, none))
    assert all(x.shape == (3, 0, 0) for x in mechanics.forward_dynamics_derivatives(tree, np.zeros((3, 0)), none))
    assert mechanics.hamiltonian_rhs_derivatives(tree, [], []).shape == (0, 0)
    for pose in (lambda: mechanics.hamiltonian_problem(tree, []), Mechanism(tree).problem):
        with pytest.raises(ModelError, match="tree 'tree': has no coordinates; give a joint that moves by itself"):
            pose()


def test_gravity_can_be_changed():
    tree = random_tree("chain", 3, np.random.default_rng(0))
    still = tree.with_gravity((0, 0, 0))
    q = tree.random_configuration(np.random.default_rng(1))
    assert np.abs(mechanics.bias(still, q, np.zeros(3))).max() == 0.0
    assert np.abs(mechanics.bias(tree, q, np.zeros(3))).max() > 1.0
