"""Springs, dampers, tendons, actuators, stops and friction of MJCF files act as in MuJoCo, attribute by attribute."""

import numpy as np
import pytest

import mechanics
from mechanics import ModelError
from mechanics.adapters.elements import Wanted, soft
from mechanics.adapters.mjcf_closures import mechanism_of
from mechanics.adapters.mjcf_compiler import arrays
from mechanics.adapters.mjcf_model import as_model
from mechanics.adapters.reading import Report
from mechanics.derivatives import generalised_forces
from mechanics.forces import Tendon

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco><option gravity="0 0.4 -9"/><default><geom contype="0" conaffinity="0"/></default>
 <worldbody>
  <body name="a"><joint name="j" axis="0 1 0" ref="10" {j}/><geom size="0.1" pos="0 0 -1"/>
   <body name="b" pos="0 0 -1"><joint name="k" axis="1 0 0" {k}/>
    <joint name="s" type="slide" axis="1 1 0" ref="0.2" {s}/><geom size="0.1" pos="0 0.2 -1"/></body></body>
  <body name="c" pos="1 0 0"><joint name="w" axis="0 0 1" pos="0 0.1 0"/><geom size="0.1" pos="0.5 0 0"/></body>
 </worldbody>
 <tendon><fixed name="t" {t}><joint joint="j" coef="2"/><joint joint="s" coef="-1.3"/></fixed>
  <fixed name="u" {u}><joint joint="w" coef="0.7"/><joint joint="k" coef="-1.3"/></fixed></tendon>
 {tail}</mujoco>
