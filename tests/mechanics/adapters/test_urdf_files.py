"""What can be wrong with a URDF file is refused with the file, the element and the remedy; what is left out is
reported.
"""

import numpy as np
import pytest

import mechanics
from mechanics import ModelError, ModelWarning
from mechanics.forces import Tendon
from mechanics.models import Limits

INERTIAL = '<inertial><origin xyz="0 0 0.5"/><mass value="2"/>'
INERTIAL += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name, inertial=INERTIAL):
    return f'<link name="{name}">{inertial}</link>'


def joint(name, parent, child, kind="revolute", inside='<axis xyz="0 0 1"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def inertia(ixx=1.0, iyy=1.0, izz=1.0, mass=2.0):
    return (
        INERTIAL.replace('ixx="1"', f'ixx="{ixx}"')
        .replace('iyy="1"', f'iyy="{iyy}"')
        .replace('izz="1"', f'izz="{izz}"')
        .replace('<mass value="2"/>', f'<mass value="{mass}"/>')
    )


ARM = link("base", "") + link("arm") + joint("shoulder", "base", "arm")


@pytest.fixture
def load(tmp_path):
    def load(content, **options):
        path = tmp_path / "model.urdf"
        text = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(
            text
            if text.lstrip().startswith(b"<") and b"<robot" in text
            else b'<robot name="test">' + text + b"</robot>"
        )
        return mechanics.load_urdf(path, **options)

    return load


BROKEN = {
    "no links": ("", "has no <link>"),
    "unclosed element": ('<robot name="r"><link name="a">', "not well-formed XML"),
    "another format": ('<mujoco model="r"/><!-- <robot> -->', "root element is <mujoco>"),
    "unknown parent": (ARM + joint("wrist", "nowhere", "base"), "'wrist'.*parent 'nowhere' is not a link"),
    "unknown child": (ARM + joint("wrist", "arm", "nowhere"), "'wrist'.*child 'nowhere' is not a link"),
    "two parents": (
        ARM + link("arm2") + joint("elbow", "arm", "arm2") + joint("again", "base", "arm2"),
        "'arm2'.*'elbow' and 'again'",
    ),
    "two roots": (ARM + link("island"), "2 root links: base, island"),
    "cycle beside the tree": (
        ARM + link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a"),
        "j, k form a cycle",
    ),
    "cycle through everything": (
        link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a"),
        "j, k form a cycle",
    ),
    "own parent": (ARM + link("a") + joint("j", "a", "a"), "cycle"),
    "repeated link": (ARM + link("arm"), "<link name='arm'>.*2 times"),
    "repeated joint": (ARM + link("arm2") + joint("shoulder", "arm", "arm2"), "<joint name='shoulder'>.*2 times"),
    "unnamed link": (ARM + "<link/>", "'name' of <link> is missing"),
    "no parent element": (
        ARM + link("a") + '<joint name="j" type="fixed"><child link="a"/></joint>',
        "<parent> is missing",
    ),
    "no type": (ARM.replace(' type="revolute"', ""), "'type' of <joint> is missing"),
    "unknown type": (ARM.replace("revolute", "helical"), "'helical'.*not supported.*revolute"),
    "zero axis": (ARM.replace("0 0 1", "0 0 0"), "axis that is not zero"),
    "short axis": (ARM.replace('axis xyz="0 0 1"', 'axis xyz="0 1"'), "xyz='0 1'.*three finite numbers"),
    "NaN in an origin": (ARM.replace("0 0 0.5", "0 nan 0.5"), "xyz='0 nan 0.5'.*three finite numbers"),
    "infinite mass": (ARM.replace('value="2"', 'value="inf"'), "value='inf'.*one finite number"),
    "text for a mass": (ARM.replace('value="2"', 'value="2 kg"'), "value='2 kg'.*one finite number"),
    "no mass": (ARM.replace('<mass value="2"/>', ""), "<mass> is missing"),
    "no inertia tensor": (
        link("base", "") + link("arm", '<inertial><mass value="1"/></inertial>') + joint("j", "base", "arm"),
        "<inertia> is missing",
    ),
    "half an inertia tensor": (ARM.replace('iyz="0" ', ""), "'iyz' of <inertia> is missing"),
    "two inertials": (
        link("base", "") + link("arm", INERTIAL * 2) + joint("j", "base", "arm"),
        "<inertial> appears 2 times",
    ),
    "negative mass": (ARM.replace('value="2"', 'value="-2"'), "'arm'.*value=-2.*positive"),
    "zero mass": (ARM.replace(INERTIAL, inertia(0, 0, 0, mass=0)), "'arm'.*has no mass.*add its <inertial>"),
    "no inertial": (ARM.replace(INERTIAL, ""), "'arm'.*joint 'shoulder'.*has no mass.*add its <inertial>"),
    "no inertial between": (
        ARM.replace(INERTIAL, "") + link("hand") + joint("wrist", "arm", "hand"),
        "'arm'.*allow_massless",
    ),
    "negative moment of inertia": (ARM.replace(INERTIAL, inertia(izz=-0.1)), "'arm'.*none below zero"),
    "nothing moves": (
        link("base") + link("arm") + joint("j", "base", "arm", "fixed"),
        "no joint that moves.*floating_base=True",
    ),
    "axis too long": (ARM.replace('axis xyz="0 0 1"', 'axis xyz="1e300 0 0"'), "xyz='1e300 0 0'.*SI units"),
    "axis too short": (ARM.replace('axis xyz="0 0 1"', 'axis xyz="1e-200 0 0"'), "'shoulder'.*not zero"),
    "huge mass": (ARM.replace('value="2"', 'value="1e300"'), "value='1e300'.*SI units"),
    "other digits": (ARM.replace('value="2"', 'value="\u0662"'), "one finite number"),
    "negative effort": (
        ARM.replace("<axis", '<limit effort="-1" velocity="1"/><axis'),
        "'shoulder'> <limit effort=…>: is -1.*inf",
    ),
    "negative velocity": (
        ARM.replace("<axis", '<limit effort="1" velocity="-2"/><axis'),
        "'shoulder'> <limit velocity=…>: is -2.*inf",
    ),
    "upper limit below the lower": (ARM.replace("<axis", '<limit lower="1" upper="-1"/><axis'), "'shoulder'.*lower"),
    "negative damping": (ARM.replace("<axis", '<dynamics damping="-1"/><axis'), "'shoulder'.*damping.*from 0 to"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_model_is_refused_with_file_element_and_remedy(case, load):
    content, message = BROKEN[case]
    with pytest.raises(ModelError, match=rf"(?s)model\.urdf.*{message}"):
        load(content)


ENTITIES = '<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in zip("abcdefghi", "bcdefghij", strict=True)
)
DANGEROUS = {
    "billion laughs": f'<?xml version="1.0"?><!DOCTYPE robot [{ENTITIES}]><robot name="&j;">{ARM}</robot>',
    "external entity": f'<!DOCTYPE robot [<!ENTITY x SYSTEM "/etc/passwd">]><robot name="&x;">{ARM}</robot>',
    "external DTD": f'<!DOCTYPE robot SYSTEM "http://localhost:9/robot.dtd"><robot name="r">{ARM}</robot>',
    "empty DTD": f'<!DOCTYPE robot><robot name="r">{ARM}</robot>',
}


@pytest.mark.parametrize("case", DANGEROUS)
def test_document_types_and_entities_are_refused_before_they_act(case, load):
    with pytest.raises(ModelError, match="refused; remove <!DOCTYPE"):
        load(DANGEROUS[case])


@pytest.mark.parametrize("limits", [Limits(bytes=100), Limits(depth=2), Limits(elements=3)])
def test_size_and_depth_are_bounded_by_limits(limits, load):
    with pytest.raises(ModelError, match=r"model\.urdf.*raise limits\.(bytes|depth|elements)"):
        load(ARM, limits=limits)


@pytest.mark.parametrize("depth", [200, 100_000])
def test_a_document_nested_too_deeply_is_refused(depth, load):
    with pytest.raises(ModelError, match="nested more than 100 levels"):
        load('<robot name="r">' + "<gazebo>" * depth + "</gazebo>" * depth + "</robot>")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not well-formed"),
        (b"\xff\xfe\x00\x01", "not well-formed"),
        ("<robot name='Ä'/>".encode("latin-1"), "not well-formed.*encoding"),
    ],
    ids=["empty", "binary", "undeclared latin-1"],
)
def test_a_file_that_is_not_xml_is_refused(content, message, tmp_path):
    path = tmp_path / "model.urdf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"(?s)model.urdf.*{message}"):
        mechanics.load_urdf(path)


