"""Rotations applied to three-vectors, as tuples of scalars for kernels.

A rotation is nine numbers row by row, (R00, R01, R02, R10, …).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper


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
