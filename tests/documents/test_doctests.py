"""What docstrings show is what comes out: every example of the packages runs."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

PACKAGES = ("liegroup", "integrators", "mechanics", "liemech")
SLOW = (
    "integrators.analysis.modified_energy",
    "integrators.problem.velocities",
    "mechanics.formulations.closing_forces",
)
"""They compile kernels that no other example needs."""


def with_examples() -> list[str]:
    """Names of the modules whose files show examples."""
    found = []
    for package in PACKAGES:
        paths = importlib.import_module(package).__path__
        names = [package, *(m.name for m in pkgutil.walk_packages(paths, f"{package}.") if "__main__" not in m.name)]
        for name in names:
            spec = importlib.util.find_spec(name)
            if spec and spec.origin and ">>>" in Path(spec.origin).read_text(encoding="utf-8"):
                found.append(name)
    return found


def modules() -> list[object]:
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in with_examples()]


@pytest.mark.parametrize("name", modules())
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
