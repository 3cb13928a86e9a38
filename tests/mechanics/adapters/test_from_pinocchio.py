"""Pinocchio's models as trees: the same motion, and states that go both ways without loss."""

import warnings

import numpy as np
import pytest

import mechanics
from mechanics import Body, Inertia, JointData, ModelError, ModelWarning, Tree
from mechanics.joints import Free, Revolute, Spherical
from mechanics.models import MODELS

pin = pytest.importorskip("pinocchio")

TWENTY = [
    "a1", "allegro_left", "anymal", "anymal_c", "b1", "baxter", "bolt", "double_pendulum", "finger_edu", "g1", "go2",
    "hyq", "iris", "kinova", "panda", "pr2", "solo12", "talos", "ur5", "z1",
]  # fmt: skip
rng = np.random.default_rng


def robot(name, **options):
    free = (pin.JointModelFreeFlyer(),) if MODELS[name].floating_base else ()
    model = pin.buildModelFromUrdf(str(mechanics.model_path(name)), *free, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return model, *mechanics.from_pinocchio(model, damping=False)


def unbounded():
    """The one kind that Pinocchio makes from files only."""
    text = """<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 2 2"/></joint></robot>"""
    return pin.buildModelFromXML(text).joints[1]


def composite():
    made = pin.JointModelComposite(pin.JointModelRX(), pin.SE3.Random())
    made.addJoint(pin.JointModelPY(), pin.SE3.Random())
    made.addJoint(pin.JointModelSphericalZYX(), pin.SE3.Random())
    return made


A = np.array([1.0, 2.0, 2.0]) / 3.0
KINDS = {
    "revolute": pin.JointModelRX,
    "revolute about any axis": lambda: pin.JointModelRevoluteUnaligned(A),
    "unbounded": pin.JointModelRUBY,
    "unbounded about any axis": unbounded,
    "prismatic": pin.JointModelPZ,
    "prismatic along any axis": lambda: pin.JointModelPrismaticUnaligned(A),
    "helical": lambda: pin.JointModelHX(0.3),
    "helical about any axis": lambda: pin.JointModelHelicalUnaligned(A, -0.2),
    "universal": lambda: pin.JointModelUniversal(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])),
    "spherical": pin.JointModelSpherical,
    "spherical ZYX": pin.JointModelSphericalZYX,
    "translation": pin.JointModelTranslation,
    "planar": pin.JointModelPlanar,
    "free": pin.JointModelFreeFlyer,
    "composite": composite,
}


def chain(*kinds, seed=0):
    """A model with joints of these kinds, one on another, and a branch."""
    pin.seed(seed)
    model, number = pin.Model(), 0
    model.name = "chain"
    for k, kind in enumerate(kinds):
        number = model.addJoint(number, KINDS[kind](), pin.SE3.Random(), f"joint_{k}")
        model.appendBodyToJoint(number, pin.Inertia.FromBox(1.5, 0.3, 0.2, 0.1), pin.SE3.Random())
        model.addFrame(pin.Frame(f"body_{k}", number, pin.SE3.Identity(), pin.BODY), False)
    return model


def random_states(model, states, seed, batch=()):
    """States of the model, angles within half a turn, and the same here."""
    generator = rng(seed)
    q = np.array([states.tree.random_configuration(generator) for _ in range(int(np.prod(batch)))])
    q = (q if batch else states.tree.random_configuration(generator)).reshape(*batch, states.tree.nq)
    v = generator.normal(size=(*batch, states.tree.nv))
    return q, v, *states.theirs(q, v)


