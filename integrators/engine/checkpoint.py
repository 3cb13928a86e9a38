"""Checkpoints: everything a run needs to go on, bit by bit, in one file that is always whole.

The file holds the arrays of the runs and the numbers of the way (steps or tolerances), and fingerprints of the problem
and of the method: a changed model or method is refused.  Functions are not stored.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.controllers import KINDS, StepController
from integrators.engine.adaptive_run import Steering
from integrators.engine.run import Output, Plan, Run
from integrators.events import Events
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import as_field
from integrators.results.storage import Dataset, StorageError, Variable, read, write
from liegroup.compile import MODE

VERSION = 5
_KIND = "checkpoint"
_KINDS = {kind.__name__: kind for kind in KINDS}


class Checkpoint:
    """Keeps the checkpoint of some runs up to date."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float,
        problem: Problem,
        method: Method,
        output: Output,
        way: Plan | Steering,
        runs: Sequence[Run],
    ) -> None:
        if not every >= 0:
            raise ValueError(f"every: {every}, expected seconds between checkpoints")
        self.path, self.every, self.runs = Path(path), every, runs
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint: {self.path.parent} is not a folder")
        self._written = time.monotonic()
        self._attributes: dict[str, str | int | float] = {
            "content": _KIND,
            "checkpoint_version": VERSION,
            "model": problem.model,
            "method": method.name,
            "kernels": MODE,
            "problem_fingerprint": json.dumps(problem_fingerprint(problem)),
            "method_fingerprint": method_fingerprint(method),
            "way": json.dumps(_way_in_words(way)),
            "save_every": output.save_every,
            "events": ",".join(output.events.names) if output.events else "",
        }
        self._constants = {"times": output.times, "start": np.asarray(problem.y0)}

    def now_and_then(self) -> None:
        """Write the checkpoint if the last one is old enough."""
        if time.monotonic() - self._written >= self.every:
            self.write()

    def write(self) -> None:
        """Write the checkpoint."""
        arrays = dict(self._constants)
        for k, run in enumerate(self.runs):
            arrays |= {f"run{k}_{name}": value for name, value in run.state().items()}
        variables = {
            name: Variable(tuple(f"{name}_{axis}" for axis in range(np.ndim(a))), a) for name, a in arrays.items()
        }
        write(self.path, Dataset(variables, self._attributes | {"runs": len(self.runs)}))
        self._written = time.monotonic()


