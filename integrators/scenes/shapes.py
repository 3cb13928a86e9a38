"""Shapes of bodies: surfaces of triangles and lines, in the axes of their body; makers of the usual ones.

Edges that are to look sharp have their vertices twice, once for either side: whoever draws a surface averages normals
over the triangles at a vertex.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import integer, numbers, of_kind, positive, real, reals, sequence

Array = NDArray[np.float64]
SEGMENTS = 32
"""Of a circle."""
MARK = "#f2efe6"
"""Of sectors and octants that show how a round body turns."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles.

    Parameters
    ----------
    vertices : array (k, 3)
        In body axes, m.
    faces : int array (m, 3)
        Numbers of vertices, counter-clockwise seen from outside.
    colour : str, optional
        ``"#rrggbb"``; default the colour of the body.
    opacity : float
        Below 1 translucent.
    """

    vertices: Any
    faces: Any
    colour: str | None = None
    opacity: float = 1.0

    def __post_init__(self) -> None:
        vertices, faces = reals(self.vertices, "vertices"), np.asarray(self.faces)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ValueError(f"vertices: shape {vertices.shape}, expected (k, 3) finite numbers")
        if (
            faces.ndim != 2
            or faces.shape[1] != 3
            or (faces.size and not 0 <= faces.min() <= faces.max() < len(vertices))
        ):
            raise ValueError(f"faces: shape {faces.shape}, expected (m, 3) numbers of the {len(vertices)} vertices")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces.astype(np.int64))

    def moved(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Surface:
        """The same at another place of the body: x → rotation·x + position."""
        return replace(self, vertices=_moved(self.vertices, position, rotation))


@dataclass(frozen=True, eq=False)
class Line:
    """A polygon through points (k, 3), body axes, m."""

    points: Any
    colour: str | None = None

    def __post_init__(self) -> None:
        points = reals(self.points, "points")
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise ValueError(f"points: shape {points.shape}, expected (k, 3) finite numbers")
        object.__setattr__(self, "points", points)

    def moved(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Line:
        return replace(self, points=_moved(self.points, position, rotation))


Shape: TypeAlias = Surface | Line


def _moved(points: Array, position: ArrayLike, rotation: ArrayLike | None) -> Array:
    turned = points if rotation is None else points @ np.asarray(rotation, dtype=np.float64).T
    return np.asarray(turned + np.asarray(position, dtype=np.float64))


def joined(surfaces: Iterable[Surface]) -> Surface:
    """One surface of several, with colour and opacity of the first."""
    parts = _several(surfaces, "surfaces", Surface)
    if not parts:
        raise ValueError("surfaces: none, expected one or more")
    starts = np.cumsum([0, *(len(s.vertices) for s in parts)])
    faces = np.concatenate([s.faces + start for s, start in zip(parts, starts, strict=False)])
    first: Surface = parts[0]
    return replace(first, vertices=np.concatenate([s.vertices for s in parts]), faces=faces)


def _several(values: Any, name: str, kind: Any) -> tuple[Any, ...]:
    found = sequence(values, name, "a sequence of shapes")
    for k, value in enumerate(found):
        of_kind(value, kind, f"{name}[{k}]", "a Surface" if kind is Surface else "a Surface or a Line")
    return found


def _point(value: Any, name: str) -> Array:
    """Three finite numbers."""
    found = numbers(value, name, (3,))
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}: expected (3,)")
    return np.asarray(found, dtype=np.float64)


# --- surfaces of revolution -------------------------------------------------------------------------------------------


def revolved(*pieces: ArrayLike, segments: int = SEGMENTS, colour: str | None = None) -> Surface:
    """The surface that curves (radius, height) sweep around z, each smooth in itself; seen from outside the curves run
    upwards.
    """
    if not pieces:
        raise ValueError("pieces: none, expected curves (k, 2) of radius and height")
    angle = 2.0 * np.pi * np.arange(segments) / segments
    vertices: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    for piece in pieces:
        curve, start = numbers(piece, "pieces", (2,)), int(sum(len(v) for v in vertices))
        circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
        points = curve[:, None, :1] * circle + curve[:, None, 1:] * (0.0, 0.0, 1.0)
        number = start + np.arange(points.size // 3).reshape(len(curve), segments)
        a, b = number[:-1], number[1:]
        c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
        vertices.append(points.reshape(-1, 3))
        faces.append(np.stack([np.stack([a, c, d], -1), np.stack([a, d, b], -1)]).reshape(-1, 3))
    return Surface(np.concatenate(vertices), _with_area(np.concatenate(vertices), np.concatenate(faces)), colour)


def _with_area(vertices: Array, faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """The triangles that are none without those that have shrunk to a line."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=-1)
    return np.asarray(faces[twice > 1e-12 * twice.max(initial=0.0)])


