"""Sweeps: one run for every combination of parameters, as a labelled table."""

from __future__ import annotations

import inspect
import itertools
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from integrators.arguments import interval
from integrators.engine.crew import cores, sendable
from integrators.engine.interrupts import interruptible
from integrators.engine.varied_run import likeness, varies
from integrators.integrate import integrate, integrate_together
from integrators.method import Reference
from integrators.methods import find
from integrators.problem import Problem, pose
from integrators.problem.importable import check_importable
from integrators.results.solution import CONVENTIONS, Solution
from integrators.results.storage import versions
from integrators.status import REACHED, Status
from liegroup.arrays import check_function, integer, of_kind, sequence, shown
from liegroup.compile import WIDTH
from liegroup.modules import listing

__all__ = ["sweep"]
__dir__ = listing(__all__)

REFUSED, RAISED = "REFUSED", "RAISED"
"""The status of a cell whose problem could not be posed or whose run could not begin; in which a function of the
problem, or a quantity, has raised something.
"""
_OF_RUNS = ("method", "step")
_OF_CELLS = ("status", "message", "doubts")
_RESERVED = ", ".join(_OF_CELLS)
_REFUSALS = (ValueError, ArithmeticError, np.linalg.LinAlgError)
_NOT_HERE = ("callback", "checkpoint", "into", "every", "overwrite", "progress")
Cell = dict[str, Any]


