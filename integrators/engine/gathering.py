"""Statistics while a run goes on: of rows that have been saved, before they are given up.

A run keeps a window of its newest rows.  Before they go, the quantities are evaluated at them, and every full block of
samples is folded into the sums of its trajectory: where blocks begin is a matter of the number of a sample, not of who
computed it when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.room import bytes_of
from integrators.events import Event, Events, as_events
from integrators.layout import ROW
from integrators.problem import Problem
from integrators.problem.fields import as_field
from integrators.problem.jitted import raise_raised
from integrators.signatures import FIELD
from integrators.statistics import Statistics
from integrators.statistics.statistic import Samples, Statistic, Sums
from liegroup.compile import Entry, Pointer, entry, integers, is_jitted, matrix, nothing, vector

Array = NDArray[np.float64]
BLOCK = 1024
"""Samples that are folded together."""
_WINDOW_BYTES, _MOST = 2**22, 2**13
"""Of all windows together, about; rows of one."""


@entry(nothing(FIELD, vector, matrix, vector, integers, matrix, matrix))
def along(field: Any, t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out[k] <- field(t[k], y[k])."""
    for k in range(t.shape[0]):
        field(t[k], y[k], parameters, structure, work, out[k])


Quantity = Callable[[Array, Array, Array], Array]
"""(t (k,), y (k, n), invariants (k, r)) → values (k,)."""


def quantity_of(problem: Problem, quantity: Any, t0: float) -> Quantity:
    """What gives a quantity at saved rows; ValueError for unknown names and functions of another kind."""
    if isinstance(quantity, str):
        return _named(problem, quantity)
    if is_jitted(quantity) or isinstance(quantity, Entry):
        return _compiled(problem, quantity)
    _check_batches(problem, quantity, t0)
    return lambda t, y, invariants: _values(quantity, t, y)


def _named(problem: Problem, name: str) -> Quantity:
    if name in problem.invariant_names:
        k = problem.invariant_names.index(name)
        return lambda t, y, invariants: invariants[:, k]
    columns = [f"{v.name}.{label}" if v.size > 1 else v.name for v in problem.variables for label in v.labels]
    if name not in columns:
        raise ValueError(f"quantity {name!r}: expected one of {[*problem.invariant_names, *columns]}, or a function")
    column = columns.index(name)
    return lambda t, y, invariants: y[:, column]


def _compiled(problem: Problem, function: Any) -> Quantity:
    field = as_field(function, "quantity")
    pointer, parameters, work = Pointer(field.compiled, FIELD), problem.own_parameters(), np.zeros(problem.work_shape)

    def values(t: Array, y: Array, invariants: Array) -> Array:
        out = np.zeros((len(t), 1))
        along.compiled(pointer, t, y, parameters, problem.structure, work, out)
        raise_raised()
        return out[:, 0]

    return values


def _values(function: Any, t: Array, y: Array) -> Array:
    values, name = np.asarray(function(t, y)), getattr(function, "__name__", function)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"quantity {name!r}: {values.dtype} values, expected real numbers")
    if values.shape != t.shape:
        raise ValueError(
            f"quantity {name!r}: t of shape {t.shape} and y of shape {y.shape} give values of shape {values.shape}, "
            f"expected {t.shape}: write it for components last (y[..., 0]), or decorate it with numba.njit"
        )
    return values.astype(np.float64, copy=False)


def _check_batches(problem: Problem, function: Any, t0: float) -> None:
    """ValueError unless a plain function takes many states, of a number that is not mistaken for their size."""
    starts = np.atleast_2d(problem.y0)
    count = problem.n + 1
    _values(function, np.full(count, t0), np.resize(starts, (count, problem.n)))


