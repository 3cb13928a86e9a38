"""Trees read through MuJoCo's compiler move as MuJoCo says, and say what they leave out."""

import os
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
    <body name="torso" pos="0.1 0.2 1.3" euler="10 20 30"><joint name="root" type="free" armature="0.5"/>
      <geom type="box" size="0.2 0.1 0.3" pos="0.02 0 0.05"/>
      <body name="thigh" pos="0.1 0.1 -0.3" euler="0 30 15">
        <joint name="hip" type="ball" pos="0.02 0.01 0.03" damping="0.2" armature="0.03"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.4"/>
        <body name="shank" pos="0.1 0 -0.4">
          <joint name="slide" type="slide" axis="0 0.3 1" armature="0.4"/>
          <joint name="knee" axis="0 1 0.2" pos="0 0.02 0.01" range="-60 30" damping="0.1"/>
          <joint name="twist" axis="1 0 0" pos="0.03 -0.02 -0.1" ref="20"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.4"/>
          <body name="foot" pos="0 0 -0.4" euler="0 0 45"><geom type="box" size="0.1 0.05 0.02"/></body>
        </body>
      </body>
      <body name="wheel" pos="0 -0.2 0"><joint name="axle" axis="0 1 0" armature="0.2"/>
        <geom type="cylinder" size="0.1 0.02" euler="90 0 0"/></body>
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


def test_sites_are_frames():
    """Where MuJoCo has them, with its Jacobians; under another name where a body has it."""
    site = '<site name="{}" pos="0.1 -0.2 0.05" euler="20 -30 40"/>'
    text = MODEL.replace('<body name="foot" pos="0 0 -0.4" euler="0 0 45">', "{}" + site.format("sole"))
    text = text.replace("{}", '<body name="foot" pos="0 0 -0.4" euler="0 0 45">' + site.format("foot") + "<site/>")
    text = text.replace("<worldbody>", "<worldbody>" + site.format("mark"))
    tree, model = mechanics.load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    names = {"mark": "mark", "foot": "foot_site", "sole": "sole", "": "site_2"}
    assert set(names.values()) <= set(tree.frames)
    assert model.nsite == len(names)
    q, _, R, data = states(tree, model, 3)
    v_from_qvel = np.eye(tree.nv)
    v_from_qvel[:3, :3] = R.T
    for s in range(model.nsite):
        name = names[model.site(s).name]
        x, axes = mechanics.frame_pose(tree, q, name)
        assert np.allclose(x, data.site_xpos[s], rtol=0, atol=1e-12)
        assert np.allclose(axes, data.site_xmat[s].reshape(3, 3), rtol=0, atol=1e-12)
        linear, angular = np.zeros((2, 3, model.nv))
        mujoco.mj_jacSite(model, data, linear, angular, s)
        J = mechanics.frame_jacobian(tree, q, name, axes="world") @ v_from_qvel
        assert np.allclose(J, np.concatenate([linear, angular]), rtol=0, atol=1e-12)


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
    assert np.allclose(knee.data.armature, [0.4, 0.0])
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
    for word in ("contacts", "actuators", "springs", "dry friction"):
        assert word in message


def test_bad_files_are_named():
    with pytest.raises(ModelError, match=r"nothing\.xml: .*there is no such file"):
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


# --- springs, flags and constraints of mechanisms ---------------------------------------------------------------------

SPRUNG = """<mujoco><option><flag contact="disable" {flag}/></option>
 <default><geom contype="0" conaffinity="0"/></default>
 <worldbody><body name="a"><joint name="j" axis="0 1 0" stiffness="3" springref="40" ref="10" damping="0.3"/>
  <geom size="0.1" pos="0 0 -0.4"/>
  <body name="b" pos="0 0 -0.8"><joint name="k" type="slide" axis="1 0 0" stiffness="7"/>
   <geom size="0.1" pos="0.1 0 0"/>{more}</body></body></worldbody>{tail}</mujoco>
"""


def sprung(flag="", more="", tail=""):
    return SPRUNG.format(flag=flag, more=more, tail=tail)


