"""Whether a method takes swings that the motion keeps, or that grow by themselves: half the steps take them, too.

Methods that damp what their steps do not resolve multiply a mode of the linear motion, e^{λt}, by |R(hλ)| in a step.
That is what they are for where the mode is damped anyway, or rests.  Where it neither decays nor rests it is missing
from the motion, and a method that has taken it at once takes it as fast with smaller steps, for long.  So the modes
about a few saved states are asked how much of the way they carry there, by the part of the field along them, and what
is left of that after a tenth of the run, by themselves and by the method; of those that grow, at its end.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, LaneRun
from integrators.engine.halves import ELSEWHERE, FIRST
from integrators.engine.resolution import positions_of
from integrators.engine.run import Trajectory
from integrators.engine.ways import ways_of
from integrators.method import Method
from integrators.method.stability import growth
from integrators.problem import Doubt, Problem
from integrators.problem.ambient import ambient_velocity, state_sizes
from integrators.problem.jacobian import derivative

Array = NDArray[np.float64]
Looks = Iterable[tuple[FixedRun, Mapping[int, Trajectory], int]]
LARGEST = 100
"""Dimension of the largest state whose modes are asked."""
TENTH = 0.1
"""Part of the run for which a swing lasts that is missed."""
HALF = 0.5
"""Part of a swing that a method may take, and by which a mode may differ from what it becomes."""
FEWEST = 4
"""Saved states."""
ALONE = 1e3
"""Condition of a mode that is told from the others."""
SLIGHT = 0.01
"""Negative damping ratio below which a mode is not taken to grow: the linear motion about one state of a swinging rod
has such modes, which its motion has not.
"""
FROM = (0.0, 0.3, 0.6)
"""Parts of the run at which modes are asked."""


_UNKNOWN = "the run is over, but whether the method takes its swings could not be looked at"


class Swing(NamedTuple):
    """A mode of the linear motion about a state: its eigenvalue, 1/s, and the part of the way that it carries."""

    rate: complex
    part: float


def can_ask(method: Method) -> bool:
    """Whether it is known what a method does to a mode."""
    known = method.stepper.growth is not None or not (method.stepper.starts or method.stepper.multistep)
    own = method.stepper.step is None or method.needs not in ("field", "canonical")
    return known and not own and not (method.symplectic or method.symmetric)


def lost_swings(looks: Looks, doubted: Container[int]) -> list[Doubt]:
    """The doubts of trajectories in whose motion a swing is missing that is more than `ELSEWHERE` of the way: of runs,
    their trajectories by lanes, and the number of the first lane; of those that are `doubted` already, and behind the
    first few, none.  What goes wrong in a look ends it with a warning, Ctrl-C all of them: the runs are not lost with
    it.
    """
    doubts: list[Doubt] = []
    for run, lanes, first in looks:
        for lane, found in lanes.items():
            if first + lane in doubted or first + lane >= FIRST:
                continue
            try:
                problem = run.problem_of(lane) if isinstance(run, LaneRun) else run.problem
                doubts += _lost_swings(run, problem, found, first + lane)
            except KeyboardInterrupt:
                warnings.warn(f"{_UNKNOWN} (interrupted)", RuntimeWarning, stacklevel=2)
                return doubts
            except Exception as error:  # also of the user's: functions may raise where only differences come
                warnings.warn(f"{_UNKNOWN} ({type(error).__name__}: {error})", RuntimeWarning, stacklevel=2)
    return doubts


def _lost_swings(run: FixedRun, problem: Problem, found: Trajectory, number: int) -> list[Doubt]:
    t, method, h, limit = found.t, run.method, abs(run.plan.h), ELSEWHERE
    if not can_ask(method) or problem.dimension > LARGEST or len(t) < FEWEST:
        return []
    span, ways = abs(float(t[-1] - t[0])), ways_of(run, t, found.y)[: positions_of(problem)]
    if not np.isfinite(ways).any():
        return []
    forward = float(np.sign(run.plan.h))  # back in time, what decays grows

    def derivative_at(row: int) -> Array:
        return forward * derivative(problem, float(t[row]), found.y[row])

    for begin in FROM:
        row = int(np.argmin(np.abs(np.abs(t - t[0]) - begin * span)))
        start, y, J = float(t[row]), found.y[row], derivative_at(row)

        def lasts(rate: complex, since: float = abs(start - t[0])) -> float:
            return TENTH * span if rate.real <= 0.0 else (1.0 - TENTH) * span - since

        if not np.isfinite(J).all() or not any(_can_take(method, h, x, lasts(x)) for x in np.linalg.eigvals(J)):
            continue
        sizes = state_sizes(problem.table, problem.scales)
        for swing in swings(problem.table, y, J, forward * problem.velocity(start, y), ways, sizes):
            if not _missing(method, h, swing, lasts(swing.rate)) > limit:
                continue
            later = int(np.argmin(np.abs(np.abs(t - start) - lasts(swing.rate))))
            values = np.linalg.eigvals(derivative_at(later))
            now = complex(values[np.argmin(np.abs(values - swing.rate))])
            if abs(now - swing.rate) > HALF * abs(swing.rate):
                continue
            rate = min(now, swing.rate, key=lambda x: x.real)
            missing = _missing(method, h, Swing(rate, swing.part), lasts(swing.rate))
            if missing > limit:
                return [_doubt(method, h, rate, start, missing, limit, number)]
    return []


def _doubt(method: Method, h: float, rate: complex, t: float, missing: float, limit: float, number: int) -> Doubt:
    size, kept = abs(rate), _factor(method, h * rate)
    says = (
        f"this part of the way is missing: it swings with {size:.4g} rad/s, damping ratio {-rate.real / size:.2g}, and "
        f"{method.name} damps it: a step with h ω = {h * size:.3g} leaves {kept:.3g} of it, the motion "
        f"{np.exp(h * rate.real):.3g}"
    )
    remedy = "use a step with h ω well below one, or a method that keeps swings (MIDPOINT, RKMK_GAUSS2)"
    return Doubt("swing_lost", t, missing, limit, says, remedy, number)


def swings(table: NDArray[np.int64], y: Array, J: Array, velocity: Array, ways: Array, sizes: Array) -> list[Swing]:
    """The modes that swing, the largest first, of the field with this derivative and value at y; `sizes` count as one
    of each component.
    """
    values, shapes = np.linalg.eig(J * sizes / sizes[:, None])
    try:
        dual = np.linalg.inv(shapes)
    except np.linalg.LinAlgError:
        return []
    parts = dual @ (velocity / sizes)
    found = []
    for k in np.flatnonzero(values.imag > 0.0):
        if np.abs(dual[k]) @ np.abs(shapes[:, k]) > ALONE:
            continue
        shape = 2.0 * parts[k] * sizes * shapes[:, k] / values[k]
        size = np.hypot(*(ambient_velocity(table, y, x)[: len(ways)] for x in (shape.real, shape.imag)))
        rate = complex(values[k])
        if 0.0 < rate.real < SLIGHT * abs(rate):
            rate = complex(0.0, rate.imag)
        found.append(Swing(rate, float((size / ways).max())))
    return sorted(found, key=lambda swing: -swing.part)


def _can_take(method: Method, h: float, rate: complex, lasts: float) -> bool:
    """Whether errors of the size of (hλ)ᵖ⁺¹ in every step can take a swing in some time."""
    return bool(rate.imag > 0.0 and lasts / h * abs(h * rate) ** (method.order + 1) >= HALF)


def _missing(method: Method, h: float, swing: Swing, lasts: float) -> float:
    """What the method has taken after some time of what a mode then carries, if that is more than half."""
    steps, most = lasts / h, max(swing.part, 1.0)  # what grows by itself does not go on for ever
    kept = min(swing.part * float(np.exp(min(swing.rate.real * lasts, 700.0))), most)
    if kept < ELSEWHERE or not _can_take(method, h, swing.rate, lasts):
        return 0.0
    left = swing.part * float(np.exp(min(steps * np.log(max(_factor(method, h * swing.rate), 1e-300)), 700.0)))
    return kept - left if left < HALF * kept else 0.0


def _factor(method: Method, z: complex) -> float:
    """By which a step multiplies a mode of h λ = z."""
    return _growth(method, float(f"{abs(z):.6g}"), float(f"{-z.real / abs(z):.6g}"))


@lru_cache(256)
def _growth(method: Method, z: float, damping: float) -> float:
    return growth(method, z, damping)
