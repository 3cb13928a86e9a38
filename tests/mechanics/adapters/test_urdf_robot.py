"""Links and joints of URDF files against yourdfpy, to a rounding of the rotations."""

import io
from dataclasses import asdict
from xml.etree.ElementTree import fromstring, tostring

import numpy as np
import pytest

from mechanics.adapters.urdf_robot import robot_of
from mechanics.adapters.urdf_xml import read
from mechanics.models import model_path

ODD = """
<robot name="odd">
  <link name="a"/>
  <link name="b"><inertial><mass value="2.5"/>
    <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="-0.3" izz="3e0"/></inertial></link>
  <link name="c"><inertial><origin rpy="0.3 -1.2 2.5"/><mass value=" 1 "/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 -2 .5" rpy="3.1 0.7 -0.4"/>
    <limit effort="inf" lower="-1" upper="1"/><dynamics friction="0.5"/></joint>
  <joint name="bc" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0.6 -0.8"/><dynamics damping="2"/>
    <limit lower="-1" upper="1" effort="3" velocity="4"/><mimic joint="ab" offset="0.25"/></joint>
</robot>
"""


@pytest.mark.parametrize("name", ["odd", "ur5", "panda", "talos"])
def test_links_and_joints_are_those_that_yourdfpy_finds(name: str) -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    document = fromstring(ODD) if name == "odd" else read(model_path(name))[0]
    ours = robot_of(document)
    file = io.BytesIO(tostring(document))
    theirs = yourdfpy.URDF.load(file, build_scene_graph=False, load_meshes=False).robot
    assert (ours.name, len(ours.links), len(ours.joints)) == (theirs.name, len(theirs.links), len(theirs.joints))
    for mine, other in zip([*ours.links, *ours.joints], [*theirs.links, *theirs.joints], strict=True):
        compare(asdict(mine), other)


def compare(mine: dict[str, object], other: object) -> None:
    for name, value in mine.items():
        wanted = getattr(other, name)
        if value is None:
            assert wanted is None, name
        elif isinstance(value, dict):
            compare(value, wanted)
        elif isinstance(value, str):
            assert value == wanted
        else:
            np.testing.assert_allclose(value, np.asarray(wanted, dtype=np.float64), rtol=0.0, atol=2e-16)
