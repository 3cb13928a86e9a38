"""Whether what decays makes the steps of GAUSS8, or of an explicit method, short: at the start of a run, or on its
way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from integrators.arguments import way_of
from integrators.choice.samples import within_samples
from integrators.choice.trials import known, substeps_of, tried
from integrators.engine.adaptive_run import usual_atol
from integrators.engine.crew import Here
from integrators.engine.run import Plan, Run
from integrators.problem import Problem
from integrators.problem.jacobian import derivative
from integrators.status import Status

Array = NDArray[np.float64]

MANY = 10_000
"""Steps beyond which a method that damps is asked."""
STIFF, TOLERANCES = "RKMK_RADAU_IIA5", (1e-9, 1e-12)
"""That method; and the tolerances of all whose steps vary where nothing is said."""
_BEGUN, _BEGINNING, _DECAYS, _UNSTABLE, _LARGEST = 16, 0.05, 0.1, 1.0, 100
"""Steps after which decays are looked at; part of a run by whose steps it is judged; decay in a step of GAUSS8, and in
one of an explicit method, from which on that is asked; and components of a velocity, at most.
"""
_OFTEN, _LOOKED = 32, 1024
"""A run is looked at after so many parts of its steps, and at most so many steps."""
_FEW, _LATER, _ANEW = 500, 0.2, 3.0
"""Substeps after which it is asked then, at least, and which part of all; and how many times those that are done as
many must be to come: the run is begun anew, by a method whose steps cost more.
"""
_FEWER, _LEAST = 0.1, 40
"""Part of its steps that those of the method that damps are there, at most, and the number that is granted anyway."""


def may_decay(problem: Problem) -> bool:
    """Whether it may be stiff, and is small enough to be asked: where the energy is kept nothing decays."""
    kept = any(guard.name == "energy" and not np.isfinite(guard.rise) for guard in problem.guards)
    return problem.dimension <= _LARGEST and not kept


class TurnedStiff(Exception):
    """A run has come where `is_stiff` is true."""


class Asking(Here):
    """Takes the steps of one run, of GAUSS8 or of an explicit method, and asks on the way whether it has become stiff:
    what slides comes to stick.  At steps that do not depend on how fast the machine is, so that another run asks at the
    same.
    """

    def __init__(self, span: tuple[float, float], max_step: float = np.inf) -> None:
        super().__init__()
        self._end, self._max_step, self._next = span[1], max_step, 1
        self._asked = span[0], 0

    def advance(self, runs: list[Run], count: int) -> int:
        run = runs[0]
        count = super().advance(runs, min(count, self._next - run.steps_done))
        if not run.done and run.steps_done >= self._next:
            self._next += min(1 + run.steps_done // _OFTEN, _LOOKED)
            if self._is_stiff(run):
                raise TurnedStiff
        return count

    def _is_stiff(self, run: Run) -> bool:
        """By the mean step since it was asked: those within one blow are short, whatever decays."""
        (t, before), substeps = self._asked, substeps_of(run)
        if substeps - before < max(_FEW, _LATER * substeps):
            return False
        self._asked = run.t, substeps
        step = abs(run.t - t) / (substeps - before)
        if not step * _ANEW * substeps < abs(self._end - run.t):
            return False
        try:
            begun = is_stiff if run.method.stepper.report else is_stiff_there
            return begun(run.problem.with_start(run.shown()), (run.t, self._end), step, self._max_step)
        except KeyboardInterrupt:  # who drives the run hears of it, too
            return False


def is_stiff(problem: Problem, span: tuple[float, float], step: float, max_step: float = np.inf) -> bool:
    """Whether GAUSS8 would take more than `MANY` steps for what decays within one of them, where a method that damps it
    takes far fewer, no longer than `max_step` and samples of inputs allow: of the beginning of the run it is tried.
    """
    begun = Plan(span[0], float(np.sign(span[1] - span[0])) * step, _BEGUN)

    def after_some() -> tuple[float, Array]:
        found = tried(problem, known("GAUSS8"), begun)
        return found.last_t, found.last

    return _is_damped(problem, span, step, max_step, _DECAYS, after_some)


def is_stiff_there(problem: Problem, span: tuple[float, float], step: float, max_step: float = np.inf) -> bool:
    """The same of an explicit method whose steps are so long where the problem starts."""
    return _is_damped(problem, span, step, max_step, _UNSTABLE, lambda: (span[0], np.asarray(problem.y0)))


def _is_damped(
    problem: Problem, span: tuple[float, float], step: float, max_step: float, least: float,
    place: Callable[[], tuple[float, Array]],
) -> bool:  # fmt: skip
    length, forward = abs(span[1] - span[0]), float(np.sign(span[1] - span[0]))
    if not step * MANY < length or not may_decay(problem):
        return False
    method = known(STIFF)
    try:
        method.check(problem, span[0])
        rates = np.linalg.eigvals(forward * derivative(problem, *place()))
        decays = -rates.real[np.abs(rates.imag) <= np.abs(rates.real)]
        if not step * decays.max(initial=0.0) > least:
            return False
        beginning = span[0], span[0] + _BEGINNING * (span[1] - span[0])
        most = max(_LEAST, int(_FEWER * _BEGINNING * length / step))
        rtol, part = TOLERANCES
        longest = min(max_step, within_samples(problem, span))
        way = way_of(method, beginning, None, rtol, usual_atol(problem, part), None, longest, most, problem)
        return tried(problem, method, way).status is Status.OK
    except Exception:  # also of the user's functions: the run will say what is wrong
        return False
