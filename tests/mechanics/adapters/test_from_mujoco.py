"""MuJoCo's models as trees: the same motion, and states that go both ways without loss."""

import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import ModelError, ModelWarning
from mechanics.derivatives import generalised_forces
from mechanics.models import MODELS
from mechanics.systems import SYSTEMS

mujoco = pytest.importorskip("mujoco")

TWENTY = [
    "a1", "baxter", "double_pendulum", "g1", "go2", "iris", "kinova", "laikago", "panda", "simple_humanoid",
    "so101", "solo", "solo12", "talos", "talos_arm", "talos_full", "ur5", "ur10", "xarm7", "z1",
]  # fmt: skip
MIXED = """
<mujoco model="mixed">
  <compiler autolimits="true"/>
  <default><geom contype="0" conaffinity="0" density="900"/></default>
  <worldbody>
    <body name="torso" pos="0.1 0.2 1.3" euler="10 20 30"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.3" pos="0.02 0 0.05"/>
      <body name="thigh" pos="0.1 0.1 -0.3" euler="0 30 15">
        <joint name="hip" type="ball" pos="0.02 0.01 0.03"/><geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.4"/>
        <body name="shank" pos="0.1 0 -0.4">
          <joint name="slide" type="slide" axis="0 0.3 1" ref="0.1"/>
          <joint name="knee" axis="0 1 0.2" pos="0 0.02 0.01" range="-60 30" ref="10"/>
          <joint axis="1 0 0" pos="0.03 -0.02 -0.1"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.4"/>
        </body>
      </body>
    </body>
    <body name="gate" pos="2 0 0"><joint axis="0 0 1"/><geom type="box" size="0.5 0.02 0.4" pos="0.5 0 0"/></body>
  </worldbody>
</mujoco>
"""


def urdf(name):
    """MuJoCo's model of a robot's file, without its meshes; robots that stand free are on a free joint."""
    root = ET.parse(mechanics.model_path(name)).getroot()
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
        for tag in ("visual", "collision"):
            for shape in element.findall(tag):
                element.remove(shape)
    if MODELS[name].floating_base:
        held = {joint.find("child").get("link") for joint in root.iter("joint")}
        base = next(link.get("name") for link in root.iter("link") if link.get("name") not in held)
        ET.SubElement(root, "link", name="ground")
        joint = ET.SubElement(root, "joint", name="root_joint", type="floating")
        ET.SubElement(joint, "parent", link="ground")
        ET.SubElement(joint, "child", link=base)
    mujoco.set_mju_user_warning(lambda message: None)  # the default writes a file where one stands
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def random_states(states, seed, batch=()):
    """Random states of the tree, and the same in MuJoCo."""
    generator = np.random.default_rng(seed)
    many = [states.tree.random_configuration(generator) for _ in range(int(np.prod(batch)))]
    q = np.array(many).reshape(*batch, states.tree.nq)
    v = generator.normal(size=(*batch, states.tree.nv))
    return q, v, *states.theirs(q, v)


def same_motion(model, tree, states, seed):
    """Accelerations agree to 1e-10 and every body is where MuJoCo has it, whatever the state."""
    q, v, qpos, qvel = random_states(states, seed)
    tau, data = np.random.default_rng(seed).normal(size=model.nv), mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = qpos, qvel, tau
    mujoco.mj_forward(model, data)
    expected = states.our_acceleration(qpos, qvel, data.qacc_smooth)
    found = mechanics.forward_dynamics(tree, q, v, states.ours(qpos, p=tau)[1])
    assert np.abs(found - expected).max() < 1e-10 * (1.0 + np.abs(expected).max())
    assert np.allclose(states.their_acceleration(q, v, expected), data.qacc_smooth, rtol=1e-12, atol=1e-12)
    x, R = mechanics.body_poses(tree, q)
    for b in range(1, model.nbody):
        frame = tree.frames.get(model.body(b).name)
        if frame is not None and frame.body is not None:
            i = tree.body_index(frame.body)
            assert np.allclose(x[i] + R[i] @ frame.position, data.xpos[b], rtol=0, atol=1e-12)


