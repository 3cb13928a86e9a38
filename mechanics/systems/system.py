"""One system of the registry: how it is made, and the formulations of its motion, by the same names everywhere.

==================  ==================================================================================================
formulation         state
==================  ==================================================================================================
hamiltonian         (q, p): coordinates and canonical momenta; with loops and wheels p* (`Mechanism.problem`)
index_one           (q, v): accelerations with multipliers, stabilised or projected (`multiplier_problem`)
constrained         (q, v): velocities and multipliers, for variational and differential-algebraic methods
reduced             (q, u): quasi-velocities of a nonholonomic system (`NonholonomicSystem.problem`)
body_coordinates    (x, R, …, v): every body on its own, every joint a constraint (`body_problem`)
==================  ==================================================================================================
"""

from __future__ import annotations

import difflib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from liegroup.arrays import shown
from liegroup.display import card, table
from liegroup.modules import Later

if TYPE_CHECKING:
    from integrators.problem import Problem
    from mechanics.mechanism import Mechanism

Kind = Literal["body", "elastic", "tree", "loops", "wheels", "nonholonomic"]
T = TypeVar("T")


def hamiltonian(made: Problem) -> Problem:
    """What is a problem already."""
    return made


_MADE = {"hamiltonian": Later(f"{__name__}:hamiltonian")}
_WHEELS = {
    "hamiltonian": Later("mechanics.mechanism:Mechanism.problem"),
    "index_one": Later("mechanics.formulations.multiplier_problem:multiplier_problem"),
    "constrained": Later("mechanics.formulations.constrained_problem:constrained_problem"),
}
FORMULATIONS: dict[Kind, dict[str, Later]] = {
    "body": _MADE,
    "elastic": _MADE,
    "tree": _MADE,
    "loops": _WHEELS | {"body_coordinates": Later("mechanics.formulations.body_problem:body_problem")},
    "wheels": _WHEELS,
    "nonholonomic": {
        "reduced": Later("mechanics.nonholonomic.system:NonholonomicSystem.problem"),
        "constrained": Later("mechanics.nonholonomic.system:NonholonomicSystem.constrained_problem"),
    },
}
"""The formulations of every kind of system, the default first: functions of what `System.make` returns."""


class _Function:
    """A field of functions; one that is given as `Later` is imported when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, owner: type | None = None) -> Callable[..., Any]:
        if thing is None:
            raise AttributeError(self._name)  # so that the field has no default
        made = vars(thing)[self._name]
        if isinstance(made, Later):
            made = vars(thing)[self._name] = made.found()
        return made  # type: ignore[no-any-return]

    def __set__(self, thing: Any, function: Callable[..., Any] | Later) -> None:
        vars(thing)[self._name] = function


@dataclass(frozen=True)
class System:
    """A ready-made system: ``system.problem()`` poses its motion, ``integrate(system, …)`` runs it.

    Parameters
    ----------
    name : str
        Words joined by hyphens.
    kind : {"body", "elastic", "tree", "loops", "wheels", "nonholonomic"}
    make : callable or Later
        ``make(**options)`` → a Problem (body, elastic, tree), a Mechanism with its start (loops, wheels), a
        NonholonomicSystem; every option has a default.
    description : str
        One line.
    source : str
        Where it is from; empty for the numbers of this package.
    without : tuple of str
        Formulations of its kind that it does not have.

    Raises
    ------
    ValueError
        Another kind.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> system = SYSTEMS["four-bar"]
    >>> system.kind, system.formulations
    ('loops', ('hamiltonian', 'index_one', 'constrained', 'body_coordinates'))
    >>> system.problem("index_one"), system.mechanism().mobility.dof
    (<Problem 'four-bar': on SO(2) × SO(2) × SO(2) × R^3, watching energy, gap, velocity_gap>, 1)
    """

    name: str
    kind: Kind
    make: _Function = _Function()
    description: str  # type: ignore[misc]  # `make` has no default
    source: str = ""
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in FORMULATIONS:
            known = ", ".join(FORMULATIONS)
            raise ValueError(f"kind: {shown(self.kind)} of system {self.name!r}, expected one of {known}")

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names of the formulations it has, the default first."""
        return tuple(name for name in FORMULATIONS[self.kind] if name not in self.without)

    def problem(self, formulation: str | None = None, **options: Any) -> Problem:
        """The motion in one of the `formulations`, default the first.

        Options the system takes (``help(system.make)``) go to `make`, others to the formulation: ``projection``,
        ``stabilisation``, another start.

        Parameters
        ----------
        formulation : str, optional
            One of `formulations`; default the first.
        **options
            Of the system (``help(system.make)``) and of the formulation.

        Returns
        -------
        Problem
            Ready for `integrators.integrate`.

        Raises
        ------
        ValueError
            The system has no such formulation.
        TypeError
            Neither the system nor the formulation has an option of that name.
        """
        formulation = self.formulations[0] if formulation is None else formulation
        if formulation not in self.formulations:
            raise ValueError(
                f"formulation: {formulation!r} of {self.name!r}, expected one of {', '.join(self.formulations)}"
            )
        form = FORMULATIONS[self.kind][formulation].found()
        own, others = inspect.signature(self.make).parameters, list(inspect.signature(form).parameters)[1:]
        if unknown := [name for name in options if name not in own and name not in others]:
            raise TypeError(
                f"{', '.join(unknown)}: no option of {self.name!r} ({', '.join(own) or 'none'}) "
                f"nor of its formulation {formulation!r} ({', '.join(others) or 'none'})"
            )
        made = self.make(**{name: value for name, value in options.items() if name in own})
        posed: Problem = form(made, **{name: value for name, value in options.items() if name not in own})
        return posed

    __call__ = problem

    @property
    def exact(self) -> Callable[[Any], Any] | None:
        """``exact(t)`` → the state of the default problem at time t, if it is known."""
        return self.problem().exact

    def mechanism(self, **options: Any) -> Mechanism:
        """The mechanism whose motion this is, at its start; TypeError for systems that are none.

        Parameters
        ----------
        **options
            Of the system (``help(system.make)``).

        Returns
        -------
        Mechanism
            With its start.

        Raises
        ------
        TypeError
            A system without loops and wheels.
        """
        if self.kind not in ("loops", "wheels"):
            raise TypeError(
                f"mechanism: {self.name!r} is of kind {self.kind!r}, only those with loops or wheels have one"
            )
        made: Mechanism = self.make(**options)
        return made


