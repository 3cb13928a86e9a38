"""A compilation that takes long says so once: on terminals, and to the logger; elsewhere it is silent."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from liegroup.compile import progress
from liegroup.compile.progress import kernels_of
from mechanics.algorithms.era import era
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.poses import poses

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
from liegroup.compile import entry, kernel, nothing, vector
from liegroup.compile import progress

@kernel
def double(x):
    x[0] = 2.0 * x[0]

@kernel
def twice(x):
    double(x)
    double(x)

@entry(nothing(vector))
def run(x):
    twice(x)
"""
RUN = """
import logging, sys
import numpy as np
from liegroup.compile import progress
progress.PATIENCE = {patience}
if "log" in sys.argv:
    logging.basicConfig(level=logging.INFO)
import compiled_here
x = np.ones(1)
compiled_here.run(x)
assert x[0] == 4.0
"""


def command(tmp_path: Path, patience: float, *arguments: str) -> tuple[list[str], dict[str, str]]:
    (tmp_path / "compiled_here.py").write_text(MODULE)
    environment = os.environ | {
        "LIEMECH_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]),
        "TERM": "xterm",
    }
    return [sys.executable, "-c", RUN.format(patience=patience), *arguments], environment


def on_a_terminal(tmp_path: Path, patience: float) -> str:
    """What a terminal of a hundred columns gets to see."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    arguments, environment = command(tmp_path, patience)
    done = subprocess.run(arguments, env=environment, cwd=tmp_path, stdout=inner, stderr=inner)
    os.close(inner)
    seen = b""
    while True:
        try:
            part = os.read(outer, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(outer)
    assert done.returncode == 0, seen
    return seen.decode()


def test_a_terminal_sees_what_is_compiled_and_how_much_is_left(tmp_path):
    seen = on_a_terminal(tmp_path, 0.0)
    assert "compiling kernels, once" in seen
    assert "of about 3" in seen  # run, twice, double


def test_a_short_compilation_is_silent(tmp_path):
    assert on_a_terminal(tmp_path, 1e3).strip() == ""


def test_what_comes_from_the_cache_is_silent(tmp_path):
    on_a_terminal(tmp_path, 1e3)
    assert on_a_terminal(tmp_path, 0.0).strip() == ""


def test_files_get_nothing_and_the_logger_everything_that_asks(tmp_path):
    for asked in ((), ("log",)):
        folder = tmp_path / f"asked{len(asked)}"
        folder.mkdir()
        arguments, environment = command(folder, 0.0, *asked)
        done = subprocess.run(arguments, env=environment, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("compiling about 3 kernels, once" in done.stderr) == bool(asked)
        assert ("compiled 3 kernels" in done.stderr) == bool(asked)
        assert asked or not done.stderr


def test_kernels_are_counted_through_formulas_modules_and_kernels():
    found = kernels_of(closed.python)
    assert {closed.python, poses} < found
    assert all(f is closed.python or f.is_kernel for f in found)


def test_kernels_that_are_compiled_when_a_run_needs_them_are_not_counted_before():
    assert kernels_of(era.python) == {era.python}


def test_sets_within_sets_are_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "PATIENCE", 1e3)
    with progress.announced():
        outer = progress._now[-1]
        with progress.announced():
            progress.tick(compiled=True)
        assert progress._now == [outer]
        assert outer.done == 1
    assert progress._now == []


IN_A_NOTEBOOK = """
import re, sys
import IPython, tqdm.autonotebook
from tqdm import tqdm as usual

class Cell(usual):
    '''A bar as notebooks have it: shown though the output is no terminal.'''

Cell.__module__ = "tqdm.notebook"
tqdm.autonotebook.tqdm = Cell
from integrators import integrate
from mechanics.systems import heavy_top
for _ in range(2):
    print("run", file=sys.stderr)
    assert integrate(heavy_top(), "RKMK4", (0.0, 0.1), 1e-3).success
"""


@pytest.mark.slow
def test_a_notebook_without_kernels_is_told_what_is_compiled_once_and_how_many_are_left(tmp_path):
    """Real compilation with an empty cache; the second run of the same is silent, the output is no terminal."""
    pytest.importorskip("IPython")
    environment = os.environ | {"LIEMECH_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", IN_A_NOTEBOOK]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    before, first, second = done.stderr.split("run\n")
    assert "compiling" not in before + second
    told = [line.strip() for line in first.splitlines() if "compiling kernels, once" in line]
    counts = [tuple(map(int, re.search(r"(\d+) of about (\d+)", line).groups())) for line in told]
    assert counts == sorted(counts)
    assert counts[-1][0] > 3
    assert all(k <= n for k, n in counts)
    assert any(k < n - 1 for k, n in counts)  # what is left is known while there is much of it
    assert done.stdout == ""