def returns(model, tree, states):
    q, v, qpos, qvel = random_states(states, 1, batch=(2, 3))
    for given, back in zip((q, v), states.ours(qpos, qvel), strict=True):
        assert back.shape == given.shape
        assert np.abs(back - given).max() < 1e-12
    p = mechanics.momentum(tree, q, v)
    their_p = states.theirs(q, p=p)[1]
    assert np.allclose(np.sum(their_p * qvel, axis=-1), np.sum(p * v, axis=-1), rtol=1e-12)
    assert np.allclose(states.ours(qpos, p=their_p)[1], p, rtol=0, atol=1e-12 * np.abs(p).max())


@pytest.mark.parametrize("name", TWENTY)
def test_robots_move_as_in_mujoco_and_states_come_back(name):
    """And so do they in the tree of the file itself, whose joints have the same names."""
    model = urdf(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        made, states = mechanics.from_mujoco(model)
        of_file = mechanics.load_model(name)
    returns(model, states.tree, states)
    same_motion(model, states.tree, states, 2)
    assert made is states.tree or made.tree is states.tree
    q, v, qpos, qvel = random_states(states, 3)
    mine = mechanics.state_map(of_file, model).ours(qpos, qvel)
    assert np.allclose(mechanics.energy(of_file, *mine), mechanics.energy(states.tree, q, v), rtol=1e-5)


def test_balls_references_and_several_joints_on_a_body_meet_by_name():
    model = mujoco.MjModel.from_xml_string(MIXED)
    made, states = mechanics.from_mujoco(model)
    tree = states.tree
    assert [str(e) for e in made.elements] == [str(e) for e in mechanics.load_mechanism(MIXED).elements]
    theirs = mechanics.load_mjcf(MIXED).to_dict()
    assert tree.to_dict() | {"notes": 0} == theirs | {"notes": 0}
    returns(model, tree, states)
    same_motion(model, tree, states, 3)
    q, _, qpos, _ = random_states(states, 4)
    M, column = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, column, unit)
        M[:, k] = column
    assert np.allclose(states.our_matrix(qpos, M), mechanics.mass_matrix(tree, q), rtol=0, atol=1e-10)
    assert np.allclose(states.theirs(tree.neutral())[0][7:], model.qpos0[7:], rtol=0, atol=1e-15)


def test_a_model_that_was_changed_is_read_as_it_is_now():
    model = mujoco.MjModel.from_xml_string(MIXED)
    model.body_mass[:] *= 2.0
    model.opt.gravity[:] = (0.5, 0.0, -1.0)
    model.dof_damping[-1] = 0.7
    _, states = mechanics.from_mujoco(model)
    tree = states.tree
    assert tree.mass == pytest.approx(2.0 * mechanics.load_mjcf(MIXED).mass)
    same_motion(model, tree, states, 6)


def test_loops_and_springs_make_a_mechanism():
    text = MIXED.replace('<joint axis="0 0 1"', '<joint axis="0 0 1" stiffness="30" springref="20"')
    text = text.replace("</worldbody>", '</worldbody><equality><joint joint1="knee" joint2="slide"/></equality>')
    made, states = mechanics.from_mujoco(mujoco.MjModel.from_xml_string(text))
    assert (made.mobility.dof, len(made.equations), states.tree) == (states.tree.nv - 1, 1, made.tree)
    assert made.elements


NOT_MODELS = {
    "path": lambda m: ("robot.xml", r"mechanics\.load_mjcf takes files"),
    "data": lambda m: (mujoco.MjData(m), "give its attribute model"),
    "specification": lambda m: (mujoco.MjSpec(), "what its method compile returns"),
    "tree": lambda m: (mechanics.load_model("double_pendulum"), r"expected a mujoco\.MjModel"),
    "nothing": lambda m: (None, r"None, expected a mujoco\.MjModel"),
}


