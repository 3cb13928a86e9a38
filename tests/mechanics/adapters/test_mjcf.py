"""Trees read through MuJoCo's compiler move as MuJoCo says, and say what they leave out."""

import warnings

import numpy as np
import pytest

import mechanics
from mechanics import ModelError, ModelWarning

mujoco = pytest.importorskip("mujoco")

MODEL = """
<mujoco model="walker">
  <option gravity="0.3 -0.2 -9.5"><flag contact="disable"/></option>
  <default><geom contype="0" conaffinity="0" density="900"/></default>
  <worldbody>
    <body name="torso" pos="0.1 0.2 1.3" euler="10 20 30"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.3" pos="0.02 0 0.05"/>
      <body name="thigh" pos="0.1 0.1 -0.3" euler="0 30 15">
        <joint name="hip" type="ball" pos="0.02 0.01 0.03" damping="0.2"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.4"/>
        <body name="shank" pos="0.1 0 -0.4">
          <joint name="slide" type="slide" axis="0 0.3 1"/>
          <joint name="knee" axis="0 1 0.2" pos="0 0.02 0.01" range="-60 30" damping="0.1"/>
          <joint name="twist" axis="1 0 0" pos="0.03 -0.02 -0.1" ref="20"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.4"/>
          <body name="foot" pos="0 0 -0.4" euler="0 0 45"><geom type="box" size="0.1 0.05 0.02"/></body>
        </body>
      </body>
      <body name="wheel" pos="0 -0.2 0"><joint name="axle" axis="0 1 0"/><geom type="cylinder" size="0.1 0.02" euler="90
      0 0"/></body>
    </body>
    <body name="fence" pos="2 0 0"><geom size="0.1"/>
      <body name="gate"><joint name="hinge" axis="0 0 1"/><geom type="box" size="0.5 0.02 0.4" pos="0.5 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def pair():
    return mechanics.load_mjcf(MODEL), mujoco.MjModel.from_xml_string(MODEL)


def states(tree, model, seed):
    """The same random state here and there: q counts from the reference, the linear velocity of a free joint is in
    world axes there.
    """
    generator, data = np.random.default_rng(seed), mujoco.MjData(model)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    data.qpos[:], data.qvel[:] = q, v
    for j in range(model.njnt):
        if model.jnt_type[j] >= 2:
            data.qpos[model.jnt_qposadr[j]] += model.qpos0[model.jnt_qposadr[j]]
    R = mechanics.body_poses(tree, q)[1][tree.body_index("torso")]
    data.qvel[:3] = R @ v[:3]
    mujoco.mj_forward(model, data)
    return q, v, R, data


def test_bodies_are_where_mujoco_has_them(pair):
    tree, model = pair
    q, _, _, data = states(tree, model, 0)
    x, R = mechanics.body_poses(tree, q)
    for b in range(1, model.nbody):
        frame = tree.frames[model.body(b).name]
        i = tree.body_index(frame.body)
        assert np.allclose(x[i] + R[i] @ frame.position, data.xpos[b], rtol=0, atol=1e-12)
        assert np.allclose(R[i] @ frame.rotation, data.xmat[b].reshape(3, 3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_mass_matrix_and_acceleration_are_those_of_mujoco(pair, seed):
    tree, model = pair
    q, v, R, data = states(tree, model, seed)
    J = np.eye(tree.nv)  # velocities here from velocities there
    J[:3, :3] = R.T
    M = mechanics.mass_matrix(tree, q)
    theirs, column = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, column, unit)
        theirs[:, k] = column
    assert np.allclose(J.T @ M @ J, theirs, rtol=0, atol=1e-11 * np.abs(M).max())
    tau = np.random.default_rng(seed).normal(size=tree.nv)
    data.qfrc_applied[:] = J.T @ tau
    mujoco.mj_forward(model, data)
    a = J @ data.qacc_smooth
    a[:3] -= np.cross(v[3:6], v[:3])
    found = mechanics.forward_dynamics(tree, q, v, tau)
    assert np.abs(found - a).max() < 1e-9 * (1.0 + np.abs(a).max())


def test_data_of_joints_are_carried(pair):
    tree, _ = pair
    knee = tree.bodies[tree.joint_index("slide+knee")]
    assert knee.name == "shank_anchor_1"
    assert np.allclose(knee.data.lower, [-np.inf, -np.pi / 3])
    assert np.allclose(knee.data.damping, [0.0, 0.1])
    assert isinstance(tree.joint("hip"), mechanics.joints.Spherical)
    assert any("reference" in note for note in tree.notes)
    assert mechanics.load_mjcf(MODEL, damping=False).damping.sum() == 0.0


def test_what_is_not_carried_over_is_reported():
    text = """<mujoco><worldbody><body name="a"><joint name="j" stiffness="3" armature="0.1" frictionloss="1"/><geom
    size="0.1"/></body> </worldbody><actuator><motor joint="j"/></actuator></mujoco>
    """
    with pytest.warns(ModelWarning) as caught:
        mechanics.load_mjcf(text)
    message = str(caught[0].message)
    for word in ("contacts", "actuators", "rotor inertia", "springs", "dry friction"):
        assert word in message


def test_bad_files_are_named():
    with pytest.raises(ModelError, match=r"nothing\.xml: there is no such file"):
        mechanics.load_mjcf("nothing.xml")
    with pytest.raises(ModelError, match="MuJoCo's compiler says"):
        mechanics.load_mjcf("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(ModelError, match="has no body besides the world"):
        mechanics.load_mjcf("<mujoco/>")


def test_a_file_is_read_like_its_text(tmp_path, pair):
    path = tmp_path / "walker.xml"
    path.write_text(MODEL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mechanics.load_mjcf(path).to_dict() == pair[0].to_dict()
