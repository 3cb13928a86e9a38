"""Who takes the steps of many runs: the thread that asks, threads beside it, or processes.

A run is in one pair of hands at a time, for a chunk of steps.  Trajectories do not know of each other: who takes their
steps, and in what order, changes no bit.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Self

from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.paced_run import FEWEST, HANDFUL, PacedLanes, goes_in_lanes, has_lanes
from integrators.engine.run import Output, Plan, Run
from integrators.engine.start import makers
from integrators.method import Method
from integrators.problem import Problem
from liegroup.arrays import integer
from liegroup.compile import WIDTH, seconds_waited

CHUNK_SECONDS = 0.07
"""Between two looks at the clock, the progress bar and Ctrl-C."""
_SENT_SECONDS = 0.7
"""The same of processes, to which a run is sent and from which it comes back."""
_LOOK_SECONDS = 0.1
"""After which this thread looks at Ctrl-C while others take steps."""


def advance(run: Run, count: int) -> int:
    """Up to `count` further steps; returns how many are to be taken next time."""
    return _timed([run], count, lambda: run.go(count))


def _timed(runs: Sequence[Run], count: int, go: Callable[[], None]) -> int:
    """Up to `count` further steps of runs; returns how many are to be taken next time."""
    start, before = time.perf_counter() - seconds_waited(), sum(run.steps_done for run in runs)
    go()
    elapsed = time.perf_counter() - seconds_waited() - start
    done = (sum(run.steps_done for run in runs) - before) / min(len(runs), WIDTH)  # events end a chunk early
    return max(1, min(8 * count, int(done * CHUNK_SECONDS / max(elapsed, 1e-6))))


class Rooms:
    """Lanes for runs that are taken together, one room for each pair of hands; they are made when they are wanted.

    Their code takes as long to compile as thousands of short runs: where the cache has none the rooms open when runs
    have been taken one by one for `PATIENCE`, so that it never takes much more than twice the time of the better way.
    """

    PATIENCE = 15.0
    """Seconds."""

    def __init__(self, run: AdaptiveRun) -> None:
        self._run, self._free = run, list[PacedLanes]()
        is_at_hand = run.method.stepper.paced.is_at_hand  # type: ignore[union-attr]
        self._opens, self._looked = time.perf_counter() - seconds_waited(), False
        self._opens += 0.0 if is_at_hand else self.PATIENCE

    @property
    def are_open(self) -> bool:
        """Whether runs may go in; what they need there is compiled at the first time."""
        if time.perf_counter() - seconds_waited() < self._opens:
            return False
        if not self._looked:
            self._looked = True
            if not has_lanes(self._run.problem, self._run.method):
                self._opens = math.inf
        return self._opens < math.inf

    def advance(self, runs: Sequence[AdaptiveRun], count: int) -> int:
        """Up to `count` further steps in every lane; returns how many are to be taken next time."""
        try:
            room = self._free.pop()
        except IndexError:
            room = PacedLanes(self._run)
        try:
            return _timed(runs, count, lambda: room.go(count, runs))
        finally:
            self._free.append(room)


class Crew:
    """Takes chunks of steps, in up to `size` pairs of hands at a time; a context, at whose end no run is in any.

    With `rooms` there are several runs in each, in lanes, once these are open.
    """

    size = 1
    rooms: Rooms | None = None
    waited = 0.0
    """Seconds for which the hands beside those of this thread have waited for compilation, in the mean."""

    def __init__(self) -> None:
        self._counts: dict[Run, int] = {}

    @property
    def busy(self) -> int:
        """Hands that are full."""
        raise NotImplementedError

    def take(self, waiting: deque[Run]) -> None:
        """Take in hand one of the runs that wait, or as many as belong there together."""
        count, free = 1, self.size - self.busy
        if self.rooms is not None and len(waiting) >= FEWEST * free and self.rooms.are_open:
            count = WIDTH * -(-len(waiting) // (WIDTH * free))
        self.start([waiting.popleft() for _ in range(min(count, HANDFUL, len(waiting)))])

    def start(self, runs: list[Run]) -> None:
        """Have a chunk of steps taken."""
        raise NotImplementedError

    def advance(self, runs: list[Run], count: int) -> int:
        """Take up to `count` further steps; returns how many are to be taken next time."""
        if len(runs) == 1 or self.rooms is None:
            return advance(runs[0], count)
        return self.rooms.advance(runs, count)  # type: ignore[arg-type]

    def count_of(self, runs: list[Run]) -> int:
        """Steps of the next chunk."""
        return max(self._counts.get(run, 1) for run in runs)

    def note(self, runs: list[Run], count: int) -> None:
        """Note how many steps are to be taken next time."""
        for run in runs:
            self._counts[run] = count

    def finished(self) -> list[Run]:
        """Runs that have had their chunk, given back; waits a little for them."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Here(Crew):
    """The thread that asks, one handful at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._done: list[Run] = []

    @property
    def busy(self) -> int:
        return int(bool(self._done))

    def start(self, runs: list[Run]) -> None:
        self.note(runs, self.advance(runs, self.count_of(runs)))
        self._done = runs

    def finished(self) -> list[Run]:
        done, self._done = self._done, []
        return done


class Pool(Crew):
    """Hands beside those of the thread that asks; `executor` is theirs."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.executor: Executor
        self._at_work: dict[Future[Any], list[Run]] = {}

    @property
    def busy(self) -> int:
        return len(self._at_work)

    def __exit__(self, *_: Any) -> None:
        try:
            for future in list(self._at_work):
                if future.exception() is None:
                    self._take(self._at_work[future], future)
        finally:
            self.executor.shutdown(cancel_futures=True)

    def finished(self) -> list[Run]:
        done, _ = wait(self._at_work, _LOOK_SECONDS, FIRST_COMPLETED)
        found: list[Run] = []
        for future in done:
            runs = self._at_work.pop(future)
            self._take(runs, future)
            found += runs
        return found

    def give(self, runs: list[Run], function: Callable[..., Any], *args: Any) -> None:
        """Put runs into other hands, which call the function."""
        self._at_work[self.executor.submit(_with_wait, function, *args)] = runs

    def _take(self, runs: list[Run], future: Future[Any]) -> None:
        result, waited = future.result()
        self.waited += waited / self.size
        self.taken(runs, result)

    def taken(self, runs: list[Run], result: Any) -> None:
        """What comes back with runs."""


