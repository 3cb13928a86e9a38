"""Dampers between two points: a force −c along the line of the nodes, by their relative velocity along it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.compile import helper, select, sqrt
from liegroup.compile.functions import less
from liegroup.formulas.vectors import dot, scale, subtract
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind

Array = NDArray[np.float64]


@helper
def rate(a: Any, b: Any, va: Any, vb: Any) -> Any:
    """Direction u from a to b, and the rate of their distance, u·(v_b − v_a)."""
    d = subtract(b, a)
    square = dot(d, d)
    apart = less(0.0, square)
    u = scale(select(apart, 1.0 / sqrt(select(apart, square, square * 0.0 + 1.0)), square * 0.0), d)
    return u, dot(u, subtract(vb, va))


@helper
def impulse(damping: Any, w: Any, inverse: Any, speed: Any) -> Any:
    """µ ṡ (exp(−c w/µ) − 1), the impulse on b over the time w of the damper alone, 1/µ = 1/m_a + 1/m_b."""
    return math.expm1(-(damping * w * inverse)) / inverse * speed


@helper
def _no_potential(numbers: Any, x: Any) -> Any:
    zero = 0.0 * x[0][0]
    return zero, ((zero, zero, zero), (zero, zero, zero))


DAMPER = Kind("damper", 2, ("damping",), _no_potential)


class Dampers(Elements):
    """Dampers, with the force −c u u·(v_b − v_a) on the node b and its opposite on a.

    Parameters
    ----------
    nodes : array (m, 2) of int
        The nodes that each joins.
    damping : float or array (m,)
        c, N·s/m.

    Raises
    ------
    ModelError
        Negative numbers: by the element.

    Examples
    --------
    >>> from mechanics.elastic import Dampers
    >>> Dampers([[0, 1]], 0.2)
    <1 elements: damper>
    """

    def __init__(self, nodes: ArrayLike, damping: ArrayLike) -> None:
        super().__init__(DAMPER, nodes)
        self._numbers = self.positive(damping, "damping", zero=True)
