"""Networks and rods on the bodies of a mechanism: their nodes become bodies of its tree, their elements force elements.

A node that an owner has is fixed in the owner's body, with its mass; one that is held is a point of the base; every
other node is a body of its own on the base, that slides along three axes (a point) or is free (a section of a rod).
What was a canonical problem of its own is then a part of the mechanism's: every method, closure and force of mechanisms
goes with it, and momenta and energy are those of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import integer, of_kind
from mechanics.errors import ModelError
from mechanics.forces import Element
from mechanics.joints import Compound, Fixed, Joint, Slide
from mechanics.kinematics import frame_pose
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree

Array = NDArray[np.float64]
SLIDES = Compound((Slide((1.0, 0.0, 0.0)), Slide((0.0, 1.0, 0.0)), Slide((0.0, 0.0, 1.0))))
"""The joint of a point."""
_MISSED = 1e-6
"""How far an owner's frame may be from its node, of the size of the network (and, of the axes of a rod, rad)."""


def attached(
    name: str,
    mechanism: Tree | Mechanism,
    owners: Mapping[int, Frame],
    joints: Sequence[Joint | None],
    places: tuple[Array, Array],
    inertias: Sequence[Inertia],
    gravity: ArrayLike,
    elements: Callable[[Sequence[Frame]], list[list[Element]]],
) -> Mechanism:
    """The mechanism with the nodes as bodies "name k" (joints: None where a node is held; places: positions (n, 3) and
    axes (n, 3, 3) at home), and the elements that `elements(frames of the nodes)` gives.
    """
    of_kind(mechanism, (Tree, Mechanism), "mechanism", "a Tree or a Mechanism")
    base = Mechanism(mechanism) if isinstance(mechanism, Tree) else mechanism
    tree, (positions, axes) = base.tree, places
    of_kind(owners, Mapping, "owners", "a mapping of nodes to frames")
    held = {_node(k, len(joints), name): frame for k, frame in owners.items()}
    if np.any(tree.gravity != np.asarray(gravity)):
        raise ModelError(
            f"{name}: gravity", f"is {np.asarray(gravity).tolist()}, that of the tree {tree.gravity.tolist()}",
            "give both the same",
        )  # fmt: skip
    bodies, frames = [], []
    for k, (joint, inertia) in enumerate(zip(joints, inertias, strict=True)):
        called = f"{name} {k}"
        if k in held:
            frame = held[k]
            _check_place(base, called, frame, positions, axes[k] if _turns(joints) else None, k)
            if frame.body is not None:
                bodies.append(Body(called, Fixed(), frame.body, frame.position, frame.rotation, inertia))
            frames.append(frame if frame.body is None else Frame(called))
        elif joint is None:
            frames.append(Frame(None, positions[k], axes[k]))
        else:
            bodies.append(Body(called, joint, None, positions[k], axes[k], inertia))
            frames.append(Frame(called))
    grown = Tree(
        (*tree.bodies, *bodies), tree.name, tree.gravity, strict=False, notes=tree.notes, frames=tree.frames,
        visuals=tree.visuals,
    )  # fmt: skip
    home = np.concatenate([base.home, grown.neutral()[tree.nq :]])
    made = [list(base.elements), *elements(frames)]
    return Mechanism(grown, base.equations.closures, home, made, base.mobility.rank, base.name)


def _turns(joints: Sequence[Joint | None]) -> bool:
    """Whether the nodes have axes."""
    return any(joint is not None and joint is not SLIDES for joint in joints)


def _node(k: Any, count: int, name: str) -> int:
    i = integer(k, "owners", -(2**31))
    if not -count <= i < count:
        raise ModelError(f"{name}: owners", f"name the node {i}", f"give numbers from 0 to {count - 1}")
    return i % count


def _check_place(base: Mechanism, called: str, frame: Any, positions: Array, axes: Array | None, k: int) -> None:
    """ModelError for a frame that is elsewhere than its node at home."""
    of_kind(frame, Frame, "owners", "a mapping of nodes to frames")
    x, R = frame_pose(base, base.home, frame)
    size = max(float(np.ptp(positions, axis=0).max()), 1e-300)
    if (off := float(np.linalg.norm(x - positions[k]))) > _MISSED * size:
        raise ModelError(
            called, f"is {off:.3g} m from the frame of its owner at home, {x.tolist()}",
            "place the nodes where the owners are at home",
        )  # fmt: skip
    if axes is not None and (off := float(np.abs(R - axes).max())) > _MISSED:
        raise ModelError(
            called, f"has axes that differ by {off:.3g} from those of its owner's frame at home",
            "give the frame the axes of the section, the first one along the rod",
        )  # fmt: skip