def same_motion(model, tree, states, seed):
    """Forward dynamics and the pose of every body agree to 1e-10, whatever the state."""
    q, v, theirs, their_v = random_states(model, states, seed)
    tau, data = rng(seed).normal(size=model.nv), model.createData()
    found = states.our_acceleration(theirs, their_v, pin.aba(model, data, theirs, their_v, tau))
    expected = mechanics.forward_dynamics(tree, q, v, states.ours(theirs, p=tau)[1])
    assert np.abs(found - expected).max() < 1e-10 * (1.0 + np.abs(expected).max())
    x, R = mechanics.body_poses(tree, q)
    pin.framesForwardKinematics(model, data, theirs)
    for name, frame in tree.frames.items():
        if frame.body is not None and model.existFrame(name, pin.BODY):
            place, i = data.oMf[model.getFrameId(name, pin.BODY)], tree.body_index(frame.body)
            assert np.allclose(x[i] + R[i] @ frame.position, place.translation, rtol=0, atol=1e-12)
            assert np.allclose(R[i] @ frame.rotation, place.rotation, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", TWENTY)
def test_robots_move_as_in_pinocchio_and_states_come_back(name):
    model, tree, states = robot(name)
    q, v, theirs, their_v = random_states(model, states, 1, batch=(2, 3))
    for given, back in zip((q, v), states.ours(theirs, their_v), strict=True):
        assert back.shape == given.shape
        assert np.abs(back - given).max() < 1e-12
    assert (states.theirs(*states.ours(theirs, their_v))[0] - theirs).max() < 1e-12
    p = mechanics.momentum(tree, q, v)
    their_p = states.theirs(q, p=p)[1]
    assert np.allclose(np.sum(their_p * their_v, axis=-1), np.sum(p * v, axis=-1), rtol=1e-12)
    assert np.allclose(states.ours(theirs, p=their_p)[1], p, rtol=0, atol=1e-12 * np.abs(p).max())
    same_motion(model, tree, states, 2)


@pytest.mark.parametrize("name", ["baxter", "go2", "pr2", "talos"])
def test_a_tree_from_a_file_becomes_a_model_like_another(name):
    model, _, _ = robot(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = mechanics.load_model(name)
    made, states = mechanics.to_pinocchio(tree, like=model), mechanics.state_map(tree, model)
    assert list(made.model.names) == list(model.names)
    assert (list(made.model.idx_qs), made.model.nq) == (list(model.idx_qs), model.nq)
    q = states.theirs(tree.random_configuration(rng(0)))[0]
    ours, theirs = (pin.crba(m, m.createData(), q) for m in (made.model, model))
    assert np.allclose(np.triu(ours), np.triu(theirs), rtol=0, atol=1e-12 * np.abs(theirs).max())
    for limit in ("damping", "upperEffortLimit", "upperVelocityLimit"):
        assert np.allclose(getattr(made.model, limit), getattr(model, limit))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_moves_as_in_pinocchio(kind):
    model = chain("revolute about any axis", kind, "planar", kind, seed=len(kind))
    tree, states = mechanics.from_pinocchio(model)
    q, v, theirs, their_v = random_states(model, states, 3, batch=(4,))
    back = states.ours(theirs, their_v)
    assert np.abs(back[0] - q).max() < 1e-12
    assert (back[1] == v).all()
    same_motion(model, tree, states, 4)
    again, _ = mechanics.from_pinocchio(mechanics.to_pinocchio(tree, like=model).model)
    assert np.allclose(mechanics.mass_matrix(again, q[0]), mechanics.mass_matrix(tree, q[0]), rtol=0, atol=1e-11)


def test_what_the_model_says_of_joints_is_carried():
    model = chain("revolute", "unbounded", "prismatic")
    if hasattr(model, "lowerDryFrictionLimit"):
        model.lowerDryFrictionLimit = np.array([0.0, 0.0, -0.4])
        with pytest.warns(ModelWarning, match=r"1 × dry friction.*: joint_2"):
            assert mechanics.from_pinocchio(model)[0].bodies[2].data.friction == [0.4]
        model.lowerDryFrictionLimit = np.zeros(3)
    model.damping, model.upperDryFrictionLimit = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.5, 0.0])
    model.lowerPositionLimit, model.upperPositionLimit = (
        np.array([-1.0, -1.01, -1.01, -0.2]),
        np.array([2.0, 1.01, 1.01, 0.3]),
    )
    model.armature = np.array([0.3, 0.2, 0.1])
    model.upperEffortLimit, model.gravity.linear = np.array([5.0, 6.0, 7.0]), np.array([0.1, 0.2, -3.0])
    with pytest.warns(ModelWarning, match=r"'chain'.*differs from the model:\n.*dry friction.*: joint_1"):
        tree, states = mechanics.from_pinocchio(model, damping=False)
    same_motion(model, tree, states, 5)  # with armature, as Pinocchio's aba
    with pytest.warns(ModelWarning):
        tree, _ = mechanics.from_pinocchio(model)
    data = [body.data for body in tree.bodies]
    assert tree.armature.tolist() == [0.3, 0.2, 0.1]
    assert tree.damping.tolist() == [0.1, 0.2, 0.3]
    assert tree.gravity.tolist() == [0.1, 0.2, -3.0]
    assert [float(d.upper[0]) for d in data] == [2.0, np.inf, 0.3]
    assert [float(d.effort[0]) for d in data] == [5.0, 6.0, 7.0]
    assert [b.name for b in tree.bodies] == ["body_0", "body_1", "body_2"]
    assert any("acts here" in note for note in tree.notes)
    made = mechanics.to_pinocchio(tree, like=model).model
    for name in ("damping", "armature", "upperDryFrictionLimit", "upperEffortLimit"):
        assert (getattr(made, name) == getattr(model, name)).all()


