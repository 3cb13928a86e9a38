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
