"""Kernels from the cache and kernels compiled afresh must never pass for each other."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# not to be inlined, so that the linker has to find it by its name
LINES = "\n".join(
    f"        y = y * c + {k}.0 / (1.0 + y * y) if y < {1000 * k + 7}.0 else y - c * {k}.5 / (2.0 + y)"
    for k in range(20)
)
MODULE = f"""
import sys
from liegroup.compile import entry, kernel, real


def make(c):
    @kernel
    def scaled(x):
        y = x
{LINES}
        return y

    return scaled


two, three = make(2.0), make(3.0)


@entry(real(real))
def a(x):
    return two(x) + two(x + 1.0) + two(x - 2.0)


@entry(real(real))
def b(x):
    return three(x) + three(x + 1.0) + three(x - 2.0)


for name in sys.argv[1]:
    f = {{"a": a, "b": b}}[name]
    assert f(1.0) == f.python(1.0), name
"""


def test_functions_of_one_factory_keep_apart_across_the_cache(tmp_path):
    """The first process caches a; the second compiles b, whose inner function is counted like that of a, and then loads
    a.
    """
    module = tmp_path / "two_kernels.py"
    module.write_text(MODULE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LIEMECH_CACHE": str(tmp_path / "cache")}
    for order in ("a", "ba"):
        done = subprocess.run([sys.executable, str(module), order], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
