"""Three-vectors and rotations as tuples of scalars, for kernels: formulas on any scalar type.

A rotation is nine numbers row by row, (R00, R01, R02, R10, …); `rotated` gives R a, `rotated_back` Rᵀ a.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper


@helper
def plus(a: Any, b: Any) -> Any:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def minus(a: Any, b: Any) -> Any:
    """a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def times(s: Any, a: Any) -> Any:
    """s a for a number s."""
    return s * a[0], s * a[1], s * a[2]


@helper
def dot(a: Any, b: Any) -> Any:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Any, b: Any) -> Any:
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def rotated(R: Any, a: Any) -> Any:
    """R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@helper
def rotated_back(R: Any, a: Any) -> Any:
    """Rᵀ a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@helper
def screw_about(force: Any, moment: Any, point: Any) -> Any:
    """A wrench given by its force and its moment about `point` = r, moved to the origin: (f, m + r × f)."""
    c = cross(point, force)
    return force[0], force[1], force[2], moment[0] + c[0], moment[1] + c[1], moment[2] + c[2]