@pytest.mark.parametrize("case", NOT_MODELS)
def test_what_is_no_model_is_named(case):
    thing, message = NOT_MODELS[case](mujoco.MjModel.from_xml_string(MIXED))
    with pytest.raises(TypeError, match=f"^model: .*{message}"):
        mechanics.from_mujoco(thing)


def test_quaternions_of_any_norm_are_taken_as_mujoco_takes_them():
    model, tree = mujoco.MjModel.from_xml_string(MIXED), mechanics.load_mjcf(MIXED)
    states = mechanics.state_map(tree, model)
    q, _, qpos, _ = random_states(states, 0)
    qpos[3:7] *= 2.0
    assert np.allclose(states.ours(qpos)[0], q, rtol=0, atol=1e-15)
    qpos[3:7] = 0.0
    with pytest.raises(ValueError, match="a quaternion of norm zero"):
        states.ours(qpos)


PART = """<mujoco><worldbody><body><joint name="{}"/><geom size="0.1" pos="1 0 0" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>"""


def test_a_part_of_a_scene_is_written_where_it_is():
    """Joints that only the scene has stay at its reference."""
    model, alone = mujoco.MjModel.from_xml_string(MIXED), mechanics.load_mjcf(PART.format("knee"))
    with pytest.raises(ModelError, match=r"only in the model of MuJoCo: root, hip.*pass partial=True"):
        mechanics.state_map(alone, model)
    qpos, _ = mechanics.state_map(alone, model, partial=True).theirs([0.3])
    at = model.joint("knee").qposadr[0]
    assert qpos[at] == pytest.approx(model.qpos0[at] + 0.3)
    assert (np.delete(qpos, at) == np.delete(model.qpos0, at)).all()
    with pytest.raises(ModelError, match="joint 'hip': is a number here and a quaternion in MuJoCo"):
        mechanics.state_map(mechanics.load_mjcf(PART.format("hip")), model, partial=True)
    slides = mechanics.load_mjcf(PART.format("knee").replace("<joint", '<joint type="slide"'))
    with pytest.raises(ModelError, match="joint 'knee': is a Slide here and a Turn in MuJoCo"):
        mechanics.state_map(slides, model, partial=True)


LOOSE = """<mujoco><worldbody><body {gravcomp}><{joint}/><geom type="box" size=".1 .2 .3" contype="0"
 conaffinity="0"/></body></worldbody></mujoco>"""


def accelerations(model):
    """MuJoCo's, and those of what is read, in one random state."""
    rng, data = np.random.default_rng(0), mujoco.MjData(model)
    data.qpos[:] += 0.3 * rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    made, states = mechanics.from_mujoco(model)
    q, v = states.ours(data.qpos, data.qvel)
    expected = states.our_acceleration(data.qpos, data.qvel, data.qacc)
    if isinstance(made, mechanics.Tree):
        return expected, mechanics.forward_dynamics(made, q, v)
    return expected, mechanics.forward_dynamics(made.tree, q, v, generalised_forces(made, q, v).force)


