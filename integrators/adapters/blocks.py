"""How other libraries write elements of groups as numbers: quaternions in either order, rotation matrices, homogeneous
matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import liegroup
from integrators.problem.ambient import element_velocity
from liegroup.arrays import shown
from liegroup.formulas import so3
from liegroup.table import FACTORS, RN, SE2, SE3, SO2, SO3, table_of

Array = NDArray[np.float64]
_TANGENT = 1e-6
"""The part of a rate that may stand across the group before it is called a mistake."""


@dataclass(frozen=True)
class Block:
    """A part of a vector of numbers that is an element of a group.

    Attributes
    ----------
    name : str
        As the user calls it.
    kind, copies : int
        The factor of `liegroup.table` and how often (Rⁿ: n).
    size : int
        How many numbers.
    element, numbers : callable
        From the numbers to the element of `liegroup`, and back.
    velocity : callable
        ``velocity(element, rate of the numbers)`` → (body velocity, size of what of the rate is normal to the group).

    Examples
    --------
    >>> BLOCKS["SO3_xyzw"].element(np.array([0.0, 0.0, 0.0, 1.0])).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """

    name: str
    kind: int
    copies: int
    size: int
    element: Callable[[Array], Any]
    numbers: Callable[[Array], Any]
    velocity: Callable[[Array, Array], tuple[Any, float]]


def _same(x: Array) -> Array:
    return x


def _native(name: str, kind: int, copies: int = 1) -> Block:
    """The numbers are those of `liegroup`."""

    def velocity(q: Array, rate: Array) -> tuple[Any, float]:
        return element_velocity(kind, q.tolist(), rate.tolist())

    return Block(name, kind, copies, FACTORS[kind].N_Q * copies, _same, _same, velocity)


def _reordered(name: str, kind: int) -> Block:
    """The scalar part of the quaternion comes last."""
    n, into = FACTORS[kind].N_Q, np.arange(FACTORS[kind].N_Q)
    for k in FACTORS[kind].QUATERNIONS:
        into[k : k + 4] = np.roll(into[k : k + 4], 1)
    back = np.argsort(into)

    def velocity(q: Array, rate: Array) -> tuple[Any, float]:
        return element_velocity(kind, q.tolist(), rate[into].tolist())

    return Block(name, kind, 1, n, lambda y: y[into], lambda q: q[back], velocity)


def _turn(rotation: Array, rate: Array) -> tuple[Any, float]:
    """ω̂ = the skew part of RᵀṘ, and the size of its symmetric part."""
    product = rotation.T @ rate
    return so3.vee(product.tolist()), float(np.abs(product + product.T).max()) / 2


def _rotation_velocity(q: Array, rate: Array) -> tuple[Any, float]:
    return _turn(np.array(so3.matrix(q.tolist())), rate.reshape(3, 3))


def _motion_velocity(q: Array, rate: Array) -> tuple[Any, float]:
    rotation, m = np.array(so3.matrix(q[3:].tolist())), rate.reshape(4, 4)
    angular, normal = _turn(rotation, m[:3, :3])
    return (*(rotation.T @ m[:3, 3]), *angular), max(normal, float(np.abs(m[3]).max()))


BLOCKS = {
    block.name: block
    for block in (
        _native("SO2", SO2),
        _native("SE2", SE2),
        _native("SO3", SO3),
        _native("SE3", SE3),
        _reordered("SO3_xyzw", SO3),
        _reordered("SE3_xyzw", SE3),
        Block(
            "SO3_matrix",
            SO3,
            1,
            9,
            lambda y: liegroup.so3.from_matrix(y.reshape(3, 3)),
            lambda q: np.ravel(so3.matrix(q.tolist())),
            _rotation_velocity,
        ),
        Block(
            "SE3_matrix",
            SE3,
            1,
            16,
            lambda y: liegroup.se3.from_matrix(y.reshape(4, 4)),
            lambda q: liegroup.se3.as_matrix(q).ravel(),
            _motion_velocity,
        ),
    )
}
"""Blocks by name.  SO2: θ.  SE2: (x, y, θ).  SO3: (qw, qx, qy, qz).  SE3: (x, y, z, qw, qx, qy, qz).  …_xyzw: the same
with the quaternion as (qx, qy, qz, qw).  SO3_matrix: the rotation matrix row by row.  SE3_matrix: the 4 × 4 homogeneous
matrix row by row.
"""


def find_blocks(groups: Any) -> tuple[Block, ...]:
    """The blocks that a user names: names, integers n for Rⁿ, or groups of `liegroup`, one or a sequence.

    Parameters
    ----------
    groups : str, int, group or sequence of them
        What a vector of numbers consists of.

    Returns
    -------
    tuple of Block
        In order.

    Raises
    ------
    ValueError
        A name or a thing that is none.

    Examples
    --------
    >>> [block.name for block in find_blocks(["SO3_xyzw", 3])]
    ['SO3_xyzw', 'R3']
    """
    rows = groups if isinstance(groups, Sequence) and not isinstance(groups, (str, bytes)) else [groups]
    return tuple(block for row in rows for block in _blocks(row))


def _blocks(row: Any) -> list[Block]:
    if isinstance(row, str) and row in BLOCKS:
        return [BLOCKS[row]]
    if isinstance(row, (int, np.integer)) and not isinstance(row, bool) and 0 <= row < 2**31:
        return [_native(f"R{row}", RN, int(row))]
    if hasattr(row, "table"):
        return [
            _native(FACTORS[kind].NAME, kind, n_v // FACTORS[kind].N_V) for kind, _, _, _, n_v in row.table.tolist()
        ]
    raise ValueError(
        f"groups: {shown(row)}, expected one of {', '.join(BLOCKS)}, an integer n for Rⁿ, or a group of liegroup"
    )


class Layout:
    """A vector of numbers made of blocks.

    Parameters
    ----------
    blocks : tuple of Block
        From `find_blocks`.

    Examples
    --------
    >>> layout = Layout(find_blocks(["SO3", 2]))
    >>> layout.size, layout.velocity(0.0, np.array([1.0, 0, 0, 0, 5, 6]), np.array([0, 0, 0, 0.5, 1, 2])).tolist()
    (6, [0.0, 0.0, 1.0, 1.0, 2.0])
    """

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks = blocks
        self.table = table_of([(block.kind, block.copies) for block in blocks])
        ends = np.cumsum([block.size for block in blocks])
        self.size = int(ends[-1])
        self._numbers = [slice(end - block.size, end) for block, end in zip(blocks, ends.tolist(), strict=True)]
        self._elements = [slice(q, q + n) for _, q, _, n, _ in self.table.tolist()]
        self._velocities = [slice(v, v + n) for _, _, v, _, n in self.table.tolist()]

    def check(self, y: Array, name: str) -> None:
        """ValueError unless y has as many numbers as the blocks.

        Parameters
        ----------
        y : array (size,)
            The numbers.
        name : str
            What the message calls them.

        Raises
        ------
        ValueError
            Another number of them.
        """
        if y.shape != (self.size,):
            described = ", ".join(f"{block.name} ({block.size})" for block in self.blocks)
            raise ValueError(
                f"{name}: {y.size} numbers, but groups describe {self.size}: {described}; name every part, an "
                "integer n for n plain numbers"
            )

    def element(self, y: Array) -> Array:
        """The element of the product of groups.

        Parameters
        ----------
        y : array (size,)
            The numbers.

        Returns
        -------
        array (n_q,)
            As `liegroup` writes it.

        Raises
        ------
        ValueError
            Matrices that are not in the group; other numbers are not checked here.
        """
        return np.concatenate([block.element(y[s]) for block, s in zip(self.blocks, self._numbers, strict=True)])

    def numbers(self, q: Array) -> Array:
        """The numbers of an element.

        Parameters
        ----------
        q : array (n_q,)
            An element.

        Returns
        -------
        array (size,)
            As the user writes it.
        """
        return np.concatenate([block.numbers(q[s]) for block, s in zip(self.blocks, self._elements, strict=True)])

    def velocity(self, t: float, q: Array, rate: Array) -> Array:
        """The body velocity (dimension,) of the rate of the numbers; ValueError if the rate leaves the group.

        Parameters
        ----------
        t : float
            Time, for the message.
        q : array (n_q,)
            An element.
        rate : array (size,)
            Rate of the user's numbers.

        Returns
        -------
        array (dimension,)
            Body velocity.

        Raises
        ------
        ValueError
            A rate that leaves the group.
        """
        out = np.empty(sum(s.stop - s.start for s in self._velocities))
        for block, number, element, s in zip(self.blocks, self._numbers, self._elements, self._velocities, strict=True):
            out[s], normal = block.velocity(q[element], rate[number])
            if normal > _TANGENT * float(np.abs(rate[number]).max()):
                raise ValueError(
                    f"fun: at t = {t:.9g} the rate of y[{number.start}:{number.stop}] ({block.name}) has a part of "
                    f"size {normal:.3g} that "
                    "leaves the group; expected q̇ = ½ q (0, ω) for quaternions, Ṙ = R ω̂ for matrices; check the "
                    "formula and `groups`"
                )
        return out
