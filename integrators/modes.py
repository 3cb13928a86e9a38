"""Motions in modes: a problem per mode, events that end it, and a rule for what comes next.

Impacts, stick and slip, gears that are shifted: between two events the motion is smooth and runs with any method, at
an event the state may jump and the problem may change.  Where events come faster than the run can resolve, it ends with
`Status.ACCUMULATED`; a system that knows what its events accumulate to says so by going over to another mode.

Phases between events are short, and looks into each see little of what adds up, and of what it does to the events.
Where the ends of all phases differ from those of half their steps by more than `SUSPECT` of the motion in all, the
whole sequence is taken once more with half the step, and with a quarter where that is close: positions that are
elsewhere are a doubt (`accuracy`), as in `integrators.engine.halves`, whether or not the same modes lead there.

What is held has no rates, and shows a blow to no step: where a problem reads the time, events are asked at many times
on the way between saved states, and where one of them has happened the phase ends, and up to the next of these states
steps are as short as that asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.engine.fixed_run import FixedRun, single_run
from integrators.engine.halves import CLOSE, DRIFTED, ELSEWHERE, MOST, REMEDY, ROUNDS, SUSPECT, rounds
from integrators.engine.resolution import positions_of
from integrators.engine.run import Output, Plan
from integrators.engine.step_again import looked, to_its_end
from integrators.engine.ways import beyond, ways_of_each
from integrators.events import Event, as_events
from integrators.integrate import integrate
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Doubt, Problem
from integrators.results.solution import Solution
from integrators.status import Status
from liegroup.arrays import integer, positive, reals
from liegroup.modules import listing

__all__ = ["ModalSolution", "Modes", "Transition", "integrate_modes"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
RESOLVED = 8
"""Steps up to what is expected next, at least."""
GRAIN = 100.0
"""Roundings that count as none."""
CROWDED = 200
"""Transitions within one step that are too many."""
OFTEN, FEWEST, MOST_OFTEN, PLACES = 4, 1000, 20_000, 3
"""Times of a step at which events are asked where problems read the time; in a run at least, in a phase at most; and at
how many of them, in different steps, what they tell is looked at.
"""
SURE = 1e-6
"""Part of what an event's function is in a phase by which it must be beyond zero there."""
AT_REST = 1e-3
"""Part of the way of positions by which they are at their last ones: what rests is no part of a motion."""
EVENLY = 1001
"""Times at which two runs are compared."""


class Transition(NamedTuple):
    """From one mode to the next.

    Attributes
    ----------
    t : float
        s.
    events : tuple of str
        What ended the mode; none at the start of a run.
    before, after : hashable
        The modes.
    says : str
        What happened.
    lost : float
        Energy that the jump took, J.
    """

    t: float
    events: tuple[str, ...]
    before: Hashable
    after: Hashable
    says: str
    lost: float


class Next(NamedTuple):
    """What comes after an event: mode, state, words, energy lost in the jump."""

    mode: Hashable
    y: Array
    says: str = ""
    lost: float = 0.0


class Modes(Protocol):
    """A system that moves in modes; states of all modes have the same components.

    One whose modes ask what is short or slow may have a method ``for_step(step)`` that gives the system of a run with
    steps of that size.
    """

    def start(self, t: float, y: Array) -> Next:
        """The mode of a first state, and the state in it, with words if something happens there."""
        ...

    def problem(self, mode: Any, t: float, y: Array) -> Problem:
        """The motion of a mode from a state."""
        ...

    def events(self, mode: Any) -> Sequence[Event]:
        """What ends the mode: plain functions g(t, y), negative beyond a zero where the direction is −1."""
        ...

    def after(self, mode: Any, events: tuple[str, ...], t: float, y: Array) -> Next:
        """What comes after events."""
        ...

    def soon(self, mode: Any, t: float, y: Array) -> float:
        """About how long until the next event, s; infinite if unknown."""
        ...


