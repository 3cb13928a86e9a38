"""SDF files: frames and joints against MuJoCo and by hand; what is not read is refused or named in a warning."""

import warnings
from copy import deepcopy
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import mechanics
from mechanics import ModelError, ModelWarning
from mechanics.models import Limits

UNIT = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
Z = "<axis><xyz>0 0 1</xyz></axis>"


def link(name, inside="", inertial=UNIT):
    return f"<link name='{name}'>{inertial}{inside}</link>"


def joint(name, parent, child, kind="revolute", inside=Z):
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{inside}</joint>"


PAIR = link("a") + link("b") + joint("j", "a", "b")


@pytest.fixture
def load(tmp_path):
    def load(model, version="1.9", attributes="", floating_base=False, **options):
        path = tmp_path / "model.sdf"
        given = model if model.startswith("<sdf") else None
        path.write_text(given or f"<sdf version='{version}'><model name='m'{attributes}>{model}</model></sdf>")
        return mechanics.load_mechanism(path, floating_base=floating_base, **options)

    return load


# --- against MuJoCo ---------------------------------------------------------------------------------------------------

SOLID = "<inertial><pose>0.1 0.2 -0.1 0.3 0 0.5</pose><mass>1.5</mass><inertia>"
SOLID += "<ixx>0.2</ixx><iyy>0.3</iyy><izz>0.4</izz><ixy>0</ixy></inertia></inertial>"
RICH = f"""
<pose>0.3 -0.2 1.0 0.1 0.2 0.3</pose>
<link name="base"><pose>0.1 0 0 0 0 0.4</pose>{SOLID}</link>
<link name="arm"><pose relative_to="shoulder" degrees="true">0.2 0.1 0 20 30 40</pose>{SOLID}</link>
<link name="fork"><pose relative_to="arm" rotation_format="quat_xyzw">0.5 0 0.2 0.6 0 0 0.8</pose>{SOLID}</link>
<link name="tip"><pose relative_to="socket">0 0 0.3 0 0.5 0</pose>{SOLID}</link>
<frame name="socket" attached_to="fork"><pose>0 0.1 0 0 0 1</pose></frame>
<joint name="ground" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="shoulder" type="revolute"><pose relative_to="base">0 0.2 0.3 0.5 0 0</pose>
 <parent>base</parent><child>arm</child><axis><xyz expressed_in="__model__">0 1 0.5</xyz>
 <dynamics><damping>0.7</damping><spring_stiffness>5</spring_stiffness><spring_reference>0.3</spring_reference>
 </dynamics></axis></joint>
<joint name="cardan" type="universal"><parent>arm</parent><child>socket</child>
 <axis><xyz expressed_in="arm">1 0 0</xyz><dynamics><damping>0.2</damping></dynamics></axis>
 <axis2><xyz expressed_in="arm">0 1 0</xyz><dynamics><damping>0.1</damping></dynamics></axis2></joint>
<joint name="slide" type="prismatic"><pose>0 0 -0.1 0 0 0</pose><parent>tip</parent><child>fork</child>
 <axis><xyz expressed_in="base">0 0 1</xyz><dynamics><damping>0.4</damping><spring_stiffness>9</spring_stiffness>
 <spring_reference>0.05</spring_reference></dynamics><limit><lower>-0.1</lower><upper>0.4</upper></limit></axis></joint>
"""


def quaternion(R):
    import mujoco

    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R).ravel())
    return " ".join(map(repr, q.tolist()))


def rpy(r, p, y):
    def turn(k, a):
        i, j = (k + 1) % 3, (k + 2) % 3
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(a)
        R[j, i] = np.sin(a)
        R[i, j] = -R[j, i]
        return R

    return turn(2, y) @ turn(1, p) @ turn(0, r)


def place(R, *x):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, x
    return X