class Threads(Pool):
    """Threads: compiled loops leave Python to each other."""

    def __enter__(self) -> Self:
        self.executor = ThreadPoolExecutor(self.size, "liemech")
        return self

    def start(self, runs: list[Run]) -> None:
        self.give(runs, self.advance, runs, self.count_of(runs))

    def taken(self, runs: list[Run], result: Any) -> None:
        self.note(runs, result)


class Processes(Pool):
    """Processes, for functions that hold Python while they run: to each chunk a run is sent, as in a checkpoint."""

    def __init__(
        self, size: int, problem: Problem, method: Method, output: Output, way: Plan | Steering, runs: Sequence[Run]
    ) -> None:
        super().__init__(size)
        self._what = problem, method, output, way
        self._numbers = {run: number for number, run in enumerate(runs)}

    def __enter__(self) -> Self:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        self.executor = ProcessPoolExecutor(self.size, context, _arrive, self._what)
        return self

    def start(self, runs: list[Run]) -> None:
        (run,) = runs
        if run.sink is not None:  # it stays here
            run.sink.make_room(run)
        self.give(runs, _advanced, self._numbers[run], run.state())

    def taken(self, runs: list[Run], result: Any) -> None:
        runs[0].restore(result)


def _with_wait(function: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What a function gives, and the seconds for which it waited for compilation."""
    before = seconds_waited()
    return function(*args), seconds_waited() - before


_what: list[Any] = []
"""In a process of a crew: the makers of all runs."""


def _arrive(problem: Problem, method: Method, output: Output, way: Plan | Steering) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks hears it, too
    _what[:] = makers(problem, method, output, way)


def _advanced(number: int, state: dict[str, Any]) -> dict[str, Any]:
    """The state of a run after a chunk of steps."""
    run, end, count = _what[number](), time.perf_counter() + _SENT_SECONDS, 1
    run.restore(state)
    while not (run.done or run.is_half_full) and time.perf_counter() < end:
        count = advance(run, count)
    result: dict[str, Any] = run.state()
    return result


def sendable(error: Exception) -> Exception:
    """An error as it can be sent to another process, without the solution that it may hold."""
    from multiprocessing.reduction import ForkingPickler

    vars(error).pop("solution", None)
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # whatever an object of the user's says
        own = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            own.add_note(note)
        return own
    return error


def cores() -> int:
    """Cores that this process may use."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return known or 1


def crew_of(
    workers: int | None, problem: Problem, method: Method, output: Output, way: Plan | Steering, runs: Sequence[Run],
    callback: Any,
) -> Crew:  # fmt: skip
    """Whoever takes the steps of these runs: threads where all functions are compiled, else processes; by default one
    thread per core, and this thread alone for a single run, plain Python functions, callbacks and calls from threads.
    Without a callback, runs with variable steps are taken together in lanes, where they can be.
    """
    signal = problem.inputs.signal
    calls = runs[0].called_back is not None or (signal is not None and "plain Python" in signal.kinds)
    in_threads = not calls and not runs[0].interpreted
    if workers is None:
        alone = callback is not None or threading.current_thread() is not threading.main_thread()
        workers = cores() if in_threads and not alone else 1
    rooms = None
    if callback is None and goes_in_lanes(problem, method, output, way):
        rooms = Rooms(runs[0])  # type: ignore[arg-type]
    size = min(integer(workers, "workers", 1), len(runs))
    if size == 1 or in_threads:
        crew = Here() if size == 1 else Threads(size)
        crew.rooms = rooms
        return crew
    from multiprocessing.reduction import ForkingPickler

    try:
        ForkingPickler.dumps((problem, method, output, way))
    except Exception as error:  # whatever a function or an object of the user's says
        raise TypeError(
            f"workers: {size} processes, for functions that are plain Python, but {error}; or take workers=1"
        ) from error
    return Processes(size, problem, method, output, way, runs)
