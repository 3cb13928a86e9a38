"""The catalogue of methods: one line each.

`find("RKMK4")` returns a row by name, `METHODS` holds them all, `METHODS.where(…)` those of some kind.  `register` adds
one from outside the package; installed packages add theirs by an entry point of the group `liemech.methods`, whose name
is that of the method and whose value a `Method`, or a function without arguments that builds it.  Every claim of a row
(order, symmetric, symplectic) is measured by the tests.
"""

from __future__ import annotations

import difflib
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from typing import Any

from integrators.method import Method, Reference
from integrators.method.method import MAPS
from integrators.methods.comparison import solve_with_scipy
from integrators.methods.families import rows
from integrators.problem import Problem
from integrators.steppers import dae
from integrators.steppers.midpoint import midpoint
from integrators.steppers.nonholonomic import catalogue as nonholonomic
from liegroup.arrays import of_kind, shown
from liegroup.display import card, table
from liegroup.group import Group
from liegroup.maps import MissingMapError
from liegroup.modules import whose
from liegroup.table import FACTORS, KIND, check_maps, register_installed, table_of

Row = Method | Reference
ENTRY_POINTS = "liemech.methods"
"""Where installed packages name their methods."""


class Catalogue(Mapping[str, Row]):
    """Methods by name, each built when it is first asked for.

    Parameters
    ----------
    plugins : str
        Group of the entry points whose methods belong to it, too; they are looked for when they are first needed.

    Examples
    --------
    >>> METHODS.where(order=4, needs="lagrangian", symplectic=True)
    name                  order  is                     family                for
    DEL_GAUSS2            4      symplectic, symmetric  variational           lagrangian
    DEL_LOBATTO3          4      symplectic, symmetric  variational           lagrangian
    DEL_MIDPOINT_SUZUKI4  4      symplectic, symmetric  composed variational  lagrangian
    """

    def __init__(self, plugins: str = "") -> None:
        self._rows: dict[str, Row | Callable[[], Row]] = {}
        self._plugins = plugins

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

    def _all(self) -> dict[str, Row | Callable[[], Row]]:
        """The rows, with those of installed packages."""
        group, self._plugins = self._plugins, ""
        for point in entry_points(group=group) if group else ():
            if point.name in self._rows:
                warnings.warn(f"{whose(point)}: left out, the catalogue has a method {point.name!r}", stacklevel=3)
            else:
                self._rows[point.name] = partial(_loaded, point)
        return self._rows

    def __getitem__(self, name: str) -> Row:
        row = self._rows[name] if name in self._rows else self._all()[name]
        if not isinstance(row, (Method, Reference)):
            row = self._rows[name] = row()
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def where(self, *, group: Group | str | None = None, problem: Problem | None = None, **facts: Any) -> Selection:
        """The methods of some kind, as a catalogue that prints as a table.

        Parameters
        ----------
        group : Group or str, optional
            The method is for it: its coordinate map exists there, and the theory of its family allows it.  Names of
            single groups: ``"SE3"``, ``"SO(3)"``, ``"Rn"``.
        problem : Problem, optional
            The method takes this problem (`Method.check`).
        **facts
            What attributes of the method are: a value, or a container (``range(4, 9)``, a set) that has it.  Attributes
            are those of `Method`, such as ``order``, ``symplectic``, ``symmetric``, ``family``, ``needs``, ``map``,
            ``evaluations``, ``is_adaptive``; ``adaptive`` and ``explicit`` (it knows its evaluations) besides.

        Returns
        -------
        Selection
            Name → method, in the order of the catalogue; solvers of other libraries have no claims and are left out
            unless only their order is asked for.

        Raises
        ------
        TypeError, ValueError
            An attribute that methods do not have, a group that is none.

        Examples
        --------
        >>> list(METHODS.where(order=range(10, 17), symplectic=True, group="SE3", needs="field"))
        ['GAUSS8', 'MIDPOINT_SOFSPA10']
        """
        table = None if group is None else _table_of(group)
        of_kind(problem, (Problem, type(None)), "problem", "a Problem")
        chosen = (
            (name, row)
            for name, row in self.items()
            if all(_is(row, fact, value) for fact, value in facts.items())
            and (table is None or _is_on(row, table))
            and (problem is None or _takes(row, problem))
        )
        return Selection(dict(chosen))

    def __repr__(self) -> str:
        families = Counter(getattr(row, "family", "other libraries") for row in self.values())
        counted = ", ".join(f"{name} ({count})" for name, count in families.items())
        return textwrap.fill(f"<{len(self)} methods by name; families: {counted}>", 100, subsequent_indent="  ")

    def _cells(self) -> list[tuple[str, ...]]:
        """The heads of a table, and its rows."""
        facts = (
            (name, str(row.order), ", ".join(getattr(row, "claims", ())), getattr(row, "family", "other libraries"),
             getattr(row, "needs", ""), row.source)
            for name, row in self.items()
        )  # fmt: skip
        return [("name", "order", "is", "family", "for", "source"), *facts]

    def _repr_html_(self) -> str:
        heads, *rows = self._cells()
        return card(f"{len(self)} methods", (), table(heads, rows, filtered=True))


class Selection(Catalogue):
    """Some methods of a catalogue; it prints as a table.

    Parameters
    ----------
    rows : mapping of str to Method or Reference

    Examples
    --------
    What `Catalogue.where` returns.
    """

    def __init__(self, rows: Mapping[str, Row]) -> None:
        super().__init__()
        self._rows.update(rows)

    def __repr__(self) -> str:
        cells = [row[:-1] for row in self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)


