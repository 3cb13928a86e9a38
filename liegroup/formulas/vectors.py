"""Vectors of three scalars (and pairs of them) as tuples."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper


@helper
def add(a: Any, b: Any) -> Any:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def subtract(a: Any, b: Any) -> Any:
    """a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scale(k: Any, a: Any) -> Any:
    """k a."""
    return k * a[0], k * a[1], k * a[2]


@helper
def dot(a: Any, b: Any) -> Any:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Any, b: Any) -> Any:
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def combine(y: Any, a: Any, u: Any, b: Any, w: Any) -> Any:
    """y + (a u + b w)."""
    return y[0] + (a * u[0] + b * w[0]), y[1] + (a * u[1] + b * w[1]), y[2] + (a * u[2] + b * w[2])


@helper
def add6(a: Any, b: Any) -> Any:
    """a + b for six components."""
    return add(a[:3], b[:3]) + add(a[3:], b[3:])


@helper
def scale6(k: Any, a: Any) -> Any:
    """k a for six components."""
    return scale(k, a[:3]) + scale(k, a[3:])


@helper
def dot6(a: Any, b: Any) -> Any:
    """a·b for six components."""
    return dot(a[:3], b[:3]) + dot(a[3:], b[3:])


@helper
def combine6(y: Any, a: Any, u: Any, b: Any, w: Any) -> Any:
    """y + (a u + b w) for six components."""
    return combine(y[:3], a, u[:3], b, w[:3]) + combine(y[3:], a, u[3:], b, w[3:])
