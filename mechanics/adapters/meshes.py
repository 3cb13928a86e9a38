"""Files of meshes → surfaces, by trimesh, when a tree is drawn and not before."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from integrators.scenes import Surface
from mechanics.errors import ModelWarning

ENDINGS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off", ".3mf")
LARGEST = 200_000_000
"""Bytes of one file."""
LEVELS = 8
"""Folders above a model file in which the folder of a package is looked for."""


@dataclass(frozen=True)
class MeshFile:
    """The surfaces of a file, in its colours; nothing, and a warning, if it cannot be read."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colour: str | None = None

    def __call__(self) -> list[Surface]:
        try:
            import trimesh

            parts = trimesh.load_scene(self.path).dump()
        except Exception as error:  # whatever a broken file does to one of trimesh's readers
            warnings.warn(ModelWarning(f"{self.path}: not drawn ({type(error).__name__}: {error})"), stacklevel=2)
            return []
        found = [self._surface(part) for part in parts if len(getattr(part, "faces", ()))]
        if not found:
            warnings.warn(ModelWarning(f"{self.path}: not drawn (it has no triangles)"), stacklevel=2)
        return found

    def _surface(self, part: Any) -> Surface:
        faces = np.asarray(part.faces)
        if np.prod(self.scale) < 0.0:  # mirrored: the other way round
            faces = faces[:, ::-1]
        return Surface(np.asarray(part.vertices) * self.scale, faces, self.colour or _colour(part))


def _colour(part: Any) -> str | None:
    """Of the material, unless it says nothing (trimesh's grey) or is white paint on everything."""
    try:
        if part.visual.kind is None:
            return None
        material = getattr(part.visual, "material", None)
        rgba = np.asarray(part.visual.main_color if material is None else material.main_color, dtype=float)
    except (AttributeError, ValueError, IndexError, TypeError):
        return None
    return hexadecimal(rgba[:3] / 255.0) if rgba.shape == (4,) else None


def hexadecimal(rgb: Any) -> str:
    """``"#rrggbb"`` of three numbers in [0, 1]."""
    return "#" + "".join(f"{round(255 * min(max(float(x), 0.0), 1.0)):02x}" for x in rgb)


def found(name: str, model: Path) -> Path | str:
    """The file that a model file names, or why it is not opened.

    ``package://NAME/…`` (also ``model://``) is looked for in the folders above the model file, other names from its own
    folder.  Files outside of the package, or of the folder above that of the model file, are not opened, nor what is no
    mesh, no regular file, or beyond `LARGEST`.
    """
    folder = Path(os.path.realpath(model)).parent
    scheme, _, rest = name.rpartition("://")
    if scheme in ("package", "model"):
        places = [(above / rest, above / Path(rest).parts[0]) for above in [folder, *folder.parents][:LEVELS] if rest]
    elif not scheme:
        places = [(folder / name, folder.parent)]
    else:
        return f"{scheme}:// is not opened"
    for path, root in places:
        real = Path(os.path.realpath(path))
        if not real.is_file():
            continue
        if not real.is_relative_to(os.path.realpath(root)):
            return "lies outside of the folder of the model"
        if real.suffix.lower() not in ENDINGS:
            return f"is no mesh of a known format ({', '.join(ENDINGS)})"
        return real if real.stat().st_size <= LARGEST else f"is longer than {LARGEST} bytes"
    return "is not there"