def ellipsoid(half_axes: ArrayLike, colour: str | None = None) -> Surface:
    """Half axes (3,), m, along the axes of the body."""
    half = _point(half_axes, "half_axes")
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SEGMENTS // 2 + 1)
    unit = revolved(np.stack([np.cos(angle), np.sin(angle)], -1), colour=colour)
    return replace(unit, vertices=unit.vertices * half)


def marked_ball(half_axes: ArrayLike) -> list[Surface]:
    """An ellipsoid whose octants alternate in colour, so that one sees it turn."""
    whole = ellipsoid(half_axes)
    middle = whole.vertices[whole.faces].mean(axis=1)
    light = np.prod(np.sign(middle), axis=-1) > 0.0
    return [replace(whole, faces=whole.faces[~light]), replace(whole, faces=whole.faces[light], colour=MARK)]


def cylinder(radius: float, length: float, colour: str | None = None) -> Surface:
    """About z, the origin in the middle."""
    r, z = positive(radius, "radius"), 0.5 * positive(length, "length")
    return revolved([(0, -z), (r, -z)], [(r, -z), (r, z)], [(r, z), (0, z)], colour=colour)


def cone(radius: float, length: float, colour: str | None = None) -> Surface:
    """About z, tip in the origin, opening upwards."""
    r, z = positive(radius, "radius"), positive(length, "length")
    return revolved([(0, 0), (r, z)], [(r, z), (0, z)], colour=colour)


def torus(radius: float, section: float, colour: str | None = None) -> Surface:
    """About z; `radius` of the centre line, `section` radius of the tube."""
    angle, tube = np.linspace(-np.pi, np.pi, 17), positive(section, "section")
    curve = [positive(radius, "radius") + tube * np.cos(angle), tube * np.sin(angle)]
    return revolved(np.stack(curve, -1), colour=colour)


def marked_disk(radius: float, thickness: float, sectors: int = 8) -> list[Surface]:
    """A disk about z whose sectors alternate in colour."""
    whole, sectors = cylinder(radius, positive(thickness, "thickness")), integer(sectors, "sectors", 1)
    middle = whole.vertices[whole.faces].mean(axis=1)
    sector = np.floor(np.arctan2(middle[:, 1], middle[:, 0]) / (2.0 * np.pi / sectors)).astype(int)
    light = (sector % 2 == 0) & (np.hypot(middle[:, 0], middle[:, 1]) < 0.95 * radius)
    return [replace(whole, faces=whole.faces[~light]), replace(whole, faces=whole.faces[light], colour=MARK)]


def spoked_wheel(radius: float, section: float, spokes: int = 5) -> list[Surface]:
    """A rim about z of outer radius `radius` + `section`, with spokes; a sharp rim is drawn 3 % thick."""
    radius, section = positive(radius, "radius"), real(section, "section", "a number ≥ 0", lambda x: 0.0 <= x < np.inf)
    tube, spokes = max(section, 0.03 * radius), integer(spokes, "spokes", 1)
    rim = torus(radius + section - tube, tube)
    angles = 2.0 * np.pi * np.arange(spokes) / spokes
    ends = [(radius * np.cos(a), radius * np.sin(a), 0.0) for a in angles]
    hub = cylinder(0.12 * radius, 0.16 * radius)
    return [joined([rim, hub]), joined([replace(rod((0, 0, 0), x, 0.02 * radius), colour=MARK) for x in ends])]


# --- straight ones ----------------------------------------------------------------------------------------------------


def box(size: ArrayLike, colour: str | None = None) -> Surface:
    """Edges (3,), m, along the axes of the body, the origin in the middle."""
    half = 0.5 * _point(size, "size")
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], dtype=np.float64)
    vertices: list[Array] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, axis], corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = side, *square.T
            start = 4 * len(vertices)
            vertices.append(corners * half)
            a, b, c, d = (start + k for k in ((0, 1, 2, 3) if side > 0 else (0, 3, 2, 1)))
            faces += [(a, b, c), (a, c, d)]
    return Surface(np.concatenate(vertices), np.array(faces), colour)


