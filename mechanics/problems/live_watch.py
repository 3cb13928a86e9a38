"""What happens to the loops of a mechanism, said while it runs: a callback of `integrate`.

    integrate(problem, method, span, step=h, callback=LiveWatch(mechanism))

Between chunks of the run it looks at the extremes of gap and pivot that the compiled loop keeps over every step, which
costs nothing per step, and only where they are out of bounds at the states that were saved there, to name the closure
and the equation. `mechanics.problems.watch.findings` says more about the saved states afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import of_kind
from mechanics.constraints.mobility import NEAR, SMALL, nearness, weighted_matrix
from mechanics.errors import MotionWarning
from mechanics.guards import OPEN
from mechanics.mechanism import Mechanism
from mechanics.problems.watch import Finding, share, widest

Array = NDArray[np.float64]
GAP, PIVOT = 1, 3
"""Places of the invariants; formulations without momenta have no pivot."""
TENSE = 1e-9
"""Gap, relative to the size of the mechanism, from which on redundant equations can act."""


def warn(found: Finding) -> None:
    """A `MotionWarning`."""
    warnings.warn(str(found), MotionWarning, stacklevel=2)


class LiveWatch:
    """Watches a run in tree coordinates, whose state begins with q.

    Parameters
    ----------
    mechanism : Mechanism
        Whose run it watches.
    tell : function of a Finding
        Called once for every kind of finding at every equation; default a `MotionWarning`.
    stop_on : kinds of findings
        Those that end the run ("open", "singular", "locked"): status ``STOPPED``, everything so far is kept.

    Attributes
    ----------
    found : list of Finding
        All of them.  The time is that of the first saved state, or of the end of the chunk, after the event.

    Raises
    ------
    ValueError, TypeError
        Another kind of finding to stop on; not a Mechanism.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> LiveWatch(SYSTEMS["four-bar"].mechanism(), stop_on=("open",)).found
    []
    """

    def __init__(
        self, mechanism: Mechanism, tell: Callable[[Finding], None] = warn, stop_on: tuple[str, ...] = ()
    ) -> None:
        of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
        if unknown := set(stop_on) - {"open", "singular", "locked"}:
            raise ValueError(f"stop_on: {', '.join(sorted(unknown))}, expected some of open, singular, locked")
        self.mechanism, self.tell, self.stop_on = mechanism, tell, stop_on
        self.found: list[Finding] = []
        self._told: set[tuple[str, str]] = set()
        self._near: dict[int, bool] = {}
        self._pivot_at_home = mechanism.pivot_at_home

    def look(self, stretch: Any) -> bool:
        """Whether the run is to stop, after what is in an `integrators.engine.run.Stretch`.

        Parameters
        ----------
        stretch : Stretch
            States and extremes since the last look (`integrators.engine.run.Stretch`).

        Returns
        -------
        bool
            Whether the run is to stop.
        """
        before, single = len(self.found), stretch.y.ndim == 2
        for lane, (states, least, greatest) in enumerate(
            [(stretch.y, stretch.least, stretch.greatest)]
            if single
            else zip(stretch.y, stretch.least, stretch.greatest, strict=True)
        ):
            gaps = greatest[:, GAP]
            for k in np.flatnonzero(~(gaps <= TENSE * self.mechanism.size)):
                self._strained(float(stretch.t[k]), states[k], float(gaps[k]))
            if least.shape[1] > PIVOT:
                parts = np.sqrt(np.maximum(least[:, PIVOT], 0.0) / self._pivot_at_home)
                self._passages(lane, stretch.t, states, parts)
        return any(f.kind in self.stop_on for f in self.found[before:])

    def _add(self, kind: str, time: float, where: str, value: float) -> None:
        found = Finding(kind, time, where, value)
        self.found.append(found)
        if (kind, where) not in self._told:
            self._told.add((kind, where))
            self.tell(found)

    def _seen(self, kind: str) -> bool:
        return any(f.kind == kind for f in self.found)

    def _strained(self, time: float, state: Array, gap: float) -> None:
        """A gap is wider than closed mechanisms have: open, or held by an equation that was redundant."""
        made, q = self.mechanism, state[: self.mechanism.tree.nq]
        if not np.isfinite(q).all():
            return
        if not gap <= OPEN * made.size and not self._seen("open"):
            self._add("open", time, widest(made, time, q)[0], gap)
        m = made.mobility
        if m.redundant and not self._seen("locked"):
            u, s, _ = np.linalg.svd(weighted_matrix(made.equations, q, m.scales, time))
            if m.rank < len(s) and s[m.rank] > SMALL * s[0]:
                self._add("locked", time, share(made, u[:, m.rank]), float(s[m.rank] / s[0]))

    def _passages(self, lane: int, t: Array, states: Array, parts: Array) -> None:
        """Singular positions that come near: once each."""
        for k, part in enumerate(parts):
            near = bool(part < NEAR)
            q = states[k, : self.mechanism.tree.nq]
            if near and not self._near.get(lane, False) and np.isfinite(q).all():
                where = nearness(self.mechanism.equations, self.mechanism.mobility, q, float(t[k]))[1]
                self._add("singular", float(t[k]), where, float(part))
            self._near[lane] = near
