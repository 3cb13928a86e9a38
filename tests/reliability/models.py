"""Mutated model files of every format: each is read as a valid model, or refused with a `ModelError`, in time.

`attack` performs one mutated read.  A finding is an AssertionError that says format, seed of the file and what came.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import mechanics
from mechanics import ModelError, Tree

SECONDS = 10.0
"""Longest read, of files of a few kB: of the processor, which other programs may be using."""
WAITING = 900.0
"""Longest read by the clock."""
ENDED: list[str] = []
"""What processes that compile MJCF files died of, or were ended for: no findings, since their callers go on."""
HOSTILE = (
    *(
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e300",
        "-1e300",
        "1e-300",
        "1e999",
        "-1",
        "0",
        "-0",
        "1e17",
        "0.1",
        "1_0",
        "0x10",
    ),
    *(
        "\u0661\u0662",
        "\uff11",
        "1,5",
        "1 2",
        "1 2 3",
        "0 0 0",
        "1 0 0",
        "0 0 0 0 0 0 0",
        "true",
        "None",
        "x",
        "a",
        "b",
    ),
    *("world", "__model__", "../../etc/passwd", "/etc/passwd", "/dev/zero", "a" * 3000, "9" * 400, "1 " * 3000),
    *("-7", "3", "100000", "1000000000", "99999999999999999999", "j", "k", "c", "&lt;", "\U0001f600"),
)

URDF = """<robot name="r">
 <link name="w"/>
 <link name="a"><inertial><origin xyz="0 0 0.1" rpy="0 0.2 0"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial><visual/></link>
 <link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
 <link name="c"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
 <joint name="j" type="continuous"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/></joint>
 <joint name="k" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="1 0 0" rpy="0 0 1"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
  <dynamics damping="0.1" friction="0.2"/></joint>
 <joint name="m" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/>
  <mimic joint="k" multiplier="2" offset="0.1"/></joint>
</robot>
"""
SDF = """<sdf version="1.9"><model name="m"><pose>0 0 1 0 0 0</pose>
 <link name="a"><pose>0 0 0 0 0 0.1</pose><inertial><mass>1</mass></inertial></link>
 <link name="b"><pose relative_to="j">0.5 0 0 0 0 0</pose><inertial><pose>0 0 0.1 0 0 0</pose><mass>1</mass>
  <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz><ixy>0</ixy></inertia></inertial><gravity>1</gravity></link>
 <link name="c"><pose degrees="true">1 1 0 0 0 90</pose><inertial><mass>2</mass></inertial></link>
 <frame name="f" attached_to="c"><pose>0 0.1 0 0 0 0</pose></frame>
 <joint name="j" type="revolute"><pose relative_to="a"/><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
  <dynamics><damping>0.1</damping><friction>0.1</friction><spring_stiffness>3</spring_stiffness></dynamics>
  <limit><lower>-1</lower><upper>1</upper><effort>-1</effort></limit></axis></joint>
 <joint name="k" type="ball"><parent>b</parent><child>f</child></joint>
 <joint name="l" type="universal"><parent>a</parent><child>c</child><axis><xyz expressed_in="f">1 0 0</xyz></axis>
  <axis2><xyz>0 1 0</xyz></axis2></joint>
</model></sdf>
"""
MJCF = """<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9"/>
 <default><geom contype="0" conaffinity="0" density="900" type="capsule" size="0.02"/></default>
 <worldbody>
  <body name="a" euler="0 -1 0"><joint name="j" axis="0 -1 0" stiffness="2" springref="0.1"/>
   <geom fromto="0 0 0 0.35 0 0"/>
   <body name="b" pos="0.35 0 0"><joint name="k" axis="0 -1 0" damping="0.1" range="-1 1"/>
    <geom fromto="0 0 0 0.9 0 0"/>
    <body name="t" pos="0.9 0 0"><joint type="ball"/>
     <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body></body>
  <body name="c" pos="1 0 0" euler="0 -1.4 0"><joint name="l" axis="0 -1 0"/><geom fromto="0 0 0 0.7 0 0"/></body>
  <body name="d" pos="2 0 0"><joint name="n" type="slide" axis="1 0 0" armature="0.1"/><geom size="0.1 0.2"/></body>
 </worldbody>
 <equality><connect name="e" body1="b" body2="c" anchor="0.9 0 0"/>
  <joint name="g" joint1="n" joint2="j" polycoef="0 1 0 0 0"/>
  <weld name="h" body1="t" body2="c" active="false"/></equality>
 <actuator><motor joint="n"/></actuator>