"""
JOINTS = {"j": 0, "k": 1, "s": 2, "w": 3}


def text(tail="", **attributes):
    return MODEL.format(**dict.fromkeys("jkstu", "") | attributes, tail=tail)


def driven(actuator, **attributes):
    return text(f"<actuator>{actuator}</actuator>", **attributes)


CASES = {
    "springs": text(j='stiffness="3" springref="40"', k='stiffness="2"', s='stiffness="4" springref="-0.3"'),
    "springs with powers": text(j='stiffness="3 -1 2" springref="40"', k='stiffness="0 0 2"'),
    "dampers": text(j='damping="0.3"', k='damping="0.2"', s='damping="0.4"'),
    "dampers with powers": text(j='damping="0.3 0.2 0.1"', s='damping="0 0 0.4"'),
    "springdamper": text(j='springdamper="0.2 0.7"'),
    "tendon springs": text(t='stiffness="3"', u='stiffness="3" springlength="0.2"'),
    "slack tendons": text(t='stiffness="3 1 2" springlength="-0.1 0.2"', u='stiffness="5" springlength="-9 9"'),
    "tendon dampers": text(t='damping="0.3"', u='damping="0.2 0.1 0.4"'),
    "motors": driven('<motor joint="j"/><motor joint="k" gear="-2.5"/><motor name="m" joint="s" gear="3"/>'),
    "motor in the parent": driven('<motor jointinparent="k" gear="0.7"/>'),
    "position servo": driven('<position joint="j" kp="30" kv="2" gear="1.5"/>'),
    "position servo by damping ratio": driven('<position joint="s" kp="30" dampratio="0.7"/>'),
    "velocity servo": driven('<velocity joint="j" kv="3" gear="2"/>'),
    "damper as actuator": driven('<damper joint="j" kv="3" ctrlrange="0.5 2"/>'),
    "general": driven(
        '<general joint="s" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="0.3 0.2 0.1" gear="1.3"/>'
    ),
    "command beyond its range": driven('<motor joint="j" gear="4" ctrlrange="-0.1 0.1"/>'),
    "force beyond its range": driven('<motor joint="j" gear="4" forcerange="-0.1 0.1"/>'),
    "force beyond that of its joint": driven('<motor joint="j" gear="-4"/>', j='actuatorfrcrange="-0.1 0.2"'),
    "force beyond that of its tendon": driven('<motor tendon="t" gear="4"/>', t='actuatorfrcrange="-0.1 0.2"'),
    "motors of tendons": driven('<motor tendon="t" gear="2"/><position tendon="u" kp="20" kv="1"/>'),
    "dampers of actuators": driven('<motor joint="j" gear="3" damping="0.4 0.2"/><motor tendon="u" damping="0.3"/>'),
    "armature": driven('<motor joint="j" gear="3" armature="0.2"/>', k='armature="0.3"', s='armature="0.4"'),
    "all together": driven(
        '<motor name="a" joint="j"/><position name="b" tendon="t" kp="2"/><velocity name="c" joint="j" kv="0.3"/>',
        j='stiffness="3" damping="0.1"', t='stiffness="2" damping="0.1"',
    ),
    "switched off": driven('<motor joint="j"/>').replace("<option", '<option actuatorgroupdisable="0"'),
    "clamps switched off": driven('<motor joint="j" gear="4" ctrlrange="-0.1 0.1"/>').replace(
        "</option>", ""
    ).replace('-9"/>', '-9"><flag clampctrl="disable"/></option>'),
    "gravity compensation": text()
    .replace('name="b"', 'name="b" gravcomp="1.2"')
    .replace('name="a"', 'name="a" gravcomp="-0.3"'),
    "springs switched off": text(j='stiffness="3"', t='stiffness="2"').replace(
        '-9"/>', '-9"><flag spring="disable"/></option>'
    ),
    "dampers switched off": text(j='damping="3"', t='damping="2"').replace(
        '-9"/>', '-9"><flag damper="disable"/></option>'
    ),
    "actuators switched off": driven('<motor joint="j"/>').replace(
        '-9"/>', '-9"><flag actuation="disable"/></option>'
    ),
}  # fmt: skip


def acceleration(made, q, v):
    return mechanics.forward_dynamics(made.tree, q, v, generalised_forces(made, q, v).force)


def of_model(model, wanted=Wanted(friction=False, stops=False)):  # noqa: B008
    report = Report("model")
    made = mechanism_of(as_model(arrays(model, mujoco.mjtDisableBit)), report, None, wanted)
    assert not report.changes
    return made


@pytest.mark.parametrize("case", CASES)
def test_the_acceleration_is_that_of_mujoco(case):
    model = mujoco.MjModel.from_xml_string(CASES[case])
    data, made = mujoco.MjData(model), of_model(model)
    rng = np.random.default_rng(3)
    q, v, commands = rng.normal(size=4), rng.normal(size=4), rng.normal(size=model.nu)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q + model.qpos0, v, commands
    mujoco.mj_forward(model, data)
    names = [model.actuator(i).name or f"actuator_{i}" for i in range(model.nu)]
    made = made.with_commands({name: u for name, u in zip(names, commands, strict=True) if name in made.actuators})
    found = acceleration(made, q, v)
    assert np.abs(found - data.qacc_smooth).max() < 1e-12 * (1.0 + np.abs(data.qacc_smooth).max())
    bare = mechanics.forward_dynamics(of_model(model, Wanted(False, False, False, False, False)).tree, q, v)
    assert ("switched off" in case) == bool(np.abs(found - bare).max() < 1e-9) or case == "clamps switched off"


FLOATING = """<mujoco><option gravity="0 0 -9"><flag energy="enable"/></option><default>
 <geom contype="0" conaffinity="0"/></default><worldbody>
  <body name="a" pos="1 0 0" euler="20 30 0"><joint name="n" type="ball" pos="0.1 0 0" stiffness="3"/>
   <geom size="0.1" pos="0 0 -1"/><geom size="0.1" pos="0.3 0 -1"/>
   <body name="b" pos="0 0 -1" euler="10 0 50"><joint name="m" type="ball" stiffness="2"/>
    <geom size="0.1" pos="0 0.2 -1"/><geom size="0.1" pos="0.3 0 -1"/><site name="p" pos="1 2 3" euler="30 40 50"/>
   </body></body>
  <body name="f" pos="0 1 2" euler="40 20 10"><joint type="free" stiffness="4"/><geom size="0.1" pos="0.1 0.2 -1"/>
   <geom type="box" size="0.1 0.2 0.3"/><site name="o" pos="0.1 0 0"/></body></worldbody>
 <actuator><motor name="twist" site="p" gear="1 2 3 0.1 -0.2 0.3"/><motor name="turn" joint="m" gear="1"/>
  <position name="push" site="o" gear="0 0 2" kp="3" forcerange="-1 1"/></actuator></mujoco>