@pytest.mark.parametrize(("joint", "numbers", "said"), [
    ("freejoint", {"dof_armature": [1, 1, 1, 2, 2, 2], "dof_damping": [3, 3, 3, 1, 2, 5]}, ""),
    ('joint type="ball"', {"dof_armature": [2, 2, 2], "dof_damping": [1, 2, 3]}, ""),
    ('joint type="ball"', {"dof_armature": [1, 20, 50]}, "armature that differs by direction turns with the joint"),
    ("freejoint", {"dof_armature": [1, 1, 1, 2, 2, 5]}, "armature that differs by direction turns with the joint"),
    ("freejoint", {"dof_damping": [0, 0, 50, 0, 0, 0]}, "damping that differs by direction is along the body"),
])  # fmt: skip
def test_numbers_that_differ_by_direction_are_told_of(joint, numbers, said):
    model = mujoco.MjModel.from_xml_string(LOOSE.format(gravcomp="", joint=joint))
    for name, values in numbers.items():
        getattr(model, name)[:] = values
    mujoco.mj_setConst(model, mujoco.MjData(model))
    if said:
        with pytest.warns(ModelWarning, match=f"1 × {said}"):
            mechanics.from_mujoco(model)
    else:
        theirs, ours = accelerations(model)
        assert np.abs(ours - theirs).max() < 1e-9 * (1.0 + np.abs(theirs).max())


@pytest.mark.parametrize("part", ["-0.5", "0.5"])
def test_gravity_compensation_below_zero_alone_is_none(part):
    """As in MuJoCo, which counts what is above when it compiles."""
    model = mujoco.MjModel.from_xml_string(
        LOOSE.format(gravcomp=f'gravcomp="{part}"', joint='joint axis="0 1 0" pos=".3 0 0"')
    )
    theirs, ours = accelerations(model)
    assert ours == pytest.approx(theirs, abs=1e-9)


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), pytest.param((2,), marks=pytest.mark.slow)])
def test_a_solution_comes_back_as_arrays_of_mujoco(batch):
    model, tree = mujoco.MjModel.from_xml_string(MIXED), mechanics.load_mjcf(MIXED)
    states = mechanics.state_map(tree, model)
    q, v, qpos, qvel = random_states(states, 5, batch)
    solution = integrate(tree.problem(q, v), "TREE_VARIATIONAL", (0.0, 0.01), step=1e-3)
    found = solution.as_mujoco(model)
    assert [x.shape for x in found] == [(*batch, 11, model.nq), (*batch, 11, model.nv)]
    assert np.allclose(found[0][..., 0, :], qpos, rtol=0, atol=1e-12)
    assert np.allclose(found[1][..., 0, :], qvel, rtol=0, atol=1e-10)
    rates = np.diff(found[0][..., :3], axis=-2) / 1e-3  # of the free joint, in the world
    middle = (found[1][..., 1:, :3] + found[1][..., :-1, :3]) / 2.0
    assert np.abs(rates - middle).max() < 1e-2 * np.abs(qvel[..., :3]).max()


def test_a_solution_comes_back_as_arrays_of_pinocchio_from_every_form_of_the_equations():
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(mechanics.model_path("ur5")))
    tree, states = mechanics.from_pinocchio(model, damping=False)
    q, v, theirs, their_v = random_states(states, 6)
    for problem in (
        tree.problem(q, v),
        mechanics.velocity_problem(tree, q, v),
        mechanics.Mechanism(tree).problem(q, v),
    ):
        found = integrate(problem, "RKMK4", (0.0, 1e-2), step=1e-3).as_pinocchio(model)
        assert np.allclose(found[0][0], theirs, rtol=0, atol=1e-15)
        assert np.allclose(found[1][0], their_v, rtol=0, atol=1e-12)


def test_solutions_without_joints_and_models_of_others_are_named():
    tree = mechanics.load_model("double_pendulum")
    solution = integrate(tree.problem([0.1, 0.2]), "RKMK4", (0.0, 0.1), step=0.1)
    with pytest.raises(TypeError, match=r"model: None, expected a mujoco\.MjModel"):
        solution.as_mujoco(None)
    with pytest.raises(ModelError, match="only in the tree: joint1, joint2, and only in the model of MuJoCo: root"):
        solution.as_mujoco(mujoco.MjModel.from_xml_string(MIXED))
    top = integrate(SYSTEMS["heavy-top"], "RKMK4", (0.0, 0.1), step=0.1)
    with pytest.raises(ValueError, match="'heavy top' has no joints"):
        top.joint_states()
