"""Resonances of asynchronous steps with the vibrations of a network (Fong, Darve and Lew 2008).

Elements that kick with the step h sample the motion at multiples of h; where a vibration takes half a turn more or
less between two kicks it grows, however small these are.  For two springs on a mass the windows are known in closed
form; for several modes and steps the step itself is looked at, with the stiffness W_L of every level about the places
of the network, in coordinates with the mass 1:

    T_0 = K_0(h₀/2) D(h₀) K_0(h₀/2),    T_L = K_L(h_L/2) T_{L−1}² K_L(h_L/2),    h_L = 2ᴸ h₀

with kicks K_L(h): p <- p − h W_L x and drifts D(h): x <- x + h p.  Its eigenvalues beyond the unit circle are what
grows; the element that is named does most of it.  Dampers and drag, which remove weak resonances, are left out, and so
is what does not swing: about a place that is none of rest, as of a line that is bent, motions leave it by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanics.elastic.kind import Kind, stiffness

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
GROWS = 1e-5
"""Growth in one step of the largest level from which on a vibration is said to grow: rounding makes 1e-7."""
_RIGID = 1e-10
"""Part of the largest stiffness below which a motion is no vibration of the elements."""


class Resonance(NamedTuple):
    """A vibration that grows because elements kick with a step that is in resonance with it.

    Attributes
    ----------
    element : str
        The element that has most of it, of those with longer steps than the finest.
    step : float
        The step of this element, s.
    frequency : float
        Of the vibration, rad/s.
    growth : float
        Of the logarithm of its amplitude, 1/s.

    Examples
    --------
    >>> from mechanics.elastic.resonance import Resonance
    >>> print(Resonance("spring 3 (nodes 3, 4)", 0.5, 6.3, 0.02))
    spring 3 (nodes 3, 4) with its step 0.5 s is in resonance with a vibration of 6.3 rad/s, which grows by 0.02/s
    """

    element: str
    step: float
    frequency: float
    growth: float

    def __str__(self) -> str:
        return (
            f"{self.element} with its step {self.step:.4g} s is in resonance with a vibration of "
            f"{self.frequency:.4g} rad/s, which grows by {self.growth:.3g}/s"
        )


class Vibrations:
    """What the levels of the elements have of the vibrations of a network about its places.

    Parameters
    ----------
    sets : sequence of (kind, nodes, numbers)
        The elements.
    levels : sequence of array (m,)
        How often the smallest step is doubled for each.
    points : array (n, 3)
        m.
    root : array (3n, d)
        The velocities of the nodes for unit momenta, in coordinates in which the masses are 1.
    """

    def __init__(
        self, sets: Sequence[tuple[Kind, Integers, Array]], levels: Sequence[Integers], points: Array, root: Array
    ) -> None:
        self.depth = int(max([0, *(int(level.max(initial=0)) for level in levels)]))
        self._parts = []
        W = np.zeros((self.depth + 1, root.shape[1], root.shape[1]))
        for (kind, nodes, values), level in zip(sets, levels, strict=True):
            x = points[nodes]
            K = stiffness(kind, values if kind.stiffest is None else kind.stiffest(values, x), x)
            shapes = root[(3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)]
            K = 0.5 * (K + np.swapaxes(K, 1, 2))
            for own in range(self.depth + 1):
                at = level == own
                W[own] += np.einsum("eia,eij,ejb->ab", shapes[at], K[at], shapes[at], optimize=True)
            self._parts.append((K, shapes, level))
        values, modes = np.linalg.eigh(W.sum(axis=0))
        self._modes = modes[:, values > _RIGID * max(float(np.abs(values).max(initial=0.0)), 1e-300)]
        self._levels: Array = self._modes.T @ W @ self._modes

    def step(self, h: float) -> Array:
        """The matrix of a step whose largest level has the step h."""
        d = self._levels.shape[1]
        one, none = np.eye(d), np.zeros((d, d))
        finest = h * 0.5**self.depth
        T = np.block([[one, finest * one], [none, one]])
        for level in range(self.depth + 1):
            T = T @ T if level else T
            kick = 0.5 * finest * 2.0**level * self._levels[level]
            T[d:] -= kick @ T[:d]
            T[:, :d] -= T[:, d:] @ kick
        return np.asarray(T)

    def growing(self, h: float, weights: Sequence[float]) -> tuple[float, int, int, float] | None:
        """Growth in a step that is composed of steps of these parts of h, set and element, and ω; None if nothing
        grows.
        """
        d = self._levels.shape[1]
        if not d or not self.depth:
            return None
        T = np.eye(2 * d)
        for w in weights:
            T = self.step(w * h) @ T
        values, vectors = np.linalg.eig(T)
        k = int(np.argmax(np.abs(values)))
        if not abs(values[k]) > 1.0 + GROWS:
            return None
        x = self._modes @ vectors[:d, k]
        best, found, energy = -1.0, (0, 0), 0.0
        for s, (K, shapes, level) in enumerate(self._parts):
            u = shapes @ x
            of = np.einsum("ei,eij,ej->e", u.conj(), K, u).real
            energy += float(of.sum())
            of = np.where(level > 0, np.abs(of) * 2.0**level, -1.0)
            if len(of) and of.max() > best:
                best, found = float(of.max()), (s, int(of.argmax()))
        return float(np.log(abs(values[k]))), *found, float(np.sqrt(abs(energy) / np.sum(np.abs(x) ** 2)))