def twin():
    """The same mechanism, its frames multiplied by hand, in MuJoCo: links by their poses in the world."""
    deg = np.radians([20, 30, 40])
    model = place(rpy(0.1, 0.2, 0.3), 0.3, -0.2, 1.0)
    base = model @ place(rpy(0, 0, 0.4), 0.1, 0, 0)
    shoulder = base @ place(rpy(0.5, 0, 0), 0, 0.2, 0.3)
    arm = shoulder @ place(rpy(*deg), 0.2, 0.1, 0)
    fork = arm @ place(rpy(2 * np.arctan2(0.6, 0.8), 0, 0), 0.5, 0, 0.2)
    socket = fork @ place(rpy(0, 0, 1), 0, 0.1, 0)
    tip = socket @ place(rpy(0, 0.5, 0), 0, 0, 0.3)
    slide = fork @ place(np.eye(3), 0, 0, -0.1)
    inertial = "<inertial pos='0.1 0.2 -0.1' quat='" + quaternion(rpy(0.3, 0, 0.5))
    inertial += "' mass='1.5' diaginertia='0.2 0.3 0.4'/>"

    def body(name, inside, outer, joints):
        X = np.linalg.inv(outer) @ inside
        at = " ".join(map(repr, X[:3, 3].tolist()))
        return f"<body name='{name}' pos='{at}' quat='{quaternion(X[:3, :3])}'>{joints}{inertial}"

    def hinge(name, kind, at, direction, link, more):
        p = np.linalg.inv(link) @ np.append(at[:3, 3], 1)
        a = link[:3, :3].T @ direction
        words = [" ".join(map(repr, x.tolist())) for x in (p[:3], a)]
        return f"<joint name='{name}' type='{kind}' pos='{words[0]}' axis='{words[1]}' {more}/>"

    swing = hinge(
        "shoulder", "hinge", shoulder, model[:3, :3] @ (0, 1, 0.5), arm, "damping='0.7' stiffness='5' springref='0.3'"
    )
    first = hinge("u1", "hinge", socket, arm[:3, 0], fork, "damping='0.2'")
    second = hinge("u2", "hinge", socket, arm[:3, 1], fork, "damping='0.1'")
    along = hinge("slide", "slide", slide, base[:3, 2], tip, "damping='0.4' stiffness='9' springref='-0.05'")
    return (
        "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody>"
        + body("base", base, np.eye(4), "")
        + body("arm", arm, base, swing)
        + body("fork", fork, arm, first + second)
        + body("tip", tip, fork, along)
        + "</body>" * 4
        + "</worldbody></mujoco>"
    )


def test_poses_axes_and_forces_are_those_of_the_same_mechanism_in_mujoco(load):
    """Frames of every kind, a universal joint, and a joint met from its child, whose coordinate is turned round."""
    mujoco = pytest.importorskip("mujoco")
    made, model = load(RICH), mujoco.MjModel.from_xml_string(twin())
    tree, data = made.tree, mujoco.MjData(model)
    assert tree.joint_names == ("shoulder", "cardan", "slide")
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v = rng.normal(size=4), rng.normal(size=4)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        x, R = mechanics.body_poses(tree, q)
        for name in ("arm", "fork", "tip"):
            frame, i = tree.frames[name], tree.body_index(tree.frames[name].body)
            assert np.allclose(x[i] + R[i] @ frame.position, data.body(name).xpos, rtol=0, atol=1e-12)
            assert np.allclose(R[i] @ frame.rotation, data.body(name).xmat.reshape(3, 3), rtol=0, atol=1e-12)
        M = mechanics.mass_matrix(tree, q)
        theirs = np.zeros((4, 4))
        for k, unit in enumerate(np.eye(4)):
            column = np.zeros(4)
            mujoco.mj_mulM(model, data, column, unit)
            theirs[:, k] = column
        assert np.allclose(M, theirs, rtol=0, atol=1e-12)
        springs = np.zeros(4)
        for element in made.elements:
            at = tree.v_slice(element.joint).start
            springs[at] -= element.stiffness * (q[at] - element.rest)
        found = mechanics.forward_dynamics(tree, q, v, springs)
        assert np.allclose(found, data.qacc_smooth, rtol=1e-11, atol=1e-10)


def test_limits_of_a_joint_met_from_its_child_change_sign(load):
    tree = load(RICH).tree
    data = tree.bodies[tree.joint_index("slide")].data
    assert (data.lower[0], data.upper[0]) == (-0.4, 0.1)
    (note,) = [note for note in tree.notes if "met from their child" in note]
    assert note.endswith("opposite sign of the file's: slide")


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "inside", "axis"),
    [
        ("1.6", "", (1, 0, 0)),
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (0, -1, 0)),
        ("1.4", "", (0, -1, 0)),
        ("1.4", "<use_parent_model_frame>false</use_parent_model_frame>", (1, 0, 0)),
    ],
)
def test_axes_of_old_versions_are_in_the_frame_they_say(load, version, inside, axis):
    """The child is turned by 90° about z: x of the model is −y of the child."""
    child = link("b", f"<pose>0 0 0 0 0 {np.pi / 2!r}</pose>")
    made = load(link("a") + child + joint("j", "a", "b", inside=f"<axis><xyz>1 0 0</xyz>{inside}</axis>"), version)
    assert np.allclose(made.tree.bodies[0].joint.axis, axis, atol=1e-15)


FORCES = "<dynamics><damping>0.7</damping><friction>0.1</friction>{}</dynamics>"
FORCES += "<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>"
SPRING = FORCES.format("<spring_reference>0.2</spring_reference><spring_stiffness>5</spring_stiffness>")
HINGE = "<pose>0 0 -0.2 0 0 0</pose>"
"""Of the joint in the link b."""
ALONG_Y = "<xyz>0.29552020666133955 0.955336489125606 0</xyz>"
STAND = "<frame name='stand'{}><pose>0 0 1 0 0 0</pose></frame>"


