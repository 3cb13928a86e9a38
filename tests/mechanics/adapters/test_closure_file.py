"""Closures from a side file: the mechanisms they describe, the way back to a file, and files that are wrong."""

import json
import os
from xml.etree import ElementTree

import numpy as np
import pytest

import mechanics
from liegroup.rotations import euler_angles_from_quaternion_wxyz, quaternion_wxyz_from_matrix
from mechanics import Frame, Mechanism, ModelError, constraints
from mechanics.adapters.closure_file import LARGEST, read_closures, write_closures
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.systems.loops import four_bar

LINK = """<link name='{0}'><inertial><origin xyz='{1} 0 0'/><mass value='{2}'/>
<inertia ixx='1e-4' ixy='0' ixz='0' iyy='{3}' iyz='0' izz='{3}'/></inertial></link>"""
JOINT = """<joint name='{0}_joint' type='continuous'><parent link='{1}'/><child link='{0}'/><origin xyz='{2} 0 0'/>
<axis xyz='0 0 1'/></joint>"""
RODS = (("crank", "ground", 0.0, 0.35, 1.0), ("coupler", "crank", 0.35, 0.9, 2.0), ("rocker", "ground", 1.0, 0.7, 1.5))
TOML = """
[[closure]]
kind = "revolute"
name = "C"
first = {link = "coupler", xyz = [0.9, 0, 0]}
second = {link = "rocker", xyz = [0.7, 0, 0], rpy = [0.0, 0.0, 0.5]}

[assembly]
guess = {crank_joint = 1.0, rocker_joint = 1.2}
hold = ["crank_joint"]
"""


@pytest.fixture
def urdf(tmp_path):
    links = [LINK.format(name, length / 2, mass, mass * length**2 / 12) for name, _, _, length, mass in RODS]
    joints = [JOINT.format(name, parent, at) for name, parent, at, _, _ in RODS]
    path = tmp_path / "linkage.urdf"
    path.write_text(f"<robot name='linkage'><link name='ground'/>{''.join(links + joints)}</robot>")
    return path


def test_a_four_bar_from_urdf_is_the_four_bar(urdf):
    urdf.with_suffix(".closures.toml").write_text(TOML)
    made, other = mechanics.load_mechanism(urdf, gravity=(0.0, -9.81, 0.0)), four_bar.mechanism()
    assert np.abs(made.home - other.home).max() < 1e-12
    assert (made.mobility.rank, made.mobility.dof, made.mobility.redundant) == (2, 1, 3)
    assert mechanics.load_mechanism(urdf, rank=1).mobility.rank == 1
    v = made.velocities(made.home, {"crank_joint": 4.0}).v
    assert np.abs(v - other.velocities(other.home, {"crank_joint": 4.0}).v).max() < 1e-12
    assert mechanics.energy(made.tree, made.home, v) == pytest.approx(four_bar.ENERGY, rel=1e-13)


def test_written_and_read_it_is_the_same_bit_by_bit(urdf, tmp_path):
    side, again = tmp_path / "a.toml", tmp_path / "a.json"
    side.write_text(
        TOML + "rank = 2\n" + TOML[: TOML.index("[assembly]")].replace('"C"', '"D"').replace("revolute", "spherical")
    )
    made = mechanics.load_mechanism(urdf, closures=side)
    write_closures(again, made)
    back = mechanics.load_mechanism(urdf, closures=again)
    assert np.array_equal(back.home, made.home)
    for mine, theirs in zip(made.equations.closures, back.equations.closures, strict=True):
        assert (mine.kind, mine.name, mine.first.body, mine.second.body) == (
            theirs.kind,
            theirs.name,
            theirs.first.body,
            theirs.second.body,
        )
        for a, b in zip(mine.equations, theirs.equations, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_only_a_regular_file_is_replaced_and_only_by_a_whole_one(urdf, tmp_path, monkeypatch):
    (side := tmp_path / "a.toml").write_text(TOML)
    made, again = mechanics.load_mechanism(urdf, closures=side), tmp_path / "a.json"
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ValueError, match=r"path: .*is a folder"):
        write_closures(tmp_path / "folder.json", made)
    again.write_text("mine")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            write_closures(again, made)
    assert again.read_text() == "mine"
    write_closures(again, made)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".urdf") == ["a.json", "a.toml", "folder.json"]


