"""What was gathered along the trajectories of a run, and over all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from integrators.statistics.crossings import FirstPassage, Section
from integrators.statistics.samples import Histogram, Moments, Slope
from integrators.statistics.statistic import Samples, Statistic, Sums
from liegroup.arrays import of_kind, shown

KINDS: tuple[type[Any], ...] = (Moments, Slope, Histogram, Section, FirstPassage)
"""All statistics; a new one is a class like these."""


@dataclass(frozen=True, eq=False)
class Statistics(Mapping[str, Sums]):
    """The results of ``integrate(…, statistics=[…])`` by name: a mapping to dictionaries of arrays.

    The first axis of every array is that of the trajectories of an ensemble; of a single trajectory there is none.

    Parameters
    ----------
    declared : sequence of Moments, Slope, Histogram, Section, FirstPassage
        What was asked for.
    sums : sequence of dict
        The sums of each, the first axis that of the trajectories.
    single : bool
        Whether it was a single trajectory.

    Raises
    ------
    TypeError
        Something that is no statistic.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import integrate
    >>> from integrators.statistics import Moments
    >>> from mechanics.systems import SYSTEMS
    >>> pendulum = SYSTEMS["pendulum"].problem()
    >>> starts = np.stack([pendulum.y0 * s for s in (0.5, 1.0, 1.5)])
    >>> run = integrate(pendulum.with_start(starts), "MIDPOINT", (0.0, 1.0), 0.01, statistics=[Moments("energy")])
    >>> run.statistics["energy_moments"]["mean"].shape, int(run.statistics.pooled("energy_moments")["count"])
    ((3,), 303)
    """

    declared: Sequence[Any]
    sums: Sequence[Sums]
    single: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "declared", checked(self.declared, "declared"))
        of_kind(self.sums, (tuple, list), "sums", "one dictionary of arrays per statistic")
        object.__setattr__(self, "sums", tuple(self.sums))

    def __getitem__(self, name: str) -> Sums:
        statistic, sums = self._of(name)
        found = statistic._results(sums)
        return {key: table[0] for key, table in found.items()} if self.single and not _ragged(statistic) else found

    def __iter__(self) -> Iterator[str]:
        return (statistic.label for statistic in self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def __repr__(self) -> str:
        return f"<Statistics: {', '.join(self)}>"

    def _of(self, name: str) -> tuple[Statistic, Sums]:
        for statistic, sums in zip(self.declared, self.sums, strict=True):
            if statistic.label == name:
                return statistic, sums
        raise KeyError(f"name {shown(name)}: expected one of {list(self)}")

    def pooled(self, name: str, which: Any = None) -> Sums:
        """A statistic over all trajectories, or some of them, together.

        Parameters
        ----------
        name : str
            Of the statistic.
        which : array of bool or int, optional
            Which trajectories, for example those that came to their end; default all, as far as each came.

        Returns
        -------
        dict of arrays
            Put together in the order of the trajectories: the same bits for any number of workers and any chunks.

        Raises
        ------
        KeyError, IndexError
            No such statistic, or no such trajectories.
        """
        statistic, sums = self._of(name)
        if which is not None:
            sums = statistic._chosen(sums, np.asarray(which))
        found = (
            statistic._results(statistic._pooled(sums))
            if not isinstance(statistic, FirstPassage)
            else statistic._pooled(sums)
        )
        return found if _ragged(statistic) else {key: table[0] for key, table in found.items()}

    def trajectory(self, k: int) -> Statistics:
        """Those of one trajectory.

        Parameters
        ----------
        k : int
            Its number, from 0.

        Returns
        -------
        Statistics
            Of a single trajectory.

        Raises
        ------
        ValueError
            They are those of a single trajectory.
        IndexError
            No such trajectory.
        """
        if self.single:
            raise ValueError(f"trajectory({k}): these are the statistics of a single trajectory")
        of_kind(k, (int, np.integer), "k", "the number of a trajectory")
        pairs = list(zip(self.declared, self.sums, strict=True))
        for statistic, sums in pairs:
            count = statistic._count(sums)
            if not 0 <= k < count:
                raise IndexError(f"trajectory({k}): expected a number from 0 to {count - 1}")
        return Statistics(self.declared, [statistic._chosen(sums, slice(k, k + 1)) for statistic, sums in pairs], True)

    def to_xarray(self) -> Any:
        """All results as an ``xarray.Dataset``, the variables ``name_result``.

        Returns
        -------
        xarray.Dataset
            With the dimension ``trajectory`` for ensembles.

        Raises
        ------
        ModuleNotFoundError
            The extra ``xarray`` is not installed.
        """
        xarray = import_module("xarray")
        return xarray.Dataset(
            {f"{name}_{key}": (self._dims(name, key), table) for name in self for key, table in self[name].items()}
        )

    def stored(self) -> list[tuple[str, tuple[str, ...], Any]]:
        """Name, axes and values of every sum, for files."""
        found = []
        for statistic, sums in zip(self.declared, self.sums, strict=True):
            for key, table in sums.items():
                axes = tuple(f"{statistic.label}_{key}_{axis}" for axis in range(np.ndim(table)))
                found.append((f"{statistic.label}_{key}", axes, np.asarray(table)))
        return found

    def in_words(self) -> str:
        """What was asked for, and the names of the sums, for files."""
        pairs = zip(self.declared, self.sums, strict=True)
        return json.dumps([[statistic._in_words(), list(sums)] for statistic, sums in pairs])

    def _dims(self, name: str, key: str) -> tuple[str, ...]:
        statistic, _ = self._of(name)
        own = statistic._dims(key)
        if isinstance(statistic, Moments):  # whole spans have no axis of windows
            own = own if np.ndim(self[name][key]) > (0 if self.single else 1) else ()
        return own if self.single or _ragged(statistic) else ("trajectory", *own)


def checked(statistics: Any, name: str = "statistics") -> tuple[Statistic, ...]:
    """What a user gave as statistics; TypeError, ValueError for anything else, and for names that are not different."""
    listed = tuple(statistics) if isinstance(statistics, (list, tuple)) else (statistics,)
    for statistic in listed:
        of_kind(statistic, KINDS, name, f"a list of {', '.join(kind.__name__ for kind in KINDS)}")
    names = [statistic.label for statistic in listed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"statistics: two with the name {name!r}; give name=… to one of them")
    return listed


def names_in_files(statistic: Statistic) -> tuple[str, ...]:
    """The names of its sums, and of their axes, in data files."""
    sums = statistic._stacked([statistic._start(Samples(0.0, 1.0, 1))])
    return tuple(name for own, axes, _ in Statistics([statistic], [sums]).stored() for name in (own, *axes))


def restored(words: str, tables: Mapping[str, Any], single: bool) -> Statistics:
    """Those of a file: functions that were watched are known by the names of their statistics."""
    kinds, declared, sums = {kind.KIND: kind for kind in KINDS}, [], []
    for given, keys in json.loads(words):
        kind, name = kinds[given.pop("kind")], given.pop("name")
        declared.append(kind._known_as(name, **given))
        sums.append({key: np.asarray(tables[f"{name}_{key}"]) for key in keys})
    return Statistics(declared, sums, single)


def joined(parts: Sequence[Statistics]) -> Statistics:
    """Those of several ensembles as those of one."""
    declared = parts[0].declared
    return Statistics(
        declared, [statistic._joined([part.sums[k] for part in parts]) for k, statistic in enumerate(declared)]
    )


def _ragged(statistic: Any) -> bool:
    """Whether trajectories have different numbers of rows, one after the other."""
    return isinstance(statistic, Section)
