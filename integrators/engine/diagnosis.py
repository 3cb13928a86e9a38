"""Why a step failed: it is taken once more with the interpreted source, watching the field."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.engine.step_again import stepped
from integrators.engine.turns import too_far
from integrators.layout import COUNTERS, ERROR, STAGE
from integrators.method.stability import LARGEST, fastest_mode
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.dependence import NEAR_SINGULAR, near_dependence
from integrators.problem.jump import steepest_part
from integrators.status import Status

if TYPE_CHECKING:
    from integrators.engine.run import Run


_ADVICE = "smaller step"
EXPLICIT = "RKMK4"
"""A method without equations of a step."""
RIGID = 1e4
"""By how much a mode decays in a step where a damper holds it as if it were rigid."""
_UNLIMITED = {"asynchronous": "AVI", "variational": "TREE_VARIATIONAL"}
"""Methods that solve for dampers by themselves, by the names of the steps that problems bring."""
_NEAR_ROUNDING = "near rounding"
"""What `integrators.steppers.newton.explain` says of them."""
_SMALLER = (0.5, 0.1, 1e-2, 1e-3)
"""Parts of a step that was not solved, which are tried before any of them is advised."""
_AHEAD = np.linspace(0.125, 1.0, 8)
"""Parts of a step that was not solved, at which a singular position is looked for."""
PATIENCE = 5.0
"""Seconds from which on no further one is tried."""
_HALVINGS, _STEEP, _LEFT = 40, 1e-3, 0.25
"""Of the way on which the field is asked for a jump; the least change along it, relative, that could be one; the part
of it that has to be left on the last piece.
"""

_DOUBLINGS = 30
"""Of the spacing of times, within which a field is asked that variable steps did not get into."""


def diagnose(run: Run, status: Status) -> str:
    """What can be said about the step that failed, or the state at which a guard stopped the run, beyond its status."""
    if status is Status.NON_FINITE and (said := explained_at_end(run.problem, *run.step_in_progress(), run.y, run.t0)):
        return said  # what the step itself says follows from it
    near = explained(run.problem, run.t, run.y, run.t0) or _near_ahead(run, status)
    texts = near, _of_step(run, status), _of_dampers(run, status), _across(run, status, near)
    return ", ".join(text for text in texts if text)


def _near_ahead(run: Run, status: Status) -> str:
    """Which singular position a step sets out for that was not solved: a long one begins where none is near."""
    if status is not Status.NOT_CONVERGED or np.ndim(run.y) != 1:
        return ""
    problem, (t, h) = run.problem, run.step_in_progress()
    with suppress(Exception), np.errstate(all="ignore"):  # of the user's functions; what is said must not lose a run
        way = h * problem.velocity(t, run.y)
        for part in _AHEAD:
            said = explained(problem, t + part * h, moved(problem, run.y, part * way), run.t0)
            if said.startswith(NEAR_SINGULAR):
                return f"{said} within this step"
    return ""


def _across(run: Run, status: Status, near: str) -> str:
    """What leads across a singular position, where equations of a step have no solution however short it is: steps that
    solve none, and are projected.
    """
    is_near = status is Status.NOT_CONVERGED and near.startswith(NEAR_SINGULAR)
    return f"or cross it with fixed steps of {EXPLICIT}" if is_near and run.problem.projection is not None else ""


def explained_at_end(problem: Problem, t: float, h: float, y: NDArray[np.float64], begin: float) -> str:
    """What the problem says of the time at which a step ends that could not be taken: a motion may end within it."""
    return "" if problem.is_autonomous else explained(problem, t + h, y, begin)


def explained(
    problem: Problem, t: float, y: NDArray[np.float64], begin: float, start: NDArray[np.float64] | None = None
) -> str:
    """What the problem says of one state, where it failed or became doubtful, of a run from the time `begin`, and from
    the state `start`, if it is not the first of the problem.
    """
    if np.ndim(y) != 1 or not np.isfinite(y).all():
        return ""
    try:
        if start is not None and np.ndim(problem.y0) > 1:
            problem = problem.with_start(start)
        explain = problem.explain or partial(near_dependence, problem, begin)
        with np.errstate(all="ignore"):
            return explain(t, np.array(y))
    except (ArithmeticError, ValueError) as error:  # what is said of a run must not lose it
        return f"nothing more can be said of it ({error})"


def _of_step(run: Run, status: Status) -> str:
    """What can be said about the step."""
    if status is Status.DOUBTFUL:
        return ", ".join(
            guard.says or guard.name
            for guard, excess in zip(run.problem.guards, run.excess, strict=True)
            if guard.stops and np.max(excess) > 0.0
        )
    if status is Status.STEP_UNDERFLOW and (ahead := _not_finite_ahead(run)):
        return ahead
    if own := run.method.explain(run.problem, run.work[ERROR]):
        return (
            own
            if status is not Status.NOT_CONVERGED or _ADVICE in own
            else f"{own}; {_advice(run, _NEAR_ROUNDING in own)}"
        )
    if status is Status.NOT_CONVERGED:
        return f"residual {run.work[ERROR, 0]:.2g}; {_advice(run)}"
    if status is Status.CHART_LEFT:
        turn = too_far(run.problem, *run.step_in_progress(), run.y)
        return ", ".join(text for text in (f"stage {int(run.counters[STAGE])}", turn) if text)
    return _first_non_finite(run) if status is Status.NON_FINITE else ""


def _not_finite_ahead(run: Run) -> str:
    """What the field gives a little further on, if that is no number: variable steps come no further."""
    problem, t, y = run.problem, run.t, run.y
    if np.ndim(y) != 1:
        return ""
    last = run.limit
    least = np.copysign(np.spacing(max(abs(t), abs(last))), last - t)
    with suppress(Exception), np.errstate(all="ignore"):  # of the user's functions; what is said must not lose a run
        rate = problem.velocity(t, y)
        for h in least * 2.0 ** np.arange(4, _DOUBLINGS):
            there = moved(problem, y, h * rate)
            if not np.isfinite(found := problem.velocity(t + h, there)).all():
                gives = f"gives {_shown(found)} at y = {_shown(there)}"
                return f"the field is not finite a little further on, where it {gives}"
    return ""


def _of_dampers(run: Run, status: Status) -> str:
    """What to do where a step was not solved because a damper holds as if it were rigid."""
    problem = run.problem
    unsolved = status in (Status.NOT_CONVERGED, Status.NON_FINITE, Status.CHART_LEFT)
    if not unsolved or np.ndim(run.y) != 1 or problem.dimension > LARGEST or not problem.is_compiled:
        return ""
    t, h = run.step_in_progress()
    with np.errstate(all="ignore"):
        mode = fastest_mode(problem, t, run.y)
    decays = -mode.real * abs(h)
    if not decays > RIGID or abs(mode.imag) > -mode.real:
        return ""
    own = " or ".join(name for step, name in _UNLIMITED.items() if step in problem.own_steps)
    return (
        f"a damper holds as if it were rigid: what moves against it decays like exp(−{decays:.3g}) in a step; give it "
        f"less, or a joint or closure in its place{own and f', or take {own}, which no damper limits'}"
    )


def _advice(run: Run, near: bool = False) -> str:
    """A smaller step where one is solved from the same state; of iterations that come near rounding both half of it
    and a tenth, as noise lets some steps pass and is small against those that are small enough.  Of large systems,
    where a step that is not solved takes seconds, only the first are tried.
    """
    parts, least = (_SMALLER[:2], "a tenth") if near else (_SMALLER, "a thousandth")
    if np.ndim(run.y) == 1:
        t, h = run.step_in_progress()
        jump = _jump_ahead(run.problem, t, h, run.y, run.t0)
        end = time.monotonic() + PATIENCE
        for part in parts:
            solved = bool(np.isfinite(stepped(run, t, part * h, run.y)).all())
            if solved is not near:
                break
            if part != parts[-1] and time.monotonic() > end:
                return f"perhaps a {_ADVICE} helps"
        if not solved:
            jumps = f" ({jump})" if jump else ""
            return f"nor are those of {least} of the step: a {_ADVICE} does not help{jumps}"
        if jump:
            place = "that" if NEAR_SINGULAR in jump else "the jump"
            return f"a {_ADVICE} may come up to {place} and no further: {jump}"
    return f"use a {_ADVICE}"


def _jump_ahead(problem: Problem, t: float, h: float, y: NDArray[np.float64], t0: float) -> str:
    """What to do where the field jumps along the way on which it sets out in a step: by halves, of which the one is
    taken in which it changes by more.  Equations of a step across a jump need not have a solution, and where the field
    on either side leads back to it they have none.  A singular position, behind which no motion goes on, is named.
    """
    with suppress(Exception), np.errstate(all="ignore"):  # of the user's functions; what is said must not lose a run
        begin = problem.velocity(t, y)
        last = problem.velocity(t + h, moved(problem, y, h * begin))
        size = np.abs(begin) + np.abs(last)
        changes = np.abs(last - begin) / np.where(size > 0.0, size, 1.0)
        k = int(np.argmax(changes))
        if not (np.isfinite(size).all() and changes[k] > _STEEP):
            return ""
        place, share = steepest_part(problem, t, y, h, h * begin, k, _HALVINGS)
        if share > _LEFT:
            near = explained(problem, t + place * h, moved(problem, y, place * h * begin), t0)
            if NEAR_SINGULAR in near:
                return f"at about t = {t + place * h:.6g} it is {near}"
            return (
                f"the field jumps at about t = {t + place * h:.6g}, where the equations of no step across it need have "
                "a solution; smooth what switches (tanh(x/ε) for sign(x)), take RKMK4 in equal steps, or end the run "
                "there by an event and start anew"
            )
    return ""


def _shown(values: NDArray[Any]) -> str:
    return np.array2string(values, precision=6, threshold=16, edgeitems=4, max_line_width=1000)


class _FoundError(Exception):
    """What was looked for has been found."""


def _first_non_finite(run: Run) -> str:
    problem = run.problem
    t, h = run.step_in_progress()
    calls, found = 0, ""

    def probe(t: float, y: NDArray[Any], parameters: Any, structure: Any, work: Any, out: NDArray[Any]) -> None:
        nonlocal calls, found
        calls += 1
        run.evaluated.python(t, y, parameters, structure, work, out)
        if not found and not np.isfinite(out).all():
            found = f"the field at t = {t:.9g}, evaluation {calls} of the step, gives {_shown(out)} at y = {_shown(y)}"
            if problem.explain is not None and (said := explained(problem, t, y, run.t0)):
                found += f": {said}"
            raise _FoundError  # the rest of the step would say no more, and takes long

    with (
        np.errstate(all="ignore"),
        suppress(ArithmeticError, _FoundError),
    ):  # Python's numbers raise where compiled ones are not finite
        run.method.step(problem).python(
            probe, t, h, run.y.copy(), run.low.copy(), problem.table, run.coefficients, run.options, problem.parameters,
            problem.structure, np.zeros(problem.work_shape), np.zeros_like(run.work), np.zeros(COUNTERS,
            dtype=np.int64),
        )  # fmt: skip
    return found