@dataclass(frozen=True)
class Stored:
    """The content of a checkpoint."""

    path: str
    attributes: Mapping[str, Any]
    y0: NDArray[np.float64]
    times: NDArray[np.float64]
    states: list[dict[str, Any]]

    @property
    def method(self) -> str:
        return str(self.attributes["method"])

    def way(self, controller: StepController | None) -> Plan | Steering:
        """The steps or tolerances of the run."""
        words = json.loads(str(self.attributes["way"]))
        if words.pop("kind") == "plan":
            return Plan(**words)
        words["span"] = tuple(words["span"])
        words["relative"], words["absolute"] = np.array(words["relative"]), np.array(words["absolute"])
        then = words["controller"]
        if "function" not in then:
            controller = _KINDS[then.pop("kind")](**then)
        elif controller is None:
            raise StorageError(f"{self.path}: the run was steered by the {then['name']}; give it again")
        elif _in_words(controller) != then:
            raise StorageError(
                f"{self.path}: the run was steered by the {then['name']} with another function than the "
                f"{controller.name} given"
            )
        words["controller"] = controller
        return Steering(**words)

    def output(self, events: Events | None) -> Output:
        """What the run keeps."""
        names = "" if events is None else ",".join(events.names)
        if names != self.attributes["events"]:
            raise StorageError(
                f"{self.path}: the run had the events {self.attributes['events']!r}, given are {names!r}"
            )
        return Output(int(self.attributes["save_every"]), self.times, events)

    def check(self, problem: Problem, method: Method) -> None:
        """StorageError if the problem or the method is another one than then."""
        then, now = json.loads(str(self.attributes["problem_fingerprint"])), problem_fingerprint(problem)
        if changed := [part for part in now if now[part] != then.get(part)]:
            raise StorageError(
                f"{self.path}: a run of model {self.attributes['model']!r}, but the given problem {problem.model!r} "
                "has other "
                f"{', '.join(changed)}; resume needs the problem unchanged"
            )
        if self.attributes["method_fingerprint"] != method_fingerprint(method):
            raise StorageError(
                f"{self.path}: the method {self.method!r} has changed since (other stepper, coefficients or options)"
            )
        if self.attributes["kernels"] != MODE:
            raise StorageError(
                f"{self.path}: computed with {self.attributes['kernels']} kernels, these are {MODE} (LIEMECH_KERNELS)"
            )


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a checkpoint; StorageError says what is wrong with any other file."""
    dataset = read(path)
    attributes = dataset.attributes
    if attributes.get("content") != _KIND:
        raise StorageError(f"{path}: contains {attributes.get('content')!r}, expected a {_KIND}")
    if attributes["checkpoint_version"] != VERSION:
        raise StorageError(
            f"{path}: checkpoint version {attributes['checkpoint_version']}, this program reads version {VERSION}"
        )
    arrays = {name: variable.values for name, variable in dataset.variables.items()}
    states: list[dict[str, Any]] = [{} for _ in range(int(attributes["runs"]))]
    for name, values in arrays.items():
        if name.startswith("run"):
            number, rest = name[3:].split("_", 1)
            states[int(number)][rest] = values
    return Stored(str(path), attributes, arrays["start"], arrays["times"], states)


# --- fingerprints -----------------------------------------------------------------------------------------------------


def method_fingerprint(method: Method) -> str:
    """Digest of everything that decides what a method computes."""
    digest = hashlib.sha256(f"{method.stepper.name} {method.map} {method.compensated}".encode())
    digest.update(method.coefficients.tobytes() + method.options.tobytes())
    return digest.hexdigest()[:16]


def problem_fingerprint(problem: Problem) -> dict[str, str]:
    """Digests of the parts of a problem, its initial state apart."""
    arrays = {"group": problem.table, "parameters": problem.parameters, "structure": problem.structure}
    texts = {
        "names": repr([(v.name, v.labels, v.units) for v in problem.variables] + list(problem.invariant_names)),
        "kind": f"{problem.canonical} {problem.work_shape}",
        "guards": repr([(g.name, g.least, g.greatest, g.change, g.rise, g.relative, g.stops) for g in problem.guards]),
    }
    functions = {
        "field": problem.field,
        "parts": problem.parts,
        "invariants": problem.invariants,
        "projection": problem.projection,
    }
    found = {name: hashlib.sha256(np.asarray(a).tobytes()).hexdigest()[:16] for name, a in arrays.items()}
    found |= {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}
    return found | {name: "" if f is None else function_fingerprint(f.source) for name, f in functions.items()}


def function_fingerprint(function: Any) -> str:
    """Digest of the source of a function (its bytecode where there is no source) and of the numbers it encloses."""
    if isinstance(function, (Mapping, tuple)):
        parts = function.values() if isinstance(function, Mapping) else function
        return " ".join(function_fingerprint(f) for f in parts)
    python: Callable[..., Any] = inspect.unwrap(getattr(function, "py_func", function))
    try:
        text = inspect.getsource(python).encode()
    except (OSError, TypeError):
        code = python.__code__
        text = code.co_code + repr(code.co_consts).encode()
    digest = hashlib.sha256(text)
    for cell in getattr(python, "__closure__", None) or ():
        value = cell.cell_contents
        if isinstance(value, (int, float, complex, str, np.ndarray, np.generic, tuple)):
            digest.update(np.asarray(value).tobytes() if not isinstance(value, (str, tuple)) else repr(value).encode())
    return digest.hexdigest()[:16]


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
    """A controller: its kind with its numbers, or, if it goes by a function, with the digest of the function."""
    kind = {"kind": type(controller).__name__}
    if controller.function is None:
        numbers: dict[str, Any] = asdict(controller)  # type: ignore[call-overload]
        return kind | numbers
    return kind | {"name": controller.name, "function": function_fingerprint(as_field(controller.function).source)}
