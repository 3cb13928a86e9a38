"""Springs between two points: linear, logarithmic, and cables, which only pull."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.compile import helper, select, sqrt
from liegroup.compile.functions import less
from liegroup.compile.logarithm import log
from liegroup.formulas.vectors import dot, scale, subtract
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import Kind

Array = NDArray[np.float64]


@helper
def _distance(x: Any) -> Any:
    """d = x_b − x_a and its length."""
    d = subtract(x[1], x[0])
    return d, sqrt(dot(d, d))


@helper
def _along(force: Any, d: Any) -> Any:
    """Gradients −s d, s d."""
    g = scale(force, d)
    return (-g[0], -g[1], -g[2]), g


@helper
def spring(numbers: Any, x: Any) -> Any:
    """V = ½ k (l − l0)²;  ∂V/∂x_b = k (l − l0) d/l = −∂V/∂x_a."""
    k, rest = numbers
    d, l = _distance(x)
    stretch = l - rest
    safe = select(less(0.0, l), l, 1.0)
    return 0.5 * k * stretch * stretch, _along(k - k * rest / safe, d)


@helper
def log_spring(numbers: Any, x: Any) -> Any:
    """V = ½ k l0² s², s = ln(l/l0): no length of zero;  ∂V/∂x_b = k l0² s d/l²."""
    k, rest = numbers
    d, l = _distance(x)
    s, kll = log(l / rest), k * rest * rest
    return 0.5 * kll * s * s, _along(kll * s / (l * l), d)


@helper
def cable(numbers: Any, x: Any) -> Any:
    """V = ½ k max(l − l0, 0)², with one continuous derivative: methods of order above 2 are of order 2."""
    k, rest = numbers
    d, l = _distance(x)
    stretch = select(less(rest, l), l - rest, l * 0.0)
    safe = select(less(0.0, l), l, 1.0)
    return 0.5 * k * stretch * stretch, _along(k * stretch / safe, d)


def _taut(numbers: Array, x: Array) -> Array:
    """A slack cable as it is when it is just taut at the present length."""
    length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
    return np.stack([numbers[:, 0], np.minimum(numbers[:, 1], length * (1.0 - 1e-9))], axis=1)


_NAMES = ("stiffness", "rest")
SPRING = Kind("spring", 2, _NAMES, spring)
LOG_SPRING = Kind("logarithmic spring", 2, _NAMES, log_spring)
CABLE = Kind("cable", 2, _NAMES, cable, _taut)


class Springs(Elements):
    """Linear springs, V = ½ k (l − l0)².

    Parameters
    ----------
    nodes : array (m, 2) of int
        The nodes that each joins.
    stiffness : float or array (m,)
        k, N/m.
    rest : float or array (m,), optional
        l0, m; default the distance of the nodes of the network.  0: the force is linear, k d.

    Raises
    ------
    ModelError
        Negative numbers; nodes at one place without a rest length: by the element.

    Examples
    --------
    >>> from mechanics.elastic import Springs
    >>> Springs([[0, 1], [1, 2]], 100.0)
    <2 elements: spring>
    """

    KIND = SPRING
    REST_ZERO = True

    def __init__(self, nodes: ArrayLike, stiffness: ArrayLike, rest: ArrayLike | None = None) -> None:
        super().__init__(self.KIND, nodes)
        self.stiffness = self.positive(stiffness, "stiffness", zero=True)
        self.rest = None if rest is None else self.positive(rest, "rest", zero=self.REST_ZERO)

    def numbers_at(self, points: Array) -> Array:
        rest = self.rest
        if rest is None:
            rest = self.content(points)[:, None]
            if (rest == 0.0).any():
                self.wrong(int(np.flatnonzero(rest == 0.0)[0]), "joins two nodes at one place", "give a rest length")
        return np.concatenate([self.stiffness, rest], axis=1)


class LogSprings(Springs):
    """Springs V = ½ k l0² ln²(l/l0), which cannot be pressed to a point.

    Their tension is largest at l = e l0 and falls beyond.

    Parameters
    ----------
    nodes : array (m, 2) of int
        The nodes that each joins.
    stiffness : float or array (m,)
        k at rest, N/m.
    rest : float or array (m,), optional
        l0, m; default the distance of the nodes of the network.

    Raises
    ------
    ModelError
        Negative numbers, a rest length of zero: by the element.

    Examples
    --------
    >>> from mechanics.elastic import LogSprings
    >>> LogSprings([[0, 1]], 100.0, 0.5)
    <1 elements: logarithmic spring>
    """

    KIND = LOG_SPRING
    REST_ZERO = False


class Cables(Springs):
    """Springs that pull and never push, V = ½ k max(l − l0, 0)².

    The segments of a rope of stiffness EA have k = EA/l0.

    Parameters
    ----------
    nodes : array (m, 2) of int
        The nodes that each joins.
    stiffness : float or array (m,)
        k, N/m.
    rest : float or array (m,), optional
        l0, m; default the distance of the nodes of the network.

    Raises
    ------
    ModelError
        Negative numbers: by the element.

    Examples
    --------
    >>> from mechanics.elastic import Cables
    >>> Cables([[0, 1], [1, 2]], 1e4, 0.25)
    <2 elements: cable>
    """

    KIND = CABLE
