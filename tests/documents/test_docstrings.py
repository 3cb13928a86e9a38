"""Every public name explains itself: summary, parameters with shapes, results, errors, an example, a source.

What a user imports is in `ROOMS`: names in ``__all__`` (of adapters: all that is public in the file), the public
members of their classes, and the functions that make the rows of `SYSTEMS`.  A name that lacks something stands in
``lacking_docstrings.txt``, one line ``name: what``; that file only shrinks.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import ArrayLike

ROOMS = (
    "liegroup",
    "liegroup.elements",
    "liegroup.rotations",
    "liegroup.testing",
    "integrators",
    "integrators.problem",
    "integrators.results",
    "integrators.results.storage",
    "integrators.methods",
    "integrators.method",
    "integrators.controllers",
    "integrators.events",
    "integrators.status",
    "integrators.analysis",
    "integrators.statistics",
    "integrators.step_derivatives",
    "integrators.tableaus",
    "integrators.testing",
    "integrators.adapters.scipy",
    "integrators.adapters.sympy",
    "integrators.adapters.blocks",
    "mechanics",
    "mechanics.model",
    "mechanics.joints",
    "mechanics.dynamics",
    "mechanics.derivatives",
    "mechanics.constraints",
    "mechanics.forces",
    "mechanics.mechanism",
    "mechanics.problems",
    "mechanics.formulations",
    "mechanics.nonholonomic",
    "mechanics.linear",
    "mechanics.elastic.rods",
    "mechanics.models",
    "mechanics.errors",
    "mechanics.states",
    "mechanics.elastic",
    "mechanics.systems",
    "mechanics.systems.rolling.rolling_body",
    "mechanics.testing",
    "mechanics.adapters.closure_file",
    "liemech",
)
OURS = ("liegroup", "integrators", "mechanics", "liemech")
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Notes", "References", "Examples")
LACKING = Path(__file__).with_name("lacking_docstrings.txt")
MOST_LACKING = 0
"""Lines of that file, at most."""
NUMERIC = re.compile(r"ArrayLike|NDArray|\bArray\b")
SHAPE = re.compile(r"\(.*\)|\bfloat\b|\bint\b|\bnumber|\bscalar|shape|\blike\b|\bsame\b|matri")
UNITS = re.compile(
    r"\b(m|s|kg|rad|N|J|W|Hz|1/s|m/s|SI|unit|units|turns|relative|ratio|factor|number|dimensionless|times|rounding)\b"
)
CITATION = re.compile(r"\b[A-ZÀ-Ž][\w’'-]+\b.{0,160}?\b(1[789]|20)\d\d\b|Ivanov and Shimanovsky", re.S)
FROM_LITERATURE = (
    "liegroup.GroupMap",
    "liegroup.Group.exp",
    "liegroup.Group.log",
    "liegroup.Group.cay",
    "liegroup.Group.ccsk",
    "liegroup.rotations.euler_angles_from_quaternion_wxyz",
    "integrators.problem.lagrangian_problem",
    "integrators.problem.holonomic_problem",
    "integrators.problem.in_velocities",
    "integrators.controllers.Controller",
    "integrators.controllers.IntegratingController",
    "integrators.controllers.LogarithmicHamiltonian",
    "integrators.analysis.lyapunov_exponents",
    "integrators.analysis.complex_derivative",
    "mechanics.hamiltonian_rhs",
    "mechanics.hamiltonian_problem",
    "mechanics.mass_matrix",
    "mechanics.bias",
    "mechanics.forward_dynamics",
    "mechanics.inverse_dynamics",
    "mechanics.inverse_dynamics_derivatives",
    "mechanics.forward_dynamics_derivatives",
    "mechanics.hamiltonian_rhs_derivatives",
    "mechanics.centroidal_momentum",
    "mechanics.Mechanism",
    "mechanics.forces.contact",
    "mechanics.forces.hunt_crossley_factor",
    "mechanics.formulations.Baumgarte",
    "mechanics.formulations.Ostermeyer",
    "mechanics.formulations.Penalty",
    "mechanics.formulations.AugmentedLagrangian",
    "mechanics.nonholonomic.nonholonomic_system",
)
"""Formulas of others: their docstrings say whose."""


# --- the public names -------------------------------------------------------------------------------------------------


def names_of(module: Any) -> list[str]:
    """``__all__``, or what an adapter's file defines without underscore."""
    own = [
        n for n, x in vars(module).items() if not n.startswith("_") and getattr(x, "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", own))


