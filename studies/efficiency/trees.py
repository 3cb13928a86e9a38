"""The trees of the region diagrams: chains of equal joints on one root body."""

from __future__ import annotations

import numpy as np

from mechanics import Body, Inertia, Tree
from mechanics.joints import Ball, Compound, Free, Joint, Revolute, Slide, Spherical, Universal
from mechanics.reference.operation_counts import star

JOINTS: dict[int, Joint] = {
    1: Revolute((0.0, 0.6, 0.8)),
    2: Universal(),
    3: Spherical(),
    4: Compound((Slide((0, 0, 1)), Ball())),
    5: Compound((Slide((1, 0, 0)), Slide((0, 0, 1)), Ball())),
    6: Free(),
}
"""One joint for every number of degrees of freedom."""
_SOLID = Inertia.about_com(1.0, (0.1, 0.02, 0.15), np.diag([0.02, 0.03, 0.025]))


def branched(branches: int, length: int, freedoms: int, free_base: bool) -> Tree:
    """`branches` chains of `length` bodies on one root body; on a free base the root body floats."""
    parents, _ = star(branches, length, freedoms)
    return Tree(
        [
            Body(
                f"b{i}",
                Free() if free_base and k < 0 else JOINTS[freedoms],
                None if k < 0 else f"b{k}",
                (0.2, 0.1, 0.3),
                inertia=_SOLID,
            )
            for i, k in enumerate(parents)
        ],
        f"{branches} chains of {length}",
    )