def sweep(
    model: Any,
    parameters: Mapping[str, Any],
    method: Any = None,
    t_span: Sequence[float] | None = None,
    step: float | None = None,
    *,
    quantities: Mapping[str, Callable[[Solution], Any]] | None = None,
    units: Mapping[str, str] | None = None,
    workers: int | None = None,
    client: Any = None,
    per_chunk: int = 64,
    **options: Any,
) -> Any:
    """Run every combination of parameters, and put what came out into a labelled table.

    Parameters
    ----------
    model : callable, or Problem or what poses one
        ``model(**case)`` → a problem, or what poses one, with a keyword for every parameter but ``method`` and
        ``step``; or a problem, where only these vary.
    parameters : mapping name → sequence
        The values of each: masses, lengths, gains, …; ``method`` and ``step`` are those of `integrate`.
    method, t_span, step
        As in `integrate`, where they do not vary.
    quantities : mapping name → callable, optional
        ``quantity(solution)`` → a number, or an array of one shape for all cells.  Default: the largest `error` of
        every invariant.
    units : mapping name → str, optional
        Units of parameters and quantities, for the table.
    workers : int, optional
        Threads; default as many as there are cores where all problems are compiled, else 1.
    client : dask.distributed.Client, or executor, optional
        Whose workers compute, in the place of threads: chunks of `per_chunk` cells (`integrators.ensemble`).
    per_chunk : int
        Cells of a chunk that is sent.
    **options
        Of `integrate`: ``save_every``, ``rtol``, ``statistics``, ….

    Returns
    -------
    xarray.Dataset
        A variable for every quantity over the parameters, NaN in cells that did not come to their end; ``status`` (the
        name of a `Status`, DOUBTFUL also of a run that has reached the end and is not to be trusted, INTERRUPTED of all
        that Ctrl-C has left; REFUSED; RAISED where a function of the problem or a quantity has raised something, which
        the message names), ``message``, and ``doubts``, how many limits of trust a run has passed.

    Raises
    ------
    ValueError, TypeError
        Arguments that make no sense, with the remedy; what a cell was refused for, or raised, if all were or did.
    ModuleNotFoundError
        The extra ``xarray`` is not installed.

    Warns
    -----
    RuntimeWarning
        Units of something that is not in the table, where the quantities are those by default.

    Notes
    -----
    Eight or more cells that differ in numbers only (masses, inertias, lengths, stiffnesses, starts) run in lanes, with
    fixed steps of methods that evaluate the field and nothing else of the problem: the bits of one by one.  Their
    kernels are compiled once for each kind of model, in seconds to a minute.

    Examples
    --------
    >>> import integrators
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> def pendulum(mass, length):
    ...     bob = Inertia.point(mass, (0.0, 0.0, -length))
    ...     return Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)]).problem([0.5])
    >>> table = integrators.sweep(
    ...     pendulum, {"mass": [1.0, 2.0], "length": [0.5, 1.0, 1.5]}, "RKMK4", (0.0, 1.0), 0.01,
    ...     quantities={"end": lambda solution: solution["q"][-1, 0]}, units={"length": "m", "end": "rad"},
    ... )
    >>> table["end"].dims, table["end"].shape, table["end"].attrs["units"]
    (('mass', 'length'), (2, 3), 'rad')
    >>> bool((table["status"] == "OK").all())
    True
    """
    xarray = _xarray()
    axes = _axes(parameters)
    if unused := [name for name in _NOT_HERE if name in options]:
        raise TypeError(f"{', '.join(unused)}: belongs to a run of its own, not to a sweep; leave it out")
    if quantities is not None:
        of_kind(quantities, Mapping, "quantities", "a mapping from names to functions of a solution")
        for name, function in quantities.items():
            check_function(function, f"quantities: {name!r}", "a function of a solution")
            if not isinstance(name, str) or name in axes or name in _OF_CELLS:
                raise ValueError(f"quantities: name {shown(name)}, expected one that is no parameter, nor {_RESERVED}")
    of_kind(units, (Mapping, type(None)), "units", "a mapping from names to units")
    if unknown := [name for name in units or () if quantities is not None and name not in {*axes, *quantities}]:
        raise ValueError(f"units: {', '.join(map(shown, unknown))}, expected names of parameters and quantities")
    is_builder = callable(model) and not isinstance(model, Problem) and not callable(getattr(model, "problem", None))
    own = [name for name in axes if name not in _OF_RUNS]
    if own and not is_builder:
        raise TypeError(f"model: {shown(model)}, expected a function of {', '.join(own)} that gives a problem")
    if is_builder:
        _check_takes(model, own)
    if twice := [name for name, value in (("method", method), ("step", step)) if name in axes and value is not None]:
        raise TypeError(f"{', '.join(twice)}: among the parameters and besides; give it once")
    given = {"method": method, "t_span": t_span, "step": step, **options}
    builder = model if is_builder else partial(_always, pose(model))
    cells = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    if client is None:
        found = _computed(builder, cells, given, quantities, workers)
    else:
        size, send = integer(per_chunk, "per_chunk", 1), getattr(client, "submit", None)
        check_function(send, "client", "a client of Dask or an executor, with a method submit")
        assert send is not None
        if type(client).__name__ == "ProcessPoolExecutor":  # whose module is slow to import
            for function in (model, *(quantities or {}).values()):
                check_importable(function)
        chunks = [cells[k : k + size] for k in range(0, len(cells), size)]
        futures = [send(_computed, builder, chunk, given, quantities, 1) for chunk in chunks]
        found = [cell for future in futures for cell in future.result()]
    return _table(xarray, axes, found, given, dict(units or {}))


def _axes(parameters: Any) -> dict[str, list[Any]]:
    of_kind(parameters, Mapping, "parameters", "a mapping from names to sequences of values")
    axes = {}
    for name, values in parameters.items():
        if not (isinstance(name, str) and name.isidentifier()) or name in _OF_CELLS:
            raise ValueError(f"parameters: name {shown(name)}, expected an identifier other than {_RESERVED}")
        if isinstance(values, str):
            raise ValueError(f"parameters: {name!r} is a text, expected a sequence of values")
        axes[name] = list(sequence(values, f"parameters: {name!r}", "a sequence of values"))
        if not axes[name]:
            raise ValueError(f"parameters: {name!r} has no values, expected one or more")
    if not axes:
        raise ValueError("parameters: none, expected one or more names with their values")
    return axes


def _check_takes(model: Callable[..., Any], names: list[str]) -> None:
    """TypeError unless a function takes parameters of these names."""
    try:
        signature = inspect.signature(model)
    except (TypeError, ValueError):  # of what has none, the cells say what is wrong
        return
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        takes = ", ".join(map(str, signature.parameters.values())) or "nothing"
        raise TypeError(f"parameters: {', '.join(names) or 'none'}, but the model takes {takes}: {error}") from None


def _always(problem: Problem) -> Problem:
    return problem


