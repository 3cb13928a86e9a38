"""Group and algebra elements as matrices, block-diagonal over the factors; n copies of R are one block (n + 1, n +
1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np

from liegroup.arrays import Array, block_diagonal, call
from liegroup.compile import helper
from liegroup.compile.scalars import absolute, maximum
from liegroup.leaves import Leaf
from liegroup.rows import flatten

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Numbers of the size of one that differ by less are the same to rounding."""
_MOST_CORRECTIONS = 5


def _is_vector_space(leaf: Leaf) -> bool:
    """Whether the copies are one Rⁿ."""
    return getattr(leaf.formulas, "VECTOR_SPACE", False)


def size(leaf: Leaf) -> int:
    """Rows of the matrix of a leaf."""
    if _is_vector_space(leaf):
        return leaf.copies + 1
    return leaf.copies * len(leaf.formulas.matrix(leaf.formulas.identity(0.0)))


def write(leaves: Sequence[Leaf], name: str, space: str, a: Array) -> Array:
    """`hat` of the algebra (space v) or `matrix` of the group (space q) for all factors."""
    blocks: list[Array] = []
    for leaf in leaves:
        part = leaf.part(a, space)
        if _is_vector_space(leaf):
            blocks.append(_translation(part.reshape(*a.shape[:-1], leaf.copies), 1.0 if space == "q" else 0.0))
        else:
            m = call(getattr(leaf.formulas, name), [part])
            blocks += [m] if leaf.copies == 1 else [m[..., c, :, :] for c in range(leaf.copies)]
    return block_diagonal(blocks)


def read(leaves: Sequence[Leaf], name: str, back: str, a: Array, nearest: bool = False) -> tuple[Array, Array]:
    """`vee` or `from_matrix` of all factors, and how far a is from the matrix of what was found (`back`: `hat` or
    `matrix`).

    The distance is the sum of |differences| in a block, relative to its largest entry if that is above 1; the largest
    of all blocks and of the entries between them.  Rotations within a block count by themselves.  `nearest` first
    replaces rotation blocks by their polar factors.
    """
    values: list[Array] = []
    distances: list[Array] = (
        [np.abs(a[..., _between(tuple(size(leaf) for leaf in leaves))]).max(axis=-1, initial=0.0)]
        if len(leaves) > 1
        else []
    )
    for leaf, block in _cut(leaves, a):
        if _is_vector_space(leaf):
            values.append(block[..., :-1, -1])
            difference = np.abs(block - _translation(values[-1], 1.0 if back == "matrix" else 0.0)).sum(axis=(-1, -2))
            distances.append(difference / np.maximum(np.abs(block).max(axis=(-1, -2)), 1.0))
            continue
        n = block.shape[-1] // leaf.copies
        if leaf.copies > 1:
            distances.append(np.abs(block[..., _between((n,) * leaf.copies)]).max(axis=-1))
        for c in range(leaf.copies):
            piece = block[..., c * n : (c + 1) * n, c * n : (c + 1) * n]
            piece = polar(piece, getattr(leaf.formulas, "N_ROTATION", 0)) if nearest else piece
            both = call(
                _checked(getattr(leaf.formulas, name), getattr(leaf.formulas, back), n),
                [piece.reshape(*piece.shape[:-2], n * n)],
            )
            values.append(both[..., :-1])
            distances.append(np.real(both[..., -1]).astype(np.float64))
            r = getattr(leaf.formulas, "N_ROTATION", n) if back == "matrix" else n
            if r < n and np.abs(piece[..., :r, r:]).max(initial=0.0) > 1.0:  # a long way is no measure of a rotation
                R = np.real(piece[..., :r, :r]).astype(np.float64)
                distances.append(0.5 * np.abs(R @ R.swapaxes(-1, -2) - np.eye(r)).max(axis=(-1, -2), initial=0.0))
    return (values[0] if len(values) == 1 else np.concatenate(values, axis=-1)), reduce(np.maximum, distances)


@cache
def _between(sizes: tuple[int, ...]) -> Any:
    """Which entries of a block-diagonal matrix are outside its blocks."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    return block[:, None] != block


def polar(m: Array, n: int) -> Array:
    """The matrix with its leading n × n block replaced by the nearest rotation (Frobenius norm).

    A block that is a rotation to rounding stays as it is, so that a second call changes no bit.
    """
    if n == 0 or not np.any(far := _far_from_rotation(m, n)):
        return m
    u, _, v = np.linalg.svd(m[..., :n, :n])
    u[..., :, -1] *= np.sign(np.linalg.det(u @ v))[..., None]
    out = m.copy()
    out[..., :n, :n] = np.where(far[..., None, None], u @ v, m[..., :n, :n])
    for _ in range(_MOST_CORRECTIONS):  # products of the factors are off by up to 14 eps, corrected ones by 2
        if not np.any(far := _far_from_rotation(out, n)):
            break
        R = out[..., :n, :n]
        corrected = R - 0.5 * R @ (_transposed(R) @ R - np.eye(n))
        out[..., :n, :n] = np.where(far[..., None, None], corrected, R)
    return out


def _far_from_rotation(m: Array, n: int) -> Any:
    """Whether the leading blocks R are no rotations to rounding: max |R Rᵀ − E| ≥ 4 eps, or det R < 0."""
    R = m[..., :n, :n]
    with np.errstate(all="ignore"):
        close = np.abs(R @ _transposed(R) - np.eye(n)).max(axis=(-1, -2)) < ROUNDING
        return ~close | (np.linalg.det(R) < 0)


def _transposed(m: Array) -> Array:
    return m.swapaxes(-1, -2)


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
def _checked(read_one: Any, write_one: Any, n: int) -> Any:
    """The n² entries e of a matrix → (*x, distance): x = read_one(rows of e), and how far e is from write_one(x)."""
    rows, entries = _rows(n, n), flatten((n, n))
    difference, largest = _entries(n * n)

    @helper
    def checked(e: Any) -> Any:
        found = read_one(rows(e))
        x = found if isinstance(found, tuple) else (found,)
        return x + (difference(e, entries(write_one(x))) / maximum(largest(e), 1.0),)  # noqa: RUF005 (the compiler knows no unpacking)

    checked.sources = (read_one.__code__.co_filename, write_one.__code__.co_filename)  # type: ignore[attr-defined]
    return checked


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