def test_armature_that_turns_here_alone_is_named():
    """Of planar and free joints any, of balls three that are not equal; never that of rates of coordinates."""
    model = chain("planar", "spherical", "translation", "spherical ZYX")
    values = np.zeros(model.nv)
    for i, numbers in ((1, [0.2, 0.2, 0.2]), (2, [0.3, 0.3, 0.3]), (3, [0.1, 0.2, 0.3]), (4, [0.1, 0.2, 0.3])):
        values[model.idx_vs[i] : model.idx_vs[i] + 3] = numbers
    model.armature = values
    with pytest.warns(ModelWarning, match=r"1 × armature of a free.*: joint_0\n"):
        mechanics.from_pinocchio(model)
    values[model.idx_vs[1] : model.idx_vs[1] + 3] = 0.0
    model.armature = values
    tree, states = mechanics.from_pinocchio(model)
    same_motion(model, tree, states, 7)


def test_mimic_joints_become_couplings():
    model, made, states = robot("baxter", mimic=True)
    assert (model.nv, made.tree.nv, made.mobility.dof) == (17, 19, 17)
    with pytest.raises(ValueError, match="joints that follow others"):
        states.ours(pin.neutral(model), p=np.zeros(model.nv))
    generator = rng(0)
    q, v = pin.neutral(model), generator.normal(size=model.nv)
    q[:] = generator.uniform(-0.5, 0.5, model.nq) if model.nq == model.nv else q
    ours, our_v = states.ours(q, v)
    assert np.abs(made.gap(ours)).max() < 1e-12
    assert np.abs(made.closing_velocity(ours, our_v)).max() < 1e-12
    assert np.allclose(np.stack(states.theirs(ours, our_v)), np.stack([q, v]), rtol=0, atol=1e-15)
    # kinetic energy and momenta: those of the joints that follow are their leader's
    p = mechanics.momentum(made.tree, ours, our_v)
    M = pin.crba(model, model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    assert np.allclose(states.theirs(ours, p=p)[1], M @ v, rtol=0, atol=1e-12)


NOT_MODELS = {
    "path": lambda m: ("robot.urdf", "mechanics.load_urdf takes files"),
    "data": lambda m: (m.createData(), r"pinocchio\.Data.*the model it belongs to"),
    "geometry": lambda m: (pin.GeometryModel(), r"pinocchio\.GeometryModel"),
    "robot": lambda m: (pin.RobotWrapper(m), "its attribute model"),
    "several": lambda m: ((m, pin.GeometryModel()), "give the model among these"),
    "tree": lambda m: (mechanics.load_model("double_pendulum"), r"expected a pinocchio\.Model"),
    "nothing": lambda m: (None, r"None, expected a pinocchio\.Model"),
}


@pytest.mark.parametrize("case", NOT_MODELS)
def test_what_is_no_model_is_named(case):
    thing, message = NOT_MODELS[case](chain("revolute"))
    with pytest.raises(TypeError, match=message):
        mechanics.from_pinocchio(thing)
    with pytest.raises(TypeError, match=r"^model: .*expected a pinocchio\.Model"):
        mechanics.state_map(mechanics.load_model("ur5"), thing)


def test_models_without_an_equal_are_named():
    with pytest.raises(ModelError, match="has no joints"):
        mechanics.from_pinocchio(pin.Model())
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(0.1, 0.2, 0.3), pin.SE3.Identity(), "knee")
    with pytest.raises(
        ModelError, match="joint 'knee': is a JointModelEllipsoid, which has no equal here; expected one of"
    ):
        mechanics.from_pinocchio(model)


