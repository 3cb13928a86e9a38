"""What takes long to import is imported where it is used."""

import subprocess
import sys

SLOW = ("scipy.interpolate", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.integrate", "scipy.spatial")
SLOW += ("numpy.f2py", "numpy.ma", "numpy.testing", "multiprocessing.connection", "concurrent.futures.process")
SLOW += ("h5py", "xarray", "matplotlib", "sympy", "mujoco", "pinocchio", "asyncio", "pandas")


def test_a_first_run_imports_nothing_that_it_does_not_use():
    """`import mechanics`, and the bar of a run."""
    code = f"""
import sys
import mechanics
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
import mechanics
assert 2 not in found and len(found) < 80, found  # two of all and 300 of the young, were it left to itself
assert gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import gc; gc.disable(); import mechanics; assert not gc.isenabled()"
    subprocess.run([sys.executable, "-c", code], check=True)
