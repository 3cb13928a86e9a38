"""Whether steps of half the size give the same motion: errors of steps that are small one by one, and add up.

No guard sees them where dampers work or closures are held elastically: the energy falls anyway, and each step is
resolved.  From a few saved states some steps are taken once more in halves; where what differs, summed over the run, is
more than `SUSPECT` of the motion, the whole run is (its first `MOST` steps), and positions that are elsewhere by more
than `ELSEWHERE` of the way they go are a doubt.  Errors may grow along the motion, where a rotor passes resonances, or
pendulums hang on each other: where the sum is more than `FAINT`, the run in steps four times and, if that is another
motion, twice the size, which differ by more than the run is wrong, says whether that is to be done.  Of longer runs as
many steps about their sharpest bend are looked at as well.  Steps and their halves may be wrong alike, by more than
they differ: where that is `CLOSE` of what is allowed, the sum more than that, or halves fail, steps of a quarter are
asked, too.  The look costs 3 · 2/`PART`, 15 % of a run of 320 steps and more (48 half steps of shorter ones), half as
much again where the steps are taken anew, too (between given times, and where saved states are further apart than a
stretch), and for what may grow a quarter of the run, or three; the whole run in halves is two runs, in quarters four
more.  Trajectories of an ensemble in lanes are looked at together; of a large one those of `LONG` steps, and as a whole
the first `MOST_WHOLE` groups that are suspect.

Methods that are symplectic or symmetric promise the shape of a motion, and phases drift: where the energy is kept they
are asked at the beginning alone, until positions have gone their way `ROUNDS` times, whether the motion is another one
(`DRIFTED`) by then, of ensembles the first `FIRST`.  What travels, and never comes back (wheels, rotors), has no phase:
there `ELSEWHERE` holds, for its first `BEGUN` steps.  Where smooth dampers take the energy (of networks and rods,
`ELSEWHERE` holds) or drives bring it, they are asked the same of all of it, and where no energy is watched whether it
is a motion at all (`OPPOSITE`; `ANOTHER` where the field reads the time, with which it swings), and one that swings as
far as that of smaller steps, along each of its axes.  So are the ends of all others (`ANOTHER`): what grows, or speeds
up, goes most of its way in its last steps.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from integrators.engine.fixed_run import FixedRun, LaneRun
from integrators.engine.losses import ASIDE, rate_of
from integrators.engine.resolution import is_cheap, positions_of
from integrators.engine.run import Output, Plan, Trajectory
from integrators.engine.step_again import stepped, to_its_end, with_start
from integrators.engine.ways import (
    ANOTHER,
    AT_ALL,
    SLIGHT,
    THROWN,
    bent_at,
    beyond,
    not_thrown,
    ways_of_all,
    ways_of_each,
    ways_of_travel,
)
from integrators.layout import STEPS
from integrators.problem import Doubt
from integrators.problem.driven import inputs_along, reads_state
from integrators.status import Status
from liegroup.arrays import spread
from liegroup.compile import WIDTH

Array = NDArray[np.float64]
SUSPECT, FAINT = 1e-3, 1e-12
"""Sum of the differences of all steps, estimated from some, relative to the motion; one from which on it is asked
whether errors grow along the motion: four pendulums on each other make 1e12 times as much of them in six seconds.
"""
COARSER = (0.25, 0.5)
"""Parts into which steps are then put together, one after the other while it is another motion."""
ELSEWHERE = 0.05
"""Part of the way that positions go by which a tenth of the saved states differ from those of half the step."""
DRIFTED = 0.25
"""The same of motions whose phases may drift."""
SWITCHED = 0.7
"""Part of its range by which an input that switches changes in a step: what oscillates does so where four steps or
fewer take a period.
"""
ROUNDS, BEGUN, PERCEIVED = 4.0, 400, 0.02
"""Times the way of positions that a beginning goes, steps by which it must have, and what its steps must differ by in
all, relative to the motion, so that all of it is taken once more.
"""
UNDER_WAY = 16
"""Steps from which on that is so: fewer may be a swing that begins, whose first steps from rest differ by much of what
they go.
"""
OPPOSITE = 2.5
"""The same of motions that may swing for ever: opposite phases are at most two ways apart."""
SWUNG, MOST_AXES = 0.2, 100
"""Part by which their swings may differ, as a whole and along each of their axes, and positions that have such."""
BROUGHT = 1e-3
"""Part of an energy that a field which changes it would bring in the time of the run: less is rounding."""
CLOSE = 0.25
"""Part of what is allowed from which on steps of a quarter of the size are asked."""
STRETCH, PART = 8, 40
"""Steps of a stretch that is looked at first: at least, and one in so many of the run."""
MOST = 20_000
"""Steps that are taken once more in halves."""
ROOM = 5_000_000
"""Numbers of all steps of a look, at most."""
FIRST, LONG = 8, 1000
"""Trajectories of an ensemble that are looked at anyway, and steps from which on those behind them are: setting out
costs as much as a hundred steps.
"""
GROWS = 1.5
"""Times what differs in the first half of some steps by which it grows with the steps: twice, where it is their sum."""
BETWEEN = 101
"""States by which the way is known where few are saved."""
MOST_WHOLE = 8
"""Runs, of eight trajectories in lanes or of one, that are taken once more as a whole."""
REMEDY = "use a smaller step, or a method of higher order; of chaotic motions compare averages"


_UNKNOWN = "the run is over, but whether its errors add up could not be looked at"


def elsewhere(looks: Iterable[tuple[FixedRun, Mapping[int, Trajectory], int]]) -> list[Doubt]:
    """The doubts of trajectories whose positions are not those of steps of half the size: of runs, their trajectories
    by lanes, and the number of the first lane.  What goes wrong in a look ends it with a warning, Ctrl-C all of them:
    the runs are not lost with it.
    """
    doubts: list[Doubt] = []
    whole, coarse = 0, 0
    for run, found, first in looks:
        if (first >= FIRST and run.plan.steps < LONG) or whole >= MOST_WHOLE:
            continue
        try:
            own, taken, asked = _of_run(run, found, first, FAINT if coarse < MOST_WHOLE else SUSPECT)
            doubts, whole, coarse = doubts + own, whole + taken, coarse + asked
        except KeyboardInterrupt:
            warnings.warn(f"{_UNKNOWN} (interrupted)", RuntimeWarning, stacklevel=2)
            break
        except Exception as error:  # also of the user's: functions may raise where only half the steps come
            warnings.warn(f"{_UNKNOWN} ({type(error).__name__}: {error})", RuntimeWarning, stacklevel=2)
    return doubts


def _of_run(run: FixedRun, found: Mapping[int, Trajectory], first: int, faint: float) -> tuple[list[Doubt], int, int]:
    """The doubts of the trajectories of one run, how often that was taken once more as a whole, and how often in larger
    steps, where differences are `faint`.
    """
    some, whole, coarse = next(iter(found.values())), 0, 0
    limit, steps = _limit(run, some), int(some.counters[STEPS])
    doubts: list[Doubt] = []
    left = dict(found)
    for begin in _begins(run, found) if limit < np.inf else ():
        look = _Look(run, left, first, ways_of_each, begin)
        suspect = look.suspects(limit, SUSPECT, faint)
        whole, coarse = whole + bool(suspect), coarse + look.asked_whole
        doubts += look.doubts_of(suspect, limit) if suspect else []
        left = {lane: one for lane, one in found.items() if first + lane not in {d.trajectory for d in doubts}}
        if left and begin == 0 and limit == ELSEWHERE and steps > MOST:
            doubts += look.growing(steps, list(left))
            left = {lane: one for lane, one in left.items() if first + lane not in {d.trajectory for d in doubts}}
        if not left:
            return doubts, whole, coarse
    if limit > ELSEWHERE and first < FIRST:
        doubts += _of_beginnings(run, left, first, limit < np.inf)
    return doubts, whole, coarse


def _begins(run: FixedRun, found: Mapping[int, Trajectory]) -> list[int]:
    """From which saved rows on up to `MOST` steps are looked at: the first, and of longer runs one before the sharpest
    bend, if that is behind them.
    """
    rows, some = MOST // run.output.save_every, next(iter(found.values()))
    if run.plan.steps <= MOST or rows < PART or len(run.output.times) or len(some.t) <= rows:
        return [0]
    bent = [bent_at(some.t, one.y, ways_of_each(run, one.t, one.y)) for one in found.values()]
    sharpest = int(np.argmax(np.max(bent, axis=0)))
    return [0] if sharpest < rows else [0, sharpest - rows // 4]


def _limit(run: FixedRun, found: Trajectory) -> float:
    """Part of the way by which positions may differ."""
    if not (run.method.symplectic or run.method.symmetric) or _switches(run, found):
        return ELSEWHERE
    rises = [guard for guard in run.problem.guards if np.isfinite(guard.rise)]
    damped = [guard for guard in rises if guard.name != "balance"]  # there a drive works besides
    if not damped:
        if any(guard.name == "energy" for guard in run.problem.guards):
            return np.inf
        if _is_driven(run, found):
            return DRIFTED
        return OPPOSITE if run.problem.is_autonomous else ANOTHER  # whether energy is kept nobody knows
    return max(DRIFTED if guard.accounts else ELSEWHERE for guard in damped)


def _switches(run: FixedRun, found: Trajectory) -> bool:
    """Whether an input that reads the state changes by most of its range from one step to the next: no symmetry holds
    across its jumps, and phases are no excuse.
    """
    if not reads_state(run.problem) or run.output.save_every != 1 or len(run.output.times):
        return False
    some = slice(0, BEGUN)
    inputs = inputs_along(run.problem, found.t[some], found.y[some])
    steps = np.abs(np.diff(inputs, axis=0)).max(axis=0, initial=0.0)
    return bool((steps > SWITCHED * np.ptp(inputs, axis=0)).any())


def _is_driven(run: FixedRun, found: Trajectory) -> bool:
    """Whether an energy is watched, not guarded, and the field changes it, by its rates at some saved states."""
    problem = run.problem
    if "energy" not in problem.invariant_names or any(guard.name == "energy" for guard in problem.guards):
        return False
    column, aside = problem.invariant_names.index("energy"), ASIDE * abs(run.plan.h)
    rows = spread(len(found.t), 9)
    places = [(float(found.t[k]), found.y[k]) for k in rows]
    if len(rows) < 3:  # and what its step leads to: a drive has no power at rest
        start = np.atleast_2d(problem.y0)[0]
        places += [(run.plan.t0, start), (run.plan.t0 + run.plan.h, stepped(run, run.plan.t0, run.plan.h, start))]
    fastest = max(abs(rate_of(problem, column, t, y, aside)) for t, y in places)
    size = float(np.abs(found.invariants[:, column]).max())
    return bool(fastest * abs(found.last_t - run.plan.t0) > BROUGHT * size)


def _again(run: FixedRun, starts: Mapping[int, Array], plan: Plan, output: Output) -> FixedRun:
    """A run like another from other states, by lanes."""
    some = next(iter(starts.values()))
    if isinstance(run, LaneRun):
        begin = np.array([starts.get(lane, some) for lane in range(WIDTH)])
        return LaneRun(run.problem, run.method, output, plan, begin)
    return FixedRun(run.problem, run.method, output, plan, some)


def _taken(run: FixedRun, lanes: Iterable[int]) -> dict[int, Trajectory]:
    """What a run comes to, by lanes."""
    found = to_its_end(run)
    return {lane: found[lane] for lane in lanes}


def _begun(run: FixedRun, found: Mapping[int, Trajectory], first: int, steps: int) -> FixedRun:
    """The beginning of a run, every step saved."""
    starts, plan = np.atleast_2d(run.problem.y0)[first:], run.plan
    return _again(run, {lane: starts[lane] for lane in found}, replace(plan, steps=steps), Output(save_every=1))


def _of_beginnings(run: FixedRun, found: Mapping[int, Trajectory], first: int, whole: bool) -> list[Doubt]:
    """The doubts of the first `BEGUN` steps: of what travels, and unless all of the run was asked (`whole`) of swings,
    until positions have gone their way `ROUNDS` times, or that is over (those that take more steps are small beside
    their motion).
    """
    steps, lanes = min(run.plan.steps, BEGUN), dict(found)
    if run.output.save_every != 1 or len(run.output.times):
        lanes = _taken(_begun(run, found, first, steps), found)
    lanes = {lane: _up_to(one, steps) for lane, one in lanes.items() if len(one.y) > 2}
    doubts: list[Doubt] = []
    swings = {} if whole else _swings(run, lanes)
    if swings:
        most = max(swings.values())
        shown = {lane: _up_to(lanes[lane], most) for lane in swings}
        doubts = _of_a_look(_Look(_begun(run, found, first, most), shown, first, ways_of_all), DRIFTED)
    named = {doubt.trajectory - first for doubt in doubts}
    travels = {
        lane: one
        for lane, one in lanes.items()
        if steps >= UNDER_WAY and lane not in named and np.isfinite(ways_of_travel(run, one.t, one.y)).any()
    }
    if travels:
        doubts += _of_a_look(_Look(_begun(run, found, first, steps), travels, first, ways_of_travel), ELSEWHERE)
    return doubts


def _swings(run: FixedRun, lanes: Mapping[int, Trajectory]) -> dict[int, int]:
    """After how many steps the positions of trajectories have gone their way `ROUNDS` times, or are at the end."""
    gone = {lane: rounds(run, one.t, one.y) for lane, one in lanes.items()}
    enough = {lane: int(np.argmax(x > ROUNDS)) if x[-1] > ROUNDS else len(x) - 1 for lane, x in gone.items()}
    over = run.plan.steps <= BEGUN
    return {lane: steps for lane, steps in enough.items() if over or gone[lane][-1] > ROUNDS}


def _of_a_look(look: _Look, limit: float) -> list[Doubt]:
    suspect = look.suspects(limit, PERCEIVED)
    return look.doubts_of(suspect, limit) if suspect else []


def _up_to(one: Trajectory, steps: int) -> Trajectory:
    return replace(one, t=one.t[: steps + 1], y=one.y[: steps + 1])


def rounds(run: FixedRun, t: Array, y: Array) -> Array:
    """How many times positions have gone their way, up to each of some states at times t; the most of all."""
    k = positions_of(run.problem)
    scale = ways_of_all(run, t, y)[:k]
    with np.errstate(invalid="ignore"):
        gone = np.cumsum(np.abs(np.diff(y[:, :k], axis=0)), axis=0) / scale
    return np.append(0.0, np.where(np.isfinite(scale), gone, 0.0).max(axis=1))


def _along_axes(states: Array) -> Array:
    """How far states spread along their principal axes, the most first; where there are too many as a whole."""
    rows, k = states.shape
    with np.errstate(over="ignore"):  # of what has left everything
        spread = states.T @ states / rows
        if k > MOST_AXES or not np.isfinite(spread).all():
            return np.array([np.sqrt(np.square(states).sum() / rows)])
    return np.sqrt(np.maximum(np.linalg.eigvalsh(spread)[::-1], 0.0))


class _Look:
    """Trajectories of one run, which have reached its end, beside those of steps of half the size."""

    def __init__(
        self,
        run: FixedRun,
        found: Mapping[int, Trajectory],
        first: int,
        ways: Callable[[FixedRun, Array, Array], Array],
        begin: int = 0,
    ) -> None:
        self.run, self.first, self.positions, self.ways = run, first, positions_of(run.problem), ways
        plan, every = run.plan, run.output.save_every
        self.anew = bool(len(run.output.times)) or every > max(STRETCH, min(plan.steps, MOST) // PART)
        self.every = 1 if self.anew else every
        whole = {lane: with_start(run, one, first + lane) for lane, one in found.items()}
        t, y = next(iter(whole.values()))[0], {lane: states for lane, (_, states) in whole.items()}
        self.scale = {lane: ways(run, t, states) for lane, states in y.items()}
        t, y, self.t0 = t[begin:], {lane: states[begin:] for lane, states in y.items()}, float(t[begin])
        if self.anew:
            away = np.abs(t - plan.t0) / abs(plan.h)
            self.rows = int(np.sum(away <= MOST + 0.5))
            self.steps = min(plan.steps, int(np.ceil(away[self.rows - 1])))
        else:
            self.rows = min(len(t) - int(plan.steps % every != 0), 1 + MOST // every)
            self.steps = every * (self.rows - 1)
        self.t, self.y = t[: self.rows], {lane: states[: self.rows] for lane, states in y.items()}
        if self.anew and self._may_take_all():
            self._take_all()
        self.failed: set[int] = set()
        self.swing: dict[int, float] = {}
        """By what part of itself the swing of all positions differs from that of other steps."""
        self.sums: dict[int, float] = {}
        self.asked_whole = False
        """Whether `suspects` has taken the whole run, in larger steps."""

    def _may_take_all(self) -> bool:
        """Whether all steps may be taken again, for what happens between few saved states: not where plain Python
        functions are called too often, or they would take too much memory.
        """
        numbers = (self.steps + 1) * self.run.problem.n * (WIDTH if isinstance(self.run, LaneRun) else 1)
        return numbers <= ROOM and (is_cheap(self.run) or self.steps <= BEGUN) and self.rows >= 2

    def _take_all(self) -> None:
        """All steps in the place of those that were saved."""
        starts = {lane: states[0] for lane, states in self.y.items()}
        again = self._taken(starts, replace(self.run.plan, t0=self.t0, steps=self.steps), Output(save_every=1))
        if any(one.status is not Status.OK or len(one.y) != self.steps + 1 for one in again.values()):
            return
        self.t, self.y = next(iter(again.values())).t, {lane: one.y for lane, one in again.items()}
        self.scale = {lane: self.ways(self.run, self.t, states) for lane, states in self.y.items()}
        self.rows, self.anew = self.steps + 1, False

    def suspects(self, limit: float, floor: float, faint: float = np.inf) -> list[int]:
        """Lanes of which the steps looked at differ by more than `floor`, summed over the run; of more than `faint`,
        too, where the whole run in larger steps differs by more than is allowed, as errors may grow along the motion.
        """
        asked = [lane for lane in self.y if self.rows >= 2 and (self._moves(lane) or self._is_thrown(lane))]
        if not asked:
            return []
        sums = self.sums = self._sums(asked)
        unsure = [lane for lane in asked if faint < sums[lane] <= floor]
        self.asked_whole = bool(unsure)
        for parts in COARSER:
            unsure = self._differ(unsure, parts, limit) if unsure else []
        return [lane for lane in asked if sums[lane] > floor or lane in unsure]

    def _differ(self, lanes: list[int], parts: float, limit: float) -> list[int]:
        """Lanes that are another motion in larger steps, or fail in them."""
        coarse: dict[int, Array] = {}
        with suppress(Exception):  # functions may raise where only such steps come: smaller ones tell
            coarse = self._whole(lanes, parts) if self.anew or self.rows > 1 / parts else {}

        def differs(lane: int) -> bool:
            part, allowed, _ = beyond(coarse[lane], limit)
            return part > allowed or lane in self.failed

        return [lane for lane in lanes if lane not in coarse or differs(lane)]

    def _moves(self, lane: int) -> bool:
        y, scale = self.y[lane][:, : self.positions], self.scale[lane][: self.positions]
        if not np.isfinite(scale).any():
            return False
        if self.rows <= 3:
            return True
        # not where most of the way is gone before the next saved state: a start off its slow motion, which settles
        gone = np.where(np.isfinite(scale), np.abs(y - y[0]).max(axis=0), np.inf)
        return not bool((np.ptp(y[1:], axis=0) < 0.5 * gone).all())

    def _is_thrown(self, lane: int) -> bool:
        """Whether it is `THROWN` times as far before the next saved state as half the steps lead."""
        y, k, h = self.y[lane], self.positions, self.run.plan.h
        if self.rows < 2 or self.anew or not np.isfinite(self.scale[lane][:k]).any():
            return False
        plan, output = Plan(self.t0, 0.5 * h, 2 * self.every, self.run.plan.limit), Output(save_every=2 * self.every)
        half = self._taken({lane: y[0]}, plan, output)[lane]
        if half.status is not Status.OK:
            return half.status is Status.NON_FINITE
        far, near = (float((np.abs(x - y[0])[:k] / self.scale[lane][:k]).max()) for x in (y[1], half.last))
        return far > THROWN * near

    def doubts_of(self, suspect: list[int], limit: float) -> list[Doubt]:
        """Of the whole run."""
        doubts, left = [], suspect
        for parts, size in ((2, "half"), (4, "a quarter of")):
            whole, close = self._whole(left, parts), []
            for lane in left:
                part, allowed, row = beyond(whole[lane], limit)
                what = "positions differ by this part of the way that they go"
                if part <= allowed and limit >= ANOTHER and self.swing[lane] > CLOSE * SWUNG:
                    part, allowed, row = self.swing[lane], SWUNG, len(self.t) // 2
                    what = "in the second half positions swing by so much more or less, all or along one axis"
                if part > allowed:
                    says = f"steps of {size} the size give another motion: {what}"
                    time = float(self.t[row])
                    doubts.append(Doubt("accuracy", time, part, allowed, says, REMEDY, self.first + lane))
                elif part > CLOSE * allowed or lane in self.failed or self.sums[lane] > limit:
                    close.append(lane)
            left = close
            if not left:
                break
        return doubts

    def growing(self, steps: int, asked: list[int]) -> list[Doubt]:
        """Of a run of more steps than are looked at: where what differs grows all along those that are, it will go on
        growing behind them.
        """
        if self.rows < 2:
            return []
        times = steps / self.steps / (1.0 - 0.5**self.run.method.order)  # errors, from differences of halves
        asked = [lane for lane in asked if self.sums.get(lane, 0.0) * times > ELSEWHERE]
        doubts: list[Doubt] = []
        for lane, apart in (self._whole(asked, 2) if asked else {}).items():
            half = len(apart) // 2
            before, after = float(apart[:half].max(initial=0.0)), float(apart[half:].max(initial=0.0))
            if lane in self.failed or not (after > GROWS * before and after * times > DRIFTED):
                continue
            says = (
                "steps of half the size give another motion: what differs grows all along the first "
                f"{self.steps} steps, to this part of the way by the end of the run, if it goes on"
            )
            remedy = "use a smaller step, or a method of higher order, or one that keeps swings"
            doubts.append(Doubt("accuracy", float(self.t[-1]), after * times, DRIFTED, says, remedy, self.first + lane))
        return doubts

    def _sums(self, asked: list[int]) -> dict[int, float]:
        """What differs over the whole run, from stretches at its beginning, where it bends most, and in the middle;
        infinite where they do not fit in, or fail.
        """
        h, steps, every = self.run.plan.h, self.steps, self.every
        length = max(STRETCH, steps // PART, every) // every * every
        rows = 1 if self.anew else length // every
        end = self.t[-1] - h * length
        last = int(np.sum((end - self.t) * np.sign(h) >= -1e-9 * abs(h))) - 1
        if last < 0 or steps <= length:
            return dict.fromkeys(asked, np.inf)
        kink = (
            int(np.argmax(max((bent_at(self.t, self.y[lane], self.scale[lane]) for lane in asked), key=np.max)))
            - rows // 2
            if len(self.t) > 2
            else 0
        )
        starts = sorted({0, min(max(kink, 0), last), last // 2})
        stretches = [self._stretch(asked, row, length, rows) for row in starts]
        sums = {}
        for lane in asked:
            differs = [stretch[lane] for stretch in stretches]
            failed = any(len(x) <= rows for x in differs)
            sums[lane] = np.inf if failed else steps / length * float(np.mean([x.max() for x in differs]))
        return sums

    def _stretch(self, asked: list[int], row: int, length: int, rows: int) -> dict[int, Array]:
        """How far states are from those of half the steps, on the way from a saved state: momenta, too, since a rate
        that is wrong takes positions along for the rest of the run.
        """
        starts, t = {lane: self.y[lane][row] for lane in asked}, float(self.t[row])
        every, h = length // rows, self.run.plan.h
        halves = self._taken(starts, Plan(t, 0.5 * h, 2 * length, self.run.plan.limit), Output(save_every=2 * every))
        if self.anew:
            again = self._taken(starts, Plan(t, h, length, self.run.plan.limit), Output(save_every=every))
            taken = {lane: one.y for lane, one in again.items()}
        else:
            taken = {lane: self.y[lane][row : row + rows + 1] for lane in asked}
        differs = {}
        for lane in asked:
            times, other = halves[lane].t, halves[lane].y
            scale = not_thrown(self.scale[lane], self.ways(self.run, times, other), self.positions, AT_ALL)
            differs[lane] = self._apart(scale, other, taken[lane], len(scale))
        return differs

    def _whole(self, asked: list[int], parts: float) -> dict[int, Array]:
        """The same of the whole run in steps of a part of the size, or larger ones, of few saved states beside the
        way between them; where these fail nothing differs, unless they end without numbers, and the lane is among the
        `failed`.
        """
        run, starts, stride = self.run, {lane: self.y[lane][0] for lane in asked}, 1
        plan = Plan(self.t0, run.plan.h / parts, int(parts * self.steps), run.plan.limit)
        if parts < 1.0 and not self.anew:
            stride = round(1.0 / parts)  # of the saved states
        rows, output = np.arange(self.rows), Output(save_every=int(parts * stride * self.every))
        if self.anew:
            between = np.linspace(run.plan.t0, self.t[-1], BETWEEN)
            times = np.ascontiguousarray(np.union1d(self.t, between)[:: int(np.sign(run.plan.h))])
            times = times[(times - plan.end) * np.sign(run.plan.h) <= 1e-9 * abs(run.plan.h)]
            rows = np.flatnonzero(np.isin(times, self.t))
            output = Output(times=times)
        halves = self._taken(starts, plan, output)
        whole, self.failed = {}, {lane for lane, half in halves.items() if half.status is not Status.OK}
        for lane, half in halves.items():
            if self.anew and half.status is Status.OK and parts > 1.0:
                self.scale[lane] = self.ways(run, half.t, half.y)
            here = rows[rows < len(half.y)]
            taken, times, other = self.y[lane][::stride], half.t[here], half.y[here]
            self.swing[lane] = self._swings(lane, other, taken)
            if parts > 1.0 and len(other) == len(taken) and not self.anew:
                self.scale[lane] = not_thrown(self.scale[lane], self.ways(run, times, other), self.positions)
            apart = self._apart(self.scale[lane], other, taken, self.positions)
            end = np.inf if half.status is Status.NON_FINITE else 0.0
            whole[lane] = np.append(apart, np.full(len(taken) - len(apart), end))
        return whole

    @staticmethod
    def _apart(scale: Array, halves: Array, taken: Array, k: int) -> Array:
        """How far the first k components of states are from each other, by rows."""
        rows = min(len(halves), len(taken))
        with np.errstate(all="ignore"):
            apart = np.abs(halves[:rows, :k] - taken[:rows, :k]) / scale[:k]
        return np.array(np.where(np.isnan(apart), np.inf, apart).max(axis=1))

    def _swings(self, lane: int, halves: Array, taken: Array) -> float:
        """How much larger or smaller one swing of all positions is than another, in the second half of both, or along
        one of its principal axes, wherever these lie: what should go over from one to the other may stay.
        """
        ways, k = [], self.positions
        for states in (halves, taken):
            half = states[len(states) // 2 :, :k] / self.scale[lane][:k]
            ways.append(_along_axes(half - half.mean(axis=0)))
        sizes = [float(np.linalg.norm(way)) for way in ways]
        apart = [np.abs(sizes[1] - sizes[0]), *np.abs(ways[1] - ways[0])]
        return float(max(apart)) / max(*sizes, SLIGHT)

    def _taken(self, starts: Mapping[int, Array], plan: Plan, output: Output) -> dict[int, Trajectory]:
        """What steps from some states reach, by lanes."""
        return _taken(_again(self.run, starts, plan, output), starts)