def arm_of(pose, xyz, forces=SPRING, frame="", child="b", beside=""):
    hinge = joint("j", "a", child, inside=f"{HINGE}<axis>{xyz}{forces}</axis>")
    return frame + link("a", "<pose>0 0 0.5 0 0 1</pose>") + (link("b", pose) if pose else "") + beside + hinge


IN_MODEL, IN_STAND = "<pose>0 0 2 0 0 0.3</pose>", "<pose relative_to='stand'>0 0 1 0 0 0.3</pose>"
INNER = f"<model name='tool'><pose>0 0 2 0 0 0</pose>{link('b', '<pose>0 0 0 0 0 0.3</pose>')}</model>"
SLIDE = "<axis><xyz>1 0 0</xyz><mimic joint='j'><multiplier>0.5</multiplier></mimic></axis>"
VERSIONS = {
    "1.4": arm_of(IN_MODEL, "<xyz>0 1 0</xyz>", FORCES.format("")),
    "1.5": arm_of(IN_MODEL, "<xyz>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>"),
    "1.6": arm_of("<pose frame='stand'>0 0 1 0 0 0.3</pose>", ALONG_Y, frame=STAND.format("")),
    "1.7": arm_of(IN_STAND, "<xyz expressed_in='__model__'>0 1 0</xyz>", frame=STAND.format(" attached_to='stay'")
                  + "<frame name='stay'/>"),
    "1.8": arm_of("", ALONG_Y, child="tool::b", beside=INNER),
    "1.9": arm_of("<pose degrees='true' relative_to='stand'>0 0 1 0 0 17.188733853924695</pose>",
                  "<xyz expressed_in='turned'>1 0 0</xyz>", frame=STAND.format("") + "<frame name='turned'><pose "
                  "rotation_format='quat_xyzw'>0 0 0 0 0 0.7071067811865476 0.7071067811865476</pose></frame>"),
    "1.10": arm_of(IN_STAND, ALONG_Y, frame=STAND.format(""), beside=link("c")
                   + joint("k", "a", "c", "screw", Z + "<screw_thread_pitch>0.4</screw_thread_pitch>")),
    "1.11": arm_of(IN_STAND, ALONG_Y, frame=STAND.format(""), beside=link("c")
                   + joint("k", "a", "c", "prismatic", SLIDE)),
}  # fmt: skip
"""The same arm in the words of each version."""


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_the_format_says_the_same_arm_in_its_own_words(version, load):
    made = load(VERSIONS[version], version)
    tree = made.tree
    q = tree.neutral()
    q[tree.q_slice("j")] = 0.4
    position, rotation = mechanics.frame_pose(tree, q, "tool::b" if version == "1.8" else "b")
    turn = rpy(0, 0.4, 0) @ rpy(0, 0, 0.3)
    assert rotation == pytest.approx(turn, abs=1e-12)
    assert position == pytest.approx([0.0, 0.0, 1.8] + turn @ [0.0, 0.0, 0.2], abs=1e-12)
    data = tree.bodies[tree.joint_index("j")].data
    limits = (data.lower[0], data.upper[0], data.effort[0], data.velocity[0])
    assert (data.damping[0], data.friction[0], *limits) == (0.7, 0.1, -1.0, 2.0, 30.0, 4.0)
    springs = [(e.stiffness, e.rest) for e in made.elements if type(e).__name__ == "JointSpring"]
    assert springs == ([] if version == "1.4" else [(5.0, 0.2)])
    assert any(e.force == 0.1 for e in made.elements if type(e).__name__ == "DryFriction")
    if version == "1.10":
        assert tree.joint("k").pitch == pytest.approx(0.4 / (2.0 * np.pi))
    assert len(made.equations) == (version == "1.11")


ARM = f"""<link name="base">{UNIT}</link><link name="arm"><pose>0 0 1 0 0 0</pose>{UNIT}</link>
<frame name="wrist" attached_to="arm"><pose>0 0 0.5 0.1 0 0</pose></frame>
<joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis></joint>"""
NESTED = f"""<pose>0.1 0 0 0 0 0.2</pose>{ARM}
<model name="hand"><pose relative_to="wrist">0 0.1 0 0.3 0 0</pose>
 <link name="palm"><pose>0.1 0 0 0 0 0.4</pose>{UNIT}</link>
 <model name="finger" canonical_link="tip"><pose>0 0 0.2 0 0.1 0</pose><link name="root">{UNIT}</link>
  <link name="tip"><pose relative_to="here">0 0.3 0 0 0 0</pose>{UNIT}</link>
  <frame name="here" attached_to="root"><pose>0 0 0.1 0 0 0</pose></frame>
  <joint name="bend" type="revolute"><parent>root</parent><child>tip</child>
   <axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint></model>
 <joint name="spread" type="revolute"><parent>palm</parent><child>finger::root</child>
  <axis><xyz>0 0 1</xyz><use_parent_model_frame>true</use_parent_model_frame></axis></joint></model>
<joint name="grip" type="prismatic"><parent>arm</parent><child>hand::__model__</child>
 <axis><xyz expressed_in="hand::finger">0 0 1</xyz></axis></joint>"""