# --- cells ------------------------------------------------------------------------------------------------------------


_NOT_RUN: Cell = {"status": Status.INTERRUPTED.name, "message": "not run: the sweep was interrupted", "doubts": 0}


def _computed(
    builder: Callable[..., Any], cells: Sequence[Cell], given: Cell, quantities: Any, workers: int | None
) -> list[Cell]:
    """What came out of some cells, in their order: status, message, doubts and quantities."""
    runs = [_posed(builder, cell, given) for cell in cells]
    packs = _packs(runs)
    plain = any(isinstance(run, dict) and not run["problem"].is_compiled for run in runs)
    here = plain or threading.current_thread() is not threading.main_thread()
    count = (1 if here else cores()) if workers is None else integer(workers, "workers", 1)
    with interruptible() as interrupted:

        def solved(pack: Sequence[int]) -> list[Cell]:
            return [_NOT_RUN] * len(pack) if interrupted() else _solved(runs, pack, quantities)

        if count == 1 or len(packs) == 1:
            parts = [solved(pack) for pack in packs]
        else:
            with ThreadPoolExecutor(count, "liemech") as pool:
                parts = list(pool.map(solved, packs))
    found: list[Cell] = [{}] * len(cells)
    for pack, part in zip(packs, parts, strict=True):
        for k, cell in zip(pack, part, strict=True):
            found[k] = cell
    return found


def _posed(builder: Callable[..., Any], cell: Cell, given: Cell) -> Cell | Exception:
    """The arguments of `integrate` for a cell, or why there are none."""
    run = given | {name: cell[name] for name in _OF_RUNS if name in cell}
    try:
        problem = pose(builder(**{name: value for name, value in cell.items() if name not in _OF_RUNS}))
    except Exception as error:  # of this cell; the others are not lost with it
        return error
    return run | {"problem": problem}


def _packs(runs: Sequence[Cell | Exception]) -> list[list[int]]:
    """The cells that run together in lanes, and the others one by one."""
    alike: dict[Any, list[int]] = {}
    for k, run in enumerate(runs):
        key = _likeness(run)
        alike.setdefault(k if key is None else key, []).append(k)
    sizes = {key: WIDTH if len(group) >= WIDTH and _varies(runs[group[0]]) else 1 for key, group in alike.items()}
    return [group[k : k + sizes[key]] for key, group in alike.items() for k in range(0, len(group), sizes[key])]


def _varies(run: Any) -> bool:
    return varies(run["problem"], find(run["method"]))  # type: ignore[arg-type]


def _likeness(run: Cell | Exception) -> Any:
    if not isinstance(run, dict) or {*run} - {"problem", "method", "t_span", "step", "save_every"}:
        return None
    if run["method"] is None or run["step"] is None or run["t_span"] is None:
        return None
    try:
        method = find(run["method"])
        if isinstance(method, Reference):
            return None
        key = likeness(run["problem"], method, interval(run["t_span"])[0])
    except (ValueError, TypeError, ArithmeticError):  # the run of the cell will say what is wrong
        return None
    return None if key is None else (key, method.name, run["step"])


def _solved(runs: Sequence[Any], pack: Sequence[int], quantities: Any) -> list[Cell]:
    if len(pack) > 1:
        first = runs[pack[0]]
        try:
            given = {name: first[name] for name in ("t_span", "step", "save_every") if name in first}
            solutions = integrate_together([runs[k]["problem"] for k in pack], find(first["method"]), **given)  # type: ignore[arg-type]
        except _REFUSALS:  # which of them it is, they say one by one
            pass
        else:
            return [_told(solution, quantities) for solution in solutions]
    return [_one(runs[k], quantities) for k in pack]


def _one(run: Any, quantities: Any) -> Cell:
    if isinstance(run, dict):
        try:
            solution = integrate(**run, workers=1, progress=False)
        except _REFUSALS as error:
            return _without(RAISED if hasattr(error, "solution") else REFUSED, error)
        except Exception as error:
            return _without(RAISED, error)
        return _told(solution, quantities)
    return _without(REFUSED if isinstance(run, _REFUSALS) else RAISED, run)


