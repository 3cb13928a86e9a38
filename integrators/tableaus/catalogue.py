"""The tables of coefficients that come with the package, by name.

>>> from integrators.tableaus import EXPLICIT
>>> EXPLICIT["rk4"].order
4
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from integrators.tableaus.butcher import ButcherTableau
from integrators.tableaus.controller import Controller
from integrators.tableaus.exponential import CrouchGrossman, ExponentialScheme, TwoRegister
from integrators.tableaus.rosenbrock import RosenbrockTableau
from integrators.tableaus.splitting import Composition, Splitting

T = TypeVar("T")


@cache
def read(file: str | Path) -> dict[str, dict[str, Any]]:
    """The rows of a data file, by name: of the package by its name, of others by its path."""
    source = file if isinstance(file, Path) else files("integrators.tableaus").joinpath("data", file)
    rows: dict[str, dict[str, Any]] = json.loads(source.read_text("utf-8"))["rows"]
    return rows


class Table(Mapping[str, T], Generic[T]):
    """Rows of a data file, each built and checked when it is first asked for.

    Parameters
    ----------
    title : str
        What a row is, for messages.
    file : str or Path
        A data file of the package by name, another by its path.
    build : callable
        ``build(name=…, **row)`` → the row as an object.

    Raises
    ------
    KeyError
        When asked for a row that there is not: the nearest names.

    Examples
    --------
    >>> EXPLICIT["rk4"].order, len(COMPOSITIONS) > 3
    (4, True)
    """

    def __init__(self, title: str, file: str | Path, build: Callable[..., T]) -> None:
        self.title, self._file, self._build = title, file, build
        self._built: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._built:
            if name not in read(self._file):
                near = difflib.get_close_matches(str(name), self, 3, 0.3)
                raise KeyError(f"no {self.title} {name!r}; did you mean {near}? There are {list(self)}")
            self._built[name] = self._build(name=name, **read(self._file)[name])
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(read(self._file))

    def __len__(self) -> int:
        return len(read(self._file))


EXPLICIT = Table("explicit tableau", "explicit.json", ButcherTableau)
"""Explicit Runge-Kutta tableaus, Euler to Feagin 10."""
DIAGONALLY_IMPLICIT = Table("diagonally implicit tableau", "diagonally_implicit.json", ButcherTableau)
"""SDIRK, TR-BDF2 and ESDIRK tableaus."""
ROSENBROCK = Table("Rosenbrock method", "rosenbrock.json", RosenbrockTableau)
"""Rosenbrock methods of order 3 and 4."""
CROUCH_GROSSMAN = Table("Crouch-Grossman method", "crouch_grossman.json", CrouchGrossman)
"""Crouch-Grossman methods of order 1 to 4."""
COMMUTATOR_FREE = Table("commutator-free method", "commutator_free.json", ExponentialScheme)
"""Commutator-free methods of order 2 to 4."""
TWO_REGISTER = Table("two-register method", "two_register.json", TwoRegister)
"""Commutator-free methods in two registers, order 3 and 4."""
REDUCED_COMMUTATORS = Table("RKMK method with few commutators", "reduced_commutators.json", ExponentialScheme)
"""RKMK methods of order 3 and 4 with one and two commutators."""
LINEAR = Table("method for linear problems", "linear.json", ExponentialScheme)
"""Magnus and commutator-free methods for g' = g A(t)."""
COMPOSITIONS = Table("composition", "compositions.json", Composition)
"""Symmetric compositions of order 4 to 10."""
SPLITTINGS = Table("splitting", "splittings.json", Splitting)
"""Splittings T + V: general, Runge-Kutta-Nyström, near-integrable."""
CONTROLLERS = Table("step-size controller", "controllers.json", Controller)
"""Step-size controllers."""
