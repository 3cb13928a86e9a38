"""A serial chain as the papers on mass matrices describe it: everything in base axes, one axis per joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mechanics.errors import ModelError
from mechanics.joints.element import Slide, Turn

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

Vector = tuple[Any, Any, Any]
Matrix = tuple[Any, ...]
"""Nine scalars, row by row."""


class Chain(NamedTuple):
    """Bodies 1 … N on rotary or sliding joints; every component may be a number or an array over configurations."""

    rotary: tuple[bool, ...]
    e: list[Vector]
    """Unit axes of the joints."""
    r: list[Vector]
    """From the origin of the body before (the base) to the origin of each body."""
    m: list[Any]
    c: list[Vector]
    """First moments m d about the body origins."""
    inertia: list[Matrix]
    """Tensors about the body origins."""


def joint_axes(tree: Tree) -> list[tuple[bool, Any]]:
    """Whether each joint turns, and its axis in body axes.

    Raises
    ------
    ModelError
        The tree branches, or a joint is not one turn or one slide: the body, and what serves instead.
    """
    remedy = 'use algorithm="crba", which takes every tree'
    found = []
    for i, body in enumerate(tree.bodies):
        if tree.parents[i] != i - 1:
            raise ModelError(f"body {body.name!r}", f"hangs on {body.parent!r}: the tree is not a serial chain", remedy)
        elements = body.joint.elements
        if len(elements) != 1 or not isinstance(elements[0], (Turn, Slide)) or elements[0].motion is not None:
            problem = f"is {body.joint.kind}, expected a chain of rotary and sliding joints of one degree of freedom"
            raise ModelError(f"joint {body.joint_name!r}", problem, remedy)
        axis = np.asarray(elements[0].axis)
        found.append((isinstance(elements[0], Turn), axis / np.linalg.norm(axis)))
    return found


def serial_chain(tree: Tree, positions: Any, rotations: Any) -> Chain:
    """The chain at the poses (…, N, 3), (…, N, 3, 3) of its bodies in base axes.

    Raises
    ------
    ModelError
        As `joint_axes`.
    """
    axes = joint_axes(tree)

    def vector(x: Any) -> Vector:
        return x[..., 0], x[..., 1], x[..., 2]

    chain = Chain(tuple(rotary for rotary, _ in axes), [], [], [], [], [])
    before = np.zeros(3)
    for i, body in enumerate(tree.bodies):
        x, R = positions[..., i, :], rotations[..., i, :, :]
        chain.e.append(vector(R @ axes[i][1]))
        chain.r.append(vector(x - before))
        chain.m.append(body.inertia.mass)
        chain.c.append(vector(R @ (body.inertia.mass * body.inertia.com)))
        tensor = R @ body.inertia.tensor @ np.swapaxes(R, -1, -2)
        chain.inertia.append(tuple(tensor[..., j, k] for j in range(3) for k in range(3)))
        before = x
    return chain


def skew_product(a: Vector, b: Vector) -> Matrix:
    """ã b̃ᵀ = (a·b) E − b aᵀ: nine multiplications and three additions."""
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return (
        yy + zz,
        -(b[0] * a[1]),
        -(b[0] * a[2]),
        -(b[1] * a[0]),
        xx + zz,
        -(b[1] * a[2]),
        -(b[2] * a[0]),
        -(b[2] * a[1]),
        xx + yy,
    )


def plus(a: Matrix, b: Matrix) -> Matrix:
    """A + B."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def transposed(a: Matrix) -> Matrix:
    """Aᵀ."""
    return a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]
