"""Bending: of a polygon of three points, and of two triangles about the edge they share.

Sources: Bergou, Wardetzky, Robinson, Audoly and Grinspun 2008 (polygons); Grinspun, Hirani, Desbrun and Schröder 2003
(hinges).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.compile import helper, sqrt
from liegroup.compile.scalars import arctan2
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind

Array = NDArray[np.float64]


@helper
def bending(numbers: Any, x: Any) -> Any:
    """V = EI |κ|²/(2 l),  κ = 2 t0 × t1/(1 + t0·t1), |κ| = 2 tan(φ/2);  t0, t1 the directions of the two edges, φ the
    angle between them.
    """
    rigidity, length = numbers
    e0, e1 = subtract(x[1], x[0]), subtract(x[2], x[1])
    l0, l1 = sqrt(dot(e0, e0)), sqrt(dot(e1, e1))
    t0, t1 = scale(1.0 / l0, e0), scale(1.0 / l1, e1)
    chi = 1.0 + dot(t0, t1)
    k = scale(2.0 / chi, cross(t0, t1))
    s = scale(rigidity / length, k)
    ks = dot(k, s)
    mean = scale(ks / chi, add(t0, t1))
    a = scale(1.0 / l0, subtract(mean, scale(2.0 / chi, cross(t1, s))))
    b = scale(-1.0 / l1, add(mean, scale(2.0 / chi, cross(t0, s))))
    return 0.5 * ks, (a, (-a[0] - b[0], -a[1] - b[1], -a[2] - b[2]), b)


@helper
def _dihedral(x: Any) -> Any:
    """(edge, its length, the normals of both triangles)."""
    e = subtract(x[1], x[0])
    first = cross(subtract(x[2], x[0]), subtract(x[2], x[1]))
    second = cross(subtract(x[3], x[1]), subtract(x[3], x[0]))
    return e, sqrt(dot(e, e)), first, second


@helper
def dihedral_angle(x: Any) -> Any:
    """The angle by which the triangles (x0, x1, x2) and (x1, x0, x3) are bent out of one plane, rad."""
    e, length, first, second = _dihedral(x)
    return arctan2(dot(cross(first, second), e) / length, dot(first, second))


@helper
def hinge(numbers: Any, x: Any) -> Any:
    """V = ½ k (θ − θ0)²,  θ = atan2((n1 × n2)·e/|e|, n1·n2)."""
    k, rest = numbers
    e, length, first, second = _dihedral(x)
    theta = arctan2(dot(cross(first, second), e) / length, dot(first, second))
    A, B = dot(first, first), dot(second, second)
    moment = k * (theta - rest)
    u, w = scale(-moment / (A * length), first), scale(-moment / (B * length), second)
    ll = length * length
    g0 = add(scale(dot(subtract(x[2], x[1]), e), u), scale(dot(subtract(x[3], x[1]), e), w))
    g1 = add(scale(-dot(subtract(x[2], x[0]), e), u), scale(-dot(subtract(x[3], x[0]), e), w))
    return 0.5 * moment * (theta - rest), (g0, g1, scale(ll, u), scale(ll, w))


BENDING = Kind("bending of a polygon", 3, ("rigidity", "length"), bending)
HINGE = Kind("hinge", 4, ("stiffness", "rest"), hinge)


class Bending(Elements):
    """Bending of a polygon at its middle node, straight at rest, V = EI (2 tan(φ/2))²/(2 l).

    Parameters
    ----------
    nodes : array (m, 3) of int
        Three nodes in order; the angle is at the second.
    rigidity : float or array (m,)
        EI, N·m².

    Raises
    ------
    ModelError
        Negative numbers, nodes at one place: by the element.

    Examples
    --------
    >>> from mechanics.elastic import Bending
    >>> Bending([[0, 1, 2]], 0.1)
    <1 elements: bending of a polygon>
    """

    def __init__(self, nodes: ArrayLike, rigidity: ArrayLike) -> None:
        super().__init__(BENDING, nodes)
        self.rigidity = self.positive(rigidity, "rigidity", zero=True)

    def numbers_at(self, points: Array) -> Array:
        x = points[self.nodes]
        lengths = np.linalg.norm(np.diff(x, axis=1), axis=2)
        if (lengths == 0.0).any():
            self.wrong(int(np.argwhere(lengths == 0.0)[0, 0]), "has two nodes at one place", "move one")
        return np.concatenate([self.rigidity, lengths.mean(axis=1, keepdims=True)], axis=1)


class Hinges(Elements):
    """Bending of a shell of triangles about an edge, V = ½ k (θ − θ0)², with θ between −π and π.

    A shell that folds through itself passes θ = ±π, where its energy jumps; the run is then doubtful (`energy`, or
    `balance` with supports that move).

    Parameters
    ----------
    nodes : array (m, 4) of int
        The two nodes of the edge, then the third node of either triangle.
    stiffness : float or array (m,)
        k, N·m/rad.
    rest : float or array (m,), optional
        θ0, rad; default the angle in the places of the network.

    Raises
    ------
    ModelError
        Negative numbers; a triangle without area: by the element.

    Examples
    --------
    >>> from mechanics.elastic import Hinges
    >>> Hinges([[0, 1, 2, 3]], 0.1)
    <1 elements: hinge>
    """

    def __init__(self, nodes: ArrayLike, stiffness: ArrayLike, rest: ArrayLike | None = None) -> None:
        super().__init__(HINGE, nodes)
        self.stiffness = self.positive(stiffness, "stiffness", zero=True)
        self.rest = None if rest is None else self.each(rest, "rest")

    def numbers_at(self, points: Array) -> Array:
        x = points[self.nodes]
        first, second = np.cross(x[:, 2] - x[:, 0], x[:, 2] - x[:, 1]), np.cross(x[:, 3] - x[:, 1], x[:, 3] - x[:, 0])
        edges = np.sum((x[:, 1] - x[:, 0]) ** 2, axis=1)
        flat = np.minimum(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)) <= 1e-12 * edges
        if flat.any():
            self.wrong(int(np.flatnonzero(flat)[0]), "has a triangle without area", "move a node")
        rest = self.rest
        if rest is None:
            rest = np.array([dihedral_angle(element) for element in x])[:, None]
        return np.concatenate([self.stiffness, rest], axis=1)
