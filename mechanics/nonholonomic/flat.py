"""Rates and brackets of a product of groups, on numbers of any kind (complex, many digits)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.slopes import contradiction
from integrators.problem.ambient import ambient_velocity as coordinate_rate
from liegroup.table import FACTORS

__all__ = ["along_velocity", "bracket", "bracket_transpose", "contradicted", "coordinate_rate"]
Array = NDArray[Any]


def along_velocity(group: NDArray[np.int64], function: Callable[[Any], Any], q: Any, v: Any) -> Callable[[Any], Array]:
    """s → the values (n,) of a function of the configuration q at q + s q̇ of the velocity v."""
    rate = coordinate_rate(group, q, v)
    return lambda s: np.ravel(function(q + s * rate))


def contradicted(
    group: NDArray[np.int64], function: Callable[[Any], Any], q: Any, v: Any, said: Array
) -> tuple[int, float] | None:  # fmt: skip
    """Which value of a function of the configuration has another derivative along a velocity than is said, and which:
    by differences in the units of q.
    """
    own = float(np.abs(q[coordinate_rate(group, q, v) != 0.0]).max(initial=0.0))
    return contradiction(along_velocity(group, function, q, v), said, own, max(1.0, own))


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
