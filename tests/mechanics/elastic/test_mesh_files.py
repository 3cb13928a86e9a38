"""Meshes from files."""

from __future__ import annotations

from pathlib import Path

import meshio
import numpy as np
import pytest

from mechanics.elastic import NeoHookean, Network, Tetrahedra
from mechanics.errors import ModelError
from mechanics.models import load_mesh

POINTS = np.array([[0, 0, 0], [9, 9, 9], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
TETRAHEDRA = [[0, 2, 3, 4], [2, 3, 4, 5]]


@pytest.mark.parametrize("ending", ["vtk", "vtu", "inp"])
def test_a_mesh_of_a_file_is_a_solid(tmp_path: Path, ending: str) -> None:
    """Points that no cell uses are left out; millimetres become metres."""
    file = tmp_path / f"solid.{ending}"
    cells = [("tetra", TETRAHEDRA), ("triangle", [[0, 2, 3]])]
    meshio.Mesh(POINTS, cells).write(file)
    mesh = load_mesh(file, 1e-3)
    assert mesh.points.shape == (5, 3)
    assert mesh.tetrahedra.tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    solid = Tetrahedra(mesh.tetrahedra, NeoHookean(1e6, 0.4))
    network = Network(mesh.points, solid.lumped_masses(mesh.points, 1000.0), [solid], fixed=[0])
    assert network.masses.sum() == pytest.approx(1000.0 * 1e-9 * (1 / 6 + 1 / 3), rel=1e-12)


def test_named_parts_of_gmsh_files_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "solid.msh"
    file.write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"clamped\"\n3 2 \"solid\"\n$EndPhysicalNames\n"
        "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
        "$Elements\n2\n1 2 2 1 1 1 2 3\n2 4 2 2 1 1 2 3 4\n$EndElements\n"
    )  # fmt: skip
    mesh = load_mesh(file)
    assert sorted(mesh.sets["clamped"].tolist()) == [0, 1, 2]
    assert sorted(mesh.sets["solid"].tolist()) == [0, 1, 2, 3]


def test_what_no_element_can_be_made_of_is_named(tmp_path: Path) -> None:
    square, twice, broken = (tmp_path / f"{name}.vtk" for name in ("square", "twice", "broken"))
    meshio.Mesh(POINTS, [("quad", [[0, 1, 2, 3]])]).write(square)
    meshio.Mesh(POINTS, [("triangle", [[0, 2, 3], [3, 0, 2]])]).write(twice)
    broken.write_text("no mesh")
    for file, message in (
        (square, "cells of the kind 'quad'"),
        (twice, "twice"),
        (broken, "no mesh that meshio reads"),
    ):
        with pytest.raises(ModelError, match=message):
            load_mesh(file)