@cache
def public() -> dict[str, Any]:
    """Name → object; a name that is in several rooms counts in the first."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in names_of(module):
            thing = getattr(module, name)
            if id(thing) not in seen and not inspect.ismodule(thing):
                seen.add(id(thing))
                found[f"{room}.{name}"] = thing
    from mechanics.systems import SYSTEMS

    for name in SYSTEMS:
        make = getattr(SYSTEMS[name].make, "func", SYSTEMS[name].make)  # of a partial one: what it calls
        if id(make) not in seen:
            seen.add(id(make))
            found[f"{make.__module__}.{make.__qualname__}"] = make
    return found


def is_documented(thing: Any) -> bool:
    """Functions and classes of ours; the rest are values, whose documentation is their room's."""
    return getattr(thing, "__module__", "").split(".")[0] in OURS and (inspect.isclass(thing) or is_function(thing))


def is_function(thing: Any) -> bool:
    return (
        not inspect.isclass(thing)
        and callable(thing)
        and bool(getattr(thing, "__name__", ""))
        and (inspect.isroutine(thing) or hasattr(thing, "py_func"))
    )


def members(cls: type) -> Iterator[tuple[str, Any, Any]]:
    """Name, function and kind of the public members that a class of ours defines itself."""
    for name, thing in vars(cls).items():
        function = getattr(thing, "__func__", None) or getattr(thing, "fget", None) or getattr(thing, "func", thing)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function, thing


def is_property(kind: Any) -> bool:
    return isinstance(kind, property | cached_property)


# --- reading docstrings -----------------------------------------------------------------------------------------------


def sections(doc: str) -> dict[str, str]:
    """The parts of a NumPy docstring by their headings; the beginning under the empty name."""
    heads = "|".join(SECTIONS)
    parts = re.split(rf"^({heads})\n-{{3,}}\n", doc, flags=re.M)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def described(doc: str) -> dict[str, str]:
    """Parameter or attribute → its entry, type line included."""
    text = "\n".join(sections(doc).get(name, "") for name in ("Parameters", "Attributes"))
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=\S)", text, flags=re.M):
        head = entry.partition("\n")[0].partition(" : ")[0]
        found |= {name.strip().lstrip("*"): entry for name in head.split(",") if name.strip()}
    return found


@cache
def _class_tree(cls: type) -> ast.ClassDef | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]  # type: ignore[return-value]
    except (OSError, TypeError, SyntaxError):
        return None


def fields_with_text(cls: type) -> dict[str, str]:
    """Attributes of a class that a text of their own follows."""
    body = getattr(_class_tree(cls), "body", [])
    return {
        before.target.id: after.value.value
        for before, after in pairwise(body)
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }  # fmt: skip


def docstring(thing: Any) -> str:
    """Its own, of a method that overrides else that of the base; not the one that dataclasses and tuples make up."""
    doc = inspect.cleandoc(getattr(thing, "__doc__", None) or _inherited(thing))
    return "" if inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(") else doc


def _inherited(function: Any) -> str:
    """The docstring of the method that this one overrides."""
    owner, _, name = getattr(function, "__qualname__", "").rpartition(".")
    cls = getattr(inspect.getmodule(function), owner, None)
    bases = inspect.getmro(cls)[1:] if inspect.isclass(cls) and not inspect.isclass(function) else ()
    found = (vars(base)[name] for base in bases if name in vars(base))
    return next((doc for doc in (getattr(f, "__doc__", None) for f in found) if doc), "")


def parameters(thing: Any) -> dict[str, str]:
    """Parameter → annotation."""
    if inspect.isclass(thing) and (issubclass(thing, BaseException | Enum) or getattr(thing, "_is_protocol", False)):
        return {}
    function = getattr(thing, "py_func", thing)
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: str(p.annotation) for p in given if p.name not in ("self", "cls") and not p.name.startswith("_")}


