"""Campaigns: many trajectories or many problems, in chunks, on the workers of a cluster."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np

from integrators.arguments import method_and_span
from integrators.engine.checkpoint import function_fingerprint, problem_fingerprint
from integrators.engine.crew import sendable
from integrators.engine.fingerprint import Fingerprint
from integrators.ensemble.joined import joined
from integrators.integrate import integrate
from integrators.problem import Problem, pose
from integrators.problem.drawing import scene_of
from integrators.problem.joints import JointStates
from integrators.results.replacing import part_of, put
from integrators.results.solution import Solution
from integrators.results.storage import StorageError
from liegroup.arrays import integer, of_kind, path_of, positive, reals, sequence, shown
from liegroup.compile import WIDTH
from liegroup.display import bar

FORMAT = "liemech-campaign-1"
_RECORD = "campaign.json"
_MARK = "campaign"
_NOT_HERE = ("workers", "progress", "callback", "checkpoint", "every", "into", "overwrite", "y0")
_LOST = ("KilledWorker",)
"""Names of what a cluster says of chunks whose workers were lost too often."""
_TRIAL_STEPS = 200


def submit(
    problem: Any,
    cases: Any,
    method: Any = None,
    t_span: Sequence[float] | None = None,
    step: float | None = None,
    *,
    client: Any,
    folder: str | os.PathLike[str] | None = None,
    seconds: float = 30.0,
    per_chunk: int | None = None,
    retries: int = 10,
    **options: Any,
) -> Campaign:
    """Have a cluster integrate a problem from many states, or many problems: a campaign, whose results come later.

    Parameters
    ----------
    problem : Problem or what poses one, or function
        A problem, for initial states; or ``builder(case)`` → problem, for parameters.
    cases : array (m, n), or sequence
        The initial states; or what the builder is called with, one at a time.
    method, t_span, step
        As in `integrate`.  One of `step`, `rtol`, `atol` and `controller` must be given: a step that is found by trials
        would be another one in every chunk.
    client : dask.distributed.Client, or executor
        Whose ``submit(function, *arguments)`` gives futures: a client of Dask, which takes up what lost workers have
        left, or an executor as of `concurrent.futures`, ``mpi4py.futures`` or ``loky``.
    folder : path, optional
        Where workers write every chunk when it is done, as `Solution.save` does; they must see it by the same name.  A
        campaign that was ended goes on from there when it is submitted again: chunks whose files are there are not
        computed.  Default: results go to the client.
    seconds : float
        Time that a chunk is to take, s; a trial here tells how many cases that is, a multiple of eight for lanes.
    per_chunk : int, optional
        Cases in a chunk, without a trial.
    retries : int
        How often a chunk is sent again after its workers were lost.
    **options
        Of `integrate`: ``save_every``, ``rtol``, ``events``, …; workers use one thread per chunk.

    Returns
    -------
    Campaign

    Raises
    ------
    ValueError, TypeError
        Arguments that make no sense, with the remedy.
    StorageError
        The folder holds a campaign of another problem, method or other cases: what a builder is made of, and what it
        makes of the first case (from files that it reads, too).

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import numpy as np
    >>> from integrators import Problem
    >>> from integrators.ensemble import submit
    >>> from liegroup import rn
    >>> decay = Problem(rn(1), [1.0], lambda t, y: -y)
    >>> starts = np.linspace(1.0, 2.0, 5)[:, None]
    >>> with ThreadPoolExecutor(2) as pool:
    ...     campaign = submit(decay, starts, "RKMK4", (0.0, 1.0), 0.1, client=pool, per_chunk=2)
    ...     solution = campaign.result()
    >>> solution.y.shape, campaign.chunks
    ((5, 11, 1), 3)
    """
    if not callable(getattr(client, "submit", None)):
        raise TypeError(f"client: {client!r}, expected a dask.distributed.Client or an executor, with a method submit")
    if unused := [name for name in _NOT_HERE if name in options]:
        raise TypeError(f"{', '.join(unused)}: belongs to a run of its own, not to a campaign; leave it out")
    if step is None and not {"rtol", "atol", "controller"} & {*options}:
        raise ValueError("step: missing; give one (integrators.suggest_step finds it), or rtol for variable steps")
    seconds = positive(seconds, "seconds")
    method, t_span = method_and_span(method, t_span)
    given = {"method": method, "t_span": t_span, "step": step, **options}
    work = _Builds(problem, cases, given) if _is_builder(problem) else _Starts(pose(problem), cases, given)
    if any(base.__module__ == "concurrent.futures.process" for base in type(client).__mro__):
        _check_sent(work)
    place = None if folder is None else Path(path_of(folder, "folder"))
    count = _known_count(place, work) if place is not None else None
    if count is None:
        count = work.count_for(seconds) if per_chunk is None else integer(per_chunk, "per_chunk", 1)
        if place is not None:
            _begin(place, work, count)
    return Campaign(work, client, count, place, integer(retries, "retries"))


def _check_sent(work: _Work) -> None:
    """TypeError for what no other process can be sent."""
    try:
        ForkingPickler.dumps(work.run(0, 1))  # as the executor will
    except Exception as error:  # whatever the classes of the user's say
        raise TypeError(
            f"client: an executor of processes, which cannot be sent the problem and its options ({error}); give "
            "functions that are named in a module, no lambdas or functions within others, or take threads"
        ) from error


def _is_builder(problem: Any) -> bool:
    return callable(problem) and not isinstance(problem, Problem) and not callable(getattr(problem, "problem", None))


class _Work:
    """What is to be done for every case."""

    def __init__(self, problem: Any, cases: Any, given: dict[str, Any]) -> None:
        self.problem, self.cases, self.given = problem, cases, given

    def __len__(self) -> int:
        return len(self.cases)

    def files(self, first: int, last: int) -> list[str]:
        """Names of the files of a chunk."""
        raise NotImplementedError

    def run(self, first: int, last: int) -> tuple[Any, ...]:
        """The function that a worker calls for a chunk, and its arguments."""
        raise NotImplementedError

    def count_for(self, seconds: float) -> int:
        """Cases that take so many seconds."""
        raise NotImplementedError

    def places(self) -> Fingerprint:
        """What the results depend on."""
        raise NotImplementedError

    def result(self, chunks: Iterator[list[Any]]) -> Any:
        """All chunks together."""
        raise NotImplementedError

    def _count(self, of_one: float, seconds: float, multiple: int) -> int:
        count = max(1, int(seconds / max(of_one, 1e-9)))
        return min(len(self), -(-count // multiple) * multiple)


class _Starts(_Work):
    """One problem from many states."""

    def __init__(self, problem: Problem, cases: Any, given: dict[str, Any]) -> None:
        states = reals(cases, "cases", f"initial states (m, {problem.n})")
        if states.ndim != 2 or states.shape[1] != problem.n:
            raise ValueError(f"cases: shape {states.shape}, expected initial states (m, {problem.n})")
        _check_some(states)
        if len(bad := np.argwhere(~np.isfinite(states))):  # before hours are spent on the others
            row, column = (int(k) for k in bad[0])
            raise ValueError(f"cases: component ({row}, {column}) is {states[row, column]}, expected a finite number")
        super().__init__(problem.with_start(states[:1]), states, given)

    def files(self, first: int, last: int) -> list[str]:
        return [f"states-{first:08d}.h5"]

    def run(self, first: int, last: int) -> tuple[Any, ...]:
        return _from_states, self.problem, self.cases[first:last], self.given

    def count_for(self, seconds: float) -> int:
        states = self.cases[:WIDTH]
        return self._count(_seconds_of(self.problem.with_start(states), self.given) / len(states), seconds, WIDTH)

    def places(self) -> Fingerprint:
        return problem_fingerprint(self.problem)

    def result(self, chunks: Iterator[list[Solution]]) -> Solution:
        whole = joined([part for chunk in chunks for part in chunk])
        joints = None if self.problem.joints is None else JointStates(self.problem)
        return replace(whole, scene=scene_of(self.problem), joints=joints)


class _Builds(_Work):
    """A problem for every case."""

    def __init__(self, builder: Callable[[Any], Any], cases: Any, given: dict[str, Any]) -> None:
        listed = sequence(cases, "cases", "what the builder is called with, one at a time")
        _check_some(listed)
        super().__init__(builder, listed, given)

    def files(self, first: int, last: int) -> list[str]:
        return [f"case-{number:08d}.h5" for number in range(first, last)]

    def run(self, first: int, last: int) -> tuple[Any, ...]:
        return _from_cases, self.problem, self.cases[first:last], self.given, first

    def count_for(self, seconds: float) -> int:
        return self._count(_seconds_of(pose(self.problem(self.cases[0])), self.given), seconds, 1)

    def places(self) -> Fingerprint:
        found = Fingerprint()
        found.add("builder", self.problem)
        found.add("first problem", self._first)
        return found

    @cached_property
    def _first(self) -> Any:
        """What the first problem consists of, which tells what a builder has read from files; or that it has none."""
        try:
            problem = pose(self.problem(self.cases[0]))
        except Exception as error:  # of one case; the others are not lost with it
            return type(error).__name__
        return sorted(problem_fingerprint(problem).places.items()), np.asarray(problem.y0)

    def result(self, chunks: Iterator[list[Solution]]) -> list[Solution]:
        return [solution for chunk in chunks for solution in chunk]


def _check_some(cases: Any) -> None:
    if not len(cases):
        raise ValueError("cases: none, expected one or more initial states or parameters")


def _seconds_of(problem: Problem, given: dict[str, Any]) -> float:
    """What a run takes, by a part of it: the second of two, since the first loads what is compiled."""
    (t0, t1), step = given["t_span"], given["step"]
    part = 0.01 if step is None else min(1.0, _TRIAL_STEPS * step / max(abs(t1 - t0), 1e-300))
    trial = given | {"t_span": (t0, t0 + part * (t1 - t0))}
    trial.pop("t_eval", None)
    return min(integrate(problem, **trial, workers=1, progress=False).seconds for _ in range(2)) / part


def _from_states(problem: Problem, states: Any, given: dict[str, Any], paths: list[str] | None, mark: str) -> list[Any]:
    solution = integrate(problem.with_start(states), **given, workers=1, progress=False)
    return [_kept(solution, None if paths is None else paths[0], mark)]


def _from_cases(
    builder: Callable[[Any], Any],
    cases: list[Any],
    given: dict[str, Any],
    first: int,
    paths: list[str] | None,
    mark: str,
) -> list[Any]:
    """Of every case what came of it: a solution, None where that is in a file, or what was raised."""
    found: list[Any] = []
    for number, case in enumerate(cases):
        path = None if paths is None else paths[number]
        if path is not None and os.path.isfile(path):
            found.append(None)
            continue
        try:
            solution = integrate(builder(case), **given, workers=1, progress=False)
        except Exception as error:  # of one case; the others are not lost with it
            error.add_note(f"raised by case {first + number}, {shown(case)}")
            found.append(sendable(error))
        else:
            found.append(_kept(solution, path, mark))
    return found


def _kept(solution: Solution, path: str | None, mark: str) -> Solution | None:
    """A solution written to its file, or without what the client knows."""
    if path is None:
        return replace(solution, scene=None, joints=None)
    replace(solution, attributes=solution.attributes | {_MARK: _mark_in(path, mark)}).save(path)
    return None


def _mark_in(path: str, mark: str) -> str:
    """What a file says of where it belongs: the digest of its campaign, and its name."""
    return f"{mark} {os.path.basename(path)}"


# --- the folder -------------------------------------------------------------------------------------------------------


def _digest(work: _Work) -> str:
    """Digest of what the results depend on."""
    found = work.places()
    found.add("given", {name: value for name, value in work.given.items() if name != "events"})
    found.add("cases", work.cases)
    places = dict(found.places)
    if work.given.get("events") is not None:
        places["events"] = function_fingerprint(work.given["events"])
    return hashlib.sha256(repr(sorted(places.items())).encode()).hexdigest()[:16]


def _known_count(folder: Path, work: _Work) -> int | None:
    """Cases in a chunk of the campaign that the folder holds; None if it holds none."""
    record = folder / _RECORD
    if not record.is_file():
        return None
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
        what, then, count = known["format"], known["digest"], int(known["per_chunk"])
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{record}: not the record of a campaign ({error!r})") from error
    if what != FORMAT or then != _digest(work):
        raise StorageError(f"{folder}: holds a campaign of another problem, method or other cases; take a new folder")
    return count


def _begin(folder: Path, work: _Work, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, "digest": _digest(work), "cases": len(work), "per_chunk": count})
    with part_of(folder / _RECORD) as part:
        part.write_text(text, encoding="utf-8")
        put(part, folder / _RECORD)


# --- what is under way ------------------------------------------------------------------------------------------------


class Campaign:
    """Chunks under way; made by `submit`.

    Attributes
    ----------
    chunks : int
        How many there are in all.
    cases : int
        Initial states or parameters.
    per_chunk : int
        Cases in a chunk; the last one may have less.

    Examples
    --------
    See `submit`.
    """

    def __init__(self, work: _Work, client: Any, per_chunk: int, folder: Path | None, retries: int) -> None:
        of_kind(work, _Work, "work", "what `submit` makes: call it")
        self._work, self._client, self._folder, self._retries = work, client, folder, retries
        self.cases, self.per_chunk = len(work), per_chunk
        self._mark = "" if folder is None else _digest(work)
        self._spans = [(k, min(k + per_chunk, len(work))) for k in range(0, len(work), per_chunk)]
        self.chunks = len(self._spans)
        self._futures = {span: self._sent(span) for span in self._spans if not self._is_stored(span)}

    def __repr__(self) -> str:
        return f"<Campaign of {self.cases} cases in {self.chunks} chunks: {self.done} done>"

    @property
    def done(self) -> int:
        """Chunks that are finished, those found in the folder included."""
        return self.chunks - sum(not future.done() for future in self._futures.values())

    def solutions(self, progress: bool | None = None, raising: bool = True) -> Iterator[Any]:
        """The solutions chunk by chunk, in the order of the cases, as they come; for what is too large to be joined.

        Parameters
        ----------
        progress : bool, optional
            A bar; default: on terminals and in notebooks.
        raising : bool
            False: what was raised stands in the place of the solution, and the others follow.

        Yields
        ------
        Solution
            An ensemble for each chunk of states; one for every case of a builder.

        Raises
        ------
        Exception
            What a chunk of states, or a case of a builder, has raised, when its turn comes; a note says which case.  A
            campaign with a folder keeps all others.
        """
        for found in self._each(progress):
            for one in found:
                if raising and isinstance(one, Exception):
                    raise one
                yield one

    def result(self, progress: bool | None = None) -> Any:
        """All results; waits for them.

        Parameters
        ----------
        progress : bool, optional
            A bar; default: on terminals and in notebooks.

        Returns
        -------
        Solution, or list of Solution
            The ensemble of all initial states, with the bits of ``integrate(problem.with_start(states), …)``; for a
            builder one solution per case.

        Raises
        ------
        Exception
            What a chunk has raised, or a case of a builder; ``solutions(raising=False)`` gives all others.
        """
        return self._work.result([solution] for solution in self.solutions(progress))

    def cancel(self) -> None:
        """Give up what has not begun; with a folder, `submit` goes on from what is done."""
        for future in self._futures.values():
            future.cancel()

    def _each(self, progress: bool | None) -> Iterator[list[Any]]:
        for span in bar(self._spans, desc="chunks", shown=progress):
            try:
                found = self._fetched(span)
            except Exception as error:  # of the chunk as a whole
                found = [error] * len(self._work.files(*span))
            yield found

    def _fetched(self, span: tuple[int, int]) -> list[Any]:
        """What came of a chunk: solutions, or what was raised in their places."""
        paths = self._paths(span)
        found = self._came(span) if span in self._futures else [None] * len(self._work.files(*span))
        if paths is None:
            return found
        found = self._read(paths, found)
        if bad := [path for path, one in zip(paths, found, strict=True) if one is None]:
            warnings.warn(
                f"{bad[0]}: missing, damaged, or of another campaign; computed again", RuntimeWarning, stacklevel=4
            )
            for path in bad:
                Path(path).unlink(missing_ok=True)
            self._futures[span] = self._sent(span)
            found = self._read(paths, self._came(span))
        if lost := [path for path, one in zip(paths, found, strict=True) if one is None]:
            raise StorageError(f"{lost[0]}: is not there, though it was written; folder: all workers must see it")
        return found

    def _read(self, paths: list[str], found: list[Any]) -> list[Any]:
        """What is in files in the place of None, where those are whole and of this campaign."""
        return [self._loaded(path) if one is None else one for path, one in zip(paths, found, strict=True)]

    def _loaded(self, path: str) -> Solution | None:
        try:
            solution = Solution.load(path)
        except StorageError:
            return None
        attributes = dict(solution.attributes)
        is_own = attributes.pop(_MARK, "") == _mark_in(path, self._mark)
        return replace(solution, attributes=attributes) if is_own else None

    def _came(self, span: tuple[int, int]) -> list[Any]:
        """What a worker gives for a chunk, which is sent again where it was lost."""
        for left in reversed(range(self._retries + 1)):
            try:
                found: list[Any] = self._futures[span].result()
                return found
            except Exception as error:
                if type(error).__name__ not in _LOST or not left:
                    raise
            time.sleep(0.1)
            self._futures[span] = self._sent(span)
        raise AssertionError("the last attempt returns or raises")

    def _sent(self, span: tuple[int, int]) -> Any:
        # what a client of Dask names by its arguments would pass for done when it is sent again
        own = {"pure": False} if type(self._client).__module__.partition(".")[0] == "distributed" else {}
        return self._client.submit(*self._work.run(*span), self._paths(span), self._mark, **own)

    def _paths(self, span: tuple[int, int]) -> list[str] | None:
        if self._folder is None:
            return None
        return [str(self._folder.resolve() / name) for name in self._work.files(*span)]

    def _is_stored(self, span: tuple[int, int]) -> bool:
        paths = self._paths(span)
        return paths is not None and all(os.path.isfile(path) for path in paths)
