"""Mechanisms from files: Cassie with her loops from SDF, equality constraints from MJCF against MuJoCo's own
residuals.
"""

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import ModelError, ModelWarning
from mechanics.constraints.assembly import moved_by

FOUR_BAR = """
<mujoco model="linkage">
  <option gravity="0 0 -9.81"><flag contact="disable"/></option>
  <default><geom contype="0" conaffinity="0" density="900" type="capsule" size="0.02"/></default>
  <worldbody>
    <body name="crank" euler="0 -60 0"><joint name="crank" axis="0 -1 0"/><geom fromto="0 0 0 0.35 0 0"/>
      <body name="coupler" pos="0.35 0 0" euler="0 40 0"><joint axis="0 -1 0"/><geom fromto="0 0 0 0.9 0 0"/>
        <body name="tip" pos="0.9 0 0" euler="0 0 20"><joint type="ball"/><geom type="sphere" size="0.03"/></body>
      </body>
    </body>
    <body name="rocker" pos="1 0 0" euler="0 -80 0"><joint axis="0 -1 0"/><geom fromto="0 0 0 0.7 0 0"/></body>
  </worldbody>
  <equality>
    <connect name="C" body1="coupler" body2="rocker" anchor="0.9 0 0"/>
    <weld name="W" body1="tip" body2="rocker" relpose="0.1 0.2 -0.1 0.8 0.6 0 0" anchor="0.3 0.1 0"/>
  </equality>
</mujoco>
"""


@pytest.fixture(scope="module")
def cassie():
    return mechanics.load_mechanism("cassie")


def test_cassie_has_her_loops(cassie):
    m = cassie.mobility
    assert (len(cassie.tree), cassie.tree.nv, len(cassie.equations)) == (22, 26, 16)
    assert (m.rank, m.dof, m.redundant) == (14, 12, 2)
    at_home = m.spectra[0][m.rank - 1] / m.spectra[0][0]
    assert at_home == pytest.approx(7.3416e-4, rel=1e-6)
    assert 0.5 * at_home < m.smallest <= at_home  # of all positions, whose choice depends on rounding
    assert {c.name for c in cassie.equations.closures} == {
        f"{side}-{joint}" for side in ("left", "right") for joint in ("achilles-spring-joint", "plantar-foot-joint")
    }
    assert sum(b.inertia.mass for b in cassie.tree.bodies) == pytest.approx(22.61, abs=5e-3)
    assert np.abs(cassie.gap(cassie.home)).max() < 1e-12


@pytest.mark.slow
def test_cassie_falls_without_loss_of_energy():
    """Pelvis held, legs released at rest; loops with rows that are redundant but for the rounding of the file."""
    made = mechanics.load_mechanism("cassie", damping=False)
    found = integrate(made.problem(projection="none"), "SCIPY_DOP853", (0.0, 0.1), rtol=1e-9, atol=1e-11, step=0.01)
    assert found.error("energy", relative=False) < 2e-9
    assert found.maximum("gap") < 1e-8
    assert np.abs(found.y[-1][made.tree.nq :]).max() > 0.1


def test_links_are_where_the_file_has_them(cassie):
    """Frames of the links at the model's own pose: the foot, and the pelvis, which is the base."""
    tree = cassie.tree
    x, R = mechanics.body_poses(tree, tree.neutral())
    frame, i = tree.frames["left-hip-roll"], tree.body_index("left-hip-roll")
    assert np.allclose(x[i] + R[i] @ frame.position, (0.021, 0.135, 1.01), atol=1e-9)
    assert np.allclose(tree.frames["pelvis"].position, (0.0, 0.0, 1.01))


def test_equality_constraints_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    from mechanics.adapters.mjcf_closures import _closure
    from mechanics.constraints.equations import LoopEquations

    model = mujoco.MjModel.from_xml_string(FOUR_BAR)
    with pytest.warns(ModelWarning):
        tree = mechanics.load_mjcf(FOUR_BAR)
    closures = [_closure(model, e, f"e{e}", tree.frames) for e in range(model.neq)]
    equations, data = LoopEquations(tree, closures), mujoco.MjData(model)
    q = moved_by(tree, tree.neutral(), 0.3 * np.random.default_rng(0).normal(size=tree.nv))
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    ours, theirs = equations.gap(q), data.efc_pos[: data.ne]
    assert np.linalg.norm(ours[:3]) == pytest.approx(np.linalg.norm(theirs[:3]), abs=1e-12)
    shifts = [c for c in range(3, 9) if "shift" in equations.names[c]]
    assert np.linalg.norm(ours[shifts]) == pytest.approx(np.linalg.norm(theirs[3:6]), abs=1e-12)


def test_a_linkage_from_mjcf_closes_and_has_one_freedom():
    pytest.importorskip("mujoco")
    text = FOUR_BAR[: FOUR_BAR.index("    <weld")] + "  </equality>\n</mujoco>\n"
    text = text.replace(
        '<body name="tip" pos="0.9 0 0" euler="0 0 20"><joint type="ball"/><geom type="sphere" size="0.03"/></body>', ""
    )
    made = mechanics.load_mechanism(text)
    assert (made.mobility.dof, made.mobility.rank, made.mobility.redundant) == (1, 2, 1)
    assert np.abs(made.gap(made.home)).max() < 1e-12
    assert mechanics.load_mechanism(text, rank=1).mobility.rank == 1


