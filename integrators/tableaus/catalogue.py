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
from liegroup.arrays import shown

T = TypeVar("T")


Rows = dict[str, dict[str, Any]]
EXPECTED = 'a JSON object {"about": "…", "rows": {"name of a row": {…}, …}}'


def read(file: str | Path) -> Rows:
    """The rows of a data file, by name: of the package by its name, of others by its path.

    ValueError, with the file, if it is not of that form.
    """
    of_package = isinstance(file, str) and Path(file).name == file
    return _rows(_of_package(str(file)) if of_package else Path(file).read_bytes(), str(file))


@cache
def _of_package(name: str) -> bytes:
    return files("integrators.tableaus").joinpath("data", name).read_bytes()


@cache
def _rows(text: bytes, file: str) -> Rows:
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise ValueError(f"{file}: {error}; expected {EXPECTED}") from error
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, dict):
        raise ValueError(f'{file}: "rows" is {shown(rows)}, expected {EXPECTED}')
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise ValueError(f"{file}: row {name!r} is {shown(row)}, expected {EXPECTED}")
    return rows


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of two values of one name the first would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found


class Table(Mapping[str, T], Generic[T]):
    """Rows of a data file, each built and checked when it is first asked for; of a file that has changed, anew.

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
    ValueError, TypeError
        When asked for one: a file that is not of the form of those of the package, a row that lacks something or has it
        twice, numbers that are refused; with the file and the row.

    Examples
    --------
    >>> EXPLICIT["rk4"].order, len(COMPOSITIONS) > 3
    (4, True)
    """

    def __init__(self, title: str, file: str | Path, build: Callable[..., T]) -> None:
        self.title, self._file, self._build = title, file, build
        self._read: Rows = {}
        self._built: dict[str, T] = {}

    def _now(self) -> Rows:
        """The rows that the file has now; what was built of others is forgotten."""
        if (rows := read(self._file)) is not self._read:
            self._read, self._built = rows, {}
        return self._read

    def __getitem__(self, name: str) -> T:
        rows = self._now()
        if name not in self._built:
            if name not in rows:
                near = difflib.get_close_matches(str(name), self, 3, 0.3)
                raise KeyError(f"no {self.title} {name!r}; did you mean {near}? There are {list(self)}")
            self._built[name] = self._make(name, rows[name])
        return self._built[name]

    def _make(self, name: str, row: dict[str, Any]) -> T:
        try:
            return self._build(name=name, **row)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self._file}: row {name!r}: {error}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


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
