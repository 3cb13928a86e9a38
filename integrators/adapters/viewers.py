"""Films in the viewers that people have: viser, meshcat, rerun, MuJoCo's.

Each takes what has a `Film` (a solution, or a film) and needs its own package; all show the same bodies in the same
poses of the same saved states.  Another viewer needs no more than this module does: ``film.scene.bodies`` with their
shapes (triangles and lines in body axes), ``film.positions`` and ``film.quaternions_wxyz``, frame by frame.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.scenes import Film, Surface, film_of
from integrators.scenes.gltf import PALETTE, colour_of
from integrators.scenes.scene import Scene
from integrators.scenes.shapes import Shape
from liegroup.modules import listing

__all__ = ["to_meshcat", "to_mujoco", "to_rerun", "to_viser"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
_STILL = "#9aa0a8"


def to_viser(solution: Any, server: Any = None) -> Any:
    """A viser server (``pip install viser``) with the bodies and a slider of the frames; its page is at the address
    that it prints.

    Parameters
    ----------
    solution : Solution or Film
    server : viser.ViserServer, optional
        One that runs already; default a new one.

    Returns
    -------
    viser.ViserServer
    """
    film, viser = film_of(solution), _package("viser")
    server = viser.ViserServer() if server is None else server
    server.scene.set_up_direction(tuple(float(x) for x in film.scene.up))
    handles = []
    for name, shapes, colour in _parts(film.scene):
        handles.append(server.scene.add_frame(f"/{name}", show_axes=False))
        for k, shape in enumerate(shapes):
            rgb = tuple(round(255 * float(x)) for x in colour_of(shape.colour or colour))
            if isinstance(shape, Surface):
                server.scene.add_mesh_simple(
                    f"/{name}/{k}", np.float32(shape.vertices), np.uint32(shape.faces), color=rgb, opacity=shape.opacity
                )
            else:
                segments = np.stack([shape.points[:-1], shape.points[1:]], axis=1)
                server.scene.add_line_segments(f"/{name}/{k}", np.float32(segments), colors=rgb)

    def seek(frame: int) -> None:
        for k, handle in enumerate(handles[: len(film.scene.bodies)]):
            handle.position, handle.wxyz = film.positions[frame, k], film.quaternions_wxyz[frame, k]

    seek(0)
    if len(film.t) > 1:
        slider = server.gui.add_slider("frame", min=0, max=len(film.t) - 1, step=1, initial_value=0)
        slider.on_update(lambda _: seek(int(slider.value)))
    return server


def to_meshcat(solution: Any, viewer: Any = None, rate: int = 30) -> Any:
    """A meshcat viewer (``pip install meshcat``) with the bodies and their motion as its animation.

    Parameters
    ----------
    solution : Solution or Film
    viewer : meshcat.Visualizer, optional
        One that runs already; default a new one.
    rate : int
        Frames per second at which the film plays; its frames are taken one after the other.

    Returns
    -------
    meshcat.Visualizer
    """
    film = film_of(solution)
    meshcat, geometry, animation = (_package(f"meshcat{room}") for room in ("", ".geometry", ".animation"))
    viewer = meshcat.Visualizer() if viewer is None else viewer
    for name, shapes, colour in _parts(film.scene):
        for k, shape in enumerate(shapes):
            number = int((shape.colour or colour)[1:], 16)
            if isinstance(shape, Surface):
                material = geometry.MeshLambertMaterial(
                    color=number, opacity=shape.opacity, transparent=shape.opacity < 1.0
                )
                mesh = geometry.TriangularMeshGeometry(np.float32(shape.vertices), np.uint32(shape.faces))
                viewer[name][str(k)].set_object(mesh, material)
            else:
                line = geometry.PointsGeometry(np.float32(shape.points.T))
                viewer[name][str(k)].set_object(geometry.Line(line, geometry.LineBasicMaterial(color=number)))
    for k, body in enumerate(film.scene.bodies):
        viewer[body.name].set_transform(_matrices(film, k)[0])
    if len(film.t) > 1:
        played = animation.Animation(default_framerate=rate)
        poses = [_matrices(film, k) for k in range(len(film.scene.bodies))]
        for frame in range(len(film.t)):
            with played.at_frame(viewer, frame) as at:
                for body, matrices in zip(film.scene.bodies, poses, strict=True):
                    at[body.name].set_transform(matrices[frame])
        viewer.set_animation(played)
    return viewer


def to_rerun(solution: Any, recording: Any = None) -> Any:
    """A rerun recording (``pip install rerun-sdk``): bodies, poses and watched numbers on the timeline ``time``, s.

    Parameters
    ----------
    solution : Solution or Film
    recording : rerun.RecordingStream, optional
        Default a new one; ``.save(path)`` before this call writes a file as it goes, ``.spawn()`` opens the viewer.

    Returns
    -------
    rerun.RecordingStream
    """
    film, rr = film_of(solution), _package("rerun")
    recording = rr.RecordingStream(film.title.replace(" ", "_") or "liemech") if recording is None else recording
    for name, shapes, colour in _parts(film.scene):
        for k, shape in enumerate(shapes):
            rgb = np.round(255 * colour_of(shape.colour or colour)).astype(np.uint8)
            if isinstance(shape, Surface):
                mesh = rr.Mesh3D(
                    vertex_positions=np.float32(shape.vertices),
                    triangle_indices=np.uint32(shape.faces),
                    albedo_factor=[*rgb, round(255 * shape.opacity)],
                )
                recording.log(f"world/{name}/{k}", mesh, static=True)
            else:
                recording.log(f"world/{name}/{k}", rr.LineStrips3D([shape.points], colors=[rgb]), static=True)
    for frame, time in enumerate(film.t):
        recording.set_time("time", duration=float(time))
        for k, body in enumerate(film.scene.bodies):
            xyzw = film.quaternions_wxyz[frame, k, [1, 2, 3, 0]]
            pose = rr.Transform3D(translation=film.positions[frame, k], quaternion=rr.Quaternion(xyzw=xyzw))
            recording.log(f"world/{body.name}", pose)
        for curve in film.curves:
            recording.log(f"change/{curve.name}", rr.Scalars(float(curve.change[frame])))
    return recording


def to_mujoco(solution: Any) -> tuple[Any, Any, Callable[[int], None]]:
    """A MuJoCo model (``pip install mujoco``) whose bodies are moved from outside, its data, and ``seek(frame)``.

    For MuJoCo's own viewer, which plays the film::

        model, data, seek = to_mujoco(solution)
        with mujoco.viewer.launch_passive(model, data) as viewer:
            for frame in range(count):
                seek(frame)
                viewer.sync()

    Lines are left out; flat and open surfaces are drawn as shells.
    """
    film, mujoco = film_of(solution), _package("mujoco")
    spec = mujoco.MjSpec()
    spec.modelname = film.title or "film"
    spec.worldbody.add_light(pos=[0.0, 0.0, 10.0], dir=[0.0, 0.0, -1.0])
    reach = 2.0 * float(np.linalg.norm(film.high - film.low))
    low = float(film.low[2]) if film.scene.floor is None else film.scene.floor
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[reach, reach, 0.1], pos=[0.0, 0.0, low], rgba=[0.9, 0.9, 0.88, 1.0]
    )
    for name, shapes, colour in _parts(film.scene):
        moved = name != _WORLD
        body = spec.worldbody.add_body(name=name, mocap=True) if moved else spec.worldbody
        for k, shape in enumerate(shapes):
            if not isinstance(shape, Surface):
                continue
            mesh = spec.add_mesh(name=f"{name} {k}")
            mesh.uservert, mesh.userface = shape.vertices.ravel(), shape.faces.ravel()
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            rgba = [*colour_of(shape.colour or colour), shape.opacity]
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name, rgba=rgba, contype=0, conaffinity=0)
    model = spec.compile()
    data = mujoco.MjData(model)
    places = [int(model.body(b.name).mocapid[0]) for b in film.scene.bodies]

    def seek(frame: int) -> None:
        data.mocap_pos[places], data.mocap_quat[places] = film.positions[frame], film.quaternions_wxyz[frame]
        data.time = float(film.t[frame])
        mujoco.mj_forward(model, data)

    seek(0)
    return model, data, seek


_WORLD = "still"


def _parts(scene: Scene) -> Iterator[tuple[str, list[Shape], str]]:
    """Name, shapes and colour of every body, and of what does not move."""
    for k, body in enumerate(scene.bodies):
        yield body.name, list(body.shapes), body.colour or PALETTE[k % len(PALETTE)]
    if scene.still:
        yield _WORLD, list(scene.still), _STILL


def _matrices(film: Film, body: int) -> Array:
    """Poses of a body as homogeneous matrices (k, 4, 4)."""
    made = np.tile(np.eye(4), (len(film.t), 1, 1))
    made[:, :3, :3], made[:, :3, 3] = film.rotations[:, body], film.positions[:, body]
    return made


def _package(name: str) -> Any:
    top = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        install = {"rerun": "rerun-sdk"}.get(top, top)
        raise ModuleNotFoundError(f"{error}; pip install {install}", name=error.name) from None
