"""Rooted trees, with one colour or two, and the weights of a Runge-Kutta method on them.

A tree is the sorted tuple of its children; with two colours it is ``(colour, children)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

Tree = tuple[Any, ...]


@cache
def rooted_trees(order: int, colours: int = 1) -> tuple[Tree, ...]:
    """All rooted trees with `order` nodes: 1, 1, 2, 4, 9, 20, 48, 115, 286, 719, … (two colours: 2, 4, 14, 52, 214,
    …).
    """
    forests = tuple(_forests(order - 1, order - 1, colours))
    return forests if colours == 1 else tuple((colour, forest) for colour in range(colours) for forest in forests)


def _forests(nodes: int, largest: int, colours: int) -> Iterator[Tree]:
    """Multisets of trees with `nodes` nodes in all, none larger than `largest`."""
    if nodes == 0:
        yield ()
        return
    for size in range(min(nodes, largest), 0, -1):
        for copies in range(1, nodes // size + 1):
            for first in combinations_with_replacement(rooted_trees(size, colours), copies):
                for rest in _forests(nodes - copies * size, size - 1, colours):
                    yield first + rest


def children(tree: Tree) -> Tree:
    """The subtrees at the root."""
    return tree[1] if tree and isinstance(tree[0], int) else tree


@cache
def size(tree: Tree) -> int:
    """Number of nodes."""
    return 1 + sum(size(t) for t in children(tree))


@cache
def density(tree: Tree) -> int:
    """γ(t) = |t| ∏ γ(children): the exact solution has the weight 1/γ(t)."""
    return size(tree) * math.prod(density(t) for t in children(tree))


def text(tree: Tree) -> str:
    """A tree in brackets, the leaf as a dot: ``[[.].]`` is a root with a leaf and a path of two."""
    inside = "".join(text(t) for t in children(tree))
    mark = "•○"[tree[0]] if tree and isinstance(tree[0], int) else "."
    if not inside:
        return mark
    return f"[{inside}]" if mark == "." else f"{mark}[{inside}]"


class ElementaryWeights:
    """Stage weights φᵢ(t) = ∏ (A φ(child))ᵢ of a method with matrix A, or one matrix for each colour of the child.

    Partitioned methods: the matrix of a child's colour carries it to the stage above.
    """

    def __init__(self, *matrices: Any) -> None:
        self._matrices = matrices
        self._carried: dict[Tree, Any] = {}
        self._one = np.array([1] * len(matrices[0]), dtype=object)

    def __call__(self, tree: Tree) -> Any:
        """φ(t), one number per stage."""
        weight = self._one
        for child in children(tree):
            weight = weight * self._carry(child)
        return weight

    def _carry(self, tree: Tree) -> Any:
        if tree not in self._carried:
            matrix = self._matrices[tree[0] if len(self._matrices) > 1 else 0]
            self._carried[tree] = matrix @ self(tree)
        return self._carried[tree]


def alternating(tree: Tree) -> bool:
    """True if no child has its parent's colour: the trees that matter for separable problems q' = f(p), p' = g(q)."""
    return all(child[0] != tree[0] and alternating(child) for child in children(tree))


def count(orders: Sequence[int], colours: int = 1) -> int:
    """Number of trees of the given orders."""
    return sum(len(rooted_trees(n, colours)) for n in orders)
