"""Second-kind coordinates of motions in any order of the basis: plain Python on tuples of scalars, not for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liegroup.compile.scalars import select, sqrt


def solve(columns: Sequence[Any], b: Any) -> tuple[Any, ...]:
    """y with Σ yₖ columnₖ = b, by Gram–Schmidt with b as a further column (backward stable), on any scalars.

    A column without a direction of its own gives huge values, never a division by zero.
    """
    a, b, n = [list(c) for c in columns], list(b), len(columns)
    r = [[0.0 * b[0]] * n for _ in range(n)]
    y = [0.0 * b[0]] * n
    for k in range(n):
        norm = sqrt(sum(v * v for v in a[k]))
        norm = select(norm == 0.0, 1e-300, norm)
        q = [v / norm for v in a[k]]
        r[k][k] = norm
        for j in range(k + 1, n):
            r[k][j] = sum(u * v for u, v in zip(q, a[j], strict=True))
            a[j] = [v - r[k][j] * u for u, v in zip(q, a[j], strict=True)]
        y[k] = sum(u * v for u, v in zip(q, b, strict=True))
        b = [v - y[k] * u for u, v in zip(q, b, strict=True)]
    for k in range(n - 1, -1, -1):
        y[k] = (y[k] - sum(r[k][j] * y[j] for j in range(k + 1, n))) / r[k][k]
    return tuple(y)


def ordered_translations(
    act: Any, axis: Any, translations: Sequence[int], order: Sequence[int], angles: Any, p: Any
) -> Any:
    """Translation coordinates vₖ with p = Σ vₖ R₍ₖ₎ eₖ, R₍ₖ₎ the product of the rotations that precede translation k in
    `order`.

    ``axis(k, angle)`` is the rotation of component k, ``act(rotations, u)`` applies a list of them.
    """
    before: list[Any] = []
    found: dict[int, Any] = {}
    one = 1.0 + 0.0 * p[0]
    for k in order:
        if k in translations:
            found[k] = act(before, tuple(one if i == k else 0.0 * one for i in range(len(p))))
        else:
            before = [*before, axis(k, angles[k])]
    return solve([found[k] for k in translations], p)
