"""What is chosen where nothing is said of method and steps, or no step of a method that divides its steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from integrators.choice.samples import ending_at_samples, within_samples
from integrators.choice.steps import coarser, suggested, swiftest
from integrators.choice.stiffness import MANY, STIFF, TOLERANCES, TurnedStiff, is_stiff
from integrators.choice.trials import known
from integrators.engine.adaptive_run import usual_atol
from integrators.method import Method
from integrators.problem import Problem
from integrators.results.solution import Solution
from integrators.status import Status

DEFAULT, ROUGH = "GAUSS8", "RKMK_DOP853"
"""The method where nothing is said; and that of motions that are not smooth, and of variable steps."""
APART = 1e4
"""Spacings of the times in a step of a method that is exact to rounding, at least, where the field reads the time."""


@dataclass(frozen=True)
class Choice:
    """A method with fixed steps, or with tolerances, and why, in words for the message of a solution."""

    method: Method
    says: str
    step: float | None = None
    rtol: float | None = None
    atol: NDArray[np.float64] | None = None
    max_step: float = np.inf


def varying(problem: Problem, name: str, why: str, max_step: float = np.inf) -> Choice:
    """A method with the tolerances of what is chosen, the absolute one in the units of the problem."""
    rtol, part = TOLERANCES
    says = f"{name}, chosen for want of a method, with rtol={rtol} for {why}"
    return Choice(known(name), says, None, rtol, usual_atol(problem, part), max_step)


def unsmooth(problem: Problem) -> str:
    """Why GAUSS8 is not for a problem, if it is not."""
    return "things that strike each other" if problem.strikes else "forces with kinks" if problem.has_kinks else ""


def by_default(problem: Problem, span: tuple[float, float]) -> Choice:
    """Where nothing is said: GAUSS8, or what its steps are not for."""
    method, length = known(DEFAULT), abs(span[1] - span[0])
    one, step = _least(problem, method, span) if length else (problem, 1.0)
    if is_stiff(one, span, step):
        return varying(problem, STIFF, "what decays fast", within_samples(problem, span))
    step = coarser(one, method, span, step)
    if _resolves_rounding(one, span, step):
        return varying(problem, ROUGH, "times so far from zero, whose rounding the field shows")
    if not (aligned := ending_at_samples(problem, span, step)):
        why = "inputs whose samples no equal steps end at"
        return varying(problem, ROUGH, why, within_samples(problem, span, step))
    says = f"{method.name}, chosen for want of a method"
    return Choice(method, f"{says}, with steps of {aligned:.3g}" if length else says, aligned)


def _resolves_rounding(problem: Problem, span: tuple[float, float], step: float) -> bool:
    """Whether a step is so short because the field is rounded with the time, far from zero."""
    reads = problem.inputs.signal is None and not problem.is_autonomous
    return bool(reads and step < APART * np.spacing(max(map(abs, span))))


def _least(problem: Problem, method: Method, span: tuple[float, float]) -> tuple[Problem, float]:
    """The trajectory that asks for the least step, and this, or the whole interval."""
    steps = [(suggested(one, method, None, *span), one) for one in swiftest(problem, span[0])]
    step, one = min(steps, key=lambda found: found[0])
    return one, min(step, abs(span[1] - span[0]))


def of_divided_steps(problem: Problem, method: Method, span: tuple[float, float]) -> Choice:
    """The step of a method that divides its steps."""
    length = abs(span[1] - span[0])
    if not length:
        return Choice(method, "", 1.0)
    one, step = _least(problem, method, span)
    step = ending_at_samples(problem, span, step) or step
    if _resolves_rounding(one, span, step):
        spacing = float(np.spacing(abs(span[0])))
        warnings.warn(
            f"t_span: near {span[0]:g} s times are {spacing:.2g} s apart, and {method.name} resolves what the field "
            f"makes of their rounding, by steps of {step:.3g} s; count the time from the beginning of the run, or give "
            "step",
            RuntimeWarning,
            stacklevel=3,
        )
    return Choice(method, f"{method.name}, with steps of {step:.3g}", step)


def or_damped(
    first: Callable[[], Solution], damped: Callable[[int | None], Solution], unasked: Callable[[], Solution] | None
) -> Solution:
    """What a run comes to or, where it becomes stiff on the way (`integrators.choice.stiffness.Asking`), what a method
    comes to that damps, with so many steps at most; and so where a step is not solved, if that comes to the end.  If
    its long steps have passed over a blow, what short ones come to (`unasked`) in spite of their number.
    """
    try:
        solution = first()
    except TurnedStiff:
        other = damped(None)
        passed = any(doubt.name == "pulse" for doubt in other.doubts)
        return unasked() if passed and unasked is not None else other
    if solution.status is not Status.NOT_CONVERGED:
        return solution
    try:
        other = damped(MANY)
    except Exception as error:  # of the user's functions, where the first run has not called them
        warnings.warn(f"{STIFF} could not be tried where a step was not solved ({error})", RuntimeWarning, stacklevel=3)
        return solution
    return other if other.success else solution


def or_rough(solution: Solution, rough: Callable[[int], Solution]) -> Solution:
    """A solution of GAUSS8 or, where the field was found to jump or to have kinks, what `rough` comes to with so many
    steps at most, if it leaves no doubt: the order of a method says nothing there, and an estimate of errors does.
    """
    if solution.status is Status.INTERRUPTED or not any(doubt.name == "jump" for doubt in solution.doubts):
        return solution  # after Ctrl-C nothing else is begun
    try:
        other = rough(MANY)
    except Exception as error:  # of the user's functions, at states where the first run has not called them
        warnings.warn(f"{ROUGH} could not be tried where the field jumps ({error})", RuntimeWarning, stacklevel=3)
        return solution
    return other if other.success and not other.doubts else solution