def rod(first: ArrayLike, second: ArrayLike, radius: float, colour: str | None = None) -> Surface:
    """A round rod with round ends between two points."""
    a, b, radius = _point(first, "first"), _point(second, "second"), positive(radius, "radius")
    length = float(np.linalg.norm(b - a))
    up = np.linspace(-0.5 * np.pi, 0.0, 5)
    low = np.stack([radius * np.cos(up), radius * np.sin(up)], -1)
    high = np.stack([radius * np.cos(up[::-1]), length - radius * np.sin(up[::-1])], -1)
    made = revolved(np.concatenate([low, high]), segments=16, colour=colour)
    return made.moved(a, along(b - a)) if length > 0.0 else made.moved(a)


def along(direction: ArrayLike) -> Array:
    """A rotation (3, 3) that takes z to a direction."""
    z = _point(direction, "direction")
    if not z.any():
        raise ValueError("direction: (0, 0, 0), expected one")
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def cuboid(mass: float, tensor_about_com: ArrayLike, least: float = 0.0) -> Surface:
    """The uniform cuboid of a mass and an inertia tensor (3, 3), kg·m², the centre of mass in the origin: edges
    √(6 (J_y + J_z − J_x)/m), …, none below `least`.
    """
    mass, tensor = positive(mass, "mass"), reals(tensor_about_com, "tensor_about_com")
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise ValueError(f"tensor_about_com: shape {tensor.shape}, expected (3, 3) finite numbers")
    moments, axes = np.linalg.eigh(tensor)
    axes = axes * np.sign(np.linalg.det(axes))
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    return box(np.maximum(np.sqrt(np.maximum(squares, 0.0)), least)).moved(rotation=axes)


def bounds(shapes: Sequence[Shape]) -> Array:
    """Least and greatest coordinates (2, 3) of shapes; of none, the origin."""
    points = [s.vertices if isinstance(s, Surface) else s.points for s in _several(shapes, "shapes", (Surface, Line))]
    every = np.concatenate([p for p in points if len(p)] or [np.zeros((1, 3))])
    return np.stack([every.min(axis=0), every.max(axis=0)])


def corners_of(low: ArrayLike, high: ArrayLike) -> Array:
    """The eight corners (8, 3) of a box."""
    ends = np.stack([np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)])
    return np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


# --- meshes of files --------------------------------------------------------------------------------------------------


def coarser(surface: Surface, triangles: float) -> Surface:
    """About so many of the triangles of a fine surface (by the quadric errors of Garland and Heckbert 1997).

    Needs the package fast-simplification, of the extra ``robots``; without it the surface stays as it is.
    """
    of_kind(surface, Surface, "surface", "a Surface")
    triangles = positive(triangles, "triangles")
    if len(surface.faces) <= max(triangles, 12.0) or find_spec("fast_simplification") is None:
        return surface
    from fast_simplification import simplify

    places, number = np.unique(surface.vertices, axis=0, return_inverse=True)
    faces = number.reshape(-1)[surface.faces].astype(np.int32)
    part = max(triangles, 12.0) / len(faces)
    vertices, kept = simplify(places.astype(np.float32), faces, target_reduction=1.0 - part)
    return replace(surface, vertices=np.asarray(vertices, dtype=np.float64), faces=np.asarray(kept))


def creased(surface: Surface, angle: float = 0.6) -> Surface:
    """The same triangles with vertices apart where they meet at more than an angle, rad, so that edges look sharp."""
    of_kind(surface, Surface, "surface", "a Surface")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places, number = np.unique(surface.vertices, axis=0, return_inverse=True)
    faces = number.reshape(-1)[surface.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])]
    if not len(faces):
        return surface
    normal = np.cross(places[faces[:, 1]] - places[faces[:, 0]], places[faces[:, 2]] - places[faces[:, 0]])
    normal = normal / (np.linalg.norm(normal, axis=-1, keepdims=True) + 1e-300)
    corner = np.arange(faces.size).reshape(-1, 3)
    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    corners = np.concatenate([corner[:, [0, 1]], corner[:, [1, 2]], corner[:, [2, 0]]])
    turned = ends[:, 0] > ends[:, 1]
    ends[turned], corners[turned] = ends[turned][:, ::-1], corners[turned][:, ::-1]
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, corners = ends[order], corners[order]
    same = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
    first, second = corners[same], corners[same + 1]
    smooth = (normal[first[:, 0] // 3] * normal[second[:, 0] // 3]).sum(axis=1) > np.cos(angle)
    pairs = np.concatenate([np.stack([first[smooth, k], second[smooth, k]], axis=-1) for k in (0, 1)])
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(faces.size, faces.size))
    count, label = connected_components(graph, directed=False)
    vertices = np.zeros((count, 3))
    vertices[label] = places[faces.reshape(-1)]
    return replace(surface, vertices=vertices, faces=label.reshape(-1, 3))
