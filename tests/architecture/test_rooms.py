"""Rooms: few loose files, public names and nothing else, earlier names of modules, a page that knows them all."""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("liegroup", "integrators", "mechanics", "liemech")
LOOSE = 14
"""Files directly in a package, at most."""
NOT_YET = {"liegroup.formulas", "liegroup.compile"}
"""What formula files and kernels read of these is not a list of public names."""
DOORS = [
    "integrators.controllers",
    "integrators.events",
    "integrators.layout",
    "integrators.signatures",
    "integrators.status",
    "integrators.testing",
    "liegroup.elements",
    "liegroup.rotations",
    "liegroup.testing",
    "mechanics.dynamics",
    "mechanics.errors",
    "mechanics.mechanism",
    "mechanics.models",
    "mechanics.testing",
]
EARLIER = [
    "integrators.lagrangian",
    "integrators.solution",
    "integrators.step_derivative",
    "integrators.storage",
    "liegroup.scalars",
    "liegroup.tracing",
    "mechanics.closure_file",
    "mechanics.constraints.constrained_problem",
    "mechanics.constraints.multiplier_problem",
    "mechanics.constraints.reactions",
    "mechanics.forces.elements",
    "mechanics.frames",
    "mechanics.hamiltonian.problem",
    "mechanics.hamiltonian.reference",
    "mechanics.inertia",
    "mechanics.systems.driven_pair",
    "mechanics.systems.four_bar",
    "mechanics.systems.heavy_top",
    "mechanics.systems.rolling_disk",
    "mechanics.systems.walking_mechanism",
    "mechanics.tree",
]


def packages() -> list[str]:
    found = list(PACKAGES)
    for name in PACKAGES:
        path = importlib.import_module(name).__path__
        found += [m.name for m in pkgutil.walk_packages(path, f"{name}.") if m.ispkg]
    return sorted(found)


@pytest.mark.parametrize("package", [*PACKAGES, "studies"])
def test_few_files_are_loose(package):
    loose = [p.name for p in (ROOT / package).glob("*.py") if p.name != "__init__.py"]
    assert len(loose) <= LOOSE, f"{package}: {len(loose)} loose files, at most {LOOSE}: {sorted(loose)}"


@pytest.mark.parametrize("name", sorted({*packages(), *DOORS} - NOT_YET))
def test_a_public_module_shows_its_names_and_nothing_else(name):
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    missing = [public for public in module.__all__ if not hasattr(module, public)]
    assert not missing, f"{name}: {missing} are promised and not there"
    assert module.__doc__, f"{name}: says nothing of itself"


@pytest.mark.parametrize("name", EARLIER)
def test_modules_that_have_moved_are_found_by_their_earlier_names(name):
    module = importlib.import_module(name)
    assert module.__name__ != name
    assert importlib.import_module(module.__name__) is module


def test_functions_of_the_systems_are_not_hidden_by_modules_of_their_names():
    importlib.import_module("mechanics.systems.heavy_top")
    systems = importlib.import_module("mechanics.systems")
    assert callable(systems.heavy_top)


def test_the_page_of_rooms_knows_them_all():
    page = (ROOT / "docs" / "rooms.md").read_text(encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rooms = {
        f"{contract['containers'][0]}/{room.strip()}"
        for contract in contracts
        if contract.get("exhaustive")
        for layer in contract["layers"]
        for room in layer.split("|")
    }
    assert len(rooms) > 40
    named = set(re.findall(r"`((?:liegroup|integrators|mechanics)/\w+)(?:\.py)?`", page))
    assert rooms == named, f"missing: {sorted(rooms - named)}; gone: {sorted(named - rooms)}"