@pytest.mark.parametrize("flag", ["", 'spring="disable"', 'damper="disable"', 'gravity="disable"'])
def test_springs_of_a_mechanism_and_flags_act_as_in_mujoco(flag):
    text = sprung(flag)
    made, model = mechanics.load_mechanism(text), mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    q, v = rng.normal(size=2), rng.normal(size=2)
    data.qpos[:], data.qvel[:] = model.qpos0 + q, v
    mujoco.mj_forward(model, data)
    tau = np.zeros(2)
    for e in made.elements:
        at = made.tree.v_slice(e.joint).start
        tau[at] -= e.stiffness * (q[at] - e.rest)
    assert np.allclose(mechanics.forward_dynamics(made.tree, q, v, tau), data.qacc_smooth, rtol=1e-11, atol=1e-11)
    assert len(made.elements) == (0 if "spring" in flag else 2)
    assert mechanics.load_mechanism(text, springs=False).elements == ()


def test_a_spring_that_rests_nowhere_is_named():
    joint = '<joint name="s" stiffness="2" springref="-inf"/>'
    text = f"<mujoco><worldbody><body>{joint}{GEOM}</body></worldbody></mujoco>"
    with pytest.raises(ModelError, match=r"^MJCF text: <joint> 's': springref is -inf; give a finite number"):
        mechanics.load_mechanism(text)


GEOM = '<geom size="0.1" pos="0 0 -1" contype="0" conaffinity="0"/>'
BALL = '<body name="c" pos="0 0 -0.5"><joint name="n" type="ball" stiffness="2"/><geom size="0.1"/></body>'
SITES = '<site name="p" pos="0 0 -0.1"/><site name="o" pos="0.2 0 0.1"/>'
INERT = {
    "inactive only": '<equality><joint joint1="j" joint2="k" name="E" active="false"/></equality>',
    "spatial tendons only": """<tendon><spatial name="T" stiffness="3"><site site="p"/><site site="o"/></spatial>
    </tendon><equality><tendon name="E" tendon1="T"/></equality>""",
}


@pytest.mark.parametrize("case", INERT)
def test_a_file_whose_equalities_do_not_act_is_an_open_tree(case):
    with pytest.warns(ModelWarning, match=r"left out.*: E"):
        made = mechanics.load_mechanism(sprung(more=SITES, tail=INERT[case]))
    assert (made.mobility.dof, len(made.equations)) == (2, 0)


def test_equalities_that_are_switched_off_do_not_act():
    text = sprung('equality="disable"', tail='<equality><joint name="E" joint1="j" joint2="k"/></equality>')
    with pytest.warns(ModelWarning, match=r"left out.*: E"):
        assert mechanics.load_mechanism(text).mobility.dof == 2


SPATIAL = INERT["spatial tendons only"].split("<equality>")[0]
MUSCLE = """<actuator><general name="M" joint="j" gaintype="muscle" lengthrange="0 1"
    gainprm="0.75 1.05 -1 200 0.5 1.6 1.5 1.3 1.2"/></actuator>"""
