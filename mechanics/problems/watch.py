"""What happened to the loops of a mechanism in a run: gaps that opened, singular positions, ranks that rose, states
that were lost.

The kernels keep the rank of the closures and never stop for a singular position; this looks at the states they saved
and says which closure, which equation and when.  Nothing is lost by it: a solution keeps its states up to the last good
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals, sequence
from mechanics.constraints.mobility import NEAR, SMALL, nearness, weighted_matrix
from mechanics.guards import OPEN
from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """Something that happened to a mechanism.

    Attributes
    ----------
    kind : {"lost", "open", "singular", "locked"}
        The state is not finite; a closure is open; the closures lose rank; an equation that was redundant acts, so that
        the mechanism cannot move as it did.
    time : float
        When it was seen first, s; for "singular" when it was nearest.
    where : str
        Closure and equation, or coordinate.
    value : float
        The gap (m or 1), or the relative singular value.
    """

    kind: str
    time: float
    where: str
    value: float

    def __str__(self) -> str:
        says = {
            "lost": "the state is not finite from here on",
            "open": f"open by {self.value:.3g}",
            "singular": f"near a singular position: smallest singular value {self.value:.2g} of its usual value",
            "locked": (
                f"a redundant equation acts: singular value {self.value:.2g} of the greatest; the mechanism is locked"
            ),
        }
        return f"t = {self.time:.6g} s, {self.where}: {says[self.kind]}"


def findings(mechanism: Mechanism, t: ArrayLike, q: ArrayLike) -> list[Finding]:
    """What happened to the loops along saved states.

    Parameters
    ----------
    mechanism : Mechanism
        Whose run it was.
    t : array (k,)
        Times, s.
    q : array (k, nq)
        Coordinates, rad and m: ``solution["q"]``.

    Returns
    -------
    list of Finding, in order of time
        A closure is reported open once; every passage of a singular position is reported once.

    Raises
    ------
    ValueError
        The shapes do not fit the mechanism.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> four_bar = SYSTEMS["four-bar"].mechanism()
    >>> findings(four_bar, [0.0], [four_bar.home])
    []
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    times, states = reals(t, "t"), reals(q, "q")
    if states.shape != (len(times), mechanism.tree.nq):
        raise ValueError(f"q: shape {states.shape}, expected ({len(times)}, {mechanism.tree.nq}), one row per time")
    finite = np.isfinite(states).all(axis=1)
    good = len(times) if finite.all() else int(np.argmin(finite))
    found = [*_opened(mechanism, times[:good], states[:good]), *_ranks(mechanism, times[:good], states[:good])]
    if good < len(times):
        bad = int(np.argmax(~np.isfinite(states[good])))
        found.append(Finding("lost", float(times[good]), mechanism.labels[0][bad], float("nan")))
    return sorted(found, key=lambda f: f.time)


def report(found: list[Finding]) -> str:
    """Findings in words, one line each.

    Parameters
    ----------
    found : list of Finding
        From `findings` or `LiveWatch.found`.

    Returns
    -------
    str
        One line where there is nothing.

    Examples
    --------
    >>> report([])
    'nothing to report: all loops closed, no singular position'
    """
    lines = [str(f) for f in sequence(found, "found", "a list of findings")]
    return "\n".join(lines) or "nothing to report: all loops closed, no singular position"


def _opened(mechanism: Mechanism, t: Array, q: Array) -> Iterator[Finding]:
    equations = mechanism.equations
    seen: set[int] = set()
    for time, state in zip(t, q, strict=True):
        phi = np.abs(equations.gap(state, time))
        for c in np.flatnonzero(phi > OPEN * mechanism.size):
            closure = int(equations.closure_of[c])
            if closure not in seen:
                seen.add(closure)
                where, gap = widest(mechanism, float(time), state, equations.closure_of == closure)
                yield Finding("open", float(time), where, gap)


def widest(mechanism: Mechanism, t: float, q: Array, among: Any = True) -> tuple[str, float]:
    """The equation with the greatest |φ| at a state, and |φ|."""
    phi = np.where(among, np.abs(mechanism.equations.gap(q, t)), -1.0)
    worst = int(np.argmax(phi))
    return mechanism.equations.names[worst], float(phi[worst])


def _ranks(mechanism: Mechanism, t: Array, q: Array) -> Iterator[Finding]:
    m, loops = mechanism.mobility, mechanism.equations
    if m.rank == 0:
        return
    nearest: Finding | None = None
    locked = False
    for time, state in zip(t, q, strict=True):
        part, where = nearness(loops, m, state, float(time))
        if part < NEAR and (nearest is None or part < nearest.value):
            nearest = Finding("singular", float(time), where, part)
        elif part >= NEAR and nearest is not None:
            yield nearest
            nearest = None
        u, s, _ = np.linalg.svd(weighted_matrix(loops, state, m.scales, float(time)))
        if not locked and m.rank < len(s) and s[m.rank] > SMALL * s[0]:
            locked = True
            yield Finding("locked", float(time), share(mechanism, u[:, m.rank]), float(s[m.rank] / s[0]))
    if nearest is not None:
        yield nearest


def share(mechanism: Mechanism, direction: Array) -> str:
    """The equation with the largest part in a combination of equations."""
    return mechanism.equations.names[int(np.argmax(np.abs(direction)))]
