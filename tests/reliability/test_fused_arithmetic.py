"""Theorems hold with products and sums fused as well; bits are those of a processor then, and of lanes or one run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = [
    "mechanics/trees/test_equations_of_motion.py",
    "mechanics/loops/test_exact_closure.py",
    "mechanics/variational/test_tree_step.py",
    "integrators/variational/test_lgvi.py",
    "integrators/steppers/test_structure.py",
]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_theorems_hold_in_fused_arithmetic(file, tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not bit", str(TESTS / file)]
    where = {"LIEMECH_KERNELS": "contract", "LIEMECH_CACHE": str(tmp_path)}
    run = subprocess.run(command, env=os.environ | where, cwd=TESTS.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]
    assert " passed" in run.stdout