LEFT_OUT = {
    "springs of balls with powers": (sprung(more=BALL.replace('"2"', '"2 1 0"')), "springs of balls.*: n"),
    "springs of balls beside slides": (
        sprung(more=BALL.replace("<joint", '<joint type="slide"/><joint')),
        "springs of balls.*: n",
    ),
    "friction of balls": (sprung(more=BALL.replace("stiffness", "frictionloss")), "dry friction.* of balls.*: n"),
    "damping of balls": (sprung(more=BALL.replace('stiffness="2"', 'damping="1 2"')), "not linear of balls.*: n"),
    "limits of balls": (sprung(more=BALL.replace('stiffness="2"', 'range="0 9"')), "limits of balls.*: n"),
    "motors of balls": (sprung(more=BALL, tail='<actuator><motor name="M" joint="n"/></actuator>'), "on balls.*: M"),
    "motors between sites": (
        sprung(more=SITES, tail='<actuator><motor name="M" site="p" refsite="o"/></actuator>'),
        "between sites.*: M",
    ),
    "servos at sites": (
        sprung(more=SITES, tail='<actuator><velocity name="M" site="p" kv="2"/></actuator>'),
        "law of the velocity.*: M",
    ),
    "activation": (
        sprung(tail='<actuator><general name="M" joint="j" dyntype="filter" dynprm="0.1"/></actuator>'),
        "state of their own.*: M",
    ),
    "muscles": (sprung(tail=MUSCLE), "law that is not affine.*: M"),
    "motors of spatial tendons": (
        sprung(more=SITES, tail=SPATIAL + '<actuator><motor name="M" tendon="T"/></actuator>'),
        "on spatial tendons.*: M",
    ),
    "one range for two motors": (
        sprung(tail='<actuator><motor joint="j"/><motor joint="j"/></actuator>').replace(
            'ref="10"', 'actuatorfrcrange="-1 1"'
        ),
        "actuatorfrcrange.*: j",
    ),
    "armature of tendons": (
        sprung(tail='<tendon><fixed name="T" armature="1"><joint joint="j" coef="1"/></fixed></tendon>'),
        "tendons with armature.*: T",
    ),
    "contacts": (
        sprung().replace('contype="0"', 'contype="1"').replace('contact="disable"', ""),
        "contacts are not modelled.*: geom_0",
    ),
    "spatial tendons": (sprung(more=SITES, tail=SPATIAL), "springs of spatial tendons.*: T"),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_a_mechanism_says_what_it_leaves_out_and_of_what(case):
    text, message = LEFT_OUT[case]
    with pytest.warns(ModelWarning, match=message):
        mechanics.load_mechanism(text)


def test_gravity_compensation_is_for_mechanisms():
    with pytest.warns(ModelWarning, match="gravity compensation: left out of a tree.*: b"):
        mechanics.load_mjcf(sprung().replace('name="b"', 'name="b" gravcomp="1"'))


# --- what the compiler may read and make ------------------------------------------------------------------------------

BODY = '<body><joint/><geom size="0.1" contype="0" conaffinity="0"/></body>'


def asset(kind, name, extra=""):
    return f'<mujoco>{extra}<asset><{kind} name="x" file="{name}"/></asset><worldbody>{BODY}</worldbody></mujoco>'


def elsewhere(extra):
    return f"<mujoco>{extra}<worldbody>{BODY}</worldbody></mujoco>"


OUTSIDE = {
    "include": elsewhere('<include file="../secret.xml"/>'),
    "absolute include": elsewhere('<include file="{root}/secret.xml"/>'),
    "include by a link": elsewhere('<include file="link.xml"/>'),
    "folder by a link": elsewhere('<include file="linked/secret.xml"/>'),
    "include of an include": elsewhere('<include file="inner.xml"/>'),
    "mesh": asset("mesh", "../secret.stl"),
    "mesh by a folder": asset("mesh", "secret.stl", '<compiler meshdir=".."/>'),
    "mesh by two folders": asset("mesh", "secret.stl", '<compiler assetdir="{root}"/>'),
    "texture": asset("texture", "../secret.png"),
    "height field": asset("hfield", "/dev/zero"),
    "model": asset("model", "../secret.xml"),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_files_outside_of_the_folder_of_the_model_are_not_read(case, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text(f"<mujoco><worldbody>{BODY}</worldbody></mujoco>")
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "inner.xml").write_text('<mujoco><include file="../secret.xml"/></mujoco>')
    path = folder / "m.xml"
    path.write_text(OUTSIDE[case].replace("{root}", str(tmp_path)))
    with pytest.raises(ModelError, match=r"leads out of the folder of the model; pass trusted=True"):
        mechanics.load_mjcf(path)


def test_files_inside_are_read_and_a_trusted_file_may_go_anywhere(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "part.xml").write_text(f"<mujoco><worldbody>{BODY}</worldbody></mujoco>")
    path = folder / "m.xml"
    path.write_text('<mujoco><include file="part.xml"/></mujoco>')
    assert mechanics.load_mjcf(path).nv == 1
    path.write_text('<mujoco><include file="../part.xml"/></mujoco>')
    assert mechanics.load_mjcf(path, trusted=True).nv == 1
    assert mechanics.load_mechanism(path, trusted=True).mobility.dof == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_and_files_beyond_the_limit_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    with open(tmp_path / "long.stl", "wb") as file:
        file.truncate(10**12)
    path = tmp_path / "m.xml"
    for name, message in (("pipe.stl", "is not a regular file"), ("long.stl", r"raise limits\.assets")):
        path.write_text(asset("mesh", name))
        with pytest.raises(ModelError, match=rf"m\.xml: <mesh name='x'> file='{name}': .*{message}"):
            mechanics.load_mjcf(path)
    (tmp_path / "long.stl").write_bytes(b"")
    with pytest.raises(ModelError, match="MuJoCo's compiler says"):  # no mesh, but within the limits
        mechanics.load_mjcf(path, limits=mechanics.models.Limits(assets=5000))


TOO_MUCH = {
    "plugin": ('<extension><plugin plugin="mujoco.elasticity.cable"/></extension>', "asks for a plugin"),
    "replicas": (f'<worldbody><replicate count="99999999">{BODY}</replicate></worldbody>', "raise limits.elements"),
    "replicas of replicas": (
        f'<worldbody><replicate count="999"><replicate count="999">{BODY}</replicate></replicate></worldbody>',
        "raise limits.elements",
    ),
    "composite": ('<worldbody><body><composite count="9999 9999"/></body></worldbody>', "raise limits.elements"),
    "texture": ('<asset><texture builtin="flat" width="99999" height="99999"/></asset>', "raise the limits"),
    "height field": ('<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset>', "raise the limits"),
    "stack": ('<size nstack="99999999999"/>', "raise the limits"),
    "user data": ('<size nuser_body="999999999"/>', "raise the limits"),
    "depth": ("<worldbody>" + "<body>" * 200 + "</body>" * 200 + "</worldbody>", "raise limits.depth"),
    "not a number": ('<option timestep="NaN"/>', "<option>.*timestep is 'NaN'"),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_what_would_fill_the_memory_is_refused_before_it_is_made(case):
    text, message = TOO_MUCH[case]
    with pytest.raises(ModelError, match=message):
        mechanics.load_mjcf(f"<mujoco>{text}</mujoco>")


def test_sizes_of_robots_are_not_multiplied():
    """As the files of hands and dogs have them."""
    size = '<size njmax="8000" nconmax="4000" nstack="600000" nuser_body="9" nuser_actuator="16"/>'
    assert mechanics.load_mjcf(f"<mujoco>{size}<worldbody>{BODY}</worldbody></mujoco>").nv == 1


def test_document_types_and_broken_text_are_refused(tmp_path):
    with pytest.raises(ModelError, match="refused; remove <!DOCTYPE"):
        mechanics.load_mjcf("<!DOCTYPE m [<!ENTITY x 'y'>]><mujoco/>")
    with pytest.raises(ModelError, match=r"MJCF text.*not well-formed"):
        mechanics.load_mechanism("<mujoco><worldbody>")
    path = tmp_path / "m.xml"
    path.write_bytes('<?xml version="1.0" encoding="latin-1"?><mujoco model="Bär"/>'.encode("latin-1"))
    with pytest.raises(ModelError, match=r"m\.xml: is not UTF-8"):
        mechanics.load_mjcf(path)
    with pytest.raises(ModelError, match=r"longer than 10 bytes; raise limits\.bytes"):
        mechanics.load_mjcf(path, limits=mechanics.models.Limits(bytes=10))


_GEOM = '<geom size=".1" pos="1 0 0" contype="0" conaffinity="0"/>'


@pytest.mark.parametrize(
    ("bodies", "names"),
    [
        (
            f'<body><joint/>{_GEOM}<body><joint name="joint_0" axis="0 1 0"/>{_GEOM}</body></body>',
            ["joint_0_", "joint_0"],
        ),
        (
            f'<body><joint name="a+b"/>{_GEOM}<body><joint name="a"/><joint name="b" axis="0 1 0"/>{_GEOM}</body>'
            "</body>",
            ["a+b", "a+b_"],
        ),
        (
            f'<body name="x_anchor_1"><joint name="a"/>{_GEOM}<body name="x"><joint name="b" pos=".1 0 0"/>'
            f'<joint name="c" axis="0 1 0" pos="0 .2 0"/>{_GEOM}</body></body>',
            ["a", "b", "c"],
        ),
    ],
)
def test_names_that_are_made_do_not_meet_those_of_the_file(bodies, names):
    tree = mechanics.load_mjcf(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert list(tree.joint_names) == names


def test_keyframes_are_noted():
    text = f'<worldbody><body><joint/>{_GEOM}</body></worldbody><keyframe><key name="home" qpos="0.7"/></keyframe>'
    tree = mechanics.load_mjcf(f"<mujoco>{text}</mujoco>")
    assert any(note.startswith("1 × keyframes: left out") and "home" in note for note in tree.notes)


def test_an_xml_file_says_itself_whose_it_is(tmp_path):
    """MuJoCo's files and those of URDF have the same ending."""
    text = (
        "<!-- <robot> --><mujoco><option><flag contact='disable'/></option><worldbody><body name='b'><joint name='j'/>"
    )
    (path := tmp_path / "m.xml").write_text(f"{text}<geom size='0.1' pos='0 0 -1'/></body></worldbody></mujoco>")
    assert mechanics.load_model(path, damping=False).joint_names == mechanics.load_mjcf(path).joint_names == ("j",)
    with pytest.raises(ValueError, match="an MJCF file says itself what moves freely"):
        mechanics.load_model(path, floating_base=True)
    path.write_text("<robot name='r'><link name='l'/></robot>")
    with pytest.raises(ModelError, match="<robot>: has no joint that moves"):
        mechanics.load_model(path)