def test_a_distance_keeps_its_length(urdf, tmp_path):
    side = tmp_path / "a.json"
    first, second = {"link": "coupler", "xyz": [0.9, 0, 0]}, {"link": "ground", "axis": [1, 1, 0]}
    closure = {"kind": "distance", "first": first, "second": second, "length": 0.8}
    side.write_text(json.dumps({"closure": [closure], "assembly": {"guess": {"coupler_joint": 2.0}}}))
    made = mechanics.load_mechanism(urdf, closures=side)
    write_closures(side, made)
    assert read_closures(side, made.tree).closures[0].equations[0].length == 0.8


def test_couplings_of_joints(urdf, tmp_path):
    side, held = tmp_path / "a.json", {"kind": "polynomial", "joints": ["rocker_joint"], "coefficients": [0.3]}
    driven = {"kind": "gear", "joints": ["crank_joint", "coupler_joint"], "ratio": -2.0, "offset": 0.1, "name": "teeth"}
    side.write_text(json.dumps({"closure": [driven, held]}))
    made = mechanics.load_mechanism(urdf, closures=side)
    assert (made.mobility.dof, [c.name for c in made.equations.closures]) == (1, ["teeth", "polynomial rocker_joint"])
    q = dict(zip(made.tree.joint_names, (0.5, 0.7, 0.9), strict=True))
    expected = q["crank_joint"] + 2.0 * q["coupler_joint"] - 0.1, q["rocker_joint"] - 0.3
    assert made.gap([*q.values()]) == pytest.approx(expected, abs=1e-15)
    with pytest.raises(ModelError, match=r"'teeth'.*given as a function"):
        write_closures(side, made)


def test_what_no_file_says_is_not_written(urdf, tmp_path):
    """Wheels have numbers that the format does not; an empty list is none that could be read."""
    tree, side = mechanics.load_model(urdf), tmp_path / "a.json"
    skate = constraints.skate(Frame.with_axis("rocker", axis=(0.0, 1.0, 0.0)))
    for closures, said in (([skate], "'skate rocker': is of kind 'skate'.*Python"), ([], "has no closures")):
        with pytest.raises(ModelError, match=said):
            write_closures(side, Mechanism(tree, closures))
        assert not side.exists()


def entry(**changes):
    made = {
        "kind": "revolute",
        "first": {"link": "coupler", "xyz": [0.9, 0, 0]},
        "second": {"link": "rocker", "xyz": [0.7, 0, 0]},
    }
    return {key: value for key, value in (made | changes).items() if value is not None}