class UnknownSystemError(KeyError):
    """No system has this name."""

    def __str__(self) -> str:
        return str(self.args[0])


class Registry(Mapping[str, System]):
    """Systems by name, with hyphens, underscores or spaces, in capitals or not."""

    def __init__(self, *systems: System) -> None:
        self._systems: dict[str, System] = {}
        for system in systems:
            self.add(system)

    def add(self, system: System) -> System:
        """Add a system, also from outside the package.

        Parameters
        ----------
        system : System
            With a name of words and hyphens.

        Returns
        -------
        System
            The same.

        Raises
        ------
        ValueError
            Its name is taken or is not words with hyphens.
        """
        if system.name != _key(system.name):
            raise ValueError(f"name: {system.name!r}, expected words joined by hyphens, {_key(system.name)!r}")
        if system.name in self._systems:
            raise ValueError(f"name: there is a system {system.name!r} already")
        self._systems[system.name] = system
        return system

    def __getitem__(self, name: str) -> System:
        try:
            return self._systems[_key(name)]
        except KeyError:
            raise UnknownSystemError(f"no system {name!r}; {hint(name, self._systems)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)

    def __str__(self) -> str:
        """One line for each system."""
        return "\n".join(f"{s.name:24} {s.kind:13} {s.description}" for s in self.values())

    def __repr__(self) -> str:
        counted = ", ".join(f"{count} of kind {kind}" for kind, count in Counter(s.kind for s in self.values()).items())
        return f"<{len(self)} systems by name: {counted}; print them for a list>"

    def _repr_html_(self) -> str:
        heads = ("name", "kind", "description", "formulations", "source")
        rows = [(s.name, s.kind, s.description, ", ".join(s.formulations), s.source) for s in self.values()]
        return card(f"{len(self)} systems", (), table(heads, rows, filtered=True))


class View(Mapping[str, Callable[..., T]], Generic[T]):
    """The systems of one kind, each as a function that returns `what` of it."""

    def __init__(self, registry: Registry, kind: Kind, what: Callable[[System], Callable[..., T]]) -> None:
        self._registry, self._kind, self._what = registry, kind, what

    def __getitem__(self, name: str) -> Callable[..., T]:
        system = self._registry[name]
        if system.kind != self._kind:
            raise UnknownSystemError(
                f"{name!r} is of kind {system.kind!r}, expected {self._kind!r}; {hint(name, self)}"
            )
        return self._what(system)

    def __iter__(self) -> Iterator[str]:
        return (name for name, system in self._registry.items() if system.kind == self._kind)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def hint(name: str, names: Mapping[str, Any]) -> str:
    """Names near to one that is not there, or all of them."""
    near = difflib.get_close_matches(_key(str(name)), list(names), 3, 0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"expected one of {', '.join(names)}"


def _key(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-") if isinstance(name, str) else name
