"""Rates and brackets of a product of groups, on numbers of any kind (complex, many digits)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.ambient import ambient_velocity as coordinate_rate
from liegroup.table import FACTORS

__all__ = ["bracket", "bracket_transpose", "coordinate_rate"]
Array = NDArray[Any]


def bracket(group: NDArray[np.int64], x: Any, y: Any) -> Array:
    """[x, y] of the algebra of the product."""
    return _on_algebra("bracket", group, x, y)


def bracket_transpose(group: NDArray[np.int64], v: Any, p: Any) -> Array:
    """ad_vᵀ p: ⟨ad_vᵀ p, w⟩ = ⟨p, [v, w]⟩."""
    return _on_algebra("bracket_transpose", group, v, p)


def _on_algebra(name: str, group: NDArray[np.int64], x: Any, y: Any) -> Array:
    parts: list[Any] = []
    for kind, _, first, _, n in group.tolist():
        formula: Callable[..., Any] = getattr(FACTORS[kind], name)
        size = FACTORS[kind].N_V
        for i in range(first, first + n, size):
            parts += formula(tuple(x[i : i + size]), tuple(y[i : i + size]))
    return np.array(parts)