def test_a_declared_encoding_is_read(load):
    text = f'<?xml version="1.0" encoding="iso-8859-1"?><robot name="Bär">{ARM}</robot>'
    assert load(text.encode("latin-1")).name == "Bär"


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    for path in (tmp_path / "absent.urdf", tmp_path):
        with pytest.raises(ModelError, match="cannot be read"):
            mechanics.load_urdf(path)


def test_a_model_error_is_a_value_error_with_its_parts(load):
    with pytest.raises(ValueError) as caught:
        load(BROKEN["zero axis"][0])
    assert isinstance(caught.value, ModelError)
    assert "shoulder" in caught.value.where
    assert caught.value.remedy


def test_a_correct_model_loads_without_a_word(load):
    tree = load(ARM)
    assert tree.joint_names == ("shoulder",)
    assert tree.mass == 2.0
    np.testing.assert_allclose(tree.bodies[0].inertia.com, [0, 0, 0.5])
    assert tree.notes == ()


def test_impossible_principal_moments_warn_by_default_and_are_refused_when_strict(load):
    model = ARM.replace(INERTIAL, inertia(izz=3.0))
    with pytest.warns(ModelWarning, match=r"'arm'.*\(1, 1, 3\).*at most the sum"):
        tree = load(model)
    assert tree.bodies[0].inertia.tensor[2, 2] == 3.0
    with pytest.raises(ModelError, match=r"'arm'.*at most the sum.*strict=False"):
        load(model, strict=True)