WRONG = {
    "closure: is .*list": {"closure": []},
    "has no 'closure'": {},
    "unknown key 'closures'": {"closure": [entry()], "closures": []},
    "closure 1: is 3": {"closure": [3]},
    "closure 2: has an unknown key 'axis'": {"closure": [entry(), entry(axis=[0, 0, 1])]},
    "closure 1: has no 'second'": {"closure": [entry(second=None)]},
    "kind: is 'hinge'": {"closure": [entry(kind="hinge")]},
    "kind: is \\[": {"closure": [entry(kind=["revolute"])]},
    "first.link: is 'copler'; name one of .*coupler": {"closure": [entry(first={"link": "copler"})]},
    "first.xyz: is \\[1, 2\\]": {"closure": [entry(first={"link": "coupler", "xyz": [1, 2]})]},
    "first.xyz: is \\[1, 2, True\\]": {"closure": [entry(first={"link": "coupler", "xyz": [1, 2, True]})]},
    "first.xyz: is .*nan": {"closure": [entry(first={"link": "coupler", "xyz": [1, 2, float("nan")]})]},
    "first.axis: is \\[0, 0, 0\\]": {"closure": [entry(first={"link": "coupler", "axis": [0, 0, 0]})]},
    "first.rotation: is .*rotation matrix": {
        "closure": [entry(first={"link": "coupler", "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]})]
    },
    "first: has rpy and axis": {"closure": [entry(first={"link": "coupler", "axis": [0, 0, 1], "rpy": [0, 0, 1]})]},
    "has a length": {"closure": [entry(length=1.0)]},
    "has no length": {"closure": [entry(kind="distance")]},
    "length: is \\['1 m'\\]": {"closure": [entry(kind="distance", length="1 m")]},
    "joins body 'coupler' to itself": {"closure": [entry(second={"link": "coupler"})]},
    "joints: is .*crank_joint.*; give a list of two joints$": {
        "closure": [{"kind": "gear", "joints": ["crank_joint"], "ratio": 1.0}]
    },
    "joints: is 'crank'; name one": {"closure": [{"kind": "gear", "joints": ["crank", "rocker_joint"], "ratio": 1.0}]},
    "has no 'ratio'": {"closure": [{"kind": "gear", "joints": ["crank_joint", "rocker_joint"]}]},
    "ratio: is .*'two'": {"closure": [{"kind": "gear", "joints": ["crank_joint", "rocker_joint"], "ratio": "two"}]},
    "ratio 0": {"closure": [{"kind": "gear", "joints": ["crank_joint", "rocker_joint"], "ratio": 0}]},
    "coefficients: is 3": {"closure": [{"kind": "polynomial", "joints": ["crank_joint"], "coefficients": 3}]},
    "two closures of this name": {"closure": [entry(name="C"), entry(name="C")]},
    "assembly.guess: has an unknown key 'crank'": {"closure": [entry()], "assembly": {"guess": {"crank": 1.0}}},
    "assembly.guess.crank_joint: is": {"closure": [entry()], "assembly": {"guess": {"crank_joint": [1.0, 2.0]}}},
    "assembly.hold: is 'crank'": {"closure": [entry()], "assembly": {"hold": ["crank"]}},
    "assembly.rank: is 0": {"closure": [entry()], "assembly": {"rank": 0}},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_named(message, urdf, tmp_path):
    side = tmp_path / "side.json"
    side.write_text(json.dumps(WRONG[message]))
    with pytest.raises(ModelError, match=message):
        mechanics.load_mechanism(urdf, closures=side)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "[[closure]\n", "cannot be read"),
        ("a.toml", "closure = 1\nclosure = 2\n", "cannot be read"),
        ("a.json", '{"closure": [], "closure": []}', "the key 'closure' is given twice"),
        ("a.json", "[" * 100_000, "cannot be read"),
        ("a.json", '{"closure": ' + "9" * 10_000 + "}", "cannot be read"),
        ("a.json", " " * (LARGEST + 1), "is longer"),
        ("a.yaml", "", "ends in '.yaml'"),
    ],
)
def test_broken_files_are_refused(name, text, message, urdf, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match=message):
        mechanics.load_mechanism(urdf, closures=tmp_path / name)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(ModelError, match="cannot be read"):
        mechanics.load_mechanism(urdf, closures=tmp_path / "latin.toml")


def test_a_urdf_without_closures_is_an_open_mechanism(urdf, tmp_path):
    assert len(mechanics.load_mechanism(urdf).equations) == 0
    with pytest.raises(ModelError, match="no such file"):
        mechanics.load_mechanism(urdf, closures=tmp_path / "none.toml")
    with pytest.raises(ValueError, match="for URDF files only"):
        mechanics.load_mechanism("cassie", closures=tmp_path / "none.toml")


# --- Cassie, whose file of links and joints is SDF --------------------------------------------------------------------


def _rpy(R):
    return " ".join(map(repr, euler_angles_from_quaternion_wxyz(quaternion_wxyz_from_matrix(R), "xyz").tolist()))


def _xyz(x):
    return " ".join(repr(float(a)) for a in x)


def cassie_as_urdf(made, folder):
    """Her turning joints as a URDF tree, her four balls as closures; the rods hang on the other end than in the SDF
    tree.
    """
    tree, home = made.tree, made.tree.neutral()
    at = geometry(tree, home)
    place = {None: (np.eye(3), np.zeros(3))} | {b.name: (at.R[i], at.x[i]) for i, b in enumerate(tree.bodies)}
    turning = {b.joint_name: b for b in tree.bodies if b.joint.n_v == 1}
    balls = [b for b in tree.bodies if b.joint.n_v == 3]
    robot = ElementTree.Element("robot", name="cassie")
    ElementTree.SubElement(robot, "link", name="world")

    def relative(parent, child):
        return parent[0].T @ child[0], parent[0].T @ (child[1] - parent[1])

    def hang(name, parent, child, frame, axis, inertia):
        link = ElementTree.SubElement(robot, "link", name=child)
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "origin", xyz=_xyz(inertia.com))
        ElementTree.SubElement(inertial, "mass", value=repr(float(inertia.mass)))
        J = inertia.tensor_about_com
        names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        ElementTree.SubElement(inertial, "inertia", {k: repr(float(J[ij])) for k, ij in names.items()})
        joint = ElementTree.SubElement(robot, "joint", name=name, type="continuous")
        ElementTree.SubElement(joint, "parent", link=parent or "world")
        ElementTree.SubElement(joint, "child", link=child)
        R, x = relative(place[parent], frame)
        ElementTree.SubElement(joint, "origin", xyz=_xyz(x), rpy=_rpy(R))
        ElementTree.SubElement(joint, "axis", xyz=_xyz(axis))
        place[child] = frame

    for b in turning.values():
        i = tree.body_index(b.name)
        hang(b.joint_name, b.parent, b.name, place[b.name], at.J[i][3:, tree.v_slice(b.joint_name)][:, 0], b.inertia)
    closures = []
    for b in balls:
        R, origin = place[b.name]
        closure = next(
            c for c in made.equations.closures if c.kind == "revolute" and b.name in (c.first.body, c.second.body)
        )
        inner, outer = (
            (closure.first, closure.second) if closure.second.body == b.name else (closure.second, closure.first)
        )
        frame = (R, place[inner.body][0] @ inner.position + place[inner.body][1])
        hang(
            closure.name,
            inner.body,
            b.name,
            frame,
            outer.rotation[:, 2],
            b.inertia.moved(R.T @ (origin - frame[1]), np.eye(3)),
        )
        parent = relative(place[b.parent], (R, origin))
        closures.append(
            {
                "kind": "spherical",
                "name": b.joint_name,
                "first": {"link": b.parent, "xyz": parent[1].tolist()},
                "second": {"link": b.name, "xyz": (R.T @ (origin - frame[1])).tolist()},
            }
        )
    for c in made.equations.closures:
        if c.kind == "spherical":
            sides = {
                side: {"link": f.body, "xyz": f.position.tolist()}
                for side, f in (("first", c.first), ("second", c.second))
            }
            closures.append({"kind": "spherical", "name": c.name, **sides})
    path = folder / "cassie.urdf"
    ElementTree.ElementTree(robot).write(path)
    path.with_suffix(".closures.json").write_text(json.dumps({"closure": closures}))
    return path