def test_nested_models_are_in_the_scopes_that_their_names_say(load):
    """Two levels of them, against frames multiplied by hand: poses, axes in frames of models, a canonical link."""
    tree = load(NESTED, "1.8").tree
    assert [b.joint_name for b in tree.bodies] == ["turn", "grip", "hand::spread", "hand::finger::bend"]
    model = place(rpy(0, 0, 0.2), 0.1, 0, 0)
    hand = model @ place(np.eye(3), 0, 0, 1) @ place(rpy(0.1, 0, 0), 0, 0, 0.5) @ place(rpy(0.3, 0, 0), 0, 0.1, 0)
    palm, finger = hand @ place(rpy(0, 0, 0.4), 0.1, 0, 0), hand @ place(rpy(0, 0.1, 0), 0, 0, 0.2)
    tip = finger @ place(np.eye(3), 0, 0, 0.1) @ place(np.eye(3), 0, 0.3, 0)
    q = tree.neutral()
    for name, X in {"hand::palm": palm, "hand::finger::root": finger, "hand::finger::tip": tip}.items():
        position, rotation = mechanics.frame_pose(tree, q, name)
        assert position == pytest.approx(X[:3, 3], abs=1e-12)
        assert rotation == pytest.approx(X[:3, :3], abs=1e-12)
    for moves, name, direction, at in (
        ("grip", "hand::palm", finger[:3, 2], 0),
        ("hand::spread", "hand::finger::root", hand[:3, 2], 3),
        ("hand::finger::bend", "hand::finger::tip", finger[:3, 0], 3),
    ):
        J = mechanics.frame_jacobian(tree, q, name, axes="world")[:, tree.v_slice(moves)]
        assert J[at : at + 3, 0] == pytest.approx(direction, abs=1e-12)


def test_a_placement_frame_is_where_the_pose_of_the_model_says(load):
    model = "<pose>1 2 3 0 0 1</pose>" + PAIR.replace(Z, Z + "<pose>0.1 0 0 0 0 0</pose>")
    made = load(model, attributes=" placement_frame='j'")
    x, _ = mechanics.body_poses(made.tree, made.tree.neutral())
    assert np.allclose(x[0], (1, 2, 3), atol=1e-15)


