"""Several ensembles as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.engine.collect import attributes_together, divided, in_words, without_divided, without_doubts
from integrators.problem.guards import doubtful
from integrators.results.solution import Solution
from integrators.statistics.gathered import joined as statistics_of
from integrators.status import EXPLANATIONS, REACHED
from liegroup.arrays import sequence

Array = NDArray[np.float64]
_ROWS = ("y", "invariants", "least", "greatest", "mean_since")


def joined(parts: Sequence[Solution]) -> Solution:
    """The ensemble of all trajectories of several ensembles of one problem and method, in their order.

    Parameters
    ----------
    parts : sequence of Solution
        Of ensembles, such as those of `integrate` with parts of the initial states.

    Returns
    -------
    Solution
        The arrays that `integrate` gives for all initial states at once, bit by bit.  Rows that a trajectory did not
        reach are NaN; counts and seconds are sums; what is said of how steps were divided is of all parts, as of one
        run; scene, joints and the other attributes are those of the first part.

    Raises
    ------
    ValueError
        No parts; solutions of single trajectories, of different models, methods or variables.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Problem, integrate
    >>> from integrators.ensemble import joined
    >>> from liegroup import rn
    >>> decay = Problem(rn(1), [[1.0], [2.0], [3.0]], lambda t, y: -y)
    >>> whole = integrate(decay, "RKMK4", (0.0, 1.0), 0.1)
    >>> parts = [integrate(decay.with_start(y0), "RKMK4", (0.0, 1.0), 0.1) for y0 in (decay.y0[:2], decay.y0[2:])]
    >>> bool((joined(parts).y == whole.y).all())
    True
    """
    given = sequence(parts, "parts", "solutions of ensembles")
    if not given or not all(isinstance(part, Solution) and part.y.ndim == 3 for part in given):
        raise ValueError(f"parts: {given!r}, expected one or more solutions of ensembles")
    first = given[0]
    for part in given[1:]:
        for name in ("model", "method", "step", "variables", "invariant_names"):
            if getattr(part, name) != getattr(first, name):
                raise ValueError(
                    f"parts: {name} {getattr(first, name)!r} and {getattr(part, name)!r}, expected the same in all"
                )
    longest = max(given, key=lambda part: part.y.shape[1])
    rows = longest.y.shape[1]
    t, stretch = (_common(given, longest, name, rows) for name in ("t", "stretch"))
    starts = np.cumsum([0, *(len(part.y) for part in given)])
    attributes = attributes_together([part.attributes for part in given], [len(part.y) for part in given])
    status = tuple(status for part in given for status in part.status)
    said = {int(start) + k: why for part, start in zip(given, starts, strict=False) for k, why in part.failures.items()}
    failures = {k: said.get(k, EXPLANATIONS[one]) for k, one in enumerate(status) if one not in REACHED}
    doubts = tuple(
        replace(doubt, trajectory=doubt.trajectory + int(start))
        for part, start in zip(given, starts, strict=False)
        for doubt in part.doubts
    )
    reached = in_words(failures, without_divided(without_doubts(first)), len(status))
    whole: Solution = replace(
        first,
        t=t,
        stretch=stretch,
        **{name: _stacked([getattr(part, name) for part in given], rows) for name in _ROWS},
        status=status,
        message=reached + divided(attributes) + doubtful(doubts),
        attributes=attributes,
        failures=failures,
        doubts=doubts,
        steps=max(part.steps for part in given),
        **{name: sum(getattr(part, name) for part in given) for name in _SUMS},
        events=tuple(events for part in given for events in part.events),
        statistics=None if first.statistics is None else statistics_of([part.statistics for part in given]),
    )
    return whole


_SUMS = ("evaluations", "iterations", "rejected", "seconds")


def _stacked(tables: Sequence[Array], rows: int) -> Array:
    """Tables (m, k, …) below each other, with NaN up to the same number of rows."""
    return np.concatenate(
        [
            np.pad(table, [(0, 0), (0, rows - table.shape[1])] + [(0, 0)] * (table.ndim - 2), constant_values=np.nan)
            for table in tables
        ]
    )


def _common(parts: Sequence[Solution], longest: Solution, name: str, rows: int) -> Array:
    """Times, or stretches, of all trajectories, (k,); of each (m, k) where they are not the same."""
    whole: Array = getattr(longest, name)
    each = [getattr(part, name) for part in parts]
    if all(own.ndim == 1 and np.array_equal(own, whole[: len(own)]) for own in each):
        return whole
    return _stacked([_own(part, name) for part in parts], rows)


def _own(part: Solution, name: str) -> Array:
    """Times, or stretches, of every trajectory (m, k); NaN where it has not come."""
    table = np.array(np.broadcast_to(getattr(part, name), part.y.shape[:2]), dtype=np.float64)
    table[np.isnan(part.y).all(axis=-1)] = np.nan
    return table