class Gathered:
    """The sums of the trajectories of a run; a sink that lets rows go once they have been looked at."""

    def __init__(self, problem: Problem, statistics: Sequence[Statistic], samples: Samples, own_events: int) -> None:
        self.problem, self.statistics, self.samples, self.own_events = problem, statistics, samples, own_events
        asked = {quantity for statistic in statistics for quantity in statistic._quantities}
        self.quantities = {quantity: quantity_of(problem, quantity, samples.t0) for quantity in asked}
        self.sampled = [(k, s._quantities[0]) for k, s in enumerate(statistics) if s._quantities and s._event is None]
        self.lanes: list[list[Sums]] = []
        self.pending: list[Array] = []
        self.folded: list[int] = []

    def begin(self, lanes: int) -> None:
        """For so many trajectories at once."""
        self.lanes = [[statistic._start(self.samples) for statistic in self.statistics] for _ in range(lanes)]
        self.pending = [np.zeros((len(self.sampled), 0)) for _ in range(lanes)]
        self.folded = [0] * lanes

    def make_room(self, run: Any) -> None:
        """Let the rows of a run go if its window is half full."""
        if run.is_half_full:
            run.hand_over(int(run.counters[ROW]))

    def take(self, run: Any) -> None:
        """Look at the rows of a run, and at the zeros it has found."""
        single = run.y.ndim == 1
        for lane in range(len(self.lanes)):
            pick = ... if single else (..., lane)
            seen = self.folded[lane] + self.pending[lane].shape[1]
            rows = min(run.rows_of(lane), max(0, self.samples.count - seen))
            if rows and self.sampled:
                t, y, values = (
                    np.ascontiguousarray(x[:rows]) for x in (run.saved_t, run.saved[pick], run.saved_values[pick])
                )
                fresh = np.array([self.quantities[quantity](t, y, values) for _, quantity in self.sampled])
                self.pending[lane] = np.concatenate([self.pending[lane], fresh], axis=1)
                self._fold(lane, self.pending[lane].shape[1] // BLOCK * BLOCK)
        self._cross(run)

    def _fold(self, lane: int, count: int) -> None:
        """Fold the first pending samples, block by block."""
        pending = self.pending[lane]
        for start in range(0, count, BLOCK):
            for values, (k, _) in zip(pending[:, start : min(start + BLOCK, count)], self.sampled, strict=True):
                first = self.folded[lane] + start
                self.statistics[k]._fold(self.lanes[lane][k], self.samples, first, np.ascontiguousarray(values))
        self.pending[lane] = pending[:, count:].copy()
        self.folded[lane] += count

    def _cross(self, run: Any) -> None:
        """Take the zeros of statistics from those that a run has found."""
        mine = [row for row in run.events_found if row[1] >= self.own_events]
        if not mine:
            return
        run.events_found = [row for row in run.events_found if row[1] < self.own_events]
        wanted = [k for k, statistic in enumerate(self.statistics) if statistic._event is not None]
        for number, k in enumerate(wanted, self.own_events):
            rows = [row for row in mine if row[1] == number]
            if not rows:
                continue
            t, y = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
            watched = np.array([self.problem.invariant_values(*pair) for pair in zip(t.tolist(), y, strict=True)])
            columns = [self.quantities[quantity](t, y, watched) for quantity in self.statistics[k]._quantities]
            self.statistics[k]._cross(self.lanes[0][k], t, np.array(columns).T)

    def finish(self) -> None:
        """After the last sample: fold what is left."""
        for lane in range(len(self.lanes)):
            self._fold(lane, self.pending[lane].shape[1])

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """As arrays, for a checkpoint: all sums one after the other, and how many rows each has."""
        tables = [table for lane in self._tables() for table in lane]
        return {
            "folded": np.array(self.folded, dtype=np.int64),
            "rows": np.array([len(np.atleast_1d(table)) for table in tables], dtype=np.int64),
            "numbers": np.concatenate([np.zeros(0), *(np.ravel(table) for table in tables)]),
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.folded = [int(x) for x in kept["folded"]]
        numbers, rows, at = np.asarray(kept["numbers"]), iter(kept["rows"].tolist()), 0

        def taken(like: NDArray[Any]) -> NDArray[Any]:
            nonlocal at
            shape = (next(rows), *like.shape[1:])
            part = numbers[at : at + int(np.prod(shape))].astype(like.dtype)
            at += part.size
            return part.reshape(shape if like.ndim else ())

        for lane, tables in enumerate(self._tables()):
            found = [taken(table) for table in tables]
            self.pending[lane] = found.pop(0).T
            names = ((sums, name) for sums in self.lanes[lane] for name in sums)
            for (sums, name), table in zip(names, found, strict=True):
                sums[name] = table

    def _tables(self) -> list[list[NDArray[Any]]]:
        """Of every lane the samples that wait, a row each, and its sums."""
        pairs = zip(self.pending, self.lanes, strict=True)
        return [[pending.T, *(x for sums in each for x in sums.values())] for pending, each in pairs]


def with_events(events: Events | None, statistics: Sequence[Statistic]) -> Events | None:
    """The events of the user, and behind them those of statistics."""
    own = [] if events is None else list(events.rows)
    needed = [(statistic.label, statistic._event) for statistic in statistics if statistic._event is not None]
    more = [Event(function, label, direction, terminal) for label, (function, direction, terminal) in needed]
    return as_events([*own, *more])


def window_for(problem: Problem) -> int:
    """Rows that a run keeps in memory while its statistics are gathered."""
    trajectories = len(np.atleast_2d(problem.y0))
    return int(np.clip(_WINDOW_BYTES // (bytes_of(problem, 1) * trajectories), 2 * 64, _MOST))


def in_words(statistics: Sequence[Statistic]) -> str:
    """Statistics without their functions, for files."""
    return json.dumps([statistic._in_words() for statistic in statistics])


def gathered_by(runs: Sequence[Any], count: int, single: bool) -> Statistics | None:
    """The statistics of the first `count` trajectories of some runs, in their order."""
    if runs[0].gathered is None:
        return None
    each = [sums for run in runs for sums in run.gathered.lanes][:count]
    declared = runs[0].output.statistics
    return Statistics(declared, [s._stacked([sums[k] for sums in each]) for k, s in enumerate(declared)], single)


def settle(runs: Sequence[Any]) -> None:
    """After the end: look at the last rows; the tables of the runs become those of their summaries."""
    for run in runs:
        if run.gathered is not None:
            run.hand_over(int(run.counters[ROW]))
            run.condense()