def test_massless_links_between_joints_are_accepted_on_request(load):
    across = '<axis xyz="0 1 0"/>'
    tree = load(
        ARM.replace(INERTIAL, "") + link("hand") + joint("wrist", "arm", "hand", inside=across), allow_massless=True
    )
    assert [b.inertia.mass for b in tree.bodies] == [0.0, 2.0]
    with pytest.raises(ModelError, match=r"'tip'.*has no mass"):
        load(ARM + link("tip", "") + joint("wrist", "arm", "tip"), allow_massless=True)


def test_a_joint_that_moves_no_mass_is_refused(load):
    point_on_the_axis = inertia(0, 0, 0)
    with pytest.raises(ModelError, match=r"'shoulder'.*moves no inertia.*give a body behind it mass"):
        load(ARM.replace(INERTIAL, point_on_the_axis))
    off_the_axis = point_on_the_axis.replace("0 0 0.5", "0.1 0 0.5")
    assert load(ARM.replace(INERTIAL, off_the_axis)).mass == 2.0
    twice = ARM.replace(INERTIAL, "") + link("hand") + joint("wrist", "arm", "hand")
    with pytest.raises(ModelError, match=r"joint '(shoulder|wrist)': moves no inertia"):
        load(twice, allow_massless=True)


def test_links_fixed_together_become_one_body_and_keep_their_frames(load):
    turned = '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
    tree = load(ARM + link("tool") + joint("mount", "arm", "tool", "fixed", turned))
    body = tree.bodies[0]
    assert tree.body_names == ("arm",)
    assert body.inertia.mass == 4.0
    np.testing.assert_allclose(body.inertia.com, [0.5, 0, 0.5])
    frame = tree.frames["tool"]
    assert frame.body == "arm"
    np.testing.assert_allclose(frame.position, [1, 0, 0])
    np.testing.assert_allclose(frame.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert tree.frames["base"].body is None


def test_a_floating_base_is_a_free_body_and_comes_first(load):
    tree = load(link("base") + link("arm") + joint("shoulder", "base", "arm"), floating_base=True)
    assert tree.joint_names == ("root_joint", "shoulder")
    assert (tree.nq, tree.nv) == (8, 7)
    with pytest.raises(ModelError, match=r"'base'.*'root_joint'.*has no mass"):
        load(ARM, floating_base=True)


def test_joint_types_become_the_joints_of_their_names(load):
    chain = "".join(link(f"l{i}") for i in range(6))
    kinds = ("revolute", "continuous", "prismatic", "floating", "planar")
    tree = load(chain + "".join(joint(f"j{i}", f"l{i}", f"l{i + 1}", kind) for i, kind in enumerate(kinds)))
    assert [tree.joint(f"j{i}").kind for i in range(5)] == ["Revolute", "Continuous", "Prismatic", "Free", "Planar"]
    assert (tree.nq, tree.nv) == (13, 12)


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -2", "1 0 0", "0 3 0", "1 2 -2"])
def test_a_planar_joint_moves_across_its_axis(axis, load):
    normal = np.array(axis.split(), dtype=float)
    planar = load(ARM.replace("revolute", "planar").replace("0 0 1", axis)).joint("shoulder")
    x, y = np.array(planar.x_axis), np.array(planar.y_axis)
    np.testing.assert_allclose([x @ y, x @ normal, y @ normal], 0.0, atol=1e-15)
    assert np.cross(x, y) @ normal > 0
    if axis == "0 0 1":
        np.testing.assert_array_equal([x, y], [[1, 0, 0], [0, 1, 0]])


def test_the_axis_defaults_to_x_and_has_any_length(load):
    np.testing.assert_array_equal(load(ARM.replace('<axis xyz="0 0 1"/>', "")).joint("shoulder").axis, [1, 0, 0])
    assert load(ARM.replace("0 0 1", "0 0 20")).joint("shoulder").axis[2] > 0


@pytest.mark.parametrize(
    ("given", "read"),
    [('lower="-1"', ([-1], [0])), ('upper="0.04"', ([0], [0.04])), ('lower="0"', ([0], [0])), ("", (None, None))],
)
def test_a_limit_that_is_not_given_is_zero(load, given, read):
    """As the format says; without both the joint would be held, which no file means: a note says that it is free."""
    inside = f'<axis xyz="0 0 1"/><limit {given} effort="30" velocity="4"/>'
    tree = load(link("base") + link("arm") + joint("j", "base", "arm", inside=inside))
    data = tree.bodies[0].data
    assert (data.lower, data.upper) == read
    assert any("without lower and upper: no limit" in note for note in tree.notes) == (not given)


def test_damping_acts_and_limits_are_carried_as_data(load):
    inside = '<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5"/>'
    model = link("base") + link("arm") + joint("j", "base", "arm", inside=inside)
    tree = load(model)
    data = tree.bodies[0].data
    assert tree.damping == [0.5]
    assert (data.lower, data.upper, data.effort, data.velocity) == ([-1], [2], [30], [4])
    assert any("limit" in note and "carried as data" in note for note in tree.notes)
    still = load(model, damping=False)
    assert still.damping == [0.0]
    assert any("damping=False" in note for note in still.notes)


def test_what_changes_the_motion_and_is_not_modelled_warns_once(load):
    follows = '<axis xyz="0 0 1"/><mimic joint="shoulder" multiplier="-2" offset="0.5"/><dynamics friction="0.1"/>'
    model = ARM + link("hand") + joint("wrist", "arm", "hand", inside=follows)
    with pytest.warns(ModelWarning) as caught:
        tree = load(model)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "wrist = -2 shoulder + 0.5" in text
    assert "friction" in text
    assert caught[0].filename == __file__
    assert all(any(part in note for note in tree.notes) for part in ("mimic", "friction"))


def follower(law, kind="revolute"):
    wrist = joint("wrist", "arm", "hand", kind, f'<axis xyz="0 0 1"/>{law}')
    return f"<robot name='r'>{ARM}{link('hand')}{link('thumb')}{wrist}{joint('j', 'hand', 'thumb')}</robot>"


def test_a_mechanism_couples_mimic_joints(tmp_path):
    path = tmp_path / "model.urdf"
    path.write_text(follower('<mimic joint="shoulder" multiplier="-2" offset="0.5"/>', "continuous"))
    made = mechanics.load_mechanism(path)
    assert made.home.tolist() == [0.0, 0.5, 0.0]  # the leader stays at the file's zero
    assert (made.tree.nv, made.mobility.dof) == (3, 2)
    assert made.gap([0.3, -0.1, 2.0]) == pytest.approx([0.0], abs=1e-15)
    path.write_text(follower('<mimic joint="j"/>'))
    assert mechanics.load_mechanism(path).gap([0.3, 0.7, 0.6]) == pytest.approx([0.1], abs=1e-15)


@pytest.mark.parametrize(
    ("law", "kind", "message"),
    [
        ('<mimic joint="elbow"/>', "revolute", "'wrist'.*follows the joint 'elbow', which the tree does not have"),
        ('<mimic joint="shoulder"/>', "planar", "'wrist'.*couples the joint 'wrist', which is Planar"),
        ('<mimic joint="wrist"/>', "revolute", "'wrist'.*every one once"),
    ],
)
def test_mimic_joints_that_cannot_follow_are_named(law, kind, message, tmp_path):
    path = tmp_path / "model.urdf"
    path.write_text(follower(law, kind))
    with pytest.raises(ModelError, match=message):
        mechanics.load_mechanism(path)


GEARED = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/>
 <actuator name="motor"><mechanicalReduction>{}</mechanicalReduction></actuator></transmission>"""


def geared(reduction="-50", more=""):
    inside = '<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="20" velocity="3"/>'
    inside += '<dynamics damping="0.1" friction="0.4"/>'
    return ARM.replace('<axis xyz="0 0 1"/>', inside) + GEARED.format(reduction) + more


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "model.urdf"
        path.write_text(f"<robot name='r'>{content}</robot>")
        return mechanics.load_mechanism(path, **options)

    return read


def test_a_transmission_is_a_motor_through_a_gear(read):
    """Moment of inertia 1 + 2·0 about the axis; the motor's 0.3 N·m are −15 N·m at the joint, at most 20."""
    made = read(geared())
    drive = made.actuators["motor"]
    assert drive.joint == Tendon({"shoulder": -50.0}, "motor")
    assert drive.force_range == (-0.4, 0.4)
    (friction,) = (e for e in made.elements if e is not drive)
    assert (friction.joint, friction.force) == ("shoulder", 0.4)
    m = mechanics.mass_matrix(made.tree, [0.0])[0, 0]
    for u, force in ((0.0, 0.0), (0.3, -15.0), (0.5, -20.0)):
        v, p_dot = made.with_commands({"motor": u}).rhs([0.2], [2.0 * m])
        assert p_dot[0] == pytest.approx(force - 0.1 * v[0] - 0.4)
    assert not any("transmission" in note for note in made.tree.notes)
    assert read(geared(), actuators=False, friction=False).elements == ()


def test_a_rotor_adds_its_inertia_through_the_gear(read):
    rotor = '<x:rotor_inertia value="2e-4"/><x:gear_ratio value="50"/></actuator>'
    model = geared().replace("</actuator>", rotor).replace("<transmission", '<transmission xmlns:x="d"')
    masses = [mechanics.mass_matrix(read(m).tree, [0.0])[0, 0] for m in (geared(), model)]
    assert masses[1] - masses[0] == pytest.approx(0.5)
    with pytest.raises(ModelError, match=r"'t'>: rotor_inertia and gear_ratio are .*'-1'"):
        read(model.replace("2e-4", "-1"))


def test_a_stop_at_a_limit_is_critically_damped(read):
    made = read(geared(), stops=True, friction=False, actuators=False, damping=False)
    m = mechanics.mass_matrix(made.tree, [0.0])[0, 0]
    assert made.rhs([2.001], [0.0])[1] == pytest.approx([-m * 0.001 / 0.02**2])
    assert made.rhs([-1.001], [0.0])[1] == pytest.approx([m * 0.001 / 0.02**2])
    assert made.rhs([1.0], [3.0])[1] == pytest.approx([0.0], abs=1e-12)


def test_transmissions_of_other_kinds_are_warnings(read):
    other = '<transmission name="d"><type>x/Differential</type><joint name="shoulder"/></transmission>'
    still = '<transmission name="e" type="SimpleTransmission"><joint name="elbow"/><actuator name="b"/></transmission>'
    still += link("hand") + joint("elbow", "arm", "hand", "fixed")
    with pytest.warns(ModelWarning) as caught:
        notes = "; ".join(read(geared("1", other + still)).tree.notes)
    for said in (notes, str(caught[0].message)):
        assert "of type 'x/Differential': not carried over: d" in said
        assert "do not move in one coordinate: not carried over: e" in said


def test_a_transmission_to_a_joint_that_is_not_there_is_named(read):
    said = "<transmission> to the joint 'elbow', which the file does not have: not carried over: t"
    with pytest.warns(ModelWarning, match=said):
        made = read(geared().replace('<joint name="shoulder"/>', '<joint name="elbow"/>'))
    assert said in made.tree.notes
    assert not made.actuators


@pytest.mark.parametrize("reduction", ["0", "nan", "x", "1 2", "1e300"])
def test_a_reduction_that_is_none_is_named(reduction, read):
    with pytest.raises(ModelError, match=rf"'t'> <mechanicalReduction>: is '{reduction}'"):
        read(geared(reduction))


def test_negative_friction_is_named(read):
    with pytest.raises(ModelError, match=r"model\.urdf: joint 'shoulder': friction is -0\.4"):
        read(geared().replace('friction="0.4"', 'friction="-0.4"'))


def test_what_says_nothing_of_the_motion_is_listed_in_the_notes(load):
    extra = '<gazebo/><transmission name="t"/><material name="m"/><link name="x"><visual/><visual/></link>'
    extra += """<gazebo reference="arm"><material>Gazebo/Red</material><mu1 value="1"/><gravity>1</gravity>
     <turnGravityOff>false</turnGravityOff><springStiffness> 0 </springStiffness><sensor name="s"/></gazebo>"""
    odd = joint("j", "arm", "x", "fixed", '<dynamics damping="1" K="7000"/><calibration/>').replace(
        'type="fixed"', 'type="fixed" dont_collapse="true"'
    )
    tree = load(ARM + extra + odd)
    for part in (
        "<gazebo> in <robot> (2)",
        "<transmission>",
        "<material> in <robot>",
        "<material> in <gazebo>",
        "<turnGravityOff>",
        "<springStiffness>",
        "<visual> in <link> (2)",
        "<calibration>",
        "<joint dont_collapse=…>",
        "<dynamics K=…>",
        "fixed joints have no effect",
    ):
        assert any(part in note for note in tree.notes), part


DRAKE = "{http://drake.mit.edu}"
LEFT_OUT = {
    "a ball of Drake": (
        '<d:ball_constraint xmlns:d="http://drake.mit.edu"/>',
        f"<{DRAKE}ball_constraint> in <robot>: left out: test",
    ),
    "a joint of Drake": (
        '<d:joint name="b" type="ball" xmlns:d="http://drake.mit.edu"/>',
        f"<{DRAKE}joint> in <robot>: left out: b",
    ),
    "a loop": ('<loop_joint name="l"/>', "<loop_joint> in <robot>: left out: l"),
    "a loop of Gazebo": ('<gazebo><joint name="l" type="revolute"/></gazebo>', "<joint> in <gazebo>: left out: l"),
    "a spring": (
        '<gazebo reference="shoulder"><springStiffness>5</springStiffness></gazebo>',
        "<springStiffness> in <gazebo>: left out: shoulder",
    ),
    "no weight": (
        '<gazebo reference="arm"><turnGravityOff value="true"/></gazebo>',
        "<turnGravityOff> in <gazebo>: left out: arm",
    ),
    "drag": ('<gazebo reference="arm"><dampingFactor>0.1</dampingFactor></gazebo>', "<dampingFactor> in <gazebo>"),
    "nothing moves": ("<gazebo><static>true</static></gazebo>", "<static> in <gazebo>: left out: test"),
    "an option of MuJoCo": ('<mujoco><option gravity="0 0 0"/></mujoco>', "<option> in <mujoco>: left out: test"),
    "more inertia": (
        '<link name="b"><contact><inertia_scaling value="3"/></contact></link>' + joint("j", "arm", "b", "fixed"),
        "<inertia_scaling> in <contact>: left out: b",
    ),
    "a typo in an element": (
        link("b") + joint("j", "arm", "b", inside='<dynamic damping="1"/>'),
        "<dynamic> in <joint>: left out: j",
    ),
    "a typo in an attribute": (
        link("b") + joint("j", "arm", "b", inside='<dynamics dampin="1"/>'),
        "<dynamics dampin=…> (known: damping, friction): left out: j",
    ),
    "a typo in a joint": ('<Joint name="j"/>', "<Joint> in <robot>: left out: j"),
    "a typo in a link": (
        '<link name="b"><mass value="1"/></link>' + joint("j", "arm", "b", "fixed"),
        "<mass> in <link>",
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_everything_else_in_the_file_is_a_warning(case, load, read):
    """Of these the motion was that of a file without them, without a word."""
    content, said = LEFT_OUT[case]
    with pytest.warns(ModelWarning) as caught:
        tree = load(ARM + content)
    assert len(caught) == 1
    assert said in str(caught[0].message)
    assert any(said in note for note in tree.notes)
    with pytest.warns(ModelWarning) as caught:
        read(ARM + content)
    assert [warning.filename for warning in caught] == [__file__]


def test_one_warning_names_the_places_of_all_that_is_left_out(load):
    odd = "".join(f'<gazebo reference="{name}"><turnGravityOff>1</turnGravityOff></gazebo>' for name in "abcdef")
    with pytest.warns(ModelWarning) as caught:
        load(ARM + odd + "<loop_joint/>")
    assert str(caught[0].message).splitlines()[1:] == [
        "  <loop_joint> in <robot>: left out: test",
        "  <turnGravityOff> in <gazebo>: left out: a, b, c, d and 2 more",
    ]


def test_typos_in_a_transmission_are_warnings(read):
    with pytest.warns(ModelWarning, match="<mechanicalReducton> in <transmission>: not carried over: t"):
        read(geared().replace("mechanicalReduction", "mechanicalReducton"))


@pytest.mark.parametrize(
    "macros",
    ['<x:include xmlns:x="http://www.ros.org/wiki/xacro" filename="arm.xacro"/>', "<include filename='arm.xacro'/>"],
)
def test_macros_are_refused(macros, load):
    with pytest.raises(ModelError, match="has macros of xacro, <include>; expand it first"):
        load(ARM + macros)
    assert load(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{ARM}</robot>').notes == ()


def test_a_quaternion_turns_a_frame(load):
    """(x, y, z, w) of any norm; half a turn about y."""
    turned = ARM.replace("<axis", '<origin xyz="1 2 3" quat_xyzw="0 -3e-200 0 0"/><axis')
    body = load(turned).bodies[0]
    np.testing.assert_allclose(body.rotation, np.diag([-1.0, 1.0, -1.0]), atol=1e-15)
    np.testing.assert_array_equal(body.position, [1, 2, 3])
    with pytest.raises(ModelError, match="four finite numbers, not all zero"):
        load(turned.replace("-3e-200", "0"))
    with pytest.raises(ModelError, match=r"'shoulder'.*has both rpy and quat_xyzw"):
        load(turned.replace('xyz="1 2 3"', 'rpy="0 0 1"'))


def test_what_joints_of_several_freedoms_leave_out_is_a_warning(read):
    """One number of friction, or one range, does not say of which freedom."""
    rubbing = '<dynamics friction="0.2"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    loose = "".join(link(name) for name in ("base", "disc", "stone"))
    loose += joint("flies", "base", "stone", "floating", rubbing) + joint("slides", "base", "disc", "planar", rubbing)
    with pytest.warns(ModelWarning) as caught:
        made = read(loose, stops=True)
    assert made.elements == ()  # what would act on a part of a plane is refused, when the mechanism is posed
    assert made.problem().y0.size == 19
    for said in (str(caught[0].message), "; ".join(made.tree.notes)):
        assert "<dynamics friction=…> of planar and floating joints: left out: flies, slides" in said
        assert "<limit> of planar and floating joints: not known of which freedom: flies, slides" in said


def test_the_text_of_a_urdf_file_is_not_read_as_mjcf():
    text = f"<robot name='r'>{ARM}</robot>"
    with pytest.raises(ModelError, match=r"^path: is the text of a file; save it, and give the path of a URDF file"):
        mechanics.load_urdf(text)
    for reader in (mechanics.load_mechanism, mechanics.load_mjcf):
        with pytest.raises(ModelError, match=r"^MJCF text: is URDF \(<robot>\).* ends in \.urdf, and give its path"):
            reader(text)