def raised(function: Any) -> set[str]:
    """Names of what the function raises itself."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return set()
    errors = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None)
    called = (error.func for error in errors if isinstance(error, ast.Call))
    names = (getattr(name, "attr", getattr(name, "id", "")) for name in called)
    return {name for name in names if name and name[0].isupper()}


# --- what is asked of a name ------------------------------------------------------------------------------------------


def summary(thing: Any) -> Iterator[str]:
    first = docstring(thing).partition("\n\n")[0].strip()
    if not first or first[-1] not in ".:;?)]":
        yield "summary"


def inputs(name: str, thing: Any, around: str) -> Iterator[str]:
    """Parameters without a description; arrays without a shape; numbers of mechanics without a unit."""
    told = described(docstring(thing))
    if inspect.isclass(thing):
        told |= {k: v for base in reversed(thing.__mro__) for k, v in fields_with_text(base).items()}
        told = {k: v for base in reversed(thing.__mro__) for k, v in described(docstring(base)).items()} | told
    for parameter, annotation in parameters(thing).items():
        entry = told.get(parameter)
        if entry is None:
            yield f"parameter {parameter}"
        elif NUMERIC.search(annotation) and not SHAPE.search(entry):
            yield f"shape of {parameter}"
        elif (
            name.startswith("mechanics")
            and not (inspect.isclass(thing) and NUMERIC.search(annotation))
            and (NUMERIC.search(annotation) or re.match(r"float\b", annotation))
            and not UNITS.search(entry.partition(" : ")[2] or entry)
        ):
            yield f"unit of {parameter}"
    if not around and parameters(thing) and not inspect.isclass(thing) and not outputs(thing):
        yield "returns"


def outputs(thing: Any) -> bool:
    function = getattr(thing, "py_func", thing)
    returned = inspect.signature(function).return_annotation
    return returned in (None, "None") or bool({"Returns", "Yields"} & sections(docstring(thing)).keys())


def errors(thing: Any, around: str) -> Iterator[str]:
    """Errors that the docstring (of a method: or of its class) does not name."""
    told = sections(docstring(thing)).get("Raises", "") + sections(around).get("Raises", "")
    functions = [thing]
    if getattr(thing, "_is_protocol", False):
        functions = []
    elif inspect.isclass(thing):
        functions = [f for f in (vars(thing).get("__init__"), vars(thing).get("__post_init__")) if f is not None]
    for error in sorted({name for f in functions for name in raised(f)}):
        if error not in told:
            yield f"raises {error}"
    if not told and not inspect.isclass(thing) and any("ArrayLike" in given for given in parameters(thing).values()):
        yield "raises"


def has_example(doc: str, names: set[str]) -> bool:
    """Lines to run, or the public name whose example shows this one."""
    examples = sections(doc).get("Examples", "")
    return ">>>" in doc or bool(set(re.findall(r"`([\w.]+)`", examples)) & names)


@cache
def shown() -> set[str]:
    """Names with an example of their own."""
    return {name.rpartition(".")[2] for name, thing in public().items() if ">>>" in docstring(thing)}


def wanting(name: str, thing: Any) -> Iterator[str]:
    """What the public name lacks."""
    doc = docstring(thing)
    yield from summary(thing)
    yield from inputs(name, thing, "")
    yield from errors(thing, "")
    if not has_example(doc, shown()) and not getattr(thing, "_is_protocol", False):
        yield "example"
    if name in FROM_LITERATURE and not CITATION.search(doc):
        yield "source"
    if inspect.isclass(thing):
        for member, function, kind in members(thing):
            lacks = [*summary(function), *(() if is_property(kind) else members_lack(name, function, doc))]
            yield from (f"{member}: {what}" for what in lacks)
            if f"{name}.{member}" in FROM_LITERATURE and not CITATION.search(docstring(function) + doc):
                yield f"{member}: source"


def members_lack(name: str, function: Any, around: str) -> Iterator[str]:
    yield from inputs(name, function, around)
    yield from errors(function, around)
    if parameters(function) and not outputs(function):
        yield "returns"


# --- tests ------------------------------------------------------------------------------------------------------------


def lacking() -> set[str]:
    lines = LACKING.read_text(encoding="utf-8").splitlines() if LACKING.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


DOCUMENTED = {name: thing for name, thing in public().items() if is_documented(thing)}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_explains_itself(name):
    found = {f"{name}: {what}" for what in wanting(name, DOCUMENTED[name])}
    excused = {line for line in lacking() if line.startswith(f"{name}: ")}
    assert not found - excused, "\n".join(sorted(found - excused))
    assert not excused - found, f"no longer lacking, take out of {LACKING.name}: {sorted(excused - found)}"


def test_the_list_of_what_is_lacking_only_shrinks():
    assert len(lacking()) <= MOST_LACKING
    unknown = {line for line in lacking() if line.partition(": ")[0] not in DOCUMENTED}
    assert not unknown, f"not public: {sorted(unknown)}"


def test_everything_in_the_packages_is_counted():
    """No public function or class of the three packages and the everyday rooms escapes."""
    assert len(DOCUMENTED) > 250
    for package in OURS:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            assert inspect.ismodule(thing) or any(thing is x for x in public().values()), name


@pytest.mark.parametrize("name", FROM_LITERATURE)
def test_formulas_of_others_are_public(name):
    owner = name.rpartition(".")[0]
    assert name in DOCUMENTED or (owner in DOCUMENTED and hasattr(DOCUMENTED[owner], name.rpartition(".")[2]))


def test_values_are_explained_where_they_are_defined():
    """Registries and constants: their class has a docstring, or a text follows them in the file."""
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.ismodule(value) or is_documented(value) or name == "__version__":
                continue
            explained = docstring(type(value)) if type(value).__module__.split(".")[0] in OURS else ""
            assert explained or _text_after(f"{room}.{name}"), f"{room}.{name}: no text follows its definition"


def _text_after(name: str) -> str:
    """The text below the assignment of a name, wherever it was imported from."""
    room, _, attribute = name.rpartition(".")
    body = ast.parse(Path(importlib.import_module(room).__file__).read_text(encoding="utf-8")).body
    for before, after in pairwise([*body, ast.Pass()]):
        if isinstance(before, ast.ImportFrom):
            origins = [f"{before.module}.{a.name}" for a in before.names if attribute == (a.asname or a.name)]
            if origins:
                return _text_after(origins[0])
        targets = getattr(before, "targets", [getattr(before, "target", None)])
        names = [getattr(t, "id", None) for target in targets for t in getattr(target, "elts", [target])]
        if attribute in names and isinstance(after, ast.Expr):
            return str(getattr(after.value, "value", ""))
    return ""


# --- what is lacking is found -----------------------------------------------------------------------------------------


def bare(q: ArrayLike, h: float) -> ArrayLike:
    if h < 0.0:
        raise ValueError("h")
    return q


def told(q: ArrayLike, h: float) -> ArrayLike:
    """q + h, where h is a length.

    Parameters
    ----------
    q : array (…, 3)
        Places, m.
    h : float
        A length, m, not negative.

    Returns
    -------
    array (…, 3)
        Places, m.

    Raises
    ------
    ValueError
        A negative length.

    Examples
    --------
    >>> told(1.0, 2.0)
    3.0
    """
    if h < 0.0:
        raise ValueError("h")
    return q + h


class Bare:
    """A class without members that explain themselves."""

    def move(self, x: ArrayLike) -> None: ...


def test_what_is_lacking_is_found():
    lacks = {"summary", "parameter q", "parameter h", "returns", "raises ValueError", "raises", "example"}
    assert set(wanting("mechanics.bare", bare)) == lacks
    assert not set(wanting("mechanics.told", told))
    told.__doc__ = told.__doc__.replace("A length, m, not negative", "Something")
    assert set(wanting("mechanics.told", told)) == {"unit of h"}
    assert {"example", "move: summary", "move: parameter x", "move: raises"} == set(wanting("mechanics.Bare", Bare))
