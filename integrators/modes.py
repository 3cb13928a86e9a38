"""Motions in modes: a problem per mode, events that end it, and a rule for what comes next.

Impacts, stick and slip, gears that are shifted: between two events the motion is smooth and runs with any method, at
an event the state may jump and the problem may change.  Where events come faster than the run can resolve, it ends with
`Status.ACCUMULATED`; a system that knows what its events accumulate to says so by going over to another mode.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.events import Event
from integrators.integrate import integrate
from integrators.method import Method
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


class Transition(NamedTuple):
    """From one mode to the next.

    Attributes
    ----------
    t : float
        s.
    events : tuple of str
        What ended the mode.
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
    """A system that moves in modes; states of all modes have the same components."""

    def start(self, t: float, y: Array) -> Next:
        """The mode of a first state, and the state in it."""
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

    Examples
    --------
    See `integrate_modes`.
    """

    phases: tuple[Solution, ...]
    modes: tuple[Hashable, ...]
    transitions: tuple[Transition, ...]
    status: Status
    message: str

    @property
    def success(self) -> bool:
        """Whether the end was reached, and no phase is doubtful."""
        return self.status == Status.OK and not self.doubts

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Those of all phases, in their order."""
        return tuple(doubt for phase in self.phases for doubt in phase.doubts)

    @property
    def t(self) -> Array:
        """Times of all saved states, s; twice where the mode changes, before and after."""
        return np.concatenate([phase.t for phase in self.phases])

    @property
    def y(self) -> Array:
        """All saved states."""
        return np.concatenate([phase.y for phase in self.phases])

    def __getitem__(self, name: str) -> Array:
        """A part of the state or an invariant by name, as of a `Solution`."""
        return np.concatenate([phase[name] for phase in self.phases])


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
    Events are found by signs at the ends of steps, and by rates there (`Event`).  `Modes.soon` is how a system sees to
    it that its steps are short where events follow each other.

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
    t, end = (float(x) for x in span)
    found = system.start(t, reals(y0, "y0"))
    mode, y = found.mode, found.y
    phases: list[Solution] = []
    modes: list[Hashable] = []
    transitions: list[Transition] = []

    def result(status: Status, message: str) -> ModalSolution:
        return ModalSolution(tuple(phases), tuple(modes), tuple(transitions), status, message)

    while t < end:
        soon = system.soon(mode, t, y)
        if not soon > GRAIN * np.spacing(abs(t) + step):
            crowd = f"the next transition follows within rounding of t = {t:g}"
            return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
        near = soon < RESOLVED * step
        stop, h = (min(end, t + 2.0 * soon), soon / RESOLVED) if near else (end, step)
        events = [replace(event, terminal=True) for event in system.events(mode)]
        run = integrate(
            system.problem(mode, t, y), method, (t, stop), min(h, stop - t), events=events or None,
            save_every=save_every, progress=False,
        )  # fmt: skip
        phases.append(run)
        modes.append(mode)
        assert isinstance(run.status, Status)
        t, y = float(run.t[-1]), run.y[-1]
        if run.status == Status.OK:
            if passed := _passed(events, run):
                crowd = f"{passed} was passed unnoticed before t = {t:g}, sooner than the run resolves"
                return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
            continue
        if run.status != Status.EVENT:
            return result(run.status, run.message)
        assert isinstance(run.events, dict)
        names = tuple(name for name, (times, _) in run.events.items() if len(times) and times[-1] == t)
        found = system.after(mode, names, t, y)
        transitions.append(Transition(t, names, mode, found.mode, found.says, found.lost))
        mode, y = found.mode, found.y
        if len(transitions) >= CROWDED and t - transitions[-CROWDED].t < step:
            crowd = f"{CROWDED} transitions within one step before t = {t:g}, the last: {found.says}"
            return result(Status.ACCUMULATED, f"{crowd}; give the system a mode in which it rests")
        if len(transitions) >= most:
            return result(Status.TOO_MANY_STEPS, f"{most} transitions at t = {t:g}")
    doubt = next((doubt for phase in phases for doubt in phase.doubts), None)
    doubtful = "" if doubt is None else f"; doubtful since t = {doubt.time:.6g}, {doubt.name}: {doubt.says}"
    return result(Status.OK, f"reached the end{doubtful}")


def _passed(events: Sequence[Event], run: Solution) -> str:
    """An event with a direction whose function has the other sign at the end of a phase, without a zero: it was zero to
    begin with; or nothing.
    """
    for event in events:
        start, end = (float(event.function(t, y)) for t, y in ((run.t[0], run.y[0]), (run.t[-1], run.y[-1])))
        if event.direction * end > GRAIN * max(abs(start), GRAIN * np.finfo(float).eps):
            return repr(event.name)
    return ""