</mujoco>
"""
CLOSURES = """[[closure]]
kind = "point_on_plane"
name = "s"
first = {link = "b", xyz = [0.1, 0, 0], axis = [0, 1, 0]}
second = {link = "w", xyz = [0.7, 0, 0.1], rpy = [0, 1, 0]}

[assembly]
guess = {j = 0.3, k = 0.1}
hold = []
rank = 2
"""


def _json_closures() -> str:
    frames = {"first": {"link": "b", "xyz": [0, 0, 0.1]}, "second": {"link": "w", "rotation": np.eye(3).tolist()}}
    entry = {"kind": "distance", **frames, "length": 1.1}
    return json.dumps({"closure": [entry, {"kind": "gear", "joints": ["j", "k"], "ratio": -2.0, "offset": 0.1}]})


def _tree() -> str:
    from mechanics.testing import random_tree

    return json.dumps(random_tree("random", 4, np.random.default_rng(1), damping=0.1).to_dict())


def _mechanism() -> str:
    from mechanics import Body, Frame, Inertia, Mechanism, constraints, forces, joints

    solid = Inertia.about_com(1.0, (0.1, 0.0, 0.0), np.eye(3))
    bodies = [Body("a", joints.Revolute(), inertia=solid), Body("b", joints.Prismatic(), "a", inertia=solid)]
    cam = constraints.coupling(["a_joint", "b_joint"], lambda turn, lift: lift - 0.1 * np.sin(turn), "cam")
    spring = forces.joint_spring("a_joint", stiffness=2.0, damping=0.1)
    ground = forces.contact(Frame("b"), forces.Plane(Frame(None, (0, 0, -1))), stiffness=10.0)
    return json.dumps(Mechanism(Tree(bodies), [cam], elements=[spring, ground]).to_dict())


def _read_closures(path: Path) -> Any:
    model = path.with_name("fixed.urdf")
    model.write_text(URDF, encoding="utf-8")
    return mechanics.load_mechanism(model, closures=path)


def _read_json(kind: type[Tree] | type[mechanics.Mechanism]) -> Callable[[Path], Any]:
    """What a user does: JSON's own errors are those of the json module."""

    def read(path: Path) -> Any:
        try:
            data = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            return None
        return kind.from_dict(data)

    return read


FORMATS: dict[str, tuple[str, Callable[[], str], tuple[Callable[[Path], Any], ...]]] = {
    "urdf": ("m.urdf", lambda: URDF, (mechanics.load_urdf, mechanics.load_mechanism)),
    "sdf": ("m.sdf", lambda: SDF, (mechanics.load_mechanism,)),
    "mjcf": ("m.xml", lambda: MJCF, (mechanics.load_mjcf, mechanics.load_mechanism)),
    "toml": ("c.toml", lambda: CLOSURES, (_read_closures,)),
    "json": ("c.json", _json_closures, (_read_closures,)),
    "tree": ("t.json", _tree, (_read_json(Tree),)),
    "mechanism": ("m.json", _mechanism, (_read_json(mechanics.Mechanism),)),
}
"""File names, seeds and readers of the formats."""


# --- mutations --------------------------------------------------------------------------------------------------------


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if changed:
            changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    a, b = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return data[:a] + data[min(b, a + 200) :] if rng.random() < 0.7 else data[:a]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    a = int(rng.integers(len(data) + 1))
    b = min(len(data), a + int(rng.integers(1, 300)))
    return data[:b] + data[a:b] * int(rng.choice([1, 1, 1, 50])) + data[b:]


def _value(data: bytes, rng: np.random.Generator) -> bytes:
    """Another value between quotes, between tags, or in the place of a number."""
    places = list(re.finditer(rb'"[^"]*"|(?<=>)[^<>]+(?=<)|-?\d+(\.\d+)?', data))
    if not places:
        return data
    place = places[int(rng.integers(len(places)))]
    word = HOSTILE[int(rng.integers(len(HOSTILE)))].encode()
    return data[: place.start()] + (b'"' + word + b'"' if place[0][:1] == b'"' else word) + data[place.end() :]