DERIVED: dict[str, Callable[[Method], Any]] = {
    "adaptive": lambda method: method.is_adaptive,
    "explicit": lambda method: method.evaluations is not None,
}
"""Facts by names that are not attributes."""


def _is(row: Row, fact: str, value: Any) -> bool:
    """Whether an attribute of a method has a value, or one of several."""
    if fact not in DERIVED and not hasattr(Method, fact) and fact not in Method.__dataclass_fields__:
        raise TypeError(
            f"where: methods have no {fact!r}; expected group, problem, {', '.join(DERIVED)} or an attribute of "
            "Method, such as order, symplectic, symmetric, family, needs, map"
        )
    if isinstance(row, Reference):
        return fact == "order" and _matches(row.order, value)
    return _matches(DERIVED[fact](row) if fact in DERIVED else getattr(row, fact), value)


def _matches(found: Any, value: Any) -> bool:
    return found in value if isinstance(value, Container) and not isinstance(value, str) else bool(found == value)


def _table_of(group: Group | str) -> Any:
    of_kind(group, (Group, str), "group", "a Group, or the name of one such as 'SE3'")
    if isinstance(group, Group):
        return group.table
    register_installed()
    kinds = {_plain(f.NAME): kind for kind, f in enumerate(FACTORS)}
    name = {"RN": "R"}.get(_plain(group), _plain(group))
    if name not in kinds:
        raise ValueError(f"group: {group!r}, expected a Group or one of {', '.join(f.NAME for f in FACTORS)}")
    return table_of([(kinds[name], 1)])


def _plain(name: str) -> str:
    return name.upper().translate({ord(c): None for c in "() ^"})


def _is_on(row: Row, table: Any) -> bool:
    if isinstance(row, Reference):
        return True
    only = row.stepper.groups
    if only and not {FACTORS[kind].NAME for kind in table[:, KIND]} <= set(only):
        return False
    try:
        check_maps(table, MAPS[row.map])
    except MissingMapError:
        return False
    return True


def _takes(row: Row, problem: Problem) -> bool:
    if isinstance(row, Reference):
        return True
    try:
        row.check(problem)
    except ValueError:
        return False
    return True


def _loaded(point: EntryPoint) -> Row:
    """The method of an entry point; what goes wrong is said with the package that it comes from."""
    try:
        given = point.load()
        row = given() if callable(given) and not isinstance(given, Reference) else given
    except Exception as error:
        raise ImportError(f"{whose(point)}: {error}; correct or uninstall that package") from error
    if not isinstance(row, (Method, Reference)) or row.name != point.name:
        raise ImportError(
            f"{whose(point)}: gives {shown(row)}, expected a Method named {point.name!r}, or a function that builds it"
        )
    return row


_TUNED = re.compile(r"(?P<name>\w+)\[(energy_tolerance=(?P<tolerance>[-+.\w]+))?(, )?(?P<fast>fast)?\]")
"""Names that `Method.tuned` gives."""
METHODS = Catalogue(ENTRY_POINTS)
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


ELSEWHERE: dict[str, tuple[str, ...]] = {
    "euler": ("LIE_EULER",),
    "symplecticeuler": ("SPLIT_STRANG", "MIDPOINT"),
    "semiimpliciteuler": ("SPLIT_STRANG", "MIDPOINT"),
    "verlet": ("SPLIT_STRANG", "TREE_VARIATIONAL"),
    "velocityverlet": ("SPLIT_STRANG", "TREE_VARIATIONAL"),
    "stormerverlet": ("SPLIT_STRANG", "TREE_VARIATIONAL"),
    "leapfrog": ("SPLIT_STRANG", "TREE_VARIATIONAL"),
    "implicitmidpoint": ("MIDPOINT",),
    "rk2": ("RKMK_MIDPOINT", "RKMK_HEUN2"),
    "rk4": ("RKMK4",),
    "rk23": ("RKMK_BOGACKI_SHAMPINE32",),
    "rk45": ("RKMK_DORMAND_PRINCE54",),
    "dopri5": ("RKMK_DORMAND_PRINCE54",),
    "ode45": ("RKMK_DORMAND_PRINCE54",),
    "tsit5": ("RKMK_TSITOURAS54",),
    "dop853": ("RKMK_DOP853",),
    "radau": ("RKMK_RADAU_IIA3",),
    "bdf": ("BDF5", "RKMK_RADAU_IIA3"),
    "lsoda": ("RKMK_DOP853", "RKMK_RADAU_IIA3"),
    "ode15s": ("BDF5", "RKMK_RADAU_IIA3"),
    "newmark": ("NEWMARK",),
    "generalizedalpha": ("ALPHA",),
    "shake": ("RATTLE",),
}
"""What names of other libraries are here, without signs between their letters."""


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
    if method in METHODS:
        return METHODS[method]
    by_name = {name.lower(): name for name in METHODS}
    if (tuning := _TUNED.fullmatch(method.lower())) and tuning["name"] in by_name:
        tolerance = tuning["tolerance"]
        base = METHODS[by_name[tuning["name"]]]
        return base.tuned(None if tolerance is None else float(tolerance), tuning["fast"] is not None)
    if method.lower() not in by_name:
        meant = ELSEWHERE.get(re.sub("[^a-z0-9]", "", method.lower()))
        near = meant or tuple(by_name[n] for n in difflib.get_close_matches(method.lower(), by_name, 3, 0.4))
        hint = f"did you mean {' or '.join(near)}? " if near else ""
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
