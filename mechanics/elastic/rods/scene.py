"""How a rod is drawn: a tube that follows its sections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.elastic.rods.layout import Packed
from mechanics.elastic.rods.rod import Rod

Array = NDArray[np.float64]
_COLOURS = ("#3d6f99", "#c98a3a")


def rod_scene(rod: Rod, packed: Packed) -> Any:
    """Makes the scene of a motion (t, y): of every node the halves of its elements, with a stripe along e₂."""
    return _Maker(rod, packed)


class _Maker:
    def __init__(self, rod: Rod, packed: Packed) -> None:
        self.rod, self.packed = rod, packed

    def __call__(self, t: Array, y: Array) -> Any:
        from integrators.scenes import Body, Scene, Trail
        from integrators.scenes import rod as tube

        l, n = self.rod.elements[:, 0], self.rod.n_elements
        bodies = []
        for i in range(n + 1):
            section = self.rod.sections[min(i, n - 1)]
            true = 2.0 * (section.inertia[1] / section.mass) ** 0.5
            radius = min(max(true, 0.004 * self.rod.length), 0.4 * float(l.min()))
            back, ahead = (-0.5 * l[i - 1] if i else 0.0), (0.5 * l[i] if i < n else 0.0)
            shape = tube((back, 0.0, 0.0), (ahead, 0.0, 0.0), radius, _COLOURS[i % 2])
            stripe = tube((back, radius, 0.0), (ahead, radius, 0.0), 0.25 * radius, "#2f343b")
            bodies.append(Body(f"node {i}", [shape, stripe]))
        ends = [Trail(f"node {i}", name=f"node {i}") for i in (0, n) if i not in self.rod.supports]
        up = -np.asarray(self.rod.gravity)
        return Scene(
            bodies,
            self.poses,
            trails=ends,
            up=up / np.linalg.norm(up) if up.any() else (0.0, 0.0, 1.0),
            notes=("The thickness is that of a round section of the same inertia, at least 0.8 % of the length.",),
        )

    def poses(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Origins and rotations of the nodes."""
        from liegroup.rotations import matrix_from_quaternion_wxyz
        from mechanics.elastic.rods.problem import node_poses

        found = node_poses(self.packed, t, y)
        q = found[..., 3:] / np.linalg.norm(found[..., 3:], axis=-1, keepdims=True)
        return found[..., :3], np.asarray(matrix_from_quaternion_wxyz(q))