GEARS = """
<mujoco model="gears">
  <default><geom contype="0" conaffinity="0" type="capsule" size="0.02"/></default>
  <worldbody>
    <body name="arm"><joint name="pan" axis="0 0 1" ref="30"/><joint name="tilt" axis="0 1 0"/><geom fromto="0 0 0 0.3 0
    0"/>
      <body name="finger" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0"/><geom fromto="0 0 0 0.1 0
      0"/></body>
    </body>
    <body name="wheel" pos="0 1 0"><joint name="turn" axis="1 0 0"/><geom fromto="0 0 0 0.1 0 0.1"/></body>
    <body name="brake" pos="0 2 0"><joint name="stop" axis="1 0 0"/><geom fromto="0 0 0 0.1 0 0.1"/></body>
  </worldbody>
  <equality>
    <joint name="A" joint1="slide" joint2="tilt" polycoef="0.1 0.02 0.3 -0.1 0.05"/>
    <joint name="B" joint1="turn" joint2="pan" polycoef="0 -2 0 0 0"/>
    <joint name="C" joint1="stop" polycoef="0.4 0 0 0 0"/>
    <joint name="D" joint1="stop" joint2="turn" active="false"/>
  </equality>
</mujoco>
"""


def test_joint_equalities_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    with pytest.warns(ModelWarning, match=r"left out.*: D"):
        made = mechanics.load_mechanism(GEARS)
    assert (made.mobility.dof, made.mobility.rank, len(made.equations)) == (2, 3, 3)
    assert np.abs(made.gap(made.home)).max() < 1e-14
    model = mujoco.MjModel.from_xml_string(GEARS)
    data, q = mujoco.MjData(model), 0.5 * np.random.default_rng(3).normal(size=5)
    data.qpos[:] = model.qpos0 + q
    mujoco.mj_forward(model, data)
    assert np.allclose(made.gap(q), data.efc_pos[: data.ne], rtol=0, atol=1e-14)
    assert np.allclose(made.equations.matrix(q), data.efc_J.reshape(-1, 5)[: data.ne], rtol=0, atol=1e-14)


def test_mimic_joints_of_a_gripper_follow():
    made = mechanics.load_mechanism("panda")
    assert (made.tree.nv, made.mobility.dof) == (9, 8)
    assert [c.kind for c in made.equations.closures] == ["mimic"]
    assert not any("<mimic>" in note for note in made.tree.notes)
    v = made.velocities(made.home, {"panda_finger_joint1": 0.3}).v
    assert v[-2:] == pytest.approx([0.3, 0.3], abs=1e-15)


def test_bad_files_are_named(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        mechanics.load_mechanism(tmp_path / "none.sdf")
    wrong = tmp_path / "wrong.sdf"
    joint = "<joint name='j' type='{}'><parent>a</parent><child>{}</child></joint>"
    for text, message in (
        (joint.format("revolute", "c"), "names 'c', which is no link"),
        (joint.format("gearbox", "b"), "has the type"),
        ("", "is not joined"),
    ):
        wrong.write_text(f"<sdf version='1.6'><model name='m'><link name='a'/><link name='b'/>{text}</model></sdf>")
        with pytest.raises(ModelError, match=message):
            mechanics.load_mechanism(wrong)


HANDED = """
<mujoco>
  <default><geom contype="0" conaffinity="0" size=".05"/></default>
  <worldbody>
    <body name="arm" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 1 0 0" type="capsule"/>
      <body name="fore" pos="1 0 0"><joint name="b" axis="0 1 0"/><geom fromto="0 0 0 0 0 1" type="capsule"/></body>
    </body>
    <body name="load" pos="1 0 2.2" euler="0 120 0"><freejoint name="f"/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <equality>{}</equality>
</mujoco>
"""


@pytest.mark.parametrize(
    "equality",
    [
        '<weld body1="fore" body2="load"/>',
        '<connect body1="fore" body2="load" anchor="0 0 1.2"/>',
        "",
    ],
)
def test_free_bodies_are_where_the_file_has_them(equality):
    """A load in the hand: the file closes as it is, from the origin of the world it would not, or elsewhere."""
    made = mechanics.load_mechanism(HANDED.format(equality))
    half = np.deg2rad(120.0) / 2.0
    pose = [0.0, 0.0, 1.0, 0.0, 2.2, np.cos(half), 0.0, np.sin(half), 0.0]
    assert made.home == pytest.approx(pose, abs=1e-12)


def test_a_tree_says_where_its_free_bodies_are():
    with pytest.warns(ModelWarning):
        tree = mechanics.load_mjcf(HANDED.format('<weld body1="fore" body2="load"/>'))
    assert any("1 × free joints" in note for note in tree.notes)
