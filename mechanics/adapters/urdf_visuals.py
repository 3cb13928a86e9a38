"""<visual> of URDF files → how the bodies look.  What is wrong there spoils no motion: it is left out, and noted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from mechanics.adapters.meshes import MeshFile, found, hexadecimal
from mechanics.adapters.solids import numbers, solid
from mechanics.adapters.urdf_robot import turned
from mechanics.algebra.spatial import rotation
from mechanics.model.frames import Frame
from mechanics.model.visuals import Visual

Array = NDArray[np.float64]


def visuals(root: Element, path: Path, frames: Mapping[str, Frame]) -> tuple[list[Visual], list[str]]:
    """The visuals of all links, on the bodies that carry them, and notes on those that are left out."""
    colours = {m.get("name", ""): c for m in root.findall("material") if (c := _rgb(m)) is not None}
    made, notes = [], []
    for link in root.findall("link"):
        for element in link.findall("visual"):
            frame = frames.get(link.get("name", ""))
            shapes = _shapes(element, path, colours)
            if frame is None or isinstance(shapes, str):
                notes.append(f"<link name={link.get('name')!r}> <visual>: not drawn ({shapes})")
                continue
            x, R = _origin(element.find("origin"))
            turn = np.asarray(frame.rotation)
            made.append(Visual(frame.body, shapes, frame.position + turn @ x, turn @ R))
    return made, notes


def is_readable(element: Element) -> bool:
    """Whether a <visual> has a geometry."""
    geometry = element.find("geometry")
    return geometry is not None and len(geometry) == 1


def _shapes(element: Element, path: Path, colours: Mapping[str, str]) -> Any:
    """A sequence of surfaces, a maker of them, or what is wrong."""
    geometry = element.find("geometry")
    if geometry is None or len(geometry) != 1:
        return "it has no geometry"
    material, given = element.find("material"), geometry[0]
    colour = None if material is None else (_rgb(material) or colours.get(material.get("name", "")))
    if given.tag == "mesh":
        file = found(given.get("filename", ""), path)
        scale = numbers(given.get("scale", "1 1 1"), 3)
        if isinstance(file, str):
            return f"the mesh {given.get('filename')!r} {file}"
        return MeshFile(str(file), tuple(scale), colour) if scale is not None else "its scale is not three numbers"
    made = solid(given.tag, given.get, colour)
    return made if isinstance(made, str) else [made]


def _origin(element: Element | None) -> tuple[Array, Array]:
    xyz = None if element is None else numbers(element.get("xyz", "0 0 0"), 3)
    rpy = None if element is None else numbers(element.get("rpy", "0 0 0"), 3)
    quaternion = None if element is None else numbers(element.get("quat_xyzw", ""), 4)
    if quaternion is not None and quaternion.any():
        return np.zeros(3) if xyz is None else xyz, turned(quaternion)
    R = np.eye(3)
    for axis, angle in zip(np.eye(3), np.zeros(3) if rpy is None else rpy, strict=True):
        R = np.asarray(rotation(axis, angle)) @ R
    return np.zeros(3) if xyz is None else xyz, R


def _rgb(material: Element) -> str | None:
    colour = material.find("color")
    rgba = None if colour is None else numbers(colour.get("rgba", ""), 4)
    return None if rgba is None else hexadecimal(rgba[:3])
