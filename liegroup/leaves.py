"""The factors of a product: their parts of an array, formulas on all of them, results put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroup.arrays import Array, block_diagonal, call


class Leaf(NamedTuple):
    """Adjacent copies of one group in a product, and where their components begin in q, v and points."""

    formulas: Any
    copies: int
    q: int
    v: int
    point: int

    def part(self, a: Array, space: str) -> Array:
        """The components of the leaf in q, v or a point p: ``(…, n)``, or ``(…, copies, n)`` if there are several
        copies.
        """
        f = self.formulas
        start, n = {"q": (self.q, f.N_Q), "v": (self.v, f.N_V), "p": (self.point, f.N_POINT)}[space]
        values = a[..., start : start + self.copies * n]
        return values if self.copies == 1 else values.reshape(*values.shape[:-1], self.copies, n)

    def split(self) -> list[Leaf]:
        """One leaf per copy."""
        f = self.formulas
        return [
            Leaf(f, 1, self.q + c * f.N_Q, self.v + c * f.N_V, self.point + c * f.N_POINT) for c in range(self.copies)
        ]


Pick = Callable[[Leaf], Callable[..., Any]]
"""Chooses the formula (a function of tuples) of a leaf."""


def named(name: str) -> Pick:
    """The function of that name in the leaf's formula file."""
    return lambda leaf: getattr(leaf.formulas, name)


def vectors(leaves: Sequence[Leaf], pick: Pick, spaces: str, *arrays: Array) -> Array:
    """A formula on every leaf, the results one after the other on the last axis."""
    values = []
    for leaf in leaves:
        value = call(pick(leaf), _parts(leaf, spaces, arrays))
        values.append(value if leaf.copies == 1 else value.reshape(*value.shape[:-2], math.prod(value.shape[-2:])))
    return values[0] if len(values) == 1 else np.concatenate(values, axis=-1)


def scalars(leaves: Sequence[Leaf], pick: Pick, reduce: Any, spaces: str, *arrays: Array) -> Array:
    """A formula with one value per element on every leaf, reduced over copies and leaves (`np.minimum`,
    `np.maximum`).
    """
    found = None
    for leaf in leaves:
        value = np.real(call(pick(leaf), _parts(leaf, spaces, arrays))).astype(np.float64)
        value = value if leaf.copies == 1 else reduce.reduce(value, axis=-1)
        found = value if found is None else reduce(found, value)
    return found  # type: ignore[return-value]


def operators(leaves: Sequence[Leaf], pick: Pick, spaces: str, *arrays: Array) -> Array:
    """The block-diagonal matrix of the linear maps ``y ↦ formula(…, y)`` on the algebra."""
    blocks: list[Array] = []
    for leaf in leaves:
        function, parts, n = pick(leaf), _parts(leaf, spaces, arrays), leaf.formulas.N_V
        columns = [call(function, [*parts, e]) for e in np.eye(n)]
        matrix = np.stack(columns, axis=-1)
        blocks += [matrix] if leaf.copies == 1 else [matrix[..., c, :, :] for c in range(leaf.copies)]
    return block_diagonal(blocks)


def _parts(leaf: Leaf, spaces: str, arrays: Sequence[Array]) -> list[Array]:
    return [leaf.part(a, space) for a, space in zip(arrays, spaces, strict=True)]
