"""What all statistics share: a quantity with a name, and sums of one trajectory as a dictionary of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import check_function, of_kind, shown

Sums = dict[str, NDArray[Any]]
RESERVED = ("t", "trajectory", "sample", "stretch", "status")


@dataclass(frozen=True)
class Samples:
    """The samples of a run: `count` of them, from the time t0 on, dt apart."""

    t0: float
    dt: float
    count: int


@dataclass(frozen=True)
class Statistic:
    """What is kept of a quantity along a trajectory."""

    KIND: ClassVar[str] = ""
    OPTIONS: ClassVar[tuple[str, ...]] = ()
    DIMS: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The axes of every sum of a trajectory."""

    @property
    def label(self) -> str:
        """Its name among the results."""
        raise NotImplementedError

    @property
    def _quantities(self) -> tuple[Any, ...]:
        """Names and functions of what is asked for at every sample."""
        return ()

    @property
    def _event(self) -> tuple[Callable[..., Any], int, bool] | None:
        """Function, direction and whether it is terminal, of the zeros it needs."""
        return None

    def _start(self, samples: Samples) -> Sums:
        """The sums of a trajectory before its first sample."""
        raise NotImplementedError

    def _fold(self, sums: Sums, samples: Samples, first: int, values: NDArray[np.float64]) -> None:
        """Take in a block of values (k,) of the samples from number `first` on."""

    def _cross(self, sums: Sums, t: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Take in zeros of the event, one or more: their times (c,), and the quantities there (c, quantities)."""

    def _stacked(self, each: Sequence[Sums]) -> Sums:
        """The sums of many trajectories, which are the first axis."""
        return {name: np.stack([sums[name] for sums in each]) for name in each[0]}

    def _count(self, sums: Sums) -> int:
        """Of how many trajectories these are."""
        return len(next(iter(sums.values())))

    def _joined(self, parts: Sequence[Sums]) -> Sums:
        """The sums of several ensembles as those of one."""
        return {name: np.concatenate([sums[name] for sums in parts]) for name in parts[0]}

    def _chosen(self, sums: Sums, which: Any) -> Sums:
        """The sums of some of the trajectories."""
        return {name: table[which] for name, table in sums.items()}

    def _pooled(self, sums: Sums) -> Sums:
        """The sums of all trajectories as of one, in their order; the first axis stays, with one place."""
        raise NotImplementedError

    def _results(self, sums: Sums) -> Sums:
        """What the sums mean, by name."""
        return sums

    def _dims(self, name: str) -> tuple[str, ...]:
        """The axes of a sum or result after that of the trajectories."""
        return tuple(f"{self.label}_{axis}" for axis in self.DIMS.get(name, ()))

    @classmethod
    def _known_as(cls, name: str, **options: Any) -> Any:
        """A statistic of a file: with its name and numbers, without functions."""
        return cls(name, name=name, **options)  # type: ignore[call-arg]

    def _in_words(self) -> dict[str, Any]:
        """Kind, name and numbers, for files; functions are named only."""
        words: dict[str, Any] = {"kind": self.KIND, "name": self.label}
        for option in self.OPTIONS:
            value = getattr(self, option)
            words[option] = value.tolist() if isinstance(value, np.ndarray) else value
        return words


def named(name: str, quantity: Any, kind: str) -> str:
    """The name of a statistic: the given one, or that of its quantity with its kind."""
    if name:
        return name
    what = quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "")
    return f"{what.replace('.', '_')}_{kind}"


def check_quantity(quantity: Any, name: str, kind: str) -> None:
    """TypeError, ValueError for what is no quantity, or has no name."""
    if not isinstance(quantity, str):
        check_function(quantity, "quantity", "the name of a watched number or of a part of the state, or f(t, y)")
    of_kind(name, str, "name", "a text")
    label = named(name, quantity, kind)
    if not label.isidentifier() or label in RESERVED:
        raise ValueError(
            f"name: {shown(label)}, expected an identifier (letters, digits, _) other than {', '.join(RESERVED)}; give "
            "name=…"
        )
