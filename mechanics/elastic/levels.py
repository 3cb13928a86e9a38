"""Steps of elements from their own frequencies.

For any sharing of the masses of the nodes among their elements no frequency of the network is above the largest of an
element's own, ω_K² = λ_max(M_K⁻¹ K_K) (Irons and Treharne 1971).  Masses are shared in proportion to the stiffness,

    m_aK = m_a tr(K_aa of K)/Σ tr(K_aa of all elements at a),

so that soft elements beside stiff ones get short steps, too; with its own mass alone an element does not see its
neighbours, and steps from it are unstable where the size of elements jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanics.elastic.bodies import Carried
from mechanics.elastic.kind import Kind, stiffness

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
SAFETY = 0.25
"""Default part of the stable step h ω = 2 that elements take."""
DOUBTED = 1.0
"""h ω of an element from which on a run is doubtful; 2 is the limit of stability."""
WORTH = 2.0
"""Gain from which on asynchronous steps are advised."""
LONGEST = 20
"""Most doublings from the smallest step to the largest."""
LIMIT = 2.0
"""Largest h ω of a kick–drift step that is stable."""
ROUNDING = 1e-12
"""Part of the terms of a sum below which it is none."""
_LARGE = 20000
"""Elements whose stiffness is found at once."""


@dataclass(frozen=True)
class StepReport:
    """What the steps of the elements of a network or a rod are, before a run.

    Attributes
    ----------
    safety : float
        Part of the stable step that every element takes (dimensionless).
    step : float
        The largest step of an element: that of the method ``"AVI"``, s.
    verlet_step : float
        The step with which all elements would be as far from their limits, s.
    fastest : float
        Bound of the largest frequency, rad/s.
    element : str
        The element that has it.
    elements_per_level : tuple of int
        How many elements have the step, half of it, a quarter, …
    gain : float
        Kicks of all elements by the smallest step over those of the asynchronous steps (a ratio).

    Examples
    --------
    What `Network.steps` and `Rod.steps` return; printed, it says which method it advises.

    >>> from mechanics.elastic import Network, Springs
    >>> Network([[0, 0, 0], [1, 0, 0]], 2.0, [Springs([[0, 1]], 4.0)]).steps().fastest
    2.0
    """

    safety: float
    step: float
    verlet_step: float
    fastest: float
    element: str
    elements_per_level: tuple[int, ...]
    gain: float

    def __str__(self) -> str:
        advice = "AVI" if self.gain >= WORTH else "SPLIT_STRANG with the smallest step"
        levels = ", ".join(f"{count} at step/{2**k}" for k, count in enumerate(self.elements_per_level) if count)
        return (
            f"step {self.step:.4g} s ({levels}), smallest {self.verlet_step:.4g} s by {self.element};\n"
            f"{self.gain:.3g} times fewer kicks than one step for all: {advice}"
        )


def frequencies(
    sets: Sequence[tuple[Kind, Integers, Array]], inverse_masses: Array, points: Array, carried: Carried | None = None
) -> list[Array]:
    """ω of every element, rad/s, set by set, at the places of the nodes (n, 3); 0 without stiffness."""
    traces, stiff = np.zeros(len(points)), []
    for kind, nodes, numbers in sets:
        x = points[nodes]
        limiting = numbers if kind.stiffest is None else kind.stiffest(numbers, x)
        parts = [
            stiffness(kind, limiting[k : k + _LARGE], x[k : k + _LARGE]) for k in range(0, len(nodes), _LARGE)
        ]  # fmt: skip
        K = np.concatenate(parts) if parts else np.zeros((0, 3 * kind.nodes, 3 * kind.nodes))
        K = 0.5 * (K + np.swapaxes(K, 1, 2))
        trace = np.maximum(np.diagonal(K, axis1=1, axis2=2).reshape(-1, kind.nodes, 3).sum(axis=2), 0.0)
        np.add.at(traces, nodes, trace)
        stiff.append((K, trace))
    found, mobilities = [], []
    for (_, nodes, _), (K, trace) in zip(sets, stiff, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = inverse_masses[nodes] * np.where(trace > 0.0, traces[nodes] / trace, 0.0)
        scale = np.repeat(np.sqrt(inverse), 3, axis=1)
        scaled = np.nan_to_num(K * scale[:, :, None] * scale[:, None, :], nan=0.0, posinf=0.0, neginf=0.0)
        found.append(np.sqrt(np.maximum(np.linalg.eigvalsh(scaled)[:, -1], 0.0)) if len(K) else np.zeros(0))
        mobilities.append(np.nan_to_num(np.repeat(inverse, 3, axis=1), nan=0.0, posinf=0.0, neginf=0.0))
    if carried is not None:
        _on_bodies([nodes for _, nodes, _ in sets], [K for K, _ in stiff], mobilities, carried, found)
    return found


def _on_bodies(
    nodes_of: list[Integers], stiff: list[Array], mobilities: list[Array], carried: Carried, found: list[Array]
) -> None:
    """The frequencies of the elements at nodes on bodies into `found`: the inertia of a body is shared among its
    elements in proportion to tr K A, A the mobility of their nodes on it.
    """
    at_body = []
    total = np.zeros(len(carried.inverse_masses))
    for s, nodes in enumerate(nodes_of):
        for e in np.flatnonzero((carried.body[nodes] >= 0).any(axis=1)):
            on, A = carried.mobility(nodes[e])
            bodies = np.unique(on[on >= 0])
            wide = np.repeat(on, 3)
            weights = []
            for b in bodies:
                own = np.ix_(wide == b, wide == b)
                terms = stiff[s][e][own] * A[own].T  # of what lies on one body their sum is 0, but for rounding
                weight = float(np.sum(terms))
                weights.append(weight if weight > ROUNDING * float(np.abs(terms).sum()) else 0.0)
                total[b] += weights[-1]
            at_body.append((s, e, wide, A, bodies, weights))
    for s, e, wide, A, bodies, weights in at_body:
        shared = np.diag(mobilities[s][e])
        for b, weight in zip(bodies, weights, strict=True):
            own = np.ix_(wide == b, wide == b)
            shared[own] = A[own] * (total[b] / weight) if weight > 0.0 else 0.0
        found[s][e] = np.sqrt(max(float(np.linalg.eigvals(stiff[s][e] @ shared).real.max()), 0.0))


def steps_of(omega: Sequence[Array]) -> tuple[float, list[Array]]:
    """The smallest step h ω = 2 of an element, s (infinite without stiffness), and that of every element as a multiple
    of it.
    """
    fastest = float(max([0.0, *(w.max(initial=0.0) for w in omega)]))
    with np.errstate(divide="ignore", invalid="ignore"):
        multiples = [np.where(w > 0.0, fastest / w, np.inf) for w in omega]
    return (LIMIT / fastest if fastest > 0.0 else np.inf), multiples


def levels_of(multiples: Sequence[Array]) -> list[Integers]:
    """How often the smallest step is doubled for every element, so that its step is not above its own; elements that
    are not stiff go with the slowest.
    """
    found = [np.log2(np.minimum(m, 2.0**LONGEST)) + 1e-9 for m in multiples]
    stiff = [np.isfinite(m) for m in multiples]
    deepest = int(max([0, *(int(x[s].max(initial=0.0)) for x, s in zip(found, stiff, strict=True))]))
    return [np.minimum(x, deepest).astype(np.int64) for x in found]