def _element(data: bytes, rng: np.random.Generator) -> bytes:
    """An element of XML deleted, repeated, moved, renamed, nested deeply; an attribute taken away or given."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        return data
    pairs = [(parent, child) for parent in root.iter() for child in parent]
    if not pairs:
        return data
    parent, child = pairs[int(rng.integers(len(pairs)))]
    kind = int(rng.integers(7))
    if kind == 0:
        parent.remove(child)
    elif kind == 1:
        parent.append(child)
    elif kind == 2:
        other = list(root.iter())[int(rng.integers(len(list(root.iter()))))]
        if other not in list(child.iter()):
            other.append(child)
    elif kind == 3:
        child.tag = pairs[int(rng.integers(len(pairs)))][1].tag
    elif kind == 4 and child.attrib:
        del child.attrib[sorted(child.attrib)[int(rng.integers(len(child.attrib)))]]
    elif kind == 5:
        names = sorted({name for element in root.iter() for name in element.attrib})
        child.set(names[int(rng.integers(len(names)))], HOSTILE[int(rng.integers(len(HOSTILE)))])
    else:
        for _ in range(int(rng.choice([3, 150]))):
            inner = ElementTree.SubElement(child, child.tag)
            child = inner
    return ElementTree.tostring(root)


MUTATIONS = (_flip, _cut, _repeat, _value, _value, _value, _element, _element, _element)


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """The data after one to four mutations."""
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        data = MUTATIONS[int(rng.integers(len(MUTATIONS)))](data, rng)
    return data


# --- one attack -------------------------------------------------------------------------------------------------------


def attack(rng: np.random.Generator, folder: str | Path, kind: str | None = None) -> str:
    """Write one mutated file into the folder and read it; says what was tried and what came.

    Raises
    ------
    AssertionError
        Something else than a valid model or a ModelError came, or it took too long; the file stays in the folder.
    """
    kind = kind or list(FORMATS)[int(rng.integers(len(FORMATS)))]
    name, seed, readers = FORMATS[kind]
    reader = readers[int(rng.integers(len(readers)))]
    path = Path(folder) / name
    path.write_bytes(mutated(seed().encode(), rng))
    complaint: ModelError | None = None
    what, start = f"{kind}, {getattr(reader, '__name__', reader)}", (time.process_time(), time.perf_counter())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            made = reader(path)
            valid(made)
        outcome = "read"
    except ModelError as error:
        outcome, complaint = "refused", error
    except AssertionError as error:
        raise AssertionError(f"{what}: {path}: {error}") from None
    except Exception as error:
        raise AssertionError(f"{what}: {path}: {type(error).__name__}: {error}") from error
    seconds, waited = time.process_time() - start[0], time.perf_counter() - start[1]
    if complaint is not None:
        if re.search("compiler (was|ended|gave)", complaint.problem):
            ENDED.append(f"{complaint.problem}: {path.read_bytes()!r}")
        parts = (complaint.where, complaint.problem, complaint.remedy)
        assert all(parts), f"{what}: {path}: an error without place, problem or remedy: {complaint}"
        assert kind in ("tree", "mechanism") or str(folder) in complaint.where, (
            f"{what}: {path}: an error without a file: {complaint}"
        )
    assert seconds < SECONDS, f"{what}: {path}: took {seconds:.1f} s"
    assert waited < WAITING, f"{what}: {path}: waited {waited:.1f} s"
    return f"{what}: {outcome}"


def valid(made: Any) -> None:
    """Every number of a model is finite, and so are its energy and its closures at home."""
    if made is None:
        return
    tree = made if isinstance(made, Tree) else made.tree
    for numbers in (tree.parameters, tree.gravity, tree.damping):
        assert np.isfinite(numbers).all(), "numbers of the model are not finite"
    if not isinstance(made, Tree):
        assert np.isfinite(made.home).all(), "home is not finite"
        assert np.isfinite(made.gap(made.home)).all(), "gaps are not finite"
        assert made.mobility.dof >= 0, f"{made.mobility.dof} degrees of freedom"
        assert np.isfinite([made.mobility.smallest, made.mobility.next]).all(), "singular values are not finite"
