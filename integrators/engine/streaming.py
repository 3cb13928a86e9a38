"""Runs whose saved states go into a file while they go on, so that their memory does not grow.

The tables of a run hold a window of its newest rows.  Before they are full they are put into the stream and committed;
of older rows a summary stays in memory, as if few had been saved, from which doubts are found at the end.  A checkpoint
beside the stream says how many rows its state has handed over: `resume` cuts the stream there and computes the same
rows again.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.adaptive_run import Steering
from integrators.engine.checkpoint import Checkpoint, Stored, content_of, load, previous_of
from integrators.engine.collect import collect, described, rows_of_ensemble, rows_of_single, with_end
from integrators.engine.room import bytes_of
from integrators.engine.run import Output, Plan, Run
from integrators.method import Method
from integrators.problem import Problem
from integrators.results.in_use import InUse
from integrators.results.journal import Replaced
from integrators.results.replacing import target_of
from integrators.results.solution import Solution
from integrators.results.storage import Dataset, StorageError
from integrators.results.streams import ZarrStream, format_of, place_of, reading
from integrators.status import REACHED, Status
from liegroup.compile import WIDTH

WINDOW_BYTES = 2**22
"""Of all windows together, about."""
FEWEST, MOST = 64, 2**16
"""Rows of a window."""
CHUNK_ROWS = 4096
"""Rows that are compressed together, at most."""
SECONDS = 2.0
"""After which saved rows are in the file, at the latest when the next chunk of steps begins."""


def checkpoint_of(path: str | os.PathLike[str]) -> Path:
    """Where the checkpoint of a stream is kept."""
    return Path(f"{os.fspath(path)}.checkpoint")


def stored_of(path: str | os.PathLike[str]) -> tuple[Stored, bool]:
    """The checkpoint from which `resume` goes on, and whether it belongs to a stream, which is then at `path`."""
    beside = checkpoint_of(path)
    if beside.exists() or previous_of(beside).exists():
        return load(beside), True
    if _holds_results(path):
        raise StorageError(
            f"{path}: contains results, expected a checkpoint; of a run into a file it is {beside}, which is not there"
        )
    stored = load(path)
    if stored.attributes["stream"]:
        stream = os.fspath(path).removesuffix(".previous").removesuffix(".checkpoint")
        raise StorageError(f"{path}: the checkpoint of a run into a file; give the name of that file, {stream}")
    return stored, False


def _holds_results(path: str | os.PathLike[str]) -> bool:
    with suppress(ValueError), reading(path) as stream:  # also one that no run has ended
        return stream.attributes.get("content") == "solution"
    return False


def window_of(problem: Problem, output: Output) -> int:
    """Rows that a run keeps in memory; 0: all, where the times are given, which are in memory anyway."""
    if len(output.times):
        return 0
    trajectories = len(np.atleast_2d(problem.y0))
    return int(np.clip(WINDOW_BYTES // (bytes_of(problem, 1) * trajectories), FEWEST, MOST))


class Streaming(Checkpoint):
    """Keeps a stream and its checkpoint up to date."""

    def __init__(
        self, path: str | os.PathLike[str], every: float, problem: Problem, method: Method, output: Output,
        way: Plan | Steering, runs: Sequence[Run], overwrite: bool = False, follows: Stored | None = None,
        says: str = "",
    ) -> None:  # fmt: skip
        self.problem, self.method, self.way = problem, method, way
        self.in_use = InUse(path)
        try:
            self._begin(path, every, output, runs, overwrite, follows, says)
        except BaseException:
            self.in_use.give_back()
            raise

    def _begin(
        self, path: str | os.PathLike[str], every: float, output: Output, runs: Sequence[Run], overwrite: bool,
        follows: Stored | None, says: str,
    ) -> None:  # fmt: skip
        problem, method, way = self.problem, self.method, self.way
        kind = format_of(path)
        self.single = np.ndim(problem.y0) == 1
        self._lock, self._due, self.failure = threading.RLock(), time.monotonic() + SECONDS, ""
        self.replaced = False
        self._first = {id(run): k for k, run in zip(_firsts(runs), runs, strict=True)}
        rows = self._solution(runs[0], self._found(runs[0]), 0)
        self._rows = rows._stored_variables()["stretch"].dims[-1]
        target = Path(path) if follows is not None else place_of(path, overwrite)
        name = uuid.uuid4().hex if follows is None else str(follows.attributes["stream"])
        is_last = False if follows is None else (follows.is_last or None)
        super().__init__(checkpoint_of(path), every, problem, method, output, way, runs, is_last, name, overwrite, says)
        if follows is None:
            self._create(kind, target, name, runs)
        elif not target.exists():
            raise StorageError(f"{path}: is gone; its checkpoint {checkpoint_of(path)} alone cannot be resumed")
        self.target = Path(os.path.realpath(path)) if kind is ZarrStream else target_of(path)
        seen = kind(self.target, writing=False)  # to be opened for writing changes a file
        mark = seen.attributes.get("stream")
        seen.close()
        if mark != name:
            raise StorageError(
                f"{path}: is not the file that belongs to the checkpoint {checkpoint_of(path)}, but has come in its "
                "place; that run cannot go on without its file"
            )
        self.stream = kind(self.target, writing=True)
        if follows is not None:  # rows after the checkpoint are computed again
            with content_of(path, "the stream of this checkpoint"):
                self.stream.resize(self._rows, max(run.handed for run in runs))
                self.stream.commit()
        for run in runs:
            run.sink = self

    def _create(self, kind: Any, target: Path, name: str, runs: Sequence[Run]) -> None:
        """The checkpoint of the start and then a stream without rows."""
        super().write()
        start = self._start(runs)
        variables = start._stored_variables()
        dims = {dim for variable in variables.values() for dim in variable.dims}
        chunk = min(CHUNK_ROWS, max(run.output.window for run in runs) or CHUNK_ROWS)
        growing = {self._rows: chunk} | {dim: CHUNK_ROWS for dim in sorted(dims) if dim.endswith("_occurrence")}
        kind.create(target, Dataset(variables, {**start._stored_attributes(), "stream": name}), growing)

    def _start(self, runs: Sequence[Run]) -> Solution:
        """The solution before its first row."""
        count = len(np.atleast_2d(self.problem.y0))
        one = self._solution(runs[0], self._found(runs[0]), 0)
        names = runs[0].output.own_events
        n = self.problem.n
        events = {name: (np.zeros(0), np.zeros((0, n))) for name in names}
        if self.single:
            return replace(one, events=events)
        tables = {
            name: np.zeros((count, 0, getattr(one, name).shape[-1]))
            for name in ("y", "invariants", "least", "greatest", "mean_since")
        }
        tables |= {name: np.zeros((count, 0)) for name in ("t", "stretch") if getattr(one, name).ndim == 2}
        return replace(one, **tables, status=(Status.INTERRUPTED,) * count, events=(events,) * count)  # type: ignore[arg-type]

    # --- rows -----------------------------------------------------------------------------------------------------

    def _found(self, run: Run) -> list[Any]:
        """The trajectories of a run, without the copies that fill its lanes."""
        return run.trajectories()[: len(np.atleast_2d(self.problem.y0)) - self._first[id(run)]]

    def _solution(self, run: Run, found: list[Any], rows: int | None, last: bool = False) -> Solution:
        """Rows of a run as a solution; `last`: with the state where it ended."""
        if self.single:
            tables = rows_of_single(self.problem, run, found[0], last)
        else:
            if last and not isinstance(self.way, Plan):
                found = [with_end(self.problem, run, one) for one in found]
            tables = rows_of_ensemble(found, self.way, run.output)
        if rows is not None:
            tables = {name: _cut(name, values, rows, self.single) for name, values in tables.items()}
        status: Any = Status.INTERRUPTED if self.single else (Status.INTERRUPTED,) * len(found)
        says = "in progress, or killed: resume goes on with it"
        events: Any = {} if self.single else ({},) * len(found)
        return Solution(
            **tables, **described(self.problem, self.method, self.way), status=status, message=says, events=events
        )

    def make_room(self, run: Run) -> None:
        """Hand over the rows of a run if its window is half full, or it is time."""
        with self._lock:
            if self.failure:
                run.end(Status.FULL, self.failure)
            elif run.is_half_full or (run.steps_done and time.monotonic() >= self._due):
                self._hand_over([run])

    def _hand_over(self, runs: Sequence[Run], last: bool = False) -> None:
        """Put the rows of runs into the stream and commit; if that fails, the runs end."""
        try:
            blocks = [(run, self._put(run, last)) for run in runs]
            self.stream.commit()
        except (OSError, RuntimeError) as error:
            self._fail(error, runs)
            return
        self._due = time.monotonic() + SECONDS
        for run, rows in blocks:
            run.hand_over(rows)

    def _put(self, run: Run, last: bool) -> int:
        """Write the rows of a run; how many they are."""
        found = self._found(run)
        block = self._solution(run, found, None, last)
        fresh = int(block.t.shape[-1]) - run.fresh
        if fresh <= 0:
            return 0
        first, row = self._first[id(run)], run.handed
        length = self.stream.size(self._rows)
        if length < row + fresh:
            self.stream.resize(self._rows, row + fresh)
        for name, variable in block._stored_variables().items():
            if self._rows not in variable.dims:
                continue
            if "trajectory" in variable.dims or row + fresh > length:
                cut = [slice(run.fresh, None) if dim == self._rows else slice(None) for dim in variable.dims]
                self.stream.put(name, np.asarray(variable.values)[tuple(cut)], **{"trajectory": first, self._rows: row})
        return fresh

    def _fail(self, error: Exception, runs: Sequence[Run]) -> None:
        """The stream cannot be written any more: what was committed stays, and the runs end."""
        self.replaced = isinstance(error, Replaced)
        then = "begin anew, there is no checkpoint yet" if self._begins else "go on with resume"
        self.failure = f"into: {self.target} could not be written ({error}); " + (
            "what the run had put into it is lost; begin anew, with a name of its own"
            if self.replaced
            else f"what was committed is in it; make room and {then}"
        )
        self.stream.close()
        for run in runs:
            if not run.done:
                run.end(Status.FULL, self.failure)

    # --- checkpoints and the end ------------------------------------------------------------------------------------

    def write(self) -> None:
        """Hand over all rows, and write the checkpoint that goes with them."""
        with self._lock:
            if not self.failure:
                self._hand_over(self.runs)
            if not self.failure:
                super().write()

    def collect(self, runs: Sequence[Run], seconds: float) -> Solution:
        """The solution of the runs, which reads its tables from the stream; from memory, where all is still there
        because nothing could be written.
        """
        with self._lock:
            if not self.failure:
                self._hand_over(runs, last=True)
            lost = bool(self.failure)
            in_memory = lost and not any(run.handed for run in runs)
            for run in () if in_memory else runs:
                run.condense()
            whole = with_choice(collect(self.problem, self.method, self.way, runs, seconds), self.says)
            if lost:
                whole = replace(whole, status=_full(whole.status))
            if not self.failure:
                try:
                    self._finish(whole)
                except (OSError, RuntimeError) as error:
                    self._fail(error, ())
            if self.failure and self.failure not in whole.message:
                whole = replace(whole, message=f"{whole.message}; {self.failure}")
            if in_memory or self.replaced:
                return whole
            tables = Solution.load(self.target, lazy=True)
        return replace(
            whole, t=tables.t, y=tables.y, invariants=tables.invariants, least=tables.least,
            greatest=tables.greatest, mean_since=tables.mean_since, stretch=tables.stretch,
        )  # fmt: skip

    def _finish(self, whole: Solution) -> None:
        """Write how the runs ended, and their events."""
        for name, variable in whole._stored_variables().items():
            if name == "status" or any(dim.endswith("_occurrence") for dim in variable.dims):
                values = np.asarray(variable.values)
                for dim, size in zip(variable.dims, values.shape, strict=True):
                    if dim.endswith("_occurrence"):
                        self.stream.resize(dim, size)
                self.stream.put(name, values.astype(object) if values.dtype.kind == "U" else values)
        self.stream.say(whole._stored_attributes())
        self.stream.commit()
        self.stream.seal()


def with_choice(solution: Solution, says: str) -> Solution:
    """The solution, whose message also says how its method was chosen."""
    return replace(solution, message=f"{solution.message} ({says})") if says else solution


def _full(status: Any) -> Any:
    """How trajectories ended whose last rows are lost, though they reached what they were to reach."""
    if not isinstance(status, Status):
        return tuple(_full(one) for one in status)
    return Status.FULL if status in REACHED else status


def _firsts(runs: Sequence[Run]) -> list[int]:
    """The number of the first trajectory of each run."""
    sizes = [WIDTH if run.y.ndim == 2 else 1 for run in runs]
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _cut(name: str, values: NDArray[Any], rows: int, single: bool) -> NDArray[Any]:
    """The first rows of a table."""
    axis = 0 if single or values.ndim == 1 else 1
    return values[(slice(None),) * axis + (slice(0, rows),)]
