"""Geoms of MuJoCo's models → how the bodies look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from integrators.scenes import Surface, box, cylinder, ellipsoid, rod
from mechanics.adapters.meshes import hexadecimal
from mechanics.adapters.mjcf_model import named
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.model.frames import Frame
from mechanics.model.visuals import Visual

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(2, 8)
"""MuJoCo's types of geoms (mjtGeom)."""
SHOWN = 3
"""Groups of geoms below this are shown, as MuJoCo's viewer does."""


def visuals(model: Any, frames: Mapping[str, Frame]) -> list[Visual]:
    """The geoms of the groups that MuJoCo shows; planes, height fields and signed distance fields are left out."""
    made = []
    for g in range(int(model.ngeom)):
        shapes = _shapes(model, g) if int(model.geom_group[g]) < SHOWN else []
        if shapes:
            b = int(model.geom_bodyid[g])
            frame = frames[named(model, "body", b)] if b else Frame(None)
            turn, R = np.asarray(frame.rotation), np.asarray(rotation_from_quaternion(model.geom_quat[g]))
            made.append(Visual(frame.body, shapes, frame.position + turn @ model.geom_pos[g], turn @ R))
    return made


def _shapes(model: Any, g: int) -> list[Surface]:
    size, kind = [float(x) for x in model.geom_size[g]], int(model.geom_type[g])
    material = int(model.geom_matid[g])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[g]
    colour = hexadecimal(rgba[:3])
    if not rgba[3] > 0.0:
        return []
    if kind == SPHERE:
        return [ellipsoid([size[0]] * 3, colour)]
    if kind == CAPSULE:
        return [rod((0.0, 0.0, -size[1]), (0.0, 0.0, size[1]), size[0], colour)]
    if kind == ELLIPSOID:
        return [ellipsoid(size, colour)]
    if kind == CYLINDER:
        return [cylinder(size[0], 2.0 * size[1], colour)]
    if kind == BOX:
        return [box(2.0 * np.array(size), colour)]
    return [_mesh(model, int(model.geom_dataid[g]), colour)] if kind == MESH else []


def _mesh(model: Any, m: int, colour: str) -> Surface:
    first, count = int(model.mesh_vertadr[m]), int(model.mesh_vertnum[m])
    start, faces = int(model.mesh_faceadr[m]), int(model.mesh_facenum[m])
    return Surface(model.mesh_vert[first : first + count], model.mesh_face[start : start + faces], colour)
