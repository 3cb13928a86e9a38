"""Trees and mechanisms as scenes: meshes of the model file where it has them, else links, joints and inertias.

A body without meshes is drawn as rods from its origin to where other bodies hang or loops close, a mark for its joint,
and the uniform cuboid of its mass and inertia about its centre of mass (translucent where there are rods).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.scenes import (
    Body,
    Scene,
    Surface,
    Tie,
    Trail,
    along,
    animate,
    box,
    coarser,
    cone,
    creased,
    cuboid,
    cylinder,
    ellipsoid,
    record,
    rod,
    spoked_wheel,
)
from integrators.scenes.picture import still
from liegroup.arrays import reals, sequence
from mechanics.constraints.body_equations import DISTANCE
from mechanics.constraints.loops import Closure
from mechanics.constraints.wheel_equations import SPHERE
from mechanics.dynamics import body_poses
from mechanics.forces.element import OnBodies, OnEquation
from mechanics.joints.element import Ball, Slide, Turn
from mechanics.kinematics import frame_pose
from mechanics.model.frames import Frame
from mechanics.model.tree import Tree
from mechanics.scenes import TreeScene
from mechanics.scenes.bodies import contact_of_ball, contact_of_wheel
from mechanics.states import configuration

Array = NDArray[np.float64]
TRIANGLES = 45_000
"""Of all meshes of a tree; finer ones are made coarser."""
ROD = 0.05
"""Radius of a rod, relative to a usual length of the tree."""
TRAILS = 6
"""Ends of a tree whose paths are drawn."""
_JOINT, _BASE, _SPRING = "#5c636e", "#8f949c", 0.35


@dataclass(frozen=True, eq=False)
class TreePoses:
    """Body poses of states that begin with the configuration of the tree."""

    tree: Tree

    def __call__(self, t: Array, y: Array) -> tuple[Array, Array]:
        q = normalised(self.tree, y[:, : self.tree.nq])
        if not self.tree.is_rheonomic:
            return body_poses(self.tree, q)
        found = [body_poses(self.tree, row, float(time)) for time, row in zip(t, q, strict=True)]
        return np.stack([x for x, _ in found]), np.stack([R for _, R in found])


def normalised(tree: Tree, q: Array) -> Array:
    """Configurations (k, nq) with unit quaternions: also runs that leave the group are drawn."""
    q = np.array(q)
    for _, start in tree.quaternions:
        q[:, start : start + 4] /= np.linalg.norm(q[:, start : start + 4], axis=-1, keepdims=True)
    return q


def scene(drawn: TreeScene) -> Scene:
    """The scene of a tree with closures and force elements."""
    return _Drawing(drawn).scene()


class _Drawing:
    """A tree, what closes its loops and acts on it, and where on every body something hangs."""

    def __init__(self, drawn: TreeScene) -> None:
        self.tree, self.closures, self.elements = drawn.tree, drawn.closures, drawn.elements
        self.looks, self.said = drawn.looks
        self.points = self._points()
        self.size = _usual_length(self.tree, self.points)

    def scene(self) -> Scene:
        tree, looks, size = self.tree, self.looks, self.size
        notes = list(self.said)
        bodies = []
        for i, body in enumerate(tree.bodies):
            shapes = [*looks.get(body.name, ()), *self._wheels(body.name, bool(looks.get(body.name)))]
            bodies.append(Body(body.name, shapes or _drawn(tree, i, self.points[i], size)))
        if not all(looks.get(body.name) for body in tree.bodies):
            notes.append("Bodies without meshes are drawn from their joints and inertias (uniform cuboids).")
        weight = float(np.linalg.norm(tree.gravity))
        contacts = self._contacts()
        return Scene(
            bodies,
            TreePoses(tree),
            still=looks.get(None, []) or self._base(size),
            ties=self._ties(),
            trails=[*contacts, *_ends(tree)],
            up=-np.asarray(tree.gravity) / weight if weight > 0.0 else (0.0, 0.0, 1.0),
            floor=0.0 if contacts else None,
            notes=notes,
        )

    def _points(self) -> list[list[Array]]:
        """Where on every body something hangs or closes, in its axes."""
        tree = self.tree
        found: list[list[Array]] = [[] for _ in tree.bodies]
        for i, k in enumerate(tree.parents):
            if k >= 0:
                found[k].append(np.asarray(tree.bodies[i].position))
        frames = [f for c in self.closures if not c.couples for f in (c.first, c.second)]
        frames += [f for e in self.elements if isinstance(e, OnBodies) for f in (e.first, e.second)]
        for frame in frames:
            if frame.body is not None:
                found[tree.body_index(frame.body)].append(np.asarray(frame.position))
        return found

    def _wheels(self, name: str, has_mesh: bool) -> list[Any]:
        found: list[Any] = []
        for closure in self.closures:
            if has_mesh or closure.second.body != name:
                continue
            frame = closure.second
            if closure.kind == "wheel":
                radius, section = _rim(closure)
                found += [s.moved(frame.position, frame.rotation) for s in spoked_wheel(radius, section)]
            elif closure.kind == "ball" and (radius := _ball(closure)) > 0.0:
                found.append(ellipsoid([radius] * 3).moved(frame.position))
        i = self.tree.body_index(name)
        others = [p for p in self.points[i] if np.linalg.norm(p) > 0.0]
        if found and others and not self.tree.bodies[i].inertia.is_zero:
            found += _drawn(self.tree, i, others, self.size)
        return found

    def _contacts(self) -> list[Trail]:
        found = []
        for closure in self.closures:
            frame, normal = closure.second, tuple(closure.first.rotation[:, 2].tolist())
            if closure.first.body is not None or frame.body is None:
                continue
            hub = tuple(np.asarray(frame.position).tolist())
            if closure.kind == "wheel":
                radius, section = _rim(closure)
                axis = tuple(frame.rotation[:, 2].tolist())
                point: Any = contact_of_wheel(radius, section, hub, axis, normal)
            elif closure.kind == "ball":
                point = contact_of_ball(_ball(closure), hub, normal)
            elif closure.kind == "skate":
                point = frame.position
            else:
                continue
            found.append(Trail(frame.body, point, f"contact of {closure.name}", contact=True))
        return found

    def _ties(self) -> list[Tie]:
        """Distances and springs between points."""
        found = [
            Tie(c.first.body, c.second.body, c.first.position, c.second.position)
            for c in self.closures
            if c.kind == "distance"
        ]
        for e in self.elements:
            if isinstance(e, OnEquation) and e.equation.kind == DISTANCE:
                found.append(Tie(e.first, e.second, e.equation.p, e.equation.q))
        return found

    def _base(self, size: float) -> list[Surface]:
        """A small stand below every joint on the base, and where loops close on it."""
        tree, found = self.tree, []
        weight = float(np.linalg.norm(tree.gravity))
        down = np.asarray(tree.gravity) / weight if weight > 0.0 else np.array([0.0, 0.0, -1.0])
        places = [np.asarray(tree.bodies[i].position) for i in tree.roots if _holds(tree, i)]
        pins = ("revolute", "spherical", "universal", "cylindrical")
        places += [
            np.asarray(f.position)
            for c in self.closures
            if c.kind in pins
            for f in (c.first, c.second)
            if f.body is None
        ]
        for place in places:
            found.append(cone(2.4 * ROD * size, 3.2 * ROD * size, _BASE).moved(place, along(down)))
        return found


def looks_of(tree: Tree) -> tuple[dict[str | None, list[Any]], tuple[str, ...]]:
    """Meshes of the bodies, together of no more than `TRIANGLES`, and what is to be said of them."""
    found: dict[str | None, list[Any]] = {}
    for visual in tree.visuals:
        found.setdefault(visual.body, []).extend(visual.drawn())
    count = sum(len(s.faces) for shapes in found.values() for s in shapes if isinstance(s, Surface))
    if count <= TRIANGLES:
        return {name: [_smooth(s) for s in shapes] for name, shapes in found.items()}, ()
    made = {name: [_smooth(s, TRIANGLES / count) for s in shapes] for name, shapes in found.items()}
    kept = sum(len(s.faces) for shapes in made.values() for s in shapes if isinstance(s, Surface))
    return made, (f"The meshes are drawn with {kept} of their {count} triangles.",)


def _holds(tree: Tree, i: int) -> bool:
    """Whether the joint of a body on the base keeps its place."""
    return all(isinstance(e, (Turn, Ball)) for e in tree.bodies[i].joint.elements)


def _smooth(shape: Any, part: float = 1.0) -> Any:
    """A surface with about this part of its triangles, and its edges."""
    if not isinstance(shape, Surface):
        return shape
    return creased(coarser(shape, part * len(shape.faces)) if part < 1.0 else shape)


def _usual_length(tree: Tree, points: Sequence[Sequence[Array]]) -> float:
    """The middle one of the distances between joints; else of the centres of mass, or of the inertias."""
    lengths = [float(np.linalg.norm(p)) for body in points for p in body]
    found = [x for x in lengths if x > 0.0]
    found = found or [2.0 * x for b in tree.bodies if (x := float(np.linalg.norm(b.inertia.com))) > 0.0]
    radii = [
        np.sqrt(np.trace(b.inertia.tensor_about_com) / b.inertia.mass) for b in tree.bodies if b.inertia.mass > 0.0
    ]
    found = found or [2.0 * float(x) for x in radii if x > 0.0]
    return float(np.median(found)) if found else 1.0


def _drawn(tree: Tree, i: int, points: Sequence[Array], size: float) -> list[Any]:
    """A body from its joint, the points on it and its inertia."""
    body, r = tree.bodies[i], ROD * size
    found: list[Any] = [_mark(e, r) for e in body.joint.elements if isinstance(e, (Turn, Ball, Slide))]
    arms = [p for p in points if np.linalg.norm(p) > r]
    inertia = body.inertia
    com = np.asarray(inertia.com)
    solid: list[Surface] = []
    if inertia.mass > 0.0:
        moments = np.linalg.eigvalsh(inertia.tensor_about_com)
        if moments[2] > 1e-9 * inertia.mass * size**2:
            solid = [cuboid(inertia.mass, inertia.tensor_about_com, 1.4 * r).moved(com)]
        else:
            solid = [ellipsoid([2.2 * r] * 3).moved(com)]
        thin = moments[2] > 0.0 and moments[0] < 1e-3 * moments[2]
        if arms and not thin and moments[2] > 0.0:
            solid = [replace(s, opacity=_SPRING) for s in solid]
        if not arms and np.linalg.norm(com) > r and not thin:
            arms = [com]
    return [*found, *(rod((0.0, 0.0, 0.0), p, r) for p in arms), *solid]


def _mark(element: Any, r: float) -> Surface:
    if isinstance(element, Turn):
        return cylinder(1.5 * r, 3.4 * r, _JOINT).moved(rotation=along(element.axis))
    if isinstance(element, Ball):
        return ellipsoid([1.7 * r] * 3, _JOINT)
    return box((2.6 * r, 2.6 * r, 3.4 * r), _JOINT).moved(rotation=along(element.axis))


def _ends(tree: Tree) -> list[Trail]:
    """The paths of the centres of mass of the last bodies; of a single free body, of its own."""
    last = [i for i, below in enumerate(tree.children) if not below]
    return [Trail(tree.bodies[i].name, tree.bodies[i].inertia.com, tree.bodies[i].name) for i in last[:TRAILS]]


def _rim(closure: Closure) -> tuple[float, float]:
    """Radius and section of a `wheel`."""
    radius = float(np.linalg.norm(closure.equations[0].b))
    height = [e for e in closure.equations if e.label == "height"]
    normal = closure.first.rotation[:, 2]
    return radius, max((float((e.p - closure.first.position) @ normal) for e in height), default=0.0)


def _ball(closure: Closure) -> float:
    """Radius of a `ball`."""
    for equation in closure.equations:
        if equation.kind == SPHERE:
            return float(np.linalg.norm(equation.b))
    return float((closure.equations[0].p - closure.first.position) @ closure.first.rotation[:, 2])


# --- bodies one by one ------------------------------------------------------------------------------------------------


def centred(drawn: TreeScene, heights: Array | None) -> Scene:
    """The scene of states with the centre of mass and the attitude of every body; in the plane, at these heights."""
    return replace(scene(drawn), poses=CentredPoses(drawn.tree, heights))


@dataclass(frozen=True, eq=False)
class CentredPoses:
    tree: Tree
    heights: Array | None

    def __call__(self, t: Array, y: Array) -> tuple[Array, Array]:
        from integrators.scenes.standard import turn_about_z, unit
        from liegroup.rotations import matrix_from_quaternion_wxyz

        count, width = len(self.tree), 7 if self.heights is None else 3
        part = y[:, : count * width].reshape(len(y), count, width)
        centre = np.zeros((len(y), count, 3))
        if self.heights is not None:
            centre[..., :2], centre[..., 2], R = part[..., :2], self.heights, turn_about_z(part[..., 2])
        else:
            centre[:], R = part[..., :3], matrix_from_quaternion_wxyz(unit(part[..., 3:]))
        com = np.stack([b.inertia.com for b in self.tree.bodies])
        return centre - np.einsum("knij,nj->kni", R, com), R


# --- one configuration ------------------------------------------------------------------------------------------------


def configurations(drawn: TreeScene, q: ArrayLike, path: str | os.PathLike[str] | None, **options: Any) -> Any:
    """Configurations (nq,) or (k, nq) as a page or a file; the frames are one second apart."""
    tree = drawn.tree
    rows = np.atleast_2d(configuration(tree, q))
    if rows.ndim != 2:
        raise ValueError(f"q: shape {rows.shape}, expected ({tree.nq},) or (k, {tree.nq})")
    film = record(drawn, np.arange(len(rows), dtype=float), rows, frames=len(rows), title=tree.name)
    return animate(film, path, **options)


FRAME = 0.1
"""Length of the axes of a frame in a picture, relative to the diagonal of the box around the bodies."""
_AXES, _PATH = ("#d62728", "#2ca02c", "#1f77b4"), "#d55e00"


def picture(
    drawn: TreeScene,
    q: ArrayLike,
    ax: Any = None,
    *,
    frames: Sequence[str | Frame] = (),
    paths: Sequence[ArrayLike] = (),
) -> Any:
    """A configuration (nq,) in matplotlib axes, with the axes of frames (x red, y green, z blue) and paths (k, 3)."""
    tree = drawn.tree
    q = configuration(tree, q)
    if q.ndim != 1:
        raise ValueError(f"q: shape {q.shape}, expected ({tree.nq},): one configuration")
    film = record(drawn, np.zeros(1), q[None], title=tree.name)
    length = FRAME * float(np.linalg.norm(film.high - film.low))
    lines = [(_path(path), _PATH) for path in sequence(paths, "paths", "arrays (k, 3) of points in the world")]
    for frame in sequence(frames, "frames", "names of frames, or frames"):
        x, R = frame_pose(tree, normalised(tree, q[None])[0], frame)
        lines += [(np.stack([x, x + length * R[:, k]]), _AXES[k]) for k in range(3)]
    return still(film, ax, lines)


def _path(path: ArrayLike) -> Array:
    points = reals(path, "paths")
    if points.ndim != 2 or points.shape[-1] != 3 or not len(points) or not np.isfinite(points).all():
        raise ValueError(f"paths: an array of shape {points.shape}, expected finite points (k, 3) in the world, m")
    return points
