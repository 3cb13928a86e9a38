"""Of the rows a run has handed over, every s-th: what it would have kept with a larger `save_every`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.observe import GREATEST, LEAST

Array = NDArray[np.float64]
MOST = 1024
"""Rows of a summary; from that on every second one of them is kept."""
TABLES = ("saved_t", "saved", "saved_values", "statistics", "stretch")


class Summary:
    """Every s-th row, s a power of two, with the statistics of all steps in between: they do not depend on when rows
    are included.
    """

    def __init__(self, tables: dict[str, NDArray[Any]]) -> None:
        self.stride, self.seen = 1, 0
        self.tables = {name: table[:0].copy() for name, table in tables.items()}
        self.open_statistics, self.open_stretch = np.zeros_like(tables["statistics"][:0]), 0

    def include(self, fresh: dict[str, NDArray[Any]]) -> None:
        """Take in rows that follow those seen."""
        rows = len(fresh["saved_t"])
        keep = (self.seen + np.arange(rows)) % self.stride == 0
        self.seen += rows
        self._append(fresh, keep)
        while len(self.tables["saved_t"]) > MOST:
            old, statistics, stretch = self.tables, self.open_statistics, self.open_stretch
            self.tables = {name: table[:0] for name, table in old.items()}
            self.open_statistics, self.open_stretch = statistics[:0], 0
            self.stride *= 2
            self._append(old, np.arange(len(old["saved_t"])) % 2 == 0)
            self.open_statistics, self.open_stretch = self._with_open(statistics, stretch)

    def _append(self, fresh: dict[str, NDArray[Any]], keep: NDArray[np.bool_]) -> None:
        """Keep some of the rows that follow."""
        statistics = np.concatenate([self.open_statistics, fresh["statistics"]])
        first = len(self.open_statistics)
        counts = np.concatenate([np.full(first, self.open_stretch, dtype=np.int64), fresh["stretch"]])
        ends = np.flatnonzero(keep) + first + 1
        starts, end = np.concatenate([[0], ends[:-1]])[: len(ends)].astype(np.int64), int(ends[-1]) if len(ends) else 0
        kept = {name: fresh[name][keep] for name in ("saved_t", "saved", "saved_values")} | {
            "statistics": _merged(statistics[:end], starts),
            "stretch": np.add.reduceat(counts[:end], starts) if end else counts[:0],
        }
        self.tables = {name: np.concatenate([table, kept[name]]) for name, table in self.tables.items()}
        self.open_statistics = _merged(statistics[end:], np.zeros(int(end < len(statistics)), dtype=np.int64))
        self.open_stretch = int(counts[end:].sum())

    def _with_open(self, statistics: Array, stretch: int) -> tuple[Array, int]:
        """The statistics since the last row, with those that follow."""
        both = np.concatenate([self.open_statistics, statistics])
        return _merged(both, np.zeros(int(len(both) > 0), dtype=np.int64)), self.open_stretch + stretch

    def with_open(self, statistics: Array, stretch: int) -> tuple[dict[str, NDArray[Any]], int]:
        """The tables as those of a run, with the open stretch (1, …) of it, and the number of its values."""
        rest, count = self._with_open(statistics if stretch else statistics[:0], stretch)
        closing = rest if len(rest) else np.zeros_like(statistics)
        return self.tables | {"statistics": np.concatenate([self.tables["statistics"], closing])}, count

    def state(self) -> dict[str, NDArray[Any]]:
        """As arrays, for a checkpoint."""
        numbers = np.array([self.stride, self.seen, self.open_stretch], dtype=np.int64)
        return self.tables | {"open_statistics": self.open_statistics, "numbers": numbers}

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        """Take over what `state` gave."""
        self.tables = {name: kept[name] for name in self.tables}
        self.open_statistics = kept["open_statistics"]
        self.stride, self.seen, self.open_stretch = (int(x) for x in kept["numbers"])


def _merged(statistics: Array, starts: NDArray[np.int64]) -> Array:
    """The statistics of stretches of rows together, each from one of `starts` to the next."""
    if not len(starts):
        return np.zeros((0, *statistics.shape[1:]))
    m = statistics.shape[1] // 4
    parts = [statistics[:, LEAST * m : (LEAST + 1) * m], statistics[:, GREATEST * m : (GREATEST + 1) * m]]
    functions = (np.minimum, np.maximum, np.add)
    tables = (*parts, statistics[:, 2 * m :])
    return np.concatenate([f.reduceat(x, starts, axis=0) for f, x in zip(functions, tables, strict=True)], axis=1)
