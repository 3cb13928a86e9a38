"""The house rules that a linter can check."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("liegroup", "integrators", "mechanics")
SOURCES = sorted(p for package in (*PACKAGES, "studies") for p in (ROOT / package).rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_import_contracts_hold():
    """Layers only look down, the compiler is named in one folder, adapters are leaves."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_pickle_no_fastmath_and_the_compiler_in_one_folder(path):
    top = {name.split(".")[0] for name in imported_modules(path)}
    # the compiler's own description of types is a pickle: read in one file, after its seal (docs/security.md)
    sealed = {"pickle"} if path.parts[-3:] == ("liegroup", "compile", "cache.py") else set()
    assert not top & ({"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"} - sealed)
    if path.parent != ROOT / "liegroup" / "compile":
        assert not top & {"numba", "llvmlite"}
    assert "fastmath=True" not in path.read_text(encoding="utf-8")


def test_every_import_of_an_optional_package_is_lazy():
    """Importing the packages must work with the core dependencies alone."""
    optional = (
        "yourdfpy",
        "defusedxml",
        "example_robot_data",
        "xarray",
        "sympy",
        "pinocchio",
        "mujoco",
        "mpmath",
        "lxml",
        "viser",
    )
    code = f"import sys\nfor name in {optional!r}: sys.modules[name] = None\n"
    code += "import liegroup, integrators, mechanics, studies.registry\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_does_not_compile():
    """Kernels compile at their first use, so that an import stays quick."""
    code = (
        "import liegroup.compile as c\n"
        "made = []\n"
        "original = c.Entry.compiled.fget\n"
        "c.Entry.compiled = property(lambda self: made.append(self.__name__) or original(self))\n"
        "import liegroup, integrators, mechanics, studies.registry\n"
        "assert not made, made\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
