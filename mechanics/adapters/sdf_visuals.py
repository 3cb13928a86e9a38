"""<visual> of SDF files → how the bodies look.  What is wrong there spoils no motion: it is left out, and noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from mechanics.adapters.meshes import MeshFile, found, hexadecimal
from mechanics.adapters.reading import Report
from mechanics.adapters.sdf_frames import of, pose
from mechanics.adapters.solids import numbers, solid
from mechanics.errors import ModelError
from mechanics.model.frames import Frame
from mechanics.model.visuals import Visual


def visuals(links: Iterable[Element], report: Report, frames: Mapping[str, Frame]) -> tuple[list[Visual], list[str]]:
    """The visuals of all links, on the bodies that carry them, and notes on those that are left out."""
    made, notes = [], []
    for link in links:
        for element in link.findall("visual"):
            shapes: Any = _shapes(element, Path(report.path))
            try:
                R, x = pose(element, report)
            except ModelError as error:
                shapes = f"its pose {error.problem}"
            if (given := element.find("pose")) is not None and (given.get("relative_to") or given.get("frame")):
                shapes = "its pose is relative to something else than the link"
            if isinstance(shapes, str):
                notes.append(f"{of(link)} {of(element)}: not drawn ({shapes})")
                continue
            frame = frames[link.get("name", "")]
            turn = np.asarray(frame.rotation)
            made.append(Visual(frame.body, shapes, frame.position + turn @ x, turn @ R))
    return made, notes


def _shapes(element: Element, path: Path) -> Any:
    """A sequence of surfaces, a maker of them, or what is wrong."""
    geometry = element.find("geometry")
    if geometry is None or len(geometry) != 1:
        return "it has no geometry"
    given, rgba = geometry[0], numbers(element.findtext("material/diffuse") or "", 4)
    colour = None if rgba is None else hexadecimal(rgba[:3])
    if given.tag != "mesh":
        made = solid(given.tag, given.findtext, colour)
        return made if isinstance(made, str) else [made]
    name = (given.findtext("uri") or "").strip()
    file, scale = found(name, path), numbers(given.findtext("scale") or "1 1 1", 3)
    if isinstance(file, str):
        return f"the mesh {name!r} {file}"
    return "its scale is not three numbers" if scale is None else MeshFile(str(file), tuple(scale), colour)