def test_armature_that_turns_with_the_joint_is_told_of():
    for joint, armature, differs in ((Free(), 0.1, True), (Spherical(), 0.1, False), (Revolute((0, 0, 1)), 0.1, False)):
        body = Body(
            "b", joint, inertia=Inertia.about_com(1.0, np.zeros(3), np.eye(3)), data=JointData(armature=armature)
        )
        if differs:
            with pytest.warns(ModelWarning, match="armature of free, planar or uneven ball joints turns with .*: b"):
                mechanics.to_pinocchio(Tree([body]))
        else:
            mechanics.to_pinocchio(Tree([body]))


def test_slides_and_turns_and_other_planes_are_named(tmp_path):
    """Of one URDF with a planar joint Pinocchio moves the link in x and y, whatever its axis: states were written over
    as they are.
    """
    for one, other in (("prismatic", "Turn here and a Slide"), ("revolute", "Slide here and a Turn")):
        tree, _ = mechanics.from_pinocchio(chain({"prismatic": "revolute", "revolute": "prismatic"}[one]))
        with pytest.raises(ModelError, match=f"joint 'joint_0': is a {other} in Pinocchio"):
            mechanics.state_map(tree, chain(one))
    inertia = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    for axis, same in (("0 0 1", True), ("1 0 0", False), ("0 0 -1", False)):
        text = f"""<robot name="r"><link name="w"/><link name="l">{inertia}</link><joint name="j" type="planar">
         <origin rpy="0.1 0.2 0.3"/><parent link="w"/><child link="l"/><axis xyz="{axis}"/></joint></robot>"""
        path = tmp_path / "planar.urdf"
        path.write_text(text)
        tree, model = mechanics.load_urdf(path), pin.buildModelFromXML(text)
        if same:
            mechanics.state_map(tree, model)
        else:
            with pytest.raises(ModelError, match=r"joint 'j': moves in another plane, .* than in Pinocchio"):
                mechanics.state_map(tree, model)
        made = mechanics.to_pinocchio(tree)
        mechanics.state_map(tree, made.model)  # whose frame is turned


def test_joints_that_do_not_meet_are_named():
    model = chain("revolute", "spherical")
    tree, states = mechanics.from_pinocchio(model)
    longer, _ = mechanics.from_pinocchio(chain("revolute", "spherical", "prismatic"))
    with pytest.raises(ModelError, match="only in the tree: joint_2; give the model the tree was made of"):
        mechanics.state_map(longer, model)
    with pytest.raises(ModelError, match="only in the model of Pinocchio: joint_2"):
        mechanics.to_pinocchio(tree, like=chain("revolute", "spherical", "prismatic"))
    with pytest.raises(ModelError, match="joint 'joint_1': is a quaternion here and a number in Pinocchio"):
        mechanics.state_map(tree, chain("revolute", "prismatic"))
    part = mechanics.state_map(longer, model, partial=True)
    assert (part.only_ours, part.only_theirs) == (("joint_2",), ())
    q, v, theirs, their_v = random_states(model, states, 0)
    assert np.allclose(part.ours(theirs, their_v)[0], [*q, 0.0])
    with pytest.raises(ValueError, match=r"q: shape \(2,\), expected \(…, 5\)"):
        states.ours([0.0, 1.0])
    with pytest.raises(ValueError, match="v and p: give one"):
        states.theirs(q, v, p=v)
    with pytest.raises(ValueError, match="do not broadcast"):
        states.theirs(np.tile(q, (2, 1)), np.tile(v, (3, 1)))
