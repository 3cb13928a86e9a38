"""Files of meshes for elastic networks, by meshio: Gmsh, VTK, Abaqus, XDMF, …"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.errors import ModelError

CELLS = {"line": 2, "triangle": 3, "tetra": 4}
"""Kinds of cells that elements are made of, with their nodes."""
IGNORED = ("vertex",)


@dataclass(frozen=True)
class Mesh:
    """The nodes and cells of a file, without the points that no cell uses.

    Attributes
    ----------
    points : array (n, 3)
        Places of the nodes, m.
    lines : array (m, 2) of int
        Nodes of the cells, for `Springs` and `Cables` (whole numbers).
    triangles : array (m, 3) of int
        For `Triangles`.
    tetrahedra : array (m, 4) of int
        For `Tetrahedra`.
    sets : dict of str to array (k,) of int
        Nodes of the named parts of a Gmsh file (physical groups).

    Examples
    --------
    What `mechanics.models.load_mesh` returns:

    >>> import numpy as np
    >>> from mechanics.models import Mesh
    >>> none = np.zeros((0, 2), dtype=int)
    >>> Mesh(np.eye(3), none, np.array([[0, 1, 2]]), none, {}).triangles.tolist()
    [[0, 1, 2]]
    """

    points: NDArray[np.float64]
    lines: NDArray[np.int64]
    triangles: NDArray[np.int64]
    tetrahedra: NDArray[np.int64]
    sets: dict[str, NDArray[np.int64]]


def read_mesh(path: Path, scale: float) -> Mesh:
    """The mesh of a file; ModelError for what no element can be made of."""
    try:
        import meshio
    except ImportError:
        raise ModelError(
            "mesh files", "are read by the package meshio, which is not installed", "pip install 'liemech[meshes]'"
        ) from None
    try:
        with redirect_stdout(io.StringIO()):  # it prints a line
            found = meshio.read(path)
    except (Exception, SystemExit) as error:  # whatever a broken file does to one of meshio's readers
        says = str(error).strip() or "it cannot be read"
        raise ModelError(str(path), f"is no mesh that meshio reads ({says})", "give a Gmsh, VTK or XDMF file") from None
    kinds = {block.type for block in found.cells}
    if wrong := sorted(kinds - set(CELLS) - set(IGNORED)):
        raise ModelError(
            str(path), f"has cells of the kind {wrong[0]!r}", f"mesh it in cells of the kinds {', '.join(CELLS)}"
        )
    cells = {kind: np.asarray(found.get_cells_type(kind), dtype=np.int64).reshape(-1, k) for kind, k in CELLS.items()}
    for kind, nodes in cells.items():
        same, counts = np.unique(np.sort(nodes, axis=1), axis=0, return_counts=True)
        if (counts > 1).any():
            raise ModelError(str(path), f"has the {kind} {same[counts > 1][0].tolist()} twice", "take one out")
    used = np.unique(np.concatenate([nodes.ravel() for nodes in cells.values()]))
    if not len(used):
        raise ModelError(str(path), "has no cells", f"give a mesh of {', '.join(CELLS)}")
    number = np.full(len(found.points), -1)
    number[used] = np.arange(len(used))
    places = np.zeros((len(used), 3))
    places[:, : found.points.shape[1]] = scale * found.points[used]
    lines, triangles, tetrahedra = (number[cells[kind]] for kind in CELLS)
    return Mesh(places, lines, triangles, tetrahedra, _sets(found, number))


def _sets(found: Any, number: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Nodes of the physical groups of a Gmsh file: cells have a number, names a number and a dimension."""
    sets: dict[str, NDArray[np.int64]] = {}
    groups = found.cell_data.get("gmsh:physical", [])
    for name, (tag, dimension) in found.field_data.items():
        nodes = [
            block.data[np.asarray(of_cells) == tag].ravel()
            for block, of_cells in zip(found.cells, groups, strict=True)
            if block.dim == dimension
        ]
        inside = number[np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *nodes]))]
        sets[name] = inside[inside >= 0]
    return sets