def accelerations_of_points(made):
    """World accelerations of the centres of mass, released at rest at home, by name of the body."""
    q, n, tree = made.home, made.tree.nv, made.tree
    at, H = geometry(tree, q, np.zeros(n)), mass_matrix(tree, q)
    weight = np.zeros(n)
    for J, R, b in zip(at.J, at.R, tree.bodies, strict=True):
        f = b.inertia.mass * (R.T @ tree.gravity)
        weight += J.T @ np.concatenate([f, np.cross(b.inertia.com, f)])
    G, r = made.equations.matrix(q), made.mobility.rank
    free = np.linalg.svd(G)[2][r:].T
    a = free @ np.linalg.solve(free.T @ H @ free, free.T @ weight)
    return {
        b.name: R @ ((J @ a)[:3] + np.cross((J @ a)[3:], b.inertia.com))
        for J, R, b in zip(at.J, at.R, tree.bodies, strict=True)
    }


def test_cassie_from_urdf_and_side_file_is_cassie(tmp_path):
    """Two of her joints in each leg change places between tree and closures; the motion is the same."""
    made = mechanics.load_mechanism("cassie", damping=False)
    other = mechanics.load_mechanism(cassie_as_urdf(made, tmp_path))
    assert (other.tree.nv, len(other.equations)) == (22, 12)
    assert (other.mobility.rank, other.mobility.dof) == (10, made.mobility.dof)
    mine, theirs = accelerations_of_points(made), accelerations_of_points(other)
    assert mine.keys() == theirs.keys()
    assert max(np.abs(mine[name] - theirs[name]).max() for name in mine) < 1e-6
    assert max(np.abs(a).max() for a in mine.values()) > 5.0


def test_keys_with_thousands_of_dots_are_refused_before_they_fill_the_memory(tmp_path):
    path = tmp_path / "m.closures.toml"
    path.write_text("a." * 300_000 + "a = 1")
    tree = mechanics.load_model("double_pendulum")
    with pytest.raises(ModelError, match=r"m\.closures\.toml.*more than 32 dots"):
        read_closures(path, tree)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"closure": [{"kind": "weld"}] * 301}, "has 301 entries; give at most 300"),
        (
            {"closure": [{"kind": "polynomial", "joints": ["joint1"], "coefficients": [0.1] * 101}]},
            r"coefficients: .*at most 100 numbers",
        ),
    ],
)
def test_files_that_would_take_minutes_are_refused(content, message, tmp_path):
    path = tmp_path / "m.closures.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ModelError, match=rf"m\.closures\.json.*{message}"):
        read_closures(path, mechanics.load_model("double_pendulum"))