def _without(status: str, error: Exception) -> Cell:
    """A cell that has nothing but a reason."""
    said = "; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
    return {"status": status, "message": said, "doubts": 0, "error": sendable(error)}


def _told(solution: Solution, quantities: Any) -> Cell:
    """What a solution says of its cell."""
    each = (solution.status,) if isinstance(solution.status, Status) else solution.status
    worst = next((s for s in each if s not in REACHED), each[0])
    if solution.finished and solution.doubts:
        worst = Status.DOUBTFUL
    cell: Cell = {"status": worst.name, "message": solution.message, "doubts": len(solution.doubts)}
    if not solution.finished:
        return cell
    asked = quantities
    if asked is None:
        asked = {f"{name}_error": partial(_error, name=name) for name in solution.invariant_names}
    found = {}
    for name, function in asked.items():
        try:
            found[name] = np.asarray(function(solution))
            if found[name].dtype.kind not in "biuf":
                raise TypeError(f"quantities: {name!r} gives {found[name].dtype} values, expected real numbers")
        except Exception as error:  # of this cell; the others are not lost with it
            error.add_note(f"raised by the quantity {name!r}")
            return _without(RAISED, error)
    return cell | {"quantities": found}


def _error(solution: Solution, name: str) -> Any:
    return solution.error(name)


# --- the table --------------------------------------------------------------------------------------------------------


def _of_one_shape(found: Sequence[Cell]) -> list[Cell]:
    """The cells, without those in which a quantity has another shape than in the first one that has it."""
    first: dict[str, Any] = {}
    cells = []
    for cell in found:
        shapes = {name: value.shape for name, value in cell.get("quantities", {}).items()}
        other = next((name for name in shapes if shapes[name] != first.setdefault(name, shapes[name])), None)
        says = "" if other is None else f"quantity {other!r}: shape {shapes[other]}, expected {first[other]} as before"
        cells.append(_without(RAISED, ValueError(says)) if says else cell)
    return cells


def _table(xarray: Any, axes: dict[str, list[Any]], found: list[Cell], given: Cell, units: dict[str, str]) -> Any:
    found = _of_one_shape(found)
    refused = [cell["error"] for cell in found if "error" in cell]
    if len(refused) == len(found):
        raise refused[0]
    shape = tuple(len(values) for values in axes.values())
    variables: dict[str, Any] = {}
    for name in dict.fromkeys(name for cell in found for name in cell.get("quantities", ())):
        values = [cell.get("quantities", {}).get(name) for cell in found]
        own = next(value.shape for value in values if value is not None)
        table = np.full((len(found), *own), np.nan)
        for k, value in enumerate(values):
            table[k] = np.nan if value is None else value
        dims = (*axes, *(f"{name}_{axis}" for axis in range(len(own))))
        attributes = {"units": units[name]} if name in units else {}
        variables[name] = (dims, table.reshape(*shape, *own), attributes)
    if variables and (unknown := [name for name in units if name not in axes and name not in variables]):
        names = f"{', '.join(map(shown, unknown))}, expected names among {', '.join((*axes, *variables))}"
        warnings.warn(f"units: {names}", RuntimeWarning, stacklevel=3)
    for name in _OF_CELLS:
        variables[name] = ((*axes,), np.array([cell[name] for cell in found]).reshape(shape))
    coordinates = {
        name: (name, [_label(x) for x in values], {"units": units[name]} if name in units else {})
        for name, values in axes.items()
    }
    said = {name: _label(value) for name, value in given.items() if value is not None and name != "statistics"}
    said = {name: value for name, value in said.items() if name not in axes}
    return xarray.Dataset(variables, coordinates, {"conventions": CONVENTIONS, **versions(), **said})


def _label(value: Any) -> Any:
    """A value as a coordinate: numbers as they are, else its name."""
    if isinstance(value, (bool, int, float, str, np.number)):
        return value
    if isinstance(value, (tuple, list, np.ndarray)):
        return str(np.asarray(value).tolist())
    return str(getattr(value, "name", getattr(value, "__name__", value)))


def _xarray() -> Any:
    try:
        return import_module("xarray")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sweep needs xarray, which is not installed: pip install 'liemech[xarray]'", name="xarray"
        ) from error