@dataclass(frozen=True, eq=False)
class ModalSolution:
    """What a run in modes computed.

    Attributes
    ----------
    phases : tuple of Solution
        One after another; neighbours share their time.
    modes : tuple
        The mode of every phase.
    transitions : tuple of Transition
        Between them.
    status : Status
        How the run ended.
    message : str
        The same in words.
    of_all : tuple of Doubt
        What is doubtful of the run as a whole.

    Examples
    --------
    See `integrate_modes`.
    """

    phases: tuple[Solution, ...]
    modes: tuple[Hashable, ...]
    transitions: tuple[Transition, ...]
    status: Status
    message: str
    of_all: tuple[Doubt, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the end was reached, and nothing is doubtful."""
        return self.status == Status.OK and not self.doubts

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Those of all phases, in their order, and those of the run as a whole."""
        return (*(doubt for phase in self.phases for doubt in phase.doubts), *self.of_all)

    @property
    def t(self) -> Array:
        """Times of all saved states, s; twice where the mode changes, before and after."""
        return np.concatenate([phase.t for phase in self.phases] or [np.zeros(0)])

    @property
    def y(self) -> Array:
        """All saved states."""
        return np.concatenate([phase.y for phase in self.phases] or [np.zeros((0, 0))])

    def __getitem__(self, name: str) -> Array:
        """A part of the state or an invariant by name, as of a `Solution`."""
        return np.concatenate([phase[name] for phase in self.phases] or [np.zeros((0, 0))])


def integrate_modes(
    system: Modes,
    y0: ArrayLike,
    method: str | Method,
    t_span: Sequence[float],
    step: float,
    *,
    save_every: int = 1,
    most: int = 10_000,
) -> ModalSolution:
    """Integrate a system that moves in modes, forwards, with steps of fixed size.

    Parameters
    ----------
    system : Modes
        Such as `mechanics.Nonsmooth`.
    y0 : array (n,)
        The first state.
    method : str or Method
        As for `integrate`.
    t_span : (t0, t1)
        t1 > t0.
    step : float
        Largest step; smaller ones are taken where the system expects an event sooner than in eight of them.
    save_every : int
        Keep every `save_every`-th state, and those at events.
    most : int
        Transitions at most; then the run ends with `Status.TOO_MANY_STEPS`.

    Returns
    -------
    ModalSolution
        Its `status` is OK, ACCUMULATED where events come faster than the steps resolve, or that of a phase that failed.

    Raises
    ------
    ValueError, TypeError
        As from `integrate`; a span that does not go forwards.

    Notes
    -----
    Events are found by signs at the ends of steps, and by rates there (`Event`); where problems read the time, at many
    times between them (``Problem(…, autonomous=False)`` of a mode whose events alone read it).  `Modes.soon` is how a
    system sees to it that its steps are short where events follow each other.  Runs whose phases differ from those of
    half their steps are taken once more as a whole, which is two runs, or six where these are close: `doubts` has what
    is elsewhere then.

    Examples
    --------
    >>> from mechanics import Body, Inertia, Nonsmooth, Tree, joints
    >>> ball = Tree([Body("ball", joints.Prismatic((0, 0, 1)), inertia=Inertia.point(2.0), joint_name="height")])
    >>> bounces = Nonsmooth(ball, stops={"height": (0.0, None)}, restitution=0.5)
    >>> run = integrate_modes(bounces, bounces.state([1.0]), "RKMK4", (0.0, 2.0), step=1e-2)
    >>> run.message, run.transitions[0].says
    ('reached the end', "impact of joint 'height' on its lower stop with 4.43")
    >>> run.transitions[-1].says
    "joint 'height' rests on its lower stop: impacts accumulate"
    """
    span = reals(t_span, "t_span")
    if span.shape != (2,) or not span[1] > span[0]:
        raise ValueError(f"t_span: {span.tolist()}, expected (t0, t1) with t1 > t0")
    step, most, save_every = positive(step, "step"), integer(most, "most", 1), integer(save_every, "save_every", 1)
    t0, t1 = (float(x) for x in span)
    system = getattr(system, "for_step", lambda step: system)(step)
    start = system.start(t0, reals(y0, "y0"))

    def taken(problem: Problem, events: list[Event], end: float, h: float, t: float) -> _Phase:
        run = integrate(
            problem, method, (t, end), min(h, end - t), events=events or None, save_every=save_every, progress=False
        )
        assert isinstance(run.status, Status)
        assert isinstance(run.events, dict)
        names = tuple(name for name, (times, _) in run.events.items() if len(times) and times[-1] == run.t[-1])
        steps = run.steps + (run.status is Status.EVENT)  # with the one in which it was
        return _Phase(problem, run.t, run.y, steps, run.status, run.message, names, run)

    run = _run(system, start, (t0, t1), step, most, taken)
    phases = [phase.solution for phase in run.phases if phase.solution is not None]
    found = ModalSolution(tuple(phases), run.modes, run.transitions, run.status, run.message)
    chosen = find(method)
    if found.success and isinstance(chosen, Method):
        whether = "whether steps of half the size give the same motion"
        own = looked(lambda: _elsewhere(system, start, chosen, step, most, save_every, run), whether)
        found = replace(found, of_all=tuple(own))
    if run.status is Status.OK and found.doubts:
        doubt = found.doubts[0]
        doubtful = f"; doubtful since t = {doubt.time:.6g}, {doubt.name}: {doubt.says}"
        found = replace(found, message=f"{found.message}{doubtful}")
    return found


class _Phase(NamedTuple):
    """A phase: its problem, saved states from the first to the last, steps, how it ended, and by which events."""

    problem: Problem
    t: Array
    y: Array
    steps: int
    status: Status
    message: str
    names: tuple[str, ...]
    solution: Solution | None = None


class _Run(NamedTuple):
    """A run in modes: its phases with their modes, and what was between them."""

    phases: tuple[_Phase, ...]
    modes: tuple[Hashable, ...]
    transitions: tuple[Transition, ...]
    status: Status
    message: str


def _run(
    system: Modes, start: Next, span: tuple[float, float], step: float, most: int, taken: Callable[..., _Phase],
    parts: int = 1,
) -> _Run:  # fmt: skip
    """Phase by phase, each `taken(problem, events, end, h, t)`, in steps of one of so many parts of their size."""
    t, end = span
    mode, y = start.mode, start.y
    phases: list[_Phase] = []
    modes: list[Hashable] = []
    transitions = [Transition(t, (), mode, mode, start.says, start.lost)] if start.says else []
    fine, apart = _Seen(t, t, step), min(step / OFTEN, (end - t) / FEWEST)

    def result(status: Status, message: str) -> _Run:
        return _Run(tuple(phases), tuple(modes), tuple(transitions), status, message)

    while t < end:
        soon = system.soon(mode, t, y)
        if not soon > GRAIN * np.spacing(abs(t) + step):
            crowd = f"the next transition follows within rounding of t = {t:g}"
            return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
        near = soon < RESOLVED * step
        stop, h = (min(end, t + 2.0 * soon), soon / RESOLVED) if near else (end, step)
        events = [replace(event, terminal=True) for event in system.events(mode)]
        if t < fine.end:
            stop, h = min(stop, fine.end), min(h, fine.step)
        problem = system.problem(mode, t, y)
        phase = taken(problem, events, stop, h / parts, t)
        seen_between: list[_Seen] = []
        if not problem.is_autonomous:
            seen_between = looked(partial(_between, events, phase, apart), "whether events come between its steps")
        for seen in seen_between:
            sooner = taken(problem, events, seen.t, h / parts, t)
            if sooner.status is Status.EVENT:
                phase, fine = sooner, seen
                break
        phases.append(phase)
        modes.append(mode)
        t, y = float(phase.t[-1]), phase.y[-1]
        if phase.status == Status.OK:
            if passed := _passed(events, phase):
                crowd = f"{passed} was passed unnoticed before t = {t:g}, sooner than the run resolves"
                return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
            continue
        if phase.status != Status.EVENT:
            return result(phase.status, phase.message)
        found = system.after(mode, phase.names, t, y)
        transitions.append(Transition(t, phase.names, mode, found.mode, found.says, found.lost))
        mode, y = found.mode, found.y
        if len(transitions) >= CROWDED and t - transitions[-CROWDED].t < step:
            crowd = f"{CROWDED} transitions within one step before t = {t:g}, the last: {found.says}"
            return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
        if len(transitions) >= most:
            return result(Status.TOO_MANY_STEPS, f"{most} transitions at t = {t:g}")
    return result(Status.OK, "reached the end")


def _passed(events: Sequence[Event], run: _Phase) -> str:
    """An event with a direction whose function has the other sign at the end of a phase, without a zero: it was zero to
    begin with; or nothing.
    """
    if events:
        ends = _values(events, run, run.t[[0, -1]], run.y[[0, -1]])
        for event, start, end in zip(events, *ends.tolist(), strict=True):
            if event.direction * end > GRAIN * max(abs(start), GRAIN * np.finfo(float).eps):
                return repr(event.name)
    return ""


def _values(events: Sequence[Event], phase: _Phase, t: Array, y: Array) -> Array:
    """The functions of events at some states of a phase, by rows, in whatever form they are."""
    asked = as_events(list(events))
    assert asked is not None
    each = zip(t.tolist(), y, strict=True)
    return np.array([phase.problem.evaluate(asked.field, time, state, len(events)) for time, state in each])


class _Seen(NamedTuple):
    """An event that only its function shows, at a time t, up to what saved state, and the step which shows that."""

    t: float
    end: float
    step: float


def _between(events: Sequence[Event], phase: _Phase, apart: float) -> list[_Seen]:
    """Where events have happened between saved states of a phase that the states before do not show, at times so far
    `apart`, the first of each pair: with what the state is on a line between them.
    """
    t, y = phase.t, phase.y
    count = min(int((t[-1] - t[0]) / apart), MOST_OFTEN)
    if not count or not events:
        return []
    between = float(t[-1] - t[0]) / count
    times = t[0] + between * (np.arange(count) + 0.37)
    rows = np.searchsorted(t, times, side="right") - 1
    states = y[rows] + ((times - t[rows]) / (t[rows + 1] - t[rows]))[:, None] * (y[rows + 1] - y[rows])
    first: dict[int, float] = {}
    near, used = np.unique(rows, return_inverse=True)
    values, before = _values(events, phase, times, states), _values(events, phase, t[near], y[near])[used]
    directions = np.array([event.direction for event in events])
    forward = np.where(directions == 0, -np.sign(before), directions)
    beyond_zero = forward * values > SURE * np.abs(values).max(axis=0)
    for k in np.flatnonzero((beyond_zero & (forward * before < 0.0)).any(axis=1)).tolist():
        first.setdefault(int(rows[k]), float(times[k]))
    return [_Seen(time, float(t[row + 1]), 0.5 * between) for row, time in sorted(first.items())[:PLACES]]


def _elsewhere(
    system: Modes, start: Next, method: Method, step: float, most: int, save_every: int, run: _Run
) -> list[Doubt]:
    """The doubt of a run whose positions are not those of smaller steps, up to `MOST` steps; none of methods that
    estimate their errors.
    """
    steps = list(accumulate(phase.steps for phase in run.phases))
    some = [phase for phase, sum_ in zip(run.phases, steps, strict=True) if sum_ <= MOST]
    if method.stepper.report or not some:
        return []
    halves = [_in_halves(phase, method) for phase in some]
    fine = [to_its_end(half)[0] for half in halves]
    times, each = (np.concatenate([getattr(half, name) for half in fine]) for name in "ty")
    scale, k = ways_of_each(halves[0], times, each), positions_of(some[0].problem)
    ends = [half.last - phase.y[-1] for half, phase in zip(fine, some, strict=True)]
    if np.nan_to_num(np.abs(ends) / scale, nan=np.inf).max(axis=1).sum() <= SUSPECT:
        return []
    limit, until = ELSEWHERE, float(some[-1].t[-1])
    if method.symmetric or method.symplectic:
        limit = DRIFTED
        if not _loses(run):  # phases drift for ever
            far = rounds(halves[0], times, each) > ROUNDS
            until = float(np.append(times[far], until)[0])
    t, y = (np.concatenate([getattr(phase, name) for phase in some]) for name in "ty")
    t, y = t[t <= until], y[t <= until]
    if save_every > 1:  # few states may be those at events alone
        t = np.linspace(t[0], until, EVENLY)
        y = _at_times(system, start, method, step, most, t, 1)
    for parts, size in ((2, "half"), (4, "a quarter of")):
        other = _at_times(system, start, method, step, most, t, parts)
        times, apart = _apart(t, y[:, :k], other[:, :k], scale[:k])
        part, allowed, row = beyond(apart, limit)
        if part > allowed:
            what = "positions differ by this part of the way that they go"
            says = f"steps of {size} the size give another motion: {what}"
            return [Doubt("accuracy", float(times[row]), part, allowed, says, REMEDY)]
        if part <= CLOSE * allowed:
            break
    return []


def _apart(t: Array, y: Array, other: Array, scale: Array) -> tuple[Array, Array]:
    """How far the positions of two runs are from each other, at times evenly from the first to where both rest, or one
    of them ends.
    """
    rows = min(len(y), len(other))
    t, y, other = t[:rows], y[:rows], other[:rows]
    moves = np.abs([y - y[-1], other - other[-1]]) / scale > AT_REST
    rows = min(rows, 2 + int(np.max(np.flatnonzero(moves.any(axis=(0, 2))), initial=0)))
    evenly = np.linspace(t[0], t[rows - 1], EVENLY)
    return evenly, np.interp(evenly, t[:rows], (np.abs(y - other) / scale).max(axis=1)[:rows])


def _loses(run: _Run) -> bool:
    """Whether jumps take energy, or something does on the way."""
    watched = (set(p.problem.invariant_names) - {guard.name for guard in p.problem.guards} for p in run.phases)
    return any(change.lost > 0.0 for change in run.transitions) or any("energy" in names for names in watched)


def _in_halves(phase: _Phase, method: Method) -> FixedRun:
    """A phase once more in steps of half the size, from its first state to its last time, without events."""
    t, steps = float(phase.t[0]), 2 * phase.steps
    end = float(phase.t[-1])
    plan = Plan(t, (end - t) / steps, steps, end)
    return single_run(phase.problem, method, Output(), plan, phase.y[0])


def _at_times(system: Modes, start: Next, method: Method, step: float, most: int, times: Array, parts: int) -> Array:
    """The states at given times of a run in smaller steps, as far as it comes."""

    def taken(problem: Problem, events: list[Event], end: float, h: float, t: float) -> _Phase:
        steps = int(np.ceil((end - t) / h * (1.0 - 1e-9)))
        wanted, asked = np.unique([*times[(times > t) & (times < end)], end]), as_events(events)
        output, plan = Output(times=wanted, events=asked), Plan(t, (end - t) / steps, steps, end)
        y0 = np.asarray(problem.y0, dtype=np.float64)
        run = single_run(problem, method, output, plan, y0)
        [found] = to_its_end(run)
        names = () if asked is None else tuple(asked.names[k] for at, k, _ in found.events if at == found.last_t)
        rows = found.t < found.last_t
        last = end if found.status is Status.OK else found.last_t
        t_of, y_of = np.append(found.t[rows], last), np.vstack([found.y[rows], found.last])
        done = run.steps_done + (found.status is Status.EVENT)
        return _Phase(problem, np.append(t, t_of), np.vstack([y0, y_of]), done, found.status, "", names)

    run = _run(system, start, (float(times[0]), float(times[-1])), step, most, taken, parts)
    t, y = (np.concatenate([getattr(phase, name) for phase in run.phases]) for name in "ty")
    return np.array(y[np.searchsorted(t, times[times <= t[-1]])])
