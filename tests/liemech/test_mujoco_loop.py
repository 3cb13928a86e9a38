"""A loop of MuJoCo's with one call in the place of ``mj_step``."""

import copy
import warnings

import numpy as np
import pytest

import liemech
from mechanics import ModelError, ModelWarning

mujoco = pytest.importorskip("mujoco")

TEXT = """
<mujoco model="arm on a hull">
  <option timestep="0.002" integrator="RK4"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="hull" pos="0 0 1"><freejoint name="root"/><geom type="box" size="0.3 0.2 0.1"/>
      <body name="upper"><joint name="shoulder" axis="0 1 0" ref="20"/><geom size="0.05" pos="0 0.1 -0.4"/>
        <body name="lower" pos="0 0 -0.5"><joint name="elbow" axis="0 1 0" stiffness="2" damping="0.1"/>
          <geom size="0.05" pos="0.1 0 -0.4"/></body></body></body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="3"/><position joint="elbow" kp="4"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize(("gain", "error", "method"), [(0.0, 1e-4, "TREE_VARIATIONAL"), (4.0, 5e-3, "MIDPOINT")])
def test_a_controlled_loop_goes_where_mujoco_goes(gain, error, method):
    """Motors, forces from outside on joints and bodies, a spring, a damper; a servo, whose force is held over a step,
    to first order.
    """
    model = mujoco.MjModel.from_xml_string(TEXT.replace('kp="4"', f'kp="{gain}"'))
    step = liemech.mujoco_stepper(model, method)
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    for data, move in ((ours, step), (theirs, lambda data: mujoco.mj_step(model, data))):
        data.qvel[:] = np.linspace(0.1, 0.8, model.nv)
        data.qfrc_applied[:3] = 1.0, -0.5, 200.0
        data.xfrc_applied[3] = 0.3, 0.1, -0.2, 0.05, 0.0, 0.02
        for _ in range(100):
            data.ctrl[:] = np.cos(20.0 * data.time), 0.4
            move(data)
    assert ours.time == pytest.approx(theirs.time)
    assert np.abs(theirs.qpos - model.qpos0).max() > 0.05
    assert np.abs(ours.qpos - theirs.qpos).max() < error
    assert np.abs(ours.qvel - theirs.qvel).max() < 10.0 * error


HIP = """<mujoco><option timestep="0.001" integrator="RK4"/><default><geom contype="0" conaffinity="0"/></default>
 <worldbody><body name="hull" pos="0 0 1"><freejoint/><geom type="box" size="0.3 0.2 0.1"/>
  <body name="leg" euler="10 20 30"><joint name="x" axis="1 0 0" pos="0.1 0 0" ref="20"/><joint name="y" axis="0 1 0"
   pos="0.1 0 0"/><joint name="s" type="slide" axis="0 0 1"/><joint name="z" axis="0 0.3 1" pos="0.2 0 0"/>
   <geom size="0.1" pos="0.1 0.2 -0.4"/><geom size="0.1" pos="0.3 0 -0.2"/></body></body>
 </worldbody><actuator><motor joint="z" gear="2"/><motor joint="y" gear="3"/><motor joint="x"/>
  <motor joint="s"/></actuator></mujoco>"""


def test_joints_that_share_a_body_are_driven_each_along_its_own():
    """As the hips of a humanoid are: three about one anchor, one about another."""
    model = mujoco.MjModel.from_xml_string(HIP)
    step, ours, theirs = liemech.mujoco_stepper(model), mujoco.MjData(model), mujoco.MjData(model)
    for data, move in ((ours, step), (theirs, lambda data: mujoco.mj_step(model, data))):
        data.qvel[:] = np.linspace(-0.4, 0.6, model.nv)
        data.qfrc_applied[6:] = 0.3, -0.2, 0.5, 0.1
        for _ in range(100):
            data.ctrl[:] = np.cos(20.0 * data.time), 0.4, -0.3, 0.2
            move(data)
    assert np.abs(theirs.qvel - np.linspace(-0.4, 0.6, model.nv)).min() > 1e-3
    assert np.abs(ours.qpos - theirs.qpos).max() < 1e-5
    assert np.abs(ours.qvel - theirs.qvel).max() < 1e-4


def test_forces_on_balls_are_refused():
    model = mujoco.MjModel.from_xml_string(HIP.replace("<freejoint/>", '<joint type="ball"/>'))
    step, data = liemech.mujoco_stepper(model), mujoco.MjData(model)
    step(data)
    data.qfrc_applied[:3] = 0.1
    with pytest.raises(ValueError, match="3 forces on balls"):
        step(data)


def test_what_somebody_writes_into_the_data_is_taken_up():
    model = mujoco.MjModel.from_xml_string(TEXT)
    step, data, other = liemech.mujoco_stepper(model), mujoco.MjData(model), mujoco.MjData(model)
    step(data)
    data.qpos[:3] += 1.0
    other.qpos[:], other.qvel[:] = data.qpos, data.qvel
    step(data)
    step(other)
    assert np.allclose(data.qpos, other.qpos, rtol=0, atol=1e-14)


def test_forces_that_are_applied_keep_their_direction_in_the_world():
    """Held in the axes of a body that spins, they drove it sideways by F ω h/2: 0.1 m in a second."""
    ball = "<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1' contype='0' conaffinity='0'/></body>"
    model = mujoco.MjModel.from_xml_string(ball + "</worldbody></mujoco>")
    for applied, spin in (("qfrc_applied", 20.0), ("xfrc_applied", 20.0), ("moment", 20.0)):
        step, data = liemech.mujoco_stepper(model), mujoco.MjData(model)
        data.qvel[3] = spin
        for _ in range(100):
            if applied == "qfrc_applied":
                data.qfrc_applied[2] = 9.81
            else:
                data.xfrc_applied[1, 2] = 9.81
            if applied == "moment":
                data.xfrc_applied[1, 5] = 1e-3
            step(data)
        assert np.abs(data.qpos[:3]).max() < 1e-12
        if applied == "moment":  # L = L₀ + M t in the world
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, data.qpos[3:])
            inertia = 0.4 * 0.1**2
            momentum = turn.reshape(3, 3) @ data.qvel[3:] * inertia
            assert momentum == pytest.approx([inertia * spin, 0.0, 1e-3 * data.time], abs=1e-7)


def test_what_a_callback_for_passive_forces_adds_acts():
    """Without a word it did not; what MuJoCo has of its own is there once."""
    model = mujoco.MjModel.from_xml_string(TEXT.replace('<body name="lower"', '<body name="lower" gravcomp="0.5"'))

    def spring(model, data):
        data.qfrc_passive[6] -= 20.0 * data.qpos[7]

    ends = []
    try:
        mujoco.set_mjcb_passive(spring)
        for method in ("", "MIDPOINT"):
            step = liemech.mujoco_stepper(model, method) if method else lambda data: mujoco.mj_step(model, data)
            data = mujoco.MjData(model)
            data.qpos[7:], data.qvel[6:] = (0.5, 0.3), (0.3, -2.0)
            for _ in range(100):
                step(data)
            ends.append(data.qpos[7:].copy())
    finally:
        mujoco.set_mjcb_passive(None)
    assert np.abs(ends[0] - ends[1]).max() < 5e-3


FOUR_BAR = """<mujoco><default><geom contype="0" conaffinity="0" size=".02" mass=".3"/></default><worldbody>
<body name="a"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 .4" type="capsule"/><body name="b" pos="0 0 .4">
<joint axis="0 1 0"/><geom fromto="0 0 0 1 0 0.2" type="capsule"/></body></body><body name="c" pos="1 0 0"><joint
axis="0 1 0"/><geom fromto="0 0 0 0 0 .6" type="capsule"/></body></worldbody>
<equality><connect name="pin" body1="b" body2="c" anchor="1 0 .2"/></equality></mujoco>"""


@pytest.mark.parametrize("method", ["MIDPOINT", "TREE_VARIATIONAL"])
def test_a_loop_that_somebody_has_opened_is_named(method):
    """Joints jumped by 8 rad in a step, or the loop stayed open for good, without a word."""
    model = mujoco.MjModel.from_xml_string(FOUR_BAR)
    step, data = liemech.mujoco_stepper(model, method), mujoco.MjData(model)
    step(data)
    for opened in ([0.1, 0.05, -0.1], [1.0, 3.0, -2.0]):
        data.qpos[:] = opened
        with pytest.raises(ValueError, match=r"data: qpos leaves loops open: pin: shift . by .*; close it: q = step"):
            step(data)
        assert data.qpos.tolist() == opened
    data.qpos[:] = [0.1, 0.05, -0.1]
    data.qpos[:] = step.states.theirs(step.mechanism.assemble(step.states.ours(data.qpos)[0]).q)[0]
    before = data.qpos.copy()
    step(data)
    assert np.abs(data.qpos - before).max() < 1e-3


def test_data_of_another_model_and_switched_equalities_are_named():
    model = mujoco.MjModel.from_xml_string(
        TEXT.replace(
            "<actuator>",
            """<equality>
        <joint name="lock" joint1="elbow" active="false"/></equality><actuator>""",
        )
    )
    with pytest.warns(ModelWarning, match="lock"):
        step = liemech.mujoco_stepper(model)
    with pytest.raises(ValueError, match="data: of another model"):
        step(mujoco.MjData(mujoco.MjModel.from_xml_string(TEXT)))
    data = copy.deepcopy(mujoco.MjData(model))  # and of the model
    step(data)
    assert data.time == model.opt.timestep
    data.eq_active[0] = 1
    with pytest.raises(ValueError, match=r"data: eq_active of 'lock' has changed; set model\.eq_active0"):
        step(data)


CARRIED = """<mujoco><option timestep="0.001" integrator="RK4"/><worldbody><body gravcomp="0.8"><joint name="j"
 axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-9 9"/><geom size=".05" pos=".5 0 0" mass="2" contype="0"
 conaffinity="0"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""


