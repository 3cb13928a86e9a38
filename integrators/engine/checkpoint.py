"""Checkpoints: everything a run needs to go on, bit by bit, in one file that is always whole.

The file holds the arrays of the runs and the numbers of the way (steps or tolerances), and fingerprints of the problem
and of the method: a changed model or method is refused.  Functions are not stored.  The checkpoint before the last is
kept beside it, ``NAME.previous``, and used should the last one be damaged.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.controllers import KINDS, StepController, find_controller
from integrators.engine.adaptive_run import Steering
from integrators.engine.fingerprint import Fingerprint
from integrators.engine.gathering import in_words
from integrators.engine.run import Output, Plan, Run
from integrators.events import Events
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import as_field
from integrators.results.digests import has_digest
from integrators.results.replacing import part_of, target_of
from integrators.results.storage import Dataset, StorageError, Variable, read, write
from integrators.statistics.statistic import Statistic
from liegroup.arrays import path_of, real, reals
from liegroup.compile import MODE

VERSION = 10
BEFORE = 9
"""Version that is read, too: with arrays for every run."""
_NONE = Output()
_KIND = "checkpoint"
_KINDS = {kind.__name__: kind for kind in KINDS}
_ATTRIBUTES = ("model", "method", "kernels", "method_fingerprint", "way", "save_every", "events", "runs",
    "window", "stream",
)  # fmt: skip
_DECIDING = ("method_fingerprint", "way", "save_every", "events", "window", "stream", "statistics")
_PATIENCE = 1.0
"""Seconds after which a checkpoint that could not be written is tried again, at the soonest."""


def previous_of(path: str | os.PathLike[str]) -> Path:
    """Where the checkpoint before the last one is kept."""
    return Path(f"{os.fspath(path)}.previous")


class Checkpoint:
    """Keeps the checkpoint of some runs up to date.

    `follows`: the run goes on from the checkpoint at `path`, which is whole.  None: from the one before it.  `stream`:
    the mark of the file that takes the rows.  `overwrite`: a new run replaces whatever file is there.  `says`: what
    the message of the solution says of the choice of the method.  What is resumed is not refused for a path where
    nothing can be written now: its results would be out of reach.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float,
        problem: Problem,
        method: Method,
        output: Output,
        way: Plan | Steering,
        runs: Sequence[Run],
        follows: bool | None = False,
        stream: str = "",
        overwrite: bool = False,
        says: str = "",
    ) -> None:
        every = real(every, "every", "seconds between checkpoints", lambda x: x >= 0.0)
        usable = _usable(path) if follows is False else Path(path)
        self.path, self.every, self.runs = Path(os.path.abspath(usable)), every, runs  # whatever folder is the next one
        self._keeps_last, self._begins = follows is True, follows is False
        self._next = time.monotonic() + every
        self._attributes: dict[str, str | int | float] = {
            "content": _KIND,
            "checkpoint_version": VERSION,
            "model": problem.model,
            "method": method.name,
            "kernels": MODE,
            "method_fingerprint": method_fingerprint(method),
            "way": json.dumps(_way_in_words(way)),
            "save_every": output.save_every,
            "events": ",".join(output.events.names) if output.events else "",
            "window": output.window,
            "stream": stream,
            "statistics": in_words(output.statistics),
            "says": says,
        }
        self.says = says
        found = problem_fingerprint(problem, output)
        if found.unknown and follows is False:
            warnings.warn(
                "checkpoint: whether these are the same when the run is resumed cannot be told: "
                f"{_listed(found.unknown)}; `resume` will ask for their names in `unchecked`",
                RuntimeWarning,
                stacklevel=3,
            )
        words = [json.dumps(found.places), json.dumps(found.unknown)]
        self._constants = {"times": output.times, "start": np.asarray(problem.y0), "fingerprints": np.array(words)}
        self._attributes["run"] = self._mark()
        if follows is False and not overwrite:
            self._check_what_is_there()

    def _mark(self) -> str:
        """Digest of all that decides what the run computes and keeps, as far as fingerprints tell."""
        found = hashlib.sha256(repr([self._attributes[name] for name in _DECIDING]).encode())
        for array in self._constants.values():
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def _check_what_is_there(self) -> None:
        """FileExistsError for what would be lost with the first checkpoint of a new run: a file that is none, the one
        of a run into a file, and that of this very run as long as it has steps to go.  Where that is over, or another
        run was given up, nobody goes on from it.
        """
        if not self.path.exists() or not self.path.stat().st_size:  # temporary files are made empty
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the one before the last tells as much
            try:
                there = load(self.path).attributes
            except StorageError as error:
                raise FileExistsError(
                    f"checkpoint: {self.path} exists, and is no checkpoint that can be read ({error}); give another "
                    "name; overwrite=True replaces it"
                ) from error
        if there["stream"] and not self._attributes["stream"]:
            raise FileExistsError(
                f"checkpoint: {self.path} is that of a run into a file; give another name; overwrite=True replaces it"
            )
        if there.get("run") == self._attributes["run"] and there["steps"] and not there["over"]:
            raise FileExistsError(
                f"checkpoint: {self.path} is of this very run, after step {there['steps']}: "
                f"integrators.resume({str(self.path)!r}, problem) goes on with it; overwrite=True replaces it by a run "
                "from the start"
            )

    @property
    def is_due(self) -> bool:
        """Whether the last one is old enough."""
        return time.monotonic() >= self._next

    def write(self) -> None:
        """Write the checkpoint; if that fails the run goes on, with a warning, and it is tried again."""
        try:
            write(self.path, self._dataset(), previous_of(self.path) if self._keeps_last else None)
        except (OSError, MemoryError, StorageError) as error:
            self._next = time.monotonic() + max(self.every, _PATIENCE)
            warnings.warn(
                f"checkpoint: {self.path} could not be written ({error}); the run goes on and it will be tried again",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        if self._begins:
            _remove_earlier(previous_of(self.path))
        self._keeps_last, self._begins = True, False
        self._next = time.monotonic() + self.every

    def _dataset(self) -> Dataset:
        arrays = self._constants | _together([run.state() for run in self.runs])
        variables = {
            name: Variable(tuple(f"{name}_{axis}" for axis in range(np.ndim(a))), a) for name, a in arrays.items()
        }
        come = {"steps": max(run.steps_done for run in self.runs), "over": int(all(run.done for run in self.runs))}
        return Dataset(variables, self._attributes | come | {"runs": len(self.runs)})


def _together(states: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of all runs by their names, one run after another, and their shapes: as many for any number of runs,
    since what HDF5 takes for a file grows faster than its arrays.
    """
    found, shapes = {}, {}
    for name in dict.fromkeys(name for state in states for name in state):
        parts = [np.asarray(state[name]) if name in state else None for state in states]
        shapes[name] = [None if part is None else part.shape for part in parts]
        found[f"runs_{name}"] = np.concatenate([part.ravel() for part in parts if part is not None])
    return found | {"shapes": np.array([json.dumps(shapes)])}


def _apart(arrays: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The arrays of every run, from those of `_together`."""
    states: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, shapes in json.loads(str(arrays["shapes"][0])).items():
        rest = arrays[f"runs_{name}"]
        for state, shape in zip(states, shapes, strict=True):
            if shape is not None:
                size = math.prod(shape)
                state[name], rest = rest[:size].reshape(shape).copy(), rest[size:]
        if len(rest):
            raise ValueError(f"{name}: more than its shapes say")
    return states


def _apart_before(arrays: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The same from arrays for every run."""
    states: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, values in arrays.items():
        if name.startswith("run"):
            number, rest = name[3:].split("_", 1)
            states[int(number)][rest] = values
    return states


def _usable(path: str | os.PathLike[str]) -> Path:
    """The path if a checkpoint can be written there; ValueError with the reason if not."""
    target = target_of(path_of(path, "checkpoint"))
    if not target.parent.is_dir():
        raise ValueError(f"checkpoint: {target.parent} is not a folder")
    try:
        with part_of(target) as part, open(part, "x+b") as file:
            file.write(b"room")
    except OSError as error:
        raise ValueError(f"checkpoint: nothing can be written into {target.parent} ({error.strerror})") from error
    return Path(path)


def _listed(places: Mapping[str, str] | Sequence[str], most: int = 6) -> str:
    words = [f"{p} ({places[p]})" if isinstance(places, Mapping) else p for p in places]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _remove_earlier(previous: Path) -> None:
    """Remove what an earlier run has left as the checkpoint before its last one."""
    if previous.is_file() and not previous.is_symlink() and has_digest(previous):
        with suppress(OSError):
            previous.unlink()


@dataclass(frozen=True)
class Stored:
    """The content of a checkpoint; `is_last`: of the last one, not of the one before."""

    path: str
    is_last: bool
    attributes: Mapping[str, Any]
    y0: NDArray[np.float64]
    times: NDArray[np.float64]
    fingerprints: tuple[dict[str, str], dict[str, str]]
    states: list[dict[str, Any]]

    @property
    def method(self) -> str:
        return str(self.attributes["method"])

    def way(self, controller: str | StepController | None) -> Plan | Steering:
        """The steps or tolerances of the run."""
        found = None if controller is None else find_controller(controller)
        with content_of(self.path):
            return self._way(found)

    def _way(self, controller: StepController | None) -> Plan | Steering:
        words = json.loads(str(self.attributes["way"]))
        if words.pop("kind") == "plan":
            if controller is not None:
                raise StorageError(f"{self.path}: the run takes fixed steps, and has no controller; leave it out")
            return Plan(**words)
        words["span"] = tuple(words["span"])
        words["relative"], words["absolute"] = np.array(words["relative"]), np.array(words["absolute"])
        then = words["controller"]
        if "function" not in then:
            if controller is not None and json.loads(json.dumps(_in_words(controller))) != then:
                raise StorageError(
                    f"{self.path}: the run was steered by {then}, given is {_in_words(controller)}; leave it out"
                )
            controller = _KINDS[then.pop("kind")](**then)
        elif controller is None:
            raise StorageError(f"{self.path}: the run was steered by the {then['name']}; give it again (`controller=`)")
        elif _in_words(controller) != then:
            raise StorageError(
                f"{self.path}: the run was steered by the {then['name']} with another function or other numbers "
                f"than the {controller.name} given"
            )
        words["controller"] = controller
        return Steering(**words)

    def output(self, events: Events | None, statistics: tuple[Statistic, ...] = ()) -> Output:
        """What the run keeps."""
        if in_words(statistics) != (then := str(self.attributes.get("statistics", "[]"))):
            raise StorageError(f"{self.path}: the run gathered the statistics {then}, given are {in_words(statistics)}")
        names = "" if events is None else ",".join(events.names)
        if names != self.attributes["events"]:
            raise StorageError(
                f"{self.path}: the run had the events {self.attributes['events'] or 'none'}, given are "
                f"{names or 'none'}; give those of the run (`events=`)"
            )
        with content_of(self.path):
            times = reals(self.times, "times")
            if times.ndim != 1:
                raise ValueError(f"times: shape {times.shape}, expected one axis")
            return Output(int(self.attributes["save_every"]), times, events, int(self.attributes["window"]), statistics)

    def restore(self, runs: Sequence[Run]) -> None:
        """Have the runs of the same problem, method and output take over their states."""
        with content_of(self.path, "the states of these runs"):
            for run, state in zip(runs, self.states, strict=True):
                run.restore(state)

    def check(
        self,
        problem: Problem,
        method: Method,
        output: Output = _NONE,
        unchecked: Sequence[str] = (),
        start: ArrayLike | None = None,
    ) -> None:
        """StorageError if the problem or the method is another one than then; places that begin as one of those in
        `unchecked` are taken to be the same.  `start`: that at which the problem was given.
        """
        now = problem_fingerprint(problem, output)
        then, unknown = self.fingerprints

        def counts(place: str) -> bool:
            return not any(place.startswith(name) for name in unchecked)

        places = [*now.places, *(place for place in then if place not in now.places)]
        if changed := [p for p in places if now.places.get(p) != then.get(p) and counts(p)]:
            raise StorageError(
                f"{self.path}: a run of model {self.attributes['model']!r}, but the given problem {problem.model!r} "
                f"has other {_listed(changed)}{self._of_the_start(start) if changed == ['guards'] else ''}; resume "
                "needs the problem unchanged (what the run itself changes, such as a counter, can be named in "
                "`unchecked`)"
            )
        if unclear := {p: what for p, what in (unknown | now.unknown).items() if counts(p)}:
            raise StorageError(
                f"{self.path}: whether these are as they were cannot be told: {_listed(unclear)}; if they are, name "
                f"them: unchecked={list(unclear)}"
            )
        if self.attributes["method_fingerprint"] != method_fingerprint(method):
            raise StorageError(
                f"{self.path}: the method {self.method!r} has changed since (other stepper, coefficients or options)"
            )
        if self.attributes["kernels"] != MODE:
            raise StorageError(
                f"{self.path}: computed with {self.attributes['kernels']} kernels, these are {MODE} (LIEMECH_KERNELS)"
            )

    def _of_the_start(self, start: ArrayLike | None) -> str:
        """How the start of a problem, where its guards have their limits from, differs from that of the run."""
        now, then = np.asarray(start), self.y0
        if now.shape != then.shape or not (differ := np.argwhere(now != then)).size:
            return ""
        place = tuple(differ[0].tolist())
        where, given, own = ", ".join(map(str, place)), float(now[place]), float(then[place])
        return f", whose limits come from its start: y0[{where}] is {given!r}, that of the run is {own!r}"


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a checkpoint, or, with a warning, the one before it if it is damaged or gone; StorageError says what is
    wrong with any other file.
    """
    path_of(path, "path", "the path of a checkpoint")
    try:
        return _load(path, True)
    except StorageError as error:
        previous = previous_of(path)
        if not previous.is_file():
            raise
        try:
            stored = _load(previous, False)
        except StorageError as second:
            raise StorageError(f"{error}; the checkpoint before it: {second}") from error
        warnings.warn(f"{error}; going on from the checkpoint before it, {previous}", RuntimeWarning, stacklevel=3)
        return stored


def _load(path: str | os.PathLike[str], is_last: bool) -> Stored:
    dataset = read(path)
    attributes = dataset.attributes
    if attributes.get("content") != _KIND:
        raise StorageError(f"{path}: contains {attributes.get('content')!r}, expected a {_KIND}")
    if (version := attributes.get("checkpoint_version")) not in (BEFORE, VERSION):
        raise StorageError(f"{path}: checkpoint version {version}, this program reads versions {BEFORE} and {VERSION}")
    if missing := [name for name in _ATTRIBUTES if name not in attributes]:
        raise StorageError(f"{path}: not the content of a checkpoint: {', '.join(missing)} missing")
    arrays = {name: variable.values for name, variable in dataset.variables.items()}
    with content_of(path):
        places, unknown = (json.loads(str(words)) for words in arrays["fingerprints"])
        states = (_apart_before if version == BEFORE else _apart)(arrays, int(attributes["runs"]))
        return Stored(str(path), is_last, attributes, arrays["start"], arrays["times"], (places, unknown), states)


@contextmanager
def content_of(path: str | os.PathLike[str], wanted: str = "the content of a checkpoint") -> Iterator[None]:
    """StorageError for what goes wrong with content that is not as `Checkpoint` writes it."""
    try:
        yield
    except StorageError:
        raise
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise StorageError(f"{path}: not {wanted} ({error!r})") from error


# --- fingerprints -----------------------------------------------------------------------------------------------------


def method_fingerprint(method: Method) -> str:
    """Digest of everything that decides what a method computes."""
    found = Fingerprint()
    stepper = method.stepper
    numbers = method.coefficients, method.options, method.projection_every
    found.add("", (stepper.name, method.map, method.compensated, *numbers, stepper.step))
    return _digest(found)


def problem_fingerprint(problem: Problem, output: Output = _NONE) -> Fingerprint:
    """Digests of the parts of a problem, its initial state apart, and of what is watched for."""
    found, events = Fingerprint(), output.events
    parts = {
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "group": problem.table,
        "parameters": problem.parameters,
        "structure": problem.structure,
        "names": ([(v.name, v.labels, v.units) for v in problem.variables], list(problem.invariant_names)),
        "kind": (problem.canonical, problem.work_shape, problem.vectorized),
        "guards": [(g.name, g.least, g.greatest, g.change, g.rise, g.relative, g.stops) for g in problem.guards],
        "field": problem.field,
        "jacobian": (problem.jacobian, problem.derivative_pattern),
        "parts": problem.parts,
        "invariants": problem.invariants,
        "projection": problem.projection,
        "events": None if events is None else (events.field, events.directions, [row.terminal for row in events.rows]),
    }
    if output.statistics:
        parts["statistics"] = [statistic._quantities for statistic in output.statistics]
    for name, part in parts.items():
        found.add(name, part)
    return found


def function_fingerprint(function: Any) -> str:
    """Digest of a function and of all that it reaches."""
    found = Fingerprint()
    found.add("", function)
    return _digest(found)


def _digest(found: Fingerprint) -> str:
    return hashlib.sha256(repr(sorted(found.places.items())).encode()).hexdigest()[:16]


def _way_in_words(way: Plan | Steering) -> dict[str, Any]:
    if isinstance(way, Plan):
        return {"kind": "plan", **asdict(way)}
    numbers = {"span": list(way.span), "relative": np.asarray(way.relative).tolist()}
    numbers["absolute"] = np.asarray(way.absolute).tolist()
    return {
        "kind": "steering",
        "controller": _in_words(way.controller),
        "first": way.first,
        "largest": way.largest,
        "most": way.most,
        **numbers,
    }


def _in_words(controller: StepController) -> dict[str, Any]:
    """A controller: its kind with its numbers; if it goes by a function, with the digest of the function; if its kind
    is none of `KINDS`, with the digest of all that it is.
    """
    kind = {"kind": type(controller).__name__}
    if type(controller) not in KINDS:
        return kind | {"name": controller.name, "function": function_fingerprint(controller)}
    if controller.function is None:
        numbers: dict[str, Any] = asdict(controller)  # type: ignore[call-overload]
        return kind | numbers
    return kind | {"name": controller.name, "function": function_fingerprint(as_field(controller.function).source)}
