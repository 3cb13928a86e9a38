"""The catalogue of methods: one line each.

`find("RKMK4")` returns a row by name, `METHODS` holds them all, `register` adds one (also from outside the package).
Every claim of a row (order, symmetric, symplectic) is measured by the tests.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from integrators.method import Method, Reference
from integrators.methods.comparison import solve_with_scipy
from integrators.methods.families import rows
from integrators.steppers import dae
from integrators.steppers.midpoint import midpoint
from integrators.steppers.nonholonomic import catalogue as nonholonomic
from liegroup.arrays import of_kind
from liegroup.display import card, table

Row = Method | Reference


class Catalogue(Mapping[str, Row]):
    """Methods by name, each built when it is first asked for."""

    def __init__(self) -> None:
        self._rows: dict[str, Row | Callable[[], Row]] = {}

    def add(self, name: str, row: Row | Callable[[], Row]) -> None:
        """Add a method, or how to build it.

        Parameters
        ----------
        name : str
            Not taken yet.
        row : Method, Reference or callable
            The method, or a function without arguments that builds it when it is first asked for.

        Raises
        ------
        ValueError
            The name is taken.
        """
        if name in self._rows:
            raise ValueError(f"method {name!r} is already in the catalogue")
        self._rows[name] = row

    def remove(self, name: str) -> None:
        """Take a method out again.

        Parameters
        ----------
        name : str
            Of the method.

        Raises
        ------
        KeyError
            There is none of the name.
        """
        del self._rows[name]

    def __getitem__(self, name: str) -> Row:
        row = self._rows[name]
        if not isinstance(row, (Method, Reference)):
            row = self._rows[name] = row()
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        families = Counter(getattr(row, "family", "other libraries") for row in self.values())
        counted = ", ".join(f"{name} ({count})" for name, count in families.items())
        return textwrap.fill(f"<{len(self)} methods by name; families: {counted}>", 100, subsequent_indent="  ")

    def _repr_html_(self) -> str:
        heads = ("name", "order", "is", "family", "for", "source")
        rows = [
            (name, row.order, ", ".join(getattr(row, "claims", ())), getattr(row, "family", "other libraries"),
             getattr(row, "needs", ""), row.source)
            for name, row in self.items()
        ]  # fmt: skip
        return card(f"{len(self)} methods", (), table(heads, rows, filtered=True))


_TUNED = re.compile(r"(?P<name>\w+)\[(energy_tolerance=(?P<tolerance>[-+.\w]+))?(, )?(?P<fast>fast)?\]")
"""Names that `Method.tuned` gives."""
METHODS = Catalogue()
"""All methods."""


def register(method: Row) -> Row:
    """Add a method to the catalogue under its name; ValueError if the name is taken.

    Parameters
    ----------
    method : Method or Reference
        The new row.

    Returns
    -------
    Method or Reference
        The same.

    Raises
    ------
    ValueError
        The name is taken.
    TypeError
        Not a method.

    Examples
    --------
    >>> from dataclasses import replace
    >>> mine = register(replace(find("RKMK4"), name="MINE"))
    >>> find("mine") is mine
    True
    >>> METHODS.remove("MINE")
    """
    of_kind(method, (Method, Reference), "method", "a Method")
    METHODS.add(method.name, method)
    return method


def find(method: str | Method | Reference) -> Method | Reference:
    """The method of a name (upper or lower case), or the method itself; ValueError lists the names.

    Parameters
    ----------
    method : str or Method
        A name, in upper or lower case, with the options that `Method.tuned` puts behind it; a method is returned as it
        is.

    Returns
    -------
    Method or Reference
        The row of the catalogue.

    Raises
    ------
    ValueError
        No method of the name: the nearest names.
    TypeError
        Neither a name nor a method.

    Examples
    --------
    >>> find("rkmk4").order, find("CF4").symplectic, find("VARIATIONAL_GAUSS2").symplectic
    (4, False, True)
    """
    if isinstance(method, (Method, Reference)):
        return method
    if not isinstance(method, str):
        raise TypeError(f"method: {method!r}, expected a name from integrators.methods.catalogue.METHODS or a Method")
    by_name = {name.lower(): name for name in METHODS}
    if (tuning := _TUNED.fullmatch(method.lower())) and tuning["name"] in by_name:
        tolerance = tuning["tolerance"]
        base = METHODS[by_name[tuning["name"]]]
        return base.tuned(None if tolerance is None else float(tolerance), tuning["fast"] is not None)
    if method.lower() not in by_name:
        near = difflib.get_close_matches(method.lower(), by_name, 3, 0.4)
        hint = f"did you mean {' or '.join(by_name[n] for n in near)}? " if near else ""
        raise ValueError(
            f"method: no method {method!r}; {hint}The {len(METHODS)} names are those of "
            "integrators.methods.catalogue.METHODS"
        )
    return METHODS[by_name[method.lower()]]


for _name, _build in chain(rows(), nonholonomic.rows(), dae.rows()):
    METHODS.add(_name, _build)
MIDPOINT = register(midpoint())
SCIPY_DOP853 = register(
    Reference("SCIPY_DOP853", 8, solve_with_scipy("DOP853"), "Hairer, Nørsett and Wanner 1993; SciPy")
)