@pytest.mark.parametrize(
    ("pitch", "advance"),
    [("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02), ("<thread_pitch>-50</thread_pitch>", 2 * np.pi / 50)],
)
def test_a_screw_advances_by_its_pitch_in_a_turn(load, pitch, advance):
    made = load(link("a") + link("b") + joint("j", "a", "b", "screw", Z + pitch))
    x, _ = mechanics.body_poses(made.tree, [2 * np.pi])
    assert x[0][2] == pytest.approx(advance, rel=1e-14)


def test_a_universal_joint_that_closes_a_loop_has_both_its_axes(load):
    """A ring of three: the cross of axes x and y, which the rows keep perpendicular."""
    cross = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    ring = link("a") + link("b") + link("c") + joint("j", "a", "b", "ball") + joint("k", "b", "c", "ball")
    made = load(ring + joint("l", "a", "c", "universal", cross))
    (row,) = [row for row in made.equations.equations if "turn" in row.label]
    assert np.allclose(row.a, (1, 0, 0))
    assert np.allclose(row.b, (0, 1, 0))


def test_an_open_tree_is_a_mechanism_without_closures(load):
    made = load(PAIR)
    assert (made.mobility.dof, len(made.equations), len(made.elements)) == (1, 0, 0)
    assert load(PAIR, floating_base=True).mobility.dof == 7
    assert load(link("a"), floating_base=True).mobility.dof == 6
    assert np.isfinite(made.problem().y0).all()


def test_a_rank_is_given_where_numbers_are_rounded(load):
    """Four bars in a square, of whose pins the last is off by what a file with five digits may say."""
    places = {"a": "0 0 0", "b": "1 0 0", "c": "1 1 0"}
    model = "".join(link(name, f"<pose>{place} 0 0 0</pose>") for name, place in places.items())
    model += joint("j", "world", "a") + joint("k", "a", "b") + joint("l", "b", "c")
    model += joint("m", "world", "c", "revolute", "<pose>-1 0 0 0 0 0</pose><axis><xyz>1e-5 0 1</xyz></axis>")
    with pytest.warns(ModelWarning, match=r"hold next to nothing at home \(m\).*or rank=2"):
        assert load(model).mobility.dof == 0
    assert load(model, rank=2).mobility.dof == 1


def test_a_floating_base_is_where_the_file_has_it(load):
    made = load("<pose>1 2 3 0 0 0.5</pose>" + link("a", "<pose>0.1 0 0 0.3 0 0</pose>"), floating_base=True)
    (x,), (R,) = mechanics.body_poses(made.tree, made.home)
    turned = rpy(0.0, 0.0, 0.5)
    assert x == pytest.approx([1.0, 2.0, 3.0] + turned @ [0.1, 0.0, 0.0])
    assert pytest.approx(turned @ rpy(0.3, 0.0, 0.0)) == R


def test_springs_are_force_elements_unless_they_are_left_out(load):
    stiff = "<axis><xyz>0 0 1</xyz><dynamics><spring_stiffness>3</spring_stiffness></dynamics></axis>"
    model = link("a") + link("b") + joint("j", "a", "b", inside=stiff)
    (spring,) = load(model).elements
    assert (spring.joint, spring.stiffness, spring.rest) == ("j", 3.0, 0.0)
    bare = load(model, springs=False)
    assert bare.elements == ()
    assert any("springs=False" in note for note in bare.tree.notes)


def test_springs_and_friction_of_two_axes_act_on_theirs(load):
    first = "<axis><xyz>1 0 0</xyz><dynamics><friction>3</friction></dynamics></axis>"
    second = "<axis2><xyz>0 1 0</xyz><dynamics><spring_stiffness>7</spring_stiffness><spring_reference>0.2"
    two = joint("j", "a", "b", "universal", first + second + "</spring_reference></dynamics></axis2>")
    spring, friction = load(link("a") + link("b") + two).elements
    assert (spring.joint, spring.stiffness, spring.rest) == (("j", 1), 7.0, 0.2)
    assert (friction.joint, friction.force) == (("j", 0), 3.0)
    backwards = two.replace("<parent>a<", "<parent>b<").replace("<child>b<", "<child>a<")
    turned = load(link("a") + link("b") + backwards)
    spring, friction = turned.elements
    assert (spring.joint, spring.rest, friction.joint) == (("j", 0), -0.2, ("j", 1))
    assert load(link("a") + link("b") + two, friction=False, springs=False).elements == ()


def test_stops_are_made_of_limits_where_asked_for(load):
    limit = "<limit><lower>-0.5</lower><upper>1</upper>{}</limit></axis>"
    hinge = link("a") + link("b") + joint("j", "a", "b", inside="<axis><xyz>0 0 1</xyz>" + limit)
    made = load(hinge.format(""))
    assert made.elements == ()
    assert any("stops=True" in note for note in made.tree.notes)
    (stop,) = load(hinge.format(""), stops=True).elements
    m = mechanics.mass_matrix(made.tree, [0.0])[0, 0]
    assert (stop.lower, stop.upper) == (-0.5, 1.0)
    assert (stop.stiffness, stop.damping) == pytest.approx((m / 0.02**2, 2 * m / 0.02))
    (stop,) = load(hinge.format("<stiffness>5e3</stiffness><dissipation>7</dissipation>"), stops=True).elements
    assert (stop.stiffness, stop.damping) == (5e3, 7.0)
    assert load(hinge.format("").replace("-0.5", "-1e16").replace(">1<", ">1e16<"), "1.6", stops=True).elements == ()


def test_a_mimic_axis_follows_its_leader(load):
    mimic = "<mimic joint='j'><multiplier>-2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic></axis>"
    two = joint("j", "a", "b") + joint("k", "b", "c").replace("</axis>", mimic)
    made = load(link("a") + link("b") + link("c") + two)
    assert made.home == pytest.approx([0.0, 0.7])  # −2 (0 − 0.3) + 0.1: the leader stays at the file's zero
    assert made.mobility.dof == 1


@pytest.mark.parametrize("kinds", [("continuous", "revolute"), ("revolute", "continuous"), ("continuous",) * 2])
def test_turns_of_continuous_joints_count_where_something_asks_for_them(load, kinds):
    """A mimic and a spring know a turn of 2π from none; a joint that neither has stays on a circle."""
    mimic = "<mimic joint='j'><multiplier>-2</multiplier></mimic></axis>"
    two = joint("j", "a", "b", kinds[0]) + joint("k", "b", "c", kinds[1]).replace("</axis>", mimic)
    made = load(link("a") + link("b") + link("c") + link("d") + two + joint("l", "c", "d", "continuous"))
    assert made.gap([0.5 - 2.0 * np.pi, -1.0, 0.0]) == pytest.approx([-4.0 * np.pi], abs=1e-12)
    assert made.tree.joint("l") == mechanics.joints.Continuous((0.0, 0.0, 1.0))
    spring = "<axis><xyz>0 0 1</xyz><dynamics><spring_stiffness>3</spring_stiffness></dynamics></axis>"
    sprung = load(link("a") + link("b") + joint("j", "a", "b", "continuous", spring))
    assert sprung.problem([0.2]).velocity(0.0, np.array([0.2, 0.0]))[1] == pytest.approx(-0.6)
    assert load(link("a") + link("b") + joint("j", "a", "b", "continuous", spring), springs=False).tree.joint(
        "j"
    ) == made.tree.joint("l")


def test_cassie_has_her_leaf_springs():
    made = mechanics.load_mechanism("cassie")
    stiff = {element.joint: element.stiffness for element in made.elements}
    assert sorted(stiff.values()) == [1250.0, 1250.0, 1500.0, 1500.0]
    assert mechanics.load_mechanism("cassie", springs=False).elements == ()


def test_what_a_missing_inertia_means_is_what_sdf_says(load):
    with pytest.warns(ModelWarning, match=r"links without <inertial>: 1 kg with moments 1 kg·m².*: b"):
        tree = load(link("a") + link("b", inertial="") + joint("j", "a", "b")).tree
    assert tree.mass == 1.0
    assert np.array_equal(tree.bodies[0].inertia.tensor, np.eye(3))
    light = "<inertial><inertia><ixx>2</ixx></inertia></inertial>"
    with pytest.warns(ModelWarning, match=r"without <mass>: 1 kg, as SDF says: b"):
        tree = load(link("a") + link("b", inertial=light) + joint("j", "a", "b")).tree
    assert np.array_equal(np.diag(tree.bodies[0].inertia.tensor), (2.0, 1.0, 1.0))
    with pytest.warns(ModelWarning, match=r"<inertia> without <ixx>, <iyy>, <izz>: 1 kg·m², as SDF says: b"):
        load(link("a") + link("b", inertial="<inertial><mass>.1</mass></inertial>") + joint("j", "a", "b"))


# --- what is left out or refused --------------------------------------------------------------------------------------

DYNAMICS = "<axis><xyz>0 0 1</xyz><dynamics><{0}>1</{0}></dynamics></axis>"
LOOP = link("a") + link("b") + link("c") + joint("j", "a", "b") + joint("k", "b", "c")
CHANGES = {
    "gravity off": (link("a") + link("b", "<gravity>0</gravity>") + joint("j", "a", "b"), "<gravity> 0.*: b"),
    "kinematic": (link("a") + link("b", "<kinematic>true</kinematic>") + joint("j", "a", "b"), "<kinematic>.*: b"),
    "velocity decay": (link("a") + link("b", "<velocity_decay/>") + joint("j", "a", "b"), "<velocity_decay> in.*: b"),
    "wind": (link("a", "<enable_wind>1</enable_wind>") + link("b") + joint("j", "a", "b"), "<enable_wind>.*: a"),
    "damping in a loop": (LOOP + joint("l", "a", "c", inside=DYNAMICS.format("damping")), "close loops.*: l"),
    "spring in a loop": (LOOP + joint("l", "a", "c", inside=DYNAMICS.format("spring_stiffness")), "close loops.*: l"),
    "added mass": (
        link("a")
        + link("b", inertial=UNIT.replace("</inertial>", "<fluid_added_mass/></inertial>"))
        + joint("j", "a", "b"),
        "<fluid_added_mass> in <inertial>",
    ),
    "unphysical tensor": (
        link("a") + link("b", inertial=UNIT.replace("<izz>1", "<izz>3")) + joint("j", "a", "b"),
        "'b'.*at most the sum",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changes_the_motion_is_a_warning_with_the_name(case, load):
    model, message = CHANGES[case]
    with pytest.warns(ModelWarning, match=rf"(?s)model\.sdf.*{message}"):
        load(model)


def mistakes():
    """What is wrong, and the model with it: of a file with all there is, each word in turn misspelt, or repeated."""
    text = f"<sdf version='1.9'><model name='m' canonical_link='base'>{RICH}</model></sdf>"
    for k in range(2, len(list(ElementTree.fromstring(text).iter()))):

        def changed(how, k=k):
            root = ElementTree.fromstring(text)
            element = list(root.iter())[k]
            word = how(element, next(e for e in root.iter() if element in list(e)))
            return word, ElementTree.tostring(root, encoding="unicode")

        def misspelt(element, parent):
            element.tag += "x"
            return element.tag

        def repeated(element, parent):
            parent.append(deepcopy(element))
            return element.tag

        yield changed(misspelt)
        yield changed(repeated)
        for name in list(ElementTree.fromstring(text).iter())[k].attrib:
            yield changed(lambda element, parent, name=name: element.set(name + "x", element.attrib.pop(name)) or name)


def test_no_element_and_no_attribute_may_be_misspelt_or_repeated_in_silence(load):
    for word, model in mistakes():
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                notes = load(model).tree.notes
            except ModelError:
                continue
        (said,) = (str(one.message) for one in found)
        assert word in said
        assert any(word in note for note in notes)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("<axis xyz='0 1 0'/>", r"<axis xyz=…> \(write elements, <xyz>…</xyz>\): left out: j"),
        ("<axis>0 1 0</axis>", "text in <axis>, outside of its elements: left out: j"),
        (Z + "<pose relative-to='a'/>", r"<pose relative-to=…> \(known: .*relative_to.*\): left out: j"),
    ],
)
def test_numbers_in_the_wrong_place_are_named_with_the_right_one(load, model, words):
    with pytest.warns(ModelWarning, match=words):
        load(link("a") + link("b") + joint("j", "a", "b", inside=model))


def test_what_does_not_is_a_note(load):
    inside = "<visual name='v'/><collision name='c'/>"
    said = "<link name='a'> <visual name='v'>: not drawn (it has no geometry)"
    tree = load(link("a", inside) + link("b") + joint("j", "a", "b") + "<plugin name='p' filename='p.so'/>").tree
    assert [note for note in tree.notes if "not carried over" in note or "not drawn" in note] == [
        said,
        "<collision> in <link> (1): not carried over",
        "<plugin> in <model> (1): not carried over",
    ]


def axis(text):
    return link("a") + link("b") + joint("j", "a", "b", inside=f"<axis>{text}</axis>")


def posed(text):
    return link("a", text) + link("b") + joint("j", "a", "b")


BROKEN = {
    "nested model without links": (PAIR + "<model name='x'/>", "<model name='x'>.*has no <link>"),
    "nested model of a reserved name": (PAIR + "<model name='a::b'/>", "'a::b'.*reserves"),
    "nested model that stands": (
        PAIR + f"<model name='x'><static>1</static>{link('c')}</model>",
        "<model name='x'> <static>.*nothing of it moves",
    ),
    "nested model placed by a frame": (
        PAIR + f"<model name='x' placement_frame='c'>{link('c')}</model>",
        "'x'> placement_frame.*nested",
    ),
    "include": (PAIR + "<include><uri>model://x</uri></include>", "<include>.*included models are not read"),
    "canonical link": (
        "<sdf version='1.9'><model name='m' canonical_link='c'>" + PAIR + "</model></sdf>",
        "canonical_link.*'c'",
    ),
    "canonical link of a nested model": (
        PAIR + f"<model name='x' canonical_link='y::c'>{link('c')}</model>",
        "'x'> canonical_link.*'y::c', which is no link",
    ),
    "second model": ("<sdf version='1.9'><model name='m'/><model name='n'/></sdf>", "has 2 <model>"),
    "no version": ("<sdf><model name='m'/></sdf>", "has no version, on which the frame of axes depends"),
    "another version": ("<sdf version='2.0'><model name='m'/></sdf>", "is version '2.0'; write <sdf version="),
    "world": ("<sdf version='1.9'><world name='w'><model name='m'/></world></sdf>", "worlds are not read"),
    "static": (PAIR + "<static>true</static>", "<static>.*nothing of it moves"),
    "no links": ("", "has no <link>"),
    "repeated link": (PAIR + link("b"), "<link name='b'>.*appears twice"),
    "repeated joint": (PAIR + link("c") + joint("j", "b", "c"), "<joint name='j'>.*appears twice"),
    "two poses": (posed("<pose/><pose/>"), "<link name='a'>.*two <pose>"),
    "unnamed link": (PAIR + "<link/>", "<link>.*no name"),
    "reserved name": (PAIR + link("__x__"), "'__x__'.*reserves"),
    "island": (PAIR + link("c"), "<link name='c'>.*not joined to 'a'"),
    "unknown link": (link("a") + joint("j", "a", "c"), "<joint name='j'> <child>.*names 'c'"),
    "scoped name": (link("a") + joint("j", "a", "x::c"), "names 'x::c'"),
    "no child": (link("a") + "<joint name='j' type='fixed'><parent>a</parent></joint>", "<child>.*is missing"),
    "itself": (link("a") + joint("j", "a", "a"), "'j'.*to itself"),
    "gearbox": (link("a") + link("b") + joint("j", "a", "b", "gearbox"), "'j'.*type 'gearbox'"),
    "no second axis": (link("a") + link("b") + joint("j", "a", "b", "universal"), "'j'.*<axis2>.*missing"),
    "screw in a loop": (LOOP + joint("l", "a", "c", "screw"), "'l'.*closes a loop"),
    "zero axis": (axis("<xyz>0 0 0</xyz>"), "'j'.*<xyz>.*not zero"),
    "huge axis": (axis("<xyz>1e300 0 0</xyz>"), "'j'.*<xyz>.*SI units"),
    "other digits": (axis("<xyz>\u0661 0 0</xyz>"), "'j'.*<xyz>.*3 finite numbers"),
    "short axis": (axis("<xyz>1 0</xyz>"), "'j'.*<xyz>.*3 finite numbers"),
    "unknown frame of an axis": (axis("<xyz expressed_in='q'>1 0 0</xyz>"), "'j'.*expressed_in: names 'q'"),
    "not a number": (axis("<dynamics><damping>x</damping></dynamics>"), "'j'.*<damping>.*'x'"),
    "negative damping": (axis("<dynamics><damping>-1</damping></dynamics>"), "'j'.*damping"),
    "negative spring": (
        axis("<dynamics><spring_stiffness>-1</spring_stiffness></dynamics>"),
        "'j'.*stiffness.*negative",
    ),
    "limits exchanged": (axis("<limit><lower>1</lower><upper>0</upper></limit>"), "'j'.*<lower> = 1 above <upper> = 0"),
    "limit": (axis("<limit><lower>nan</lower></limit>"), "'j'.*<lower>.*give a number"),
    "five numbers": (posed("<pose>0 0 0 0 0</pose>"), "<link name='a'> <pose>.*6 finite numbers"),
    "unknown format": (posed("<pose rotation_format='x'>0 0 0 0 0 0</pose>"), "'a'.*rotation_format is 'x'"),
    "no unit quaternion": (posed("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 2</pose>"), "'a'.*length 1"),
    "degrees": (posed("<pose degrees='maybe'>0 0 0 0 0 0</pose>"), "'a'.*degrees.*true or false"),
    "cycle": (posed("<pose relative_to='b'/>").replace("'b'>", "'b'><pose relative_to='a'/>", 1), "relative to"),
    "own inertia elsewhere": (
        link("a", inertial=UNIT.replace("<mass>", "<pose relative_to='b'/><mass>")) + link("b") + joint("j", "a", "b"),
        "<inertial> <pose>.*relative to 'b'",
    ),
    "inertia from geometry": (
        link("a", inertial=UNIT.replace("<inertial>", "<inertial auto='true'>")) + link("b") + joint("j", "a", "b"),
        "'a'.*auto.*geometry",
    ),
    "negative mass": (
        link("a") + link("b", inertial=UNIT.replace("<mass>1", "<mass>-1")) + joint("j", "a", "b"),
        "'b'.*mass -1",
    ),
    "one free body": (link("a"), "floating_base=True"),
    "not XML": ("<sdf version='1.9'><model>", "not well-formed"),
    "entities": ("<sdf version='1.9'><!-- --></sdf>", "has 0 <model>"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_model_is_refused_with_file_element_and_remedy(case, load):
    model, message = BROKEN[case]
    with pytest.raises(ModelError, match=rf"(?s)model\.sdf.*{message}") as caught:
        load(model)
    assert "model.sdf" in caught.value.where
    assert caught.value.remedy


def test_a_fixed_base_has_no_root_joint(load):
    with pytest.raises(ModelError, match="joined to the world"):
        load(link("a") + joint("j", "world", "a"), floating_base=True)


def test_document_types_are_refused(tmp_path):
    path = tmp_path / "model.sdf"
    path.write_text("<!DOCTYPE sdf [<!ENTITY x 'y'>]><sdf version='1.9'><model name='&x;'/></sdf>")
    with pytest.raises(ModelError, match=r"model\.sdf.*refused; remove <!DOCTYPE"):
        mechanics.load_mechanism(path)


@pytest.mark.parametrize("limits", [Limits(bytes=100), Limits(depth=3), Limits(elements=5)])
def test_size_and_depth_are_bounded(load, limits):
    with pytest.raises(ModelError, match=r"model\.sdf.*raise limits\.(bytes|depth|elements)"):
        load(PAIR, limits=limits)


def test_a_long_chain_is_read_in_time(load):
    """3000 links, each placed relative to the one before: nothing is recursive or quadratic."""
    names = [f"l{k}" for k in range(3000)]
    links = "".join(link(b, f"<pose relative_to='{a}'>0 0 0.1 0 0 0</pose>") for a, b in pairwise(names))
    joints = "".join(joint(f"j{b}", a, b) for a, b in pairwise(names))
    made = load(link(names[0]) + links + joints)
    assert len(made.tree) == 2999


def test_an_open_file_is_a_tree_too(load, tmp_path):
    """What a tree cannot have is a warning, loops are an error."""
    load(PAIR)
    path = tmp_path / "model.sdf"
    tree = mechanics.load_model(path, False, gravity=(0.0, 0.0, -3.0))
    assert [b.joint_name for b in tree.bodies] == ["j"]
    assert tree.gravity.tolist() == [0.0, 0.0, -3.0]
    load(PAIR + link("c") + joint("k", "b", "c") + joint("l", "a", "c", "ball", ""))
    with pytest.raises(ModelError, match=r"has loops or couplings .*use mechanics.load_mechanism"):
        mechanics.load_model(path, False)


def test_a_model_that_nothing_joins_to_the_world_is_held_with_a_warning(load):
    """SDF lets it move freely: a rover hung in the air without a word."""
    with pytest.warns(ModelWarning, match="link 'a' is held there, as with floating_base=False; True lets it move"):
        held = load(PAIR, floating_base=None)
    assert held.tree.nv == load(PAIR).tree.nv == 1
    assert load(PAIR, floating_base=True).tree.nv == 7
    ground = joint("ground", "world", "a", "fixed")
    assert load(PAIR + ground, floating_base=None).tree.nv == 1
