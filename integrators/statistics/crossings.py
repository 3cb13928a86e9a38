"""Statistics of zeros of functions: Poincaré sections and first passages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from integrators.statistics.statistic import Samples, Statistic, Sums, check_quantity, named
from liegroup.arrays import check_function, of_kind, real, sequence

Array = NDArray[np.float64]


def _in_a_file(t: Any, y: Any) -> Any:
    """In the place of a function that a file does not keep."""
    raise ValueError("this statistic was read from a file, which keeps no functions")


@dataclass(frozen=True)
class Section(Statistic):
    """A Poincaré section: quantities where a function of the motion crosses zero, located to rounding.

    Parameters
    ----------
    function : callable
        g(t, y), in any form of an event (`integrators.events`).
    of : sequence of str or callable
        The quantities, as of `Moments`: the coordinates of the points, named as they are.
    name : str
        Among the results; default ``function_section``.
    direction : int
        +1: g grows through zero; −1: falls; 0: both.

    Raises
    ------
    ValueError, TypeError
        No function; no quantities; a direction that is none of −1, 0, 1.

    Notes
    -----
    Results are the times ``t`` (points,), the ``points`` (points, quantities) and the number of the ``trajectory`` of
    each, ordered by trajectory and time.  Memory grows with the number of crossings only.  Zeros are noticed by the
    signs of g at the ends of a step.

    Examples
    --------
    >>> from integrators import integrate
    >>> from integrators.statistics import Section
    >>> from mechanics.systems import SYSTEMS
    >>> lowest = Section(lambda t, y: y[0], of=["momentum"], name="lowest", direction=1)
    >>> run = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0.0, 20.0), 0.01, statistics=[lowest])
    >>> found = run.statistics["lowest"]
    >>> len(found["t"]) == len(found["points"]) > 1
    True
    """

    KIND: ClassVar[str] = "section"
    OPTIONS: ClassVar[tuple[str, ...]] = ("direction", "coordinates")
    DIMS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "t": ("occurrence",),
        "points": ("occurrence", "quantity"),
        "trajectory": ("occurrence",),
    }

    function: Callable[..., Any]
    of: Sequence[Any] = ()
    name: str = ""
    direction: int = 0

    def __post_init__(self) -> None:
        check_function(self.function, "function", "a function g(t, y)")
        check_quantity(self.function, self.name, self.KIND)
        given = (self.of,) if isinstance(self.of, str) else sequence(self.of, "of", "names and functions")
        if not given:
            raise ValueError("of: nothing, expected one or more quantities, the coordinates of the points")
        for quantity in given:
            if isinstance(quantity, str):
                check_quantity(quantity, "", "coordinate")
            else:
                check_function(quantity, "of", "the name of a watched number or of a part of the state, or f(t, y)")
        object.__setattr__(self, "of", tuple(given))
        real(self.direction, "direction", "-1, 0 or 1", lambda x: x in (-1, 0, 1))

    @property
    def label(self) -> str:
        return named(self.name, self.function, self.KIND)

    @property
    def coordinates(self) -> list[str]:
        """Names of the quantities, of functions without one ``coordinate_0`` by their place."""
        names = [named("", quantity, "").rstrip("_") for quantity in self.of]
        return [x if x.isidentifier() else f"coordinate_{k}" for k, x in enumerate(names)]

    @property
    def _event(self) -> tuple[Callable[..., Any], int, bool]:
        return self.function, self.direction, False

    @property
    def _quantities(self) -> tuple[Any, ...]:
        return tuple(self.of)

    @classmethod
    def _known_as(cls, name: str, **options: Any) -> Section:
        return cls(_in_a_file, options.pop("coordinates"), name, **options)

    def _start(self, samples: Samples) -> Sums:
        return {"t": np.zeros(0), "points": np.zeros((0, len(self.of)))}

    def _cross(self, sums: Sums, t: Array, values: Array) -> None:
        sums["t"], sums["points"] = np.concatenate([sums["t"], t]), np.concatenate([sums["points"], values])

    def _stacked(self, each: Sequence[Sums]) -> Sums:
        whose = np.repeat(np.arange(len(each)), [len(sums["t"]) for sums in each])
        return {name: np.concatenate([sums[name] for sums in each]) for name in ("t", "points")} | {
            "trajectory": whose, "trajectories": np.array(len(each)),
        }  # fmt: skip

    def _count(self, sums: Sums) -> int:
        return int(sums["trajectories"])

    def _joined(self, parts: Sequence[Sums]) -> Sums:
        starts = np.cumsum([0, *(int(sums["trajectories"]) for sums in parts)])
        shifted = [sums | {"trajectory": sums["trajectory"] + k} for sums, k in zip(parts, starts[:-1], strict=True)]
        tables = {name: np.concatenate([sums[name] for sums in shifted]) for name in ("t", "points", "trajectory")}
        return tables | {"trajectories": starts[-1]}

    def _chosen(self, sums: Sums, which: Any) -> Sums:
        numbers = np.atleast_1d(np.arange(int(sums["trajectories"]))[which])
        each = [np.flatnonzero(sums["trajectory"] == k) for k in numbers]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *each])
        return {name: sums[name][places] for name in ("t", "points")} | {
            "trajectory": np.repeat(np.arange(len(each)), [len(rows) for rows in each]),
            "trajectories": np.array(len(each)),
        }

    def _pooled(self, sums: Sums) -> Sums:
        return sums

    def _results(self, sums: Sums) -> Sums:
        return {name: sums[name] for name in ("t", "points", "trajectory")}


@dataclass(frozen=True)
class FirstPassage(Statistic):
    """When a function of the motion first crosses zero, located to rounding.

    Parameters
    ----------
    function : callable
        g(t, y), in any form of an event (`integrators.events`).
    name : str
        Among the results; default ``function_passage``.
    direction : int
        +1: g grows through zero; −1: falls; 0: both.
    terminal : bool
        End the trajectory there.

    Raises
    ------
    ValueError, TypeError
        No function; a direction that is none of −1, 0, 1.

    Notes
    -----
    The result is ``time`` per trajectory, NaN where it did not happen.  Over all trajectories: the sorted ``times`` of
    those that passed, and how many ``survivors`` did not.

    Examples
    --------
    >>> from integrators import integrate
    >>> from integrators.statistics import FirstPassage
    >>> from mechanics.systems import SYSTEMS
    >>> lowest = FirstPassage(lambda t, y: y[0], name="lowest", terminal=True)
    >>> run = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0.0, 20.0), 0.01, statistics=[lowest])
    >>> bool(abs(run.statistics["lowest"]["time"] - run.t[-1]) < 1e-12)
    True
    """

    KIND: ClassVar[str] = "passage"
    OPTIONS: ClassVar[tuple[str, ...]] = ("direction", "terminal")
    DIMS: ClassVar[Mapping[str, tuple[str, ...]]] = {"times": ("passage",)}

    function: Callable[..., Any]
    name: str = ""
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        check_function(self.function, "function", "a function g(t, y)")
        check_quantity(self.function, self.name, self.KIND)
        real(self.direction, "direction", "-1, 0 or 1", lambda x: x in (-1, 0, 1))
        of_kind(self.terminal, (bool, np.bool_), "terminal", "True or False")

    @property
    def label(self) -> str:
        return named(self.name, self.function, self.KIND)

    @property
    def _event(self) -> tuple[Callable[..., Any], int, bool]:
        return self.function, self.direction, self.terminal

    @classmethod
    def _known_as(cls, name: str, **options: Any) -> FirstPassage:
        return cls(_in_a_file, name, **options)

    def _start(self, samples: Samples) -> Sums:
        return {"time": np.array(np.nan)}

    def _cross(self, sums: Sums, t: Array, values: Array) -> None:
        if np.isnan(sums["time"]):
            sums["time"][...] = t[0]

    def _pooled(self, sums: Sums) -> Sums:
        passed = np.sort(sums["time"][~np.isnan(sums["time"])])
        return {"times": passed[None], "survivors": np.array([len(sums["time"]) - len(passed)])}
