"""What takes long to import is imported where it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mechanics

SLOW = ("scipy.interpolate", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.integrate", "scipy.spatial")
SLOW += ("numpy.f2py", "numpy.ma", "numpy.testing", "multiprocessing.connection", "concurrent.futures.process")
SLOW += ("h5py", "xarray", "matplotlib", "sympy", "mujoco", "pinocchio", "asyncio", "pandas")


def test_a_first_run_imports_nothing_that_it_does_not_use():
    """The names of `mechanics`, and the bar of a run."""
    code = f"""
import sys
from mechanics import *
from liegroup.display import bar
with bar(total=1):
    print(*[name for name in {SLOW} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_an_import_collects_no_garbage_and_leaves_the_collector_as_it_was():
    """It would look through all that the compiler has loaded, again and again."""
    code = """
import gc
found = []
gc.callbacks.append(lambda phase, about: found.append(about["generation"]))
from mechanics import *
assert 2 not in found and len(found) < 80, found  # two of all and 300 of the young, were it left to itself
assert gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import gc; gc.disable(); from mechanics import *; assert not gc.isenabled()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_import_alone_loads_neither_problems_nor_methods():
    code = """
import sys
import mechanics
print(*[name for name in sys.modules if name.startswith(("integrators", "mechanics."))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_system_loads_no_others():
    """Nor does a list of them."""
    code = """
import sys
from mechanics.systems import SYSTEMS
assert "heavy-top" in str(SYSTEMS) and len(SYSTEMS) > 50
SYSTEMS["heavy-top"].problem()
others = ("mechanics.elastic", "mechanics.mechanism", "mechanics.nonholonomic", "mechanics.systems.rolling.")
print(*[name for name in sys.modules if name.startswith(others)])
SYSTEMS["rolling-disk"].problem(), SYSTEMS["rssr"].problem(), SYSTEMS["rubber-rod"].problem()
assert all(any(name.startswith(other) for name in sys.modules) for other in others)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_names_that_are_looked_up_later_are_those_that_checkers_of_types_see():
    tree = ast.parse(Path(mechanics.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {f"{node.module}.{alias.name}" for node in block.body for alias in node.names}
    later = {f"{home}.{name}" for home, names in mechanics._HOMES.items() for name in names}
    assert seen == later | {"mechanics.joints"}
    assert {name.rpartition(".")[2] for name in seen} == set(mechanics.__all__)
    assert all(getattr(mechanics, name) is not None for name in mechanics.__all__)
    with pytest.raises(AttributeError, match="module 'mechanics' has no attribute 'nosuch'"):
        mechanics.nosuch  # noqa: B018


@pytest.mark.parametrize(
    "done", ["tree.problem([0.1])", "tree.show([0.1], path)", "tree.draw([0.1])", "pose(tree, [0.1])"]
)
def test_a_tree_is_known_to_what_lies_above_it_before_that_is_imported(done, tmp_path):
    code = f"""
from integrators.problem import pose
from mechanics.joints import Revolute
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
path = {str(tmp_path / "tree.html")!r}
inertia = Inertia.about_com(1.0, (0, 0, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
tree = Tree([Body("a", Revolute((0, 0, 1)), inertia=inertia)])
{done}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
