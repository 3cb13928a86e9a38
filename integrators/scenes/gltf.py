"""A film as a binary glTF 2.0 file (.glb): bodies as nodes with meshes and an animation, for Blender and others.

glTF has y upwards and quaternions (x, y, z, w); the film keeps its axes below one turned root node.  Source: Khronos
Group, glTF 2.0 specification (ISO/IEC 12113:2022), sections 3 and 4.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.scenes.film import Film
from integrators.scenes.shapes import Shape, Surface, along, cylinder

Array = NDArray[np.float64]
PALETTE = ("#3b7dbd", "#e08a3c", "#4c9f70", "#b5657f", "#7f6fb3", "#c2a33a", "#5aa7b5", "#8d7b6a")
"""Colours of bodies that have none of their own, one after the other."""
_FLOAT, _UNSIGNED = 5126, 5125
_LINES, _TRIANGLES = 3, 4
_JSON, _BINARY = 0x4E4F534A, 0x004E4942


def colour_of(name: str) -> Array:
    """Red, green, blue in [0, 1] of ``"#rrggbb"``."""
    return np.array([int(name[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])


def glb(film: Film) -> bytes:
    """The bytes of the file."""
    made = _File()
    children = [_body(made, film, k) for k in range(len(film.scene.bodies))]
    children += [made.node(name="still", mesh=made.mesh(film.scene.still, "#9aa0a8"))] if film.scene.still else []
    children += [_tie(made, film, k) for k in range(len(film.scene.ties))]
    for k, trail in enumerate(film.scene.trails):
        if len(film.t) > 1:
            line = made.mesh([_line(film.trails[:, k])], "#d55e00" if trail.contact else "#8a8f98")
            children.append(made.node(name=f"path {trail.name or trail.body}", mesh=line))
    turn = along(film.scene.up) @ along((0.0, 1.0, 0.0)).T
    made.nodes.append({"name": film.title, "children": children, "rotation": _xyzw(turn.T[None])[0].tolist()})
    return made.bytes(root=len(made.nodes) - 1, title=film.title)


def _line(points: Array) -> Shape:
    from integrators.scenes.shapes import Line

    return Line(points)


def _body(made: _File, film: Film, k: int) -> int:
    body = film.scene.bodies[k]
    mesh = made.mesh(body.shapes, body.colour or PALETTE[k % len(PALETTE)]) if body.shapes else None
    q = film.quaternions_wxyz[:, k, [1, 2, 3, 0]]
    node = made.node(name=body.name, mesh=mesh)
    made.move(node, film.t, translation=film.positions[:, k], rotation=_continuous(q))
    return node


def _tie(made: _File, film: Film, k: int) -> int:
    """A rod of length 1 along z, stretched and turned."""
    tie = film.scene.ties[k]
    ends = [_point(film, name, point) for name, point in ((tie.first, tie.at), (tie.second, tie.on))]
    difference = ends[1] - ends[0]
    length = np.linalg.norm(difference, axis=-1)
    turns = np.stack([along(d) if l > 0.0 else np.eye(3) for d, l in zip(difference, length, strict=True)])
    radius = 0.004 * float(np.linalg.norm(film.high - film.low))
    node = made.node(name=f"tie {k + 1}", mesh=made.mesh([cylinder(radius, 1.0).moved((0, 0, 0.5))], "#8a8f98"))
    scale = np.stack([np.ones_like(length), np.ones_like(length), np.maximum(length, 1e-9)], axis=-1)
    made.move(node, film.t, translation=ends[0], rotation=_continuous(_xyzw(turns)), scale=scale)
    return node


def _point(film: Film, body: str | None, point: Any) -> Array:
    p = np.asarray(point, dtype=np.float64)
    if body is None:
        return np.broadcast_to(p, (len(film.t), 3))
    k = film.scene.number(body)
    return np.asarray(film.positions[:, k] + film.rotations[:, k] @ p)


def _xyzw(rotations: Array) -> Array:
    from liegroup.rotations import quaternion_wxyz_from_matrix

    return quaternion_wxyz_from_matrix(rotations)[..., [1, 2, 3, 0]]


def _continuous(q: Array) -> Array:
    """Quaternions (k, 4) with signs that do not jump: programs interpolate between them."""
    flips = np.cumprod(np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0.0, -1.0, 1.0))
    return np.asarray(q * np.concatenate([[1.0], flips])[:, None])


class _File:
    """Nodes, meshes and numbers of a file under construction."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._data = bytearray()
        self._known: dict[Any, int] = {}

    def numbers(self, values: Any, kind: str, limits: bool = False) -> int:
        """The accessor of numbers (n,) or (n, c), stored once."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(values, dtype="<u4" if kind == "SCALAR_INDEX" else "<f4")
        if not np.isfinite(array).all():
            raise ValueError("film: it has numbers that are not finite, or beyond 3.4e38, the largest of glTF")
        data = array.tobytes()
        key = (kind, data)
        if key in self._known:
            return self._known[key]
        self.views.append({"buffer": 0, "byteOffset": len(self._data), "byteLength": len(data)})
        self._data += data
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _UNSIGNED if kind == "SCALAR_INDEX" else _FLOAT,
            "count": len(array),
            "type": "SCALAR" if kind == "SCALAR_INDEX" else kind,
        }
        if limits:
            columns = array.reshape(len(array), -1)
            accessor |= {"min": columns.min(axis=0).tolist(), "max": columns.max(axis=0).tolist()}
        self.accessors.append(accessor)
        self._known[key] = len(self.accessors) - 1
        return self._known[key]

    def material(self, colour: str, opacity: float) -> int:
        key = (colour, opacity)
        if key not in self._known:
            linear = np.where((c := colour_of(colour)) <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
            look = {"baseColorFactor": [*linear.tolist(), opacity], "metallicFactor": 0.05, "roughnessFactor": 0.6}
            self.materials.append(
                {"pbrMetallicRoughness": look, "doubleSided": True} | ({"alphaMode": "BLEND"} if opacity < 1.0 else {})
            )
            self._known[key] = len(self.materials) - 1
        return self._known[key]

    def mesh(self, shapes: Sequence[Shape], colour: str) -> int:
        primitives = []
        for shape in shapes:
            is_surface = isinstance(shape, Surface)
            points = shape.vertices if isinstance(shape, Surface) else shape.points
            primitive = {
                "attributes": {"POSITION": self.numbers(points, "VEC3", limits=True)},
                "mode": _TRIANGLES if is_surface else _LINES,
                "material": self.material(shape.colour or colour, shape.opacity if isinstance(shape, Surface) else 1.0),
            }
            if isinstance(shape, Surface):
                primitive["indices"] = self.numbers(shape.faces.reshape(-1), "SCALAR_INDEX")
            primitives.append(primitive)
        self.meshes.append({"primitives": primitives})
        return len(self.meshes) - 1

    def node(self, name: str, mesh: int | None) -> int:
        self.nodes.append({"name": name} | ({} if mesh is None else {"mesh": mesh}))
        return len(self.nodes) - 1

    def move(self, node: int, t: Array, **paths: Array) -> None:
        """Poses over time; of one frame the pose alone."""
        self.nodes[node] |= {name: values[0].tolist() for name, values in paths.items()}
        if len(t) < 2:
            return
        times = self.numbers(np.abs(t - t[0]), "SCALAR", limits=True)
        for name, values in paths.items():
            kind = "VEC4" if values.shape[-1] == 4 else "VEC3"
            self.samplers.append({"input": times, "output": self.numbers(values, kind), "interpolation": "LINEAR"})
            self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": name}})

    def bytes(self, root: int, title: str) -> bytes:
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "liemech"},
            "scene": 0,
            "scenes": [{"nodes": [root], "name": title}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self._data)}],
        }
        if self.channels:
            content["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        text = json.dumps({key: value for key, value in content.items() if value != []}).encode()
        chunks = [
            (_JSON, text + b" " * (-len(text) % 4)),
            (_BINARY, bytes(self._data) + b"\0" * (-len(self._data) % 4)),
        ]
        body = b"".join(struct.pack("<II", len(chunk), kind) + chunk for kind, chunk in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
