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
from typing import Any, Generic, TypeVar

from integrators.tableaus.butcher import ButcherTableau

T = TypeVar("T")


@cache
def read(file: str) -> dict[str, dict[str, Any]]:
    """The rows of a data file, by name."""
    rows: dict[str, dict[str, Any]] = json.loads(files("integrators.tableaus").joinpath("data", file).read_text("utf-8"))["rows"]
    return rows


class Table(Mapping[str, T], Generic[T]):
    """Rows of a data file, each built and checked when it is first asked for."""

    def __init__(self, title: str, file: str, build: Callable[..., T]) -> None:
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
