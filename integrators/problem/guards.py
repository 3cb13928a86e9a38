"""Guards: numbers watched at every step of a run, with the limits within which its result can be trusted.

A method keeps what it promises under hypotheses: loops away from singular positions, steps that resolve the fastest
oscillation, a chart that is not left.  A problem declares them as guards; where a run leaves one, it stops or goes on,
and its solution says so in `Solution.doubts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import of_kind, real, sequence

Array = NDArray[np.float64]
UNBOUNDED = float("inf")


@dataclass(frozen=True)
class Guard:
    """One number with its limits.

    Parameters
    ----------
    name : str
        Of an invariant of the problem, whose values are watched anyway; or, with `function`, a name of its own.
    least, greatest : float
        Limits of the number.
    start : float
        Greatest value at the start, where it must be smaller than later.
    change, rise : float
        Limit of its distance from its value at the start, and of its increase with time: backwards in time, of its
        decrease.
    relative : float
        Added to both: this part of the magnitude of its value at the start.
    says : str
        What it means if a limit is passed, half a sentence: "the loops are open".
    remedy : str
        What to do then, half a sentence: "use a smaller step".
    stops : bool
        Whether the run ends there, with the status ``DOUBTFUL``.
    function : callable, optional
        The number, in the forms of an invariant (`integrators.problem.fields`), if the problem does not watch it yet;
        it is then kept with the invariants, under its name.
    beside : callable, optional
        ``(t, y)`` → what `greatest` may be beside a state of the motion, where the start alone says too little of it:
        of a run that has passed `greatest`, the median of some of its saved states counts.  Of a number that may
        change, what `change` may be by the start of a trajectory, which need not be that of the problem.
    carried : callable, optional
        ``(t, y)`` → the part of the number that is due to where the motion is, as that of an angular momentum to the
        way of the whole, and how large it could be at most there: a run that has passed `change` is asked in some of
        its saved states for the rest, and whether it has changed by more than `CARRIED_SHARE` of what could be.
    accounts : bool
        Of an energy that only falls under a smooth field: whether what a run of fixed steps loses is held against what
        the field takes from it, as far as every step is saved; more by `rise` is a doubt.

    Raises
    ------
    ValueError, TypeError
        A name that is no identifier; limits that are not numbers, or in the wrong order; `beside` or `carried` that are
        no functions.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Guard
    >>> guard = Guard("energy", "energy is lost", "use a smaller step", change=0.1)
    >>> guard.limits(np.array(2.0))
    (np.float64(1.9), np.float64(2.1))
    >>> float(guard.excess_at_start(np.array(2.0)))
    0.0
    """

    name: str
    says: str = ""
    remedy: str = ""
    least: float = -UNBOUNDED
    greatest: float = UNBOUNDED
    start: float = UNBOUNDED
    change: float = UNBOUNDED
    rise: float = UNBOUNDED
    relative: float = 0.0
    stops: bool = False
    function: Any = None
    accounts: bool = False
    beside: Any = None
    carried: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ValueError(f"guard: name {self.name!r}, expected an identifier (letters, digits, _)")
        of_kind(self.says, str, "says", "a text")
        for field in ("beside", "carried"):
            if (given := getattr(self, field)) is not None and not callable(given):
                raise TypeError(f"guard {self.name!r}: {field} {given!r}, expected a function (t, y) or None")
        for field in ("least", "greatest", "change", "rise", "relative"):
            real(getattr(self, field), f"guard {self.name!r}: {field}", "a number", lambda x: x == x)
        if not (self.least <= self.greatest and self.change >= 0.0 and self.rise >= 0.0 and self.relative >= 0.0):
            raise ValueError(
                f"guard {self.name!r}: least = {self.least}, greatest = {self.greatest}, change = {self.change}, "
                f"rise = {self.rise}, relative = {self.relative}; expected least ≤ greatest and the others not negative"
            )

    def limits(self, start: Array, forward: bool = True) -> tuple[Array, Array]:
        """Lower and upper limit, from the values of the number at the start (any shape).

        Parameters
        ----------
        start : array (…)
            Values of the number at the start.
        forward : bool
            Whether the run goes forwards in time; backwards what should only fall rises.

        Returns
        -------
        least, greatest : array (…)
            Its limits later.
        """
        share, increase = self.relative * np.abs(start), min(self.change, self.rise)
        down, up = (self.change, increase) if forward else (increase, self.change)
        return np.maximum(self.least, start - (down + share)), np.minimum(self.greatest, start + (up + share))

    def excess_at_start(self, x: Array) -> Array:
        """By how much the number (any shape) is beyond its limits before the first step; 0 within them.

        Parameters
        ----------
        x : array (…)
            Values of the number.

        Returns
        -------
        array (…)
            Not negative.
        """
        return np.maximum(0.0, np.maximum(x - min(self.greatest, self.start), self.least - x))


ENERGY_CHANGE = 0.05
"""Part of the energy at play by which the energy of a motion that keeps it may be wrong."""
ENERGY_SHARE = 1e-3
"""Part of the magnitude of the energy that is added, for energies that are far from zero."""
CARRIED_SHARE = 1e-3
"""Part of what the way of the whole could carry that is no change of a number either."""
MOMENTUM_CHANGE = 0.05
"""Part of the momenta of the start, and of its own magnitude, by which a conserved momentum may be wrong."""


def energy_guard(
    at_play: float, dissipates: bool = False, accounts: bool = False, share: float = ENERGY_SHARE
) -> tuple[Guard, ...]:
    """The guard of a conserved energy, or of one that only falls, accounted for or not; `at_play`: the energy that the
    motion can exchange, J; `share`: part of the magnitude of the energy, wherever its zero is, that is no change
    either.  Nothing where that is not known (0).
    """
    if not at_play > 0.0:
        return ()
    change, rise = _change_and_rise(at_play, dissipates)
    says = "energy that should only fall with time rises" if dissipates else "energy that should be conserved is not"
    remedy = "use a smaller step or tolerance"
    return (Guard("energy", says, remedy, change=change, rise=rise, relative=share, accounts=dissipates and accounts),)


def _change_and_rise(at_play: float, dissipates: bool) -> tuple[float, float]:
    limit = ENERGY_CHANGE * at_play
    return (UNBOUNDED, limit) if dissipates else (limit, UNBOUNDED)


def balance_guard(at_play: float, dissipates: bool = False) -> Guard:
    """The guard of a ``balance``, an ``energy`` less the work that comes in, which is conserved or only falls;
    `at_play`: the energy that the motion can exchange at the start, J.  What comes in later, and what the run then
    exchanges, is counted when it is over (`integrators.engine.exchanged`).
    """
    change, rise = _change_and_rise(at_play, dissipates)
    says = "only fall with time rises" if dissipates else "be conserved is not"
    return Guard(
        "balance", f"the energy less the work that comes in, which should {says}", "use a smaller step or tolerance",
        change=change, rise=rise, relative=ENERGY_SHARE,
    )  # fmt: skip


def momentum_guards(
    names: Sequence[str], magnitude: float, carried: Any = None, beside: Any = None
) -> tuple[Guard, ...]:
    """The guards of conserved momenta; `magnitude`: of those that the motion starts with.  Nothing at rest (0)."""
    if not magnitude > 0.0:
        return ()
    says, change, part = "a momentum that should be conserved is not", MOMENTUM_CHANGE * magnitude, MOMENTUM_CHANGE
    remedy = "use a smaller step or tolerance"
    return tuple(
        Guard(name, says, remedy, change=change, relative=part, carried=carried, beside=beside) for name in names
    )


def tightened(guard: Guard, part: float) -> Guard:
    """An energy guard that lets the energy change by another part than `ENERGY_CHANGE`."""
    factor = part / ENERGY_CHANGE
    return replace(guard, change=guard.change * factor, rise=guard.rise * factor, relative=guard.relative * factor)


@dataclass(frozen=True)
class Doubt:
    """A limit that a run has passed.

    Attributes
    ----------
    name : str
        The guard.
    time : float
        Of the first state beyond the limit.
    value : float
        The number where it was furthest beyond.
    limit : float
        The limit; NaN if the number was none.
    says : str
        What it means.
    remedy : str
        What to do.
    trajectory : int
        Of an ensemble; else 0.

    Examples
    --------
    >>> from integrators import Doubt
    >>> print(Doubt("energy", 1.5, 2.2, 2.0, "energy that should be conserved is not", "use a smaller step"))
    since t = 1.5, energy 2.2 is above 2; energy that should be conserved is not; use a smaller step
    """

    name: str
    time: float
    value: float
    limit: float
    says: str = ""
    remedy: str = ""
    trajectory: int = 0

    def __str__(self) -> str:
        beyond = "above" if self.value > self.limit else "below"
        which = f" {self.value:.6g} is {beyond} {self.limit:.6g}" if self.limit == self.limit else ""
        parts = (f"since t = {self.time:.6g}, {self.name}{which}",)
        return "; ".join(parts + tuple(text for text in (self.says, self.remedy) if text))


def doubtful(doubts: Sequence[Doubt]) -> str:
    """What the message of a run says of its doubts."""
    return "".join(f"; doubtful {doubt}" for doubt in doubts[:1]) + (
        f"; {len(doubts) - 1} more in `doubts`" if len(doubts) > 1 else ""
    )


def checked(guards: Any) -> tuple[Guard, ...]:
    """Guards as a tuple, or TypeError."""
    found = sequence(guards, "guards", "a sequence of integrators.Guard objects")
    for guard in found:
        if not isinstance(guard, Guard):
            raise TypeError(f"guards: {guard!r}, expected integrators.Guard objects")
    return found


def unknown(guards: Sequence[Guard], watched: Sequence[str]) -> str:
    """What is wrong with guards of a problem that watches these numbers, or nothing."""
    for guard in guards:
        if guard.name not in watched:
            return (
                f"guard {guard.name!r}: no invariant of the problem, which watches {list(watched) or 'nothing'}; "
                "give it a function"
            )
    return ""
