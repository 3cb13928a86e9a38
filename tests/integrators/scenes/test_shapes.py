"""Surfaces are closed, look outwards, and have the volume and inertia of what they stand for."""

import numpy as np
import pytest

from integrators.scenes import (
    Line,
    Surface,
    box,
    coarser,
    cone,
    creased,
    cuboid,
    cylinder,
    ellipsoid,
    joined,
    marked_ball,
    marked_disk,
    rod,
    torus,
)


def volume(surface):
    """∮ x·n/3 dA, positive where the triangles look outwards."""
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    return np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6.0


def is_closed(surface):
    """Every edge is run through once in either direction, vertices at one place being one."""
    places, number = np.unique(np.round(surface.vertices, 9), axis=0, return_inverse=True)
    faces = number.reshape(-1)[surface.faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    forward = sorted(map(tuple, edges.tolist()))
    return forward == sorted((b, a) for a, b in forward) and len(places) > 3


SOLIDS = {
    "box": (box((1.0, 2.0, 3.0)), 6.0, 1e-12),
    "cylinder": (cylinder(0.5, 2.0), np.pi * 0.5, 0.01),
    "ellipsoid": (ellipsoid((1.0, 2.0, 3.0)), 8.0 * np.pi, 0.03),
    "cone": (cone(1.0, 3.0), np.pi, 0.01),
    "torus": (torus(2.0, 0.5), np.pi**2, 0.04),
    "rod": (rod((0.1, 0.2, 0.3), (0.1, 2.2, 0.3), 0.25), np.pi * 0.0625 * 2 + 4 / 3 * np.pi * 0.25**3, 0.05),
    "moved": (box((1.0, 2.0, 3.0)).moved((5.0, 0.0, 1.0), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]), 6.0, 1e-12),
    "marked ball": (joined(marked_ball((1.0, 1.0, 1.0))), 4.0 / 3.0 * np.pi, 0.03),
    "marked disk": (joined(marked_disk(1.0, 0.2)), 0.2 * np.pi, 0.01),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_look_outwards(name):
    surface, exact, relative = SOLIDS[name]
    assert is_closed(surface)
    assert volume(surface) == pytest.approx(exact, rel=relative)


def test_the_cuboid_has_the_inertia_it_stands_for():
    """Of the edges (a, b, c) of the surface J = m/12 diag(b² + c², …)."""
    edges, mass = np.array([0.3, 1.1, 0.6]), 2.5
    J = (
        mass
        / 12.0
        * np.diag([edges[1] ** 2 + edges[2] ** 2, edges[0] ** 2 + edges[2] ** 2, edges[0] ** 2 + edges[1] ** 2])
    )
    R = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    found = cuboid(mass, R @ J @ R.T)
    local = found.vertices @ R
    assert np.ptp(local, axis=0) == pytest.approx(edges)
    assert is_closed(found)
    assert volume(found) == pytest.approx(np.prod(edges))


def test_creases_keep_edges_apart_and_curves_together():
    cube = box((1.0, 1.0, 1.0))
    places, number = np.unique(cube.vertices, axis=0, return_inverse=True)
    welded = Surface(places, number.reshape(-1)[cube.faces])
    assert len(welded.vertices) == 8
    assert len(creased(welded).vertices) == 24
    ball = ellipsoid((1.0, 1.0, 1.0))
    assert len(creased(ball).vertices) == len(np.unique(ball.vertices, axis=0))
    assert volume(creased(welded)) == pytest.approx(1.0)


def test_fine_surfaces_become_coarser_and_keep_their_shape():
    pytest.importorskip("fast_simplification")
    ball = ellipsoid((1.0, 1.0, 1.0))
    few = coarser(ball, 300)
    assert len(few.faces) <= 320 < len(ball.faces)
    assert volume(few) == pytest.approx(4.0 / 3.0 * np.pi, rel=0.08)
    assert coarser(ball, 1e6) is ball


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Surface([[0, 0, 0]], [[0, 0, 1]]), "faces: shape"),
        (lambda: Surface([[0, 0]], [[0, 0, 0]]), "vertices: shape"),
        (lambda: Surface([[0, 0, np.nan]], [[0, 0, 0]]), "finite"),
        (lambda: Line([[0, 0]]), "points: shape"),
    ],
)
def test_what_is_no_shape_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
