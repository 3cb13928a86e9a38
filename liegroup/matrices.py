"""Group and algebra elements as matrices, block-diagonal over the factors; n copies of R are one block (n + 1, n + 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from liegroup.arrays import Array, block_diagonal, call
from liegroup.compile import helper
from liegroup.formulas import rn
from liegroup.leaves import Leaf
from liegroup.scalars import absolute, maximum


def size(leaf: Leaf) -> int:
    """Rows of the matrix of a leaf."""
    if leaf.formulas is rn:
        return leaf.copies + 1
    return leaf.copies * len(leaf.formulas.matrix(leaf.formulas.identity(0.0)))


def write(leaves: Sequence[Leaf], name: str, space: str, a: Array) -> Array:
    """`hat` of the algebra (space v) or `matrix` of the group (space q) for all factors."""
    blocks: list[Array] = []
    for leaf in leaves:
        part = leaf.part(a, space)
        if leaf.formulas is rn:
            blocks.append(_translation(part.reshape(*a.shape[:-1], leaf.copies), 1.0 if space == "q" else 0.0))
        else:
            m = call(getattr(leaf.formulas, name), [part])
            blocks += [m] if leaf.copies == 1 else [m[..., c, :, :] for c in range(leaf.copies)]
    return block_diagonal(blocks)


def read(leaves: Sequence[Leaf], name: str, a: Array, nearest: bool = False) -> Array:
    """`vee` or `from_matrix` of all factors; `nearest` first replaces rotation blocks by their polar factors."""
    values: list[Array] = []
    for leaf, block in _cut(leaves, a):
        if leaf.formulas is rn:
            values.append(block[..., :-1, -1])
            continue
        n = block.shape[-1] // leaf.copies
        for c in range(leaf.copies):
            piece = block[..., c * n : (c + 1) * n, c * n : (c + 1) * n]
            piece = polar(piece, getattr(leaf.formulas, "N_ROTATION", 0)) if nearest else piece
            values.append(call(_of_entries(getattr(leaf.formulas, name), n), [piece.reshape(*piece.shape[:-2], n * n)]))
    return np.concatenate(values, axis=-1)


def polar(m: Array, n: int) -> Array:
    """The matrix with its leading n × n block replaced by the nearest rotation (Frobenius norm)."""
    if n == 0:
        return m
    u, _, v = np.linalg.svd(m[..., :n, :n])
    u[..., :, -1] *= np.sign(np.linalg.det(u @ v))[..., None]
    out = m.copy()
    out[..., :n, :n] = u @ v
    return out


def _translation(values: Array, diagonal: float) -> Array:
    n = values.shape[-1]
    m = np.zeros((*values.shape[:-1], n + 1, n + 1), dtype=values.dtype) + diagonal * np.eye(n + 1)
    m[..., :n, n] = values
    return m


def _cut(leaves: Sequence[Leaf], a: Array) -> Iterator[tuple[Leaf, Array]]:
    i = 0
    for leaf in leaves:
        n = size(leaf)
        yield leaf, a[..., i : i + n, i : i + n]
        i += n


def disagreement(a: Array, b: Array) -> Array:
    """Σ|a − b| over the entries of matrices (…, n, n), relative to the largest entry of a if that is above 1."""
    n = a.shape[-1] * a.shape[-2]
    values = call(_disagreement(n), [m.reshape(*m.shape[:-2], n) for m in (a, b)])
    return np.real(values).astype(np.float64)


@cache
def _disagreement(n: int) -> Any:
    difference, largest = _entries(n)

    @helper
    def relative(a: Any, b: Any) -> Any:
        return difference(a, b) / maximum(largest(a), 1.0)

    return relative


@cache
def _entries(n: int) -> tuple[Any, Any]:
    """Σ|aₖ − bₖ| and max |aₖ| for tuples of n numbers."""
    if n == 1:

        @helper
        def one_difference(a: Any, b: Any) -> Any:
            return absolute(a[0] - b[0])

        @helper
        def one_size(a: Any) -> Any:
            return absolute(a[0])

        return one_difference, one_size
    half = n // 2
    (difference_1, largest_1), (difference_2, largest_2) = _entries(half), _entries(n - half)

    @helper
    def difference(a: Any, b: Any) -> Any:
        return difference_1(a[:half], b[:half]) + difference_2(a[half:], b[half:])

    @helper
    def largest(a: Any) -> Any:
        return maximum(largest_1(a[:half]), largest_2(a[half:]))

    return difference, largest


@cache
def _of_entries(function: Any, n: int) -> Any:
    """The function of a matrix (a tuple of rows) as a function of its n² entries."""
    rows = _rows(n, n)

    @helper
    def of_entries(e: Any) -> Any:
        return function(rows(e))

    return of_entries


def _rows(count: int, n: int) -> Any:
    """The function that cuts count·n entries into rows of n."""
    if count == 1:

        @helper
        def one_row(e: Any) -> Any:
            return (e,)

        return one_row
    rest = _rows(count - 1, n)

    @helper
    def more_rows(e: Any) -> Any:
        return (e[:n],) + rest(e[n:])  # noqa: RUF005 (the compiler knows no unpacking)

    return more_rows