"""


def test_springs_of_balls_and_free_bodies_and_motors_at_sites_act_as_in_mujoco():
    """Forces and stored energy, at turns near none, of any size and near a half."""
    model = mujoco.MjModel.from_xml_string(FLOATING.replace('<motor name="turn" joint="m" gear="1"/>', ""))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    made, (_, states) = of_model(model).with_commands({"twist": 0.7, "push": 5.0}), mechanics.from_mujoco(model)
    assert made.actuators["push"].force_range == (-1.0, 1.0)
    near = np.where(made.tree.neutral() == 1.0, 1.0, 1e-9)
    for q in (made.tree.random_configuration(rng), near, 1.001 - near):
        for k in (0, 4, 11):  # quaternions
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        v = rng.normal(size=made.tree.nv)
        data.qpos[:], data.qvel[:] = states.theirs(q, v)
        data.ctrl[:] = 0.7, 5.0
        mujoco.mj_forward(model, data)
        found = states.their_acceleration(q, v, acceleration(made, q, v))
        assert found == pytest.approx(data.qacc_smooth, rel=1e-10, abs=1e-10)
        p = mechanics.momentum(made.tree, q, v)
        stored = sum(account.stored[0] for account in mechanics.element_accounts(made, [0.0], [q], [p]))
        assert stored + mechanics.potential_energy(made.tree, q) == pytest.approx(data.energy[0], rel=1e-12)


def test_motors_of_balls_are_the_only_ones_that_are_left_out_there():
    with pytest.warns(mechanics.ModelWarning, match="on balls and free bodies.*: turn$"):
        made = mechanics.load_mechanism(FLOATING)
    assert list(made.actuators) == ["twist", "push"]
    assert made.problem().inputs.names == ("twist", "push")


def test_a_range_of_a_joint_that_a_motor_at_a_site_pushes_as_well_is_a_warning():
    """MuJoCo bounds what all actuators do to the joint together, also those at sites of bodies that it moves."""
    tail = '<motor joint="j"/><motor site="p" gear="0 0 9 0 4 0"/>'
    sited = driven(tail, j='actuatorfrcrange="-0.1 0.2"').replace('name="b" pos="0 0 -1">', 'name="b"><site name="p"/>')
    with pytest.warns(mechanics.ModelWarning, match="one of a tendon or site: left out: j"):
        made = mechanics.load_mechanism(sited)
    assert made.actuators["actuator_0"].force_range == (-np.inf, np.inf)
    beside = sited.replace('<site name="p"/>', "").replace('name="c" pos="1 0 0">', 'name="c"><site name="p"/>')
    assert mechanics.load_mechanism(beside).actuators["actuator_0"].force_range == (-0.1, 0.2)


def test_a_file_brings_its_actuators_with_names_and_ranges():
    drives = '<position name="p" joint="s" kp="30" kv="2" ctrlrange="-1 1" forcerange="-5 5"/>'
    drives += '<motor tendon="t" gear="2"/>'
    made = mechanics.load_mechanism(driven(drives))
    assert list(made.actuators) == ["p", "actuator_1"]
    servo, motor = made.actuators.values()
    assert (servo.command_range, servo.force_range) == ((-1.0, 1.0), (-5.0, 5.0))
    assert servo.joint == ("k+s", 1)
    assert motor.joint == Tendon({"j": 4.0, ("k+s", 1): -2.6}, "t")
    with pytest.raises(KeyError, match="no actuator 'q'; there are p, actuator_1"):
        made.with_commands({"q": 1.0})
    with pytest.raises(TypeError, match=r"command of 'p': .*, or a Motion of time"):
        made.with_commands({"p": "fast"})
    assert not mechanics.load_mechanism(driven(drives), actuators=False).actuators


def test_equalities_of_sites_and_tendons_hold():
    tail = """<equality><tendon name="T" tendon1="t" tendon2="u" polycoef="0.1 0.8 0.3 0 0"/>
    <connect name="C" site1="p" site2="o"/></equality>"""
    sites = text(tail).replace('pos="0.5 0 0"/>', 'pos="0.5 0 0"/><site name="p" pos="-1 0 -2"/>')
    sites = sites.replace('pos="0 0.2 -1"/>', 'pos="0 0.2 -1"/><site name="o" pos="0 0.1 -1"/>')
    model = mujoco.MjModel.from_xml_string(sites)
    made, data = of_model(model), mujoco.MjData(model)
    q = made.home + np.array([0.1, 0.2, -0.1, 0.3])
    data.qpos[:] = q + model.qpos0
    mujoco.mj_forward(model, data)
    gaps = dict(zip(made.equations.names, made.gap(q), strict=True))
    lengths = data.ten_length - model.tendon_length0
    assert lengths[0] - (0.1 + 0.8 * lengths[1] + 0.3 * lengths[1] ** 2) == pytest.approx(
        next(g for n, g in gaps.items() if n.startswith("T")), abs=1e-14
    )
    between = data.site("p").xpos - data.site("o").xpos
    assert np.linalg.norm([g for n, g in gaps.items() if n.startswith("C")]) == pytest.approx(
        np.linalg.norm(between), rel=1e-12
    )


def test_an_impedance_of_limits_that_is_left_out_is_noted():
    def notes(attribute):
        limit = 'limited="true" range="-1 1"'
        made = mechanics.load_mechanism(text(j=f"{limit} {attribute}", t=f"{limit} {attribute}"))
        return [note for note in made.tree.notes if "solimplimit" in note]

    assert notes("") == []
    assert [note.rpartition(": ")[2] for note in notes('solimplimit="0 0.99 0.01"')] == ["j", "t"]


@pytest.mark.parametrize("solref", ["0.05 0.8", "-900 -20"])
def test_a_stop_pulls_a_mass_as_solref_says(solref):
    """A slide of 2 kg at its end: without load the acceleration beyond the stop is that of MuJoCo's constraint."""
    slide = f"""<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"
    range="-0.1 0.3" solreflimit="{solref}" solimplimit="0.9 0.9 0.001"/><inertial pos="0 0 0" mass="2"
    diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(slide)
    data = mujoco.MjData(model)
    made = of_model(model, Wanted())
    for q, v in ((0.32, 0.1), (-0.13, 0.05), (0.2, 1.0)):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        found = acceleration(made, [q], [v])
        assert found == pytest.approx(data.qacc, rel=1e-9)
    assert soft((0.05, 0.8), 2.0) == pytest.approx((1250.0, 80.0))


def test_dry_friction_slides_with_its_force_and_creeps_like_mujoco():
    slide = """<mujoco><option gravity="2 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"
    frictionloss="5"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(slide)
    made, data = of_model(model, Wanted()), mujoco.MjData(model)
    assert acceleration(made, [0.0], [3.0]) == pytest.approx([2.0 - 2.5])
    for _ in range(200):
        mujoco.mj_step(model, data)
    creeps = data.qvel[0]
    found = acceleration(made, [0.0], [creeps])[0]  # of a tanh that is 0.66 of its straight line there
    assert creeps > 0.0
    assert 0.0 < found < 0.4


def test_numbers_that_no_element_can_have_are_named():
    bad = text(j='frictionloss="-1"')
    with pytest.raises(ModelError, match="force"):
        mechanics.load_mechanism(bad)