CARRYING = {
    "an actuator": CARRIED,
    "nobody": CARRIED.replace('<motor joint="j"/>', ""),
    "a weak one": CARRIED.replace("-9 9", "-3 3"),
}


@pytest.mark.parametrize("text", CARRYING.values(), ids=CARRYING)
def test_a_weight_that_actuators_carry_is_carried_once(text):
    """MuJoCo adds it to the forces of the actuators, within the range of the joint, and not at all without any."""
    model = mujoco.MjModel.from_xml_string(text)
    ours, theirs, step = mujoco.MjData(model), mujoco.MjData(model), liemech.mujoco_stepper(model)
    for _ in range(300):
        step(ours)
        mujoco.mj_step(model, theirs)
    assert abs(theirs.qpos[0]) > 0.05
    assert ours.qpos[0] == pytest.approx(theirs.qpos[0], rel=5e-3)


SERVO = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" armature=".1"/>
 <geom size=".05" pos=".3 0 0" mass="1" contype="0" conaffinity="0"/></body></worldbody>
 <actuator><position name="drive" joint="j" kp="KP" kv="KV"/></actuator></mujoco>"""


@pytest.mark.parametrize(("kp", "kv", "said"), [(4500, 450, True), (100, 5, False), (4500, 50, False), (9e4, 0, True)])
def test_servos_too_stiff_to_be_held_over_a_step_are_told_of(kp, kv, said):
    model = mujoco.MjModel.from_xml_string(SERVO.replace("KP", str(kp)).replace("KV", str(kv)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        step = liemech.mujoco_stepper(model)
    assert any("actuator 'drive': its force is held" in str(warning.message) for warning in told) == said
    data = mujoco.MjData(model)
    farthest = 0.0
    for _ in range(60):
        data.ctrl[0] = 0.5
        step(data)
        farthest = max(farthest, abs(data.qpos[0]))
    assert (farthest > 1.5) == said


def test_what_cannot_be_stepped_is_named():
    model = mujoco.MjModel.from_xml_string(TEXT)
    with pytest.raises(TypeError, match=r"data: .*expected a mujoco\.MjData"):
        liemech.mujoco_stepper(model)(model)
    with pytest.raises(TypeError, match=r"expected a mujoco\.MjModel"):
        liemech.mujoco_stepper("arm.xml")
    with pytest.raises(ValueError, match="step"):
        liemech.mujoco_stepper(model, step=-1.0)
    muscle = TEXT.replace('<motor joint="shoulder" gear="3"/>', '<general joint="shoulder" dyntype="filter"/>')
    with pytest.raises(ModelError, match="1 activations"):
        liemech.mujoco_stepper(mujoco.MjModel.from_xml_string(muscle))
    delayed = TEXT.replace('gear="3"', 'gear="3" delay="0.05" nsample="26"')
    with pytest.raises(ModelError, match="delayed actuators or sensors"):
        liemech.mujoco_stepper(mujoco.MjModel.from_xml_string(delayed))
    with pytest.warns(ModelWarning, match="contacts are not modelled"):
        liemech.mujoco_stepper(mujoco.MjModel.from_xml_string(TEXT.replace('contype="0"', 'contype="1"')))


TOUCHING = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1"/></body>
 <body name="p" pos="2 0 2"><joint name="h" axis="0 1 0" damping="0.1" range="-1 1" limited="true"/><geom size=".05"/>
  <body pos="0 0 -.4"><joint name="k" axis="0 1 0"/><geom size=".05" pos="0 0 -.4"/></body></body></worldbody>
 <tendon><fixed stiffness="3" range="-1 1" limited="true"><joint joint="h" coef="1"/><joint joint="k" coef="-1"/>
  </fixed></tendon><actuator><position joint="h" kp="5"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    "name",
    [
        "opt.gravity", "opt.timestep", "body_mass", "dof_damping", "geom_friction", "geom_size", "geom_solref",
        "geom_pos", "opt.disableflags", "wrap_prm", "tendon_range", "tendon_lengthspring", "jnt_solref", "jnt_margin",
        "jnt_limited", "qpos0", "opt.density",
    ],
)  # fmt: skip
def test_a_model_that_has_changed_since_is_told_of(name):
    """Whatever its mechanism was made of; half of these were kept without a word."""
    model = mujoco.MjModel.from_xml_string(TOUCHING)
    step, data = liemech.mujoco_stepper(model, step=1e-4, contacts=True), mujoco.MjData(model)
    step(data)
    if name == "opt.timestep":
        model.opt.timestep = 1e-4
    elif name == "opt.disableflags":
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    elif name == "opt.density":
        model.opt.density = 1e-3
    else:
        values = getattr(model.opt if name.startswith("opt.") else model, name.removeprefix("opt."))
        values.flat[0] += 1
    with pytest.raises(ValueError, match=f"model: {name} has changed since the stepper was made"):
        step(data)
    if name in ("opt.gravity", "opt.timestep", "body_mass"):
        liemech.mujoco_stepper(model, step=1e-4, contacts=True)(mujoco.MjData(model))


def test_what_is_read_in_every_step_or_does_not_act_may_change():
    model = mujoco.MjModel.from_xml_string(TOUCHING)
    with pytest.warns(ModelWarning, match="contacts are not modelled"):
        step, data = liemech.mujoco_stepper(model, step=1e-4), mujoco.MjData(model)
    step(data)
    model.actuator_gainprm[:, 0] = model.actuator_ctrlrange[:] = 2.0
    model.geom_rgba[:], model.geom_friction[:] = 0.5, 0.1
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    step(data)
    assert data.time == pytest.approx(2e-4)
