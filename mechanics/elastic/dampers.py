"""Dampers between two points: a force −c along the line of the nodes, by their relative velocity along it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.compile import absolute, any_, helper, select, sqrt
from liegroup.compile.functions import less
from liegroup.formulas.vectors import dot, scale, subtract
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind

Array = NDArray[np.float64]
_SMALL = 0.03
"""Largest exponent of the series."""


@helper
def rate(a: Any, b: Any, va: Any, vb: Any) -> Any:
    """Direction u from a to b, and the rate of their distance, u·(v_b − v_a)."""
    d = subtract(b, a)
    square = dot(d, d)
    apart = less(0.0, square)
    u = scale(select(apart, 1.0 / sqrt(select(apart, square, square * 0.0 + 1.0)), square * 0.0), d)
    return u, dot(u, subtract(vb, va))


@helper
def phi(z: Any) -> Any:
    """(e^z − 1)/z and (e^z − 1 − z)/z²."""
    if abs(z) < _SMALL:
        second = 0.5 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * (1 / 720 + z * (1 / 5040 + z / 40320)))))
        return 1.0 + z * second, second
    first = decay(z) / z
    return first, (first - 1.0) / z


@helper
def decay(z: Any) -> Any:
    """e^z − 1, in lanes, too: the series, and doublings e <- e (2 + e).  Of dampers z ≤ 0, but for runs backwards and
    the negative weights of compositions; infinite above 709.
    """
    part, halvings = z * 0.0 + 1.0, z * 0.0
    while any_(absolute(z * part) > _SMALL):
        large = absolute(z * part) > _SMALL
        part, halvings = select(large, 0.5 * part, part), select(large, halvings + 1.0, halvings)
    x, done = z * part, 0.0
    e = x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040))))))
    while any_(halvings > done):
        e = select(halvings > done, e * (2.0 + e), e)
        done += 1.0
    return e


@helper
def impulse(damping: Any, w: Any, inverse: Any, speed: Any) -> Any:
    """µ ṡ (exp(−c w/µ) − 1), the impulse on b over the time w of the damper alone, 1/µ = 1/m_a + 1/m_b."""
    return decay(-(damping * w * inverse)) / inverse * speed


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
