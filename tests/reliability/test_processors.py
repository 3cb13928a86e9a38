"""The suite does not depend on the processor: a part of it from every floor runs under other instruction sets."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "tests/liegroup/test_group.py",
    "tests/integrators/test_integrate.py",
    "tests/integrators/test_guards.py",
    "tests/mechanics/trees/test_description.py",
    "tests/mechanics/systems/test_known_numbers.py",
)
LOOPS = "tests/mechanics/loops/test_promises.py"
"""It compiles as much as all other parts: for the narrowest instructions alone."""
WIDER = {"x86-64-v2": "ssse3", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}
"""A feature that a processor must have to run code for each level."""


def features() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.slow
@pytest.mark.parametrize("level", WIDER)
def test_what_holds_here_holds_on_other_processors(level, tmp_path):
    if WIDER[level] not in features():
        pytest.skip(f"this processor cannot run code for {level}")
    parts = (*PARTS, LOOPS) if level == "x86-64-v2" else PARTS
    environment = os.environ | {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "LIEMECH_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *parts],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
